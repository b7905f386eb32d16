"""The judges of a run, as a command names them, opened beside its rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.models import Budget, nonces, open_cache
from mmdyn.plugins import resolve
from mmdyn.scoring import AUTO, Cascade, Scorer, check_mode, open_judge
from mmdyn.work import JudgeEntry


class Judging(Struct, frozen=True):
    """models: MODEL texts, the cheap one first, which may hold secrets: they are never written down. mode: as a
    Cascade's.

    votes, rubric, pictures: as a Judge's, of each of them. else_rules: the rules' score counts where no verdict could
        be had.
    """

    models: tuple[str, ...] = ()
    mode: str = "unsure"
    votes: int = 1
    rubric: str = AUTO
    pictures: bool = False
    else_rules: bool = False

    def check(self) -> None:
        """Raise UserError for settings of judges where none is named, an even number of votes, an unknown mode and an
        unknown rubric."""
        check_mode(self.mode)
        if not self.models and self != Judging():
            raise UserError(
                "--judge-mode, --votes, --rubric, --judge-pictures and --else-rules go with --judge: name one"
            )
        nonces(self.votes, "a judge", varies=True)
        if self.rubric != AUTO:
            resolve("rubrics", self.rubric)


@contextmanager
def open_cascade(
    scorer: Scorer, judging: Judging, *, concurrency: int, use_cache: bool, budget: Budget
) -> Iterator[Cascade]:
    """The cascade, whose judges share the budget and the response cache; the cache is closed at the end, the judges are
    not.

    concurrency: requests in flight at most, of each judge. Raises UserError as Judging.check, Judge and Cascade do.
    """
    judging.check()
    cache = open_cache() if judging.models and use_cache else None
    with cache or nullcontext():
        opened = partial(open_judge, rubric=judging.rubric, votes=judging.votes, pictures=judging.pictures)
        judges = [opened(model, concurrency=concurrency, cache=cache, budget=budget) for model in judging.models]
        yield Cascade(scorer, judges, judging.mode)


def entries_of(cascade: Cascade) -> tuple[JudgeEntry, ...]:
    """What run.json keeps of the judges."""
    return tuple(JudgeEntry(judge.label, judge.id, judge.identity) for judge in cascade.judges)
