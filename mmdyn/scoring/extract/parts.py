"""Parts an answer to several blanks: a JSON list, numbered answers, one a line, or a list with separators."""

from __future__ import annotations

import re

from mmdyn.scoring.extract.tables import pattern
from mmdyn.scoring.extract.value import EDGES, HEDGED, before_reason
from mmdyn.text import split_outside

_LONGEST, _LONGEST_BARE, _LONGEST_SYMBOL, _SHORTEST_RUN = 120, 24, 5, 4
_WORDS = ("first second third fourth fifth sixth", "一 二 三 四 五 六 七 八 九 十", "a b c d e f", "i ii iii iv v")
_COUNTS = {word: number for words in _WORDS for number, word in enumerate(words.split(), 1)}
_COUNTS |= {chr(0x2460 + n): n + 1 for n in range(20)}
_TAG = re.compile(r"<[/|]?[A-Za-z_]\w{0,19}\|?>")
_RUN = re.compile(r"^\W{0,3}(?:\d{1,3}\s?[-~–—至]\s?\d{1,3}[.:、]?\s{0,3})?([A-G]+)\W{0,3}$", re.MULTILINE)
_NAMES = ("mark", "joins", "and", "behind", "lead", "says", "explained")
_MARK, _JOINS, _AND, _BEHIND, _LEAD, _SAYS, _EXPLAINED = (pattern(f"list.{name}", re.I | re.M) for name in _NAMES)
_SET_OFF = re.compile(r"\*\*([^*\n:：]{1,80})\*\*")
_RULE = re.compile(r"(?=.*--)[|:\s-]+")
_FILLED = re.compile(r"(?<!_)_{2,}([^\s_](?:[^_\n]*[^\s_])?)_{2,}")
_BOLD = re.compile(r"(?:\*\*|__)([^*\n]{1,80}?)(?:\*\*|__)")
_BOLD_NAME = re.compile(
    r"\A(?:\*\*|__)[^*\d\n]{1,40}(?:[:：](?:\*\*|__)|(?:\*\*|__)\s*[:：]|(?:\*\*|__)\s[–—-](?=.*\d))\s*(?=\S)"
)
_NAME = re.compile(r"\A[^\W\d]\w{0,15}(?: [^\W\d]\w{0,15}){0,2}\s?[:：]\s*(?=\S)")
_GLOSS = re.compile(
    r"(?<=\S)(?:\s*[(（][^()（）]*(?:[A-Za-z]{3,}|[\u4e00-\u9fff])[^()（）]*[)）]|\s[–—-]\s(?=[^\W\d]{2}).*)\s*\Z"
)
_VALUE = re.compile(r"[\[,:]\s*(?:\"([^\"\n]{1,120})\"(?!\s*:)|(-?\d[\d.]*)(?=\s*[,\]}]))")
_EMPTY = re.compile(r"_{2,}|^(?:[\s_()\[\]【】]*|n/a)$", re.IGNORECASE)


def parts_of(text: str, wanted: int) -> tuple[tuple[str, ...], str]:
    """The answers in a text and the rule that parted them; () where they are more than wanted, or cannot be parted."""
    text = _EXPLAINED.split(_FILLED.sub(r"\1", _TAG.sub(" ", text)), maxsplit=1)[0]
    for rule, reader in _READERS.items():
        parts = tuple("" if _EMPTY.search(part) else _said(part) for part in reader(text, wanted))
        if any(parts) and not any(HEDGED.search(part.lower()) for part in parts):
            return parts, rule
    return (), "none"


def _json(text: str, wanted: int) -> tuple[str, ...]:
    """The values of a JSON list, or those behind the keys of an object."""
    text = text.strip().removeprefix("```json").strip("` \n")
    whole = text[:1] in ("[", "{") and text[-1:] in ("]", "}")
    return tuple(found[1] or found[2] for found in _VALUE.finditer(text)) if whole else ()


