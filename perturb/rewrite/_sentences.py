"""Sentence paraphrasing by rules, English and Chinese: another build, and nothing that is said is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from numpy.random import Generator

from perturb.item import NotApplicable
from perturb.rewrite._frames import BLANK, FORMULA, Choice, Frames, Pick, mask, read, splice
from perturb.rewrite._questions_en import Questions, word_classes

_WORTH_A_LOOK = re.compile(
    rf"[{BLANK}求则哪谁几]|那么|多少|下列|以下|下面|如图|据此|阅读|读图|证明|计算|分析|说明|概括|指出|简述|简析|归纳|阐述"
    r"|结合|关于|[是为元岁天页棵株米克升时钟]$|等于$|星期$|共有|写出"
)
_LEAD = re.compile(
    rf".*[，,﹐：:；;]\s?(?<!(?:计算|算式)[：:])(?<!(?:计算|算式)[：:] )|.*[{FORMULA}] ?(?=则|那么)", re.DOTALL
)
_NUMBERED = re.compile(r"(?:[(（] ?(?:\d{1,2}|[IVXⅠ-Ⅻ]{1,4}|[一二三四五]) ?[)）]|\d{1,2}[.．、]|[①-⑩])\s?")
_THEN = re.compile(
    r"(?:则|那么请问|那么|请问|问|试问|请你?(?=求|计算|[分说概简指归阐])|试(?=求))[：:，,﹐]?\s?(?:计算[:：]?"
    r" ?(?=.*(?:结果|值)))?"
)
_THEN_AND_COMMA = re.compile(r"(?:^|(?<=[，,﹐：:；;\s]))(?:则|那么请问|那么|请问|问|试问)[：:，,﹐]\s?$")
_HANGING = re.compile(
    r"(?:则|那么)[^，,]*[，,﹐：:] ?$|(?:使得?|问|得出|推出|可知|认为|知道|说)[^，,]{0,3}[，,﹐：:] ?$"
)
_LISTED_FORMULA = re.compile(rf"[{FORMULA}][，,﹐、] ?\Z")
"""What comes before the last of things that commas join, as in "$a$，$b$，$c$的大小关系"."""

_FORMULA = re.compile(f"[{FORMULA}]")
_BLANK = re.compile(f"[{BLANK}]")
_JOINTS = "，,﹐：:；;)）.．、"
_ASKS = re.compile(r"(?:哪|多少)[^，,。：:]*$")


class Chinese:
    """The frames of Chinese sentences."""

    def __init__(self) -> None:
        data = read("zh")
        self._about_words = re.compile("|".join(data["about_words"]))
        self._clauses = Frames(data["clauses"], data["pieces"])
        self._anchored, self._tells = (Frames(data[name], data["pieces"]) for name in ("anchored", "tells"))

    def about_words(self, text: str) -> bool:
        """Whether a stem asks about words, or about a text that it quotes."""
        return bool(self._about_words.search(text))

    def rephrased(self, sentence: str, pick: Pick, *, asks: bool, closing: bool, tells: bool) -> str | None:
        """One of the sentences that this one may become, with 。 or ？ at its end, or None.

        `sentence` has no mark. `asks`: its mark is a question mark; `closing`: it is the last of its line; `tells`: it
        may change though it asks nothing.
        """
        if not (asks or _WORTH_A_LOOK.search(sentence)):
            return None
        asks = asks or (closing and bool(_ASKS.search(sentence)))
        text = sentence + ("？" if asks else "。")
        choices = [*self._clause(text, closing), *self._from_anchors(self._anchored, text, closing)]
        if tells and not asks:
            choices += self._from_anchors(self._tells, text, closing)
        if not choices:
            return None
        to, pieces = choices[pick(len(choices))]
        return pieces["lead"] + to.format_map(pieces)

    def _clause(self, text: str, closing: bool) -> Iterator[Choice]:
        """What the last clause may become."""
        found = _LEAD.match(text) or _NUMBERED.match(text)
        lead = found[0] if found else ""
        clause = text[len(lead) :]
        then = _THEN.match(clause)
        if before := _THEN_AND_COMMA.search(lead):
            lead = lead[: before.start()]
        if lead and (_HANGING.search(lead) or (not (then or before) and _is_listed(lead, clause))):
            return
        ending = _ending(clause)
        if ending == "blank" and _BLANK.search(lead):
            return
        for to, pieces in self._clauses.fitting(ending, clause[then.end() :] if then else clause, closing):
            yield to, {**pieces, "lead": lead}

    def _from_anchors(self, frames: Frames, text: str, closing: bool) -> Iterator[Choice]:
        """What the sentence may become from where a frame's word stands at the beginning of a clause."""
        for word in frames.by_word:
            at = text.find(word)
            if at < 0:
                continue
            lead = text[:at]
            if lead and lead.rstrip()[-1:] not in _JOINTS:
                continue
            for to, pieces in frames.fitting(word, text[at:], closing):
                yield to, {**pieces, "lead": lead}


