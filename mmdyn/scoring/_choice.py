"""Reads single-choice and multi-select answers by tiers, from sure to less sure; the first that finds something decides."""

from __future__ import annotations

import re
from typing import TypeAlias

from mmdyn.scoring._declared import CHOICES, Declared, Rank, declared
from mmdyn.scoring._extraction import Extraction, conflict, found, nothing
from mmdyn.scoring._labels import Labels, Options, Picks, labels_of, options_of
from mmdyn.scoring._resolve import Candidate, Conflict, content, resolve, weak_phrases
from mmdyn.scoring._response import Response

Read: TypeAlias = "tuple[Picks, str] | Conflict | None"
"""Labels and the rule that read them; a conflict; or nothing, and the next tier looks."""

_LONGEST_ALONE, _LONGEST_BARE = 400, 60
_CONCLUDED = re.compile(r"[)\]}】\s]{0,6}(?:[.,;:。、!]|$|\n|<|because|since|option|as\s(?:the|my)\b|选项|项)")
_CLAUSE = re.compile(r"[,，;；(（]|\s(?:because|since|as)\s")
_QUOTES = " \t\"'“”‘’「」『』《》*`:"
_SENTENCE = re.compile(r"[.!:。！](?!\d)")
_IS = re.compile(r"\b(?:is|are|was|were|equals)\s|是|为|等于|=")
_ENDS = re.compile(r"\(([A-Z])\)[\s.。]{0,9}$")
_MENTIONS = re.compile(r"\(([A-Z])\)")
_DENIED_BEFORE = re.compile(r"(?:\bnot|n't|\bexcept|不是|不)\s{0,3}$")
_LED_DENIED = re.compile(
    r"[.:、)\]】\s]{0,4}(?:this\s|it\s|that\s)?(?:is\s)?(?:not\b|isn't|incorrect|wrong|false|错|不(?!是))",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"[\s)\]】']{0,4}(?:\([^()\n]{0,80}\)\s?)?"
    r"(?:(?:is|are|seems?|must\sbe)\s(?:(?:also|both|all|clearly|therefore|thus|indeed|the|a|only|most)\s){0,3}"
    r"(?P<no>not\s(?:the\s)?)?(?P<english>correct|right|valid|true|accurate|best|wrong|false|incorrect|invalid)\b"
    r"|(?P<gap>(?:选项|两项|三项|项)?[^,;:、。.\nA-Z]{0,40}?)"
    r"(?P<chinese>不正确|不对|不符合|不成立|正确|错误|有误|符合题意|成立))"
)
_WRONG = frozenset({
    "wrong", "false", "incorrect", "invalid", "不正确", "不对", "不符合", "不成立", "错误", "有误",
})  # fmt: skip
_SUPPOSED = re.compile(
    r"(?i)(?:\b(?:if|suppose|assum(?:e|ing)|whether|when|unless)\s(?:that\s)?|若|如果|假设|假如)\W{0,3}(?:option\s|选项)?\W{0,3}$"
)
_SAID_TO_BE_OPTION = re.compile(r"(?:选项|项)$")


def read_choice(response: Response, labels: tuple[str, ...], texts: tuple[str, ...], several: bool) -> Extraction:
    """The labels that a response chooses, in the options' order: exactly one unless `several`."""
    reader, options = labels_of(labels), options_of(labels, texts)
    for tier in _CUT_OFF if response.cut_off else _TRUNCATED if response.truncated else _TIERS:
        read = tier(response, reader, options)
        if isinstance(read, Conflict):
            return conflict()
        if read:
            picks, rule = read
            fits = len(picks.labels) == 1 or (several and picks.labels)
            return found(response, picks.labels, rule, picks.start, picks.end) if fits else conflict()
    return nothing(response)


def _alone(response: Response, reader: Labels, options: Options) -> Read:
    """The response is a label, several, or an option's text, and nothing else."""
    whole = response.flat.strip()
    start = response.flat.find(whole)
    if not whole or len(whole) > _LONGEST_ALONE:
        return None
    picks = reader.alone(whole)
    if picks and (len(picks.labels) == 1 or not options.exact(whole)):
        return Picks(picks.labels, start + picks.start, start + picks.end), "alone"
    led = options.led(whole)
    if led:
        return Picks((led,), start, start + len(whole)), "alone"
    return _text(response, options, start, start + len(whole))


def _text(response: Response, options: Options, start: int, end: int) -> Read:
    label = options.exact(response.text[start:end])
    return (Picks((label,), start, end), "option_text") if label else None


def _declared(response: Response, reader: Labels, options: Options) -> Read:
    """What is declared as the answer; of reasoning that was cut off only a slot in its last line."""
    phrases = declared(response, CHOICES)
    if response.cut_off:
        start, _ = response.last_line()
        phrases = [each for each in phrases if each.rank is Rank.SLOT and each.start >= start]
    candidates = _candidates(response, reader, options, phrases)
    plain = [each for each in candidates if each.value is not None]
    weak = weak_phrases(response, plain[0].end if plain else None)
    candidates += _candidates(response, reader, options, weak)
    last = resolve(candidates, response)
    if isinstance(last, Candidate):
        return Picks(last.value or (), last.start, last.end), last.rule
    return last


def _candidates(
    response: Response, reader: Labels, options: Options, phrases: list[Declared]
) -> list[Candidate[tuple[str, ...]]]:
    read = [_candidate(response, reader, options, phrase) for phrase in phrases]
    return [each for each in read if each]


