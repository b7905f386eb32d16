"""Where a response declares its final answer: "Answer: …", "the answer is …", \\boxed{…}, 答案：…, 故选…, <answer>…, JSON.

A declaration begins with a word of one of the tables below. The word's kind says what must follow it (`_LINKS`), and what
stands before it decides whether it is asserted, supposed ("if the answer is …") or denied (不选…).
"""

from __future__ import annotations

import re
from enum import IntEnum

from msgspec import Struct

from mmdyn.scoring.reading import languages
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
    "so ": "so", "so,": "so", "therefore": "so", "thus": "so", "hence": "so",
    "it's": "it", "it is": "it", "it must be": "it", "it would be": "it", "it should be": "it", "it has to be": "it", "that leaves": "it", "left with": "it", "elimination,": "so",
    "correct one": "one", "right one": "one", "correct:": "reply", "response:": "reply", "selected:": "reply", "final:": "reply",
    "所以": "所以", "因此": "所以", "故": "所以", "我认为": "所以", "而是": "所以",
}  # fmt: skip
"""Those, and what counts only where nothing is declared more plainly: "so C", 所以B, "Correct: A, C"."""

_ADVERB = r"(?:\s(?:therefore|thus|then|hence|clearly|definitely|indeed|simply|most\slikely|likely|probably|actually|in\sfact)\b,?)?"
_BE = r"(?:is|are|was|would\sbe|should\sbe|must\sbe|will\sbe|has\sto\sbe|remains)"
_ENGLISH = re.compile(
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
    "ans": re.compile(rf"(?P<slot>[:.=)]{S}[:=]?)"),
    "reply": re.compile(S),
    "答案": re.compile(
        rf"(?P<slot>[】\]>]{S}:?|{S}[:=|])"
        rf"|{S}(?:应该|应当|应|就|只能|只会|显然|即|并|依次|分别)?(?P<no>绝?不(?:应该|应|可能|会)?)?(?:是|为|选择|选|有){S}:?"
        r"|[ \t]{1,3}(?=\S{1,12}\s{0,3}(?:\n|$))"
    ),
    "adjective": re.compile(
        rf"的?(?:选项|叙述|说法|一项|判断|结论|推断|描述|命题)?(?:应该|应当|应|就)?(?P<no>不)?(?:是|为|有){S}:?"
    ),
    "选": re.compile(rf"(?!项[a-z])(?:项?(?:应该|应|就)?(?:是|为){S}:?|项{S}:|择?{S}:|择?(?!项))"),
    "pick": re.compile(rf"(?:\s(?:the\s)?(?:options?|choices?|answers?|letters?|statements?))?(?:\sis)?{S}:?"),
    "so": re.compile(rf"{S}[,:]?(?:\s(?:i\s(?:think|believe|would\ssay)\s)?(?:it(?:'s|\sis|\smust\sbe)))?"),
    "it": re.compile(""),
    "所以": re.compile(r"[,:]?(?:本题|我)?(?:是)?"),
    "fix": re.compile(
        r"[^\w\n]{0,5}(?:(?:no|actually|rather|sorry)\b[^\w\n]{0,3})?"
        r"(?:(?:it\sis|it's|it\sshould\sbe|should\sbe|the\sanswer\sis|应该是|应当是|应为|应是|应选|应该选|改为|改选|选|是)\s?)?"
    ),
} | languages.LINKS
_ANSWERING = {"answer", "ans", "答案", *languages.LINKS}
"""The kinds of words that name an answer; what follows their colon is a slot."""
_HEADING = re.compile(rf"{S}\n{S}")
_HEADED = ("answer", "答案")
"""The kinds of words that may be a heading, with the answer on a line below."""
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
    r"|(?:不(?:认为|觉得|相信|同意)|(?<![以是来话该之我])说):?(?:正确|最终)?"
)
"""Before an announcement: it is not what is thought, perhaps so, what somebody says, or an instruction or an example."""
_IS_UNMEANT = re.compile(rf"(?:{_UNMEANT})\Z")
_HINTS_AT_UNMEANT = (
    "think", "believe", "sure", "certain", "that", "perhaps", "maybe", "no", "says", "claim", "argues", "said", "choose", "pick", "select",
    "ample", "please", "不", "说",
)  # fmt: skip
"""One of these stands in whatever `_IS_UNMEANT` finds; they are looked for sooner than it is."""
UNMEANT = re.compile(rf"(?:{_UNMEANT})(?:answer|答案)")
_REACHED = re.compile(
    r"\b(?:get|gets|got|gives?|giving|yields?|obtain|obtained|have|reach|arrive\sat)\s(?:(?:an?|the|our)\s)?(?:final\s)?$"
)
_NOT_CHOSEN = re.compile(r"(?:[不别勿非]|还是|或者?|不能|不应该?|不会|不该|不可|\bnot\s|n't\s|\bnever\s|\bcannot\s)$")
_BY_OTHERS = re.compile(
    r"\b(?:students?|people|candidates|they|many|some|most|others?|who|he|she)\s(?:(?:will|would|may|might|often|wrongly)\s)?$"
    r"|(?:人|同学|学生|考生|们)(?:都|会|可能|往往|容易|误|就|认为|觉得|说)?$"
)
_MISTAKEN = re.compile(r"(?:wrong|incorrect|common|tempting)\s$|错误的?$")
_EARLIER = re.compile(r"\b(?:first|initial|original|previous|earlier)\s$")
_CLAUSE_BEGINS = re.compile(r"(?:^|[\n.。;:])\s*$")
_NO_ANSWER = re.compile(r"[解简问抢]$")
_NO_CHOICE = re.compile(r"(?:[可供备单多任挑筛首候误错各个待竞海入精被每哪]|(?<!应)该|其他)$")
_BUT = re.compile(
    r"[^\n.;。]{1,24}?(?:\bbut\s(?:rather\s|is\s)?|\brather\s|\binstead\s|而是|而应(?:该)?选|应(?:该)?(?:是|选)"
    rf"|{languages.BUT})"
)
_THE_FORM = (
    r"\b(?:the|this|that)\s(?:(?:following|required|requested|exact|given|same|correct|specified|answer|output)\s){0,2}(?:form(?:at)?|template)"
    r"(?:\s(?:of|is|like))?"
)
_REPLY = r"(?:respond|reply|answer|end|finish|conclude|begin|start)"
_ASKS_FOR = r"(?:[\n.!?:;]\W{0,3}|\bplease\s|(?<!\bi\s)(?:should|must)\s)"
_SHOWS = re.compile(
    rf"(?:{_THE_FORM}(?!\s(?:the|your)\s)|\bbe\s(?:formatted|written|stated|given|presented)\sas(?!\sthe\s)"
    rf"|{_ASKS_FOR}{_REPLY}\s(?:(?:your|the|its|every|each)\s(?:\w+\s){{1,2}})?(?:\w+ly\s|just\s)?with(?!\sthe\s(?!line)):?(?:\sthe\sline)?"
    rf"|(?:{_ASKS_FOR}(?:use|follow|{_REPLY}|write|put|give|provide|format|state|return|output|print|present)\b|\bplease\b"
    r"|\b(?:answers?|response|reply|line|output|it)\s(?:should|must|needs?\sto|has\sto|have\sto)\b)"
    rf"(?![^.\n]{{0,80}}\b(?:my|i|we|here)\b)[^.\n]{{0,80}}?(?:{_THE_FORM}|\bfollows|\blike(?:\sthis)?):?|\bplease\b[^.\n]{{0,40}}\bas(?!\sthe\s)"
    r"|\bformat\s(?:is|(?:would|should|must)\sbe|looks\slike):?"
    rf"|\b(?:is|example\sof)\s{_THE_FORM}:"
    r"|[\n.;]\W{0,4}(?:the\s)?(?:(?:required|expected|correct|desired|answer|output|response|reply)\s){0,2}format:"
    r"|\bfor\sexample[,:]?|\be\.g\.[,:]?|\bsuch\sas"
    r")[\s'‘]{1,3}(?:(?:the|your)\s)?(?:(?:final|correct|right)\s)?(?:(?:final\s)?answer:\s?\w[,\s']{1,3}(?:(?:or|and)\s)?'?){0,9}\Z"
    r"|(?:请|务必|必须|应按|须按|输出|答题|最后一行)[^。\n,我]{0,30}(?:格式|形式)[^。\n,]{0,8}\Z|(?:格式|形式)(?:应?[是为]|如下)[:\s]{0,3}\Z"
    r"|[\n。;](?:输出|回答|答题|作答|答案|示例)?格式:\s{0,3}\Z|请[^。\n,我]{0,12}(?:写|写上|写出|输出):\s{0,3}\Z"
    r"|(?:例如|比如|譬如|示例)[,:]?\s{0,3}\Z"
)
"""Before an announcement: it is asked for in this form, or an example. "My answer in the required format:" does not ask."""
_HINTS_AT_FORM = ("form", " as", "with", "like", "follows", "example", "e.g", "templ", "式", "如", "示例", "请")
_SHOWN = re.compile(
    r"\A[\s(*]{0,4}\w{1,4}[*)\]”’'\s]{0,4}?(?:\sis\s(?:only\s|just\s)?(?:the|an?)\s(?:(?:required|expected|correct|requested|right|exact|output)\s)?(?:format\b(?!\sof)|example\b(?!\sof))"
    r"|[是为][^。\n,;]{0,8}格式"
    r"|\s?\((?:(?:this|that|which)\sis\s[^()\n]{0,30}\bform|[^()\n]{0,12}\b(?:this|that|diesem|dieser|ce|cette|este|esta|neste|nesta|questo|questa|этом)\s(?:exact\s)?(?:form|форм)"
    r"|(?:请|须|务必|この|次の|이)[^()\n]{0,20}(?:格式|形式|형식)))"
)
"""Behind it: "Answer: A is the format"."""
_HINTS_AT_SHOWN = ("form", "example", "式", "форм", "형식")
_BEFORE, _MOST, _LONGEST_NOT, _SENTENCE, _BEHIND = 40, 100, 8, 100, 60


