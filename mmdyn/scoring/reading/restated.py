"""Reads the choice of a reply that says its question as a statement ("The plate is half full."), with the question in view.

For replies in which nothing else was read. With the options yes and no the statement is a yes; with "not" at its verb, or its comparison
turned over, it is a no. With other options, one of them stands in the place of what is asked. A word more, and nothing is read.
"""

from __future__ import annotations

import re

from msgspec import Struct

from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.wording import (
    ARTICLES,
    BLANK,
    DOUBTS,
    HAN,
    MOST_WORDS,
    MOSTLY,
    STOP,
    around_blank,
    asked,
    assertions,
    fills,
    one_polarity,
    shared_order,
    stem,
    words,
)
from mmdyn.text import numerals
from mmdyn.text.normalise import visible

_YES = frozenset({"yes", "是", "是的", "对", "有", "能", "会"})
_NO = frozenset({"no", "否", "不是", "错", "没有", "不能", "不会", "不对"})
_AUXILIARIES = frozenset({"is", "was", "do", "have", "can", "will", "should", "must"})
_ASIDE = ARTICLES | {"any", "indeed", "clearly", "also"}
_SCALES = [
    (frozenset(up.split()), frozenset(down.split()))
    for up, down in (
        ("more", "less fewer"), ("greater larger bigger", "less smaller"), ("higher", "lower"), ("longer taller", "shorter"),
        ("older", "younger"), ("heavier", "lighter"), ("faster", "slower"), ("wider", "narrower"),
        ("warmer hotter", "colder cooler"),
        ("better", "worse"), ("later", "earlier"), ("brighter", "darker"), ("thicker", "thinner"),
    )
]  # fmt: skip
"""Comparatives of one scale, and those of its other end."""
_OF_COUNTS = [(_SCALES[0][0] | _SCALES[1][0] | _SCALES[2][0], _SCALES[0][1] | _SCALES[1][1] | _SCALES[2][1])]
"""Counts are more or fewer, greater or smaller, higher or lower: all the same."""
_COMPARATIVES = frozenset[str]().union(*(up | down for up, down in _SCALES))
_SOME = frozenset(map(stem, (
    "some", "somebody", "someone", "something", "somewhere", "any", "anybody", "anyone", "anything", "one", "other",
    "another", "either", "several", "many", "much", "few", "most", "more", "less", "fewer", "least", "enough",
    "certain", "various", "numerous", "multiple", "countless", "plenty", "lot", "dozen", "hundred", "thousand",
    "million", "couple", "pair", "handful", "bunch", "group", "number", "half", "part", "portion", "fraction",
    "share", "third", "quarter", "rest", "majority", "minority", "percent", "percentage", "only", "sometimes",
    "often", "usually", "mostly", "mainly", "generally", "frequently", "occasionally", "partly", "partially", "%",
    "/", *numerals.WORDS,
)))  # fmt: skip
"""Behind these "not" denies only that these do: others may."""
_OF_ONE = re.compile(
    r"(?<!\b(?:of|in|on|by)\s)(?<!\b(?:with|from)\s)\b(?:[Aa]|an|An)\s(?!(?:is|was|does|do|did|has|can|will)\b)"
    r"[^,]{1,200}?(?:\b(?:not|no|cannot|than)\b|n[’']t\b)"
)
"""A cat is not black: one of them, unlike "the top of a tree"; the letter A as a name has its verb behind it."""
_WHOLES = frozenset(
    {"all", "both", "each", "every", "none", "number", "sum", "top", "side", "end", "value", "length", "area"}
)
"""The value of x is one thing; tons of cats are some."""
_SOME_ZH = re.compile(
    r"[一二两三四五六七八九十百千万](?!定)|\d(?!\d*年)|[%某各谁]|(?<![这那])些|有[的人时]|[多少][数于]|[许好很大最至不][多少]"
    r"|若干|部分|[几数][只个名人条张]|个别|另|其[余他]|[过大]半|半数|[通经常]常|往往"
)
_VERB_ZH = re.compile(r"是|会|能|可以|有|等于|[大小多少高低]于|属于|在|相交|平行|垂直")
_CHOSEN_ZH = re.compile(r"(?P<yes>是|有|会|能|可以?)(?P<no>不|没)(?P=yes)")
_COMPARED_ZH = re.compile(r"(?P<one>.{1,40})比(?P<other>.{1,40})(?P<how>多|少|大|小|高|低|长|短|快|慢|重|轻)")
_TURNED_ZH = dict(zip("多少大小高低长短快慢重轻", "少多小大低高短长慢快轻重", strict=True))
_YEAR = re.compile(r"[12]\d{3}")
_LOOSE_ZH = re.compile(r"[\s,.:;。、*]+")

