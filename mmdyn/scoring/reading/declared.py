"""Where a response declares its final answer: "Answer: …", "the answer is …", \\boxed{…}, 答案：…, 故选…, <answer>…, JSON.

A declaration begins with a word of one of the tables below. The word's kind says what must follow it (`_LINKS`), and what
stands before it decides whether it is asserted, supposed ("if the answer is …") or denied (不选…).
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache

from msgspec import Struct

from mmdyn.scoring.reading import languages
from mmdyn.scoring.reading.doubts import DOUBTED, LAST_WORDS, finds, overturned
from mmdyn.scoring.reading.examples import shown
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.tables import ANSWER_HEAD, tables_of

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
    not "so C is a point"). `denied`: it says what the answer is not ("the answer is not true"). `language`: one beside English and
    Chinese, of which few forms are known: the answer must be at the sentence's end, and nothing behind it may sound like a denial.
    """

    start: int
    end: int
    rank: Rank
    rule: str
    fix: bool = False
    ends: bool = False
    denied: bool = False
    language: str = ""


ANSWERS = {
    "answer": "answer",
    "final value": "answer",
    "final result": "answer",
    "ans": "ans",
    "答案": "答案",
    "答:": "reply",
} | languages.WORDS
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
    "oops": "fix", "sorry": "fix", "my bad": "fix", "抱歉": "fix", "对不起": "fix", ",不,": "fix", "。不,": "fix", "哦不,": "fix",
    "so ": "so", "so,": "so", "therefore": "so", "thus": "so", "hence": "so",
    "it's": "it", "it is": "it", "it must be": "it", "it would be": "it", "it should be": "it", "it has to be": "it", "that leaves": "it", "left with": "it", "elimination,": "so",
    "correct one": "one", "right one": "one", "correct:": "reply", "response:": "reply", "selected:": "reply", "final:": "reply",
    "所以": "所以", "因此": "所以", "故": "所以", "我认为": "所以", "而是": "所以",
}  # fmt: skip
"""Those, and what counts only where nothing is declared more plainly: "so C", 所以B, "Correct: A, C"."""