def _is_listed(lead: str, clause: str) -> bool:
    """Whether a clause is the last of formulas that commas join."""
    return bool(_FORMULA.match(clause) and _LISTED_FORMULA.search(lead))


def _ending(clause: str) -> str:
    """How a clause ends, which decides what frames may fit it."""
    if clause[-1] == "？":
        return "question"
    if _BLANK.search(clause):
        return "blank"
    return "copula" if clause[-2:-1] in ("是", "为") or clause.endswith("等于。") else "plain"


_DONE = {"shows": "shown", "represents": "represented", "illustrates": "illustrated", "depicts": "depicted"}
_HEAD = re.compile(
    r"[^,]*?(?= (?:of|in|on|at|for|that|which|who|from|to|between|with|such|when|if|by|where|per)\b|,|$)"
)
_SEVERAL = re.compile(r"(?:two|three|four|these|those|both|all)\b|.*(?:[^siu]s$|ies$|[a-z]es$|\band\b)")
_QUESTION_WORD = re.compile(
    r"(?:(?:in|on|at|for|from|to|by|of|with|between|under|at least|at most)"
    r" )?(?:what|which|whose|how|who|when|where|why)\b"
)
_SECOND = re.compile(
    r"(?:,|\b(?:and|or|but|then)) ?(?:and |then"
    r" )?(?:what|how|who|why|where|find|determine|calculate|explain|justify|describe|give|state)\b"
)
_LANGUAGE_EXAM = re.compile(r"\s*(?:[A-E]\s*\n|[-—–]{1,3} ?[A-Z“\"'])|[^\n]*[a-z,] {4,20}[a-z]")
"""A passage with its letter, a dialogue, a blank of spaces in a sentence."""

_CHINESE = re.compile("[\u4e00-\u9fff]{2}")
_ASKS_FOR_THING = re.compile(r"what (?:(?:is|are|was|were)|[a-z]+ be (?:a|an|the|his|her|its|their))\b")
"""What has frames of its own: behind it, "given to Ann" is a part of the thing, no participle of the verb."""

_NAME = re.compile(r"A (?:and|or|is|are|was|has|to|[A-Z]|[^A-Za-z])")
"""A point or person A, not the article."""

_DEEPEST = 2


