"""Reads single-choice and multi-select answers by tiers, from sure to less sure; the first that finds something decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from mmdyn.scoring.reading import languages
from mmdyn.scoring.reading.declared import CHOICES, Declared, Rank, declared
from mmdyn.scoring.reading.endings import ending, first_words, last_line, last_words, led_lines, option_text
from mmdyn.scoring.reading.extraction import Extraction, conflict, found, nothing
from mmdyn.scoring.reading.labels import Labels, Picks, labels_of
from mmdyn.scoring.reading.options import Options, options_of
from mmdyn.scoring.reading.resolve import Candidate, Conflict, Read, braced, content, resolve, weak_phrases
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.several import added, all_but_named, all_of, hedged, last_list, listed
from mmdyn.scoring.reading.verdicts import all_judged, called_right, judged_behind, judged_in_turn

_LONGEST_ALONE = 400
_COUNTED = {
    "option": re.compile(
        r"option(?:s?\s(?:numbers?\s|no\.?\s|\#\s?)?\d|\s(?:one|two|three|four|five|six|seven|eight|nine|ten)\b|(?<=[snrt][tdh]\soption))"
    ),
    "choice": re.compile(r"choice(?:s?\s(?:numbers?\s|no\.?\s|\#\s?)?\d|(?<=[snrt][tdh]\schoice))"),
    "alternative": re.compile(r"alternative(?<=[snrt][tdh]\salternative)"),
    "第": re.compile(r"第"),
    "选项": re.compile(r"选项\s?[一二三四五六七八九十\d]"),
}
"""Is an option named by its number (option 2, the second option)? A hint, and one that costs little."""
_CONCLUDED = re.compile(r"[)\]}】\s]{0,6}(?:[.,;:。、!]|$|\n|<|because|since|option|as\s(?:the|my)\b|选项|项)")
_CLAUSE = re.compile(r"[,，;；(（]|\s(?:because|since|as)\s")
_QUOTES = " \t\"'“”‘’「」『』《》*`:"
_ASKED = re.compile(
    rf"[)\]】\s]{{0,4}}(?:(?:选项|项)?\s?(?:吗|么|呢|\?|{languages.ASKED_BEHIND})|的(?:理由|原因|人|同学|学生|话))"
    r"|[)\]】\s]{0,4}(?:\([^()\n]{1,60}\)\s?)?(?:is|was|would\sbe)\s(?:what\s(?!i\b|we\b)[a-z]|an?\s(?:common|tempting|usual|careless|frequent)\b)"
)
"""Is it asked, or said of what others choose?"""
_IF = re.compile(r"[)\]】\s]{0,4}\b(?:if|unless|provided)\b")
_OTHERWISE = re.compile(r"[)\]】\s]{0,4}\bif\b[^.\n]{1,80}\b(?:otherwise|else)\b")
_CONDITION = re.compile(r"(?:^|[.\n;(]\s?|\bbut\s|,\s)if\s[^.\n;]+$")
_GOES_ON = re.compile(r"[^.\n]{0,60}[.\n]\s{0,9}\S")
_INSTEAD = re.compile(
    r"[)\]】]?,?\s{0,3}(?:and\s)?(?:not\s|rather\sthan\s|instead\sof\s|non\s|nicht\s|pas\s|не\s|不是|而不是|不选)"
    r"(?:option\s|选项)?[(\[【\s]{0,3}(?P<label>[A-Z])[)\]】]?[.。]?$"
)
"""Of "C, not A" what follows the C."""
_QUESTION = re.compile(r"\s{0,9}(?:(?:question|q)\s?\d{1,3}\s?[:.)]|第?\s?\d{1,3}\s?题\s?[:.、]?)", re.IGNORECASE)
_AT_END = re.compile(r"\((?:option\s|choice\s)?([A-Z])\)[\s.。]{0,9}$", re.IGNORECASE)
_MENTIONS = re.compile(r"\([A-Z]\)")
_ITEM = re.compile(r"[ \t]*(?:[-•+]|\d{1,2}[.)](?!\d))?[ \t]*")
_NEXT = re.compile(r"[.,;。、]?\s{1,9}(?:(?:and|or)\s)?|[,;。、]?(?:和|或者?)?")
_NO_MORE = re.compile(r"[.,;。]?[^\S\n]{0,9}(?:(?P<line>$|\n)|[A-Z])")
_NO = re.compile(
    r"[)\]*\s]{0,4}[,.!;。][ \t]{0,3}(?P<word>no|nope|wrong|[哦噢]?不|不是|不对|错了?)[.!。]{0,3}\s{0,9}\Z"
)
"""The last word behind an answer, where it is no option's own."""
_ADJECTIVES = ("正确", "错误", "符合")
_BESIDE = re.compile(r"\}(?:[\s,;、&]|\\[()\[\]]|and|和|与)*")
_JSON_LIST = re.compile(r"\[\s{0,3}[\"'A-Z]")
_OPTIONS_ARE = re.compile("option|choice|选项|选择")
_LONGEST_LIST, _LONGEST_VALUE, _LONGEST_CONDITION = 26, 60, 200