def declared(response: Response, words: dict[str, str], start: int = 0, denials: bool = False) -> list[Declared]:
    """Every declaration that begins with one of the words, from a place of the response on, in order (the last 100).

    Suppositions, questions, quotations (an instruction that is repeated: put "Answer: X" on the last line) and, unless they
    are asked for, denials ("the answer is not A") are left out; of "not A but B" the place behind "but" is given. Boxes and
    the answer columns of tables come with the words that name an answer.
    """
    low = response.low
    found = list[Declared]()
    for word, kind in words.items():
        if word not in low:  # most are not, and this is quicker than find()
            continue
        at = low.find(word, start)
        while at >= 0:
            end = at + len(word)
            link = _LINKS[kind].match(low, end)
            phrase = _phrase(low, at, word, kind, link) if link or kind in _HEADED else None
            if phrase and (denials or not phrase.denied) and _meant(response, phrase, len(word)):
                found.append(phrase)
            at = low.find(word, end)
    if "actually" in words:
        found += [_correction(*place) for place in languages.corrections(low, start)]
    if "answer" in words and ("box" in low or "####" in low):
        found += [_boxed(match) for match in _BOXED.finditer(low, start)]
    for table in tables_of(response) if "answer" in words else ():
        found = [phrase for phrase in found if not table.start <= phrase.start < table.end]
        cells = table.column(response, ANSWER_HEAD)
        found += [Declared(at, at, Rank.SLOT, "table") for at, _ in cells if at >= start]
    return sorted(found, key=lambda phrase: phrase.start)[-_MOST:]