class English:
    """The frames of English sentences."""

    def __init__(self) -> None:
        data = read("en")
        pieces = data["pieces"]
        self._questions = Questions()
        self._about_words = re.compile(rf"(?<![a-z])(?:{'|'.join(data['about_words'])})")
        self._wraps: dict[str, list[str]] = data["wraps"]
        self._asks, self._leads = Frames(data["asks"], pieces), Frames(data["leads"], pieces)
        self._trails, self._tells = Frames({"": data["trails"]}, pieces), Frames(data["tells"], pieces)
        by_word = (*self._asks.by_word, *self._leads.by_word, *self._tells.by_word)
        self._openers = word_classes()["lowered"] | word_classes()["auxiliaries"] | {*by_word}
        self._order = re.compile(f"(?:{pieces['order']}|say|decide|find out|explain|use)\\b[^?]*(?<!\\. {{Q}})$")

    def about_words(self, text: str) -> bool:
        """Whether a stem asks about words, or about a text that it quotes."""
        if not text.isascii() and _CHINESE.search(text):
            return True
        return bool(self._about_words.search(text.lower()) or _LANGUAGE_EXAM.match(text))

    def rephrased(self, sentence: str, pick: Pick, *, asks: bool, closing: bool, tells: bool) -> str | None:
        """One of the sentences that this one may become, with "?" or "." at its end, or None.

        `sentence` has no mark. `asks`: its mark is a question mark; `closing`: it is the last of its line; `tells`: it
        may change though it asks nothing.
        """
        first, space, rest = sentence.partition(" ")
        word = first.lower().rstrip(":,")
        states = not asks and word in word_classes()["auxiliaries"]
        lowered = word in self._openers and not _NAME.match(sentence) and not states
        text = (f"{first.lower()}{space}{rest}" if lowered else sentence) + ("?" if asks else ".")
        choices = list(self._choices(word, text, closing, 0))
        if tells and not asks:
            choices += self._tells.fitting(word, text, closing)
            choices += self._tells.fitting("*", text, closing)
        made = self._made(choices, pick, closing, 0)
        return made and _capital(made)

    def _choices(self, word: str, text: str, closing: bool, depth: int) -> Iterator[Choice]:
        """What a question or an order may become."""
        if not _SECOND.search(text, 1):
            yield from self._asks.fitting(word, text, closing)
            if text[-1] == "?" and not _ASKS_FOR_THING.match(text):
                yield from self._wrapped(word, text[:-1].rstrip())
        if depth < _DEEPEST:
            for frames, key in ((self._leads, word), (self._trails, "")):
                for to, pieces in frames.fitting(key, text, closing):
                    if text[-1] == "?" or self._order.match(pieces["q"]):
                        yield to, {**pieces, "m": text[-1]}

    def _wrapped(self, word: str, question: str) -> Iterator[Choice]:
        """A question as an order with an indirect question."""
        if word in word_classes()["auxiliaries"]:
            rest = question.split()[1:]
            clause = self._questions.uninverted(word, rest) if rest and rest[0] not in ("you", "we", "I") else None
            for to in self._wraps["whether"] if clause else ():
                yield to, {"q": clause or ""}
        elif _QUESTION_WORD.match(question) and (asked := self._questions.indirect(question)):
            head = " ".join(question.split(None, 2)[:2])
            for to in self._wraps.get(head) or self._wraps.get(word) or self._wraps["other"]:
                if asked.things or "{things}" not in to:
                    yield to, {"q": asked.text, "things": asked.things}

    def _made(self, choices: list[Choice], pick: Pick, closing: bool, depth: int) -> str | None:
        """One of the choices, filled in."""
        while choices:
            to, pieces = choices.pop(pick(len(choices)))
            if "m" in pieces:
                asked = pieces["q"].rstrip("?.") + pieces["m"]
                pieces = {**pieces, "q": asked[:-1], "Q": _capital(asked)}
                if "{t}" in to or "{T}" in to:
                    turned = self._turned(asked, pick, closing, depth + 1, orders="{t}" in to)
                    if turned is None:
                        continue
                    pieces |= {"t": turned[:-1], "T": _capital(turned)}
            return _filled(to, pieces)
        return None

    def _turned(self, asked: str, pick: Pick, closing: bool, depth: int, *, orders: bool) -> str | None:
        """A question or an order as the other of the two, or with another build; with `orders` as an order alone."""
        choices = list(self._choices(asked.split(" ", 1)[0].rstrip("?.:,"), asked, closing, depth))
        if orders:
            choices = [choice for choice in choices if choice[0][-1] == "." and self._order.match(choice[0])]
            if asked[-1] == ".":
                choices.append(("{asked}", {"asked": asked}))
        return self._made(choices, pick, closing, depth)


def _filled(to: str, pieces: dict[str, str]) -> str:
    if "{be}" in to:
        head = _HEAD.match(pieces["x"])
        pieces = {**pieces, "be": "are" if head and _SEVERAL.match(head[0]) else "is"}
    if "{done}" in to:
        pieces = {**pieces, "done": _DONE[pieces["v"]]}
    return to.format_map(pieces)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


NOTHING_FITS = "no sentence that a rule can rephrase"
ABOUT_WORDS = "the question is about words or about a text, which must stay as they are"

_LONGEST_SENTENCE = 400
_MOST_SENTENCES = 40
"""Only the last sentences of a stem are looked at: what is asked stands there, and the time stays bounded."""

_ONE_IN = 3
"""How rarely a sentence stays as it is although a frame fits, unless it is the one that surely changes."""

_SENTENCE = re.compile(
    r"([^\s?？!！。．；;.][^\n?？!！。．；;.]*(?:(?:\.(?!\s|$|(?:[A-Z][a-z]+|A) |[\u4e00-\u9fff])"
    # a line that was broken in the middle of a Chinese sentence
    r"|(?<=[^\n]{10}[\u4e00-\u9fff，、])\n(?= {0,2}[\u4e00-\u9fff，、\uf000-\uf3ff]))[^\n?？!！。．；;.]*)*)([?？!！。"
    r"．；;.]?)"
)
_ITEM = re.compile(r"\s*(?:[(（]?\s?(?:\d{1,2}|[A-H]|[IVX]{1,4}|[ivx]{1,4})\s?[)）.．、:：]|[①-⑳❶-❿•·*-])")
_STRAY = re.compile(r"[ \u3000]{0,3}[。．.](?![\w.])")
"""A full stop right behind a sentence's own mark, as in "是多少？．"."""


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str
    mark: str
    asks: bool
    closing: bool
    tells: bool


