"""A judge: a model that is asked, by a rubric, what a reply is worth."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from msgspec.structs import replace

from mmdyn.data import ImageFolder
from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.models import Asker, Budget, Caches, Message, TextPart, nonces, open_model
from mmdyn.plugins import load, resolve
from mmdyn.record import Judgement, Reply
from mmdyn.sample import Sample
from mmdyn.scoring.poll import poll
from mmdyn.scoring.rubrics._rubric import Rubric, RubricVerdict
from mmdyn.scoring.rubrics._shown import pictures

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
            self._rubric(sample).nothing(sample)
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
        rubric = self._rubric(sample)
        try:
            if not reply.text.strip():
                return _judgement((rubric.nothing(sample),))
            shown = pictures(sample, images) if self._pictures else ()
            sheet = rubric.sheet(sample, reply.text, bool(shown))
        except ValueError as error:
            return Judgement(None, error=str(error))

        def read(said: str) -> RubricVerdict:
            return rubric.read(sample, said, sheet.code)

        prompt = Message("user", (*shown, TextPart(sheet.text)))
        votes = await poll(self.asker, prompt, sample.language, read, self._votes)
        judgement = Judgement(None, error=votes.error) if votes.error else _judgement(votes.verdicts)
        took = {name: getattr(votes, name) for name in ("requests", "cached", "usage", "cost", "currency")}
        marks = () if votes.error else tuple(fmean(verdict.grades) for verdict in votes.verdicts)
        return replace(judgement, votes=marks, **took)

    async def close(self) -> None:
        """Save what is in the cache and close the model."""
        await self.asker.close()

    def _rubric(self, sample: Sample) -> Rubric:
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
