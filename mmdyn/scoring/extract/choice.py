"""Reads single-choice and multi-select answers: announced, alone, concluded, judged in turn, or an option's text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from mmdyn.scoring.extract.announcements import (
    DENIED,
    NAME,
    Announced,
    Candidate,
    Conflict,
    Rank,
    announcements,
    behind,
    content,
    meant,
    resolve,
    taken_back,
)
from mmdyn.scoring.extract.labels import Labels, OptionTexts, Picks, labels_of
from mmdyn.scoring.extract.response import Asked, Extraction, Response, conflict, found, nothing
from mmdyn.scoring.extract.tables import pattern
from mmdyn.task_types import kind_of

_ASKS_FOR_WRONG = re.compile(r"\b(?:not|incorrect|false|wrong|except|least|cannot|never)\b|不|错误|有误|除", re.I)
_RIGHT = pattern("unmeant.right")
_EXCEPT = ("but ", "except ", "than ", "through ", "除", "除了")
_LAST = re.compile(r"[.!?。\n]")


def judged(response: Response, labels: Labels, asked: Asked) -> tuple[Picks, str] | Conflict | None:
    """The options that are called right, where all options are judged, or where the last sentence does so.

    Nothing where the question asks for wrong ones. A Conflict where one option is called both.
    """
    verdicts = list(_verdicts(response, labels))
    right = {label: place for label, truth, place in verdicts if truth}
    wrong = {label for label, truth, _ in verdicts if not truth}
    if not right or _ASKS_FOR_WRONG.search(asked.question):
        return None
    if wrong & right.keys():
        return Conflict()
    start, end = response.last_line()
    last = max(start, *(mark.end() for mark in _LAST.finditer(response.flat, 0, max(start, end - 1))), 0)
    all_judged = len(wrong) + len(right) == len(labels.labels)
    one_of_several = not kind_of(asked.task_type).several and len(right) == 1 <= len(wrong)
    if not (all_judged or one_of_several) and min(right.values()) < last:
        return None
    return Picks(labels.ordered(list(right)), min(right.values()), max(right.values()) + 1), "judged"


def _verdicts(response: Response, labels: Labels) -> Iterator[tuple[str, bool, int]]:
    """What each option is called (True: right), and where."""
    low, at = response.low, 0
    while mention := labels.mention.search(response.flat, at):
        picks = labels.read(response.flat, mention.start())
        at = max(mention.end(), picks.end if picks else 0)
        truth = _truth(low, at)
        if picks and truth is not None and meant(response, picks.start) and not low.endswith(_EXCEPT, 0, picks.start):
            yield from ((label, truth, picks.end - 1) for label in picks.labels)


def _truth(low: str, end: int) -> bool | None:
    """What is said right behind labels."""
    while low[end : end + 1] in (")", "]", "】"):
        end += 1
    return False if DENIED.match(low, end) else True if _RIGHT.match(low, end) else None


_Read = tuple[Picks, str] | Conflict | None

_CONCLUDES = re.compile(
    r"[)\]}】\s]{0,6}(?:[.,;:。、!?]|$|\n|<|because|since|as\s(?:the|my)\b|is\sthe"
    r"|here\s{0,3}(?:[.,;!]|$|\n)|选项|项)"
)
_AT_END = re.compile(r"(?:\((?:option\s|choice\s)?|\b(?:option|choice)\s)([A-Z])\)?[\s.。]{0,9}$", re.IGNORECASE)
_COPULA = re.compile(r"\b(?:is|are|was|were|equals)\s|是|为|等于|[=≈]")
_FIRST = re.compile(r"[,;:!。]|\.(?!\d)|\s(?:because|since|as)\s|\n")
_BESIDE = re.compile(r"[*`\s]{0,4}(?:\(([^()]+)\)|[):.\]、,-]{1,2}\s{0,3}(.+))")
_QUOTES = " \t\"'“”‘’「」『』《》*`:"
_LONGEST_ALONE, _LONGEST_LINE = 60, 400


def read_choice(response: Response, asked: Asked) -> Extraction:
    """The labels that a response chooses, in the options' order: exactly one unless several may be right."""
    several = kind_of(asked.task_type).several
    reply = _Reply(response, labels_of(asked.labels), OptionTexts(asked.labels, asked.option_texts), several)
    read = reply.announced()
    if not read and not (response.cut_off or response.truncated):
        read = reply.whole() or reply.line() or judged(response, reply.labels, asked) or reply.ending() or reply.said()
    if not read:
        return nothing(response)
    if isinstance(read, Conflict) or reply.taken_back(read[0]):
        return conflict()
    picks, rule = read
    fits = (len(picks.labels) == 1 and not reply.contradicted(picks)) or (several and picks.labels)
    return found(response, picks.labels, rule, picks.start, picks.end) if fits else conflict()