def read_choice(response: Response, labels: tuple[str, ...], texts: tuple[str, ...], several: bool) -> Extraction:
    """The labels that a response chooses, in the options' order: exactly one unless `several`."""
    options = options_of(labels, texts)
    counted = (
        any(word in response.low and hint.search(response.low) for word, hint in _COUNTED.items())
        and not options.numbered
    )
    reader = labels_of(labels, counted)
    for tier in _tiers(response, several):
        read = tier(response, reader, options)
        if isinstance(read, Conflict):
            return conflict()
        if read:
            picks, rule = read
            fits = len(picks.labels) == 1 or (several and picks.labels)
            return found(response, picks.labels, rule, picks.start, picks.end) if fits else conflict()
    return nothing(response)


def _alone(response: Response, reader: Labels, options: Options, several: bool = False) -> Read:
    """The response is a label, several, or an option's text, and nothing else."""
    number = _QUESTION.match(response.flat)
    whole = response.flat[number.end() if number else 0 :].strip()
    start = response.flat.find(whole, number.end() if number else 0)
    if not whole or len(whole) > _LONGEST_ALONE:
        return None
    instead = _INSTEAD.search(whole)
    picks = reader.alone(whole[: instead.start()] if instead else whole)
    if picks and instead and instead["label"] in picks.labels:
        return Conflict()  # "A, B, not A"
    if picks and (len(picks.labels) == 1 or not options.exact(whole)):
        return Picks(picks.labels, start + picks.start, start + picks.end), "alone"
    led = options.led(whole)
    if led:
        return Picks((led,), start, start + len(whole)), "alone"
    read = option_text(response, options, start, start + len(whole))
    valued = None if read else options.valued(response.text[start : start + len(whole)])
    if valued:
        return Picks((valued,), start, start + len(whole)), "value"
    return read or _list_alone(response, reader, options, several, start, start + len(whole))


def _list_alone(response: Response, reader: Labels, options: Options, several: bool, start: int, end: int) -> Read:
    """The response is a list of options, or takes all of them, and nothing else. A single choice takes none of several texts."""
    if response.low.startswith("answer", start):
        return None
    every = all_of(response, reader, options, start, end) if several else None
    if every:
        return Picks(every, start, end), "alone"
    listing = listed(response, reader, options, start, end)
    if not listing or listing.broken or response.flat[listing.end : end].strip(" .。!"):
        return None
    if len(listing.labels) == 1 or not (several or listing.texts):
        return None
    ordered = listing.labels == reader.labels and listing.texts  # these are the question's
    return (Picks(listing.labels, start, end), "alone") if several and listing.labels and not ordered else Conflict()