_ADVERB = r"(?:\s(?:therefore|thus|then|hence|clearly|definitely|indeed|simply|most\slikely|likely|probably|actually|obviously|undoubtedly|certainly|surely|in\sfact)\b,?)?"
_BE = r"(?:is|are|was|would\sbe|should\sbe|must\sbe|will\sbe|has\sto\sbe|remains)"
_ENGLISH = (
    rf"(?:s|\(s\))?(?:\s(?:choices?|options?|letters?|key))?(?:\s?\([^()\n]{{1,30}}\))?"
    rf"(?:\s(?:left|here)|\s(?:to|for|of|from|among|in)(?:\s[\w']{{1,14}}){{1,4}}?)?"
    rf"(?:,\s(?:then|therefore|thus|however|in\sfact),)?"
    rf"(?:(?P<slot>{S}(?:[:=|>→]|->|=>)|\]:?|\s-\s)"
    rf"|(?:\s{{1,9}}{_BE}|'s)(?:(?P<no>n't|\s(?:not|never|neither)\b)|(?![a-z])){_ADVERB}{S}:?|(?P<of>\sof\s))"
)
_LINKS = {
    "answer": _ENGLISH,
    "noun": _ENGLISH,
    "one": _ENGLISH,
    "ans": rf"(?P<slot>[:.=)]{S}[:=]?)",
    "reply": S,
    "答案": (
        rf"(?P<slot>[】\]>]{S}:?|{S}[:=|])"
        rf"|{S}(?:应该|应当|应|就|只能|只会|显然|即|并|依次|分别)?(?P<no>绝?不(?:应该|应|可能|会)?)?(?:是|为|选择|选|有){S}:?"
        r"|[ \t]{1,3}(?=\S{1,12}\s{0,3}(?:\n|$))"
    ),
    "adjective": rf"的?(?:选项|叙述|说法|一项|判断|结论|推断|描述|命题)?(?:应该|应当|应|就)?(?P<no>不)?(?:是|为|有){S}:?",
    "选": rf"(?!项[a-z])(?:项?(?:应该|应|就)?(?:是|为){S}:?|项{S}:|择?{S}:|择?(?!项))",
    "pick": rf"(?:\s(?:the\s)?(?:options?|choices?|answers?|letters?|statements?))?(?:\sis)?{S}:?",
    "so": rf"{S}[,:]?(?:\s(?:i\s(?:think|believe|would\ssay)\s)?(?:it(?:'s|\sis|\smust\sbe)))?",
    "it": "",
    "所以": r"[,:]?(?:本题|我)?(?:是)?",
    "fix": (
        r"[^\w\n]{0,5}(?:(?:no|actually|rather|sorry)\b[^\w\n]{0,3})?"
        r"(?:(?:it\sis|it's|it\sshould\sbe|should\sbe|the\sanswer\sis|应该是|应当是|应为|应是|应选|应该选|改为|改选|选|是)\s?)?"
    ),
} | languages.LINKS
_ANSWERING = {"answer", "ans", "答案", *languages.LINKS}
"""The kinds of words that name an answer; what follows their colon is a slot."""
_HEADED = ("answer", "答案")
"""The kinds of words that may be a heading, with the answer on a line below."""
_RAREST = {word: max(word) for word in CHOICES | CONCLUSIONS}
"""The character of each word with the highest code: where it is missing, so is the word, and one is sought 30 times as fast."""
_BOXED = re.compile(rf"\\(?:boxed|fbox){S}\{{|####\s")
_QUALIFIED = re.compile(
    r"(?:correct|right|best|appropriate|suitable|valid|accurate|true|false|incorrect|wrong|only|final|my|closest|chosen|selected)[\s_]$"
)
_UNQUALIFIED = re.compile(r"^s|^\(s|:|=|\||-\s$")
_SUPPOSED = re.compile(
    r"\b(?:if|si|suppose|assum(?:e|ing)|whether|unless|when|is|let's\ssay)(?:\sthat)?(?:\sthe)?(?:\s(?:final|correct|right))?\s$"
    r"|\b(?:initially|at\sfirst|first|originally|previously)\s(?:thought|believed|assumed|guessed|said)(?:\sthat)?(?:\sthe|\smy)?\s$"
    r"|(?:若|如果|如|假设|假如|假定|要是|倘若|是否|为何|为什么|难道|可能|也许|或许)(?:本题|正确|最终|说|应该|应)?[ \t]?\Z"
)
_HINTS_AT_SUPPOSED = (
    "if", "si", "is", "suppose", "assum", "whether", "unless", "when", "let's", "thought", "believed", "guessed", "said",
    "若", "如", "假", "要是", "倘", "是否", "为", "难", "可能", "许",
)  # fmt: skip
_UNMEANT = (
    r"(?:(?:(?:\b(?:do|did|would)\snot|n't)\s(?:think|believe)|\bnot\s(?:sure|certain)|\b(?:false|untrue|wrong|incorrect)(?=\sthat))(?:\sthat)?"
    r"|\b(?:perhaps|maybe),?|\b(?:no|says|claims|claimed|thinks|believes|argues|(?<!\bi\s)said)(?:\sthat)?:?)(?:\sthe)?(?:\s(?:final|correct|right|best))?\s"
    r"|\b(?:(?:choose|pick|select)\s(?:an?|one|your)|(?:example|sample)(?:\sof\san)?|please)\s"
    rf"|(?:不(?:认为|觉得|相信|同意)|(?<![以是来话该之我])说):?(?:正确|最终)?|{DOUBTED}"
)
"""Before an announcement: it is not what is thought, perhaps so, what somebody says, doubted, or an instruction or an example."""
_IS_UNMEANT = re.compile(rf"(?:{_UNMEANT})\Z")
_HINTS_AT_UNMEANT = (
    "think", "believe", "sure", "certain", "that", "perhaps", "maybe", "no", "says", "claim", "argues", "said", "choose", "pick", "select",
    "ample", "please", "不", "说", *LAST_WORDS, "say", "assume", "suppose", "认为", "觉得",
)  # fmt: skip
"""One of these stands in whatever `_IS_UNMEANT` finds; they are looked for sooner than it is."""
UNMEANT = re.compile(rf"(?:{_UNMEANT})(?:answer|答案)")
_REACHED = re.compile(
    r"\b(?:get|gets|got|gives?|giving|yields?|obtain|obtained|have|reach|arrive\sat)\s(?:(?:an?|the|our)\s)?(?:final\s)?$"
)
_NOT_CHOSEN = re.compile(r"(?:[不别勿非]|还是|或者?|不能|不应该?|不会|不该|不可|\bnot\s|n't\s|\bnever\s|\bcannot\s)$")
_BY_OTHERS = re.compile(
    r"\b(?:students?|people|candidates|they|many|some|most|others?|who|he|she)\s(?:(?:will|would|may|might|often|wrongly|tend\sto|like\sto)\s)?$"
    r"|\b(?:mistake|error|trap|tempting|wrong|reason)\s(?:is\s|would\sbe\s)?to\s$"
    r"|(?:人|同学|学生|考生|们)(?:都|会|可能|往往|容易|误|就|认为|觉得|说)?$"
)
_MISTAKEN = re.compile(r"(?:wrong|incorrect|common|tempting)\s$|错误的?$")
_EARLIER = re.compile(r"\b(?:first|initial|original|previous|earlier)\s$")
_CLAUSE_BEGINS = re.compile(r"(?:^|[\n.。;:])\s*$")
_NO_ANSWER = re.compile(r"[解简问抢]$")
_NO_CHOICE = re.compile(
    r"(?:分析|判断|来看|看看|比较|验证|检查|[可供备单多任挑筛首候误错各个待竞海入精被每哪]|(?<!应)该|其他)$"
)
_BUT = re.compile(
    r"(?!\s?(?:\w+ly\s)?(?:given|listed|stated|shown|provided|available|included|known|clear|certain|sure|unique|obvious|here|there|among|in)\b)"
    r"[^\n.;。]{1,24}?(?:\bbut\s(?:rather\s|is\s)?|\brather\s|\binstead\s|而是|而应(?:该)?选|应(?:该)?(?:是|选)"
    rf"|{languages.BUT})"
)
_LAST_WORDS = (
    "the", "that", "final", "correct", "right", "best", "if", "si", "suppose", "assume", "assuming", "whether", "unless", "when",
    "is", "say", "thought", "believed", "assumed", "guessed", "said", "my", "think", "believe", "sure", "certain", "perhaps", "maybe",
    "no", "says", "claims", "claimed", "thinks", "believes", "argues", ":", "a", "an", "one", "your", "example",
    "sample", "please", "wrong", "incorrect", "common", "tempting",
    "若", "如果", "如", "假设", "假定", "要是", "是否", "为何", "为什么", "难道", "可能", "许", "本题", "正确", "最终", "说", "应该", "应",
    "认为", "觉得", "相信", "同意", "错误", "错误的", *LAST_WORDS,
)  # fmt: skip
"""Whatever makes an announcement none ends in one of these: where none of them stands before it, nothing need be searched for."""
_BEFORE, _MOST, _LONGEST_NOT, _LONGEST_OTHERS = 40, 100, 8, 24


