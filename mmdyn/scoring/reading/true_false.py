"""Reads true/false answers: words and signs of both languages, and their negations."""

from __future__ import annotations

import re

from msgspec import structs

from mmdyn.scoring.reading import languages
from mmdyn.scoring.reading.declared import ANSWERS, CORRECTIONS, Declared, Rank, declared
from mmdyn.scoring.reading.extraction import Extraction, conflict, found, nothing
from mmdyn.scoring.reading.resolve import Candidate, Conflict, resolve
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.tables import tables_of

_OPEN, _CLOSE = r"[\s(\[{<【'\\]{0,9}", r"[\s)\]}>】'.!。、,;:]"
_NO = (
    r"(?P<no>(?:is\s|are\s)?(?:not|n't|never)\s"
    r"(?:(?:entirely|completely|quite|strictly|necessarily|always|exactly|actually|really|at\sall|an?)\s)?"
    r"|不(?:是)?|没有?|并不|并非|非)?"
)
_ADVERB = r"(?:(?:definitely|certainly|clearly|absolutely|obviously|indeed|simply|entirely|completely|totally|always)\s|显然|肯定|完全)?"
_IT_IS = r"(?:是(?!不是|否)(?:完全)?)?"
_ARTICLE = r"(?:(?:an?|the)\s|一个|一句)?"
_EMPHATIC = r"(?:absolutely|definitely|certainly|of\scourse)"
_DEPICTED = r"(?:事实|实际|图(?:片|中|示)?)(?:情况|内容|信息)?"
_TRUE = (
    r"true|correct|right|yes|yep|accurate|valid|正确|成立|属实|无误|没错|对|是|真|√|✓|✔|☑|✅|t(?![a-z])"
    r"|(?:(?<=is\s)|(?<=not\s)|(?<=always\s))the\scase"
    rf"|符合{_DEPICTED}|(?:确实|的确|正是)如此(?=\s?(?:[,.!。]|$))"
)
_FALSE = (
    r"false|incorrect|wrong|untrue|no(?![a-z])|nope|inaccurate|invalid|错误|有误|错|否|不(?=[,.!。])|假|×|✗|✘|✕|❌|❎|f(?![a-z])"
    rf"|与{_DEPICTED}不(?:相)?符|(?:{_EMPHATIC}\snot|not\sat\sall|(?:事实)?并非如此)(?=\s?(?:[,.!。]|$))"
)
_SAID = rf"(?:(?P<true>{_TRUE})|(?P<false>{_FALSE}))"
_VERDICT = re.compile(
    rf"{_OPEN}{_ADVERB}{_IT_IS}{_ARTICLE}{_NO}{_SAID}"
    r"(?:\s(?:statement|claim|assertion|proposition)|的(?:说法|命题|判断|表述|观点)?|命题|了)?(?:\s(?:at\sall|in\sgeneral))?"
)
"""A verdict with all that belongs to it, from what opens it (a bracket, an adverb) to its noun."""
_ENDS = re.compile(rf"{_CLOSE}{{0,9}}$")
_YES = re.compile(rf"(?:{_EMPHATIC}|exactly|indeed)\s?[.!]{{0,3}}$")
"""A yes where it is all that is said; before a sentence it is mere courtesy (Certainly! Let me look)."""
_OPTION = re.compile(r"[\s(]{0,3}(?:option\s)?[a-d12][.):、]\s?")
_STOPS = re.compile(
    r"\s{0,3}(?:[)\]}>'】.!。、,;:<|—]|$|\n|(?<=\s)[-–]{1,2}\s|because|since\s(?!\d)|based\son|due\sto|as\s(?:shown|seen|depicted)|因为|由于)"
)
_GOES_ON = re.compile(
    r"\s?(?:or\b|/|或|还是|错|否|误|[—–-]{1,2}\s?(?:(?:or|and|true|false|(?:in)?correct|wrong)\b|[或错误假]))"
)
_NUMBER = re.compile(r"\.\s?\d")
"""Behind a "no": "No. 5" may be the fifth."""
_SHORT = frozenset({
    "对", "是", "真", "错", "否", "不", "假", "t", "f", "no", "yes", "right", "nope", "yep",
})  # fmt: skip
_CROSS = re.compile(rf"{_OPEN}x{_CLOSE}{{0,9}}$")
_NAMED = (
    r"(?:statement|claim|assertion|proposition|sentence|conclusion|judg(?:e)?ment|verdict|hypothesis|argument|above|given)"
    r"(?:\s(?:above|given|here|in\squestion))?"
)
_NAMED_IN_CHINESE = r"(?:说法|叙述|命题|表述|判断|结论|这句话|题干|陈述|观点|该题|此题|描述|题目)"
_CLAIM = re.compile(
    rf"{_NAMED}(?:\s(?:is|was|must\sbe|would\sbe|seems)(?=n't|\s)\s?|\s(?P<cannot>can(?:not|'t|\snot)\sbe\s)|\s?:\s?)"
    r"(?:(?:therefore|thus|clearly|indeed|actually|definitely)\s)?"
    rf"|{_NAMED_IN_CHINESE}(?:中的说法)?(?:,?我们?(?:认为|觉得))?(?:就|应该|应|显然)?(?:是|为|:)?"
)
_STANCE = re.compile(
    r"\bi\s(?:(?P<no>do\snot|don't|cannot|can't)\s)?(?:(?:fully|strongly|completely|totally)\s)?"
    r"(?:(?:agree|(?P<against>disagree))(?![a-z])"
    rf"(?:\swith\s(?:(?P<claim>(?:this|that|the)\s(?:(?:given|above)\s)?(?:statement|claim|assertion))|this|that|it)(?![a-z']))?"
    r"|(?:think|believe)\s(?:so|(?P<not>not))(?![a-z]))(?:\sat\sall)?"
    r"|(?P<named>statement|claim|proposition)\s(?:(?P<fails>does\snot|doesn't|fails\sto)\s)?holds?(?:\strue)?(?=[\s.]{0,3}(?:$|\n))"
    r"|我(?:完全|非常|十分)?(?P<without>不)?(?:同意|赞同|认同|赞成)"
    rf"(?P<this>(?:这|该|此|上述|题[中目]的?)(?:一?[个种])?{_NAMED_IN_CHINESE}|这句话)?"
)
"""I agree with the statement; the statement does not hold; I think so; 我不同意."""
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
_CONNECTED = re.compile(
    rf"{_OPEN}(?P<so>(?:so|thus|hence|therefore|overall|consequently|finally|well|in\s(?:conclusion|summary|short)),?\s"
    r"|(?:综上(?:所述)?|因此|所以|故|总之|可见),?)?"
)
_OPINION = re.compile(
    r"\s{0,3}(?:(?:i(?:\swould|'d|\swill|'ll)?\s(?:(?:firmly|strongly|do|personally|also)\s|(?P<no>(?:do\snot|don't)\s(?=think|believe)))?"
    r"(?:think|believe|feel|say|conclude|go\swith|choose|pick|select|answer)"
    r"|i(?:'m|\sam)\s(?:(?:very|quite|pretty)\s)?(?:sure|certain|confident|convinced))"
    r"\s(?:that\s(?!(?:is|was|must|seems|cannot|can't|isn't|wasn't)\b))?"
    r"|in\smy\s(?:opinion|view|judge?ment),?\s"
    r"|(?:我们?|本人|个人)(?:(?P<without>不)|也)?(?:认为|觉得|相信)[,:]?|(?:在我看来|依我看),?|我的(?:判断|看法|结论|观点)[是为:])"
)
"""I believe that; I don't think; 我不认为."""
_SUBJECT = re.compile(
    rf"{_OPEN}(?:(?:(?:this|that|it|(?:the|this|that)\s(?:(?:given|above)\s)?{_NAMED})"
    r"(?:\s(?:is|was|must\sbe|seems)(?=n't|\s)\s?|'s\s|\s(?P<cannot>can(?:not|'t|\snot)\sbe\s)))"
    rf"|(?:(?:这|那|它|该|此|上述)(?:一?[句种个]话|一?[个种]?{_NAMED_IN_CHINESE}|个)?|题[中目]的?说法)(?:就|显然)?(?:是|为)?(?=[^\s]))"
)
"""What a verdict is said of. A response that begins with a pronoun speaks of the statement; further down it may speak of
anything, unless it says what is believed or concluded.
"""
_AGAIN = re.compile(r"[\s,.;:!。)—–-]{1,6}(?:and\s)?")
_ECHO = re.compile(
    r"(?:it|this|that|they|he|she|there)\s(?:is|are|was|were|does|do|did|has|have|can|will)(?P<no>n't|\snot)?(?=\s?(?:[.,!;]|$|\n))"
)
"""Yes, it is; no, it doesn't."""
_UNSETTLED = re.compile(
    r"\s?(?:[?吗么]|与否)"
    r"|\s?[,;(—–-]?\s?(?:\b(?:but\s(?:only(?!\sbecause)|not|sometimes|partly)|if|unless|provided|except|partly|sometimes)\b"
    r"|但[^\n。,]{0,6}[只仅不某]|当且仅当|仅[当在限对]|除非)"
    r"|(?:\s|\s?[(—–-]\s?)(?:only|when|whenever|in\spart|to\s(?:some|a\scertain)\s(?:extent|degree)|as\s(?:long|far)"
    r"|(?:in|for|under)\s(?:some|certain|most|many))\b"
)
"""Behind a verdict: it is asked, or holds only so far."""
_OF_WHAT = re.compile(r"\sthat\b|(?<=[\u3400-\u9fff])(?=[\u3400-\u9fff])(?!因为|由于|所以|故)")
"""Behind a verdict: it is said of something else (true that water is wet, 正确的是)."""
_BUT = re.compile(r"\s?[,;(—–-]?\s?(?:\b(?:but|although|though|except)\b|但|不过)")
_UNMEANT = re.compile(
    r"(?:\b(?:(?<!no\s)(?<!without\s)(?<!without\sa\s)doubt|no\slonger\s(?:think|believe|say|agree)|wonder|deny|disagree|unsure|unclear|uncertain|nobody|maybe|perhaps|(?:false|untrue|wrong|incorrect|possible|likely)(?=\sthat)"
    r"|says|claims|claimed|thinks|believes|believed|argues|argued|assumes|assumed"
    r"|(?:some|many|most|people|students|others?|they|one|you|who|critics)\s(?:\w{1,12}\s){0,2}(?:think|believe|say|claim|argue|assume|thought|said))\b"
    r"|(?:\bnot|n't|\bcannot|\bnever)\s(?:\w{1,12}\s){0,2}?(?:think|believe|say|claim|agree|sure|certain|know|mean|imply|prove|show|follow|(?:true|correct)(?=\sthat))\b)"
    r"(?:(?!\b(?:so|thus|hence|therefore)\b)[^\n.;,。]){0,30}$"
    r"|(?:不(?:认为|觉得|相信|同意|赞同|确定|知道|能说|是说|说明|意味|代表)|怀疑|(?:无法|不能|难以|没法)[^,。\n]{0,4}[说断定明]|可能|也许|或许|未必"
    r"|(?:人|同学|学生|他|她|者|(?<!我)们)(?:都|会|往往)?(?:认为|觉得)|(?<![以是来话该之我])说(?![明法])|声称|(?<!可)以为)[^\n.。,;]{0,12}$"
)
"""Before a claim: it is not what is thought, perhaps so, or what somebody says."""
_SUPPOSED = re.compile(r"(?:\bif|\bwhether|\bsuppose|\bassum(?:e|ing)|若|如果|假设|是否)[^\n.。,，]{0,24}$")
_WAVERS = re.compile(
    r"\bwait\b|\b(?:can't|cannot) (?:tell|say|decide)\b|不确定|说不准|但.{0,6}不|\bbut\snot\b|\bnot\s(?:\w+\s)?(?:sure|certain)\b|\bor\sis\sit\b"
)
_LONGEST_ALONE, _BEFORE = 60, 70


