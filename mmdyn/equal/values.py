"""One value: numbers with units within a tolerance, the value that a phrase states, chemical formulas."""

from __future__ import annotations

import re
from fractions import Fraction

from mmdyn.equal.formula import constant, read_formula
from mmdyn.sample import Match
from mmdyn.text import (
    Number,
    in_unit,
    one_spelling,
    read_number,
    read_quantities,
    readable_text,
    spell_formula,
    unit_at,
    unit_measure,
    unit_name,
    unit_ratio,
    without_latex,
)

PLAIN = Match()
"""How answers are compared where a sample says nothing: in order, by gold's precision, without a unit of its own."""

_LONGEST, _ROUNDED, _COMPUTED, _MOST_PIECES, _MOST_WHOLES = 80, 3, 5, 4, 10
_PIECE = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-zμΩ°′″]+|[\u4e00-\u9fff]{1,2})\s*,?")
_UNIT_BEHIND = re.compile(
    r"(?P<formula>.*[\d)}π])(?:\s*\{\s*([^{}]{1,30})\s*\}|\s+([A-Za-zΩμ][A-Za-zΩμ /*^\d-]{0,25}?)"
    r"|\s*([\u4e00-\u9fff/]{1,8}))(\^\{?-?\d\}?)?"
)


def read_quantity(text: str) -> Number | None:
    """Read a number with its unit, or several that add up: 1 h 30 min, 3小时20分, 5 ft 3 in (in the smallest unit)."""
    number = read_number(text)
    flat = one_spelling(without_latex(text)).strip() if not number and len(text) <= _LONGEST else ""
    pieces = list(_PIECE.finditer(flat))
    if not 2 <= len(pieces) <= _MOST_PIECES or "".join(piece[0] for piece in pieces) != flat:
        return number
    units = [unit_name(piece["unit"]) or "" for piece in pieces]
    sizes = [unit_ratio(name, units[-1]) or Fraction(0) for name in units]
    if 0 in sizes or sizes != sorted(set(sizes), reverse=True):
        return None
    total = sum(Fraction(piece["number"]) * size for piece, size in zip(pieces, sizes, strict=True))
    return Number(Fraction(total), unit=units[-1])


def read_value(text: str) -> Number | None:
    """Read a number or a formula of numbers, with the unit behind it; None for any other text.

    Args:
        text: As `mmdyn.text.spell_formula` leaves it.

    >>> read_value("2√9 m")
    Number(value=Fraction(6, 1), step=None, digits=0, unit='m')
    >>> read_value("x + 1") is None
    True
    """
    number = read_number(text)
    if number:
        return number
    found = _UNIT_BEHIND.fullmatch(text)
    name = unit_name((found[2] or found[3] or found[4]).strip() + (found[5] or "")) if found else None
    value = constant(read_formula(found["formula"].strip() if found and name and unit_measure(name) else text))
    return Number(value, unit=name or "") if value is not None else None


def same_number(given: Number, gold: Number, match: Match = PLAIN) -> bool | None:
    """Compare two numbers by the tolerance, the rounding and the units that `same` describes.

    Units of one dimension are converted; a number without a unit takes the other's.

    Returns:
        None where both are one number in units of which one is unknown, or `given` is gold with fewer digits.
    """
    if match.unit and not gold.unit:
        gold = in_unit(gold, match.unit)
    if given.unit and gold.unit and given.unit != gold.unit:
        size = unit_ratio(given.unit, gold.unit)
        if size is None:
            known = unit_measure(given.unit) and unit_measure(gold.unit)
            return False if known or not _close(given, gold, match.tolerance) else None
        return _close(_times(given, size), gold, match.tolerance)
    verdict = _close(given, gold, match.tolerance)
    if given.unit == gold.unit or "%" not in (given.unit, gold.unit):
        return verdict
    scaled = _close(_times(given, Fraction(100) if given.unit else Fraction(1, 100)), gold, match.tolerance)
    if scaled:  # 28 for 28 %
        return True
    bare = gold if given.unit else given
    return None if scaled is None or (verdict and abs(bare.value) > _MOST_WHOLES) else verdict  # 2800 % for 28


def _times(number: Number, factor: Fraction) -> Number:
    return Number(number.value * factor, number.step and number.step * factor, number.digits)


def _close(given: Number, gold: Number, tolerance: float | None) -> bool | None:
    """Do two bare numbers meet?

    None where `given` is gold rounded or cut off, but neither gold's own print asks for that, nor does `given` show by
    its digits that gold, which has no finite decimals, was computed.
    """
    off = abs(given.value - gold.value)
    if tolerance is not None:
        return off <= Fraction(tolerance) * abs(gold.value)
    endless = bool(10**20 % gold.value.denominator)
    noise = abs(gold.value) / 10 ** (11 if endless else 40)  # of floating point, where somebody computed a value
    computed = _rounding(given) if endless and given.digits >= _COMPUTED else 0
    if off <= max(noise, _rounding(gold), computed):
        return True
    last_digit = given.step or Fraction(1, 100 if given.unit == "%" else 10**9)
    return None if off < last_digit else False


