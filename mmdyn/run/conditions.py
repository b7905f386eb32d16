"""The conditions that were asked for: modes, crossed with contexts and styles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.context import DISTRACTOR, ELABORATE, KPRAG, SOURCES, Context
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


class ConditionSpec(Struct, frozen=True):
    """What was asked for by name, as `parse_conditions` takes it; without modes those that the sets hold are meant."""

    modes: tuple[str, ...] = ()
    styles: tuple[str, ...] = ("direct",)
    contexts: tuple[str, ...] = ()
    knowledge: tuple[str, ...] = ()
    elaborate: tuple[str, ...] = ()

    def conditions(self, usual: Sequence[str] = ("standard",)) -> tuple[Condition, ...]:
        """The conditions, in the `usual` modes where none is named. Raises UserError."""
        return parse_conditions(self.modes or usual, self.styles, self.contexts, self.knowledge, self.elaborate)


def parse_conditions(
    modes: Sequence[str],
    styles: Sequence[str],
    contexts: Sequence[str] = (),
    knowledge: Sequence[str] = (),
    elaborate: Sequence[str] = (),
) -> tuple[Condition, ...]:
    """Every mode in every style; where there are `contexts`, each of them with each variant that the modes name.

    A plain kprag stands for one context for each source in `knowledge` and each way in `elaborate`, a plain distractor
    for one each way (without any: gold, inline). Raises UserError for an unknown name, and where these two mean
    nothing.
    """
    known = {"mode": (modes, MODES), "style": (styles, STYLES)}
    known |= {"source of knowledge": (knowledge, SOURCES[1:]), "way to elaborate": (elaborate, ELABORATE)}
    for what, (given, names) in known.items():
        for name in given:
            if name not in names:
                raise UserError(f"there is no {what} {name!r}{did_you_mean(name, names)}: {', '.join(names)} are")
    asked = [MODES[mode] for mode in modes]
    plain = [condition.context for condition in asked if not contexts or condition.context == KPRAG]
    for option, idle in (
        ("--knowledge", knowledge and KPRAG not in (*plain, *contexts)),
        ("--elaborate", elaborate and not {KPRAG, DISTRACTOR} & {*plain, *contexts}),
    ):
        if idle:
            raise UserError(
                f"{option} says how a plain kprag{' or distractor' if option == '--elaborate' else ''} is asked, and"
                " none is: add --context kprag, write all into the context's name (kprag:retrieved:two-turn), or leave"
                " it out"
            )
    if contexts:
        variants = dict.fromkeys(condition.variant for condition in asked)
        asked = [Condition(variant=variant, context=name) for variant in variants for name in (*contexts, *plain)]
    wide = [replace(one, context=name) for one in asked for name in _names(one.context, knowledge, elaborate)]
    return tuple(dict.fromkeys(replace(one, style=style) for one in wide for style in styles))


def _names(text: str, knowledge: Sequence[str], elaborate: Sequence[str]) -> Iterator[str]:
    """The names of the contexts that a text stands for."""
    if text not in (KPRAG, DISTRACTOR):
        yield Context.parse(text).name
        return
    for source in (knowledge or SOURCES[-1:]) if text == KPRAG else ("",):
        for way in elaborate or ("inline",):
            yield Context.parse(":".join(filter(None, (text, source, way)))).name
