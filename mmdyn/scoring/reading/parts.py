"""Several answers in one text: as JSON, numbered, one a line, or separated."""

from __future__ import annotations

import json
import re

from mmdyn.text.maths import outside

_LONGEST_PART, _LONGEST_LISTED, _LONGEST_SYMBOL = 200, 30, 3
_ORDINALS = {char: n for n, char in enumerate("一二三四五六七八九十", 1)}
_CIRCLED = {chr(0x2460 + n): n + 1 for n in range(20)}
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8}
_WORDS = {word: n for n, word in enumerate(("first", "second", "third", "fourth", "fifth", "sixth"), 1)} | {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "6th": 6,
}  # fmt: skip
_LETTERS = {char: n for n, char in enumerate("abcdefgh", 1)}
_NUMBERED = re.compile(
    r"(?:(?<=[\s;,。:、.*])|^)(?:\(\s?(\d{1,2})\s?\)[.:、]?|(\d{1,2})(?:[.](?!\d)|[)、:])|([①-⑳])[.:、]?"
    r"|第\s?([一二三四五六七八九十①-⑩]|\d{1,2})\s?个?空(?:格|应)?(?:填|是|为)?[:]?|(?:blank|answer|q|填?空|答案)\s?\(?(\d{1,2})\)?\s?[:.)]|\[\s?(\d{1,2})\s?\]"
    r"|(?:the\s)?(first|second|third|fourth|fifth|sixth)\sblank(?:\sis|\sshould\sbe)?\s?:?|(?<=\n)(\d{1,2})\s?(?::(?!\d)|-\s)|\A(\d{1,2})\s?(?::(?!\d)|-\s))",
    re.IGNORECASE | re.MULTILINE,
)
_BEGINS = r"(?:(?<=[\s;,。:、.*])|\A)"
_PAREN = re.compile(r"[(\[](\d{1,2}|[一二三四五六七八九十])[)\]][.:、]?")
_CIRCLE = re.compile(r"([①-⑳])[.:、]?")
_BARE_STYLE = re.compile(
    r"(?<![A-Za-z0-9.,_^/+=(-])(\d{1,2}|(?<![\u4e00-\u9fff])[一二三四五六七八九十](?=、))(?:\.(?!\d)|[、)]|:(?!\d))"
)
_BLANK_ZH = re.compile(
    r"(?:第\s?\(?([一二三四五六七八九十①-⑩]|\d{1,2})\)?\s?(?:个?空(?:格|白)?处?|个(?=[应填写是为:]))|(?:空格?|填空)\s?\(?(\d{1,2})\)?(?=\s?[应填写是为:]))"
    r"\s?应?该?(?:填写|填入|填|写|是|为)?:?"
)
_BLANK_EN = re.compile(
    rf"{_BEGINS}(?:and\s)?(?:blank|gap|answer)\s?\(?(\d{{1,2}}|[a-h]|one|two|three|four|five|six)\)?\s?(?:(?:is|should\sbe)\b|[:=.)]|-\s)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    rf"{_BEGINS}(?:and\s)?(?:the\s)?(first|second|third|fourth|fifth|sixth|1st|2nd|3rd|4th|5th|6th)"
    r"(?:\s(?:blank|gap|space|box|answer|value|one))?\s?(?:(?:is|should\sbe)\b|[:=]|-\s):?",
    re.IGNORECASE,
)
_LETTER = re.compile(rf"{_BEGINS}([a-h])\.\s")
_STYLES = (_PAREN, _CIRCLE, _BARE_STYLE, _BLANK_ZH, _BLANK_EN, _ORDINAL, _LETTER)
"""The styles of marks; those of one style must count from 1 without a gap, and need no space around them."""
_NOT_A_MARK = re.compile(
    r"(?:(?:(?<![A-Za-z0-9₀-₉)\]])[A-Za-z]'?|sin|cos|tan|cot|log|ln|lg|exp|lim|max|min|gcd|lcm|det)"
    r"|(?:[^\s_][^\S\n]?[-+=/^_×÷·]|[^*]\*|[由据从见]|\b(?i:by|for|from|in|of|equation|step|case|using|because|since))\s?)\Z"
)
"""Before a number in brackets: it is an argument, a factor or a reference."""
_CHOSEN = re.compile(r"[A-Z]")
_SO = re.compile(r"(?:so|thus|therefore|hence|所以|因此),?", re.IGNORECASE)
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
_EXPLAINED = re.compile(
    r"\s*\*\*(?P<bold>[^*\n]{1,80})\*\*(?:\s\([^\n]+\)|\([^\n]*[\u4e00-\u9fff][^\n]*\)"
    r"|(?::|\s[-–—])\s?(?=[A-Za-z]+(?:\s\S+){2}|[\u4e00-\u9fff]{6})[^\n]+)[\s.。;]*"
)
"""A bold answer with more than a word or two about it: "**oxygen** - released as a by-product"."""
_TITLE = re.compile(
    r"\W*(?:(?:the\s)?(?:\w+\s)?(?:blank|gap|answer|question|part|step)(?:\s?\(?\w{1,5}\)?)?"
    r"|(?:第\s?\S{1,3}\s?)?个?(?:空格?|小?[问题]|答案)\s?\(?\d?\)?|.*:)\W*",
    re.IGNORECASE,
)
_SPACED = re.compile(r"(?![是为])[^\s。,;:?!]{0,7}[\u4e00-\u9fff][^\s。,;:?!]{0,7}")
_IN_ORDER = re.compile(r"[,，]?\s?(?:respectively|in\s(?:that|this)\sorder|in\sorder)\s?[.。]?\s*$", re.IGNORECASE)
_UNFILLED = re.compile(r"___|＿＿|^(?:[\s_()\[\]【】]*|n/a)$", re.IGNORECASE)
_LEADING_ORDER = re.compile(
    r"^\s*(?:(?:[两三四五六]个?)?(?:空格|空白|横线|空|答案)[处上中]?)?应?该?(?:依次|分别)应?该?(?:填写|填入|填|为|是)(?:的是|为|是)?\s?:?\s*"
    r"|^\s*(?:(?:so|thus|therefore|hence),?\s)?(?:the\s)?(?:(?:two|three|four|missing|correct|final)\s){0,2}"
    r"(?:blanks|gaps|answers|values|words|numbers|results)\s(?:are|should\sbe)(?:\sfilled(?:\sin)?\s(?:with|by))?"
    r"(?:,?\s(?:respectively|in\sorder),?)?(?:\s?:)?\s|^\s*应?该?填(?:写|入)?\s?:\s*"
    r"|^\s*(?:(?:so|thus|therefore|hence),\s(?:(?:they|these)\sare\s)?|(?:they|these)\sare\s)(?=[-\d$\\(])",
    re.IGNORECASE,
)
_STEP = re.compile(r"\b(?:step|case|figure|table|example)\s\Z", re.IGNORECASE)
_FOR = re.compile(
    r"(.+?)(?:\s?\(第([一二三四五六])个?空\)|\s(?:for|in)\s(?:the\s)?(?:(first|second|third|fourth|fifth|sixth)(?:\s(?:blank|one|gap))?|blank\s\(?(\d{1,2})\)?))",
    re.IGNORECASE,
)
"""12 for the first blank."""
_SAID = re.compile(r"[.:。]\s*$")
_BULLET = re.compile(r"^[-•+]\s+")
_TRAILING_AND = re.compile(r"[\s,;](?:and|while|whereas|而|和)\s*$")
_AND = re.compile(r"\s{1,3}and\s{1,3}|\s{0,3}(?:和|与|以及)\s{0,3}")
_SLASH = re.compile(r"\s/\s")
_PER = re.compile(r"\d\s?[A-Za-z]+\s/\s[A-Za-z]")
"""60 km / h."""
_SENTENCES = re.compile(r"(?:[A-Za-z]{3}|[\d)])[.?!]\s+[A-Z]|[。?!][\u4e00-\u9fff]")
_STATEMENTS = re.compile(r"[①-⑳、,\s]+|\(\d{1,2}\)")
_LEADING_AND = re.compile(r"^(?:and\s|和|以及)")
_EDGES = ' \t\r\n*`"“”,;:。、'