_COPULAS = frozenset({"is", "was", "be", "equal"})
_PROGRESSIVE = re.compile(r"\b(?:what|which|who)\b[^?]{0,40}\b(?:is|are|was|were)\b.*ing$", re.IGNORECASE)
"""What is the owl eating: its subject and its object ask in one form."""
_CONDITIONS = frozenset({"if", "when"})
_WH = frozenset({"what", "which", "who", "whom"})


def restated_label(
    response: Response, question: str, labels: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[str, int, int] | None:
    """The label of a single choice, and where in `response.text` the sentence stands that says it.

    With the options yes and no the last sentence is the question as a statement; with others it is the question with one option in
    the place of what is asked. None for all that is not certain: doubted, conditional, reported, contradicted, or with a word more.
    """
    question = visible(question)[0]
    spans = assertions(response, question)
    if not spans:
        return None
    asking, (start, end) = asked(question), spans[-1]
    folded = [text.strip().lower() for text in texts]
    yes, no = ([label for label, text in zip(labels, folded, strict=False) if text in known] for known in (_YES, _NO))
    if len(yes) == len(no) == 1:
        said = [_says_yes(asking, response.text[slice(*span)]) for span in spans]
        one_way = said[-1] is not None and said[-1] not in {not each for each in said if each is not None}
        return ((yes if said[-1] else no)[0], start, end) if one_way else None
    label = None if yes or no else _named(response.text, question, asking, labels, texts, start, end)
    return (label, start, end) if label else None


def _says_yes(asking: str, said: str) -> bool | None:
    """Whether a sentence affirms or denies what is asked; None where it does neither, or more."""
    if HAN.search(asking):
        return _says_yes_zh(_LOOSE_ZH.sub("", asking), _LOOSE_ZH.sub("", said))
    question, lead = _asked_words(asking)
    statement = _claim(said)
    if (
        not question
        or {"not", "no", "or"} & {*question}
        or not 2 <= len(statement) <= MOST_WORDS
        or len(question) > MOST_WORDS
    ):
        return None
    if lead and statement[: len(lead)] == lead:
        statement = statement[len(lead) :]
    elif lead and statement[-len(lead) :] == lead:
        statement = statement[: -len(lead)]
    auxiliary, rest = question[0], question[1:]
    compared = _compared_alike(auxiliary, rest, statement)
    says = _inserted(auxiliary, rest, statement) if compared is None else compared
    return None if says is False and _of_some(said, statement, auxiliary) else says


def _of_some(said: str, statement: list[str], auxiliary: str) -> bool:
    """Is what a sentence denies denied of some only ("3 cats are not black", "a cat …")? A year is no number of things."""
    place = statement.index(auxiliary) if auxiliary in statement else len(statement)
    subject = statement if "than" in statement and statement[:1] != ["there"] else statement[:place]
    if _OF_ONE.search(said) or (subject[1:2] == ["of"] and subject[0] not in _WHOLES):
        return True
    if statement[:1] == ["there"] or subject[:2] == ["number", "of"]:
        return False
    return any(
        each in _SOME or (each[0].isdigit() and not (_YEAR.fullmatch(each) and subject[at - 1] in ("in", "year")))
        for at, each in enumerate(subject)
        if not (each in _COMPARATIVES and subject[at + 1 : at + 2] == ["than"])
    )


def _asked_words(asking: str) -> tuple[list[str], list[str]]:
    """The words of a yes/no question from its auxiliary on, and those of a phrase that leads in to it; none of any other question."""
    for comma in [0, *(each.end() for each in re.finditer(r",\s", asking[:400]))][:5]:
        question = _claim(asking[comma:])
        if question and question[0] in _AUXILIARIES:
            return question, _claim(asking[:comma])
    return [], []


def _claim(text: str) -> list[str]:
    """The words without articles and without what only links ("that are")."""
    found = [word.form for word in words(text[:2000], without=_ASIDE)]
    linked = [each in ("that", "which") and found[at + 1 : at + 2] == ["is"] for at, each in enumerate(found)]
    return [each for at, each in enumerate(found) if not linked[at] and not (at and linked[at - 1])]


def _inserted(auxiliary: str, rest: list[str], statement: list[str]) -> bool | None:
    """Is the statement the question with its auxiliary further back, and is it followed by "not"?"""
    if auxiliary == "do" and statement == rest:
        return True
    for at in range(1, len(statement)):
        if statement[at] == auxiliary:
            denied = statement[at + 1 : at + 2] == ["not"]
            if statement[:at] + statement[at + 1 + denied :] == rest:
                return not denied
            there_is_no = statement[:at] == ["there"] and statement[at + 1 : at + 2] == ["no"] and rest[1:2] != ["more"]
            if there_is_no and ["there", *statement[at + 2 :]] == rest:
                return False
        has_no = auxiliary == "do" and statement[at - 1 : at + 1] == ["have", "no"]
        if has_no and statement[:at] + statement[at + 1 :] == rest:
            return False
    return None


def _compared_alike(auxiliary: str, asked_rest: list[str], statement: list[str]) -> bool | None:
    """What a comparison says of the one that is asked: of the same two things, in either order."""
    one = _comparison([each for each in asked_rest if each != auxiliary]) if auxiliary in ("is", "was") else None
    place = statement.index(auxiliary) if auxiliary in statement else 0
    denied = statement[place + 1 : place + 2] in (["not"], ["no"])
    other = _comparison(statement[:place] + statement[place + 1 + denied :]) if one and place else None
    if not one or not other or one.how == "equal" or {*one.things} != {*other.things} or one.counted != other.counted:
        return None
    if other.how == "equal":
        return None if denied else False
    alike = _direction(other.how, one.how, one.counted)
    if alike is None or one.things[0] == one.things[1]:
        return None
    holds = alike == (one.things == other.things)
    return None if denied and not holds else holds != denied


class _Comparison(Struct, frozen=True):
    """Two things, the word that compares them (more, greater, equal), and whether their numbers are compared."""

    things: tuple[tuple[str, ...], tuple[str, ...]]
    how: str
    counted: bool


def _comparison(forms: list[str]) -> _Comparison | None:
    """What a sentence without its auxiliary compares."""
    counted = forms[:1] == ["there"]
    if forms.count("than") == 1:
        than = forms.index("than")
        at = 1 if counted else than - 1
        how, one, other = forms[at], forms[2:than] if counted else forms[:at], forms[than + 1 :]
    else:
        pairs = (["equal", "to"], ["same", "as"])
        at = next((at for at in range(1, len(forms) - 1) if forms[at : at + 2] in pairs), 0)
        how, one, other = "equal", forms[:at], forms[at + 2 :]
    if one[:2] == other[:2] == ["number", "of"]:
        counted, one, other = True, one[2:], other[2:]
    known = how == "equal" or how in _COMPARATIVES
    return _Comparison((tuple(one), tuple(other)), how, counted) if one and other and known else None


def _direction(said: str, wanted: str, counted: bool) -> bool | None:
    """Do two comparatives point one way (greater, larger), or apart (greater, less)? None where they measure different things."""
    scales = _OF_COUNTS if counted else _SCALES
    ways = {(said in up) == (wanted in up) for up, down in scales if said in up | down and wanted in up | down}
    return ways.pop() if len(ways) == 1 else None


def _says_yes_zh(asking: str, said: str) -> bool | None:
    asking = asking.removesuffix("?")
    if not 2 <= len(said) <= 100 or len(asking) > 100:
        return None
    chosen = list(_CHOSEN_ZH.finditer(asking))
    if asking.count("是否") == 1 and not chosen:
        before, behind = asking.split("是否")
        denials = ("不", "不是", "并不", "并不是") + (("没", "并没") if behind[:1] == "有" else ())
        return True if said in (before + behind, before + "是" + behind) else _denied_zh(said, before, denials, behind)
    if len(chosen) == 1 and not asking.endswith("吗"):
        before, behind = asking[: chosen[0].start()], asking[chosen[0].end() :]
        yes, no = chosen[0]["yes"], chosen[0]["no"] + chosen[0]["yes"]
        return True if said == before + yes + behind else _denied_zh(said, before, (no, "并" + no), behind)
    if not asking.endswith("吗"):
        return None
    claim, verbs = asking[:-1], list(_VERB_ZH.finditer(asking))
    if re.search("[不没未非]", claim):
        return None
    one, other = _COMPARED_ZH.fullmatch(claim), _COMPARED_ZH.fullmatch(said)
    if said == claim:
        return True
    if one and other and not _SOME_ZH.search(said) and other["how"] in (one["how"], _TURNED_ZH[one["how"]]):
        straight, crossed = one.group(1, 2) == other.group(1, 2), one.group(1, 2) == other.group(2, 1)
        return straight == (one["how"] == other["how"]) if straight != crossed else None
    if len(verbs) != 1 or one:
        return None
    denials = ("没", "并没") if verbs[0][0] == "有" else ("不", "并不")
    return _denied_zh(said, claim[: verbs[0].start()], denials, claim[verbs[0].start() :])


def _denied_zh(said: str, before: str, between: tuple[str, ...], behind: str) -> bool | None:
    """False where the sentence is what is asked with a denial before its verb; of some (三只鸟不会飞) that says nothing."""
    denied = any(said == before + each + behind for each in between) and not _SOME_ZH.search(before)
    return False if denied else None


def _named(
    text: str, question: str, asking: str, labels: tuple[str, ...], texts: tuple[str, ...], start: int, end: int
) -> str | None:
    """The one option that a reply names, if it takes the place in its last sentence of what is asked."""
    options = {label: [each.form for each in words(option[:400])] for label, option in zip(labels, texts, strict=False)}
    said = words(text, start, end)
    forms = [each.form for each in said]
    named = [label for label, option in options.items() if len(forms) <= MOST_WORDS and _places(forms, option)]
    places = _places(forms, options[named[0]]) if len(named) == 1 else []
    if len(places) != 1 or text[said[places[0] + len(options[named[0]]) - 1].end :][:1] in ("'", "’"):
        return None
    everything, all_asked = [each.form for each in words(text)], [each.form for each in words(question[-4000:])]
    others = (option for label, option in options.items() if label != named[0])
    if any(_places(everything, option) for option in others) or any(
        _places(all_asked, each) for each in options.values()
    ):
        return None
    option = options[named[0]]
    before, behind = forms[: places[0]], forms[places[0] + len(option) :]
    gap = around_blank(asking)
    if gap is not None:
        return named[0] if fills(gap, before, behind) else None
    asking_forms = [each.form for each in words(asking)]
    if before and before[0] in _CONDITIONS:
        condition = _condition(asking_forms, before)
        if not condition or "," not in text[said[len(condition) - 1].start : said[places[0]].start]:
            return None
        before, behind = [], behind + condition
    takes = not _PROGRESSIVE.search(asking) and _takes_its_place(asking_forms, before, behind)
    return named[0] if takes else None


def _condition(asking: list[str], before: list[str]) -> list[str]:
    """The condition that a question ends in, if these words are it: if the grass dies, (then) …"""
    condition = asking[asking.index(before[0]) :] if before[0] in asking else []
    return condition if before in (condition, [*condition, "then"]) else []


def _places(forms: list[str], option: list[str]) -> list[int]:
    """Where the words of an option stand; a single letter is none."""
    if not any(len(each) > 1 or each.isdigit() or HAN.match(each) for each in option) or BLANK in option:
        return []
    return [
        at
        for at in range(len(forms) - len(option) + 1)
        if forms[at] == option[0] and forms[at : at + len(option)] == option
    ]


def _takes_its_place(asking: list[str], before: list[str], behind: list[str]) -> bool:
    """Is a sentence the question, with an option for its "what", and does the option play the part that is asked for?

    It does where it comes before all the rest, as the subject; behind all the rest, as the object ("What does the owl eat?") or
    after a copula; or where an active sentence answers a passive question ("What is affected by …?").
    """
    said = before + behind
    if not _WH & {*asking} or (DOUBTS & {*said}) - {*asking} or not one_polarity(asking, said):
        return False
    kind = asking[next(at for at, each in enumerate(asking) if each in _WH) :][1:2]  # which animal
    wanted, content = ([each for each in forms if each not in STOP and each not in _WH] for forms in (asking, said))
    needed = [each for each in wanted if each not in kind]
    says_more = bool({*content} - {*wanted})
    if says_more or not content or len({*content} & {*needed}) < MOSTLY * len({*needed}):
        return False
    opens, closes = ({*forms} <= STOP for forms in (before, behind))
    with_another = not opens and before[-1] in STOP - _COPULAS and before[-1] != asking[-1]
    if with_another:  # What did the cat eat? The cat ate with the fish.
        return False
    if "by" in asking and "by" not in said:  # What is eaten by the owl? The owl eats the mouse.
        agents = {*asking[asking.index("by") :]}
        parts = [each in agents for each in content]
        return closes and parts == sorted(parts, reverse=True)
    if ("by" in said) != ("by" in asking) or opens == closes or shared_order(needed, content) < 1:
        return False
    asks_for_object = "do" in asking
    return not asks_for_object if opens else asks_for_object or before[-1] in _COPULAS
