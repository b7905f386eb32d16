"""Reads open answers and blanks: values in words, and the parts of an answer to several blanks."""

from __future__ import annotations

import re

from msgspec.structs import replace

from mmdyn import equal
from mmdyn.scoring.extract.announcements import (
    BACK,
    BETWEEN,
    NAME,
    Announced,
    Candidate,
    Conflict,
    Rank,
    announcements,
    content,
    meant,
    resolve,
    sentence_start,
    taken_back,
)
from mmdyn.scoring.extract.response import Asked, Extraction, Response, Whole, conflict, found, nothing
from mmdyn.scoring.extract.tables import pattern
from mmdyn.text import read_number, split_outside

EDGES = ' \t\r\n*`"“”;:。、'
_OPENERS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ('"', '"'), ("“", "”"))
_REASON = re.compile(rf"\s*[(（]?(?:{pattern('value.reason').pattern})", re.IGNORECASE)
"""What follows an answer and is none: why it is so, and what it is not."""
HEDGED = pattern("value.hedged")
_COPULA, _IS = (re.compile(rf"(?:{pattern(f'value.{name}').pattern})\s{{0,3}}", re.I) for name in ("copula", "is"))
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*[\s.。!]*$")
_FEW = pattern("value.few", re.IGNORECASE)
_WORD, _SENTENCES = re.compile(r"[^\W_]"), re.compile(r"(?<!\b[A-Z])(?<!\b[DMS][rst])[.!?]\s|[。；]")
UNFILLED = re.compile(r"[\s_.()（）\[\]【】…|:#-]*|n/?a|unknown|none|null")
_LAST_COPULAS, _BEFORE = 2, 12

WORDS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2}|[\u4e00-\u9fff]")
"""Is there a word, so that it is no formula?"""


