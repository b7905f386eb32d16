"""Where a response declares its final answer: "Answer: …", "the answer is …", \\boxed{…}, 答案：…, 故选…, <answer>…, JSON.

A declaration begins with a word of one of the tables below. The word's kind says what must follow it (`_LINKS`), and what
stands before it decides whether it is asserted, supposed ("if the answer is …") or denied (不选…).
"""

from __future__ import annotations

import re
from enum import IntEnum

from msgspec import Struct

from mmdyn.scoring._response import Response

S = r"\s{0,9}"


class Rank(IntEnum):
    """How plainly an answer is declared. A declaration of a lower rank does not supersede one of a higher rank."""

    CONCLUSION = 1
    """so C; it is B; 所以B"""
    SENTENCE = 2
    """the answer is B; 故选B"""
    SLOT = 3
    """Answer: B; \\boxed{B}; 【答案】B"""


class Declared(Struct, frozen=True):
    """A phrase from `start` to `end`; the answer stands behind `end`.

    `fix`: the phrase takes an earlier answer back. `ends`: it counts only where its clause ends with the answer ("so C." but
    not "so C is a point"). `denied`: it says what the answer is not ("the answer is not true").
    """

    start: int
    end: int
    rank: Rank
    rule: str
    fix: bool = False
    ends: bool = False
    denied: bool = False


ANSWERS = {
    "answer": "answer",
    "final value": "answer",
    "final result": "answer",
    "ans:": "ans",
    "ans.": "ans",
    "ans=": "ans",
    "答案": "答案",
    "答:": "ans",
}
"""The words that name an answer, whatever the task, each with the kind of phrase that it begins."""
CHOICES = ANSWERS | {
    "option": "noun", "choice": "noun", "statement": "noun", "正确": "adjective", "错误": "adjective", "符合题意": "adjective",
    "选": "选", "应填": "选", "choose": "pick", "pick": "pick", "select": "pick", "go with": "pick", "opt for": "pick",
}  # fmt: skip
"""Those, and the words of choosing an option."""
CORRECTIONS = dict.fromkeys(
    ("wait", "actually", "correction", "i mean", "rather", "no,", "更正", "纠正", "不对", "改为", "应该是", "应为"),
    "fix",
)
"""The words that take an earlier answer back."""
CONCLUSIONS = CORRECTIONS | {
    "so ": "so", "so,": "so", "therefore": "so", "thus": "so", "hence": "so",
    "it's": "it", "it is": "it", "it must be": "it", "it would be": "it", "it should be": "it",
    "所以": "所以", "因此": "所以", "故": "所以", "我认为": "所以",
}  # fmt: skip
"""Those, and the weak ones: "so C", 所以B."""

_ADVERB = r"(?:\s(?:therefore|thus|then|hence|clearly|definitely|indeed|simply|most\slikely|likely|probably|actually|in\sfact)\b,?)?"
_BE = r"(?:is|are|was|would\sbe|should\sbe|must\sbe|will\sbe|has\sto\sbe|remains)"
_ENGLISH = re.compile(
    rf"(?:s|\(s\))?(?:\s(?:choices?|options?|letters?|key))?(?:\s?\([^()\n]{{1,30}}\))?"
    rf"(?:\s(?:left|here)|\s(?:to|for|of|from|among|in)(?:\s[\w']{{1,14}}){{1,4}}?)?"
    rf"(?:,\s(?:then|therefore|thus|however|in\sfact),)?"
    rf"(?:(?P<slot>{S}[:=|>]|\s-\s)"
    rf"|(?:\s{{1,9}}{_BE}|'s)(?:(?P<no>n't|\s(?:not|never|neither)\b)|(?![a-z])){_ADVERB}{S}:?)"
)
_LINKS = {
    "answer": _ENGLISH,
    "noun": _ENGLISH,
    "ans": re.compile(rf"(?P<slot>{S}[:=]?)"),
    "答案": re.compile(
        rf"(?P<slot>[】\]]{S}:?|{S}[:=|])"
        rf"|{S}(?:应该|应当|应|就|只能|只会|显然|即|并)?(?P<no>不(?:应该|应|可能|会)?)?(?:是|为|选择|选|有){S}:?"
    ),
    "adjective": re.compile(
        rf"的?(?:选项|叙述|说法|一项|判断|结论|推断|描述|命题)?(?:应该|应当|应|就)?(?P<no>不)?(?:是|为|有){S}:?"
    ),
    "选": re.compile(rf"项?(?:应该|应|就)?(?:是|为){S}:?|项{S}:|择?{S}:|择?(?!项)"),
    "pick": re.compile(rf"(?:\s(?:the\s)?(?:options?|choices?|answers?|letters?|statements?))?{S}:?"),
    "so": re.compile(rf"{S}[,:]?(?:\s(?:i\s(?:think|believe|would\ssay)\s)?(?:it(?:'s|\sis|\smust\sbe)))?"),
    "it": re.compile(""),
    "所以": re.compile(r"[,:]?(?:本题|我)?(?:是)?"),
    "fix": re.compile(
        r"[^\w\n]{0,5}(?:(?:no|actually|rather|sorry)\b[^\w\n]{0,3})?"
        r"(?:(?:it\sis|it's|it\sshould\sbe|should\sbe|the\sanswer\sis|应该是|应当是|应为|应是|应选|应该选|改为|改选|选|是)\s?)?"
    ),
}
_HEADING = re.compile(rf"{S}\n{S}")
_BOXED = re.compile(rf"\\(?:boxed|fbox){S}\{{|####\s")
_BOXES = ("\\boxed", "\\fbox", "####")
_QUALIFIED = re.compile(
    r"(?:correct|right|best|appropriate|suitable|valid|accurate|true|false|incorrect|wrong|only|final|my|closest|chosen|selected)\s$"
)
_UNQUALIFIED = re.compile(r"^s|^\(s|:|=|\||-\s$")
_SUPPOSED = re.compile(
    r"\b(?:if|suppose|assum(?:e|ing)|whether|unless|when|is|let's\ssay)(?:\sthat)?(?:\sthe)?(?:\s(?:final|correct|right))?\s$"
    r"|(?:若|如果|假设|假如|假定|要是|倘若|是否|为何|为什么)(?:本题|正确|最终|说)?\s?$"
)
_NOT_CHOSEN = re.compile(r"(?:[不别勿非]|不能|不应|不会|不该|不可|\bnot\s|n't\s|\bnever\s|\bcannot\s)$")
_BY_OTHERS = re.compile(
    r"\b(?:students?|people|candidates|they|many|some|most|others?|who|he|she)\s(?:(?:will|would|may|might|often|wrongly)\s)?$"
    r"|(?:人|同学|学生|考生|们)(?:都|会|可能|往往|容易|误|就)?$"
)
_MISTAKEN = re.compile(r"(?:wrong|incorrect|common|tempting)\s$")
_NO_ANSWER = re.compile(r"[解简问抢]$")
_NO_CHOICE = re.compile(r"[可供备单多任挑筛首候误错各个待竞海入精被该每哪]$|其他$")
_BUT = re.compile(
    r"[^\n.;。]{1,24}?(?:\bbut\s(?:rather\s|is\s)?|\brather\s|\binstead\s|而是|而应(?:该)?选|应(?:该)?(?:是|选))"
)
_BEFORE, _MOST = 40, 100


