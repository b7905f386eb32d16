"""A choice question as a blank to fill in, where the question can be answered without its options."""

from __future__ import annotations

import re
from fractions import Fraction

from mmdyn.sample import Match, Option, Sample
from mmdyn.text.latex import plain
from mmdyn.text.numbers import Number, read_number
from mmdyn.text.references import lists_options, refers_to_option
from mmdyn.text.units import known_unit
from perturb._operator import NotApplicable
from perturb.text._wording import changed, right_labels

BLANK = "____"

_SPACE = r"(?:[\s\u3000~_]|\\textasciitilde|\\q?quad|\\hspace\{[^}]{0,20}\})"
_BLANK = re.compile(
    rf"\$?\s{{0,2}}(?<![A-Za-z0-9_])(?:\\left\s?)?[(（]\$?{_SPACE}{{0,99}}\$?(?:\\right\s?)?[)）]\s{{0,2}}\$?"
    rf"|~{{0,9}}\\(?:uline|underline)\s?\{{{_SPACE}{{0,99}}\}}~{{0,9}}|_{{2,}}"
)
_OPEN_END = re.compile(
    r"(?:\b(?:is|are|equals|equal to)|[是为有得]|等于|=\s?\${0,2})\s{0,2}[:：]?\s{0,2}(?P<stop>[．。.]?)$"
)

_ASKS = re.compile(
    r"\bhow\s+(?:many|much|far|long|old|tall|high|deep|wide|fast|large|big|heavy)\b|\bwhat\b|多少|几(?![何乎])|什么|等于",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"(?:^|[.．。;；:：,，\n])\s{0,4}(?:(?:then|and|please)\s+)?(?:(?:find|calculate|compute|evaluate|determine)\b|[请试]?(?:求|计算))",
    re.IGNORECASE,
)
_NEEDS_OPTIONS = re.compile(
    r"\bwhich\b|\bof\s+(?:the\s+following|these|those)\b|\bone\s+of\b|\bboth\b|下列|下面|以下|下述|选项|哪"
    r"|\bthe\s+following\s+(?:is|are|numbers?|values?|options?|statements?|expressions?)\b"
    # other values would do as well
    r"|\b(?:what\s+(?:is|are|was)|find|write)\s+(?:an?|one|any)\b|\bexample\b|\b(?:could|might|may|can)\s+(?:not\s+)?be\b"
    r"|\bpossibl[ey]\b|\blikely\b|可能|可以[是为]|[写举]出一|任意写"
    # the value is not exact
    r"|\b(?:clos|near)est\b|\bmost\s+nearly\b|\bapprox|\babout\b|\broughly\b|\bestimat|\balmost\b|\bbest\b"
    r"|(?<!公)约(?![数分定束])|接近|估[计算]|近似|左右|\b(?:graph|curve|plot|chart|histogram)s?\b|(?<!双)曲线|折线|统计图"
    # options are judged
    r"|\bexcept\b|\bnot\b|\bcannot\b|n['’]t\b|\b(?:in)?correct\b|\btrue\b|\bfalse\b|正确|错误|不是|不能|不属于|一定",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"[①-⓿❶-➓㈠-㉃]|[以之][上下内外前后]|左右|[多余约近超]|\b(?:most|least|more|less|over|under|above|below|about|ago)\b",
    re.IGNORECASE,
)
"""What makes of a number something else: the numbers of statements (①③), bounds, approximations."""

_COUNTED = re.compile(r".*\d\s+[a-z]{3,}(?: [a-z]+)*")
_MEASURED = frozenset("N J kJ W kW MW mW V A mA Ω Hz Pa kPa K °C C T mol mol/L eV cal m/s m/s^2 g kg mg L mL".split())  # noqa: SIM905
ROUNDING = 0.02
"""How far, relative to it, a measured quantity (in newtons, volts, …) may be off: makers of options round."""


def as_blank(sample: Sample) -> Sample | NotApplicable:
    """The question as a fill_in_the_blank of which the right option is the answer, or why that is not sure to be right.

    Sure is: the right option is one number (and a unit) that no other option comes near, and the stem has one blank or
    asks one question for a value, without leaning on its options ("which of the following", "约", "可能").
    """
    if sample.task_type != "single_choice":
        return NotApplicable("several options may be right")
    (gold,) = (option for option in sample.options if option.label in right_labels(sample))
    value = _value(gold)
    if sample.options_in_image or value is None:
        return NotApplicable("the right option is no single number")
    if reason := _need(sample):
        return NotApplicable(reason)
    question = _with_blank(sample.question)
    if question is None:
        return NotApplicable("the stem has not exactly one blank or question")
    tolerance = ROUNDING if value.unit in _MEASURED else None
    if any(_meet(value, _value(option), tolerance or 0) for option in sample.options if option is not gold):
        return NotApplicable("another option comes near the right one")
    return changed(
        sample,
        question=question,
        task_type="fill_in_the_blank",
        answer=((gold.text.strip().rstrip("．。.,，;； "),),),
        options=(),
        match=Match(tolerance=tolerance),
    )


def _value(option: Option) -> Number | None:
    """The option's number, unless what follows it may be a product of symbols (2mgL) rather than a unit."""
    if option.image or _VAGUE.search(option.text):
        return None
    value = read_number(option.text)
    if value is None or not value.unit or not value.unit.isascii() or known_unit(value.unit) or "/" in value.unit:
        return value
    return value if _COUNTED.fullmatch(plain(option.text).strip()) else None


def _meet(right: Number, other: Number | None, tolerance: float) -> bool:
    """Whether a reply that counts as the right value could mean the other."""
    if other is None:
        return False
    apart = abs(other.value - right.value)
    return apart == 0 or apart < max(right.step or 0, 2 * Fraction(tolerance) * abs(right.value))


def _need(sample: Sample) -> str:
    """Why the question may not be answered without its options, or the empty string."""
    if lists_options(sample.question, sample.labels) or refers_to_option(sample.question, sample.labels):
        return "the stem names its options"
    found = _NEEDS_OPTIONS.search(sample.question)
    return f"the stem may need its options ({found[0]})" if found else ""


def _with_blank(stem: str) -> str | None:
    """The stem with its one blank written as ____, at the end where it asks or breaks off there, or None."""
    blanks = list(_BLANK.finditer(stem))
    if len(blanks) == 1:
        return _replaced(stem, blanks[0])
    questions = len(re.findall(r"[?？]", stem))
    if blanks or questions > 1:
        return None
    if found := _OPEN_END.search(stem.rstrip()):
        return f"{stem[: found.start('stop')].rstrip()} {BLANK}{found['stop']}"
    return f"{stem.rstrip()} {BLANK}" if (_ASKS if questions else _ORDERS).search(stem) else None


def _replaced(stem: str, blank: re.Match[str]) -> str:
    """The blank as ____; a $ that it shared with a formula beside it stays with the formula."""
    before, after = stem[: blank.start()].rstrip(), stem[blank.end() :].lstrip()
    if blank[0].count("$") % 2:
        before, after = (before + "$", after) if before.count("$") % 2 else (before, "$" + after)
    return f"{before} {BLANK} {after}".strip()