def parts_of(text: str, wanted: int) -> tuple[tuple[str, ...], str]:
    """The answers in a text and the rule that parted them; as many as there are, `wanted` only decides between readings."""
    last = text.rstrip().rpartition("\n")[2]
    text = _LEADING_ORDER.sub("", _IN_ORDER.sub("", last if _LEADING_ORDER.match(last) else text))
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


def stretches(text: str, wanted: int) -> list[tuple[int, int, int]]:
    """Where marks of one style part a text into at most as many parts as wanted ("(1)oxygen(2)light"), else [].

    Of each part where its mark begins, and where its text begins and ends. A bare number that directly follows a mark is a
    value: "1. 2. 2. 5."
    """
    for style in _STYLES:
        for letters in (False, True) if style is _PAREN else (False,):
            marks = list[re.Match[str]]()
            for mark in style.finditer(text):
                value = style is _BARE_STYLE and marks and not text[marks[-1].end() : mark.start()].strip()
                if not value and (style is not _PAREN or letters or _is_mark(text, mark)):
                    marks.append(mark)
            if style is _BARE_STYLE and len(marks) > wanted and not text[marks[-1].end() :].strip():
                marks.pop()
            numbers = list(map(_number, marks[: wanted + 1]))
            if not 1 < len(numbers) <= wanted or numbers != list(range(1, len(numbers) + 1)):
                continue
            if not _opens(text, marks[0].start()):
                continue
            ends = [mark.start() for mark in marks[1:]] + [len(text)]
            places = [(mark.start(), mark.end(), end) for mark, end in zip(marks, ends, strict=True)]
            parts = [_line(text[start:end]) for _, start, end in places]
            if all(0 < len(part) <= _LONGEST_PART and (not letters or _CHOSEN.fullmatch(part)) for part in parts):
                return places
    return []


