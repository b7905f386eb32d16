"""How well the embedded judge tells changed meanings from kept ones, on public pairs. Prints a table.

    python bench/judging.py DATA

DATA holds `meaning-change` (PAWS-X, STS-B) and `dynamath`. Positive is a pair whose meaning changed: label 0 in PAWS-X,
a score of 2 or less in STS-B (4 or more: same; between: left out), and two programmatic variants of one DynaMath
question. Pairs are parted in two by their digest: what is tuned is tuned on the first half, the second one is the
measure.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package

from mmdyn.keys import digest
from mmdyn.sample import Sample
from mmdyn.stats import Share
from perturb import Case, case_of, measure
from perturb.judge.embedded_judge import EmbeddedJudge

SAME, CHANGED = 4.0, 2.0
"""STS-B's scores, of 5, from which on two sentences count as the same, and up to which as different."""


class Pair(NamedTuple):
    """A case, whether people say that its meaning was kept, and whether it is in the half that measures."""

    case: Case
    keep: bool
    held_out: bool


def pairs_of(data: Path) -> Iterator[tuple[str, list[Pair]]]:
    """The name and the pairs of each set."""
    for language in ("en", "zh"):
        rows = _rows(data / "meaning-change" / "dev" / "pawsx_dev.jsonl")
        yield f"PAWS-X {language}", [_pair(row, row["label"] == 1) for row in rows if row["lang"] == language]
    for language in ("en", "zh"):
        rows = _rows(data / "meaning-change" / "dev" / f"stsb_{language}.jsonl")
        yield (
            f"STS-B {language}",
            [_pair(row, row["score"] >= SAME) for row in rows if not CHANGED < row["score"] < SAME],
        )
    seeds = itertools.groupby(_rows(data / "dynamath" / "dev" / "questions.jsonl"), key=lambda row: row["seed_id"])
    couples = [couple for _, rows in seeds for couple in itertools.combinations(rows, 2)]
    answered = [_answered(*couple) for couple in couples if couple[0]["answer"] != couple[1]["answer"]]
    yield "DynaMath, other answer", answered
    reworded = [case_of(a["question"], b["question"]) for a, b in couples if a["question"] != b["question"]]
    yield "DynaMath, other words", [Pair(case, False, True) for case in reworded]


def table(judge: EmbeddedJudge, sets: list[tuple[str, list[Pair]]]) -> None:
    """A line for each set: the shares on the half that measures, each with its interval and n."""
    print("| pairs | accuracy | precision | recall = sensitivity | specificity | pairs/s |\n|---|---|---|---|---|---|")
    for name, pairs in sets:
        held_out = [pair for pair in pairs if pair.held_out]
        began = time.process_time()
        judged = [(pair.keep, judge.judge(pair.case), pair.case.about) for pair in held_out]
        seconds = time.process_time() - began
        found = measure(judge.label, judge.identity, judged)
        right = sum(keep is (verdict.status == "kept") for keep, verdict, _ in judged) / len(judged)
        shares = " | ".join(map(_spell, (found.precision, found.recall, found.specificity)))
        print(f"| {name} | {right:.3f} | {shares} | {len(judged) / seconds:,.0f} |")


def _pair(row: dict, keep: bool) -> Pair:
    a, b = row["sentence1"], row["sentence2"]
    return Pair(case_of(a, b), keep, bool(int(digest([a, b]), 16) % 2))


def _answered(a: dict, b: dict) -> Pair:
    before, after = (Sample(row["seed_id"], row["question"], "open_ended", row["answer"]) for row in (a, b))
    return Pair(Case(before, after), False, True)


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _spell(share: Share | None) -> str:
    return f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}], n = {share.n}" if share else "no such pair"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    table(EmbeddedJudge(), list(pairs_of(options.data)))


if __name__ == "__main__":
    main()
