"""Whether the right option of a single choice can be produced without the options: a value, a formula, statements'
numbers or a name; English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from mmdyn.sample import IMAGE_MARK, Option, Sample
from mmdyn.text import (
    Number,
    count_blanks,
    fold,
    option_refers_to_option,
    read_number,
    refers_to_all,
    spell_formula,
    split_outside,
    without_latex,
)
from perturb.item import NotApplicable
from perturb.short_answers import LONGEST, ShortAnswer, answer_of, differ, quantity
from perturb.text._stem import (
    GAP,
    asking_part,
    grades,
    judges_statements,
    lists_statements,
    names_its_options,
    need_of_options,
    wants_a_name,
    with_blank,
)

ROUNDING = 0.02
"""How far, relative to it, a measured quantity (in newtons, volts, …) may be off: makers of options round."""

_PI_ROUNDED = 0.002
"""How far a multiple of π may be off: people reckon with 3.14."""

_MEASURED = frozenset("N J kJ W kW MW mW V A mA Ω Hz Pa kPa K °C C T mol mol/L eV cal m/s m/s^2 g kg mg L mL".split())  # noqa: SIM905
_NUMBERS_OF: dict[str, str] = {"en": "(give the numbers)", "zh": "（填序号）"}
_LONGEST_STEM = 600
"""A longer one is a passage, in which any word may stand by chance."""
_END = "．。.,，;； "

_NO_ANSWER = re.compile(
    r"(?:no|not|none|cannot|can't|impossible|uncertain|unable|it is (?:impossible|uncertain))\b.*|all .*tie.*"
    r"|.*(?:无法|不能|不)(?:比较|确定|判断).*|不确定|无选项|没有.*",
    re.IGNORECASE,
)
"""Options that say that there is no answer, or none among the others."""

_CIRCLED = re.compile(r"[①-⑳]+")
_FORMAL = re.compile(
    r"(?![+*/×÷])(?:\\(?:frac|sqrt|sin|cos|tan|log|ln|lg|overline|dot)\b|[A-Za-zα-ωΑ-ΩΔ\d\s+\-*/^_√.,;:=(){}\[\]|∪∩∞∅±·×°'!⦃⦄])+"
)
_STATEMENT_NUMBERS = re.compile(r"(?:[①-⑳]|[(（]\s?\d\s?[)）]|[、,，\s])+")
_FUNCTIONS = re.compile(r"\\?(?:arc)?(?:sin|cos|tan|log|lg|ln|sqrt|frac)(?![a-z])|\\[a-z]+")
_WORD = re.compile(r"[A-Za-z]{3}")
_SYMBOL = re.compile(r"[A-Za-zα-ωΑ-Ω]")
_IN_DOLLARS = re.compile(r"\$([^$]+)\$")
_ALONE = re.compile(r"(?<![A-Za-z\\])[A-Za-zα-ω](?![A-Za-z])")
_CONSTANTS = frozenset("πei")
_EQUATION = re.compile(r"\b(?:equation|formula|function|expression)\b|方程|解析式|表达式|函数", re.IGNORECASE)
_LIES_IN = re.compile(
    r"\binterval\b|condition|(?<!单调)(?<!递增)(?<!递减)区间|条件|属于|(?:则|那么|then)[，,：:]?\s*(?:_{2,}|\$?[(（])",
    re.IGNORECASE,
)
_IN_ORDER = re.compile(r"\brespectively\b|分别|依次", re.IGNORECASE)
_AND = re.compile(r"[，、；;]|\s+and\s+|\s?和\s?")
_RELATION = re.compile(r"\\(?:leqslant|geqslant|leq?|geq?|neq?|lt|gt)(?![a-z])|[<>≤≥≠]")
_SIGN = re.compile(r"[\d=+\-*/^(|]")
_LONGEST_TERM = 3


class Produced(Struct, frozen=True):
    """The right option's text without the stop at its end, or its parts, one for each blank; how far a number may be
    off; and `note`, what the blank has to say of the form."""

    texts: tuple[str, ...]
    tolerance: float | None = None
    note: str = ""


def produced(sample: Sample, gold: Option) -> Produced | NotApplicable:
    """What a single choice's right option is where the stem alone decides it, or why it may not.

    - one number (and a unit) or one formula's value, to which no other option comes near, of a stem that does not lean
      on its options;
    - a number for each of a stem's several blanks, or of what it asks for "respectively";
    - a formula, a set or an interval in the stem's own symbols, of such a stem; an equation only where the stem asks
      for one, an interval not where something lies in it;
    - circled numbers of statements that the stem lists;
    - a name: where every option stands in the stem, where the stem asks for a name of one kind (who, what day of the
      week, called …), or where it ends in 是 or 为 and all options are Chinese words of three characters at most that
      do not repeat its noun.
    """
    if sample.options_in_image or any(option.image for option in sample.options):
        return NotApplicable("options are pictures")
    text = gold.text.strip().rstrip(_END)
    others = [option.text.strip().rstrip(_END) for option in sample.options if option is not gold]
    others = [other for other in others if not says_none(other)]
    if not text or says_none(text):
        return NotApplicable("the right option is that there is none")
    if reason := names_its_options(sample.question, sample.labels):
        return NotApplicable(reason)
    for reading in (_statements, _values, _value, _formula, _name):
        if (made := reading(sample, text, others)) is not None:
            return made
    return NotApplicable("the right option is no value and no term that the stem asks for")


def claimed_alone(sample: Sample, claimed: Option) -> bool:
    """Whether a claim that an option is right is true or false whatever the others say, so that they may be left out.

    So it is where statements are judged or several options are right, and where values or formulas are claimed; not
    where the stem names its options or grades them.
    """
    assert isinstance(sample.answer, tuple)
    right = [option for option in sample.options if option.label in sample.answer]
    shown = [option.text.strip().rstrip(_END) for option in (claimed, *right)]
    stem, labels = sample.question, sample.labels
    if any(option.image or IMAGE_MARK.search(option.text) for option in sample.options):
        return False
    if names_its_options(stem, labels) or grades(stem):
        return False
    if any(says_none(text) or option_refers_to_option(text, labels, stem) for text in shown):
        return False
    return sample.task_type == "multi_select" or judges_statements(stem) or all(map(_is_formal, shown))


def _is_formal(text: str) -> bool:
    """Whether a text is a number, some numbers or a formula, perhaps an inequality."""
    formula = _RELATION.sub("=", text)
    numbers = all(_number(part, "") for part in _parts(text))
    return numbers or (_symbols_in(formula) is not None and bool(_SIGN.search(formula)))


def _parts(text: str) -> list[str]:
    """What a short text lists; one formula is taken apart without its $."""
    bare = text.strip("$")
    return split_outside(_AND.sub(",", text if "$" in bare else bare), ",") if len(text) <= 4 * LONGEST else [text]


def says_none(text: str) -> bool:
    """Whether an option says that there is no answer, or speaks of all others."""
    return bool(_NO_ANSWER.fullmatch(text.strip().rstrip(_END))) or refers_to_all(text)


def _values(sample: Sample, text: str, others: Sequence[str]) -> Produced | NotApplicable | None:
    """A number for each of several blanks, or of what is asked respectively."""
    parts, *wrong = (_parts(one) for one in (text, *others))
    numbers, blanks = [_number(part, "") for part in parts], count_blanks(sample.question)
    fits = blanks == len(parts) or (blanks < 2 and bool(_IN_ORDER.search(sample.question)))
    if len(parts) < 2 or not (fits and all(numbers)) or any(len(other) != len(parts) for other in wrong):
        return None
    if reason := need_of_options(sample.question):
        return NotApplicable(reason)
    measured = any(number and number.unit in _MEASURED for number in numbers)
    return Produced(tuple(parts), ROUNDING if measured else None)


def _value(sample: Sample, text: str, others: Sequence[str]) -> Produced | NotApplicable | None:
    unit = _common_unit([text, *others])
    read = [_number(one, unit) for one in (text, *others)]
    right, *wrong = read
    if right is None:
        return None
    if reason := need_of_options(sample.question):
        return NotApplicable(reason)
    tolerance = ROUNDING if right.unit in _MEASURED else _PI_ROUNDED if "π" in without_latex(text) else None
    if any(_meet(right, other, tolerance or 0) for other in wrong):
        return NotApplicable("another option comes near the right one")
    return Produced((text,), tolerance)


def _common_unit(texts: Sequence[str]) -> str:
    """The unit of all options that are numbers, where it is one: it is known to be one then, whatever it is."""
    units = {number.unit for text in texts if (number := read_number(text))}
    return units.pop() if len(units) == 1 and len(texts) > 1 else ""


def _number(text: str, unit: str) -> Number | None:
    if number := quantity(text):
        return number
    number = read_number(text)
    if number and len(unit) > 1 and number.unit == unit and unit.isascii():
        return number
    value = answer_of(text)
    return Number(Fraction(value.value)) if value.kind == "value" and value.value is not None else None


def _meet(right: Number, other: Number | None, tolerance: float) -> bool:
    """Whether a reply that counts as the right value could mean the other."""
    if other is None:
        return False
    apart = abs(other.value - right.value)
    return apart == 0 or apart < max(right.step or 0, 2 * Fraction(tolerance) * abs(right.value))


def _formula(sample: Sample, text: str, others: Sequence[str]) -> Produced | NotApplicable | None:
    spelled = spell_formula(text)
    symbols = _symbols_in(text)
    if symbols is None or not symbols <= _symbols(sample.question) | _CONSTANTS:
        return None
    asked = asking_part(sample.question)
    if len(split_outside(spelled, ",;")) > 1:
        return NotApplicable("the right option is a list")
    if (re.search("[=<>≤≥≠]", spelled) and not _EQUATION.search(asked)) or _LIES_IN.search(asked):
        return NotApplicable("other formulas may fit the stem")
    if reason := need_of_options(sample.question):
        return NotApplicable(reason)
    return Produced((text,))


def _symbols_in(text: str) -> set[str] | None:
    """The letters in a text that is a formula, and None for any other text."""
    spelled = spell_formula(text)
    bare = _FUNCTIONS.sub(" ", spelled)
    symbols = set(_SYMBOL.findall(bare))
    if max(len(text) // 4, len(spelled)) > LONGEST or not _FORMAL.fullmatch(spelled):
        return None
    if _STATEMENT_NUMBERS.fullmatch(text) or _WORD.search(bare):
        return None
    return symbols if re.search(r"[\d∅]", spelled) or len(symbols) > 1 else None


def _symbols(stem: str) -> set[str]:
    """The letters in a stem's formulas, and those that stand alone."""
    formulas = [_FUNCTIONS.sub(" ", spell_formula(part)) for part in _IN_DOLLARS.findall(stem.replace("$$", "$"))]
    return set(_SYMBOL.findall(" ".join(formulas))) | set(_ALONE.findall(stem))


