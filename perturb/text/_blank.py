"""A question as a blank to fill in, where it can be answered without its options."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from mmdyn.sample import Match, Option, Sample
from mmdyn.text import Number
from perturb.item import NotApplicable
from perturb.short_answers import quantity
from perturb.text._stem import need_of_options, with_blank
from perturb.text._wording import changed, right_labels

_MEASURED = frozenset("N J kJ W kW MW mW V A mA Ω Hz Pa kPa K °C C T mol mol/L eV cal m/s m/s^2 g kg mg L mL".split())  # noqa: SIM905
ROUNDING = 0.02
"""How far, relative to it, a measured quantity (in newtons, volts, …) may be off: makers of options round."""


class _Blank(Struct, frozen=True):
    question: str
    answer: str
    tolerance: float | None


def as_blank(sample: Sample) -> Sample | NotApplicable:
    """The question as a fill_in_the_blank of which the right option is the answer, or why that is not sure to be right.

    Sure is: the right option is one number (and a unit) that no other option comes near, and the stem has one blank or
    asks one question for a value, without leaning on its options ("which of the following", "约", "可能").
    """
    if sample.task_type != "single_choice":
        return NotApplicable("several options may be right")
    if sample.options_in_image:
        return NotApplicable("the right option is no single number")
    blank = _blank(sample.question, sample.options, *right_labels(sample))
    if isinstance(blank, NotApplicable):
        return blank
    return changed(
        sample,
        question=blank.question,
        task_type="fill_in_the_blank",
        answer=((blank.answer,),),
        options=(),
        match=Match(tolerance=blank.tolerance),
    )


@lru_cache(maxsize=64)
def _blank(question: str, options: tuple[Option, ...], right: str) -> _Blank | NotApplicable:
    """Kept for a moment: it is asked whether a sample can be a blank before it is made one."""
    (gold,) = (option for option in options if option.label == right)
    value = _value(gold)
    if value is None:
        return NotApplicable("the right option is no single number")
    if reason := need_of_options(question, tuple(option.label for option in options)):
        return NotApplicable(reason)
    blanked = with_blank(question)
    if blanked is None:
        return NotApplicable("the stem has not exactly one blank or question")
    tolerance = ROUNDING if value.unit in _MEASURED else None
    if any(_meet(value, _value(option), tolerance or 0) for option in options if option is not gold):
        return NotApplicable("another option comes near the right one")
    return _Blank(blanked, gold.text.strip().rstrip("．。.,，;； "), tolerance)


def _value(option: Option) -> Number | None:
    return None if option.image else quantity(option.text)


def _meet(right: Number, other: Number | None, tolerance: float) -> bool:
    """Whether a reply that counts as the right value could mean the other."""
    if other is None:
        return False
    apart = abs(other.value - right.value)
    return apart == 0 or apart < max(right.step or 0, 2 * Fraction(tolerance) * abs(right.value))