def tidy(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch without spaces, quotes, markup and the full stop around it."""
    while start < end and (text[start] in EDGES or text[start] == ","):
        start += 1
    while start < end and (text[end - 1] in EDGES or text[end - 1] in ".,"):
        end -= 1
    for opens, closes in _OPENERS:
        inside = start + len(opens), end - len(closes)
        wrapped = text.startswith(opens, start) and text.endswith(closes, inside[0], end) and inside[0] < inside[1]
        if wrapped and opens not in text[slice(*inside)] and closes not in text[slice(*inside)]:
            return tidy(text, *inside)
    return start, end


def before_reason(text: str, start: int, end: int) -> int:
    """Where the words end that stand before a reason."""
    reason = _REASON.search(text, start + 1, end)
    return reason.start() if reason else end


def few_words(text: str, start: int, end: int) -> tuple[int, int] | None:
    """A line that is a few words and no sentence, or of a sentence with one "is" that ends the few words behind it."""
    copulas = list(_IS.finditer(text, start, end))
    if len(copulas) > 1 or HEDGED.search(text[start:end].lower()) or _SENTENCES.search(text, start, end):
        return None
    if copulas:
        start = tidy(text, copulas[0].end(), end)[0] if text[end : end + 1] in (*".。!*", "”") else end
    few = start < end and _FEW.fullmatch(text, start, end) and _WORD.search(text, start, end)
    return (start, end) if few else None


def last_value(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The one value that a line gives at its end: in bold, or behind "is" or "="."""
    bold = _BOLD.search(text, start, end + 2)
    if bold:
        return tidy(text, *bold.span(1))
    for copula in list(_COPULA.finditer(text, start, end))[: -_LAST_COPULAS - 1 : -1]:
        place = tidy(text, copula.end(), before_reason(text, copula.end(), end))
        doubted = text[max(start, copula.start() - _BEFORE) : end].lower()
        if read_number(text[slice(*place)]) and not HEDGED.search(doubted):
            return place
    return None


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
_BOLD_PART = re.compile(r"(?:\*\*|__)([^*\n]{1,80}?)(?:\*\*|__)")
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
    if bold := _BOLD_PART.search(part):
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


_BREAKS_OFF = re.compile(r"(?:[(\[{=/^:?]|\s[-+*]|\s(?:of|the|an|is|to|and|by|with))$|___")
_ITEM = re.compile(r"\s*(?:[*•-]\s|\(\w{1,3}\)\s)")
_LONGEST_SENTENCE, _LONGEST_ALONE = 120, 60


def read_open(response: Response, asked: Asked) -> Extraction:
    """The text that a response gives as its answer: what is announced, else what the last line gives."""
    candidates = candidate_texts(response)
    last = resolve(candidates, response, equal.same)
    if isinstance(last, Conflict):
        return conflict()
    if last:
        return found(response, last.value or "", last.rule, last.start, last.end)
    place = None if any(each.rank is Rank.SLOT for each in candidates) else _unannounced(response)
    if not place:
        return nothing(response)
    start, end, rule = place
    return found(response, response.text[start:end], rule, start, end)


def read_reply(response: Response, asked: Asked) -> Extraction:
    """All that a response says behind its reasoning, character by character, whatever it says."""
    if response.cut_off or not response.answered.strip():
        return nothing(response)
    return Extraction(response.answered, "ok", "whole", confidence=1.0)


def read_whole(response: Response) -> Whole | None:
    """All that a response answers, as metrics over sentences and golden answers of several lines are compared; None
    where it declines, or stops while it thinks."""
    if response.declined or response.cut_off or not response.text.strip():
        return None
    slots = [phrase for phrase in announced_texts(response) if phrase.rank is Rank.SLOT]
    text, start, end = response.text, 0, len(response.text)
    if slots:
        start, stop = content(response, slots[-1])
        if slots[-1].rule == "boxed" or text[start - 1] in '"“':
            end = stop
        elif text[slots[-1].end - 1] == ">":
            end = max(text.find("</", start), 0) or end
    if not text[start:end].strip():
        return None
    return Whole(text[start:end].strip(), text.strip(), "slot" if slots else "whole", response.span(start, end))


def candidate_texts(response: Response) -> list[Candidate[str]]:
    """The texts that are announced; sentences count only where no slot is filled."""
    phrases = announced_texts(response)
    slots = any(phrase.rank is Rank.SLOT for phrase in phrases)
    read = list[Candidate[str]]()
    for phrase in phrases:
        start, end = _announced_place(response, phrase)
        closed = phrase.rule != "boxed" or content(response, phrase)[1] < len(response.text)
        readable = closed and not UNFILLED.fullmatch(response.low, start, end) and response.text[end : end + 1] != "?"
        if phrase.rank is Rank.CONCLUDED:
            readable = readable and bool(read_number(response.text[start:end]) or few_words(response.text, start, end))
        elif phrase.rank < Rank.SLOT:
            readable = readable and end - start <= _LONGEST_SENTENCE and not HEDGED.search(response.low, start, end)
        if read and read[-1].end > phrase.start and phrase.rank > Rank.CONCLUDED:
            read.pop()  # "Final answer: the answer is 4"
        rank = Rank.CONCLUDED if slots and phrase.rank is Rank.SENTENCE else phrase.rank
        read.append(Candidate(response.text[start:end] if readable else None, start, end, rank, phrase.rule))
    return read


def announced_texts(response: Response) -> list[Announced]:
    """The announcements behind which a text may stand."""
    return [each for each in announcements(response, "text") if each.rank > Rank.CONCLUDED or each.rule == "corrected"]


def _announced_place(response: Response, phrase: Announced) -> tuple[int, int]:
    """Where the text stands that a phrase announces, without the reason behind it; of a sentence its value."""
    text = response.text
    start, end = tidy(text, *content(response, phrase))
    if phrase.rule != "boxed":
        start, end = tidy(text, start, before_reason(text, start, end))
        value = last_value(text, start, end) if WORDS.search(text, start, end) else None
        if value and read_number(text[slice(*value)]):
            return value
    return start, end - (text[end - 1 : end] == "}" and "{" not in text[start:end])


def _unannounced(response: Response) -> tuple[int, int, str] | None:
    """The answer of a response that announces none: a few words that are all of it, or what its last line gives."""
    if response.cut_off or response.truncated or response.declined:
        return None
    text, line = response.text, response.last_line()
    begin = max(line[0], sentence_start(response.low, line[1] - 1))
    name = next((name for name in NAME.finditer(text, *line) if name.start() < begin <= name.end()), None)
    begin = max(line[0], sentence_start(response.low, name.start())) if name else begin
    start, end = tidy(text, begin, before_reason(text, begin, line[1]))
    unfilled = UNFILLED.fullmatch(response.low, start, end) or _BREAKS_OFF.search(response.low, *line)
    if unfilled or not meant(response, end) or taken_back(response, start):
        return None
    few = few_words(text, start, end)
    bare = few == (start, end) or not WORDS.search(text, start, end) or read_number(text[start:end])
    alone = not text[:start].strip(EDGES + "$\\([") and end - start <= _LONGEST_ALONE
    if alone and bare:
        return start, end, "alone"
    item = _ITEM.match(text, line[0]) and not alone
    value = None if item else last_value(text, start, end) or few
    if not value or not meant(response, value[0]):
        return None
    whole = not text[:start].strip(EDGES) and value[0] - start <= _LONGEST_SENTENCE
    whole = whole and not any(map(str.isdigit, text[start : value[0]]))
    return (*value, "stated" if whole and read_number(text[slice(*value)]) else "last_value")


def read_blanks(response: Response, asked: Asked) -> Extraction:
    """The texts that a response fills into blanks, in order ("" for one that its numbering leaves out)."""
    if asked.blanks > 1:
        return _several(response, asked.blanks)
    one = read_open(response, asked)
    return replace(one, found=(one.found,)) if isinstance(one.found, str) else one


def _several(response: Response, blanks: int) -> Extraction:
    if response.declined or response.cut_off:
        return nothing(response)
    text, phrases = response.text, announced_texts(response)
    slots = [each for each in candidate_texts(response) if each.rank is Rank.SLOT and each.value]
    nexts = [*(phrase.start for phrase in phrases if phrase.rank is Rank.SLOT), len(text)]
    lines = [text[each.start : min(at for at in nexts if at > each.start)].partition("\n")[0] for each in slots]
    if len(slots) == blanks and not any(len(parts_of(line, blanks)[0]) == blanks for line in lines):
        texts = tuple(each.value or "" for each in slots)
        return found(response, texts, slots[0].rule, slots[0].start, slots[-1].end)
    starts = [phrase.start for phrase in phrases if phrase.rule == "slot"]
    ends = [min((start for start in starts if start > phrase.start), default=len(text)) for phrase in phrases]
    read = [_list(response, phrase, end, blanks) for phrase, end in zip(phrases, ends, strict=True)]
    last = resolve([each for each in read if each], response)
    if isinstance(last, Conflict):
        return conflict()
    if last:
        return found(response, last.value or (), last.rule, last.start, last.end)
    start = max((correction.end() for correction in BETWEEN.finditer(response.low)), default=0)
    parts, rule = parts_of(text[start:], blanks)
    doubtful = phrases or response.truncated or BACK.search(response.low, start)
    return nothing(response) if doubtful or not any(parts) else found(response, parts, rule, start, len(text))


def _list(response: Response, phrase: Announced, end: int, blanks: int) -> Candidate[tuple[str, ...]] | None:
    """The answers behind a phrase: a slot's, and those behind a line's end, stand in lines up to the next slot."""
    start, stop = content(response, phrase)
    text = response.text
    lines = "\n" in text[phrase.end : start] or (phrase.rule == "slot" and text[start - 1] not in '"“{')
    start, end = tidy(text, start, end if lines else stop)
    parts, rule = parts_of(text[start:end], blanks)
    return Candidate(parts, start, end, phrase.rank, rule) if any(parts) else None
