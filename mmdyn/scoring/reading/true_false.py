"""Reads true/false answers: words and signs of both languages, and their negations."""

from __future__ import annotations

import re

from mmdyn.scoring.reading import languages
from mmdyn.scoring.reading.declared import ANSWERS, CORRECTIONS, Declared, Rank, declared
from mmdyn.scoring.reading.extraction import Extraction, conflict, found, nothing
from mmdyn.scoring.reading.resolve import Candidate, Conflict, resolve
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.tables import tables_of

_OPEN, _CLOSE = r"[\s(\[{<【'\\]{0,9}", r"[\s)\]}>】'.!。、,;:]"
_NO = (
    r"(?P<no>(?:is\s|are\s)?(?:not|n't|never)\s"
    r"(?:(?:entirely|completely|quite|strictly|necessarily|always|exactly|actually|really|an?)\s)?"
    r"|不(?:是)?|没有?|并不|并非|非)?"
)
_ADVERB = r"(?:(?:definitely|certainly|clearly|absolutely|obviously|indeed)\s|显然|肯定|完全)?"
_ARTICLE = r"(?:(?:an?|the)\s|一个|一句)?"
_TRUE = r"true|correct|right|yes|accurate|valid|正确|成立|属实|无误|没错|对|是|真|√|✓|✔|☑|✅|t(?![a-z])|(?:(?<=is\s)|(?<=not\s)|(?<=always\s))the\scase"
_FALSE = r"false|incorrect|wrong|untrue|no|inaccurate|invalid|错误|有误|错|否|不(?=[,.!。])|假|×|✗|✘|✕|❌|❎|f(?![a-z])"
_SAID = rf"(?:(?P<true>{_TRUE})|(?P<false>{_FALSE}))"
_VERDICT = re.compile(
    rf"{_OPEN}{_ADVERB}{_ARTICLE}{_NO}{_SAID}(?:\s(?:statement|claim|assertion|proposition)|的|命题|了)?"
)
_ENDS = re.compile(rf"{_CLOSE}{{0,9}}$")
_OPTION = re.compile(r"[\s(]{0,3}[a-d12][.):、]\s?")
_STOPS = re.compile(r"\s{0,3}(?:[)\]}>'】.!。、,;:<|]|$|\n|because|因为)")
_GOES_ON = re.compile(r"\s?(?:or\b|/|或|还是|错|否|误)")
_SHORT = frozenset({
    "对", "是", "真", "错", "否", "不", "假", "t", "f", "no", "yes", "right",
})  # fmt: skip
_CROSS = re.compile(rf"{_OPEN}x{_CLOSE}{{0,9}}$")
_CLAIM = re.compile(
    r"(?:statement|claim|assertion|proposition|sentence|conclusion|judg(?:e)?ment|verdict|hypothesis|argument|above|given)"
    r"(?:\s(?:above|given|here|in\squestion))?(?:\s(?:is|was|must\sbe|would\sbe|seems)(?=n't|\s)\s?|\s?:\s?)"
    r"(?:(?:therefore|thus|clearly|indeed|actually|definitely)\s)?"
    r"|(?:说法|叙述|命题|表述|判断|结论|这句话|题干|陈述|观点|该题|此题|描述|题目)(?:中的说法)?(?:就|应该|应|显然)?(?:是|为|:)?"
)
_STANCE = re.compile(
    r"\bi\s(?:(?P<no>do\snot|don't|cannot|can't)\s)?(?:(?:fully|strongly|completely)\s)?(?:agree|(?P<against>disagree))"
    r"\swith\s(?:this|that|the)\s(?:statement|claim|assertion)"
    r"|(?:statement|claim|proposition)\s(?:(?P<fails>does\snot|doesn't|fails\sto)\s)?holds?(?=[\s.]{0,3}(?:$|\n))"
)
"""I agree with the statement; the statement does not hold."""
_TEMPLATE = re.compile(
    r"(?:true\s?(?:/|or)\s?false|yes\s?(?:/|or)\s?no|t\s?/\s?f|correct\s?(?:/|or)\s?(?:incorrect|wrong)|对\s?(?:/|或)\s?错|正确\s?(?:/|或)\s?错误)"
    r"[)\]】\s]{0,3}:|\b(?:is|was)\s(?:it|this|that|the)(?:\s(?:statement|claim))?\s(?:true|correct|right)\s?\?(?=\s?(?:yes|no)\b)"
)
_THEREFORE = re.compile(
    r"(?:\b(?:so|thus|hence|therefore),?\s|;\s)it\s(?:is|'s)\s"
    r"|\b(?:so|thus|hence|therefore),?\s(?=(?:not\s)?(?:true|false|correct|incorrect)\s?[.!]?\s{0,9}(?:$|\n))"
    r"|(?:因此|所以|故)(?:为|是)?(?=[真假对错]的?[.。]?\s{0,9}(?:$|\n))"
)
_VERDICT_HEAD = re.compile(
    r"verdict|judge?ment|true(?:\s?(?:/|or)\s?false)?\??|correct\??|判断|对错|正误", re.IGNORECASE
)
_PRONOUN = re.compile(
    rf"{_OPEN}(?:(?:this|that|it)(?:\s(?:is|was)|'s)(?=n't|\s)\s?|(?:这|那|它)(?:一?[句种个]话|个)?(?:就|显然)?(?:是|为)?(?=[^\s]))"
)
"""A response that begins with a pronoun speaks of the statement; further down it may speak of anything."""
_SUPPOSED = re.compile(r"(?:\bif|\bwhether|\bsuppose|\bassum(?:e|ing)|若|如果|假设|是否)[^\n.。,，]{0,24}$")
_IF = re.compile(r",?\s(?:only\s)?(?:if|unless|provided)\b")
_WAVERS = re.compile(r"\bwait\b|\b(?:can't|cannot) (?:tell|say|decide)\b|不确定|说不准|但.{0,6}不|\bbut\snot\b")
_LONGEST_ALONE = 60