def read_true_false(response: Response, crosses: bool) -> Extraction:
    """True or false, as a response judges the statement; `crosses`: an x alone is a cross."""
    if "’" in response.low:
        response = structs.replace(response, low=response.low.replace("’", "'"))
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
    if _YES.match(whole):
        start = response.low.find(whole)
        return found(response, True, "alone", start, start + len(whole))
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
        word in _SHORT and (not _STOPS.match(low, match.end()) or (word == "no" and _NUMBER.match(low, match.end())))
    ):
        return None
    start = match.start("no") if match["no"] else match.start("true") if match["true"] else match.start("false")
    return (match["true"] is not None) != (match["no"] is not None), start, match.end()


def _judged(low: str, at: int, pronouns: bool) -> tuple[bool, int, int] | None:
    """The verdict, the stance or the judgement (I believe that this is true) that begins at a place and is all that is said
    there; `pronouns`: what this and it mean is clear.
    """
    connected = _CONNECTED.match(low, at)
    at = connected.end() if connected else at
    stance = _STANCE.match(low, at)
    if stance:
        value = _stands(stance)
        ends = _STOPS.match(low, stance.end()) and not _BUT.match(low, stance.end())
        return (value, stance.start(), stance.end()) if value is not None and ends else None
    opinion = _OPINION.match(low, at)
    subject = (
        _SUBJECT.match(low, opinion.end() if opinion else at)
        if opinion or pronouns or (connected and connected["so"])
        else None
    )
    led = subject or opinion
    verdict = _verdict(low, led.end() if led else at)
    if not verdict or not _STOPS.match(low, verdict[2]) or (led and _BUT.match(low, verdict[2])):
        return None
    denied = [bool(opinion and (opinion["no"] or opinion["without"])), bool(subject and subject["cannot"])]
    if not any(denied):
        return verdict
    return (False, led.start() if led else at, verdict[2]) if verdict[0] and not all(denied) else None


