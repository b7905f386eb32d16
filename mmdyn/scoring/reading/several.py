"""Several options in one reply: a list of labels, of labels with texts, and of texts; all of the options, and all but one."""

from __future__ import annotations

import re

from msgspec import Struct

from mmdyn.scoring.reading.labels import Labels, Picks
from mmdyn.scoring.reading.options import Options
from mmdyn.scoring.reading.resolve import Conflict, Read
from mmdyn.scoring.reading.response import Response

_JOINT = (
    r"\s?[,;、&+]\s?(?:(?:and|as\swell\sas|along\swith|together\swith|plus)\s(?:also\s)?|以及|和|与|及|还有)?"
    r"|\s(?:and|as\swell\sas|along\swith|together\swith|plus)\s(?:also\s)?|\s?(?:以及|和|与|及)\s?"
)
_NUMBERED = r"(?:[-•+*]\s{1,3}|(?P<number>\d{1,2})[.)]\s{1,3})?"
_PARTED = re.compile(
    rf"\([^()\n]{{0,120}}\)|(?P<line>[.。]?[^\S\n]{{0,9}}\n\s{{0,9}}{_NUMBERED})|(?P<stop>[.。!](?=\s|$)\s?|。|<[/|]?[A-Za-z_]{{1,20}}\|?>|(?=\s(?:because|since)\s|因为))|(?P<joint>{_JOINT})"
)
"""Where a list may be parted: at the line's end, at the sentence's end, or within the sentence. Never within brackets."""
_BULLET = re.compile(rf"\s{{0,9}}{_NUMBERED.replace('number', 'first')}")
_GLOSS = re.compile(r"(?P<label>[^()\n]{1,12}?)\s?\((?P<gloss>[^()\n]{1,120})\)[\s\]}.]{0,6}$")
_BRACKETED = re.compile(r"\s?\(([^()\n]{1,120})\)")
_HEDGES = re.compile(r"\s?(?:(?:or|and|maybe|perhaps|possibly|probably|also|plus)\b|或|可能|和)", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:not|no|or|wrong|incorrect|false|maybe|perhaps|possibly|probably|only\sif|unless|unlikely)\b|n't\b|[?✗✘✕❌×错不非]|可能|或",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s?(?:(?:because|since|as|for|so|where|which|but\snot|rather\sthan|instead\sof)\b|not\s(?!only|just)|因为|由于|所以|而不是|不选|理由)",
    re.IGNORECASE,
)
"""What may follow a list, behind a comma: a reason, or what is not chosen."""
_LOOSE = " \t\n\"'“”‘’「」『』《》*`:[]{}()."
_MOST_PIECES, _LONGEST_LIST, _LABEL_PARTS = 80, 2_000, 2