def read_true_false(response: Response, crosses: bool) -> Extraction:
    """True or false, as a response judges the statement; `crosses`: an x alone is a cross."""
    if not response.cut_off:  # what stands alone counts even where the model was stopped
        alone = _alone(response, crosses)
        if alone:
            return alone
    last = resolve(_declared(response), response)
    if isinstance(last, Conflict):
        return conflict()
    if last and last.value is not None:
        return found(response, last.value, last.rule, last.start, last.end)
    return nothing(response)


def _alone(response: Response, crosses: bool) -> Extraction | None:
    """The response is a verdict and nothing else."""
    whole = response.low.strip()
    if crosses and _CROSS.match(whole):
        start = response.low.find("x")
        return found(response, False, "alone", start, start + 1)
    if len(whole) > _LONGEST_ALONE:
        return None
    option = _OPTION.match(response.low)
    verdict = _verdict(response.low, option.end() if option else 0)
    again = verdict and _verdict(response.low, verdict[2])  # "True ✅"
    if verdict and _ENDS.match(response.low, again[2] if again and again[0] == verdict[0] else verdict[2]):
        return found(response, verdict[0], "alone", verdict[1], verdict[2])
    return None


def _verdict(low: str, at: int) -> tuple[bool, int, int] | None:
    """The verdict that begins at a place, with where it begins and ends; None where none does."""
    match = _VERDICT.match(low, at)
    if not match or _GOES_ON.match(low, match.end()):
        return None
    word = match["true"] or match["false"]
    if (word.isascii() and low[match.end() : match.end() + 1].isalnum()) or (
        word in _SHORT and not _STOPS.match(low, match.end())
    ):
        return None
    start = match.start("no") if match["no"] else match.start("true") if match["true"] else match.start("false")
    return (match["true"] is not None) != (match["no"] is not None), start, match.end()


def _declared(response: Response) -> list[Candidate[bool]]:
    """Every verdict that is declared, that a claim is given, or that opens or closes the response, in order."""
    low = response.low
    phrases = declared(response, ANSWERS | CORRECTIONS, denials=True)
    phrases += [Declared(each.start(), each.end(), Rank.SLOT, "slot") for each in _TEMPLATE.finditer(low)]
    for table in tables_of(response):
        phrases += [Declared(at, at, Rank.SLOT, "table") for at, _ in table.column(response, _VERDICT_HEAD)]
    candidates = [_candidate(low, phrase) for phrase in phrases]
    if not response.cut_off:
        candidates += _claims(low)
        for (start, end), rule in ((response.first_line(), "first_word"), (response.last_line(), "last_line")):
            pronoun = _PRONOUN.match(low, start) if rule == "first_word" else None
            begins = pronoun.end() if pronoun else start
            phrase = Declared(start, begins, Rank.CONCLUSION if rule == "first_word" else Rank.SENTENCE, rule)
            candidate = _candidate(low, phrase)
            if candidate and _STOPS.match(low, candidate.end) and not _WAVERS.search(low, candidate.end, end):
                candidates.append(candidate)
    else:
        start, _ = response.last_line()
        candidates = [each for each in candidates if each and each.start >= start and each.phrase.rank is Rank.SLOT]
    return sorted((each for each in candidates if each), key=lambda each: each.start)


def _claims(low: str) -> list[Candidate[bool] | None]:
    """What is said of the statement: it is true, it holds, I agree with it."""
    found = list[Candidate[bool] | None]()
    for claim in (*_CLAIM.finditer(low), *_THEREFORE.finditer(low)):
        said = _candidate(low, Declared(claim.start(), claim.end(), Rank.SENTENCE, "sentence"))
        conditional = said and "would" in claim[0] and _IF.match(low, said.end)
        if not conditional and not _SUPPOSED.search(low[max(0, claim.start() - 40) : claim.start()]):
            found.append(said)
    for stance in _STANCE.finditer(low):
        if not _SUPPOSED.search(low[max(0, stance.start() - 40) : stance.start()]):
            value = (stance["no"] or stance["against"] or stance["fails"]) is None
            phrase = Declared(stance.start(), stance.end(), Rank.SENTENCE, "sentence")
            found.append(Candidate(value, stance.start(), stance.end(), phrase, "sentence"))
    return found


def _candidate(low: str, phrase: Declared) -> Candidate[bool] | None:
    verdict = _verdict(low, phrase.end)
    if not verdict:
        slot = phrase.rank is Rank.SLOT
        return Candidate(None, phrase.start, phrase.end, phrase, phrase.rule) if slot else None
    value, start, end = verdict
    if phrase.language and not (languages.ends(low, end) and languages.kept(low, start, end)):
        return Candidate(None, phrase.start, phrase.end, phrase, phrase.rule)
    return Candidate(value, start, end, phrase, phrase.rule)