def _rounding(number: Number) -> Fraction:
    """Half a unit of the last digit printed after the point, where enough digits are significant to mean a rounded
    number."""
    two = number.digits == _ROUNDED - 1 and number.step is not None and number.step <= Fraction(1, 100)
    return number.step / 2 if number.step and (two or number.digits >= _ROUNDED) else Fraction(0)


_LONGEST_PHRASE, _THOUSAND = 160, 1000
_NEUTRAL = frozenset(
    re.findall(
        "[a-z]+|[\u3400-\u9fff]",
        """
    a an the is are was were be has have had will he she it they them we you there this that in of for to all total
    overall altogether together final finally answer result solution output value number amount sum length width height
    area left remaining so thus therefore hence then get gets got equals equal gives comes exactly only now as shown rmb
    usd
    答案是为等于共有总合计一的值结果所以因此故得到了他她它们我这那只个人名本张条块支件棵位元
""",
    )
)
"""Words that say nothing of a number but that it is the value."""

_ALTERED = re.compile(
    r"(?i)n't\b|\b(?:not?|never|without|or|either|if|unless|least|most|more|less|fewer|greater|larger|smaller|over|under"
    r"|above|below|than|between|times|twice|half|double|triple|power|roots?|multiples?|factors?|squared?|cubed?|by|but"
    r"|every|each|per|before|after|until|next|previous|first|last|pairs?|dozens?|hundreds?|up|down|off|too)\b"
    r"|[不没非无或倍半余除第每前后增加减少降多超至内外]|平方|立方|次方"
)
"""Words by which a phrase says something else than that its value is the number, whatever was asked."""

_SIGNS = re.compile(r"[\d+*/^√<>≤≥≠±|_{}\[\]\\;%?]|\b[b-hj-zB-HJ-Z]\b(?=\W*$)")
_NEGATIVE = re.compile(r"(?i)(?:\b(?:minus|negative)\s?|负)$")
_ATTACHED, _KILO = re.compile(r"[A-Za-z_^'(]"), re.compile(r"[kK]\b\s?")
_SIDES, _PARTS = re.compile("[=≈]"), re.compile(r"(?<!\d),|,(?!\d{3})|[;、和或]|\b(?:and|or)\b")
_WORD, _ENDING = (
    re.compile(r"[^\W\d_]{2,}(?<![\u3400-\u9fff])|[\u3400-\u9fff]"),
    re.compile(r"(?<=..)(?:ies|e?s|e?d|ing|y)$"),
)
_BOLD = re.compile(r"\*\*(?!\d)|(?<!\d)\*\*")


def stated_value(text: str, question: str = "") -> Number | None:
    """Read the number, with its unit, that a phrase of at most 160 characters states.

    Of a chain of equations it is the last side.

    Returns:
        None where the phrase names no number or several, uses words that are neither neutral nor the question's, or may
        only repeat the question.
    """
    if len(text) > _LONGEST_PHRASE:
        return None
    flat = readable_text(_BOLD.sub("", text))
    told = [part for part in _PARTS.split(flat) if _SIDES.search(part)]
    if len(told) > 1:
        return None
    sides = _SIDES.split(told[0]) if told and not re.search(r"\d", flat.replace(told[0], "")) else [flat]
    found, rest = read_quantities(sides[-1], set(re.findall("[a-z]+", sides[-1].lower())))
    if len(found) != 1 or found[0].unit == "th":
        return None
    value, unit = found[0].value, found[0].unit
    before, _, behind = rest.partition(str(value))
    if kilo := _KILO.match(behind):
        value, behind = value * _THOUSAND, behind[kilo.end() :]
    if negative := _NEGATIVE.search(before):
        value, before = -value, before[: negative.start()]
    around = f"{before} {behind}"
    if (
        _ALTERED.search(around)
        or _SIGNS.search(around)
        or _ATTACHED.match(behind)
        or before[-1:] in tuple("-(_")
        or behind[:1] == "-"
    ):
        return None
    said = _stems(around) - _NEUTRAL
    if said and (not said <= _stems(question) or value in _values_in(question)):
        return None
    return Number(value, unit=unit)


def _values_in(question: str) -> set[Fraction]:
    flat = readable_text(question)
    return {quantity.value for quantity in read_quantities(flat, set(re.findall("[a-z]+", flat.lower())))[0]}


def _stems(text: str) -> frozenset[str]:
    """The words of a text without their endings; a Chinese character is a word, a single letter is a symbol."""
    return frozenset(word if word in _NEUTRAL else _ENDING.sub("", word) for word in _WORD.findall(text.lower()))


