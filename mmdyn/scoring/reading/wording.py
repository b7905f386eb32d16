"""Sentences and their words, made comparable: a question with a reply that says it as a statement."""

from __future__ import annotations

import re

from msgspec import Struct

from mmdyn.scoring.reading.response import Response

MOST_WORDS = 90
"""A sentence of more words is not compared."""
MOSTLY = 0.85
"""Of the words that a question needs so many stand in its statement.

Set after the stored replies (docs/scoring.md, "Statements"): 0.85 and 0.9 read the same, 0.8 two more, 0.95 three fewer.
"""
_LAST_SENTENCES, _LONGER = 40, 20

_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:\.(?=\S)[^.!?。！？\n]*)*[.!?。！？]?")
PICTURES = ("image", "picture", "figure", "graph", "chart", "diagram", "photo")
_SHOWN = (
    rf"(?:{'|'.join(PICTURES)}|photograph|table|plot|map|scene|data|information"
    r"|food\s(?:web|chain)(?:\sdiagram)?|(?:bar|line|pie)\s(?:graph|chart))"
)
_THE_SHOWN = (
    rf"(?:the|this)\s(?:(?:given|provided|shown|above)\s)?{_SHOWN}(?:\sof\s(?:the|a)\s{_SHOWN})?"
    r"(?:\s(?:provided|given|shown|above|below))?"
)
_CONCLUSION = (
    r"(?:and\s)?(?:so|thus|therefore|hence|overall|consequently)|in\s(?:conclusion|summary|total)|as\sa\sresult"
    r"|of\s(?:those|these|them)"
)
_LEAD = re.compile(
    rf"(?:{_CONCLUSION}|as\s(?:shown|seen|we\scan\ssee)"
    rf"|(?:based\son|according\sto|from|in|looking\sat|as\s(?:shown|seen)\sin)\s{_THE_SHOWN}|{_THE_SHOWN}\sshows\sthat"
    r"|(?:we|i|you)\s(?:can\s)?see\sthat|it\s(?:can\sbe\sseen|is\sclear)\sthat|we\s(?:find|conclude)\sthat)[,:]?\s+"
    r"|(?:根据(?:图片|图像|图表|题意|图)(?:可知|所示)?|(?:从|由)图中?(?:可知|可以看[出到])"
    r"|因此|所以|综上(?:所述)?|可以看[出到]|图片?中)[,:]?\s*",
    re.IGNORECASE,
)
_LEADS = 3
_CONCLUDES = re.compile(rf"(?:{_CONCLUSION})\b|因此|所以|综上", re.IGNORECASE)
_SHOWN_BEHIND = re.compile(
    rf",?\s(?:(?:as\s)?(?:shown|seen)\s)?(?:in|on|from|based\son|according\sto)\s{_THE_SHOWN}$", re.IGNORECASE
)
_REASON = re.compile(r",\s(?:as|because|since)\s|,(?:因为|由于)", re.IGNORECASE)
_OFFER = re.compile(
    r"\W{0,4}(?:do\syou\s(?:want|have)|would\syou\slike|is\sthere\sanything|(?:please\s)?let\sme\sknow|i\shope\sth"
    r"|feel\sfree|thank|希望|如有|还有其他)",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"[\W_]*(?:[A-Za-z]|\d{1,3}|(?:step|case|option|statement|claim)\s\w{1,3})\s?[.):][\s*]*$|\s*[-•+>#|][\s*]*$", re.I
)
_MARKUP = '"“”「」『』{}[]\\|#<>()_;'
_BREAKS_OFF = re.compile(r"\d[\s*]*(?:!|\.\.)[\s.!*]*$")
"""Behind a number at the end: a factorial or an exclamation, and a decimal that goes on."""
_BLANK = r"_{2,}|＿+|[(（]\s?_?\s?[)）]|【\s?】|\[\s?_?\s?\]|\\underline\{[\s\\a-z{}]{0,40}\}"
BLANK = "____"
_PUNCTUATION = r"\s.,;!?'’‘\"“”()\[\]{}*_`、。，；！？"
_WORD = re.compile(
    rf"(?P<blank>{_BLANK})|(?P<number>\d+(?:,\d{{3}})*(?:\.\d+)?)|(?P<han>[\u4e00-\u9fff])"
    r"|(?P<word>[^\W\d_\u4e00-\u9fff]+(?:['’][^\W\d_\u4e00-\u9fff]+)*)|(?<![^\W\d_])-"
    rf"|[^{_PUNCTUATION}-]"
)
"""Every sign is a word of its own (√, −, ≠, ❌), so that a sentence that has one more than its question says something else."""
_IRREGULAR = {
    "has": "have", "had": "have", "does": "do", "did": "do", "rose": "rise", "fell": "fall", "grew": "grow", "won": "win",
    "made": "make", "went": "go", "got": "get", "spent": "spend", "sold": "sell", "bought": "buy", "paid": "pay", "took": "take",
    "became": "become", "ate": "eat", "eaten": "eat", "taken": "take", "met": "meet", "lost": "lose", "sent": "send",
    "mice": "mouse", "men": "man", "women": "woman",
    "children": "child", "is": "is", "are": "is", "was": "was", "were": "was",
}  # fmt: skip
_NOT = {"ca": "can", "wo": "will", "sha": "shall"}
_NAME = re.compile(r"A(?=\s(?:is|was|does|do|did|has|can|will)\b)")
"""The letter A as a name and not an article, at the start of a sentence; further back it is known by its capital."""
ARTICLES = frozenset({"the", "a", "an"})
STOP = ARTICLES | frozenset((
    "this", "that", "these", "those", "its", "there", "here", "of", "in", "on", "at", "to", "from", "by",
    "with", "for", "as", "into", "which", "who", "whom", "what", "where", "when", "how", "why", "so", "is", "was", "be", "been", "being",
    "do", "have", "will", "shall", "would", "and", "following",
))  # fmt: skip
"""What says nothing of its own."""
_NEGATIONS = (
    "not no never none nobody nothing nowhere neither nor cannot without hardly scarcely barely rarely seldom unlike"
)
_UNCERTAIN = (
    "may might maybe perhaps could would probably probable possibly possible impossible likely unlikely appear "
    "appears apparent apparently seem seems seemingly suggest suggests presumably sometimes depend depends unable "
    "unclear unsure uncertain unknown doubt doubts doubted doubtful dubious questionable guess guesses guessed "
    "expect expected suspect suspects example sorry"
)
_SUPPOSED = (
    "if unless whether but however although though except otherwise suppose supposes supposed supposing "
    "supposedly assume assumes assumed assuming assumption hypothetical hypothesis imagine pretend fiction "
    "fictional joke dream lie lies lied fake"
)
_REPORTED = (
    "account accounts claim claims claimed statement say says said saying told tells tell think thinks thought believe believes "
    "believed feel feels view views opinion opinions perspective inclined reckon argue argues argued argument "
    "allege alleged allegedly rumour rumor caption prompt option options read reads swear swears deem deems "
    "critics differ differs few myth agree agrees agreed"
)
_TAKEN_BACK = (
    "wrong false incorrect incorrectly untrue inaccurate mistake mistaken error wait actually opposite contrary "
    "test check verify contradict contradicts contradicted deny denies denied refute refuted disprove disproved "
    "disproven disagree disagrees dispute disputed reject rejects rejected dismiss dismissed"
)
_DOUBTING = frozenset(f"{_NEGATIONS} {_UNCERTAIN} {_SUPPOSED} {_REPORTED} {_TAKEN_BACK}".split())
"""What takes an assertion back, before a conclusion or in its reason."""
DOUBTS = (_DOUBTING - {"would"}) | {"can", "or", "than", "until", "only"}
"""What takes back or bounds the sentence that it stands in, where the question does not say it too."""
_DOUBTED = re.compile(
    r"n[’']t\b|\bmy\b|\bI\b(?!\s(?:can\s)?(?:see|understand|count|counted|find|found|know)\b)"
    r"|(?i:\bthe\s(?:question|following)\b)"
    r"|[不没非未否错若]|假设|假如|如果|题目|有人|但|然而|可能|也许|或许|说|等等|认为|觉得|看来|似乎|怀疑|取决|估计|猜"
)
_LATIN = re.compile(r"[A-Za-z]+")
_UNDERSTOOD = re.compile(
    r"\W*(?:(?:sure|okay|ok|certainly|of\scourse)\b|i\s(?:can\s)?(?:see|understand)\b)", re.IGNORECASE
)
_THERE_IS_NO = re.compile(
    rf"there\s(?:is|are|was|were)\sno\s(?P<what>[^,.]{{1,80}}?)(?:\sin\s{_THE_SHOWN})?(?=[,.])", re.IGNORECASE
)
_TAKES_AWAY = re.compile(r"\b(?:subtract|remove)\s(?:all\s)?(?P<what>[^,.]{1,80})", re.IGNORECASE)
_THERE = re.compile(r"\W*there\s(?:is|are|was|were)\b", re.IGNORECASE)
_DECISIVE = DOUBTS | frozenset((
    "most", "least", "more", "fewer", "less", "first", "last", "second", "total", "each", "per", "other", "all",
))  # fmt: skip
_UNCHANGED = STOP | _DECISIVE | {"indeed", "before", "above", "since", "once", "same", "time", "times", "exactly"}
HAN = re.compile(r"[\u4e00-\u9fff]")


