"""Answers that only their place tells: a first or last line that is an option, a last sentence that ends in one."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.declared import UNMEANT
from mmdyn.scoring.reading.labels import Labels, Picks
from mmdyn.scoring.reading.options import Options
from mmdyn.scoring.reading.resolve import Conflict, Read
from mmdyn.scoring.reading.response import Response

_LONGEST_BARE, _LONGEST_LINE = 60, 400
_CLAUSE = re.compile(r"[,，;；(（]|\s(?:because|since|as)\s")
_SENTENCE = re.compile(r"[.!:。！](?!\d)")
_IS = re.compile(r"\b(?:is|are|was|were|equals)\s|是|为|等于|[=≈]")
_DENIED = re.compile(r"(?:不|非|未必)(?:太?可能|会|应该?|该|一定|能)?$")
_COPULAS = 2
_CALLS = ('("', "('", "( ")
_LED_DENIED = re.compile(
    r"[.:、)\]】\s]{0,4}(?:this\s|it\s|that\s)?(?:is\s)?(?:not\b|isn't|incorrect|wrong|false|错|不(?!是))",
    re.IGNORECASE,
)
_MENTIONS = re.compile(r"\(([A-Z])\)|\b(?i:option|choice)[\s(\\\[]{0,12}([A-Z])(?![A-Za-z])")
_MEANS = re.compile(
    r"(?:\b(?:is|are|be|match(?:es|ing)?|corresponds?\sto|leads?(?:\sus)?\sto|points?\sto|closest\sto|equals?)|[=≈])\s(?:the\s)?$",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"(?:\bnot|n't|\bexcept|\bunlike|\b(?:ruled?|rules|ruling)\sout|\beliminat\w+|\bexclud\w+|\bdiscard\w*|\breject\w*|不是|不|排除)[^,.;。,;]{0,24}$"
)


def option_text(response: Response, options: Options, start: int, end: int) -> Read:
    """A stretch that is an option's own words."""
    label = options.exact(response.text[start:end])
    return (Picks((label,), start, end), "option_text") if label else None


def led_lines(response: Response, reader: Labels, options: Options) -> Read:
    """Lines that begin with a label: one of them, first or last, or (several) all of them and not every option."""
    led = [match for match in reader.led.finditer(response.flat) if _leads(response.flat, match, reader)]
    names = list(dict.fromkeys(reader.named(match["label"]) for match in led))
    if not led:
        return None
    if len(names) == 1:
        (first, _), (last, _) = response.first_line(), response.last_line()
        for line, rule, here in (
            (led[-1], "last_line", led[-1].start() >= last),
            (led[0], "first_line", led[0].start() <= first),
        ):
            if here:
                return Picks((names[0],), line.start("label"), line.end("label")), rule
        return None
    written = [line for line in response.flat.splitlines() if line.strip()]
    if len(led) == len(written) == len(names) < len(reader.labels):
        return Picks(reader.ordered(names), led[0].start("label"), led[-1].end("label")), "lines"
    return None


def _last_option(response: Response, reader: Labels, options: Options, start: int, end: int) -> Read:
    """The last line is an option with its label or its text alone, and does not close a list of the options."""
    led = options.led(response.text[start:end])
    if not led:
        return option_text(response, options, start, end)
    listed = [match for match in reader.led.finditer(response.flat) if match.start() < start]
    echoes = any(options.led(_line(response, match.start())) for match in listed[-len(reader.labels) :])
    return None if echoes else (Picks((led,), start, end), "last_line")


def _line(response: Response, start: int) -> str:
    end = response.text.find("\n", start)
    return response.text[start : end if end >= 0 else None]


def _leads(flat: str, line: re.Match[str], reader: Labels) -> bool:
    """Is the line's label one that stands for itself, neither denied nor the first of a list of labels or options?"""
    picks = reader.read(flat, line.start("label"), as_subject=True)
    end = flat.find("\n", line.end())
    others = {match["label"] for match in reader.listed.finditer(flat, line.end(), end if end >= 0 else len(flat))}
    return bool(picks and len(picks.labels) == 1) and not others and not _LED_DENIED.match(flat, line.end())


def last_line(response: Response, reader: Labels, options: Options) -> Read:
    """The last line is a label, several, or an option's text, and no other line is a label that differs."""
    start, end = response.last_line()
    picks = reader.alone(response.flat[start:end])
    if not picks:
        return _last_option(response, reader, options, start, end)
    if response.flat[start + picks.start].islower():
        return None  # "b)" may be the next point of a list
    for line in response.flat[:start].splitlines():
        other = reader.alone(line) if len(line) < _LONGEST_BARE else None
        if other and other.labels != picks.labels:
            return Conflict()
    return Picks(picks.labels, start + picks.start, start + picks.end), "last_line"


def ending(response: Response, reader: Labels, options: Options) -> Read:
    """The last line ends in (C), in (C) with that option's text, or by saying that something is option C, and names no other."""
    start, end = response.last_line()
    mentions = list(_MENTIONS.finditer(response.flat, max(start, end - _LONGEST_LINE), end))
    named = {mention[1] or mention[2] for mention in mentions}
    if len(named) != 1 or not named <= set(reader.labels):
        return None
    last, label = mentions[-1], named.pop()
    before = response.low[max(start, last.start() - 60) : last.start()]
    rest = response.text[last.end() : end].strip(" .。)\\]}*`\"'")
    if not before.strip() or before[-2:] in _CALLS or _RULED_OUT.search(before):
        return None
    if UNMEANT.search(response.low, start, last.start()):
        return None
    if (rest and options.exact(rest.lstrip(".:、 ")) != label) or (
        not last[1] and not rest and not _MEANS.search(before)
    ):
        return None
    at = last.start(1 if last[1] else 2)
    return Picks((label,), at, at + 1), "ending"


def last_words(response: Response, reader: Labels, options: Options) -> Read:
    """The last line ends by saying that something is an option's text, and names no other option."""
    start, end = response.last_line()
    copulas = list(_IS.finditer(response.low, max(start, end - _LONGEST_LINE), end))[-_COPULAS:]
    for copula in reversed(copulas):
        if _DENIED.search(response.low, max(start, copula.start() - 6), copula.start()):
            return None
        if options.too_long(response.text[copula.end() : end].strip()):
            return None
        if reader.alone(response.flat[copula.end() : end]):
            return None
        label = options.exact(response.text[copula.end() : end])
        if label:
            others = options.mentioned(response.low[start:end]) - {label}
            return None if others else (Picks((label,), copula.end(), end), "last_words")
    return None


def first_words(response: Response, reader: Labels, options: Options) -> Read:
    """The response opens with an option's text ("Yes, as the image shows …") and names no other option."""
    start, end = response.first_line()
    clause = _CLAUSE.search(response.text, start, end) or _SENTENCE.search(response.text, start, end)
    if not clause:
        return None
    label = options.exact(response.text[start : clause.start()])
    if not label or options.mentioned(response.low) - {label}:
        return None
    return Picks((label,), start, clause.start()), "option_text"
