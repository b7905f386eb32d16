"""Several answers in one text: as JSON, numbered, one a line, or separated."""

from __future__ import annotations

import json
import re

from mmdyn.text.maths import outside

_LONGEST_PART, _LONGEST_SYMBOL = 200, 3
_ORDINALS = {char: n for n, char in enumerate("一二三四五六七八九十", 1)}
_CIRCLED = {chr(0x2460 + n): n + 1 for n in range(20)}
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8}
_WORDS = {word: n for n, word in enumerate(("first", "second", "third", "fourth", "fifth", "sixth"), 1)}
_LETTERS = {char: n for n, char in enumerate("abcdefgh", 1)}
_NUMBERED = re.compile(
    r"(?:(?<=[\s;,。:、.*])|^)(?:\(\s?(\d{1,2})\s?\)[.:、]?|(\d{1,2})(?:[.](?!\d)|[)、:])|([①-⑳])[.:、]?"
    r"|第\s?([一二三四五六七八九十①-⑩]|\d{1,2})\s?个?空(?:格|应)?(?:填|是|为)?[:]?|(?:blank|answer|q|填?空|答案)\s?\(?(\d{1,2})\)?\s?[:.)]|\[\s?(\d{1,2})\s?\]"
    r"|(?:the\s)?(first|second|third|fourth|fifth|sixth)\sblank(?:\sis|\sshould\sbe)?\s?:?|(?<=\n)(\d{1,2})\s?(?::(?!\d)|-\s)|\A(\d{1,2})\s?(?::(?!\d)|-\s))",
    re.IGNORECASE | re.MULTILINE,
)
_LETTERED = re.compile(
    r"(?:(?<=[\s;,。:、.*])|^)(?:\((i{1,3}|iv|vi{0,3})\)|\(?([a-h])\))[.:、]?\s?", re.IGNORECASE | re.MULTILINE
)
_TAG = re.compile(r"<[/|]?[A-Za-z_]\w{0,19}\|?>")
_CLOSING_TAG = re.compile(r"</\w{1,20}>")
_RUN = re.compile(r"^\W{0,3}(?:\d{1,3}\s?[-~–—至]\s?\d{1,3}[.:、]?\s{0,3})?([A-G]+)\W{0,3}$", re.MULTILINE)
_SHORTEST_RUN = 4
_BARE = (2, 8, 9)
"""The groups of _NUMBERED that are a number without brackets, which alone may be anything."""
_FILLED = re.compile(r"\*\*([^*\n]{1,80})(?:\*\*|$)|__([^_\n]{1,80})(?:__|$)|<u>([^<\n]{1,80})</u>")
_IN_ORDER = re.compile(r"[,，]?\s?(?:respectively|in\s(?:that|this)\sorder|in\sorder)\s?[.。]?\s*$", re.IGNORECASE)
_UNFILLED = re.compile(r"___|＿＿|^(?:[\s_()\[\]【】]*|n/a)$", re.IGNORECASE)
_LEADING_ORDER = re.compile(r"^\s*(?:依次|分别)(?:填入?|为|是)\s?[::]?\s*")
_BULLET = re.compile(r"^[-•+]\s+")
_TRAILING_AND = re.compile(r"[\s,;](?:and|而|和)\s*$")
_AND = re.compile(r"\s{1,3}and\s{1,3}|\s{0,3}(?:和|与|以及)\s{0,3}")
_LEADING_AND = re.compile(r"^(?:and\s|和|以及)")
_EDGES = ' \t\r\n*`"“”,;:。、'


def parts_of(text: str, wanted: int) -> tuple[tuple[str, ...], str]:
    """The answers in a text and the rule that parted them; as many as there are, `wanted` only decides between readings."""
    text = _LEADING_ORDER.sub("", _IN_ORDER.sub("", text))
    for reader, rule in _READERS:
        parts = tuple("" if _UNFILLED.search(part) else part for part in reader(text, wanted))
        if parts:
            return (parts, rule) if any(parts) else ((), "none")
    return (), "none"


def _json(text: str, wanted: int) -> tuple[str, ...]:
    """A JSON list, or an object's list or values."""
    text = re.sub(r"^(?:```)?(?:json)?\s*", "", text.strip())
    if text[:1] not in ("[", "{"):
        return ()
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return ()
    rest = text[end:].lstrip(" \t.;]}")
    if rest and rest[0] not in "\n`":
        return ()
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        value = lists[0] if len(lists) == 1 else list(value.values())
    plain = isinstance(value, list) and all(isinstance(each, str | int | float) for each in value)
    return tuple(_tidy(str(each)) for each in value) if plain else ()


