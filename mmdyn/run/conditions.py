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
    "counterfactual": Condition(variant="counterfactual"),
}
STYLES = ("direct", "cot", LIKELIHOOD)

Names = str | Sequence[str]
"""Names, as a sequence or in one text with commas between them."""


Numbers = str | int | Sequence[str | int]
"""The same of names that may be whole numbers."""


class ExamplesConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the few-shot examples of a question come from.

    path: A set; empty for the asked sample's own standard set.
    ids: The fixed examples, in their order; empty for the first ones of the set.
    retriever: Finds similar ones: lexical, dense or hybrid.
    embedder: The model of sentence embeddings for dense and hybrid; empty for the usual one.
    """

    path: str = ""
    ids: Names = ()
    retriever: str = "lexical"
    embedder: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "ids", split_names(self.ids))


class ConditionSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked. Each of modes, contexts and styles is a sequence, or one text with commas.

    modes: Any of standard, dynamic, kprag (knowledge points in the prompt), dynamic+kprag, counterfactual (variants
        with another answer), separated by commas. [default: what the sets have]
    contexts: What the prompt adds to a question in each mode: none, kprag (or kprag:retrieved, kprag:mixed), distractor
        (as many other points), hint:KIND, hint:all. With :inline or :two-turn the model elaborates on the points first.
        no-picture drops the pictures, caption replaces them; a plus combines: caption+kprag.
    styles: direct, cot, or both with a comma; likelihood compares the log-likelihoods of the options of choices and
        statements and generates nothing (for base models).
    shots: Few-shot examples for each question: 0, 5 (fixed ones), 5:random or 5:similar. They are turns of a chat; with
        :base they stand in one plain text (for base models; --base is another thing).
    examples: Source of the examples: SET [default: the asked set], ids=A,B (the fixed ones); for similar ones
        retriever=hybrid, embedder=MODEL [default: by words]. The question itself, its variants and its group are never
        among them.
    prompt: Your own template with {question}, {options}, {instruction}, with {knowledge} if there is a context, and
        with {examples} for :base shots. It takes the place of the styles.
    ops: Operators that make variants (`mmdyn list operators`): pad,color+shuffle makes two chains, the second of two
        operators; @strong is a severity. A preset (mdk12) or a YAML file gives several chains. An eval keeps the
        variants in RUN/sets.
    draws: With --ops: variants for each sample and chain; a chain without a random step makes one.
    seed: Another seed draws other variants, and other distractors.
    rewriter: With --ops: what rewrites the text: embedded rules, or a MODEL.
    style_backend: With --ops: what restyles pictures: embedded, flux or klein; flux:PATH takes weights from a folder.
    variant_judge: With --ops: what rejects variants whose meaning changed: embedded rules, nli:FOLDER, or a
        MODEL. [default: nothing]
    take: With --ops: vary only N samples of each value, such as difficulty=easy:695,medium:818,hard:1124, drawn by the
        seed. [default: all]
    epochs: Ask each question N times.
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
        return bool(self.ops) and any(one.variant != "standard" for one in self.conditions(("dynamic",)))

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
        ways = [(style, number) for style in styles for number in shots]
        return tuple(dict.fromkeys(replace(one, style=style, shots=number) for one in asked for style, number in ways))


def split_names(given: Numbers) -> tuple[str, ...]:
    """Names as a tuple; a number is one."""
    parts = str(given).split(",") if isinstance(given, str | int) else map(str, given)
    return tuple(part.strip() for part in parts if part.strip())
