"""What readers of replies read in real replies: those of a commit beside those of the working tree. Prints tables.

    python bench/reading.py [--commit REV] [--data DIR] [--labelled FILE ...] [--list] [--programs]

The stored replies are those of `shared/data` (GAOKAO-Bench, MMLU-Pro, MMMU-Pro, MATH-Vision, MathVista), each with what
its own benchmark's extraction made of it. A reading `agrees` with that, is `unread` where the extraction names
something, or is read `otherwise`: where the extraction names something else, or nothing. Replies that are Python
programs are left out, unless `--programs`. A labelled file has a JSON object a line, with `read`, what a person reads
(null: no answer), and the golden `answer`: there a reading also earns `undeserved` credit where the policy strict gives
it more than the label. Answers are compared by the working tree's rules in both columns. `--list` prints each reply
that the working tree does not read as its label, or not as the commit does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scoring")]

import real_outputs
from labelled_replies import LabelledReply, labelled_replies

BASE = "a554568"
"""The commit before the readers were written anew."""

COUNTS = ("agree", "unread", "otherwise", "undeserved")

_PROGRAM = re.compile(r"^[ \t]*(?:import \w|from \w+ import|def \w+\(|print\(|\w+ = )", re.MULTILINE)

READ = """
import json, sys
from mmdyn.scoring.extract import extract
for line in sys.stdin:
    asked = {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(line).items()}
    found = extract(asked.pop("task_type"), asked.pop("response"), **asked).found
    print(json.dumps(found))
"""
"""Reads replies with the readers of whatever checkout it runs in: their signature has not changed."""


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default=BASE, help=f"whose readers stand beside the working tree's ({BASE})")
    parser.add_argument("--data", type=Path, default=real_outputs.DATA, help="the folder of the public data")
    parser.add_argument(
        "--labelled", type=Path, nargs="*", default=[], help="files of labelled replies, in place of the data"
    )
    parser.add_argument("--list", action="store_true", help="print what is not read as its label, or not as before")
    parser.add_argument("--programs", action="store_true", help="with the replies that are programs")
    args = parser.parse_args(argv)
    if args.labelled:
        replies = [reply for file in args.labelled for reply in labelled_replies(file)]
    else:
        replies = list(stored(args.data))
    if not args.programs:
        replies = [reply for reply in replies if not is_program(reply.response)]
    with tempfile.TemporaryDirectory() as folder:
        check_out(args.commit, Path(folder))
        before, after = readings(replies, Path(folder)), readings(replies, ROOT)
    print_table(args.commit, replies, before, after)
    if args.list:
        print_differences(replies, before, after)


def stored(data: Path) -> Iterator[LabelledReply]:
    """The stored replies, with the stored extraction for a label."""
    if not (data / "answer-extraction").is_dir():
        raise SystemExit(f"{data} does not hold the public data: name their folder with --data")
    for name, outputs in real_outputs.OUTPUTS.items():
        for output in outputs(data):
            if output.theirs is not None or name != "GAOKAO-Bench blanks":
                yield LabelledReply.of_output(name, output)


def is_program(response: str) -> bool:
    """Is a reply, or the code in it, a Python program that prints something?"""
    return "print(" in response and len(_PROGRAM.findall(response)) > 1


def check_out(commit: str, folder: Path) -> None:
    """The packages as they were at a commit. Raises SystemExit where git knows no such commit."""
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit, "mmdyn"], capture_output=True, check=False)
    if archive.returncode:
        raise SystemExit(f"git has no commit {commit!r} here: name another with --commit")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)


def readings(replies: Sequence[LabelledReply], root: Path) -> list[Any]:
    """What the readers in a checkout find in each reply, as JSON has it."""
    lines = "".join(json.dumps(reply.asked()) + "\n" for reply in replies)
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=lines,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=root,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the readers of {root} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def print_table(commit: str, replies: Sequence[LabelledReply], before: Sequence[Any], after: Sequence[Any]) -> None:
    """The counts by set and task type, of both."""
    rows: dict[tuple[str, str], tuple[Counter[str], Counter[str]]] = {}
    total = (Counter[str](), Counter[str]())
    for reply, *found in zip(replies, before, after, strict=True):
        pair = rows.setdefault((reply.set, reply.task_type), (Counter(), Counter()))
        for counts, whole, one in zip(pair, total, found, strict=True):
            counts.update(reply.verdicts(one))
            whole.update(reply.verdicts(one))
    print(f"{len(replies):,} replies; in each cell {commit} and the working tree\n")
    print(f"| set | task type | n | {' | '.join(COUNTS)} |\n|---|---|---|{'---|' * len(COUNTS)}")
    for (name, task), pair in [*rows.items(), (("all", ""), total)]:
        cells = (f"{pair[0][count]} {pair[1][count]}" for count in COUNTS)
        print(f"| {name} | {task} | {pair[0]['n']} | {' | '.join(cells)} |")


def print_differences(replies: Sequence[LabelledReply], before: Sequence[Any], after: Sequence[Any]) -> None:
    """A line for each reply that is not read as its label by the working tree, or not as before."""
    for reply, old, new in zip(replies, before, after, strict=True):
        verdicts = reply.verdicts(new)
        changed = not reply.equal(old, new)
        if changed or "agree" not in verdicts:
            said = f"label {reply.read!r}, before {old!r}, now {new!r}"
            words = " ".join(word for word in verdicts if word != "n")
            print(
                f"\n{words}{', changed' if changed else ''} {reply.set} {reply.id} {reply.task_type}: {said}\n   "
                f" {reply.response[-400:]!r}"
            )


if __name__ == "__main__":
    main()
