"""An English question as an indirect one: "How many pens did Ann buy?" asks "how many pens Ann bought".

No parser reads the sentence: closed classes of words say where the subject behind the auxiliary ends. Where they do not
say so surely, there is no indirect question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import yaml
from msgspec import Struct

from perturb.rewrite._frames import FOLDER, FORMULA, lines_of

_NAME = re.compile(r"[A-Z][a-zé]+|[A-Z]{1,4}'?|∠[A-Z0-9]{1,3}|△[A-Z]{3}")
_FORMULA = re.compile(f"[{FORMULA}]")
_OWNER = re.compile(r"[A-Za-zé]+(?:['’]s|s['’])")
_AMOUNT = re.compile(rf"\d|[{FORMULA}]")
_PLURAL = re.compile(r"[a-z]{3,}s")
_PARTICIPLE = re.compile(r"[a-z]{0,15}[aeiouy][a-z]{0,5}?(?:(?<!e)ed|ing)")
_BEST = re.compile(r"[a-z]+est|most|least|same|only|correct|right|one")
_DEMONSTRATIVES = ("this", "that", "these", "those")
_LONGEST_SUBJECT = 8
_LONGEST_MEASURED = 9

Words = Sequence[str]


class Verbs(Struct, frozen=True):
    """The forms of verbs (en/verbs.txt), by their base forms: after he, she, it, and in the past; and participles."""

    third: dict[str, str]
    past: dict[str, str]
    participles: frozenset[str]


class Indirect(Struct, frozen=True):
    """A question as it stands behind "Determine"."""

    text: str
    """Such as "how many pens Ann bought"."""
    things: str = ""
    """What is asked for, as a thing ("pens Ann bought", "pens that are red"), where it is one."""


class Questions:
    """Puts questions into the order of statements."""

    def __init__(self) -> None:
        self._words, self._verbs = word_classes(), verbs()
        self._be_or_have = self._words["be"] | self._words["have"]
        self._late = self._words["closers"] | self._words["adverbs"]
        self._subjects = self._words["pronouns"] | self._words["determiners"]

    def indirect(self, question: str) -> Indirect | None:
        """The indirect question, or None where the subject is not found surely.

        `question` begins in lower case with a question word or with a preposition and one, and has no mark at its end.
        """
        words = question.split()
        place = next((number for number, word in enumerate(words) if word in self._words["auxiliaries"] and number), 0)
        if "n't" in question or "n’t" in question or place + 1 == len(words):
            return None
        if not place:
            return None if words[0] in self._words["never_subject"] else Indirect(question)
        head, auxiliary, rest = words[:place], words[place], words[place + 1 :]
        inverted = self._is_inverted(head, auxiliary, rest)
        if inverted:
            return self._put_straight(head, auxiliary, rest)
        if inverted is None or words[0] in self._words["never_subject"]:
            return None
        return Indirect(question, self._things(head, f"that {auxiliary} {' '.join(rest)}"))

    def uninverted(self, auxiliary: str, rest: Words) -> str | None:
        """Subject, verb and what follows: ("did", ["Ann", "buy", "it"]) gives "Ann bought it"; None where that is
        unsure."""
        size = self._named(rest) or self._described(auxiliary, rest)
        subject, tail = list(rest[:size]), list(rest[size:])
        if not size or not self._fits(auxiliary, subject[0], tail):
            return None
        if auxiliary not in self._words["do"]:
            return " ".join([*subject, auxiliary, *tail])
        if auxiliary != "do":
            place = 1 if tail[0] in self._words["adverbs"] else 0
            tail[place] = (self._verbs.past if auxiliary == "did" else self._verbs.third)[tail[place]]
        return " ".join([*subject, *tail])

    def _put_straight(self, head: Words, auxiliary: str, rest: Words) -> Indirect | None:
        if auxiliary in self._words["be"] and self._measures(head) and not self._named(rest):
            return Indirect(" ".join([*head, *rest, auxiliary])) if self._is_thing(rest) else None
        clause = self.uninverted(auxiliary, rest)
        if clause is None or (_FORMULA.match(head[-1]) and _FORMULA.match(clause)):
            return None
        bare = clause.endswith(auxiliary) or rest[0] == "there"
        return Indirect(" ".join([*head, clause]), "" if bare else self._things(head, clause))

    def _is_inverted(self, head: Words, auxiliary: str, rest: Words) -> bool | None:
        """Whether the subject stands behind the auxiliary, as in "what did Ann buy", not before it, as in "which has
        wings".

        None where that is unsure: "what direction is face B facing".
        """
        first, superlative = rest[0], bool(_BEST.fullmatch(" ".join(rest[1:2])))
        if first.lower() == "not":
            return False
        if auxiliary in self._words["do"] or head[-1] in self._words["alone"] or head[0] in self._words["prepositions"]:
            return True
        if auxiliary in self._words["be"] and (self._measures(head) or first in ("a", "an", "the")):
            return first not in ("a", "an") and not superlative
        if auxiliary not in self._be_or_have:
            return first in self._subjects or self._is_name(first)
        if head in (["who"], ["which"]):
            return first in self._words["pronouns"]
        if auxiliary in self._words["have"] and first in self._words["determiners"]:
            return None  # it may be the verb itself, as in "which group has the most"
        if first in self._subjects or self._is_name(first):
            return True
        unsure = first not in self._words["closers"] and not self._is_participle(first)
        return None if unsure and any(map(self._is_participle, rest[1:])) else False

    def _measures(self, head: Words) -> bool:
        """Whether a size or a quality of the whole subject is asked for: "how long", "what colour"."""
        return len(head) == 2 and head[1] in (self._words["sizes"] if head[0] == "how" else self._words["qualities"])

    def _things(self, head: Words, clause: str) -> str:
        many = list(head[:2]) == ["how", "many"]
        words = head[2:] if many else head[1:]
        fits = (many or head[0] in ("what", "which")) and words and head[-1][-1] != ","
        return f"{' '.join(words)} {clause}" if fits and not self._words["no_thing"] & set(words) else ""

    def _is_thing(self, rest: Words) -> bool:
        """Whether what follows "how long is" is all subject: "the side of the square", not "he now"."""
        first, last = rest[0], rest[-1]
        if len(rest) > 1 and first not in self._words["determiners"] and not _OWNER.fullmatch(first):
            return False
        if last in self._late or last in self._words["pronouns"] or self._is_participle(last):
            return False
        broken = any(word in self._words["breaks"] or word[-1] == "," for word in rest)
        return len(rest) <= _LONGEST_MEASURED and not broken

    def _fits(self, auxiliary: str, first: str, tail: Words) -> bool:
        """Whether what is left behind the subject can go on after it."""
        verb = next((word for word in tail[:2] if word not in self._words["adverbs"]), "")
        if auxiliary in self._words["do"]:
            return verb in self._verbs.past and verb != "be"
        if not tail:
            return auxiliary in self._words["be"]
        strange = verb in self._words["breaks"] or _NAME.fullmatch(verb) or _AMOUNT.match(tail[0])
        return first in self._words["pronouns"] or not strange

    def _named(self, rest: Words) -> int:
        """How many words a subject has that is a pronoun or names, or 0."""
        if rest[0] in self._words["pronouns"] or (
            rest[0] in _DEMONSTRATIVES and rest[1:2] and rest[1] in self._verbs.past
        ):
            return 1
        size = 0
        while size < len(rest) and (_NAME.fullmatch(rest[size]) or _FORMULA.fullmatch(rest[size])):
            size += 1
            if rest[size : size + 1] == ["and"] and size + 1 < len(rest) and _NAME.fullmatch(rest[size + 1]):
                size += 1
        return size

    def _described(self, auxiliary: str, rest: Words) -> int:
        """How many words a subject has that is a determiner or an owner and a thing, or 0."""
        if rest[0] not in self._words["determiners"] and not _OWNER.fullmatch(rest[0]):
            return 1 if _PLURAL.fullmatch(rest[0]) and self._goes_on(auxiliary, rest, 1) else 0
        for size in range(2, min(len(rest), _LONGEST_SUBJECT)):
            if rest[size] in self._words["breaks"] or rest[size - 1][-1] == ",":
                return 0
            unfinished = rest[size - 1] in self._words["prepositions"] | self._words["determiners"]
            if not unfinished and self._goes_on(auxiliary, rest, size):
                return 0 if self._may_be_noun(auxiliary, rest, size) else size
        return 0

    def _may_be_noun(self, auxiliary: str, rest: Words, place: int) -> bool:
        """Whether what looks like a verb may be a noun of the subject: "the test score rise", "the work force
        shrink"."""
        after = rest[place + 1] if place + 1 < len(rest) else ""
        if self._is_verb(auxiliary, rest, place + 1):
            return True
        plain = not after or after in self._late | self._subjects or _AMOUNT.match(after)
        return rest[place] in self._words["nouns"] and not plain

    def _goes_on(self, auxiliary: str, rest: Words, place: int) -> bool:
        """Whether the verb that the auxiliary helps, or what the subject is said to be, stands at a place."""
        if place >= len(rest) or auxiliary not in self._be_or_have:
            return self._is_verb(auxiliary, rest, place)
        ends = place + 1 == len(rest) or rest[place + 1] in self._words["closers"]
        state = auxiliary in self._words["be"] and rest[place] in self._words["states"]
        return state or (ends and self._is_participle(rest[place]))

    def _is_verb(self, auxiliary: str, rest: Words, place: int) -> bool:
        """Whether the base form of a verb stands at a place, which only a modal or "do" has behind it."""
        if place >= len(rest) or auxiliary in self._be_or_have:
            return False
        return rest[place] in self._verbs.past and rest[place] != "like"

    def _is_name(self, word: str) -> bool:
        return bool(_NAME.fullmatch(word) or _FORMULA.match(word) or _OWNER.fullmatch(word))

    def _is_participle(self, word: str) -> bool:
        return bool(_PARTICIPLE.fullmatch(word) or word in self._verbs.participles)


@cache
def word_classes() -> dict[str, frozenset[str]]:
    """Classes of words in lower case by their names; en/grammar.yaml says what each is."""
    read = yaml.safe_load((FOLDER / "en" / "grammar.yaml").read_text("utf-8"))
    classes = {name: frozenset(words.split()) for name, words in read.items()}
    return {**classes, "auxiliaries": classes["be"] | classes["have"] | classes["do"] | classes["modals"]}


@cache
def verbs() -> Verbs:
    """The verbs, read once."""
    third, past, participles = {"have": "has"}, dict[str, str](), set[str]()
    for line in lines_of("en", "verbs.txt"):
        base, *forms = line.split()
        past[base], participle = forms or [_with_ed(base, base in word_classes()["doubled"])] * 2
        third.setdefault(base, _with_s(base))
        participles.add(participle)
    return Verbs(third, past, frozenset(participles))


def _with_s(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _with_ed(verb: str, doubled: bool) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if doubled else "") + ("d" if verb.endswith("e") else "ed")
