"""What an English sentence may become: by frames, and as an order with an indirect question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perturb.rewrite._frames import Choice, Frames, Pick, read
from perturb.rewrite._questions_en import Questions, word_classes

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