def _is_mark(text: str, mark: re.Match[str]) -> bool:
    """Is a number in brackets neither an argument, as in f(2), nor a reference, as in "by (2)"?"""
    before = text[max(0, mark.start() - 12) : mark.start()]
    return not _NOT_A_MARK.search(before) and not (
        before[-1:].isalnum() and text[mark.end() : mark.end() + 1] in tuple("=^")
    )


def _opens(text: str, start: int) -> bool:
    """Does nothing but a title or lines of their own stand before a place?"""
    before = text[:start].rpartition("\n")[2].strip(" #>*_-\t")
    return not before or before.endswith(":") or bool(_SO.fullmatch(before))


def _marked(text: str, wanted: int) -> tuple[str, ...]:
    """Answers behind marks of one style that count from 1, each up to its line's end."""
    return tuple(_line(text[start:end]) for _, start, end in stretches(text, wanted))


def _line(text: str) -> str:
    """The first line of a part, without what leads to the next one."""
    line = text.strip().split("\n", 1)[0]
    explained = _EXPLAINED.fullmatch(line)
    if explained and not _TITLE.fullmatch(explained["bold"]):
        return _tidy(explained["bold"])
    return _tidy(_TRAILING_AND.sub("", _TAG.split(line, maxsplit=1)[0]))


def _numbered(text: str, wanted: int) -> tuple[str, ...]:
    """Numbered answers: the last run of numbers in which none comes twice, each up to the next one or the line's end."""
    run: dict[int, str] = {}
    bare, circled, end = 0, False, len(text)
    for mark in reversed([mark for mark in _NUMBERED.finditer(text) if _counts(text, mark)]):
        number = _number(mark)
        if number in run:
            break
        run[number], end = _line(text[mark.end() : end]), mark.start()
        bare += mark.lastindex in _BARE
        circled |= mark[0][0] in _CIRCLED
    if not run or not all(0 < len(part) <= _LONGEST_PART for part in run.values()) or (len(run) == bare == 1):
        return ()
    lowest = min(run) if len(run) == wanted == max(run) - min(run) + 1 else 1
    if min(run) < lowest or max(run) - lowest >= wanted or any(map(_holds_mark, run.values())):
        return ()
    if circled and any(map(_CIRCLE.search, run.values())):
        return ()
    return tuple(run.get(number, "") for number in range(lowest, max(run) + 1))


