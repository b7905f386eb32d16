"""Context: what lies beside a question, by its name.

MDK12-Bench (arXiv:2508.06851, "Evaluation Methods") lays a question's knowledge points beside it and has the model
elaborate on them (here `inline`); AcadReason (arXiv:2510.11652, section 3) gives background, definition or methodology
hints, or all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean

Source = Literal["distractor", "retrieved", "mixed", "gold"]
SOURCES: tuple[Source, ...] = get_args(Source)
"""Where the points come from, from what should help least to what should help most."""

Elaborate = Literal["none", "inline", "two-turn"]
ELABORATE: tuple[Elaborate, ...] = get_args(Elaborate)

Pictures = Literal["withheld", "captioned", "shown"]
PICTURES: tuple[Pictures, ...] = get_args(Pictures)
"""What becomes of a question's pictures, from what should help least to what should help most."""

NONE, KPRAG, DISTRACTOR, HINT, ALL = "none", "kprag", "distractor", "hint", "all"
TREATMENTS: dict[str, Pictures] = {"no-picture": "withheld", "caption": "captioned"}
"""What contexts are called in which a question is asked without its pictures; a plus joins what else lies beside it."""


class Context(Struct, frozen=True):
    """What lies beside a question: nothing, knowledge points from a `source`, or the sample's own hint of a kind.

    elaborate: `none`: the model is told how to reply in the words that it is told without any points. `inline`: it is
        to elaborate on them before it answers (MDK12-Bench's way). `two-turn`: it is asked to do so first, and then
        shown the question with what it wrote. hint: a kind that the set has, or `all`. pictures: the question's are
        `shown`, or `withheld` with nothing in their place, or `captioned` with captions in it.
    """

    source: Source | None = None
    elaborate: Elaborate = "none"
    hint: str = ""
    pictures: Pictures = "shown"

    @property
    def name(self) -> str:
        """none, kprag, kprag:retrieved, kprag:mixed:two-turn, distractor, kprag:inline, hint:background, no-picture,
        caption+kprag, …: `parse` reads it."""
        treated = [name for name, pictures in TREATMENTS.items() if pictures == self.pictures]
        return "+".join([*treated, *([self._beside] if self.family != NONE else [])]) or NONE

    @property
    def _beside(self) -> str:
        if self.hint or self.source is None:
            return f"{HINT}:{self.hint}"
        source = {"distractor": [DISTRACTOR], "gold": [KPRAG]}.get(self.source, [KPRAG, self.source])
        return ":".join([*source, *([self.elaborate] if self.elaborate != "none" else [])])

    @property
    def family(self) -> str:
        """What contexts have in common that can be compared with each other, beside with none: hint, or knowledge."""
        return HINT if self.hint else "knowledge" if self.source else NONE

    @property
    def looks_up(self) -> bool:
        """Whether points are looked up in a base."""
        return self.source in ("retrieved", "mixed")

    @staticmethod
    @lru_cache(maxsize=256)
    def parse(text: str) -> Context:
        """Read a name; the settings behind the first colon come in any order. Raises UserError."""
        first, plus, rest = text.partition("+")
        if pictures := TREATMENTS.get(first.strip()):
            return replace(_parse_beside(rest, text) if plus else Context(), pictures=pictures)
        return _parse_beside(text, text)


def _parse_beside(beside: str, text: str) -> Context:
    """Read what lies beside a question, in a name that is this `text`."""
    kind, *settings = (part.strip() for part in beside.split(":"))
    if kind == NONE and not settings:
        return Context()
    if kind == HINT and len(settings) == 1 and settings[0]:
        return Context(hint=settings[0])
    if kind == HINT:
        raise UserError(f"the context {text!r} names no kind of hint: write hint:KIND, or hint:all")
    if kind not in (KPRAG, DISTRACTOR):
        hint = "" if kind in TREATMENTS else did_you_mean(kind, (NONE, KPRAG, DISTRACTOR, HINT, *TREATMENTS))
        raise UserError(
            f"there is no context {text!r}{hint}: use none, kprag, kprag:retrieved, kprag:mixed, distractor, or"
            " hint:KIND; no-picture or caption; or one of these before another, as caption+kprag"
        )
    return _parse_knowledge(text, kind, settings)


def _parse_knowledge(text: str, kind: str, settings: Sequence[str]) -> Context:
    sources = [source for source in SOURCES if source in settings]
    ways = [way for way in ELABORATE if way in settings]
    known = [*ELABORATE, *(source for source in SOURCES if kind == KPRAG and source != DISTRACTOR)]
    for setting in settings:
        if setting not in known:
            raise UserError(
                f"the context {text!r} has an unknown setting {setting!r}{did_you_mean(setting, known)}: use"
                f" {', '.join(known)}"
            )
    if len(sources) > 1 or len(ways) > 1 or len(set(settings)) < len(settings):
        raise UserError(f"the context {text!r} says one thing twice: name one source and one way to elaborate")
    source: Source = sources[0] if sources else "gold"
    return Context("distractor" if kind == DISTRACTOR else source, ways[0] if ways else "none")