def _numbered(text: str, wanted: int) -> tuple[str, ...]:
    """The last run of numbered answers that counts up without a number twice, each up to the next mark or its line's
    end."""
    run: dict[int, str] = {}
    end = len(text)
    for mark in reversed(list(_MARK.finditer(text))):
        written = mark[mark.lastindex or 0].lower()
        number = _COUNTS.get(written) or int(written)
        if number in run or not 0 < number <= wanted:
            break
        run[number], end = _JOINS.sub("", text[mark.end() : end].strip().split("\n", 1)[0]), mark.start()
    if len(run) < 2 or not all(len(part) <= _LONGEST for part in run.values()) or 1 not in run:
        return ()
    return tuple(run.get(number, "") for number in range(1, max(run) + 1))


def _separated(text: str, wanted: int) -> tuple[str, ...]:
    """One a line, letters in a run ("41-45 DAGFE"), or parted by semicolons, bars, commas or "and": what gives as many
    as wanted."""
    lines = [line for line in text.split("\n") if _tidy(line)]
    letters = "".join(_RUN.findall(text)) if wanted >= _SHORTEST_RUN else ""
    readings = [lines, list(letters)]
    for line in lines[:1] + lines[:0:-1][:1]:
        line = _LEAD.sub("", _BEHIND.sub("", line))
        commas = split_outside(line, ",，、")
        symbols = line.split() if all(len(word) < _LONGEST_SYMBOL for word in line.split()) else []
        with_and = [*commas[:-1], *_AND.split(commas[-1])]
        readings += [split_outside(line, "|"), commas, with_and, symbols]
        semicolons = tuple(map(_tidy, split_outside(line, ";；")))
        if len(semicolons) == wanted > 1 and any(semicolons):
            return semicolons  # one may be left empty
    for reading in readings:
        parts = tuple(part for part in reading if _tidy(part))
        if len(parts) == wanted and all(len(part) <= _LONGEST for part in parts):
            return parts
    return ()


def _table(text: str, wanted: int) -> tuple[str, ...]:
    """The cells of a Markdown table: behind the numbers of the blanks, or its one row."""
    lines = [line.strip() for line in text.split("\n") if "|" in line]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not _RULE.fullmatch(line)]
    if len(rows) == len(lines):
        return ()
    numbered = {number: row[1] for row in rows if len(row) == 2 and (number := _numeral(row[0]))}
    if list(numbered) == list(range(1, wanted + 1)):
        return tuple(numbered.values())
    return tuple(rows[1]) if len(rows) == 2 and len(rows[1]) == wanted else ()


def _numeral(cell: str) -> int:
    """The number of a blank in a cell: 1, (1), 第1空; 0 where it has none."""
    bare = cell.strip("*() （）第空个.:：").lower()
    return int(bare) if bare.isascii() and bare.isdigit() else _COUNTS.get(bare, 0)


def _said(part: str) -> str:
    """What a part says, without its name, the words of its sentence, a reason and a gloss.

    "the sum is 12", "**12** (even)", "sum: 12" and "12 - even" are 12.
    """
    part = part[: before_reason(part, 0, len(part))].strip()
    part = _BOLD_NAME.sub("", part)
    if bold := _BOLD.search(part):
        return _tidy(bold[1])
    part = _GLOSS.sub("", _NAME.sub("", part.strip(EDGES)))
    copula = _SAYS.match(part) if len(part) > _LONGEST_BARE or " is " in part or "填" in part else None
    return _tidy(part[copula.end() :]) if copula and part[copula.end() :].strip() else _tidy(part)


def _tidy(text: str) -> str:
    return re.sub(r"^(?:and\s|和|以及|[-•+]\s)", "", text.strip(EDGES)).strip(EDGES + ",，").rstrip(".")


def _bold(text: str, wanted: int) -> tuple[str, ...]:
    """What is set off in a sentence: "The capital is **Paris** and its river is the **Seine**"."""
    parts = tuple(map(_tidy, _SET_OFF.findall(text)))
    return parts if len(parts) == wanted else ()


_READERS = {"json": _json, "table": _table, "numbered": _numbered, "bold": _bold, "separated": _separated}
