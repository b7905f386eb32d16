"""What is asked: modes, crossed with contexts and styles, and the variants that are made on the way."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mmdyn.context import KPRAG, Context
from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Condition
from mmdyn.run.render import CUSTOM, LIKELIHOOD
from mmdyn.shots import Shots

MODES: dict[str, Condition] = {
    "standard": Condition(),
    "dynamic": Condition(variant="dynamic"),
    "kprag": Condition(context=KPRAG),
    "dynamic+kprag": Condition(variant="dynamic", context=KPRAG),
}
STYLES = ("direct", "cot", LIKELIHOOD)

Names = str | Sequence[str]
"""Names, as a sequence or in one text with commas between them."""


Numbers = str | int | Sequence[str | int]
"""The same of names that may be whole numbers."""


class ExamplesConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the examples before a question come from.

    path: a set; empty for the asked sample's own standard set. ids: those that are fixed, in their order; without any
        the first ones of the set are. retriever: lexical, dense or hybrid, for those that are most similar; embedder:
        as for `open_base`.
    """

    path: str = ""
    ids: Names = ()
    retriever: str = "lexical"
    embedder: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "ids", split_names(self.ids))


class ConditionSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked. Each of modes, contexts and styles is a sequence, or one text with commas.

    modes: standard, dynamic, kprag, dynamic+kprag, separated by commas. [default: what the sets hold]
    contexts: What lies beside each variant of the modes: none, kprag (also kprag:retrieved, kprag:mixed), distractor
        (as many other points), hint:KIND, hint:all; with :inline or :two-turn a model is to elaborate on points first;
        no-picture or caption in place of the pictures, also joined by a plus, as caption+kprag.
    styles: direct, cot, or both with a comma; likelihood weighs the options of choices and statements instead of having
        answers written (for base models).
    shots: How many examples stand before a question: 0, 5 (fixed ones), 5:random or 5:similar; as turns of a chat, or
        with :base in one text of questions and answers (for models that complete texts). [default: 0]
    examples: Where they come from: SET [default: the asked set], ids=A,B (those that are fixed), retriever=hybrid,
        embedder=MODEL (how similar ones are looked up, by words without it). The asked question is none, nor are its
        variants and its group.
    prompt: A template of your own with {question}, {options}, {instruction}, where a context is asked {knowledge}, and
        where examples are to stand in one text {examples}; a style of its own.
    ops: Operators that make variants (kept in RUN/sets by an eval); a comma separates variants, a plus chains:
        pad,color,pad@strong+color. A preset (mdk12) or a YAML file of chains stands for several. `mmdyn list operators`
        names them.
    draws: With --ops: variants per sample and chain; one where nothing in a chain is random.
    seed: Another seed draws other variants, and other distractors.
    rewriter: With --ops: who substitutes, paraphrases and converts: embedded rules, or a MODEL.
    style_backend: With --ops: who restyles pictures: embedded, flux or klein; flux:PATH takes weights from a folder.
    variant_judge: With --ops: who throws out variants whose meaning changed: embedded rules, nli:FOLDER, or a
        MODEL. [default: nobody]
    take: With --ops: variants of so many samples alone, such as difficulty=easy:695,medium:818,hard:1124; the seed says
        which. [default: of all]
    epochs: Ask everything so many times.
    """

    modes: Names = ()
    contexts: Names = ()
    styles: Names = "direct"
    shots: Numbers = "0"
    examples: str | ExamplesConfig = ""
    prompt: str = ""
    ops: Names = ""
    draws: int = 1
    seed: int = 0
    rewriter: str = "embedded"
    style_backend: str = "embedded"
    variant_judge: str = ""
    take: str = ""
    epochs: int = 1

    def __post_init__(self) -> None:
        for field in ("modes", "contexts", "styles", "shots"):
            force_setattr(self, field, split_names(getattr(self, field)))
        force_setattr(self, "ops", self.ops if isinstance(self.ops, str) else ",".join(self.ops))
        force_setattr(self, "prompt", str(self.prompt or ""))

    @property
    def makes_variants(self) -> bool:
        """Whether there are operators, and a mode that asks what they make."""
        return bool(self.ops) and any(one.variant == "dynamic" for one in self.conditions(("dynamic",)))

    def conditions(self, usual: Sequence[str] = ("standard",)) -> tuple[Condition, ...]:
        """Every mode, the `usual` ones where none is named, in every style with all shots; where there are contexts,
        each of them with each variant that the modes name. Raises UserError for an unknown name."""
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
        styles = (CUSTOM,) if self.prompt else self.styles
        shots = [Shots.parse(text).name for text in split_names(self.shots) or ("0",)]
        ways = [{"style": style, "shots": number} for style in styles for number in shots]
        return tuple(dict.fromkeys(replace(one, **way) for one in asked for way in ways))


def split_names(given: Numbers) -> tuple[str, ...]:
    """Names as a tuple; a number is one."""
    parts = str(given).split(",") if isinstance(given, str | int) else map(str, given)
    return tuple(part.strip() for part in parts if part.strip())
