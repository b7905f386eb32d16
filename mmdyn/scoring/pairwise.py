"""Judges of pairs, asked in both orders: which reply is better, and which question takes more reasoning."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import ImageFolder
from mmdyn.keys import Json, digest
from mmdyn.models import Asker, ImagePart, Message, TextPart, nonces, prompts_digest
from mmdyn.prompts import filled, read_coded
from mmdyn.record import Reply
from mmdyn.sample import Language, Sample
from mmdyn.scoring.judge import Poll, poll, total
from mmdyn.scoring.rubrics._rubric import (
    KIND,
    Sheet,
    fill,
    gold as golden,
    one_line,
    pictures as shown_pictures,
    question,
)
from mmdyn.tables import Preference, Winner

Shown: TypeAlias = tuple[Sheet, tuple[ImagePart, ...]]
"""What a judge is shown: the text, and the pictures before it."""


class _Verdict(Struct, frozen=True):
    code: str
    why: str
    better: Literal[0, 1, 2]


class PairJudge:
    """Asks the model behind an asker which of two replies is better, once with either of them first.

    A reply wins only where both orders say so, which cancels a liking for what comes first, or second. votes: how often
    it is asked in each order, an odd number; what more than half of them say counts, else the order is a tie. pictures:
    show it the samples' pictures. gold: show it the golden answer. label, identity, id: as a Judge has them.

    Raises UserError for an even number of votes, and for several of a model whose answers are the same each time.
    Source: OpenCompass's subjective mode, in which a judge ranks a reply against a reference model's.
    """

    def __init__(self, asker: Asker, votes: int = 1, *, pictures: bool = False, gold: bool = True) -> None:
        model = asker.model
        nonces(votes, model.label, varies=model.varies)
        self._asker, self._votes, self._pictures, self._gold = asker, votes, pictures, gold
        prompts = ("pairwise", _about(gold), "cut", "notes" if gold else "no_gold")
        self.label = model.label
        self.identity: Json = {
            "model": model.identity,
            "pairwise": {"reading": 1, "prompts": prompts_digest(KIND, *prompts), "gold": gold},
            "votes": votes,
            "pictures": pictures,
        }
        self.id = digest(self.identity)[:8]

    async def compare(self, sample: Sample, a: Reply, b: Reply, images: ImageFolder | None = None) -> Preference:
        """Which of two replies is better. `images`: where the sample's pictures lie, where they are shown.

        Equal replies are a tie, and an empty one loses to any other, without asking. A Preference without winner, and
        with `error`, where a reply never came or no verdict could be had in both orders. Raises as Judge.judge does.
        """
        if a.error or b.error:
            return Preference(None, error=f"there is no reply to compare ({a.error or b.error})")
        if a.text.strip() == b.text.strip():
            return Preference("tie", reason="both replies are the same")
        if not (a.text.strip() and b.text.strip()):
            return Preference("a" if a.text.strip() else "b", reason="the other reply is empty")
        try:
            shown = shown_pictures(sample, images) if self._pictures else ()
        except ValueError as error:
            return Preference(None, error=str(error))
        sheet = partial(pair_sheet, sample, pictures=bool(shown), gold=self._gold)
        return await self._ask_both(sample.language, (sheet(a.text, b.text), shown), (sheet(b.text, a.text), shown))

    async def _ask_both(self, language: str, a_first: Shown, b_first: Shown) -> Preference:
        """Ask in both orders."""
        asking = (self._ask(language, a_first, ("a", "b")), self._ask(language, b_first, ("b", "a")))
        polls = list[Poll[tuple[Winner, str]]]()
        for found in await asyncio.gather(*asking, return_exceptions=True):
            if isinstance(found, BaseException):
                raise found
            polls.append(found)
        return _preference(polls)

    async def _ask(self, language: str, asked: Shown, sides: tuple[Winner, Winner]) -> Poll[tuple[Winner, str]]:
        sheet, shown = asked

        def read(said: str) -> tuple[Winner, str]:
            verdict = read_coded(said, _Verdict, sheet.code)
            winners: tuple[Winner, ...] = ("tie", *sides)
            return winners[verdict.better], one_line(verdict.why)

        prompt = Message("user", (*shown, TextPart(sheet.text)))
        return await poll(self._asker, prompt, language, read, self._votes)


def pair_sheet(sample: Sample, first: str, second: str, *, pictures: bool = False, gold: bool = True) -> Sheet:
    """What to ask about two replies that are not empty. `pictures`: the sample's are shown before."""
    shown = ("\n".join(sample.instructions) or golden(sample)) if gold else filled(KIND, "no_gold", sample.language)
    values = {"question": question(sample), "gold": shown}
    replies = {"first": first, "second": second}
    return fill("pairwise", sample, pictures, replies, about=_about(gold), **values)


