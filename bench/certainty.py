"""How sure scores by rules are, and how often wrongly so: those of a commit beside those of the working tree.

    python bench/certainty.py [--commit REV] [--data DIR] [--list]

Two tables. The first is of the stored replies of `shared/data` with their keys: how many answers are surely right,
surely wrong, read but waiting for a judge, or not read. The second is of replies that people wrote after the nature of
public bug reports, with what a careful person gives (`shared/data`'s wild-replies, and the file of that name in
tests/scoring, which was labelled before the rules were written). There a score is `right` where it is that one and
sure, or is not sure where nobody could say; `surely wrong` where it is sure and another; `undeserved` where it is sure
and more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scoring")]

import real_outputs

sys.path.append(str(HERE))
from reading import check_out

BASE = "9de9c4c"
"""The commit before an answer had to be of the key's kind to be surely wrong."""

WILD = ("wild-replies/dev/replies.jsonl",)
KINDS = ("right", "waits", "unread", "surely wrong", "undeserved")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default=BASE, help=f"whose rules stand beside the working tree's ({BASE})")
    parser.add_argument("--data", type=Path, default=real_outputs.DATA, help="the folder of the public data")
    parser.add_argument("--list", action="store_true", help="print the labelled replies that are surely wrong")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        check_out(args.commit, Path(folder))
        real = [(name, line(output)) for name, output in stored(args.data)]
        show(f"stored replies, {args.commit} and the working tree", real, Path(folder), real_kind)
        for file in (*(args.data / name for name in WILD), ROOT / "tests" / "scoring" / "wild_replies.jsonl"):
            labelled = [(row["task_type"], {"question": "?", **row}) for row in map(json.loads, file.open("rb"))]
            told = show(f"{file.name} of {file.parent.name}", labelled, Path(folder), labelled_kind)
            for row in told if args.list else ():
                print(json.dumps(row, ensure_ascii=False))


def stored(data: Path) -> Iterable[tuple[str, real_outputs.Output]]:
    """The stored replies by the name of their set."""
    for name in (
        "gaokao_questions",
        "gaokao_passages",
        "gaokao_blanks",
        "mmlu_pro",
        "mmmu_pro",
        "mathvision",
        "mathvista",
    ):
        yield from ((name, output) for output in getattr(real_outputs, name)(data))


def line(output: real_outputs.Output) -> dict[str, Any]:
    """A stored reply as `mmdyn extract` reads it."""
    gold = [[part] for part in output.gold] if not output.options else list(output.gold)
    asked = {"task_type": output.task, "question": output.question or "?", "language": output.language}
    return {**asked, "options": list(output.options), "answer": gold, "response": output.reply}


def show(title: str, rows: list[tuple[str, dict[str, Any]]], before: Path, kind: Any) -> list[dict[str, Any]]:
    """Print a table, and return the rows that are surely wrong now."""
    scored = [score([row for _, row in rows], root) for root in (before, ROOT)]
    counts = [Counter((name, kind(row)) for (name, _), row in zip(rows, told, strict=True)) for told in scored]
    print(f"\n{title}\n\n| | n | {' | '.join(KINDS)} |\n|---|---|{'---|' * len(KINDS)}")
    for name in dict.fromkeys(name for name, _ in rows):
        cells = [" ".join(str(count[name, each]) for count in counts) for each in KINDS]
        print(f"| {name} | {sum(each == name for each, _ in rows)} | {' | '.join(cells)} |")
    return [row for row in scored[1] if kind(row) in KINDS[3:]]


def score(rows: list[dict[str, Any]], root: Path) -> list[dict[str, Any]]:
    """The rows with what the rules of a checkout make of them."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    environment = os.environ | {"PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "mmdyn", "extract", "-"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, cwd=root, env=environment, check=True)
    return [json.loads(each) for each in done.stdout.split("\n") if each]


def real_kind(row: dict[str, Any]) -> str:
    """What a score is, by the key alone."""
    if row["needs_judge"]:
        return "waits" if row["status"] == "ok" else "unread"
    return "right" if row["score"] == 1 else "surely wrong"


def labelled_kind(row: dict[str, Any]) -> str:
    """What a score is beside a person's."""
    wanted, score = row["expected_score"], row["score"]
    if row["needs_judge"]:
        return "right" if not wanted and not score else "waits"
    if wanted is not None and abs(score - wanted) < 1e-6:
        return "right"
    return "undeserved" if score > (wanted or 0) else "surely wrong"


if __name__ == "__main__":
    main()