def _counts(text: str, mark: re.Match[str]) -> bool:
    """Does a mark count the answers, and is it no step, reference or argument: "step 1:", "by (2)", "for the first blank"?"""
    before = text[max(0, mark.start() - 12) : mark.start()]
    return not (_STEP.search(before) or (mark[0][0] in "(TtFfSs" and _NOT_A_MARK.search(before)))


def _holds_mark(part: str) -> bool:
    """Does a further mark stand in a part, so that it is several?"""
    named = any(style.search(part) for style in (_BLANK_ZH, _BLANK_EN, _ORDINAL))
    return named or any(_is_mark(part, mark) for mark in _PAREN.finditer(part))


def _begins_with_mark(part: str) -> bool:
    """Does a mark stand before a part, which is not itself a number in brackets or a list of them: ①③?"""
    return any(style.match(part) for style in _STYLES) and not _STATEMENTS.fullmatch(part)


def _number(mark: re.Match[str]) -> int:
    written = mark[mark.lastindex or 0].lower()
    return (
        _CIRCLED.get(written) or _ORDINALS.get(written) or _WORDS.get(written) or _LETTERS.get(written) or int(written)
    )


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
    *led, last = [line for line in text.split("\n") if _tidy(line)] or [""]
    if (
        led
        and all(map(_SAID.search, led))
        and len(_separated(last, wanted)) == wanted != len(_separated(led[0], wanted))
    ):
        return _separated(last, wanted)
    lines = [line for line in map(_tidy, (*led, last)) if line]
    if all(map(_BULLET.match, lines)):
        lines = [_BULLET.sub("", line) for line in lines]
    if not lines:
        return ()
    first = lines[0]
    commas = [_LEADING_AND.sub("", part) for part in outside(first, ",，、")]
    enumerated = [*commas[:-1], *_AND.split(commas[-1])]
    firm = [lines, outside(first, ";；"), outside(first, "|")]
    loose = [
        commas,
        enumerated,
        [] if _PER.search(first) else _SLASH.split(first),
        re.split(r"\s{2,}|\t", first),
        first.split() if all(len(word) <= _LONGEST_SYMBOL for word in first.split()) else [],
        first.split() if len(first.split()) == wanted and all(map(_SPACED.fullmatch, first.split())) else [],
    ]
    if _SENTENCES.search(first):
        loose = []
    tidied = [tuple(part for part in map(_tidy, reading) if part) for reading in (*firm, *loose)]
    fitting = [reading for reading in tidied if len(reading) == wanted]
    several = [reading for reading in tidied[1:] if len(reading) > 1]
    parts = (fitting or several or [(first,)])[0]
    behind = [_FOR.fullmatch(part) for part in parts]
    if any(behind):
        numbers = [_number(each) for each in behind if each]
        return tuple(each[1] for each in behind if each) if numbers == list(range(1, len(parts) + 1)) else ()
    if any(map(_begins_with_mark, parts)):
        return ()
    if fitting or (len(parts) > 1 and parts in tidied[1:3]):
        return parts
    if len(parts) > 1:
        return parts if len(commas) > 1 and all(len(part) <= _LONGEST_LISTED for part in parts) else ()
    return () if _holds_mark(first) or _SENTENCES.search(first) else parts


def _tidy(text: str) -> str:
    return text.strip(_EDGES).rstrip(_EDGES + ".")


_READERS = (
    (_json, "json"),
    (_marked, "numbered"),
    (_numbered, "numbered"),
    (_lettered, "numbered"),
    (_run, "numbered"),
    (_filled, "filled"),
    (_separated, "separated"),
)
