"""What a rewording must keep: numbers, units, formulas, negations, bounds, names, options, blanks, marks, the answer.

A question that was converted to another form may use the words of its options and answer, and must keep everything that
its stem said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import replace_images
from mmdyn.equal import same
from mmdyn.keys import Json, digest
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import (
    LOWERCASE_WORD,
    NEGATION_AXIS,
    SKIPPED_AXIS,
    Pole,
    Quantity,
    asked_units,
    count_blanks,
    hidden_negations,
    logic_poles,
    proper_names,
    read_formulas,
    read_names,
    read_number,
    read_quantities,
    read_quotations,
    read_symbols,
    unit_measure,
    without_order,
)
from perturb.judge._judge import (
    AskedForm,
    Doubt,
    Look,
    answers_differ,
    are_words,
    asked,
    gravest,
    means,
    options_differ,
    plain_text,
)

VERSION = 4
"""Counted up whenever a verdict may change for the same words."""

_RULES = "logic.tsv frames.tsv unit_spellings_in_running_text.tsv implied_numbers.tsv counted_numbers.tsv stopwords.txt"

_SURE, _UNSURE = 0.97, 0.8
_BY_PRESENCE = frozenset({"bound", "only", "quantity"})
"""Axes whose words may be repeated: only their presence counts."""
_SELF_TOLD = frozenset({"quantity", "junction", "compass", "colour", "season", "element"})
"""Axes that a message need not name, as their poles explain themselves."""
_UNCHANGED = Pole("trend", "same")
_SHORTEST_STEM = 4
_SHORTEST_NAME = 2
_BARE = ("", "th")
"""Values that stand for "no unit"."""

Words: TypeAlias = dict[Fraction, re.Pattern[str]]
_IMPLIED, _COUNTED = (
    {Fraction(number): re.compile("|".join(words)) for number, *words in read_names(f"{name}_numbers.tsv")}
    for name in ("implied", "counted")
)
"""Words that imply a number (triangle), and words that count things which the other text names."""
_NOTATIONS = (
    (re.compile(r"(?<=\d)(?<!\d{4})[ \u2009\u202f](?=\d{3}(?!\d))"), ""),
    (re.compile(r"(?<=[A-Za-z])[ *·]([A-Za-z]{1,3})\^-1(?!\d)"), r"/\1"),
    (re.compile(r"(?<=[A-Za-z])[ *·]([A-Za-z]{1,3})\^-(?=[23](?!\d))"), r"/\1^"),
    (re.compile(r"(?<=\d°)(?=[ENSW]\b)"), " "),
    (re.compile(r"(?<=\d):00(?!:?\d)"), ""),
    (re.compile(r"(?<![A-Za-z])(sin|cos|tan|lg|ln)(?=\d)"), r"\1 "),
    (re.compile(r"每(小时|秒钟?|分钟?)([^\d，,。.;；]{0,5}[\d.]+)\s?([千厘]?米|公里|k?m)(?![/\w])"), r"\2\3/\1"),
    (re.compile(r"(\d\s?[A-Za-z]{1,11}) (?:an?|each|every) (?=hour|minute|second)"), r"\1 per "),
)
"""42 000 as 42000, mol L^-1 as mol/L, m s^-2 as m/s^2, 120°E as 120° E, 8:00 as 8, sin30° as sin 30°,
每小时行50千米 as 50千米/小时, "50 km an hour" as "50 km per hour"."""
_OPEN = {
    1: re.compile(r"\b(?:an?|single|each|every|once)\b|[单首每]"),
    2: re.compile(
        r"\b(?:both|pairs?|couple|either|neither|doubled?|them|they|their|between|together)\b|[双对们相]|之间|彼此"
    ),
}
_DENIED = Pole(NEGATION_AXIS, "not")


class Facts(Struct, frozen=True, eq=False):
    """A text's facts. `numbers` counts (value, unit), except 1 and 2 in words, which are `small`; `loose` counts these,
    and words that may mean 1 or 2, such as "a" and "both".

    `asked` are the units that are named without a number; `text` is the text in lower case without spaces.
    """

    numbers: Counter[Quantity]
    small: frozenset[int]
    loose: Counter[int]
    asked: frozenset[str]
    formulas: frozenset[str]
    symbols: frozenset[str]
    names: frozenset[str]
    quotations: frozenset[str]
    words: frozenset[str]
    poles: Counter[Pole]
    blanks: int
    text: str

    @property
    def units(self) -> frozenset[str]:
        """All units that are named."""
        return (self.asked | {number.unit for number in self.numbers}).difference(_BARE)

    @property
    def denials(self) -> int:
        """How often something is denied."""
        return self.poles[_DENIED]


def identity() -> Json:
    """Identity of the rules: their version and a digest of their word lists."""
    return [
        VERSION,
        digest([files("mmdyn.text").joinpath(name).read_text(encoding="utf-8") for name in _RULES.split()]),
    ]


def compare(before: Sample, after: Sample, looks: tuple[Look, ...] = ()) -> Doubt | None:
    """The gravest doubt about a variant's words; None if there is none. `looks`: which picture became which."""
    a, b = take_apart(before, after, looks)
    return compare_asked(a, b)