def _numbered(text: str, wanted: int) -> tuple[str, ...]:
    """Numbered answers: the last run of numbers in which none comes twice, each up to the next one or the line's end."""
    run: dict[int, str] = {}
    bare, end = 0, len(text)
    for mark in reversed(list(_NUMBERED.finditer(text))):
        number = _number(mark)
        if number in run:
            break
        line = text[mark.end() : end].strip().split("\n", 1)[0]
        run[number], end = _tidy(_TRAILING_AND.sub("", _TAG.split(line, maxsplit=1)[0])), mark.start()
        bare += mark.lastindex in _BARE
    if not run or not all(0 < len(part) <= _LONGEST_PART for part in run.values()) or (len(run) == bare == 1):
        return ()
    lowest = min(run) if len(run) == wanted == max(run) - min(run) + 1 else 1
    if min(run) < lowest or max(run) - lowest >= wanted:
        return ()
    return tuple(run.get(number, "") for number in range(lowest, max(run) + 1))


def _number(mark: re.Match[str]) -> int:
    written = mark[mark.lastindex or 0]
    return _CIRCLED.get(written) or _ORDINALS.get(written) or _WORDS.get(written.lower()) or int(written)


def _lettered(text: str, wanted: int) -> tuple[str, ...]:
    """Answers marked (a), (b), … or (i), (ii), …: all of them, each up to the next mark or the line's end."""
    marks = list(_LETTERED.finditer(text))[-wanted:]
    numbers = [_ROMAN[mark[1].lower()] if mark[1] else _LETTERS[mark[2].lower()] for mark in marks]
    if wanted < 2 or numbers != list(range(1, wanted + 1)):
        return ()
    stops = [mark.start() for mark in marks[1:]] + [len(text)]
    lines = [text[mark.end() : stop].strip().split("\n", 1)[0] for mark, stop in zip(marks, stops, strict=True)]
    parts = tuple(map(_tidy, lines))
    return parts if all(0 < len(part) <= _LONGEST_PART for part in parts) else ()


def _run(text: str, wanted: int) -> tuple[str, ...]:
    """Capital letters in a run, as many as there are blanks ("41-45 DAGFE"), on one line or several."""
    letters = "".join(_RUN.findall(text)) if wanted >= _SHORTEST_RUN else ""
    return tuple(letters) if len(letters) == wanted else ()


def _filled(text: str, wanted: int) -> tuple[str, ...]:
    """What is set off in a sentence that repeats the question: "The capital is **Paris** and its river is the **Seine**"."""
    parts = tuple(_tidy(each[1] or each[2] or each[3]) for each in _FILLED.finditer(text))
    titles = any(each[0].strip("*_ ").endswith((":", "：")) for each in _FILLED.finditer(text))
    return parts if len(parts) == wanted > 1 and not titles else ()


def _separated(text: str, wanted: int) -> tuple[str, ...]:
    """Answers one a line, else parted by semicolons, bars, commas, "and" or spaces: the first that gives as many as wanted."""
    text = _TAG.sub("", _CLOSING_TAG.sub("\n", text))
    lines = [line for line in map(_tidy, text.split("\n")) if line]
    if all(map(_BULLET.match, lines)):
        lines = [_BULLET.sub("", line) for line in lines]
    if not lines:
        return ()
    first = lines[0]
    readings = [
        lines,
        outside(first, ";；"),
        outside(first, "|"),
        [_LEADING_AND.sub("", part) for part in outside(first, ",，、")],
        _AND.split(first),
        re.split(r"\s{2,}|\t", first),
        first.split() if all(len(word) <= _LONGEST_SYMBOL for word in first.split()) else [],
    ]
    tidied = [tuple(part for part in map(_tidy, reading) if part) for reading in readings]
    fitting = [reading for reading in tidied if len(reading) == wanted]
    several = [reading for reading in tidied[1:] if len(reading) > 1]
    return (fitting or several or [(first,)])[0]


def _tidy(text: str) -> str:
    return text.strip(_EDGES).rstrip(_EDGES + ".")


_READERS = (
    (_json, "json"),
    (_numbered, "numbered"),
    (_lettered, "numbered"),
    (_run, "numbered"),
    (_filled, "filled"),
    (_separated, "separated"),
)
