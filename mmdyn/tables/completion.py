"""Whether a model goes on with the first half of a question as it was published, as `mmdyn probe completion` asked it.

A reply is compared with the second half, and with the second halves of other questions of the set: what it shares with
these is what style and common endings give by themselves.

Source: Golchin and Surdeanu 2023 (arXiv:2308.08493), sections 3.1 and 3.2, for the guided and the general instruction
and ROUGE-L; what is taken off for other questions is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from mmdyn.table import Completions, ParaphrasedCompletions
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.recall import NAMED, NOT_NAMED, Asked, RecallDesign, RecallItem, Said, answered, recall_rows, recalled
from mmdyn.text import plain_words

COMPLETION = "completion"
PUBLISHED, REWORDED = "published wording", "other wording"
NEAR = 0.9
"""A reply is (nearly) word for word where it has this share of the second half's words."""
OTHERS = 50
"""With so many other questions a reply is compared at most."""
BY_RULES = (
    "this cannot tell: rules wrote the other wordings, and a model that writes well may find the published ones"
    " likelier"
)
RULES = "embedded"
"""The rewriter that is no model."""


def shared_words(given: Sequence[str], hidden: Sequence[str]) -> float:
    """The share of a text's words that another one has in the same order, among as many of its first words.

    It is ROUGE-L's recall (Lin 2004, section 3.1) of a text that is cut to the other's length.

    Args:
        hidden: At least one word.

    >>> shared_words("how far does it go in one day".split(), "how far does he go".split())
    0.8
    """
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(given[: len(hidden)], hidden) / len(hidden)


def completion_rows(block: Block, part: Completions) -> Iterator[Numbered]:
    """For each model and set what replies share with the second half beyond those of other questions, with the set
    named and not; the difference, which is tested; and how many are word for word."""
    for here, designs, said in recalled(block, COMPLETION):
        pairs = [((item, True), (item, False)) for item in designs[-1].items if not item.by]
        value = beyond_others(designs[-1])
        yield from recall_rows(here, designs, said, pairs, value, (NAMED, NOT_NAMED), least=-1.0)
        yield from _word_for_word(here, said, pairs, (NAMED, NOT_NAMED))


def paraphrase_rows(block: Block, part: ParaphrasedCompletions) -> Iterator[Numbered]:
    """The same of the published wording and of another one, with the set named in both; tested where models wrote all
    of the other wordings."""
    for here, designs, said in recalled(block, COMPLETION):
        others = {item.parent: item for item in designs[-1].items if item.by}
        published = [item for item in designs[-1].items if not item.by and item.parent in others]
        pairs = [((item, True), (others[item.parent], True)) for item in published]
        if not pairs:
            continue
        untested = BY_RULES if any(item.by == RULES for item in others.values()) else ""
        names, value = (PUBLISHED, REWORDED), beyond_others(designs[-1])
        yield from recall_rows(here, designs, said, pairs, value, names, least=-1.0, untested=untested)
        yield from _word_for_word(here, said, pairs, names)


def word_for_word(side: str) -> str:
    """The quantity that counts replies of a side that are (nearly) word for word."""
    return f"{side}, word for word"


def _word_for_word(
    block: Block, said: Said, pairs: Sequence[tuple[Asked, Asked]], names: tuple[str, str]
) -> Iterator[Numbered]:
    whole = answered(said, pairs)
    for name, side in zip(names, zip(*whole, strict=True), strict=False):
        near = sum(_shared(said[item.key, named].text, item) >= NEAR for item, named in side)
        yield block.row((), (), word_for_word(name), near, unit="count", n=len(whole)), None


def beyond_others(design: RecallDesign) -> Callable[[RecallItem, str], float]:
    """What a reply shares with an item's hidden text, less the mean of what it shares with those of other items of the
    same language and kind of wording (OTHERS at most), in [-1, 1]."""

    @lru_cache
    def others(cluster: str, language: str, reworded: bool) -> list[list[str]]:
        like = (item for item in design.items if (item.language, bool(item.by)) == (language, reworded))
        return [plain_words(item.hidden) for item in like if item.cluster != cluster][:OTHERS]

    def value(item: RecallItem, text: str) -> float:
        words = _continued(text, item)
        base = [shared_words(words, other) for other in others(item.cluster, item.language, bool(item.by))]
        return shared_words(words, plain_words(item.hidden)) - (sum(base) / len(base) if base else 0.0)

    return value


def _shared(text: str, item: RecallItem) -> float:
    return shared_words(_continued(text, item), plain_words(item.hidden))


def _continued(text: str, item: RecallItem) -> list[str]:
    """The words of a reply, less the item's beginning where the reply repeats it first."""
    words, begun = plain_words(text), plain_words(item.shown)
    return words[len(begun) :] if words[: len(begun)] == begun else words
