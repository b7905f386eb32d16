"""The contract of a judge, its cases, and the form of a question: stem, options, what it claims."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.equal import compare, same
from mmdyn.keys import Json
from mmdyn.sample import IMAGE_MARK, Language, Option, Sample, Verdict
from mmdyn.task_types import Form
from mmdyn.text import BLANK, count_blanks, fold, read_number, readable_text, split_options, without_frames
from perturb.item import OpenedTool, Picture

_OPTION_LINE = re.compile(r"^[^\S\n]{0,20}[(（]?([A-H])\s?[.．、:：)）][^\S\n]{0,9}(.*)$", re.MULTILINE)
_CLAIMS = re.compile(
    r"\btrue or false\b|\btrue/false\b|\b(?:claim|statement|assertion) (?:true|correct|right)\b|\bcorrect or"
    r" (?:not|incorrect)\b"
    r"|是否(?:正确|成立|属实)|对还是错|是对是错|正确还是错误|(?:说法|断言|判断|命题)(?:正确|成立|对)吗|判断(?:正误|对错)",
    re.IGNORECASE,
)
_LETTERS = r"[A-H](?![A-Za-z])(?:(?:, and |, | and |、|和)[A-H](?![A-Za-z])){0,7}"
_CALLED_RIGHT = re.compile(
    rf"\b(?:answers?|options?|choices?)\s(?:is|are)\s(?:options?\s)?({_LETTERS})(?:, and no other"
    rf" options?)?|(?:应选|(?:答案|选项)(?:之一)?[是为]?)\s?({_LETTERS})(?:，且不选其他选项)?"
)
_FILLED_IN = re.compile(
    r"(?:Claim: (?:(?:the|the right|one of the right) answers? is )?"
    r"|断言：(?:空白处应填|本题应选|本题的(?:正确)?答案(?:之一)?是))(.{1,400}?)"
    r"(?: belongs in the blank)?[.。]\s?(?:Is this claim true or false\?|这一断言是否正确？)\s*$"
)
_ONE_OF = re.compile("one of the right answers is|正确答案之一是")
_SAID = re.compile(
    r"(?:^|(?<=[.?!。？！]))[^\S\n]*【?(?:(?:the |correct |right |final )*answer|(?:正确|参考)?答案)"
    r"(?:】|\s?(?:is|是|为)?\s?[:：])\s?([^\n]{1,80}?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
"""What says the answer: a line, or the last sentence of one."""
_LABELS_SAID = re.compile(rf"[(（]?({_LETTERS})[)）]?\s*(?:[.．。、:：]|$)")
_TRUE = frozenset({"true", "correct", "right", "yes", "t", "正确", "对", "是", "√"})
_BETWEEN = r"\s*(?:[,，、;；]|and|和|与)\s*"
_SHORTEST_PART, _LONGEST_LABEL = 2, 24
_folded = lru_cache(maxsize=2048)(fold)
UNKNOWN = "?"
"""The answer of a question whose answer nobody gave."""


@lru_cache(maxsize=512)
def plain_text(text: str) -> str:
    """A stem in one spelling, without LaTeX and image marks, a blank as ____ and the end of a line as a full stop."""
    return readable_text(BLANK.sub(" ____ ", IMAGE_MARK.sub(" ", text)).replace("\n", " . "))


class AskedForm(Struct, frozen=True, eq=False):
    """A question taken apart. `stem` has neither options nor what a claim calls right, letters (`claimed`) or a text
    (`filled`), nor a line that says the answer (`said`: the options' texts where it names letters).

    `options` are the sample's own or those that its words list; `gold` are the texts of which each is, or says, the
    right answer; empty for a claim.
    """

    form: Form
    stem: str
    options: tuple[Option, ...]
    claimed: tuple[str, ...]
    filled: str
    said: str
    gold: tuple[str, ...]
    sample: Sample


def asked(sample: Sample) -> AskedForm:
    """Take a sample apart. What an open question really is (options listed in it, a blank, a claim) its words tell.

    Frames around the question and notes on the form of the answer are no part of what is asked.
    """
    question = sample.question
    line = next((found for found in _SAID.finditer(question) if not _asks(found[1])), None)
    if line:
        question = f"{question[: line.start()].rstrip()}\n{question[line.end() :].lstrip()}".strip()
    question = without_frames(question)
    stem, options = (question, sample.options) if sample.options else _listed(question)
    form = _form(sample, stem, options)
    claimed, filled = tuple[str, ...](), ""
    if form == "claim" and (found := _CALLED_RIGHT.search(stem)):
        claimed = tuple(re.findall(r"[A-H](?![a-z])", found[1] or found[2]))
        stem = stem[: found.start()] + stem[found.end() :]
    elif form == "claim" and (found := _FILLED_IN.search(stem)):
        filled, stem = found[1].removeprefix("“").removesuffix("”"), stem[: found.start()]
    options = tuple(_unmarked(option, sample.images) for option in options)
    said = _told(line[1], options) if line else ""
    return AskedForm(form, stem, options, claimed, filled, said, _gold(sample, options), sample)


def options_differ(a: AskedForm, b: AskedForm) -> str:
    """What is wrong with the options of two questions that should have the same in any order, or the empty string.

    A claim need not list options that say their own letter and no more.
    """
    if not (a.options and b.options) or a.options == b.options:
        return ""
    first, second = ([option for option in side.options if a.form == b.form or _tells(option)] for side in (a, b))
    before, after = {_key(option): option for option in first}, {_key(option): option for option in second}
    gone = [option for key, option in before.items() if key not in after]
    new = [option for key, option in after.items() if key not in before]
    if len(first) == len(second) and all(any(_is_option(one, other) for other in new) for one in gone):
        return ""
    if gone and new:
        return f"an option changed: {_short(gone[0])} -> {_short(new[0])}"
    if gone or new or len(first) != len(second):
        return f"the options are not the same: {_short((gone or new or first)[0])}"
    return ""


def answers_differ(a: AskedForm, b: AskedForm) -> str:
    """Why the ground truths of two questions do not correspond, or the empty string."""
    before, after = a.sample.answer, b.sample.answer
    if a.sample.task_type == b.sample.task_type and a.form == b.form:
        kept = (before == after and (isinstance(before, str) or a.gold == b.gold)) or (
            a.gold and _are_equal(_accepted(a), _accepted(b))
        )
        return "" if kept else "the right answer changed"
    if isinstance(after, bool):
        return _claim_is_wrong(a, b, after)
    if isinstance(before, bool):
        truth = {option.label: _folded(option.text) in _TRUE for option in b.options}
        right = isinstance(after, tuple) and any(truth.get(str(label)) is before for label in after)
        return "" if right else "the right option says the opposite of the right answer"
    if b.form == "choice" and a.form != "choice":
        right_texts = b.gold if b.sample.options else tuple(option.text for option in b.options)
        found = not a.gold or any(means(text, gold) for text in right_texts for gold in a.gold)
        return "" if found else "the right answer is not the right option"
    parts = _accepted(b) if b.sample.kind.form == "blank" else []
    if len(parts) > 1 and a.form == "choice":
        found = not a.gold or any(_lists(gold, parts) for gold in a.gold)
    else:
        found = not a.gold or any(means(gold, text) for gold in a.gold for text in b.gold)
    return "" if found else f"the right answer changed: {a.gold[0][:40]}"


def are_words(a: AskedForm, b: AskedForm) -> bool:
    """Whether right answers that differ are texts of which nobody can say without reading that they differ."""
    pairs = [(text, other) for text in a.gold for other in b.gold]
    return a.form == b.form != "choice" and any(compare(text, other) is None for text, other in pairs)


def means(text: str, other: str) -> bool:
    """Whether two short answers say the same: alike when folded, equal as numbers, or one a part of the other."""
    if _equal(text, other):
        return True
    one, two = _folded(text), _folded(other)
    numbers = read_number(text) or read_number(other)
    return min(len(one), len(two)) >= _SHORTEST_PART and (one in two or two in one) and not numbers


def _lists(text: str, parts: list[tuple[str, ...]]) -> bool:
    """Whether a text is a list of what counts as right, blank by blank ("2.4, 1.6"), and nothing else."""
    one_of = ("|".join(re.escape(fold(part)) for part in accepted) for accepted in parts)
    return bool(re.fullmatch(_BETWEEN.join(f"(?:{words})" for words in one_of), fold(text)))


def _equal(text: str, other: str) -> bool:
    """Whether two short answers are the same, neither taken for the rounded form of the other."""
    return _folded(text) == _folded(other) or (same(text, other) and same(other, text))


def _is_option(one: Option, other: Option) -> bool:
    return one.image == other.image and _equal(one.text, other.text)


def _claim_is_wrong(a: AskedForm, b: AskedForm, truth: bool) -> str:
    """Why a claim is not as true as it is said to be."""
    if a.form == "claim":
        return "" if a.sample.answer is truth else "the right answer changed"
    if b.claimed and isinstance(a.sample.answer, tuple):
        claimed, gold = set(b.claimed), set(map(str, a.sample.answer))
        right = claimed <= gold if _ONE_OF.search(b.sample.question) else claimed == gold
        return "" if right is truth else f"a claim of {', '.join(b.claimed)} is called {str(truth).lower()}"
    if b.filled:
        right = any(_equal(b.filled, gold) for gold in a.gold)
        return "" if right is truth else f"a claim of {b.filled[:40]!r} is called {str(truth).lower()}"
    said = _folded(b.stem)
    right = any(_folded(gold) in said for gold in a.gold if gold.strip())
    wrong = any(
        _folded(option.text) in said for option in a.options if option.text.strip() and option.text not in a.gold
    )
    against = right != wrong and right is not truth
    return f"a claim is called {str(truth).lower()} against the right answer" if against else ""


def _form(sample: Sample, stem: str, options: tuple[Option, ...]) -> Form:
    if sample.kind.form != "open":
        return sample.kind.form
    if _CLAIMS.search(stem) or _CALLED_RIGHT.search(stem):
        return "claim"
    if options:
        return "choice"
    return "blank" if count_blanks(stem) else "open"


def _asks(said: str) -> bool:
    """Whether what stands where an answer would is left open: a blank, or "true or false"."""
    return bool(count_blanks(said) or _CLAIMS.search(said))


def _told(said: str, options: tuple[Option, ...]) -> str:
    """An answer in words: the texts of the options whose letters it names."""
    if options and (found := _LABELS_SAID.match(said)):
        labels = re.findall(r"[A-H](?![A-Za-z])", found[1])
        return "; ".join(option.text for option in options if option.label in labels)
    return said


def _listed(text: str) -> tuple[str, tuple[Option, ...]]:
    """The stem and the options of a question that lists them itself: each on a line of its own, or run together at its
    end."""
    lines = list(_OPTION_LINE.finditer(text))
    labels = [line[1] for line in lines]
    if labels and labels == sorted(set(labels)) and (labels[:2] == ["A", "B"] or _CALLED_RIGHT.search(text)):
        options = tuple(Option(line[1], line[2].strip()) for line in lines)
        return f"{text[: lines[0].start()]}\n{text[lines[-1].end() :]}".strip(), options
    try:
        stem, options, _ = split_options(text, least=3)
    except ValueError:
        return text, ()
    return stem, options


def _unmarked(option: Option, images: tuple[str, ...]) -> Option:
    """An option whose picture is its own rather than one of the question's that it marks."""
    mark = IMAGE_MARK.search(option.text)
    if option.image or not mark or not 0 < int(mark[1]) <= len(images):
        return option
    return Option(option.label, IMAGE_MARK.sub("", option.text).strip(), images[int(mark[1]) - 1])


def _tells(option: Option) -> bool:
    """Whether an option says more than its letter."""
    if option.image or len(option.text) > _LONGEST_LABEL:
        return True
    return _folded(option.text) not in ("", _folded(option.label))


def _gold(sample: Sample, options: tuple[Option, ...]) -> tuple[str, ...]:
    answer = sample.answer
    if isinstance(answer, bool) or answer == UNKNOWN:
        return ()
    if isinstance(answer, str):
        return (_told(answer, options),)
    if sample.kind.form == "choice":
        return tuple(option.text or option.image or option.label for option in sample.options if option.label in answer)
    return tuple(text for accepted in answer for text in ((accepted,) if isinstance(accepted, str) else accepted))


def _accepted(side: AskedForm) -> list[tuple[str, ...]]:
    """What counts as right, blank by blank; the gold options together."""
    answer = side.sample.answer
    if side.sample.kind.form == "blank" and isinstance(answer, tuple):
        return [(one,) if isinstance(one, str) else one for one in answer]
    return [side.gold]


def _are_equal(before: list[tuple[str, ...]], after: list[tuple[str, ...]]) -> bool:
    """Whether as many texts count as right in each place, and each is equal to one of the other side."""
    return [*map(len, before)] == [*map(len, after)] and all(
        any(_equal(text, other) for other in others)
        for texts, others in zip(before, after, strict=True)
        for text in texts
    )


def _key(option: Option) -> tuple[str, str | None]:
    return _folded(option.text), option.image


def _short(option: Option) -> str:
    return option.text[:40] or (option.image or option.label)[:40]


_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")

SAME_WORDS = 0.99
"""Confidence in a variant whose words are its parent's."""


class Look(Struct, frozen=True, eq=False):
    """One picture of a sample before and after. `after` is without what is `noisy` in the chain; `shown`, where it is
    known, and the files are what models are asked."""

    before: Picture
    after: Picture
    before_file: Path
    after_file: Path
    shown: Picture | None = None


class Case(Struct, frozen=True, eq=False):
    """A variant beside its parent: words before and after, and the pictures that changed."""

    before: Sample
    after: Sample
    looks: tuple[Look, ...] = ()

    @property
    def about(self) -> str:
        """What tells its question apart from others: the parent's group, else its id and words."""
        return self.before.group or f"{self.before.id} {self.before.question}"


class Doubt(Struct, frozen=True):
    """What a cheap check holds against a variant: `certain` rejects it, otherwise a judge model is asked where there is
    one."""

    reason: str
    certain: bool
    confidence: float

    def unasked(self, by: str) -> Verdict:
        """The verdict of a judge that can ask no model about it."""
        return Verdict("rejected" if self.certain else "doubtful", by, self.reason, round(self.confidence, 4))


def gravest(doubts: Iterable[Doubt]) -> Doubt | None:
    """The first doubt that is certain, else the first one; None where there is none. Later ones are not looked for."""
    first = None
    for doubt in doubts:
        if doubt.certain:
            return doubt
        first = first or doubt
    return first


class VariantJudge(OpenedTool, Protocol):
    """Says whether a variant still asks the same and has the same answer. Used from several threads at a time."""

    def judge(self, case: Case) -> Verdict:
        """A verdict of status `kept`, `rejected` or `doubtful`, with reason and confidence. Raises ValueError where
        none could be had."""


def case_of(a: str, b: str, answer: Json = None) -> Case:
    """Two questions in words, with the answer that both should have where it is known. Options may be listed in them.

    Raises ValueError for an empty text.
    """
    if not (a.strip() and b.strip()):
        raise ValueError(f'"{"b" if a.strip() else "a"}" is empty: give the whole question')
    known = _spell(answer)
    language: Language = language_of(a + b)
    marked = max([0, *(int(number) for number in IMAGE_MARK.findall(a + b))])
    images = tuple(f"images/{number}.png" for number in range(1, marked + 1))
    before = Sample("a", a, "open_ended", known, language, images=images)
    return Case(before, replace(before, id="b", question=b))


def language_of(text: str) -> Language:
    """Chinese where there are more Chinese characters than words in Latin letters, else English."""
    return "zh" if len(_HAN.findall(text)) > len(_LATIN.findall(text)) else "en"


def _spell(answer: Json) -> str:
    if isinstance(answer, list):
        return "; ".join(filter(None, map(_spell, answer))) or UNKNOWN
    if isinstance(answer, bool):
        return str(answer).lower()
    return str(answer).strip() or UNKNOWN if answer is not None else UNKNOWN