def _meant(response: Response, phrase: Declared, length: int) -> bool:
    """Is a phrase that begins with a word of this length not quoted and, in a language of few forms, one of these?"""
    if response.quotes(phrase.start, length, phrase.end) or _shown(response.low, phrase):
        return False
    return not phrase.language or phrase.denied or languages.announces(response, phrase.start, phrase.end)


def _shown(low: str, phrase: Declared) -> bool:
    """Is it said on its line that an answer should look like this?"""
    first = max(0, phrase.start - _SENTENCE)
    line = low.rfind("\n", first, phrase.start)
    before = low[max(line, first) : phrase.start] if line >= 0 or first else f"\n{low[: phrase.start]}"
    if "form" in low[phrase.start : phrase.end] and before.endswith(("your ", "your final ")):
        return True  # "write your answer in the format: …"
    behind = low[phrase.end : phrase.end + _BEHIND]
    return _finds(_SHOWS, _HINTS_AT_FORM, before) or _finds(_SHOWN, _HINTS_AT_SHOWN, behind)


def _finds(pattern: re.Pattern[str], hints: tuple[str, ...], text: str) -> bool:
    """Is the pattern found? Only where one of its hints is does it need to be looked for."""
    for hint in hints:
        if hint in text:
            return bool(pattern.search(text))
    return False


