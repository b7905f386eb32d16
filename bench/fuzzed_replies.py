"""Real replies that are cut, joined, doubled and strewn with marks: does any cost an exception or seconds to score?

    python bench/fuzzed_replies.py [--count 100000] [--seed 32] [--data DIR]

Replies are those of `shared/data` (`wild-replies`, `answer-extraction`); each is changed one to five times, by a seed,
and scored as the answer to a question of one of six forms. Prints exceptions, and each reply that took longer than all
before it and more than a second.
"""

# ruff: noqa: E501 - tables of marks

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

from mmdyn.record import Reply
from mmdyn.sample import Option, Sample
from mmdyn.scoring import Scorer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LONGEST, SECOND = 6000, 1.0
MARKS = (
    "\\boxed{", "}", "<think>", "</think>", "<answer>", "</answer>", "**", "$", "\\(", "\\frac{1}{", "(A)", "答案：", "Answer:", "\n", "|---|", "1.", "①", "__", "\0",
    "\ud800", "\u202e", "💥", "9" * 400, "((", "[[", "{{", "—", "，", "\\begin{array}", "&", "-", "=", "≈", "1e999", "½", "²", "^", "_" * 50, "<", "x_", "∈", "'",
)  # fmt: skip
OPTIONS = tuple(map(Option, "ABCD", ("two", "$3$", "10 million", "all of the above")))
SAMPLES = (
    Sample("one", "Which?", "single_choice", ("B",), options=OPTIONS),
    Sample("several", "Which?", "multi_select", ("A", "C"), options=OPTIONS),
    Sample("claim", "So?", "true_false", True),
    Sample("blanks", "It is __ and __.", "fill_in_the_blank", (("3",), ("\\frac{1}{2}", "0.5"))),
    Sample("blank", "Give __ m.", "fill_in_the_blank", (("15 m",),)),
    Sample("open", "Why?", "open_ended", "Because $x=2$ holds."),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Print what fell, and the time of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="how many replies (100000)")
    parser.add_argument("--seed", type=int, default=32, help="another seed changes them otherwise (32)")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public data")
    args = parser.parse_args(argv)
    replies, draw, scorers = read_replies(args.data), random.Random(args.seed), [Scorer("mdk12"), Scorer("strict")]
    exceptions, longest, began = 0, SECOND, time.process_time()
    for number in range(args.count):
        text, sample = change(draw, replies), SAMPLES[number % len(SAMPLES)]
        before = time.process_time()
        try:
            scorers[number // len(SAMPLES) % 2].score(sample, Reply(text))
        except Exception as error:
            exceptions += 1
            print(f"{number} ({sample.id}): {type(error).__name__}: {error}: {text[:300]!r}")
        if (took := time.process_time() - before) > longest:
            longest = took
            print(f"{number} ({sample.id}): {took:.1f} s: {text[:300]!r}", flush=True)
    print(f"{args.count:,} replies, {exceptions} exceptions, {time.process_time() - began:.0f} s of a core")


def read_replies(data: Path) -> list[str]:
    """The texts of the stored replies. Raises SystemExit where there are none."""
    files = sorted((*data.glob("wild-replies/*.jsonl"), *data.glob("answer-extraction/dev/*.jsonl")))
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").split("\n") if line]
    texts = [row.get("reply") or row.get("response") for row in rows if isinstance(row, dict)]
    if not (found := [text[: LONGEST // 2] for text in texts if isinstance(text, str) and text]):
        raise SystemExit(f"{data} does not hold the public data: name their folder with --data")
    return found


def change(draw: random.Random, replies: Sequence[str]) -> str:
    """A reply that is changed one to five times."""
    text = draw.choice(replies)
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(len(text) + 1)
        end = min(len(text), at + draw.randrange(1, 200))
        way = draw.randrange(6)
        if way == 0:
            text = text[:at] + draw.choice(MARKS) * draw.choice((1, 1, 2, 30)) + text[at:]
        elif way == 1:
            text = text[:at] + text[end:]
        elif way == 2:
            other = draw.choice(replies)
            start = draw.randrange(len(other) + 1)
            text = text[:at] + other[start : start + 300]
        elif way == 3:
            text = text[at:] + text[:at]
        elif way == 4:
            text = text[:at] + text[at:end] * draw.choice((2, 20)) + text[end:]
        else:
            text = text[:at] + "".join(chr(draw.randrange(32, 0x3000)) for _ in range(draw.randrange(20))) + text[at:]
    return text[:LONGEST]


if __name__ == "__main__":
    main()