def _stands(stance: re.Match[str]) -> bool | None:
    """Does a stance hold the statement for true? What is denied twice says neither."""
    denials = [stance[each] for each in ("no", "against", "not", "fails", "without") if stance[each]]
    return not denials if len(denials) < 2 else None


def _declared(response: Response) -> list[Candidate[bool]]:
    """Every verdict that is declared, that a claim is given, or that opens or closes the response, in order; of a truncated
    response only what is declared.
    """
    low = response.low
    phrases = declared(response, ANSWERS | CORRECTIONS, denials=True)
    phrases += [Declared(each.start(), each.end(), Rank.SLOT, "slot") for each in _TEMPLATE.finditer(low)]
    for table in tables_of(response):
        phrases += [Declared(at, at, Rank.SLOT, "table") for at, _ in table.column(response, _VERDICT_HEAD)]
    candidates = [_candidate(low, phrase) for phrase in phrases]
    if response.cut_off:
        start, _ = response.last_line()
        candidates = [each for each in candidates if each and each.start >= start and each.phrase.rank is Rank.SLOT]
    elif not response.truncated:
        claims = _claims(low)
        ends = {each.end for each in claims}
        candidates += [*claims, *(each for each in _opens_and_closes(response) if each.end not in ends)]
    return sorted((each for each in candidates if each), key=lambda each: each.start)


