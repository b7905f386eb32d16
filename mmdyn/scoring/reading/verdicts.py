"""Verdicts on options: "B is correct", AC正确, each option judged in turn, a table of options with a column of verdicts."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.labels import Labels, Picks
from mmdyn.scoring.reading.options import Options
from mmdyn.scoring.reading.resolve import Conflict, Read
from mmdyn.scoring.reading.response import Response
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
    r"(?i)(?:\b(?:if|suppose|assum(?:e|ing)|whether|when|unless|except|besides|neither|nor|(?:how\smany|which|one|some|none)\sof)"
    r"\s(?:for\s|that\s)?|若|如果|假设|假如|除了?|并非)\W{0,3}(?:option\s|选项)?\W{0,3}$"
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
_UNIT = re.compile(r"(?:^|[\n;,。.!])[\s(\[【\-•\d]{0,8}(?:(?i:option|choice)\s|选项)?[\s(\[【]{0,3}$")
_DANGLES = re.compile(r"(?:因为|因此|所以|由于|\b(?:because|since|so|and|but|therefore)|[,:、(])\s*$", re.IGNORECASE)
_CLOSED = re.compile(r"(?:[.!。;)\]]|right|wrong|correct|true|false|正确|错误|[对错√×✓✗])$", re.IGNORECASE)
_LONGEST_JUDGED, _BEFORE = 4_000, 24
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


def called_right(response: Response, reader: Labels, options: Options) -> Read:
    """Options that are called right ("B is correct", AC正确): one alone, or one list; never one that is also called wrong."""
    right, wrong, at = list[Picks](), set[str](), 0
    if _DANGLES.search(response.flat[-20:]) or _UNSURE.search(response.low):
        return None
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
    if not right or len({picks.labels for picks in right}) > 1 or wrong.intersection(right[-1].labels):
        return Conflict() if len({picks.labels for picks in right}) > 1 else None
    return right[-1], "verdict"


def _verdict_on(response: Response, options: Options, picks: Picks) -> re.Match[str] | None:
    """The verdict behind labels, or behind the one option's text that follows its label."""
    verdict = _VERDICT.match(response.flat, picks.end)
    if verdict or len(picks.labels) != 1:
        return verdict
    end = options.behind(picks.labels[0], response.flat, picks.end)
    return _VERDICT.match(response.flat, end) if end > picks.end else None


def _speaks_of_option(flat: str, picks: Picks, at: int, verdict: re.Match[str]) -> bool:
    """Is the verdict on an option, and meant? "If A is true" is not; words between label and verdict need 选项 or 项."""
    if _SUPPOSED.search(flat, max(0, at - 30), at):
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
