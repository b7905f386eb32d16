"""What `mmdyn report --memory` says of models whose memory and weaknesses are known, on we_math.

    python -P bench/known_models.py DATA [--seeds 10] [--sets 3] [--limit 60] [--only NAME] [--say]

DATA holds the release of we_math; models and variants are those of tests/making_known.py. Each model is asked all of
it, with `--seeds` draws of its luck on each of `--sets` draws of the variants, and has a page of its own. A row has the
share of a model's pages in percent on which a kind of evidence is significant and positive (`changed`: published
answers to changed questions; `moved`: published letters of options that were moved), on which either is, and on which
either is significantly below 0; then the conclusions, the most frequent first. `--say` prints the first page of each.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from making_known import MODELS, Answers, Scripted, conclusion, make_world, pages

from mmdyn.tables import Memory

KINDS = {"changed": "publishedanswers", "moved": "publishedletters"}


class Tally:
    """What the pages of a model said; `first` is one of them."""

    def __init__(self) -> None:
        self.pages, self.said, self.counts = 0, Counter[str](), Counter[str]()
        self.first: Memory | None = None

    def add(self, page: Memory) -> None:
        """Count a page."""
        self.first = self.first or page
        self.pages += 1
        self.said[re.sub(r" \(p [^)]*\)", "", conclusion(page))] += 1
        found = {name: row for name, kind in KINDS.items() for row in page.report.rows(kind) if row.is_significant}
        above = [name for name, row in found.items() if (row.value or 0) > 0]
        self.counts.update([*above, *["either"] * bool(above), *["below"] * (len(above) < len(found))])

    def row(self) -> str:
        """The shares, and the conclusions with how many pages have them."""
        shares = [f"{100 * self.counts[name] / self.pages:.1f}" for name in (*KINDS, "either", "below")]
        said = "; ".join(f"{times} x {said}" for said, times in self.said.most_common())
        return " | ".join([str(self.pages), *shares, said])


def tallies(given: argparse.Namespace, models: Mapping[str, Answers]) -> dict[str, Tally]:
    """The pages of each model, over draws of the variants and of its luck."""
    found = {name: Tally() for name in models}
    for draw in range(given.sets):
        with tempfile.TemporaryDirectory() as folder:
            world = make_world(given.data, Path(folder), draw, given.limit, given.habit)
            for seed in range(draw * given.seeds, (draw + 1) * given.seeds):
                asked = [Scripted(name, seed, rule, world.finder) for name, rule in models.items()]
                for name, page in zip(models, pages(world, Path(folder) / str(seed), asked), strict=True):
                    found[name].add(page)
    return found


def lines(given: argparse.Namespace) -> Iterator[str]:
    """The table, or a page of each model."""
    found = tallies(given, {name: rule for name, rule in MODELS.items() if given.only in name})
    if given.say:
        yield from (repr(tally.first) for tally in found.values())
        return
    yield "| model | pages | changed | moved | either | below | conclusions |"
    yield "|---|---|---|---|---|---|---|"
    yield from (f"| {name} | {tally.row()} |" for name, tally in found.items())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--limit", type=int, help="the number of questions")
    parser.add_argument("--habit", default="", help="a letter that the rewriter makes right where it can")
    parser.add_argument("--only", default="", help="models whose name holds this")
    parser.add_argument("--say", action="store_true")
    for line in lines(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