THE_OPTIONS = r"(?:of\s)?(?:the\s|these\s)?(?:(?:given|listed|other|answer|four|five|six)\s)?(?:options?|choices?|statements?|answers?)"
BUT = r",?\s(?:but|except(?:\sfor)?|other\sthan|besides|apart\sfrom|aside\sfrom|excluding|save)\s(?:for\s)?(?:the\s)?(?:option\s|choice\s|statement\s)?"
_RIGHT = r"(?:correct|right|true|valid|accurate)"
_WRONG = r"(?:incorrect|wrong|false|invalid|untrue|not\scorrect)"
_LABEL = r"[(\[]?(?P<{}>[A-Z])[)\]]?"
_EXCEPTED = re.compile(
    rf"(?P<not>\b(?:not|if|whether|unless|are|is|were|suppose|assuming)\s|n't\s)?\b(?:all|every|each|any)(?:thing|one)?(?:\s{THE_OPTIONS})?{BUT}"
    rf"{_LABEL.format('label')}\s(?:is|are)\s(?:all\s)?(?:(?P<right>{_RIGHT})|(?P<wrong>{_WRONG}))(?P<ends>\b\s?(?![?\w]))?"
    rf"|(?P<zh_not>并?非|不是|是否|如果|若)?除(?:了|去|掉)?(?:选项)?{_LABEL.format('zh')}(?:选项|项)?(?:之|以)?外[,、]?(?:其余|其他|其它|剩下)?的?"
    r"(?:选项|各项|[三四五]个|[三四五]项)?[都均皆全]?部?(?:是)?(?:(?P<zh_right>正确|对)|(?P<zh_wrong>错误|不正确|不对|错))(?P<zh_ends>的?(?=[\s,;。.]|$))?",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(
    rf"\s{{0,3}}(?:all|every|each|any)(?:thing|one)?(?:\s{THE_OPTIONS})?{BUT}{_LABEL.format('label')}[\s.。]{{0,3}}$",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"[\s\"']{0,3}(?:(?:so|therefore|thus|hence)\s?,?\s)?(?:"
    rf"all\s(?:of\s)?the\s(?:above|preceding)(?:\s(?:options?|choices?|statements?|answers?))?(?:\s(?:are\s(?:all\s)?{_RIGHT}|apply))?"
    rf"|all\s(?:(?:of\s)?(?:the\s)?(?:four|five|six)\s)?{THE_OPTIONS}(?:\sabove)?\s(?:are\s(?:all\s)?{_RIGHT}|apply)"
    r"|(?:所以|因此|故|选|应选|应该)?,?(?:全选|全都选|都选)|(?:所以|因此|故)?,?(?:以上|上述|所有|全部|[四五六]个)(?:选项|各项|说法)?(?:全部|全都|[都均皆全])(?:是)?(?:正确|对|选)的?"
    r")[\s\"'.。!]{0,3}$",
    re.IGNORECASE,
)
_SPEAKS_OF_ALL = re.compile(r"\b(?:above|all|none|both|neither)\b|以上|上述|全部|[都均皆]", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^|[\n.!?;:,。、]|\b(?:so|therefore|thus|hence|and|but|所以|因此|故))[\s*(]{0,6}$")
_SECOND_THOUGHT = re.compile(r"\b(?:wait|actually|correction|hmm|oops|no,|also|plus)|等等|不对|更正|还有|漏")
_HINTS_AT_BUT = ("but", "except", "other than", "besides", "apart", "aside", "excluding", "save", "除")
_ADDS = re.compile(
    r"(?:^|[.!?。;,]|\n)\s{0,9}(?:(?:wait|oh|hmm|actually|oops|sorry|no|and|but|yes|哦|等等|等一下|不对)(?![a-z])[\s,.!…:]{0,4}){0,3}"
    r"(?:(?:also|plus|add|(?:so|as)\s(?:is|are|does)|i\s(?:also\s)?(?:forgot|missed|should\s(?:also\s)?(?:add|include))|(?:the\s(?:correct\s)?answer|it)(?:\sis|'s)\salso"
    r"|还有|还要|还应|还选|也选|再加|漏了|加上)(?:选|上|是)?[\s:]{0,3}(?:option\s|选项)?[(\[]?(?P<named>[a-z])[)\]]?(?![a-z'])"
    r"|[(\[]?(?P<too>[a-z])[)\]]?\s?(?:too|as\swell|also\b(?!\s(?:wrong|incorrect|not|false)\b)|(?:is|are)\salso\s(?:correct|right|true|included)|也(?:对|选|正确|是)))"
)
_WITHIN, _BEFORE = 200, 24


class Listing(Struct, frozen=True):
    """The options that stand in a list from a place to `end`. `broken`: the list goes on with what is no option.

    `texts`: none of them by its label. `labels` are in the options' order, none where all stand there as they were given.
    """

    labels: tuple[str, ...]
    end: int
    broken: bool
    texts: bool


class _Piece(Struct, frozen=True):
    start: int
    end: int
    behind: str
    number: int


class _Item(Struct, frozen=True):
    labels: tuple[str, ...]
    kind: str
    pieces: int


def listed(response: Response, reader: Labels, options: Options, start: int, end: int) -> Listing | None:
    """The list that begins at a place: of every part the longest that is an option; None where the first is none.

    It ends with a line or a sentence, or before a reason; a sentence behind it that does not list options and nothing else
    is no part of it, and neither is a line whose options are written in another way than those before.
    """
    pieces = _pieces(response.flat, start, end)
    items, ends, at = list[_Item](), list[int](), 0
    while at < len(pieces):
        item = _item(response, reader, options, pieces, at, len(items))
        below = at > 0 and pieces[at - 1].behind == "line" and items[-1].kind
        if not item or _named(items) & set(item.labels) or (below and item.kind != below):
            break
        items.append(item)
        at += item.pieces
        if pieces[at - 1].behind != "joint":
            ends.append(len(items))
    within = 0 < at < len(pieces) and pieces[at - 1].behind == "joint"
    goes_on = within and not _TAIL.match(response.flat, pieces[at].start)
    if at < len(pieces) and len(ends) > 1 and pieces[at - 1].behind == "stop" and items[-1].kind == "label":
        ends.pop()  # "A. Paris is the capital" below the answer
        items = items[: ends[-1]]
    if goes_on and ends:
        items, goes_on = items[: ends[-1]], False
    if not items:
        return None
    return _listing(reader, items, pieces[: sum(item.pieces for item in items)], goes_on)


def hedged(response: Response, options: Options, picks: Picks) -> bool:
    """Do brackets behind a label take it back or name another option: "A (or C)", "A (London)"?"""
    gloss = _BRACKETED.match(response.flat, picks.end)
    return bool(gloss and (_HEDGES.match(gloss[1]) or options.exact(gloss[1]) not in (None, *picks.labels)))


def _named(items: list[_Item]) -> set[str]:
    return {label for item in items for label in item.labels}


def _listing(reader: Labels, items: list[_Item], pieces: list[_Piece], broken: bool) -> Listing:
    found = [label for item in items for label in item.labels]
    kinds = {item.kind for item in items}
    lines = any(piece.behind == "line" for piece in pieces[:-1])
    echo = found == list(reader.labels) and ("led" in kinds or (lines and "label" not in kinds))
    return Listing(() if echo else reader.ordered(found), pieces[-1].end, broken, kinds == {"text"})


def _pieces(flat: str, start: int, end: int) -> list[_Piece]:
    """The parts of a stretch, and by what each is parted from the next ("line", "stop", "joint", or "" at the end)."""
    bullet = _BULLET.match(flat, start, end)
    number, at = int((bullet and bullet["first"]) or 0), bullet.end() if bullet else start
    pieces = list[_Piece]()
    for parted in _PARTED.finditer(flat, at, min(end, start + _LONGEST_LIST)):
        behind = next((kind for kind in ("line", "stop", "joint") if parted[kind] is not None), "")
        if not behind or parted.start() <= at:
            continue
        pieces.append(_Piece(at, parted.start(), behind, number))
        number, at = int(parted["number"] or 0), parted.end()
        if len(pieces) == _MOST_PIECES:
            return pieces
    return [*pieces, _Piece(at, end, "", number)] if flat[at:end].strip() else pieces


def _item(
    response: Response, reader: Labels, options: Options, pieces: list[_Piece], at: int, count: int
) -> _Item | None:
    """The longest option that begins with a part: an option's text, with its label or without, or a label alone."""
    start, number = pieces[at].start, pieces[at].number
    for stop in range(min(len(pieces), at + options.parts(_PARTED) + _LABEL_PARTS), at, -1):
        end = pieces[stop - 1].end
        if stop == at + 1:
            picks = reader.alone(response.flat[start:end])
            if picks:
                return _Item(picks.labels, "label", 1) if picks.labels else None
        said = response.text[start:end].strip(), response.flat[start:end].strip(_LOOSE)
        label = options.exact(said[0]) or (options.exact(said[1]) if said[1] else None)
        if label:
            right_number = number in (0, count + 1, reader.labels.index(label) + 1)
            return _Item((label,), "text", stop - at) if right_number else None
        label = options.led(said[0]) or options.led(said[1]) or _glossed(response.flat[start:end], reader, options)
        if label:
            return _Item((label,), "led", stop - at)
    return None


def _glossed(flat: str, reader: Labels, options: Options) -> str | None:
    """The label that words in brackets follow, neither doubting it nor another option's: "A (it is large)"."""
    glossed = _GLOSS.match(flat)
    picks = reader.alone(glossed["label"]) if glossed else None
    if not glossed or not picks or len(picks.labels) != 1:
        return None
    named = options.exact(glossed["gloss"]) if not _DOUBT.search(glossed["gloss"]) else ""
    return picks.labels[0] if named in (None, picks.labels[0]) else None


def all_but_named(response: Response, reader: Labels, start: int, end: int) -> tuple[str, ...] | None:
    """The labels but one where a stretch says "all but B"; None where it does not."""
    but = _ALL_BUT.match(response.flat[start:end])
    return _others(reader, but["label"]) if but else None


def all_of(response: Response, reader: Labels, options: Options, start: int, end: int) -> tuple[str, ...] | None:
    """All labels where a stretch says "all of the above"; None where it does not, or an option speaks of all or none itself."""
    said = _ALL.match(response.flat[start:end])
    return reader.labels if said and not any(map(_SPEAKS_OF_ALL.search, options.given)) else None


def last_list(response: Response, reader: Labels, options: Options) -> Read:
    """The last line is a list of options by their texts; of such a list over several lines only its place says too little."""
    start, end = response.last_line()
    listing = listed(response, reader, options, start, end)
    every = all_of(response, reader, options, start, end)
    if every:
        return Picks(every, start, end), "last_line"
    if not listing or listing.broken or response.flat[listing.end : end].strip(" .。!"):
        return None
    before = response.flat[:start].rstrip()
    above = listed(response, reader, options, before.rfind("\n") + 1, len(before)) if before else None
    in_lines = above and not above.broken and not before[above.end :].strip(" .。!")
    if in_lines or (len(listing.labels) != 1 and (not listing.labels or before.endswith(":"))):
        return Conflict() if listing.texts else None
    return (Picks(listing.labels, start, end), "last_line") if len(listing.labels) > 1 else None


def all_but(response: Response, reader: Labels) -> tuple[tuple[str, ...], int, int] | None:
    """What a sentence such as "all but B are correct" or 除B外都错误 calls right, and where it stands; () where it is unclear."""
    if not any(hint in response.low for hint in _HINTS_AT_BUT):
        return None
    said = list(_EXCEPTED.finditer(response.flat))
    if not said:
        return None
    one = said[-1]
    label = (one["label"] or one["zh"]).upper()
    asserted = (
        _BEGINS.search(response.low, max(0, one.start() - _BEFORE), one.start())
        and not (one["not"] or one["zh_not"])
        and (one["ends"] is not None or one["zh_ends"] is not None)
    )
    if len(said) > 1 or not asserted or label not in reader.labels:
        return (), *one.span()
    return (label,) if one["wrong"] or one["zh_wrong"] else _others(reader, label), *one.span()


def _others(reader: Labels, label: str) -> tuple[str, ...]:
    return tuple(each for each in reader.labels if each != label.upper()) if label.upper() in reader.labels else ()


def added(response: Response, reader: Labels, options: Options, picks: Picks, by_text: bool) -> bool:
    """Is a further option added behind an answer ("Wait, also D", "D too")?

    Behind one that is given `by_text`: is any option named once more, in whatever words of a second thought?
    """
    end = picks.end
    for further in _ADDS.finditer(response.low, end, end + _WITHIN):
        label = (further["named"] or further["too"]).upper()
        if label in reader.labels and label not in picks.labels:
            return True
    again = _SECOND_THOUGHT.search(response.low, end, end + _WITHIN) if by_text else None
    return bool(again and options.mentioned(response.low[again.end() : end + _WITHIN]))
