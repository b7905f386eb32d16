"""Several answers in one text: as JSON, numbered, one a line, or separated."""

from __future__ import annotations

import json
import re

from mmdyn.scoring.match import split

_LONGEST_PART, _LONGEST_SYMBOL = 200, 3
_ORDINALS = {char: n for n, char in enumerate("一二三四五六七八九十", 1)}
_CIRCLED = {chr(0x2460 + n): n + 1 for n in range(20)}
_NUMBERED = re.compile(
    r"(?:(?<=[\s;,。:、.*])|^)(?:\(\s?(\d{1,2})\s?\)[.:、]?|(\d{1,2})(?:[.](?!\d)|[)、:])|([①-⑳])[.:、]?"
    r"|第\s?([一二三四五六七八九十]|\d{1,2})\s?个?空(?:格|应)?(?:填|是|为)?[:]?|blank\s?(\d{1,2})\s?[:.)]|\[\s?(\d{1,2})\s?\])",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"<[/|]?[A-Za-z_]{1,20}\|?>")
_AND = re.compile(r"\s{1,3}and\s{1,3}|\s{0,3}(?:和|与|以及)\s{0,3}")
_LEADING_AND = re.compile(r"^(?:and\s|和|以及)")
_EDGES = ' \t\r\n*`"“”,;:。、'


def parts_of(text: str, wanted: int) -> tuple[tuple[str, ...], str]:
    """The answers in a text and the rule that parted them; as many as there are, `wanted` only decides between readings."""
    for reader, rule in ((_json, "json"), (_numbered, "numbered"), (_separated, "separated")):
        parts = reader(text, wanted)
        if parts:
            return parts, rule
    return (), "none"


def _json(text: str, wanted: int) -> tuple[str, ...]:
    """A JSON list, or an object's list or values."""
    text = re.sub(r"^```\w*\s*", "", text.strip())
    if text[:1] not in ("[", "{"):
        return ()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
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
        run[number], end = _tidy(_TAG.split(line, maxsplit=1)[0]), mark.start()
        bare += mark[2] is not None
    if not run or not all(0 < len(part) <= _LONGEST_PART for part in run.values()) or (len(run) == bare == 1):
        return ()
    lowest = min(run) if len(run) == wanted == max(run) - min(run) + 1 else 1
    if min(run) < lowest or max(run) - lowest >= wanted:
        return ()
    return tuple(run.get(number, "") for number in range(lowest, max(run) + 1))


def _number(mark: re.Match[str]) -> int:
    written = mark[mark.lastindex or 0]
    return _CIRCLED.get(written) or _ORDINALS.get(written) or int(written)


def _separated(text: str, wanted: int) -> tuple[str, ...]:
    """Answers one a line, else parted by semicolons, bars, commas, "and" or spaces: the first that gives as many as wanted."""
    lines = [line for line in map(_tidy, _TAG.sub("", text).split("\n")) if line]
    if not lines:
        return ()
    first = lines[0]
    readings = [
        lines,
        split(first, ";；"),
        split(first, "|"),
        [_LEADING_AND.sub("", part) for part in split(first, ",，、")],
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