def declared(response: Response, words: dict[str, str], start: int = 0, denials: bool = False) -> list[Declared]:
    """Every declaration that begins with one of the words, from a place of the response on, in order (the last 100).

    Suppositions, questions, quotations (an instruction that is repeated: put "Answer: X" on the last line) and, unless they
    are asked for, denials ("the answer is not A") are left out; of "not A but B" the place behind "but" is given. Boxes and
    the answer columns of tables come with the words that name an answer.
    """
    low = response.low
    found = list[Declared]()
    for word in [word for word in words if _RAREST[word] in low and word in low]:
        for match in _announcement(word, words[word]).finditer(low, start):
            phrase = _phrase(low, match, word, words[word])
            if phrase and (denials or not phrase.denied) and _meant(response, phrase, len(word)):
                found.append(phrase)
    if "actually" in words:
        found += [_correction(*place) for place in languages.corrections(low, start)]
    if "answer" in words and (("\\" in low and "box" in low) or ("#" in low and "####" in low)):
        found += [_boxed(match) for match in _BOXED.finditer(low, start)]
    for table in tables_of(response) if "answer" in words else ():
        found = [phrase for phrase in found if not table.start <= phrase.start < table.end]
        cells = table.column(response, ANSWER_HEAD)
        found += [Declared(at, at, Rank.SLOT, "table") for at, _ in cells if at >= start]
    return sorted(found, key=lambda phrase: phrase.start)[-_MOST:]