def _correction(start: int, end: int, language: str) -> Declared:
    return Declared(start, end, Rank.CONCLUSION, "corrected", fix=True, ends=True, language=language)


def _boxed(match: re.Match[str]) -> Declared:
    return Declared(match.start(), match.end(), Rank.SLOT, "boxed" if match[0][0] == "\\" else "slot")


def _phrase(low: str, start: int, word: str, kind: str, link: re.Match[str] | None) -> Declared | None:
    heading = None if link else _HEADING.match(low, start + len(word))
    if not link and not heading:
        return None
    before = low[max(0, start - _BEFORE) : start]
    if not _asserted(before, word, kind):
        return None
    if heading:
        titled = not before.rpartition("\n")[2].strip("# \t.-")
        return Declared(start, heading.end(), Rank.SLOT, "slot") if titled else None
    assert link
    if kind == "answer" and (
        (link[0][0] == "]" and before[-1:] != "[") or ("was" in link[0] and _EARLIER.search(before))
    ):
        return None  # "the [answer]", "my first answer was A"
    if link.re is _ENGLISH and link["of"] and not (kind == "answer" and _REACHED.search(before)):
        return None  # "the answer of the first group"
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
    if kind in ("选", "pick") and (_NOT_CHOSEN.search(before, len(before) - _LONGEST_NOT) or _BY_OTHERS.search(before)):
        return False
    if kind in ("answer", "答案") and (_MISTAKEN.search(before) or _finds(_IS_UNMEANT, _HINTS_AT_UNMEANT, before)):
        return False
    if word in ("correct:", "response:", "final:") and not _CLAUSE_BEGINS.search(before):
        return False
    return not _finds(_SUPPOSED, _HINTS_AT_SUPPOSED, before)


def _declaration(low: str, start: int, link: re.Match[str], kind: str) -> Declared:
    groups = link.groupdict()
    end = link.end()
    language = kind if kind in languages.LINKS else ""
    if groups.get("no"):
        but = _BUT.match(low, end)
        if not but:
            return Declared(start, link.start("no"), Rank.SENTENCE, "sentence", denied=True, language=language)
        end = but.end()
    if kind == "fix":
        return Declared(start, end, Rank.CONCLUSION, "corrected", fix=True, ends=True)
    if kind in ("so", "it", "所以"):
        return Declared(start, end, Rank.CONCLUSION, "conclusion", ends=True)
    if kind in _ANSWERING and groups.get("slot") is not None:
        return Declared(start, end, Rank.SLOT, "slot", language=language)
    ends = kind == "pick" or bool(groups.get("of"))
    return Declared(start, end, Rank.SENTENCE, "sentence", ends=ends, language=language)
