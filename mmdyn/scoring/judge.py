"""Models as judges, by votes: what a reply is worth, and what kind of error made it wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from statistics import fmean, median
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import ImageFolder
from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.models import (
    TRIES,
    Asker,
    Budget,
    Caches,
    Message,
    TextPart,
    ask_until_usable,
    nonces,
    open_model,
    prompts_digest,
    text_of,
)
from mmdyn.plugins import load, resolve
from mmdyn.prompts import filled, read_coded
from mmdyn.record import Judgement, Reply, Usage
from mmdyn.sample import Sample
from mmdyn.scoring.rubrics._rubric import (
    KIND,
    Rubric,
    RubricVerdict,
    Sheet,
    fill,
    gold,
    one_line,
    pictures,
    pictures as shown_pictures,
    question,
)
from mmdyn.tables import ErrorLabel, Kind

T = TypeVar("T")


class Paid(Protocol):
    """What took tokens, and cost something."""

    @property
    def usage(self) -> Usage: ...
    @property
    def cost(self) -> float | None: ...
    @property
    def currency(self) -> str: ...


class CountedRequests(Paid, Protocol):
    """The same for what several requests may have gone into."""

    @property
    def requests(self) -> int: ...


class Poll(Struct, Generic[T], frozen=True):
    """As many `verdicts` as votes were asked for, or none and an `error`. The rest is as a Judgement has it."""

    verdicts: tuple[T, ...]
    error: str
    requests: int
    cached: int
    usage: Usage
    cost: float | None
    currency: str


async def poll(asker: Asker, prompt: Message, language: str, read: Callable[[str], T], votes: int = 1) -> Poll[T]:
    """Ask for some votes, all at once, each until `read` can use it (it raises ValueError where not, which the model is
    told).

    A vote that cannot be had leaves no verdict at all: fewer votes than were asked for would be another judge. Replies
    that could not be used before, and lie in the cache, are passed over: the same is asked in a later epoch. Raises
    UserError as `nonces` does, ModelError where the model cannot be asked at all, Stopped where it may not be.
    """
    model = asker.model
    sent, cached = list[Reply](), list[list[Reply]]()

    async def vote(start: int) -> T:
        turn, anew, recalled = 0, False, list[Reply]()
        cached.append(recalled)

        async def ask(messages: tuple[Message, ...], nonce: int) -> str:
            nonlocal anew
            epoch = nonce + turn * votes * TRIES if model.varies else turn
            reply, known = await asker.fetch(messages, epoch)
            (recalled if known else sent).append(reply)
            anew = anew or not known
            return text_of(model.label, reply)

        asking = partial(ask_until_usable, ask, model.label, prompt, language, read, start)
        while True:
            try:
                return await asking(shown=False, varies=model.varies)
            except ValueError:
                if anew:
                    raise
            turn += 1
            recalled.clear()

    asking = [vote(start) for start in nonces(votes, model.label, varies=model.varies)]
    verdicts, error = list[T](), ""
    for found in await asyncio.gather(*asking, return_exceptions=True):
        if isinstance(found, ValueError):
            error = error or str(found)
        elif isinstance(found, BaseException):
            raise found
        else:
            verdicts.append(found)
    requests, (cost, currency) = sum(reply.attempts for reply in sent), _cost(sent)
    known = list(chain.from_iterable(cached))
    currency = currency or next((reply.currency for reply in known if reply.currency), "")
    return Poll(() if error else tuple(verdicts), error, requests, len(known), _usage(sent), cost, currency)


class Took(NamedTuple):
    """What several requests took, by its names in a Judgement."""

    requests: int
    usage: Usage
    cost: float | None
    currency: str


def total(asked: Sequence[CountedRequests]) -> Took:
    """What several polls, or what was made of them, took."""
    cost, currency = _cost(asked)
    return Took(sum(found.requests for found in asked), _usage(asked), cost, currency)


def _usage(replies: Iterable[Paid]) -> Usage:
    used = [reply.usage for reply in replies]
    return Usage(
        prompt_tokens=sum(one.prompt_tokens for one in used),
        completion_tokens=sum(one.completion_tokens for one in used),
        reasoning_tokens=sum(one.reasoning_tokens for one in used),
        cached_tokens=sum(one.cached_tokens for one in used),
    )


def _cost(replies: Sequence[Paid]) -> tuple[float | None, str]:
    """The sum, which is not known where one is not; nothing costs nothing."""
    costs = [reply.cost for reply in replies if reply.cost is not None]
    currency = next((reply.currency for reply in replies if reply.currency), "")
    return (sum(costs), currency) if len(costs) == len(replies) else (None, currency)


AUTO, AUTOMATIC = "auto", ("checklist", "match")
"""The rubric `checklist` for a sample that has one, else `match`."""


class Judge:
    """Asks the model behind an asker about replies, by one rubric.

    votes: how often it is asked about each, an odd number. pictures: show it the samples' pictures, too.
    asker (attribute): as it was given. chosen: the rubric is a certain one, which may not suit all samples. label: the
        model's. identity: all that decides its verdicts, never a key. id: eight hexadecimal digits of that. Raises
        UserError: no such rubric, an even number of votes, several votes of a model whose answers are the same each
        time.
    """

    def __init__(self, asker: Asker, rubric: str = AUTO, votes: int = 1, *, pictures: bool = False) -> None:
        model = asker.model
        nonces(votes, model.label, varies=model.varies)
        self.asker, self._votes, self._pictures = asker, votes, pictures
        self._rubrics = _open(rubric)
        self.chosen = rubric != AUTO
        self.label = model.label
        self.identity: Json = {
            "model": model.identity,
            "rubrics": {name: one.identity for name, one in self._rubrics.items()},
            "votes": votes,
            "pictures": pictures,
        }
        self.id = digest(self.identity)[:8]

    def check(self, sample: Sample) -> None:
        """Raise UserError for a sample that the rubric cannot be used for."""
        try:
            self.rubric(sample).nothing(sample)
        except ValueError as error:
            raise UserError(f"{self.label} cannot judge {sample.id}: {error}") from None

    async def judge(self, sample: Sample, reply: Reply, images: ImageFolder | None = None) -> Judgement:
        """What a reply is worth. `images`: where the sample's pictures lie, where they are shown.

        A reply that never came is not judged, an empty one is worth nothing without asking. A Judgement without value,
        and with `error`, where the rubric does not suit the sample or no verdict could be had. Raises ModelError where
        the model cannot be asked at all, Stopped where the budget allows no further request, UserError where `images`
        is needed.
        """
        if reply.error:
            return Judgement(None, error=f"there is no reply to judge ({reply.error})")
        rubric = self.rubric(sample)
        try:
            if not reply.text.strip():
                return _judgement((rubric.nothing(sample),))
            prompt, code = self.prompt(sample, reply.text, images)
        except ValueError as error:
            return Judgement(None, error=str(error))

        def read(said: str) -> RubricVerdict:
            return rubric.read(sample, said, code)

        votes = await poll(self.asker, prompt, sample.language, read, self._votes)
        judgement = Judgement(None, error=votes.error) if votes.error else _judgement(votes.verdicts)
        marks = () if votes.error else tuple(fmean(verdict.grades) for verdict in votes.verdicts)
        return replace(
            judgement,
            votes=marks,
            requests=votes.requests,
            cached=votes.cached,
            usage=votes.usage,
            cost=votes.cost,
            currency=votes.currency,
        )

    async def close(self) -> None:
        """Save what is in the cache and close the model."""
        await self.asker.close()

    def prompt(self, sample: Sample, text: str, images: ImageFolder | None = None) -> tuple[Message, str]:
        """What is asked about a reply that is not empty, and the code that a verdict must hold.

        Raises ValueError where the rubric does not suit the sample or a picture cannot be read, UserError where
        `images` is needed.
        """
        shown = pictures(sample, images) if self._pictures else ()
        sheet = self.rubric(sample).sheet(sample, text, bool(shown))
        return Message("user", (*shown, TextPart(sheet.text))), sheet.code

    def rubric(self, sample: Sample) -> Rubric:
        """By what replies to a sample are judged."""
        name = AUTOMATIC[not sample.checklist] if len(self._rubrics) > 1 else next(iter(self._rubrics))
        return self._rubrics[name]


def open_judge(
    model: str,
    rubric: str = AUTO,
    votes: int = 1,
    *,
    concurrency: int = 32,
    caches: Caches | None = None,
    budget: Budget | None = None,
    pictures: bool = False,
) -> Judge:
    """The judge behind a MODEL, such as openai:NAME; for several votes it is to vary, as far as its options leave that
    open.

    `caches` stay the caller's to close. Raises UserError as Judge does, and for an unknown backend or option.
    """
    asker = Asker(open_model(model, varied=votes > 1), concurrency=concurrency, caches=caches, budget=budget)
    return Judge(asker, rubric, votes, pictures=pictures)


def _open(rubric: str) -> dict[str, Rubric]:
    names = AUTOMATIC if rubric == AUTO else (resolve("rubrics", rubric),)
    return {name: load("rubrics", name)() for name in names}


def _judgement(verdicts: Sequence[RubricVerdict]) -> Judgement:
    """What some votes decide: the median of the grades of each part, the majority on each item."""
    grades = tuple(tuple(part) for part in zip(*(verdict.grades for verdict in verdicts), strict=True))
    items = tuple(tuple(item) for item in zip(*(verdict.items for verdict in verdicts), strict=True))
    parts = tuple(median(part) for part in grades)
    met = tuple(2 * sum(item) > len(item) for item in items)
    agreeing = [
        sum(said == decided for said in slot) for slot, decided in zip((*grades, *items), (*parts, *met), strict=True)
    ]
    return Judgement(
        fmean(parts),
        parts=parts if len(parts) > 1 else (),
        items=met,
        agreement=fmean(agreeing) / len(verdicts) if len(verdicts) > 1 else None,
        reason=verdicts[0].reason,
    )


class _Verdict(Struct, frozen=True):
    code: str
    why: str
    kind: Kind


class ErrorJudge:
    """Asks the model behind an asker what kind of error made an answer wrong.

    It sees the question, the golden answer, what the model thought aloud and its answer, and the samples' pictures
    unless `pictures` is False. votes: how often it is asked, an odd number. label, identity, id: as a Judge has them.
    Raises UserError for an even number of votes, and for several of a model whose answers are the same each time.

    Source: the kinds are those of MDK12-Bench, section Error Analysis, which sorts 100 errors of five models.
    """

    def __init__(self, asker: Asker, votes: int = 1, *, pictures: bool = True) -> None:
        model = asker.model
        nonces(votes, model.label, varies=model.varies)
        self._asker, self._votes, self._pictures = asker, votes, pictures
        self.label = model.label
        prompts = prompts_digest(KIND, "error_kind", "pictures", "no_reasoning", "notes", "cut")
        self.identity: Json = {
            "model": model.identity,
            "errors": {"reading": 1, "prompts": prompts},
            "votes": votes,
            "pictures": pictures,
        }
        self.id = digest(self.identity)[:8]

    async def judge(self, sample: Sample, reply: Reply, images: ImageFolder | None = None) -> ErrorLabel:
        """The kind of error in a wrong answer that is not empty. `images`: where the sample's pictures lie.

        A label without votes, and with `error`, where none could be had. Raises as Judge.judge does.
        """
        try:
            shown = shown_pictures(sample, images) if self._pictures else ()
        except ValueError as error:
            return ErrorLabel((), error=str(error))
        sheet = error_sheet(sample, reply, pictures=bool(shown))

        def read(said: str) -> tuple[Kind, str]:
            verdict = read_coded(said, _Verdict, sheet.code)
            if verdict.kind == "visual" and not sample.all_images:
                raise ValueError('the question has no picture, so that the kind cannot be "visual"')
            return verdict.kind, one_line(verdict.why)

        prompt = Message("user", (*shown, TextPart(sheet.text)))
        found = await poll(self._asker, prompt, sample.language, read, self._votes)
        return ErrorLabel(
            votes=tuple(kind for kind, _ in found.verdicts),
            reason="" if found.error else found.verdicts[0][1],
            error=found.error,
            requests=found.requests,
            usage=found.usage,
            cost=found.cost,
            currency=found.currency,
        )


def error_sheet(sample: Sample, reply: Reply, *, pictures: bool = False) -> Sheet:
    """What to ask about a wrong answer. `pictures`: the sample's are shown before."""
    thoughts = reply.reasoning if reply.reasoning.strip() else filled(KIND, "no_reasoning", sample.language)
    said = {"reasoning": thoughts, "answer": reply.text}
    return fill(
        "error_kind",
        sample,
        pictures,
        said,
        question=question(sample),
        gold="\n".join(sample.instructions) or gold(sample),
    )
