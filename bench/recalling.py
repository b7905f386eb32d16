"""How often completions look like memory, of models that remember nothing and of those that remember some questions.

    python bench/recalling.py [--repeats 200]

Questions are random words of a set's vocabulary, of which each second ends as others do. A model goes on with random
words of that vocabulary (`fluent`); with them where the set is named, and with words of its own where it is not
(`style`); ends so as questions of the set do, where it is named (`endings`); repeats the prompt (`copies`); or writes a
share of the second halves word for word where the set is named, and is else `fluent` (`remembers`). `alarms` is the
share of sets of which the difference is significant at 5 % and positive (2.5 % is meant where nothing is remembered).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
if Path(sys.path[0]).resolve() == HERE:  # where files would hide packages
    del sys.path[0]

from mmdyn.stats import paired_difference
from mmdyn.tables import RecallDesign, RecallItem
from mmdyn.tables.completion import beyond_others

ENDINGS = ("which of these must then be true", "how many of them are there in all")
WORDS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("a", "en", "ir", "ot", "um")]
CHAT = [f"{first}y" for first in "bdfgklmnprst"]
KINDS = ("fluent", "style", "endings", "copies", "remembers 0.1", "remembers 0.3", "remembers 0.6")


def alarms(kind: str, count: int, repeats: int) -> tuple[float, float]:
    """The share of alarms over sets of `count` questions, and the mean difference."""
    draw, found, values = np.random.default_rng(5), 0, list[float]()
    for _ in range(repeats):
        items = [_item(draw, number) for number in range(count)]
        value = beyond_others(RecallDesign("exam", "d", tuple(items), {}))
        sides = [(value(item, _said(kind, draw, item, named=True)), value(item, _said(kind, draw, item, named=False)))
                 for item in items]  # fmt: skip
        beyond = np.array([named - bare for named, bare in sides])
        difference = paired_difference(beyond, np.ones(count), np.arange(count), 2.0)
        values.append(difference.value)
        found += difference.p is not None and difference.p < 0.05 and difference.value > 0
    return found / repeats, float(np.mean(values))


def _item(draw: np.random.Generator, number: int) -> RecallItem:
    first, second = (" ".join(draw.choice(WORDS, size)) for size in (15, 15))
    ending = f" {ENDINGS[number % 2]}" if number % 4 < 2 else ""
    return RecallItem(f"q{number}", f"q{number}", f"q{number}", "en", "exam", first, f"{second}{ending}")


def _said(kind: str, draw: np.random.Generator, item: RecallItem, *, named: bool) -> str:
    written = " ".join(draw.choice(WORDS, 18))
    if kind == "style":
        return written if named else " ".join(draw.choice(CHAT, 18))
    if kind == "endings":
        return f"{' '.join(draw.choice(WORDS, 15))} {draw.choice(ENDINGS)}" if named else written
    if kind == "copies":
        return f"Go on with this question{' of the set exam' if named else ''}: {item.shown}"
    share = float(kind.partition(" ")[2] or 0)
    return item.hidden if named and draw.random() < share else written


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    print("| the model | alarms of 20 questions | of 100 | mean difference of 100, points |\n|---|---|---|---|")
    for kind in KINDS:
        few, many = (alarms(kind, count, repeats) for count in (20, 100))
        print(f"| {kind} | {100 * few[0]:.1f} % | {100 * many[0]:.1f} % | {100 * many[1]:+.1f} |", flush=True)


if __name__ == "__main__":
    main()
