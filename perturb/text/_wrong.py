"""Where wrong answers come from: the stem's own alternatives, a rewriter model, other samples, rules."""

from __future__ import annotations

import re

from msgspec import Struct
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import NotApplicable
from perturb.services import EMBEDDED, Services
from perturb.short_answers import ROUNDED, Answer, answer_of, differ, spread
from perturb.text._kept import controls
from perturb.text._near import near_values
from perturb.text._short import Short
from perturb.text._stem import is_rough, takes_other_answers

COUNT = 3
"""Wrong options of a single choice, where the stem does not name its alternatives itself."""

_APART = 0.05
"""How far a wrong value stays from the right one at least, relative to it: a solver may have rounded on the way."""

_BRACKETED = re.compile(r"[(（]([^()（）]{3,80})[)）]")
_BETWEEN = re.compile(r"\s*(?:[、，,;；/“”\"‘’]|\bor\b|或者?|还是|[选请]?填(?:写|入|空)?)\s*", re.IGNORECASE)
_EITHER = re.compile(r"(?<![,，]\s)\b([A-Za-z]{2,20}) or ([A-Za-z]{2,20})\b")
_LONGEST_ALTERNATIVE, _MOST_ALTERNATIVES = 20, 4
_SIGNED = re.compile(r"=\s?\${0,2}\s?(?:_{2,}\s?\${0,2})?$")
_END = " .。．"


class Wrong(Struct, frozen=True):
    """Wrong answers and who made them: `stem`, `pool`, `rules` or a model's label; `pool` is the digest of the pool
    used."""

    texts: tuple[str, ...]
    by: str
    pool: str = ""

    @property
    def source(self) -> dict[str, Json]:
        """What goes into the trail beside the texts."""
        return {"by": self.by, **({"pool": self.pool} if self.pool else {})}


def wrong_answers(
    sample: Sample, short: Short, count: int, stream: Generator, services: Services
) -> Wrong | NotApplicable:
    """`count` wrong answers of a question, or as many as the stem itself names beside the right one, at most three.

    Where a rewriter model was chosen it is asked rather than the pool and the rules. Raises ValueError where a model
    did not answer.
    """
    if found := takes_other_answers(sample.question):
        return NotApplicable(f"other answers may be right too ({found})")
    if others := _alternatives(sample.question, short):
        places = stream.permutation(len(others))[:count]
        return Wrong(tuple(_printed_like(short.text, others[place]) for place in places), "stem")
    if services.tools.rewriter != EMBEDDED:
        return _by_model(sample, short, count, stream, services)
    apart = max(2 * ROUNDED if is_rough(sample.question) else _APART, 2 * (sample.match.tolerance or 0.0))
    pool = services.pool
    if (texts := pool.draw(sample, short.text, count, stream, apart)) and _all_wrong(texts, short):
        return Wrong(tuple(_printed_like(short.text, text) for text in texts), "pool", pool.digest)
    if (texts := _by_rules(sample, short, count, stream, apart)) and _all_wrong(texts, short):
        return Wrong(texts, "rules")
    return NotApplicable("no wrong answers that look right were found")


def _alternatives(stem: str, short: Short) -> tuple[str, ...]:
    """The other answers that a stem names beside the right one, such as （填“增大”或“减小”） and (yes or no)."""
    lists = [_BETWEEN.split(found[1]) for found in _BRACKETED.finditer(stem) if _BETWEEN.search(found[1])]
    lists += [list(found.groups()) for found in _EITHER.finditer(stem)]
    right = {answer_of(text).folded for text in short.accepted}
    for parts in lists:
        named = {answer_of(part).folded: part.strip() for part in parts if part.strip()}
        others = [part for folded, part in named.items() if folded not in right]
        if len(named) - len(others) == 1 and 0 < len(others) < _MOST_ALTERNATIVES:
            return tuple(others) if all(len(part) <= _LONGEST_ALTERNATIVE for part in others) else ()
    return ()


def _by_model(sample: Sample, short: Short, count: int, stream: Generator, services: Services) -> Wrong | NotApplicable:
    rewriter = services.rewriter
    texts = rewriter.distractors(sample, short.text, count, stream)
    if isinstance(texts, NotApplicable):
        return texts
    if controls("".join(texts)):
        return NotApplicable("the rewriter added control characters")
    if not _all_wrong(texts, short):
        return NotApplicable("a wrong answer may be a right one")
    return Wrong(texts, rewriter.label)


def _by_rules(sample: Sample, short: Short, count: int, stream: Generator, apart: float) -> tuple[str, ...] | None:
    right = answer_of(short.text)
    signed = bool(_SIGNED.search(sample.question.rstrip(_END)))
    groups = [group for group in near_values(right, signed, apart) if len(group) >= count]
    return spread(stream, right, groups[stream.integers(len(groups))], count) if groups else None


def _printed_like(right: str, other: str) -> str:
    """With the right answer's case, which must not give it away."""
    if right[:1].isupper() and other.islower():
        return other[:1].upper() + other[1:]
    return other.lower() if right.islower() and other.istitle() else other


def _all_wrong(texts: tuple[str, ...], short: Short) -> bool:
    """Whether every text differs from everything that is accepted."""
    wrong: list[Answer] = [answer_of(text) for text in texts]
    return all(differ(answer_of(right), other) for right in short.accepted for other in wrong)
