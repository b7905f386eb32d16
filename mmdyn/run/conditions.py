"""What is asked: modes, crossed with contexts and styles, and the variants that are made on the way."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mmdyn.context import KPRAG, Context
from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Condition
from mmdyn.run.render import LIKELIHOOD

MODES: dict[str, Condition] = {
    "standard": Condition(),
    "dynamic": Condition(variant="dynamic"),
    "kprag": Condition(context=KPRAG),
    "dynamic+kprag": Condition(variant="dynamic", context=KPRAG),
}
STYLES = ("direct", "cot", LIKELIHOOD)

Names = str | Sequence[str]
"""Names, as a sequence or in one text with commas between them."""


class ConditionSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked. Each of modes, contexts and styles is a sequence, or one text with commas.

    modes: standard, dynamic, kprag, dynamic+kprag; those that the sets hold where none is named. contexts: what lies
        beside each variant that the modes name (`Context.parse`). styles: direct, cot, likelihood. prompt: the file of
        one's own template, a style of its own.
    ops, draws, rewriter, style_backend: variants to make on the way, as for `perturb`. seed: of these, of distractors
        and of shuffled points. epochs: how often everything is asked.
    """

    modes: Names = ()
    contexts: Names = ()
    styles: Names = "direct"
    prompt: str = ""
    ops: str = ""
    draws: int = 1
    seed: int = 0
    rewriter: str = "embedded"
    style_backend: str = "embedded"
    epochs: int = 1

    def __post_init__(self) -> None:
        for field in ("modes", "contexts", "styles"):
            force_setattr(self, field, split_names(getattr(self, field)))
        force_setattr(self, "prompt", str(self.prompt or ""))

    def conditions(self, usual: Sequence[str] = ("standard",)) -> tuple[Condition, ...]:
        """Every mode, the `usual` ones where none is named, in every style; where there are contexts, each of them with
        each variant that the modes name. Raises UserError for an unknown name."""
        modes = self.modes or usual
        for what, given, known in (("mode", modes, [*MODES]), ("style", self.styles, STYLES)):
            for name in given:
                if name not in known:
                    raise UserError(f"there is no {what} {name!r}{did_you_mean(name, known)}: {', '.join(known)} are")
        asked = [MODES[mode] for mode in modes]
        if self.contexts:
            beside = [*self.contexts, *(one.context for one in asked if one.context == KPRAG)]
            variants = dict.fromkeys(one.variant for one in asked)
            found = [Context.parse(text).name for text in beside]
            asked = [Condition(variant=variant, context=name) for variant in variants for name in found]
        styles = ("custom",) if self.prompt else self.styles
        return tuple(dict.fromkeys(replace(one, style=style) for one in asked for style in styles))


def split_names(given: Names) -> tuple[str, ...]:
    """Names as a tuple."""
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(part.strip() for part in parts if part.strip())
