"""How strong the chains of a run's dynamic sets are, and which are too weak to tell much."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.data import WEAKNESS
from mmdyn.table import Strengths
from mmdyn.tables.blocks import Block, Numbered


def strength_rows(block: Block, part: Strengths) -> Iterator[Numbered]:
    """The medians of each measured chain of each dynamic set over its n variants; run.json has them, wherever the set
    is."""
    for name, run in block.columns.runs.items():
        for entry in run.config.sets:
            for chain, far in entry.strength.items():
                front = ({"run": name} if name else {}) | {"set": entry.name, "chain": chain}
                medians = {"tokens": far.tokens, "ssim": far.ssim, "legibility": far.legibility, "unseen": far.unseen}
                for quantity, median in medians.items():
                    if median is not None:
                        unit, note = "share" if quantity == "tokens" else "", WEAKNESS if far.weak else ""
                        yield (
                            block._replace(front=front).row((), (), quantity, median, unit=unit, n=far.n, note=note),
                            None,
                        )