def _opens_and_closes(response: Response) -> list[Candidate[bool]]:
    """What the first line and the last one begin with, and what is said right behind it where it says otherwise."""
    low = response.low
    found = list[Candidate[bool]]()
    for (start, end), rule in ((response.first_line(), "first_word"), (response.last_line(), "last_line")):
        judged = _judged(low, start, pronouns=rule == "first_word")
        if not judged or _UNSETTLED.match(low, judged[2]) or _WAVERS.search(low, judged[2], end):
            continue
        phrase = Declared(start, judged[1], Rank.CONCLUSION if rule == "first_word" else Rank.SENTENCE, rule)
        found.append(Candidate(*judged, phrase, rule))
        again = _AGAIN.match(low, judged[2])
        echo = _ECHO.match(low, again.end()) if again else None
        further = _judged(low, again.end(), pronouns=True) if again and not echo else None
        says = echo["no"] is None if echo else further[0] if further else judged[0]
        if again and says != judged[0]:
            found.append(Candidate(says, again.end(), again.end() + 1, phrase, rule))
    return found


def _claims(low: str) -> list[Candidate[bool]]:
    """What is said of the statement: it is true, it holds, I agree with it."""
    found = list[Candidate[bool]]()
    for claim in (*_CLAIM.finditer(low), *_THEREFORE.finditer(low)):
        said = _candidate(low, Declared(claim.start(), claim.end(), Rank.SENTENCE, "sentence"))
        cannot = claim.re is _CLAIM and claim["cannot"]
        if said and said.value is not None and not (cannot and not said.value) and _meant(low, claim.start()):
            value, start = (False, claim.start("cannot")) if cannot else (said.value, said.start)
            found.append(Candidate(value, start, said.end, said.phrase, said.rule))
    for stance in _STANCE.finditer(low):
        of_claim = stance["claim"] or stance["named"] or (stance["this"] and _STOPS.match(low, stance.end()))
        holds = _stands(stance) if of_claim else None
        if holds is not None and _meant(low, stance.start()) and not _UNSETTLED.match(low, stance.end()):
            phrase = Declared(stance.start(), stance.end(), Rank.SENTENCE, "sentence")
            found.append(Candidate(holds, stance.start(), stance.end(), phrase, "sentence"))
    return found


def _meant(low: str, at: int) -> bool:
    """Is what begins at a place the response's own word, and not supposed?"""
    before = low[max(0, at - _BEFORE) : at]
    return not _SUPPOSED.search(before) and not _UNMEANT.search(before)


def _candidate(low: str, phrase: Declared) -> Candidate[bool] | None:
    slot = phrase.rank is Rank.SLOT
    verdict = _verdict(low, phrase.end)
    if not verdict and (slot or ":" in low[phrase.end - 2 : phrase.end]):
        verdict = _judged(low, phrase.end, pronouns=True)
    if not verdict or _UNSETTLED.match(low, verdict[2]) or _OF_WHAT.match(low, verdict[2]):
        return Candidate(None, phrase.start, phrase.end, phrase, phrase.rule) if slot else None
    value, start, end = verdict
    if phrase.language and not (languages.ends(low, end) and languages.kept(low, start, end)):
        return Candidate(None, phrase.start, phrase.end, phrase, phrase.rule)
    return Candidate(value, start, end, phrase, phrase.rule)