def _meant(response: Response, phrase: Declared, length: int) -> bool:
    """Is a phrase that begins with a word of this length not quoted and, in a language of few forms, one of these?"""
    if response.quotes(phrase.start, length, phrase.end) or shown(response.low, phrase.start, phrase.end):
        return False
    if phrase.rank > Rank.CONCLUSION and overturned(response.low, phrase.start, phrase.end):
        return False
    return not phrase.language or phrase.denied or languages.announces(response, phrase.start, phrase.end)


def _correction(start: int, end: int, language: str) -> Declared:
    return Declared(start, end, Rank.CONCLUSION, "corrected", fix=True, ends=True, language=language)


def _boxed(match: re.Match[str]) -> Declared:
    return Declared(match.start(), match.end(), Rank.SLOT, "boxed" if match[0][0] == "\\" else "slot")


@cache
def _announcement(word: str, kind: str) -> re.Pattern[str]:
    """A word with, in group `link`, what must follow it, or in group `heading` the end of its line. Only the word is consumed."""
    heading = rf"|(?P<heading>{S}\n{S})" if kind in _HEADED else ""
    return re.compile(rf"{re.escape(word)}(?=(?P<link>{_LINKS[kind]}){heading})")


def _phrase(low: str, match: re.Match[str], word: str, kind: str) -> Declared | None:
    start = match.start()
    before = low[max(0, start - _BEFORE) : start]
    if not _asserted(before, word, kind):
        return None
    link = match["link"]
    if link is None:
        titled = not before.rpartition("\n")[2].strip("# \t.-")
        return Declared(start, match.end("heading"), Rank.SLOT, "slot") if titled else None
    if kind == "answer" and ((link[:1] == "]" and before[-1:] != "[") or ("was" in link and _EARLIER.search(before))):
        return None  # "the [answer]", "my first answer was A"
    if _LINKS[kind] is _ENGLISH and match["of"] and not (kind == "answer" and _REACHED.search(before)):
        return None  # "the answer of the first group"
    if kind == "noun" and not _QUALIFIED.search(before) and _UNQUALIFIED.search(link):
        return None  # "the options are A, B and C", "each option:"
    return _declaration(low, match, kind)


def _asserted(before: str, word: str, kind: str) -> bool:
    """Is it a word of its own, asserted rather than supposed or denied?"""
    last = before[-1:]
    if word.isascii():
        if (last.isalnum() and last.isascii()) or (last == "/" and kind == "answer"):
            return False
    elif (kind == "选" and _NO_CHOICE.search(before)) or (word == "答:" and _NO_ANSWER.search(before)):
        return False
    if kind in ("选", "pick") and (
        _NOT_CHOSEN.search(before, len(before) - _LONGEST_NOT)
        or _BY_OTHERS.search(before, len(before) - _LONGEST_OTHERS)
    ):
        return False
    if word in ("correct:", "response:", "final:") and not _CLAUSE_BEGINS.search(before):
        return False
    if not before.rstrip().rstrip(",").endswith(_LAST_WORDS):
        return True
    if kind in ("answer", "答案") and (_MISTAKEN.search(before) or finds(_IS_UNMEANT, _HINTS_AT_UNMEANT, before)):
        return False
    return not finds(_SUPPOSED, _HINTS_AT_SUPPOSED, before)


def _declaration(low: str, match: re.Match[str], kind: str) -> Declared:
    groups = match.groupdict()
    start, end = match.start(), match.end("link")
    language = kind if kind in languages.LINKS else ""
    if groups.get("no"):
        but = _BUT.match(low, end)
        if not but:
            return Declared(start, match.start("no"), Rank.SENTENCE, "sentence", denied=True, language=language)
        end = but.end()
    if kind == "fix":
        return Declared(start, end, Rank.CONCLUSION, "corrected", fix=True, ends=True)
    if kind in ("so", "it", "所以"):
        return Declared(start, end, Rank.CONCLUSION, "conclusion", ends=True)
    if kind in _ANSWERING and groups.get("slot") is not None:
        return Declared(start, end, Rank.SLOT, "slot", language=language)
    ends = kind == "pick" or bool(groups.get("of"))
    return Declared(start, end, Rank.SENTENCE, "sentence", ends=ends, language=language)