def declared(response: Response, words: dict[str, str], start: int = 0, denials: bool = False) -> list[Declared]:
    """Every declaration that begins with one of the words, from a place of the response on, in order (the last 100).

    Suppositions, questions, quotations (an instruction that is repeated: put "Answer: X" on the last line) and, unless they
    are asked for, denials ("the answer is not A") are left out; of "not A but B" the place behind "but" is given. Boxes come
    with the words that name an answer.
    """
    low = response.low
    found = list[Declared]()
    for word, kind in words.items():
        if low.isascii() and not word.isascii():
            continue
        at = low.find(word, start)
        while at >= 0:
            phrase = _phrase(low, at, word, kind)
            if phrase and (denials or not phrase.denied) and not response.quotes(at, len(word)):
                found.append(phrase)
            at = low.find(word, at + len(word))
    if "answer" in words and any(mark in low for mark in _BOXES):
        found += [_boxed(match) for match in _BOXED.finditer(low, start)]
    return sorted(found, key=lambda phrase: phrase.start)[-_MOST:]


def _boxed(match: re.Match[str]) -> Declared:
    return Declared(match.start(), match.end(), Rank.SLOT, "boxed" if match[0][0] == "\\" else "slot")


def _phrase(low: str, start: int, word: str, kind: str) -> Declared | None:
    end = start + len(word)
    link = _LINKS[kind].match(low, end)
    heading = None if link or kind not in ("answer", "答案") else _HEADING.match(low, end)
    if not link and not heading:
        return None
    before = low[max(0, start - _BEFORE) : start]
    if not _asserted(before, word, kind):
        return None
    if heading:
        titled = not before.rpartition("\n")[2].strip("# \t.-")
        return Declared(start, heading.end(), Rank.SLOT, "slot") if titled else None
    assert link
    if kind == "noun" and not _QUALIFIED.search(before) and _UNQUALIFIED.search(link[0]):
        return None  # "the options are A, B and C", "each option:"
    return _declaration(low, start, link, kind)


def _asserted(before: str, word: str, kind: str) -> bool:
    """Is it a word of its own, asserted rather than supposed or denied?"""
    last = before[-1:]
    if word.isascii():
        if (last.isalnum() and last.isascii()) or (last == "/" and kind == "answer"):
            return False
    elif (kind == "选" and _NO_CHOICE.search(before)) or (word == "答:" and _NO_ANSWER.search(before)):
        return False
    if kind in ("选", "pick") and (_NOT_CHOSEN.search(before) or _BY_OTHERS.search(before)):
        return False
    if kind == "answer" and _MISTAKEN.search(before):
        return False
    return not _SUPPOSED.search(before)


def _declaration(low: str, start: int, link: re.Match[str], kind: str) -> Declared:
    groups = link.groupdict()
    end = link.end()
    if groups.get("no"):
        but = _BUT.match(low, end)
        if not but:
            return Declared(start, link.start("no"), Rank.SENTENCE, "sentence", denied=True)
        end = but.end()
    if kind == "fix":
        return Declared(start, end, Rank.CONCLUSION, "corrected", fix=True, ends=True)
    if kind in ("so", "it", "所以"):
        return Declared(start, end, Rank.CONCLUSION, "conclusion", ends=True)
    if kind in ("answer", "ans", "答案") and groups.get("slot") is not None:
        return Declared(start, end, Rank.SLOT, "slot")
    return Declared(start, end, Rank.SENTENCE, "sentence", ends=kind == "pick")