def _declared(response: Response, reader: Labels, options: Options, several: bool = False) -> Read:
    """What is declared as the answer; of reasoning that was cut off only a slot in its last line."""
    phrases = declared(response, CHOICES)
    if response.cut_off:
        start, _ = response.last_line()
        phrases = [each for each in phrases if each.rank is Rank.SLOT and each.start >= start]
    candidates = _candidates(response, reader, options, phrases, several)
    plain = [each for each in candidates if each.value is not None]
    weak = weak_phrases(response, plain[0].end if plain else None)
    candidates += _candidates(response, reader, options, weak, several)
    last = resolve(_side_by_side(response, reader, candidates) if several else candidates, response)
    if isinstance(last, Candidate):
        picks = Picks(last.value or (), last.start, last.end)
        no, label = _NO.match(response.low, last.end), (*picks.labels, "")[0]
        if no and options.text(label) and options.exact(no["word"]) != label:
            return Conflict()
        if several and added(response, reader, options, picks, last.rule == "option_text"):
            return Conflict()
        return picks, last.rule
    return last


def _candidates(
    response: Response, reader: Labels, options: Options, phrases: list[Declared], several: bool
) -> list[Candidate[tuple[str, ...]]]:
    read = [_candidate(response, reader, options, phrase, several) for phrase in phrases]
    return [each for each in read if each]


def _side_by_side(
    response: Response, reader: Labels, candidates: list[Candidate[tuple[str, ...]]]
) -> list[Candidate[tuple[str, ...]]]:
    """Different boxes side by side as one list."""
    merged = list[Candidate[tuple[str, ...]]]()
    for each in sorted(candidates, key=lambda candidate: candidate.start):
        last = merged[-1] if merged else None
        if last and last.value and each.value and last.phrase.rule == each.phrase.rule == "boxed":
            between = response.flat[braced(response.text, last.end) : each.phrase.start]
            if _BESIDE.fullmatch(between):
                both = reader.ordered(list({*last.value, *each.value}))
                merged[-1] = Candidate(both, last.start, each.end, last.phrase, last.rule)
                continue
        merged.append(each)
    return merged


def _candidate(
    response: Response, reader: Labels, options: Options, phrase: Declared, several: bool
) -> Candidate[tuple[str, ...]] | None:
    """What stands behind a phrase: labels, or else an option's text."""
    flat = response.flat
    start, end = content(response, phrase)
    if phrase.language:
        return _in_few_forms(response, reader, options, phrase, end)
    picks = _picks(flat, reader, options, phrase, end)
    concluded = picks and _CONCLUDED.match(flat, picks.end)
    if picks and (reader.denied(flat, picks.end) or _ASKED.match(flat, picks.end)):
        return None
    if several:
        if picks and judged_behind(response, reader, options, picks):
            return None
        some = _several(response, reader, options, phrase, picks, start, end)
        if some:
            return some
    if picks and "would" in response.low[phrase.start : phrase.end] and _supposed(response.low, phrase, picks):
        return None
    if picks and _OTHERWISE.match(response.low, picks.end):
        return Candidate((), picks.start, picks.end, phrase, phrase.rule, hedged=True)
    clear = concluded and picks and len(picks.labels) == 1
    if (not clear and options.like_labels) if picks else not phrase.ends:
        label = None if _how_many(response, phrase) else _declared_text(response, options, start, end, several)
        if label:
            listing = None if several else listed(response, reader, options, start, len(response.text))
            if listing and len(listing.labels) > 1 and listing.texts and not listing.broken:
                return Candidate((), phrase.end, end, phrase, "option_text", hedged=True)
            return Candidate((label,), phrase.end, end, phrase, "option_text")
        named = None if picks else _named_at_end(flat, reader, start, end)
        if named:
            return Candidate((named,), phrase.end, end, phrase, phrase.rule)
        valued = None if picks else options.valued(response.text[start:end].strip(_QUOTES))
        if valued:
            return Candidate((valued,), phrase.end, end, phrase, "value")
    if picks and (concluded or not phrase.ends):
        return Candidate(picks.labels, picks.start, picks.end, phrase, phrase.rule, hedged=not picks.labels)
    return Candidate(None, phrase.end, end, phrase, phrase.rule) if flat[phrase.end : end].strip() else None


def _how_many(response: Response, phrase: Declared) -> bool:
    """Does it say how many options are right ("正确的有两个"), rather than which?"""
    return response.low.startswith(_ADJECTIVES, phrase.start)