def _candidate(
    response: Response, reader: Labels, options: Options, phrase: Declared
) -> Candidate[tuple[str, ...]] | None:
    """What stands behind a phrase: labels, or else an option's text."""
    flat = response.flat
    start, end = content(response, phrase)
    if phrase.rule == "boxed":
        picks = reader.alone(flat[phrase.end : end]) or reader.read(flat[phrase.end : end], 0)
        picks = picks and Picks(picks.labels, phrase.end + picks.start, phrase.end + picks.end)
    else:
        picks = reader.read(flat, phrase.end)
    concluded = picks and _CONCLUDED.match(flat, picks.end)
    if picks and reader.denied(flat, picks.end):
        return None
    clear = concluded and picks and len(picks.labels) == 1
    if (not clear and options.like_labels) if picks else not phrase.ends:
        label = _declared_text(response, options, start, end)
        if label:
            return Candidate((label,), phrase.end, end, phrase, "option_text")
    if picks and (concluded or not phrase.ends):
        return Candidate(picks.labels, picks.start, picks.end, phrase, phrase.rule, hedged=not picks.labels)
    return Candidate(None, phrase.end, end, phrase, phrase.rule) if flat[phrase.end : end].strip() else None


def _declared_text(response: Response, options: Options, start: int, end: int) -> str | None:
    """The option whose text stands behind a phrase: to the end of the line, of the sentence, or of its first clause."""
    text = response.text
    line = text.find("\n", end)
    clause = _CLAUSE.search(text, start, end)
    for stop in dict.fromkeys((end, len(text) if line < 0 else line, clause.start() if clause else end)):
        said = text[start:stop].strip(_QUOTES)
        label = options.exact(said) or options.led(said)
        if label:
            return label
    return None


def _lines(response: Response, reader: Labels, options: Options) -> Read:
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
        return _text(response, options, start, end)
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


def _last_line(response: Response, reader: Labels, options: Options) -> Read:
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


def _ending(response: Response, reader: Labels, options: Options) -> Read:
    """The last line ends in (C), and names no other option in brackets."""
    start, end = response.last_line()
    line = response.flat[start:end]
    ends = _ENDS.search(line[-_LONGEST_BARE:])
    if not ends or ends[1] not in reader.labels or set(_MENTIONS.findall(line)) != {ends[1]}:
        return None
    at = end - len(line[-_LONGEST_BARE:]) + ends.start()
    if _DENIED_BEFORE.search(response.low[max(0, at - 10) : at]):
        return None
    return Picks((ends[1],), at + 1, at + 2), "ending"


def _verdict(response: Response, reader: Labels, options: Options) -> Read:
    """Options that are called right ("B is correct", AC正确): one alone, or one list; never one that is also called wrong."""
    right, wrong, at = list[Picks](), set[str](), 0
    while match := reader.mention.search(response.flat, at):
        picks = reader.read(response.flat, match.start(), as_subject=True)
        at = max(match.end(), picks.end if picks else 0)
        verdict = picks and _VERDICT.match(response.flat, picks.end)
        if not picks or not verdict or not _speaks_of_option(response.flat, match.start(), verdict):
            continue
        if verdict["no"] or (verdict["english"] or verdict["chinese"]) in _WRONG:
            wrong.update(picks.labels)
        else:
            right.append(picks)
    if not right or len({picks.labels for picks in right}) > 1 or wrong.intersection(right[-1].labels):
        return Conflict() if len({picks.labels for picks in right}) > 1 else None
    return right[-1], "verdict"


def _speaks_of_option(flat: str, at: int, verdict: re.Match[str]) -> bool:
    """Is the verdict on an option, and meant? "If A is true" is not; words between label and verdict need 选项 or 项."""
    if _SUPPOSED.search(flat, max(0, at - 30), at):
        return False
    gap = verdict["gap"] or ""
    return (
        not gap.strip() or gap[0] in "选项两三" or bool(_SAID_TO_BE_OPTION.search(flat[max(0, at - 3) : at].rstrip()))
    )


def _last_words(response: Response, reader: Labels, options: Options) -> Read:
    """The last line ends by saying that something is an option's text, and names no other option."""
    start, end = response.last_line()
    copulas = list(_IS.finditer(response.low, max(start, end - _LONGEST_ALONE), end))
    if not copulas or reader.alone(response.flat[copulas[-1].end() : end]):
        return None
    label = options.exact(response.text[copulas[-1].end() : end])
    if not label or options.mentioned(response.low[start:end]) - {label}:
        return None
    return Picks((label,), copulas[-1].end(), end), "last_words"


def _first_words(response: Response, reader: Labels, options: Options) -> Read:
    """The response opens with an option's text ("Yes, as the image shows …") and names no other option."""
    start, end = response.first_line()
    clause = _CLAUSE.search(response.text, start, end) or _SENTENCE.search(response.text, start, end)
    if not clause:
        return None
    label = options.exact(response.text[start : clause.start()])
    if not label or options.mentioned(response.low) - {label}:
        return None
    return Picks((label,), start, clause.start()), "option_text"


_TIERS = (_alone, _declared, _lines, _last_line, _ending, _verdict, _last_words, _first_words)
_TRUNCATED = (_alone, _declared)
_CUT_OFF = (_declared,)