def _about(gold: bool) -> str:
    """The template that says whether pictures are shown."""
    return "pictures" if gold else "pictures_alone"


def _preference(polls: Sequence[Poll[tuple[Winner, str]]]) -> Preference:
    """What two orders make together."""
    took = total(polls)
    if error := next(filter(None, (found.error for found in polls)), ""):
        return Preference(
            None, error=error, requests=took.requests, usage=took.usage, cost=took.cost, currency=took.currency
        )
    votes = tuple(tuple(winner for winner, _ in found.verdicts) for found in polls)
    orders = tuple(_majority(said) for said in votes)
    winner = orders[0] if len(set(orders)) == 1 else "tie"
    return Preference(
        winner,
        orders,
        votes,
        reason=polls[0].verdicts[0][1],
        requests=took.requests,
        usage=took.usage,
        cost=took.cost,
        currency=took.currency,
    )


def _majority(votes: Sequence[Winner]) -> Winner:
    winner, count = Counter(votes).most_common(1)[0]
    return winner if 2 * count > len(votes) else "tie"


PROMPTS = ("reasoning", "pictures_of_two", "cut")


class QuestionJudge(PairJudge):
    """Asks the model behind an asker which of two questions takes more reasoning, once with either of them first.

    It is shown the questions with their options, and no answers. votes, pictures, label, identity, id and what wins:
    as a PairJudge has them. Source: R-Bench, section 3.1, whose experts and model vote so on random pairs of questions
    of two benchmarks; the words of the prompt are ours.
    """

    def __init__(self, asker: Asker, votes: int = 1, *, pictures: bool = False) -> None:
        super().__init__(asker, votes, pictures=pictures, gold=False)
        reading = {"reading": 1, "prompts": prompts_digest(KIND, *PROMPTS)}
        self.identity = {"model": asker.model.identity, "reasoning": reading, "votes": votes, "pictures": pictures}
        self.id = digest(self.identity)[:8]

    async def compare_questions(
        self, a: Sample, b: Sample, images_a: ImageFolder | None = None, images_b: ImageFolder | None = None
    ) -> Preference:
        """Which of two questions takes more reasoning; `images_a` and `images_b`: where their pictures lie.

        Equal questions are a tie without asking. No winner, and an `error`, as in PairJudge.compare.
        """
        if question(a) == question(b) and a.all_images == b.all_images:
            return Preference("tie", reason="both questions are the same")
        try:
            shown_a = shown_pictures(a, images_a) if self._pictures else ()
            shown_b = shown_pictures(b, images_b) if self._pictures else ()
        except ValueError as error:
            return Preference(None, error=str(error))
        a_first = question_sheet(a, b, pictures=self._pictures), (*shown_a, *shown_b)
        b_first = question_sheet(b, a, pictures=self._pictures), (*shown_b, *shown_a)
        return await self._ask_both(_language(a, b), a_first, b_first)


def question_sheet(first: Sample, second: Sample, *, pictures: bool = False) -> Sheet:
    """What to ask about two questions, in their language; in English about two of two languages."""
    asked = {"first": question(first), "second": question(second)}
    counts = {"first_pictures": str(len(first.all_images)), "second_pictures": str(len(second.all_images))}
    host = replace(first if first.all_images else second, language=_language(first, second))
    return fill("reasoning", host, pictures, asked, about="pictures_of_two", **counts)


def _language(a: Sample, b: Sample) -> Language:
    return a.language if a.language == b.language else "en"