def _several(
    response: Response,
    reader: Labels,
    options: Options,
    phrase: Declared,
    picks: Picks | None,
    start: int,
    end: int,
) -> Candidate[tuple[str, ...]] | None:
    """Several options behind a phrase where they are more than the labels that stand there: a list with texts, all, all but one."""
    every = None if phrase.ends else all_of(response, reader, options, start, end)
    every = all_but_named(response, reader, start, end) if every is None else every
    if every is not None:
        return Candidate(every, start, end, phrase, phrase.rule, hedged=not every)
    stop = end if phrase.rule in ("boxed", "table") or response.text[start - 1 : start] == '"' else len(response.text)
    if _JSON_LIST.match(response.text, start):
        closing = response.text.find("]", start)
        start, stop = start + 1, closing if closing >= 0 else stop
    listing = listed(response, reader, options, start, stop)
    if listing and len(listing.labels) == 1 and _how_many(response, phrase):
        return None
    doubtful = picks and hedged(response, options, picks)
    if listing and listing.broken:
        known = {*listing.labels, *(picks.labels if picks else ())}
        doubtful = doubtful or bool(options.mentioned(response.low[listing.end : end]) - known)
    if doubtful:
        return Candidate((), start, end, phrase, phrase.rule, hedged=True)
    if not listing or (listing.texts and phrase.ends) or (picks and not picks.labels):
        return None
    more = not picks or set(picks.labels) < set(listing.labels) or (options.like_labels and not listing.broken)
    if not more:
        return None
    asked = response.flat[start : listing.end].rstrip().endswith("?")
    if asked or reader.denied(response.flat, listing.end) or _ASKED.match(response.flat, listing.end):
        return None
    named = (
        listing.labels == reader.labels
        and listing.texts
        and _OPTIONS_ARE.search(response.low, phrase.start, phrase.end)
    )
    value = () if listing.broken or named else listing.labels
    rule = "option_text" if listing.texts else phrase.rule
    return Candidate(value, start, listing.end, phrase, rule, hedged=not value)


def _in_few_forms(
    response: Response, reader: Labels, options: Options, phrase: Declared, end: int
) -> Candidate[tuple[str, ...]]:
    """What stands behind a phrase of a language of few forms: capital labels, or an option's text, to the sentence's end."""
    low, start = response.low, phrase.end
    said = languages.POLITE.sub("", response.text[start:end].strip(_QUOTES))
    picks = reader.read(response.flat, start)
    if picks and response.flat[picks.start].isupper() and not reader.denied(response.flat, picks.end):
        end = options.behind(picks.labels[0], response.flat, picks.end) if len(picks.labels) == 1 else picks.end
        if languages.ends(low, end) and languages.kept(low, picks.start, picks.end):
            return Candidate(picks.labels, picks.start, picks.end, phrase, phrase.rule, hedged=not picks.labels)
    label = None if picks else options.exact(said)
    if label and languages.kept(low, start, end):
        return Candidate((label,), start, end, phrase, "option_text")
    return Candidate(None, start, end, phrase, phrase.rule)


def _supposed(low: str, phrase: Declared, picks: Picks) -> bool:
    """Does the sentence say under which condition the answer would be so? One before it counts where the reply goes on."""
    before = max(0, phrase.start - _LONGEST_CONDITION)
    goes_on = _GOES_ON.match(low, picks.end)
    return bool(_IF.match(low, picks.end) or (goes_on and _CONDITION.search(low, before, phrase.start)))


def _picks(flat: str, reader: Labels, options: Options, phrase: Declared, end: int) -> Picks | None:
    """The labels behind a phrase: in the box or cell, in the lines below it, or in what follows."""
    if phrase.rule in ("boxed", "table"):
        inside = flat[phrase.end : end]
        picks = reader.alone(inside) or reader.read(inside, 0)
        return picks and Picks(picks.labels, phrase.end + picks.start, phrase.end + picks.end)
    picks = _listed(flat, reader, options, phrase.end)
    if picks:
        return picks
    picks = reader.read(flat, phrase.end)
    if not picks or len(picks.labels) != 1:
        return picks
    turn = _in_turn(flat, reader, options, picks)
    if turn:
        return turn
    if not phrase.ends and flat[picks.end : picks.end + 1] == " ":
        spaced = reader.alone(flat[picks.start : end])  # "Answer: A C D"
        if spaced and len(spaced.labels) > 1:
            return Picks(spaced.labels, picks.start, end)
    return picks


