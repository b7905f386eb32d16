"""What models answered to a set's questions in runs, and what a text and its translation have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.record import Record
from mmdyn.sample import IMAGE_MARK
from mmdyn.text import LOWERCASE_WORD, Quantity, read_formulas, read_quantities, read_symbols, readable_text
from mmdyn.work import RunFolder


def answers_of(runs: Sequence[str], source: SampleSet, model: str = "") -> dict[str, list[Record]]:
    """The scored records of a set's questions, asked as they are and with nothing beside them, by the questions' ids.

    Args:
        runs: Folders that `mmdyn eval` made.
        source: The set; a run must have asked it, or another version of it in which a question is the same.
        model: A model's label; empty for all.

    Raises:
        UserError: No run is named, a run did not ask a set of this name, or has no such model.
    """
    if not any(runs):
        raise UserError("no run is named: name a folder that `mmdyn eval` made")
    digests, found = {sample.id: sample.digest for sample in source}, dict[str, list[Record]]()
    for folder in runs:
        run = RunFolder(folder)
        models = [entry.label for entry in run.config.models]
        if model and model not in models:
            raise UserError(f"{folder} has no model {model!r}: it has {', '.join(models)}")
        asked = 0
        for record in run.records():
            condition = record.condition
            plain = condition.variant == "standard" and condition.context == "none" and record.score is not None
            if plain and model in ("", record.model) and digests.get(record.sample) == record.digest:
                found.setdefault(record.sample, []).append(record)
                asked += 1
        if not asked:
            raise UserError(f"{folder} has no scored answer to a question of {source.folder}: give a run that asked it")
    return found


BLANK_MARK = re.compile(r"<blank (\d{1,3})>")
"""What stands for a blank while a question is translated."""
_MARK = re.compile(rf"{IMAGE_MARK.pattern}|{BLANK_MARK.pattern}")

_FORMULA = re.compile(
    r"\$\$.+?\$\$|\\\(.+?\\\)|\\\[.+?\\\]|(?<!\\)\$(?=\S)[^$\n]*?(?<=[^\s\\])\$(?!\d)|(?<!\\)\$ [^$\n]* \$(?!\s?\d)",
    re.DOTALL,
)
_WORDS_OF_FORMULA = re.compile(r"\\(?:text|mbox)\s?\{[^{}]*\}|\s")
_ORDINAL = "th"
_SAID = (
    (r"零下|负(?=[\d一二三四五六七八九十百])|\b(?:minus|negative)\s(?=\d)", " -"),
    (r"(?<![\d\s][\u3400-\u9fff])(?<=[\u3400-\u9fff])[-−](?=\d)", " -"),
    (r"个(?=小时|星期|月|世纪)|块(?!钱)", " "),
    (r"岁", "年"),
)
"""Signs, counters and ages that one language says as the readers do not read them, and how they do."""
_CALENDAR = frozenset({"", _ORDINAL, "year", "month", "d"})
"""Units that dates have in Chinese alone."""
_OPEN_VALUES = (1, 2)
"""Numbers that languages also say by articles and by both, once and twice."""


def without_formulas(text: str) -> str:
    """A text in which its formulas and its marks of pictures and blanks are left out."""
    return _FORMULA.sub(" ; ", _MARK.sub(" ", text))


def difference(text: str, other: str) -> str:
    """The first thing that a translation may not change and did; the empty string where there is none.

    Numbers count by their value and unit, in digits or in words. A bare number may take a unit that the other text
    names for another one; of words for numbers, which idioms hold, too, only those are told that stand against others.
    """
    for read in (_marks, _formulas):
        if changed := read(text) - read(other) or read(other) - read(text):
            return f"{next(iter(changed))[:40]!r} is not in both texts"
    (said, formulas, symbols), (now, others, letters) = _read(text), _read(other)
    each = "每" in text + other
    gone, new = _unmatched(said, now, each=each, gain=True), _unmatched(now, said, each=each, gain=False)
    if gone and new:
        return f"{_told(gone[0])!r} became {_told(new[0])!r}"
    if lost := [one for one in (*gone, *new) if not one.spelled and one.value not in _OPEN_VALUES]:
        return f"{_told(lost[0])!r} is not in both texts"
    if formulas - others and others - formulas:
        return f"{min(formulas - others)[:40]!r} became {min(others - formulas)[:40]!r}"
    lost_symbols = symbols - letters
    return f"{min(lost_symbols)!r} is not in both texts" if lost_symbols and letters - symbols else ""


def _marks(text: str) -> Counter[str]:
    return Counter(found[0] for found in _MARK.finditer(text))


def _formulas(text: str) -> Counter[str]:
    return Counter(_WORDS_OF_FORMULA.sub("", found) for found in _FORMULA.findall(text))


def _read(text: str) -> tuple[list[Quantity], frozenset[str], frozenset[str]]:
    """The quantities of a text; its formulas and symbols, those between delimiters left out."""
    for pattern, said in _SAID:
        text = re.sub(pattern, said, text)
    plain, bare = (readable_text(_MARK.sub(" ", one).replace("\n", " . ")) for one in (text, _FORMULA.sub(" ; ", text)))
    quantities, _ = read_quantities(plain, frozenset(LOWERCASE_WORD.findall(plain.lower())))
    _, rest = read_quantities(bare, frozenset(LOWERCASE_WORD.findall(bare.lower())))
    return quantities, read_formulas(rest), frozenset(one for one in read_symbols(rest) if one.isascii())


def _unmatched(some: list[Quantity], others: list[Quantity], *, each: bool, gain: bool) -> list[Quantity]:
    """Those that the others do not hold; one and two in words are left out.

    each: A text says "each hour" (每), so that the unit of a rate may stand apart.
    gain: The others may have a unit where these have none; else only one that stands with these elsewhere.
    """
    named = {one.unit for one in others if gain} | {one.unit for one in some if not gain}

    def fit(one: Quantity, two: Quantity) -> bool:
        if one.value != two.value:
            return False
        bare, other = (one.unit, two.unit) if gain else (two.unit, one.unit)
        rate = each and bare.partition("/")[0] == other.partition("/")[0]
        return bare == other or rate or {bare, other} <= _CALENDAR or (not bare and other in named)

    return [
        one
        for one in some
        if not (one.spelled and one.value in _OPEN_VALUES) and not any(fit(one, two) for two in others)
    ]


def _told(one: Quantity) -> str:
    return f"{one.value} {one.unit}".strip()
