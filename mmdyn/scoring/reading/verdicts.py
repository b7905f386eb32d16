"""Verdicts on options: "B is correct", AC正确, each option judged in turn, a table of options with a column of verdicts."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.labels import Labels, Picks
from mmdyn.scoring.reading.options import Options
from mmdyn.scoring.reading.resolve import Conflict, Read
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.several import BUT, THE_OPTIONS, all_but
from mmdyn.scoring.reading.tables import Table, tables_of

_VERDICT = re.compile(
    r"[\s)\]】']{0,4}(?:\([^()\n]{0,80}\)\s?)?"
    r"(?:(?:is|are|seems?(?:\sto\sbe)?|must\sbe|has\sto\sbe|(?P<maybe>(?:might|may|could|can)(?:\salso)?\sbe))\s"
    r"(?:(?:also|both|all|clearly|therefore|thus|indeed|the|a|only|most)\s){0,3}"
    r"(?P<no>not\s(?:the\s)?)?(?P<english>correct|right|valid|true|accurate|best|wrong|false|incorrect|invalid|answer"
    r"|one\s(?:we|i)\s(?:want|need|choose|pick|should\schoose|are\slooking\sfor))\b"
    r"|(?P<as>as\s(?:the|my|our)\s(?:final\s|correct\s|right\s)?(?:answer|choice))\b"
    r"|(?P<gap>(?:选项|两项|三项|项)?[^,;:、。.\nA-Z]{0,40}?)"
    r"(?P<chinese>不正确|不对|不符合|不成立|正确|错误|有误|符合题意|成立|最合适|最恰当|最准确|最佳|[对错](?=的?[\s,;。.]|$)))"
)
_WRONG = frozenset({
    "wrong", "false", "incorrect", "invalid", "不正确", "不对", "不符合", "不成立", "错误", "有误", "错",
})  # fmt: skip
_SUPPOSED = re.compile(
    rf"(?i)\b(?:all|every|each|any)(?:thing|one)?(?:\s{THE_OPTIONS})?{BUT}\W{{0,3}}$"
    r"|(?:\b(?:if|suppose|assum(?:e|ing)|whether|when|unless|except|besides|neither|nor|(?:how\smany|which|one|some|none)\sof)"
    r"\s(?:for\s|that\s)?|若|如果|假设|假如|除了?|并非|(?<![a-z])[a-z](?:\s?[-–—~至到]|\s(?:to|through)\s))\W{0,3}(?:option\s|选项)?\W{0,3}$"
)
_NAMED = re.compile(
    r"(?i)\b(?:plan|vitamin|team|hepatitis|type|class|grade|group|phase|point|line|figure|section|appendix|block|size|drive)\s$"
)
"""Before a letter that is a part of a name."""
_ALSO_BEHIND = re.compile(
    r"[)\]\s]{0,4}(?:(?:is|are|does)\s)?(?:also|too|as\swell|likewise)\b|(?:选项|项)?(?:也|同样|亦)"
)
_ALSO_BEFORE = re.compile(
    r"(?:\b(?:also|plus|so\s(?:is|are|does)|along\swith|as\swell\sas)|还有|以及|加上)\s?(?:option\s|选项)?[(\[]?$"
)
_REACHED = re.compile(
    r"(?i)(?<!\bif\s)\b(?:(?:we|i)\s(?:get|got|obtain|have|take)|gives?|giving|leaves?|leaving|yields?)\s(?:us\s)?(?:with\s)?(?:option\s)?\W{0,3}$"
)
_GAPS = ("", "也", "都", "均", "皆", "才", "则", "是", "为", "都是", "说法", "的说法", "说法是")
_SEEMS = re.compile(r"看似|似乎|好像|貌似|未必|不一定|是否")
_UNSURE = re.compile(r"\b(?:unsure|not\s(?:so\s)?sure|uncertain|not\scertain)\b|不确定|说不准")
_JUDGED = re.compile(
    r"\b(?P<no>(?:not|n't)\s(?:the\s|a\s)?)?(?:(?P<right>correct|right|true|valid)|(?P<wrong>incorrect|wrong|false|invalid|untrue))\b"
    r"|(?P<not>不|没有?)?(?:(?P<true>正确|符合题意|成立|对(?=的?[\s,;。.]|$))|(?P<false>错误|有误|错(?=的?[\s,;。.]|$)))",
    re.IGNORECASE,
)
_UNIT_BEHIND = r"(?:^|[\n;,。.!]%s)[\s(\[【\-•\d]{0,8}(?:(?i:option|choice)\s|选项)?[\s(\[【]{0,3}$"
_UNIT = re.compile(_UNIT_BEHIND % "")
_MARKED = re.compile(_UNIT_BEHIND % r"|[✓✔✅☑√✗✘✕❌×|]|(?i:true|false|correct|right|wrong)(?=\s)")
_DANGLES = re.compile(r"(?:因为|因此|所以|由于|\b(?:because|since|so|and|but|therefore)|[,:、(])\s*$", re.IGNORECASE)
_CLOSED = re.compile(r"(?:[.!。;)\]]|right|wrong|correct|true|false|正确|错误|[对错√×✓✗])$", re.IGNORECASE)
_PLAIN = re.compile(
    r"\s?(?:\([^()\n]{0,80}\))?[\s.:()\]】、,|\-–—]{0,8}(?:(?:this\s|the\s)?(?:option|statement|it)\s|选项|项|的?说法)?(?P<is>(?:is|seems)\s|是(?=[正错不对符否]))?"
    r"(?:(?P<yes>✓|✔|✅|☑|√|(?i:correct|right|true|valid|yes)\b|正确|符合题意|对|是)"
    r"|(?P<no>✗|✘|✕|❌|×|(?i:incorrect|wrong|false|invalid|untrue|no|not\s(?:correct|true|right))\b|不正确|不对|不符合题意|错误|错|否))(?=[\s)\].,;:。、—–-]|$)"
)
_OPEN_MARK = re.compile(r"\?|\b(?:or|maybe|perhaps|might)\b|可能|或")
_ASKED_WRONG = re.compile(
    r"\b(?:incorrect|wrong|false|untrue|invalid|not\s(?:correct|true|right|valid))\s(?:ones?|options?|statements?|choices?|answers?|of)\b"
    r"|\b(?:which|what|that)\s(?:[\w']+\s){0,5}?(?:not|incorrect|wrong|false|untrue)\b|\b(?:ask(?:s|ed|ing)?|looking)\s(?:for|to|us|which|about)\b"
    r"|\b(?:ask(?:s|ed|ing)?|want(?:s|ed)?)\b[^.\n]{0,40}\b(?:incorrect|wrong|false|untrue|not)\b"
    r"|(?:不正确|错误|不对|有误|不符合[^,。\n]{0,6}|不成立)的(?:是|有|选项|说法|一项|一个|叙述|项)|[选问找](?:出)?(?:的是)?(?:错|不正确|不对|不符)|问[^。\n]{0,6}(?:错|不)"
)
_LONGEST_JUDGED, _BEFORE, _LEADS, _FEWEST_MARKS = 4_000, 24, 70, 2
_VERDICT_HEAD = re.compile(
    r"(?:is\sit\s)?(?:correct|right|true|valid)(?:\s?(?:/|or)\s?(?:incorrect|wrong|false|invalid))?\s?\??|verdict|judge?ment|status"
    r"|是否(?:正确|符合题意|应选)|判断|对错|正误|正确性",
    re.IGNORECASE,
)
_CELL = re.compile(
    r"\s*(?:(?P<yes>yes|y|true|t|correct|right|valid|√|✓|✔|✅|☑|正确|对|是|符合)|(?P<no>no|n|false|f|incorrect|wrong|invalid|×|✗|✘|✕|❌|错误|错|否|不正确|不对|不符合))"
    r"[\s️.。]*",
    re.IGNORECASE,
)


def called_right(response: Response, reader: Labels, options: Options, several: bool = False) -> Read:
    """Options that are called right ("B is correct", AC正确): one alone, or one list; never one that is also called wrong.

    Of `several` all that are called right, where every option that is named is judged.
    """
    right, wrong, at = list[Picks](), set[str](), 0
    if _DANGLES.search(response.flat[-20:]) or _UNSURE.search(response.low):
        return None
    but = all_but(response, reader)
    if but:
        labels, start, end = but
        clear = several or len(labels) == 1
        return (
            (Picks(labels, start, end), "verdict") if clear and labels and not _asks_for_wrong(response) else Conflict()
        )
    while match := reader.mention.search(response.flat, at):
        picks = reader.read(response.flat, match.start(), as_subject=True)
        at = max(match.end(), picks.end if picks else 0)
        verdict = picks and _verdict_on(response, options, picks)
        if not picks or not verdict or not _speaks_of_option(response.flat, picks, match.start(), verdict):
            continue
        if verdict["maybe"]:
            return None
        if verdict["no"] or (verdict["english"] or verdict["chinese"]) in _WRONG:
            wrong.update(picks.labels)
        else:
            right.append(picks)
    if several and right:
        return _all_right(response, reader, right, wrong)
    if not right or len({picks.labels for picks in right}) > 1 or wrong.intersection(right[-1].labels):
        return Conflict() if len({picks.labels for picks in right}) > 1 else None
    return right[-1], "verdict"


def _all_right(response: Response, reader: Labels, right: list[Picks], wrong: set[str]) -> Read:
    """What is called right in one list, to which no other option is added, or in turn where all options are judged."""
    chosen = {label for picks in right for label in picks.labels}
    in_turn = len({picks.labels for picks in right}) > 1
    judged = chosen | wrong
    if not all(picks.labels for picks in right) or chosen & wrong or (in_turn and judged != set(reader.labels)):
        return Conflict()
    named = [
        reader.read(response.flat, each.start(), as_subject=True) for each in reader.mention.finditer(response.flat)
    ]
    others = [picks for picks in named if picks and not judged.issuperset(picks.labels)]
    a_list = not in_turn and len(chosen) > 1
    if any(not a_list or _added(response.low, picks) for picks in others) or _asks_for_wrong(response):
        return Conflict()
    return Picks(reader.ordered(list(chosen)), right[0].start, right[-1].end), "verdict"


def _added(low: str, picks: Picks) -> bool:
    """Is a label named in addition: "also D", "D as well", D也?"""
    return bool(
        _ALSO_BEHIND.match(low, picks.end) or _ALSO_BEFORE.search(low, max(0, picks.start - _LEADS), picks.start)
    )


def _asks_for_wrong(response: Response) -> bool:
    """Is it said that the wrong options are asked for, or may it be?"""
    return bool(_ASKED_WRONG.search(response.low))


def judged_behind(response: Response, reader: Labels, options: Options, picks: Picks) -> bool:
    """Is the one label that was read the first of several that are judged ("A: true, B: false")?"""
    if len(picks.labels) != 1:
        return False
    verdict = _plain_verdict(response, options, picks.labels[0], picks.end)
    return bool(verdict and reader.mention.search(response.flat, verdict.end(), verdict.end() + _BEFORE))


def all_judged(response: Response, reader: Labels, options: Options) -> Read:
    """Every option is marked in turn, right behind its label or its text: "A: true", "B. London ✗", C：正确."""
    flat = response.flat.rstrip()
    if len(flat) > _LONGEST_JUDGED:
        return None
    units = [
        each
        for each in reader.mention.finditer(flat)
        if _MARKED.search(flat, max(0, each.start() - _BEFORE), each.start())
    ]
    names = [each[0] for each in units]
    stops = [each.start() for each in units[1:]] + [len(flat)]
    found = [_plain_verdict(response, options, unit[0], unit.end()) for unit in units]
    marked = [each for unit, each in zip(units, found, strict=True) if each and _is_mark(flat, unit.end(), each)]
    if len(marked) < _FEWEST_MARKS:
        return None
    if sorted(names) != sorted(reader.labels) or not all(found) or _asks_for_wrong(response):
        return Conflict()
    chosen = list[str]()
    for name, stop, verdict in zip(names, stops, found, strict=True):
        assert verdict
        yes = bool(verdict["yes"])
        if _differs(flat, verdict.end(), stop, yes):
            return Conflict()
        chosen += [name] if yes else []
    return (Picks(reader.ordered(chosen), units[0].start(), len(flat)), "judged") if chosen else Conflict()


def _plain_verdict(response: Response, options: Options, label: str, at: int) -> re.Match[str] | None:
    """The verdict that stands right behind a label, or behind its text or words in brackets."""
    end = options.behind(label, response.flat, at) if label in options.labels else at
    return _PLAIN.match(response.flat, end)


def _is_mark(flat: str, end: int, verdict: re.Match[str]) -> bool:
    """Is it a mark or a word set off from its label, and not said in a sentence (A正确)?"""
    at = verdict.start(verdict.lastgroup or 0)
    return not verdict["is"] and (not flat[at].isalpha() or bool(flat[end:at].strip()))


def _differs(flat: str, start: int, end: int, right: bool) -> bool:
    """Does a stretch behind a verdict say otherwise?"""
    said = {
        bool(each["right"] or each["true"]) != bool(each["no"] or each["not"])
        for each in _JUDGED.finditer(flat, start, end)
    }
    return bool(said - {right}) or bool(_OPEN_MARK.search(flat, start, end))


def _verdict_on(response: Response, options: Options, picks: Picks) -> re.Match[str] | None:
    """The verdict behind labels, or behind the one option's text that follows its label."""
    verdict = _VERDICT.match(response.flat, picks.end)
    if verdict or len(picks.labels) != 1:
        return verdict
    end = options.behind(picks.labels[0], response.flat, picks.end)
    return _VERDICT.match(response.flat, end) if end > picks.end else None