class _Change(NamedTuple):
    start: int
    end: int
    text: str


def paraphrase(question: str, language: str, stream: Generator, severity: str = "") -> str | NotApplicable:
    """The question with at least one sentence rephrased, by frames that the stream chooses among those that fit: with
    the severity `mild` exactly one, with `strong` every one in which a frame fits.

    Formulas, quotations, blanks and image marks are carried over whole, and what a frame captures (numbers, names,
    negations, quantifiers) word by word. Where no frame is sure to fit, or the question is about words, NotApplicable.

    Source: MDK12-Bench, "Evaluation Methods", Sentence Paraphrasing ("variations in sentence structure, word order, or
        style").
    """
    rules = _language(language)
    if rules.about_words(question):
        return NotApplicable(ABOUT_WORDS)
    try:
        masked, atoms = mask(question)
    except ValueError as error:
        return NotApplicable(str(error))
    pick, stop = _picker(stream), _stop(masked)
    changes = []
    for sentence in _sentences(masked):
        asks, closing, tells = sentence.asks, sentence.closing, sentence.tells
        if made := rules.rephrased(sentence.text, pick, asks=asks, closing=closing, tells=tells):
            change = _change(made, sentence, masked, stop)
            if _words(change.text, atoms) != _words(masked[change.start : change.end], atoms):
                changes.append(change)
    if not changes:
        return NotApplicable(NOTHING_FITS)
    return splice(masked, _chosen(changes, pick, severity)).translate(atoms)


def _picker(stream: Generator) -> Pick:
    """Draws whole numbers, a bunch of random numbers at a time, because the call costs more than the numbers."""
    draws: list[float] = []

    def pick(below: int) -> int:
        if not draws:
            draws.extend(stream.random(16).tolist())
        return int(draws.pop() * below)

    return pick


def _chosen(changes: list[_Change], pick: Pick, severity: str) -> list[_Change]:
    """The changes to make: one surely, and more by the severity."""
    if severity == "strong" or len(changes) == 1:
        return changes
    sure = pick(len(changes))
    if severity == "mild":
        return [changes[sure]]
    return [change for number, change in enumerate(changes) if number == sure or pick(_ONE_IN)]


def _stop(text: str) -> str:
    """The full stop that a stem uses."""
    return next((stop for stop in "。．" if stop in text), "。" if "，" in text or "？" in text else ".")


def _change(made: str, sentence: _Sentence, text: str, stop: str) -> _Change:
    """A rephrased sentence with the mark that the old one had, where it still asks or still tells, and the stem's
    stops."""
    body, asks = made[:-1].replace("。", stop), made[-1] in "?？"
    if asks == sentence.asks:
        return _Change(sentence.start, sentence.end, body + sentence.mark)
    stray = _STRAY.match(text, sentence.end)
    return _Change(sentence.start, stray.end() if stray else sentence.end, body + (made[-1] if asks else stop))


def _words(text: str, atoms: dict[int, str]) -> str:
    """What a text says, whatever its spaces and capitals: where that stays, nothing was rephrased."""
    return "".join(text.translate(atoms).split()).casefold()


def _sentences(text: str) -> list[_Sentence]:
    """The last sentences of a text, in order, without those that are too long and questions that somebody asks on the
    way.

    What is asked of the reader is the last question with those right before it, unless a blank follows.
    """
    found: list[_Sentence] = []
    closing, line_end, asked, told = True, len(text), False, False
    for match in reversed(list(_SENTENCE.finditer(text))[-_MOST_SENTENCES:]):
        start, end = match.span()
        if (cut := text.find("\n", end, line_end)) >= 0:
            closing, line_end = True, cut
        words, mark = match[1].rstrip(), match[2]
        asks, short = mark in ("?", "？"), len(words) < 3
        if len(words) <= _LONGEST_SENTENCE and not (asks and told):
            item = bool(_ITEM.match(text, text.rfind("\n", 0, start) + 1))
            found.append(_Sentence(start, end if mark else start + len(words), words, mark, asks, closing, not item))
        asked |= asks
        told |= not short and not asks and (asked or bool(_BLANK.search(words)))
        closing = closing and short
    return found[::-1]


@cache
def _language(language: str) -> English | Chinese:
    return Chinese() if language == "zh" else English()