def _listed(flat: str, reader: Labels, options: Options, at: int) -> Picks | None:
    """Two options or more, one a line, directly below the line that ends at a place ("The correct options are:")."""
    begins = flat.find("\n", at)
    if begins < 0 or flat[at:begins].strip():
        return None
    while flat[begins : begins + 1].isspace():
        begins += 1
    start = at = flat.rfind("\n", at, begins) + 1
    found = list[str]()
    while len(found) < _LONGEST_LIST:
        line = flat.find("\n", at)
        stop = line if line >= 0 else len(flat)
        item = _ITEM.match(flat, at, stop)
        body = flat[item.end() if item else at : stop]
        picks = reader.alone(body) if len(body) < _LONGEST_ALONE else None
        label = picks.labels[0] if picks and len(picks.labels) == 1 else options.led(body)
        if not label or label in found:
            break
        found.append(label)
        at = stop + 1
    return Picks(reader.ordered(found), start, at - 1) if len(found) > 1 else None


def _in_turn(flat: str, reader: Labels, options: Options, first: Picks) -> Picks | None:
    """Several options in turn, each with its text ("A. Paris B. London"), where they fill the line. Of all, in order, none is
    chosen: these are the question's.
    """
    if not reader.mention.search(flat, first.end, first.end + _LONGEST_ALONE):
        return None
    found, at = list(first.labels), options.behind(first.labels[0], flat, first.end)
    if at == first.end:
        return None
    while between := _NEXT.match(flat, at):
        further = reader.leading.match(flat, between.end())
        label = further and reader.named(further["label"])
        end = options.behind(label, flat, further.end("label")) if label and further else at
        if not label or not further or label in found or end == further.end("label"):
            break
        found.append(label)
        at = end
    ended = _NO_MORE.match(flat, at) if len(found) > 1 else None
    if ended and found == list(reader.labels):
        return Picks((), first.start, at)
    on_a_line = ended and ended["line"] is not None and "\n" not in flat[first.end : at]
    return Picks(reader.ordered(found), first.start, at) if on_a_line else None


def _named_at_end(flat: str, reader: Labels, start: int, end: int) -> str | None:
    """The label in brackets that a declared value ends in: "the answer is $20 (Option C)"."""
    named = _AT_END.search(flat, start, end) if end - start <= _LONGEST_VALUE else None
    alone = named and named[1] in reader.labels and len(_MENTIONS.findall(flat[start:end])) <= 1
    return named[1] if named and alone else None


def _declared_text(response: Response, options: Options, start: int, end: int, several: bool) -> str | None:
    """The option whose text stands behind a phrase: to the end of the line, of the sentence, or (one alone) of its first clause."""
    text = response.text
    line = text.find("\n", end)
    clause = None if several else _CLAUSE.search(text, start, end)
    for stop in dict.fromkeys((end, len(text) if line < 0 else line, clause.start() if clause else end)):
        said = text[start:stop].strip(_QUOTES)
        label = options.exact(said) or options.led(said)
        if label:
            return label
    return None


def _tiers(response: Response, several: bool) -> tuple[Callable[[Response, Labels, Options], Read], ...]:
    if response.cut_off:
        return (partial(_declared, several=several),)
    if not several:
        return _TIERS[:2] if response.truncated else _TIERS
    return _SEVERAL[:2] if response.truncated else _SEVERAL


_TIERS = (_alone, _declared, led_lines, last_line, ending, called_right, judged_in_turn, last_words, first_words)
_SEVERAL = (
    partial(_alone, several=True),
    partial(_declared, several=True),
    all_judged,
    led_lines,
    last_list,
    last_line,
    ending,
    partial(called_right, several=True),
    judged_in_turn,
    last_words,
    first_words,
)