_LONGEST_REACTION = 200
_ELEMENT = (
    "(?:A[cglmrstu]|B[aeikr]?|C[adefl-orsu]?|D|Dy|E[rsu]|F[emr]?|G[ade]|H[efgo]?|I[nr]?|Kr?|L[airu]|M[dgno]|N[abdeiop]?|Os?"
    "|P[abdmortu]?|R[abehnu]|S[bceimnr]?|T[abcehilm]?|U|V|W|Xe|Yb?|Z[nr])"
)
_ARROWS = (
    (
        r"\\x(?:right|left)\w*\s*(?:\[[^\[\]]*\])?\s*\{[^{}]*\}"
        r"|\\(?:over|under|stack)(?:set|rel)\s*\{[^{}]*\}\s*\{?\s*(?:\\\w+|=+)\s*\}?",
        " → ",
    ),
    (r"(?:=+|-{2,}|—+)\s*[\u4e00-\u9fff△Δ]{1,12}\s*(?:=+|-*>|—+>?|→)|(?:->|→)\s?\[[^\[\]]*\]", "→"),
    (r"<=+>|<-+>|⇄|⇔", "⇌"), (r"-+>|=+>|[⟶⇒]|—+>?|=+", "→"),
)  # fmt: skip
_CHARGE = re.compile(
    r"\^\s?(?:\{\s?(\d?)\s?([+-])\s?\}|(\d?)([+-]))|(?<=[A-Za-z\d)\]])[+-](?=\s*(?:[+→⇌]|$|\(|[↑↓])|\s)"
)
_DRAWN = re.compile(r"[_{}]|\s*\(\s*(?:aq|s|l|g)\s*\)|[↑↓]")
_SPECIES = re.compile(
    rf"(?P<count>\d{{1,3}}(?:/\d{{1,2}})?|n)?\s*(?P<formula>(?=[A-Z(\[])(?:{_ELEMENT}|[()\[\]*.⊕⊖\s\dn])+|e⊖)"
)
_MARKED = re.compile(r"[⊕⊖]|[A-Za-z)]\d")


def same_chemistry(given: str, gold: str) -> bool | None:
    """Compare two reactions, or two formulas with an index or a charge; None unless both are of one kind.

    Coefficients must agree; multiples are not reduced.
    """
    if max(len(given), len(gold)) > _LONGEST_REACTION or given == given.lower():
        return None
    one, other = _reaction(given), _reaction(gold)
    alone = len(one) == 2 and not (_MARKED.search(one[0][0]) or _MARKED.search("".join(other[0] if other else [])))
    return one == other if one and len(one) == len(other) and not alone else None


def _reaction(text: str) -> list[list[str]]:
    """The species of each side, in order, behind them the arrow; of a formula alone itself; nothing for anything
    else."""
    text = spell_formula(re.sub(*_ARROWS[0], text))
    for pattern, arrow in _ARROWS[1:]:
        text = re.sub(pattern, arrow, text)
    text = _CHARGE.sub(lambda found: (found[1] or found[3] or "") + ("⊕" if "+" in found[0] else "⊖"), text)
    text = _DRAWN.sub("", text).replace("•", "*")
    arrows = re.findall("[→⇌]", text)
    sides = [sorted(_species(part) for part in side.split("+")) for side in re.split("[→⇌]", text)]
    single = len(sides) == 1 and len(sides[0]) == 1
    return [*sides, arrows] if all(map(all, sides)) and (single or len(arrows) == 1) else []


def _species(text: str) -> str:
    """The coefficient and the formula; empty for what is made of anything but elements, numbers, brackets and a
    charge."""
    found = _SPECIES.fullmatch(text.strip())
    formula = re.sub(r"\s", "", found["formula"]) if found else ""
    return f"{found['count'] or 1} {formula}" if found and formula.count("(") == formula.count(")") else ""


_LONGEST_QUESTION = 4_000
_BLANK = re.compile(r"(?:_{2,}|\(\s*\))\s*")
_SAID = re.compile(
    r"(?i)(?:\b(?:how many|units?:|units of)|单位[是为]?:?|多少)\s*"
    r"|\b(?:answer|express|give|find|calculate|determine|what|how)\b[^.?!]{0,200}?\bin\s+|以"
)
_ENDS = re.compile(r"\s*(?:$|[.?!,;:)\]。、的]|(?:为单位|is|are|does|do|did|will|of|long|tall|high|wide|deep)\b)")
_UNSURE = frozenset(("A", "B", "C", "D", "in", "时", "分", "日", "度"))
"""What may be something else where a unit stands: options, the word in, the time, a score, a date, a temperature."""


def asked_unit(question: str) -> str | None:
    """Find the one unit that a question wants its answer in.

    Returns:
        The unit's canonical name; None where the question names none or several, or where the word may mean something
        else.

    >>> asked_unit("Find the length of the rope in metres.")
    'm'
    >>> asked_unit("How many apples are left?") is None
    True
    """
    text = one_spelling(without_latex(question[-_LONGEST_QUESTION:]))
    blanks = list(_BLANK.finditer(text))
    units = set[str]()
    for place in (*blanks, *_SAID.finditer(text)) if len(blanks) < 2 else ():
        name, end = unit_at(text, place.end())
        if name and _ENDS.match(text, end) and text[place.end() : end] not in _UNSURE:
            units.add(name)
    return units.pop() if len(units) == 1 else None