def take_apart(before: Sample, after: Sample, looks: tuple[Look, ...] = ()) -> tuple[AskedForm, AskedForm]:
    """A parent and its variant taken apart, the variant's pictures in the places of the parent's."""
    if looks:
        refs = {Path(ref).name: ref for ref in after.all_images}
        became = {look.before_file.name: refs.get(look.after_file.name) for look in looks}
        before = replace_images(before, {ref: became.get(Path(ref).name) or ref for ref in before.all_images})
    return asked(before), asked(after)


def compare_asked(a: AskedForm, b: AskedForm) -> Doubt | None:
    """As `compare`, for parsed questions.

    Certain: no reading makes both equal. A number, formula, option, image mark or the answer's key changed. Doubtful:
    all else. A number is missing or new, or another unit may explain it; a negation, bound, unit, blank, quantifier,
    comparison or direction changed; a symbol, name or quotation is missing or new.
    """
    return gravest(_doubts(a, b))


def _doubts(a: AskedForm, b: AskedForm) -> Iterator[Doubt]:
    if problem := options_differ(a, b):
        yield _certain(problem) if _surely_differ(a, b) else _doubtful(problem)
    if problem := answers_differ(a, b):
        by_key = a.form == b.form or b.claimed or isinstance(a.sample.answer, bool)
        yield _certain(problem) if by_key and not are_words(a, b) else _doubtful(problem)
    if b.said and not a.said:
        yield _doubtful(f"the answer is given away: {b.said}")
    elif a.said and b.said and a.form == b.form and not means(a.said, b.said):
        yield _doubtful(f"the answer that is given changed: {a.said} -> {b.said}")
    elif a.form == b.form != "claim" and (given := _given_away(a, b)):
        yield _doubtful(f"the answer is given away: {given[:40]}")
    yield from _marks(a, b)
    if a.stem == b.stem:
        return
    said, now, spare = facts(a.stem), facts(b.stem), facts("")
    if a.form != b.form:
        spare = facts("\n".join([*(option.text for option in a.options), *a.gold, *b.gold]))
    elif a.form == "blank" and said.blanks not in (0, now.blanks):
        yield _doubtful(f"the number of blanks changed: {said.blanks} -> {now.blanks}")
    if said.text != now.text:
        yield from _words(said, now, spare)


def _given_away(a: AskedForm, b: AskedForm) -> str:
    """The right answer, if the variant's stem names it and the parent's does not; empty otherwise."""
    said, now = plain_text(a.stem).lower(), plain_text(b.stem).lower()
    for gold in a.gold:
        name = plain_text(gold).lower().strip(" .")
        if len(name) >= _SHORTEST_NAME and name not in said and name in now and not read_number(name):
            return gold
    return ""


def _surely_differ(a: AskedForm, b: AskedForm) -> bool:
    """Whether options that differ are the samples' own, or differ in numbers or formulas; options listed in a text may
    be reworded."""
    said, now = (facts("\n".join(option.text for option in side.options)) for side in (a, b))
    own = bool(a.sample.options and b.sample.options)
    return own or any(doubt.certain for doubt in _words(said, now, facts("")))


def _words(said: Facts, now: Facts, spare: Facts) -> Iterator[Doubt]:
    now = _in_units_of(said, now)
    named = _without(said.numbers, _IMPLIED, now, said), _without(now.numbers, _IMPLIED, said, now)
    said, now = replace(said, numbers=named[0]), replace(now, numbers=named[1])
    yield from _numbers(said, now, spare)
    lost, found = _units_gone(said, now), _units_gone(now, said) - spare.units
    if not (lost and found):
        lost, found = _with_kin(lost, now), _with_kin(found, said)
    yield from _sets("unit", lost, found)
    gone, new = said.formulas - now.formulas, now.formulas - said.formulas - spare.formulas
    if gone and new:
        one, other = (sorted(map(without_order, formulas)) for formulas in (gone, new))
        alike = sorted(sides[1::2] for sides in one) == sorted(sides[1::2] for sides in other)
        # Equal formulas with the same relations differ in notation alone.
        if not (alike and all(map(same, sorted(gone), sorted(new)))):
            make = _certain if alike and one != other else _doubtful
            yield make(f"a formula changed: {_first(gone)} -> {_first(new)}")
    yield from _negations(said, now, spare)
    yield from _poles(said, now, spare)
    yield from _symbols(said, now, spare)
    yield from _names(said, now, spare)