def _speaks_of_option(flat: str, picks: Picks, at: int, verdict: re.Match[str]) -> bool:
    """Is the verdict on an option, and meant? "If A is true" is not; words between label and verdict need 选项 or 项."""
    if _SUPPOSED.search(flat, max(0, at - _LEADS), at) or _NAMED.search(flat, max(0, at - _LEADS), at):
        return False
    if verdict["as"]:
        return bool(_REACHED.search(flat, max(0, at - 30), at))
    gap = (verdict["gap"] or "").strip()
    if _SEEMS.search(gap):
        return False
    return gap in _GAPS or gap[0] in "选项两三" or "项" in flat[max(0, at - 3) : picks.end]


def judged_in_turn(response: Response, reader: Labels, options: Options) -> Read:
    """Every option is judged, in a table or one after the other.

    A column that says which options are right counts whatever it says. In prose one right option counts among two or more
    wrong ones: of three right and one wrong, only the question tells which was asked for.
    """
    for table in reversed(tables_of(response)):
        right = _right_rows(table, response, reader)
        if right:
            return Picks(reader.ordered(right), table.rows[0][0][0], table.rows[-1][-1][1]), "judged"
    return _one_right(response, reader)


def _right_rows(table: Table, response: Response, reader: Labels) -> list[str]:
    """The options whose rows say that they are right; none unless every option has its row and every row its verdict."""
    verdicts = [_CELL.fullmatch(response.flat, *cell) for cell in table.column(response, _VERDICT_HEAD)]
    named = [reader.alone(response.flat[slice(*row[0])]) for row in table.rows]
    labels = [picks.labels[0] for picks in named if picks and len(picks.labels) == 1]
    if sorted(labels) != sorted(reader.labels) or len(verdicts) != len(labels) or not all(verdicts):
        return []
    return [label for label, verdict in zip(labels, verdicts, strict=True) if verdict and verdict["yes"]]


def _one_right(response: Response, reader: Labels) -> Read:
    flat = response.flat.rstrip()
    if len(flat) > _LONGEST_JUDGED or len(reader.labels) < 3 or not _CLOSED.search(flat[-20:]):
        return None
    units = [
        each
        for each in reader.mention.finditer(flat)
        if _UNIT.search(flat, max(0, each.start() - _BEFORE), each.start())
    ]
    if sorted(each[0] for each in units) != sorted(reader.labels):
        return None
    stops = [each.start() for each in units[1:]] + [len(flat)]
    verdicts = [_judged(flat, unit.end(), stop) for unit, stop in zip(units, stops, strict=True)]
    if None in verdicts or sum(map(bool, verdicts)) != 1:
        return None
    at = verdicts.index(True)
    return Picks((units[at][0],), units[at].start(), units[at].end()), "judged"


def _judged(flat: str, start: int, end: int) -> bool | None:
    """What a stretch says of its option; None where it says nothing, or both."""
    said = {
        bool(each["right"] or each["true"]) != bool(each["no"] or each["not"])
        for each in _JUDGED.finditer(flat, start, end)
    }
    return said.pop() if len(said) == 1 else None