class Word(Struct, frozen=True):
    """A word in the form in which it is compared, and where it stands in its text."""

    form: str
    start: int
    end: int


def words(text: str, start: int = 0, end: int | None = None, without: frozenset[str] = ARTICLES) -> list[Word]:
    """The words of a stretch, numbers and signs among them: in lower case, singular, without an ending of tense."""
    found = list[Word]()
    for each in _WORD.finditer(text, start, len(text) if end is None else end):
        form = each[0].lower().replace("’", "'")
        if each["blank"]:
            form = BLANK
        elif each["number"]:
            form = form.replace(",", "")
        elif form.endswith("n't") and len(form) > 3:
            found.append(Word(stem(_NOT.get(form[:-3], form[:-3])), *each.span()))
            form = "not"
        elif form == "cannot":
            found.append(Word("can", *each.span()))
            form = "not"
        form = stem(form) if each["word"] else form
        named = each[0] == "A" and (each.start() > start or _NAME.match(text, each.start()))
        if form not in without or named:
            found.append(Word(form, *each.span()))
    return found


def stem(word: str) -> str:
    """A word without the ending of a plural or a tense: the same for two forms of one word, near enough."""
    word = _IRREGULAR.get(word, word)
    if word in _UNCHANGED or len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("us", "is", "ss", "'s")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word[: -len(ending)]
            break
    word = word[:-1] if len(word) > 4 and word.endswith("e") else word
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou" else word


def sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text stand, the last ones of many: with what closes them, without the spaces around."""
    spans = list[tuple[int, int]]()
    for each in _SENTENCE.finditer(text):
        said = each[0].strip(" \t\r*_")
        if any(map(str.isalnum, said)):
            start = each.start() + each[0].find(said)
            spans.append((start, start + len(said)))
    return spans[-_LAST_SENTENCES:]


def asked(question: str) -> str:
    """The sentence of a question that asks, bare: the one with a question mark, else with a blank, else the last; "" where several ask."""
    bare = re.sub(
        r"<image\s?\d{0,3}>|[(（](?:unit|单位)[^()（）\n]{0,80}[)）]", " ", question[-4000:], flags=re.IGNORECASE
    )
    spans = [bare[slice(*span)] for span in sentences(bare)]
    questions = sum(each.endswith(("?", "？")) for each in spans)
    asking = [each for each in spans if each.endswith(("?", "？"))] or [
        each for each in spans if re.search(_BLANK, each)
    ]
    bare = (asking or spans or [""])[-1].strip("?？ ")
    return "" if questions > 1 else bare[slice(*_bare(bare, 0, len(bare)))]


def assertions(response: Response, question: str) -> list[tuple[int, int]]:
    """Where a reply's sentences stand, bare: none unless its last one can be taken at its word.

    Without a lead-in ("Based on the image,"), a reason (", as …") and the full stop. The last one is no question, quotation, item of
    a list or line of a program; what stands before it is only the question again, or else it concludes ("So, …") and all before it
    is on the matter and undoubted. A closing offer is passed over.
    """
    if response.truncated or response.cut_off or response.declined or not question.strip():
        return []
    text, spans = response.text, sentences(response.text)
    closed = not words(text, spans[-1][1]) if spans else False
    while len(spans) > 1 and _OFFER.match(text, spans[-1][0]):
        spans.pop()
    if not closed or not _plainly_said(text, question, *spans[-1]):
        return []
    start, end = spans[-1]
    concludes = (
        _CONCLUDES.match(text, start)
        and _on_the_matter(text, spans[:-1], question)
        and not doubted(text, 0, spans[0][0])
        and not any(doubted(text, _behind_none(text, *span, question), span[1]) for span in spans[:-1])
    )
    reason = _REASON.search(text, start, end)
    if not (concludes or _echoes(text, start, question)) or (reason and doubted(text, reason.end(), end)):
        return []
    return [_bare(text, *span) for span in spans]


def _plainly_said(text: str, question: str, start: int, end: int) -> bool:
    """Is a sentence no question, no quotation, no item of a list, no program, and does it come to its end?"""
    line = text.rfind("\n", 0, start) + 1
    marked = any(mark in text[start:end] and mark not in question for mark in _MARKUP)
    announced = text[:start].rstrip(" \n\t*")[-1:] == ":" or text[start - 1 : start] in ('"', "“")
    breaks_off = _BREAKS_OFF.search(text, start, end)
    return not (text[end - 1] in "?？" or marked or announced or _LISTED.match(text[line:start]) or breaks_off)


def _behind_none(text: str, start: int, end: int, question: str) -> int:
    """Where a sentence goes on behind "there are no …" of what the question takes away: that doubts nothing."""
    none = _THERE_IS_NO.match(text, start, end)
    named = [each.form for each in words(none["what"])] if none else []
    taken = ([each.form for each in words(away["what"])] for away in _TAKES_AWAY.finditer(question[-4000:]))
    return none.end() if none and named and named in taken else start


def doubted(text: str, start: int, end: int) -> bool:
    """Does a stretch deny, doubt, suppose or report anything, or give an opinion?"""
    said = {each.lower() for each in _LATIN.findall(text, start, end)}
    return not _DOUBTING.isdisjoint(said) or bool(_DOUBTED.search(text, start, end))


def _on_the_matter(text: str, spans: list[tuple[int, int]], question: str) -> bool:
    """Does each sentence count or describe: with a number, a word of the question, or as "there is …"?"""
    subject = {each.form for each in words(question[-4000:])} - STOP
    return all(
        _THERE.match(text, *span)
        or _UNDERSTOOD.match(text, *span)
        or any(each.form in subject or each.form[0].isdigit() for each in words(text, *span))
        for span in spans
    )


def _echoes(text: str, end: int, question: str) -> bool:
    """Does the reply say nothing but words of the question up to here, and doubt none of it?"""
    if end > len(question) + _LONGER:
        return False
    said = {each.form for each in words(text, 0, end)}
    return said <= {each.form for each in words(question)} and said.isdisjoint(_DOUBTING - {"not", "no", "if"})


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    reason = _REASON.search(text, start, end)
    end = start + len(text[start : reason.start() if reason else end].rstrip(" .!。！*"))
    start = _behind_lead(text, start)
    shown = _SHOWN_BEHIND.search(text, start, end)
    return min(start, end), shown.start() if shown and shown.end() == end else end


def _behind_lead(text: str, start: int = 0) -> int:
    """Where a sentence begins behind what only leads in to it."""
    for _ in range(_LEADS):
        lead = _LEAD.match(text, start)
        start = lead.end() if lead else start
    return start


def shared_order(asked_words: list[str], said: list[str]) -> float:
    """How many of the words that two sentences share stand in one order, as a share of them (their longest common subsequence)."""
    shared = set(asked_words) & set(said)
    one, other = ([word for word in dict.fromkeys(each) if word in shared] for each in (asked_words, said))
    longest = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for at, each in enumerate(other, start=1):
            above = longest[at]
            longest[at] = diagonal + 1 if word == each else max(above, longest[at - 1])
            diagonal = above
    return longest[-1] / len(shared) if shared else 0.0


def around_blank(asking: str) -> tuple[list[str], list[str]] | None:
    """The words before and behind the one blank of a sentence; None where it has none, or several."""
    forms = [each.form for each in words(asking)]
    if forms.count(BLANK) != 1 or not 3 < len(forms) <= MOST_WORDS:
        return None
    return forms[: forms.index(BLANK)], forms[forms.index(BLANK) + 1 :]


def fills(gap: tuple[list[str], list[str]], before: list[str], behind: list[str]) -> bool:
    """Are these the words around a blank?"""
    return bool(before) and (before, behind) == gap


def one_polarity(asked_words: list[str], said: list[str]) -> bool:
    """Do two sentences agree in the words that turn a sentence over or narrow it: not, without, most, the superlatives?"""
    one, other = (
        {each for each in forms if each in _DECISIVE or each.endswith("est")} for forms in (asked_words, said)
    )
    one, other = one - {"total", "all"}, other - {"total", "all"}
    return other in (one, one | {"only"})