def _units_gone(said: Facts, now: Facts) -> set[str]:
    """The units that the other text lacks in every spelling (kW·h is kWh), and as a letter."""
    measures = set(map(unit_measure, now.units)) - {None}
    return {unit for unit in said.units - now.units - now.symbols if unit_measure(unit) not in measures}


def _with_kin(units: set[str], text: Facts) -> set[str]:
    """The units for which the text names another one of the same dimension; others may be implied."""
    kinds = {measure.dimension for unit in text.units if (measure := unit_measure(unit))}
    return {unit for unit in units if (measure := unit_measure(unit)) and measure.dimension in kinds}


def _in_units_of(said: Facts, now: Facts) -> Facts:
    """The facts `now`, with quantities in the units of `said` where they are equal: 120 min as 2 h."""
    gone = {amount: number for number in said.numbers - now.numbers if (amount := _amount(number))}
    same = {number: gone.get(_amount(number), number) for number in now.numbers - said.numbers}
    return replace(now, numbers=Counter(same.get(number, number) for number in now.numbers.elements()))


def _amount(number: Quantity) -> object:
    """A quantity in base units, with its dimension; None if the unit is unknown."""
    measure = unit_measure(number.unit)
    return (number.value * measure.size, measure.dimension) if measure else None


def _numbers(said: Facts, now: Facts, spare: Facts) -> Iterator[Doubt]:
    gone = _without_small(said.numbers - now.numbers, now.loose - said.loose, now)
    new = _without_small(now.numbers - said.numbers - spare.numbers, said.loose - now.loose, said)
    lost = [number for number in gone if number not in now.numbers]
    if not lost:
        new = _without(new, _COUNTED, now, said)
    found = [number for number in new if number not in said.numbers]
    if lost and found:
        yield _changed(lost, found)
    elif lost or found:
        yield _doubtful(f"a number is {'gone' if lost else 'new'}: {_spell((lost or found)[0])}")
    if 2 in said.small and not now.loose[2] and Quantity(Fraction(2), "") not in now.numbers:
        yield _doubtful("a number is gone: two")


def _without(numbers: Counter[Quantity], words: Words, text: Facts, other: Facts) -> Counter[Quantity]:
    """The numbers, without those that `text` says in words and `other` does not."""
    known = {number: word for number in numbers if (word := words.get(number.value))}
    named = {number for number, word in known.items() if word.search(text.text) and not word.search(other.text)}
    return Counter(number for number in numbers.elements() if number not in named)


def _changed(lost: list[Quantity], found: list[Quantity]) -> Doubt:
    """The doubt about missing and new numbers; certain if no reading makes them equal."""
    odd, new = _unlike(lost, found), _unlike(found, lost)
    one, other = (odd[0], new[0]) if odd and new else (lost[0], found[0])
    kind = "unit" if one.value == other.value else "number"
    angles = {"°", "rad"} == {one.unit, other.unit}  # 30° and π/6 rad are the same
    return (_certain if odd and new and not angles else _doubtful)(
        f"a {kind} changed: {_spell(one)} -> {_spell(other)}"
    )


def _unlike(numbers: list[Quantity], others: list[Quantity]) -> list[Quantity]:
    """The numbers whose value the others lack, or have with another unit only."""
    values, bare = {other.value for other in others}, {other.value for other in others if other.unit in _BARE}
    return [number for number in numbers if number.value not in (values if number.unit in _BARE else bare)]


def _without_small(numbers: Counter[Quantity], spelled: Counter[int], other: Facts) -> Counter[Quantity]:
    """The numbers, without each 1 and 2 that the other text has in words (`spelled`)."""
    small = (number for number in numbers if number.value in (1, 2) and number.unit in {"", "th", *other.units})
    return numbers - Counter({number: spelled[int(number.value)] for number in small})


def _negations(said: Facts, now: Facts, spare: Facts) -> Iterator[Doubt]:
    before = said.denials + hidden_negations(said.words, now.words)
    after = now.denials + hidden_negations(now.words, said.words)
    if not before <= after <= before + spare.denials:
        yield _doubtful(f"a negation {'was added' if after > before else 'is gone'}")


def _poles(said: Facts, now: Facts, spare: Facts) -> Iterator[Doubt]:
    """Bounds that are new or missing, and words that were replaced by an opposite."""
    gone, new = said.poles - now.poles, now.poles - said.poles - spare.poles
    for pole in [*gone, *new]:
        by_presence = pole.axis in _BY_PRESENCE or pole == _UNCHANGED
        if by_presence and pole in said.poles and pole in now.poles:
            del gone[pole], new[pole]
    for pole in [*gone, *new]:
        swapped = Pole("extreme", pole.pole)  # "seats at most ten" and "seats a maximum of ten", 最多 and 不超过
        if pole.axis == "bound" and swapped not in (new if pole in gone else gone):
            yield _doubtful(f"a bound {'is gone' if pole in gone else 'is new'}: at {pole.pole}")
        elif pole.axis == "only" or pole == _UNCHANGED:
            word = "only" if pole.axis == "only" else "unchanged"
            yield _doubtful(f"{word!r} {'is gone' if pole in gone else 'is new'}")
    for pole in gone:
        opposite = next((other for other in new if other.axis == pole.axis not in (NEGATION_AXIS, SKIPPED_AXIS)), None)
        if opposite:
            yield _doubtful(f"a word turned into its opposite: {_name(pole)} -> {_name(opposite)}")


