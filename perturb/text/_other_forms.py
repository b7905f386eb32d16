"""A question in another form, with its ground truth: as a claim, a choice, a blank, or openly where it stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from numpy.random import Generator

from mmdyn.sample import IMAGE_MARK, Answer, ImageRef, Language, Match, Option, Sample
from mmdyn.text import (
    BLANK,
    Number,
    count_blanks,
    fold,
    names_a_label,
    option_refers_to_option,
    read_number,
    refers_to_all,
    spell_formula,
    split_outside,
    unwrapped_text,
    without_form_notes,
    without_latex,
)
from perturb.item import NotApplicable
from perturb.short_answers import LONGEST, ShortAnswer, answer_of, differ, equal, quantity
from perturb.text._stem import (
    GAP,
    asking_part,
    asks,
    grades,
    judges_statements,
    lists_statements,
    names_its_options,
    need_of_options,
    wants_a_name,
    wants_reasons,
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
    for reading in (_statements, _values, _value, _formula, _read_name):
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
    return sample.kind.several or judges_statements(stem) or all(map(_is_formal, shown))


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


def _read_name(sample: Sample, text: str, others: Sequence[str]) -> Produced | NotApplicable | None:
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


LABELS = "ABCD"

_BREAKS_OFF = tuple(",，、=＝:：(（")
_TRUE_FALSE: dict[Language, tuple[str, str]] = {"en": ("True", "False"), "zh": ("正确", "错误")}
_CLAIM: dict[Language, tuple[str, str]] = {
    "en": ("Claim: the right answer is {}.", "Claim: one of the right answers is {}."),
    "zh": ("断言：本题应选{}。", "断言：本题的正确答案之一是{}。"),
}
_FILLED: dict[Language, tuple[str, str]] = {
    "en": ("Claim: the answer is {}.", "Claim: {} belongs in the blank."),
    "zh": ("断言：本题的答案是{}。", "断言：空白处应填{}。"),
}
_TRUE_OR_FALSE: dict[Language, str] = {"en": " Is this claim true or false?", "zh": "这一断言是否正确？"}
_STATE: dict[Language, str] = {"en": "State what belongs in the blank.", "zh": "请写出空白处应填的内容。"}


def draw_claim(stream: Generator, sample: Sample) -> str | NotApplicable:
    """The label to claim: a right one with chance 1/2, else a wrong one, uniformly, that says more than that there is
    none where one does. Not applicable where none is wrong."""
    right = right_labels(sample)
    others = [option for option in sample.options if option.label not in right]
    wrong = [option.label for option in others if not says_none(option.text)] or [option.label for option in others]
    if not wrong:
        return NotApplicable("no option is wrong")
    claimed = right if stream.integers(2) else wrong
    return claimed[stream.integers(len(claimed))]


def as_claim(sample: Sample, label: str) -> Sample:
    """The question with the claim that an option is right, which names what the option says.

    The options stay listed where the claim may hang on them; option pictures become pictures of the question, and are
    named by their letters. They are not listed where none says more than its letter: what they stand for is in the stem
    or in the picture.

    Raises ValueError where an option marks a picture that is not there.
    """
    (claimed,) = (option for option in sample.options if option.label == label)
    several, right = sample.kind.several, label in right_labels(sample)
    alone = _says_more(claimed) and claimed_alone(sample, claimed)
    words = _FILLED[sample.language][bool(count_blanks(sample.question))]
    words = words if alone and not several else _CLAIM[sample.language][several]
    images, lines = list(sample.images), [sample.question]
    for option in sample.options if any(map(_says_more, sample.options)) and not alone else ():
        mark = ""
        if option.image:
            images.append(option.image)
            mark = f"<image {len(images)}>"
        lines.append(" ".join(part for part in (f"{option.label}.", option.text, mark) if part))
    claim = words.replace("{}", _name(claimed))
    question = "\n".join(lines) + f"\n\n{claim}{_TRUE_OR_FALSE[sample.language]}"
    return _converted(sample, "true_false", right, question, images=tuple(images), options_in_image=False)


def as_filled_claim(sample: Sample, answer: str, right: str) -> Sample:
    """A question with a short answer and the claim that the answer is `answer`: true where that is the right one."""
    claim = _FILLED[sample.language][bool(count_blanks(sample.question))].replace("{}", answer)
    question = f"{sample.question}\n\n{claim}{_TRUE_OR_FALSE[sample.language]}"
    return _converted(sample, "true_false", answer == right, question)


def as_choice(sample: Sample, right: str, wrong: Sequence[str], place: int) -> Sample | NotApplicable:
    """A question with a short answer as a single_choice in which the right answer stands at `place`, from 0.

    Not applicable where two options say the same.
    """
    texts = [*wrong[:place], right, *wrong[place:]]
    pairs = combinations([answer_of(text) for text in texts], 2)
    if not 0 <= place < len(texts) <= len(LABELS) or any(equal(one, other) for one, other in pairs):
        return NotApplicable("two options say the same")
    return _converted(sample, "single_choice", (LABELS[place],), options=_labelled(texts))


def as_either(sample: Sample, true_first: bool) -> Sample:
    """A true_false as a single_choice between the two words."""
    texts = _TRUE_FALSE[sample.language][:: 1 if true_first else -1]
    answer = "A" if sample.answer is true_first else "B"
    return _converted(sample, "single_choice", (answer,), options=_labelled(texts))


def as_blank(sample: Sample) -> Sample | NotApplicable:
    """A single choice as a fill_in_the_blank of which the right option is the answer, or why that may be wrong: the
    right option can be produced from the stem alone, and the stem has one blank or asks one question."""
    if sample.kind.several:
        return NotApplicable("several options may be right")
    (gold,) = (option for option in sample.options if option.label in right_labels(sample))
    made = produced(sample, gold)
    if isinstance(made, NotApplicable):
        return made
    question = with_blank(sample.question, len(made.texts))
    if question is None:
        return NotApplicable("the stem has not exactly one blank or question")
    question = question.replace(GAP, GAP + made.note, 1)
    return as_filled(sample, question, tuple((text,) for text in made.texts), made.tolerance)


def as_filled(
    sample: Sample, question: str, accepted: tuple[tuple[str, ...], ...], tolerance: float | None = None
) -> Sample:
    """A choice question as this fill_in_the_blank, with what is `accepted` for each blank."""
    return _converted(sample, "fill_in_the_blank", accepted, question, match=Match(tolerance=tolerance))


class Short(Struct, frozen=True):
    """The one answer of a question, and every text that is accepted for it (the answer first)."""

    text: str
    accepted: tuple[str, ...]


def with_one_blank(sample: Sample, place: int) -> Sample | NotApplicable:
    """A fill_in_the_blank of several blanks in which all but the one at `place`, from 0, are filled in."""
    assert isinstance(sample.answer, tuple)
    question, blanks = sample.question, list(BLANK.finditer(sample.question))
    if len(blanks) != len(sample.answer):
        return NotApplicable("the question has several blanks")
    for number in reversed(range(len(blanks))):
        start, end = blanks[number].span()
        if number != place:
            text = sample.answer[number][0].strip()
            text = text.strip("$") if question[:start].count("$") % 2 else text
            question = question[:start] + text + question[end:]
    return replace(sample, question=question, answer=(sample.answer[place],))


def short_answer(sample: Sample) -> Short | NotApplicable:
    """The answer of a blank or an open question, where it is one and short."""
    if sample.kind.form == "open":
        return _open_answer(sample)
    assert isinstance(sample.answer, tuple)
    if len(sample.answer) > 1 or count_blanks(sample.question) > 1:
        return NotApplicable("the question has several blanks")
    accepted = tuple(text.strip() for text in sample.answer[0])
    if not 0 < len(accepted[0]) <= LONGEST or "\n" in accepted[0]:
        return NotApplicable("the answer is not short")
    return Short(accepted[0], accepted)


def as_open(sample: Sample) -> Sample | NotApplicable:
    """A fill_in_the_blank as an open question: a blank after what asks already is left out, any other is asked for.

    Not applicable where the words would stay as they are.
    """
    short = short_answer(sample)
    if isinstance(short, NotApplicable):
        return short
    right = answer_of(short.text)
    if any(differ(right, answer_of(text)) for text in short.accepted[1:]):
        return NotApplicable("several answers are accepted")
    question = sample.question.rstrip()
    question = question if count_blanks(question) else with_blank(question) or question
    stem = question.removesuffix(GAP).rstrip()
    if asks(stem) and not stem.rstrip(" $").endswith(_BREAKS_OFF):
        question = stem
    if count_blanks(question):
        question = f"{question}\n{_STATE[sample.language]}"
    if question == sample.question.rstrip():
        return NotApplicable("the question shows no blank and asks openly already")
    return _converted(sample, "open_ended", short.text, question, match=sample.match)


def with_gap(sample: Sample) -> Sample | NotApplicable:
    """An open question as a fill_in_the_blank."""
    short = short_answer(sample)
    if isinstance(short, NotApplicable):
        return short
    question = with_blank(sample.question)
    return _converted(sample, "fill_in_the_blank", (short.accepted,), question, match=sample.match)


def changed(sample: Sample, **changes: Any) -> Sample:
    """A sample of which letters or form changed, without what may be stale then.

    The explanation is left out, and so is every hint and checklist item in which an option's letter or place is named.
    """
    labels = sample.labels
    hints = {name: text for name, text in sample.hints.items() if not names_a_label(text, labels)}
    checklist = tuple(text for text in sample.checklist if not names_a_label(text, labels))
    return replace(sample, explanation="", hints=hints, checklist=checklist, **changes)


def without_notes(sample: Sample) -> Sample:
    """The sample without the notes in its question that prescribe the form of the answer, which another task type
    belies.

    Notes on rounding and units stay, and so does a question that is nothing but such a note.
    """
    question = without_form_notes(sample.question)
    return sample if question == sample.question else replace(sample, question=question)


def alike(options: Iterable[Option]) -> bool:
    """Whether two options that are not empty read and look the same, so that letters alone tell them apart."""
    shown = [(option.text.strip(), option.image) for option in options if option.text.strip() or option.image]
    return len(set(shown)) < len(shown)


def right_labels(sample: Sample) -> tuple[str, ...]:
    """The labels of a choice question's right options, in the options' order."""
    assert isinstance(sample.answer, tuple)
    return tuple(option.label for option in sample.options if option.label in sample.answer)


def _converted(
    sample: Sample,
    task_type: str,
    answer: Answer,
    question: str | None = None,
    *,
    options: tuple[Option, ...] = (),
    match: Match | None = None,
    images: tuple[ImageRef, ...] | None = None,
    options_in_image: bool | None = None,
) -> Sample:
    return changed(
        sample,
        task_type=task_type,
        question=sample.question if question is None else question,
        answer=answer,
        options=options,
        match=match or Match(),
        images=sample.images if images is None else images,
        options_in_image=sample.options_in_image if options_in_image is None else options_in_image,
    )


def _labelled(texts: Sequence[str]) -> tuple[Option, ...]:
    return tuple(Option(label, text) for label, text in zip(LABELS, texts, strict=False))


def _name(option: Option) -> str:
    """How a claim names an option: a value as it stands, other words in quotation marks, a picture by its letter."""
    text = option.text.strip().rstrip("。．.,，;；")
    if option.image or IMAGE_MARK.search(text) or not _says_more(option):
        return option.label
    return text if answer_of(text).value is not None else f"“{text}”"


def _says_more(option: Option) -> bool:
    return bool(option.image) or unwrapped_text(option.text) not in ("", option.label)


def _open_answer(sample: Sample) -> Short | NotApplicable:
    text = str(sample.answer).strip()
    if not answer_of(text).kind:
        return NotApplicable("the answer is not short and definite")
    if wants_reasons(sample.question):
        return NotApplicable("the question asks for reasons or a drawing")
    if with_blank(sample.question) is None:
        return NotApplicable("the stem has not exactly one blank or question")
    return Short(text, (text,))