class _Reply(Struct, frozen=True, gc=False):
    """A response to a question with these labels and options. Each method is a way to read it."""

    response: Response
    labels: Labels
    options: OptionTexts
    several: bool

    def announced(self) -> _Read:
        """What the announcements that count say."""
        candidates = [self._candidate(phrase) for phrase in announcements(self.response, "choice")]
        last = resolve([each for each in candidates if each], self.response)
        return (Picks(last.value or (), last.start, last.end), last.rule) if isinstance(last, Candidate) else last

    def _candidate(self, phrase: Announced) -> Candidate[tuple[str, ...]] | None:
        """What a phrase announces: labels, an option's text, or a value with its label in brackets."""
        flat = self.response.flat
        picks = self._picked(phrase.end)
        if picks and phrase.rule == "corrected" and flat[: phrase.start].endswith(("(", "（")):
            return Candidate(None, picks.start, picks.end, phrase.rank, phrase.rule, hedged=True)  # "B (I mean C)"
        if picks and picks.labels and self.response.ends(picks.end):
            return Candidate(picks.labels, picks.start, picks.end, phrase.rank, phrase.rule)
        if picks:
            said = behind(self.response, picks.end)
            if said == "denied" or (phrase.ends and not _CONCLUDES.match(flat, picks.end)):
                return None
            if said == "open" or self._goes_on(picks):
                return Candidate(None, picks.start, picks.end, phrase.rank, phrase.rule, hedged=True)
            picks = self._with_listed(picks) if phrase.rank > Rank.CONCLUDED else picks
        elif phrase.rank > Rank.CONCLUDED:
            start, end = content(self.response, phrase)
            picks = self._by_text(start, end)
            if not picks and phrase.rule == "slot" and flat[start:end].strip():
                return Candidate(None, start, end, phrase.rank, phrase.rule)
        if not picks:
            return None
        value = picks.labels or None
        return Candidate(value, picks.start, picks.end, phrase.rank, phrase.rule, hedged=not value)

    def _picked(self, at: int) -> Picks | None:
        """The labels that stand at a place, or the option whose text is a name that begins there: "E. coli"."""
        picks = self.labels.read(self.response.flat, at)
        named = self.options.initialled(self.response.low, picks.start) if picks and len(picks.labels) == 1 else None
        return Picks((named[0],), picks.start, picks.start + len(named[1])) if picks and named else picks

    def _with_listed(self, picks: Picks) -> Picks:
        """The labels, with those that stand in front of options' texts behind them; as they are where one is named
        twice."""
        picked = [*picks.labels, *self.labels.listed(self.response.flat, picks.end)]
        return Picks(self.labels.ordered(picked), picks.start, picks.end) if len(set(picked)) == len(picked) else picks

    def _by_text(self, start: int, end: int) -> Picks | None:
        """A stretch that is an option's text, a list of such texts, or ends with a label in brackets."""
        text = self.response.text[start:end].strip(_QUOTES)
        first = self.options.exact(_FIRST.split(text, maxsplit=1)[0].strip(_QUOTES))
        label = self.options.exact(text) or (first if first and self._only(first, start, end) else None)
        picked = (label,) if label else self.options.listed(text) if self.several else ()
        bracket = None if picked else _AT_END.search(self.response.flat, start, end)
        if bracket and bracket[1].upper() in self.labels.labels and meant(self.response, bracket.start()):
            return Picks((bracket[1].upper(),), *bracket.span(1))
        return Picks(picked, start, end) if picked else None

    def whole(self) -> _Read:
        """The whole response is a label, several, or an option's text."""
        start, end = self.response.first_line()[0], len(self.response.flat.rstrip())
        return self._bare(start, end, "alone")

    def _bare(self, start: int, end: int, rule: str) -> _Read:
        text = self.response.text[start:end].strip(_QUOTES)
        picks = self.labels.alone(self.response.flat[start:end]) if end - start <= _LONGEST_ALONE else None
        if picks:
            return Picks(picks.labels, start + picks.start, start + picks.end), rule
        if label := self.options.led(text):
            return Picks((label,), start, end), rule
        label = self.options.exact(text)
        picked = (label,) if label else self.options.listed(text) if self.several else ()
        return (Picks(picked, start, end), "option_text") if picked else None

    def line(self) -> _Read:
        """A line that is an option, first or last, or (several) all lines; nothing where other lines are options,
        too."""
        flat, (last, end) = self.response.flat, self.response.last_line()
        led = list(self._led_lines())
        names = list(dict.fromkeys(self.labels.names[match["label"]] for match in led))
        lines = [line for line in flat.split("\n") if line.strip()] if self.several else []
        options = [line for line in lines if self.labels.alone(line) or self.options.led(line)]
        if len(names) == len(led) == len(lines) == len(options) > 1:
            return Picks(self.labels.ordered(names), led[0].start("label"), led[-1].end("label")), "line"
        for match in (led[-1], led[0]) if len(names) == 1 else ():
            edge = match.start() >= last or match.start() <= self.response.first_line()[0]
            picks = self._picked(match.start("label"))
            if edge and picks and len(picks.labels) == 1 and not self.labels.listed(flat, match.end()):
                return picks, "line"
        before = flat[:last].rstrip().rpartition("\n")[2]
        return None if self.labels.led.match(before) else self._bare(last, end, "line")

    def _led_lines(self) -> Iterator[re.Match[str]]:
        """The lines that begin with a label that is not called wrong there."""
        start = 0
        while start >= 0:
            led = self.labels.led.match(self.response.flat, start)
            if led and not behind(self.response, led.end("label")):
                yield led
            start = self.response.flat.find("\n", start) + 1 or -1

    def ending(self) -> _Read:
        """The last line ends with a label in brackets, or with "option C", and names no other."""
        start, end = self.response.last_line()
        label = _AT_END.search(self.response.flat, start, end)
        if not label or label[1] not in self.labels.labels or not meant(self.response, label.start()):
            return None
        others = set(self.labels.mention.findall(self.response.flat, start, end)) - {label[1]}
        alone = not self.response.flat[start : label.start()].strip()
        return None if others or alone else (Picks((label[1],), *label.span(1)), "concluded")

    def said(self) -> _Read:
        """The last line ends by saying that something is an option's text, or the response opens with one, and names no
        other."""
        text, (start, end) = self.response.text, self.response.last_line()
        for copula in reversed(list(_COPULA.finditer(self.response.low, max(start, end - _LONGEST_LINE), end))[-2:]):
            label = self.options.exact(text[copula.end() : end].strip(_QUOTES))
            if label and meant(self.response, copula.end()) and self._only(label, start, end):
                return Picks((label,), copula.end(), end), "said"
        first = self.response.first_line()[0]
        opening = _FIRST.search(text, first) if end - first <= _LONGEST_LINE else None
        label = self.options.exact(text[first : opening.start()]) if opening else None
        if label and opening and self._only(label, 0, end):
            return Picks((label,), first, opening.start()), "said"
        return None

    def _only(self, label: str, start: int, end: int) -> bool:
        """Is no other option's text in a stretch of the response?"""
        return not self.options.mentioned(self.response.low[start:end]) - {label}

    def _goes_on(self, picks: Picks) -> bool:
        """Is a further letter named beside the labels, which is neither called wrong nor of the option's text?"""
        further = self.labels.another(self.response.flat, picks.end)
        if further < 0 or behind(self.response, further) == "denied" or self._beside(picks):
            return False
        line = self.response.text[picks.start :].partition("\n")[0]
        return not self.options.led(line.rstrip(f"{_QUOTES}.。"))

    def contradicted(self, picks: Picks) -> bool:
        """Is the text beside a label that of another option ("B (Rome)"), or the label an initial ("B. B. King")?"""
        name = NAME.match(self.response.text, picks.start) if picks.end == picks.start + 1 else None
        if name and self.options.is_name(picks.labels[0], name["words"].lower(), several=bool(name["more"])):
            return True
        named = self._beside(picks)
        return bool(named) and named not in picks.labels

    def _beside(self, picks: Picks) -> str | None:
        """The label of the option whose text stands beside labels."""
        end = self.response.flat.find("\n", picks.end)
        beside = _BESIDE.match(self.response.text, picks.end, len(self.response.text) if end < 0 else end)
        return self.options.written((beside[1] or beside[2]).strip(f"{_QUOTES}.。")) if beside else None

    def taken_back(self, picks: Picks) -> bool:
        """Is the answer taken back behind it, or a label of it called wrong: "D. …, so D is wrong"?"""
        if self.response.ends(picks.end):
            return False
        low, mentions = self.response.low, self.labels.mention.finditer(self.response.flat, picks.end)
        denied = [each.start() for each in mentions if each[0] in picks.labels and DENIED.match(low, each.end())]
        return any(meant(self.response, place) for place in denied) or taken_back(self.response, picks.end)