def _symbols(said: Facts, now: Facts, spare: Facts) -> Iterator[Doubt]:
    gone = {symbol for symbol in said.symbols - now.symbols if symbol.lower() not in now.words}
    new = {symbol for symbol in now.symbols - said.symbols - spare.symbols if symbol.lower() not in said.words}
    if not (gone and new):  # triangle ABC, of which only the sides are named
        letters, others = ({*"AI", *"".join(side.symbols | side.units)} for side in (now, said))
        gone = {symbol for symbol in gone if not letters.issuperset(symbol)}
        new = {symbol for symbol in new if not others.issuperset(symbol)}
    yield from _sets("symbol", gone, new)


def _names(said: Facts, now: Facts, spare: Facts) -> Iterator[Doubt]:
    gone = {name for name in said.names if not _is_named(name, now)}
    new = {name for name in now.names if not (_is_named(name, said) or _is_named(name, spare))}
    if gone:  # a rewording may well name one more
        yield from _sets("name", gone, new)
    gone = {text for text in said.quotations if text not in now.text}
    new = {text for text in now.quotations if text not in said.text and text not in spare.text}
    if gone and new:
        yield from _sets("quotation", gone, new)


def _marks(a: AskedForm, b: AskedForm) -> Iterator[Doubt]:
    said, now = ({mark for text in _texts(side) for mark in IMAGE_MARK.findall(text)} for side in (a, b))
    gone, new = said - now, now - said
    if gone or (new and a.form == b.form):
        yield _certain(f"an image mark {'is gone' if gone else 'is new'}: <image {_first(gone or new)}>")


def _texts(side: AskedForm) -> list[str]:
    return [side.stem, *(option.text for option in side.options)]


def _is_named(name: str, text: Facts) -> bool:
    """Whether a name, or another form of it (China, Chinese), is in a text."""
    name = name.lower()
    stem = name[: max(_SHORTEST_STEM, len(name) - 3)]
    return name in text.text or any(word.startswith(stem) for word in text.words)


def _sets(kind: str, gone: Iterable[str], new: Iterable[str]) -> Iterator[Doubt]:
    article = "an" if kind[0] in "aeio" else "a"
    if gone and new:
        yield _doubtful(f"{article} {kind} changed: {_first(gone)} -> {_first(new)}")
    elif gone or new:
        yield _doubtful(f"{article} {kind} is {'gone' if gone else 'new'}: {_first(gone or new)}")


def _first(texts: Iterable[str]) -> str:
    return min(texts)[:60]


def _spell(number: Quantity) -> str:
    value = number.value
    shown = str(value) if value.denominator < 100 else f"{float(value):g}"
    return f"{shown[:30]} {number.unit}".strip()


def _name(pole: Pole) -> str:
    return pole.pole if pole.axis in _SELF_TOLD else f"{pole.axis} {pole.pole}"


def _certain(reason: str) -> Doubt:
    return Doubt(reason, certain=True, confidence=_SURE)


def _doubtful(reason: str) -> Doubt:
    return Doubt(reason, certain=False, confidence=_UNSURE)


@lru_cache(maxsize=512)
def facts(text: str) -> Facts:
    """Read a text."""
    plain = plain_text(text)
    lower = plain.lower()
    words = frozenset(LOWERCASE_WORD.findall(lower))
    for pattern, written in _NOTATIONS:
        plain = pattern.sub(written, plain)
    found, rest = read_quantities(plain, words)
    asked, rest = asked_units(rest)
    small, numbers = Counter[int](), Counter[Quantity]()
    for quantity in found:
        if quantity.spelled and quantity.value in (1, 2) and quantity.unit in ("", "th"):
            small[int(quantity.value)] += 1
        else:
            numbers[quantity._replace(spelled=False)] += 1
    return Facts(
        numbers,
        frozenset(small),
        Counter({number: small[number] + len(words.findall(lower)) for number, words in _OPEN.items()}),
        frozenset(asked),
        read_formulas(rest),
        read_symbols(rest),
        proper_names(plain),
        read_quotations(plain),
        words,
        logic_poles(lower),
        count_blanks(text),
        lower.replace(" ", ""),
    )