def _statements(sample: Sample, text: str, others: Sequence[str]) -> Produced | NotApplicable | None:
    """A combination of circled numbers. Where some stand in another order an order is asked for, and several may do."""
    numbers = [re.sub(r"[、,，\s]", "", one) for one in (text, *others)]
    sets = all(_CIRCLED.fullmatch(one) and list(one) == sorted(one) for one in numbers)
    if not sets or not lists_statements(sample.question, "".join(numbers)):
        return None
    return Produced((text,), note=_NUMBERS_OF[sample.language])


def _name(sample: Sample, text: str, others: Sequence[str]) -> Produced | NotApplicable | None:
    right, wrong = answer_of(text), [answer_of(other) for other in others]
    if right.kind not in ("words", "han") or not wrong or not all(differ(right, other) for other in wrong):
        return None
    short = len(sample.question) <= _LONGEST_STEM
    named = short and all(_stands_in(answer, sample.question) for answer in (right, *wrong))
    if not (named or wants_a_name(sample.question) or _is_term(sample.question, (right, *wrong))):
        return None
    reason = need_of_options(sample.question, named=True)
    return NotApplicable(reason) if reason else Produced((text,))


def _is_term(stem: str, answers: Sequence[ShortAnswer]) -> bool:
    """Whether a stem ends where a term is to be named, rather than where it tells a thing's kind (这个角是钝角)."""
    terms = all(answer.kind == "han" and len(answer.folded) <= _LONGEST_TERM for answer in answers)
    ended = (with_blank(stem) or "").rstrip(" .．。").endswith((f"是 {GAP}", f"为 {GAP}")) and not grades(stem)
    return terms and ended and not any(answer.folded[-1] in asking_part(stem) for answer in answers)


def _stands_in(answer: ShortAnswer, stem: str) -> bool:
    stem = fold(stem)
    if answer.kind == "han":
        return answer.folded in stem
    return len(answer.folded) > 1 and bool(re.search(rf"(?<!\w){re.escape(answer.folded)}(?!\w)", stem))
