"""Whether a model names a wrong option that was masked, as `mmdyn probe options` asked it.

Source: Deng et al. 2023 (arXiv:2311.09783), "Question-Multichoice" of TS-Guessing, and there the filter of options that
follow from the others; that the set is named in one of two requests is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mmdyn.equal import compare
from mmdyn.table import MaskedOptions
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.recall import NAMED, NOT_NAMED, RecallItem, recall_rows, recalled

OPTIONS = "options"
_LABEL = re.compile(r"\W{0,3}[A-Z][)）.．、:：]\W{0,3}")


def option_rows(block: Block, part: MaskedOptions) -> Iterator[Numbered]:
    """For each model and set the share of replies that are the masked option, with the set named and not, and the
    difference, which is tested."""
    for here, designs, said in recalled(block, OPTIONS):
        pairs = [((item, True), (item, False)) for item in designs[-1].items]
        yield from recall_rows(here, designs, said, pairs, names_option, (NAMED, NOT_NAMED), least=0.0)


def names_option(item: RecallItem, text: str) -> float:
    """1 where a reply's first line or its last one is the hidden option, with or without a label; else 0."""
    lines = [line for line in text.splitlines() if line.strip()]
    ends = {lines[0], lines[-1]} if lines else set[str]()
    said = ends | {_LABEL.sub("", line, count=1) for line in ends if _LABEL.match(line)}
    return float(any(compare(one, item.hidden) is True for one in said))
