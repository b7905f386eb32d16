"""How replies are scored: by a policy's rules, and by judges beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from mmdyn.errors import UserError
from mmdyn.models import Budget, Caches, nonces, read_settings
from mmdyn.plugins import resolve
from mmdyn.run.sets import several
from mmdyn.scoring import AUTO, Cascade, Judge, Scorer, check_mode, open_judge
from mmdyn.work import JudgeEntry


class RubricConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """What every judge is asked, how often (odd), and whether it is shown the samples' pictures."""

    name: str = AUTO
    votes: int = 1
    pictures: bool = False


class ScoringConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """How replies are scored. `rubric` is a RubricConfig, or its text; the texts of judges, which may hold secrets, are
    never written down.

    policy: How credit is given: `mmdyn list scorers`.
    judges: Who judges what rules do not settle (--judge-mode). Given twice, a cheap one first: the next is asked only
        where the one before gives less than full marks, or no verdict.
    judge_mode: With --judge: unsure asks about answers that need a judge (nothing was read, or not surely; open answers
        and blanks in words that do not equal the right one), wrong about whatever the rules do not call right, all
        about everything.
    rubric: With --judge: what is asked (`mmdyn list rubrics`; auto is checklist for a sample that has one, else match),
        how often of each (votes=3; odd), and whether with the samples' pictures (pictures=true).
    else_rules: With --judge: where no verdict could be had the rules' score counts; else the judges' scores come into
        force only when none is missing.
    """

    policy: str = "mdk12"
    judges: str | Sequence[str] = ()
    judge_mode: str = "unsure"
    rubric: str | RubricConfig = AUTO
    else_rules: bool = False

    def __post_init__(self) -> None:
        force_setattr(self, "judges", several(self.judges))

    def check(self) -> RubricConfig:
        """The rubric. Raises UserError for settings of judges where none is named, an even number of votes, an unknown
        mode and an unknown rubric."""
        check_mode(self.judge_mode)
        rubric = read_settings(self.rubric, RubricConfig)
        if not self.judges and (self.judge_mode, rubric, self.else_rules) != ("unsure", RubricConfig(), False):
            raise UserError("--judge-mode, --rubric and --else-rules go with --judge: name one")
        nonces(rubric.votes, "a judge", varies=True)
        if rubric.name != AUTO:
            resolve("rubrics", rubric.name)
        return rubric


def needed_judges(scoring: ScoringConfig) -> ScoringConfig:
    """The same without judges where no score would need one: by a metric, in the mode unsure."""
    if not scoring.judges or scoring.judge_mode != "unsure" or not Scorer(scoring.policy).compares:
        return scoring
    return ScoringConfig(scoring.policy)


Cascades: TypeAlias = dict[ScoringConfig, Cascade]
"""By what they are made of."""


@contextmanager
def open_cascades(
    scorings: Iterable[ScoringConfig], *, concurrency: int, caches: Caches, budget: Budget
) -> Iterator[Cascades]:
    """The cascades of several sets, which share judges that are asked alike. As `open_cascade` for the rest."""
    opened = cache(open_judge)
    with caches:
        settings = {"concurrency": concurrency, "caches": caches, "budget": budget}
        yield {one: _cascade(one, partial(opened, **settings)) for one in scorings}


def _cascade(scoring: ScoringConfig, opened: Callable[..., Judge]) -> Cascade:
    scorer, rubric = Scorer(scoring.policy), scoring.check()
    asked = {"rubric": rubric.name, "votes": rubric.votes, "pictures": rubric.pictures}
    return Cascade(scorer, [opened(model, **asked) for model in scoring.judges], scoring.judge_mode)


@contextmanager
def open_cascade(scoring: ScoringConfig, *, concurrency: int, caches: Caches, budget: Budget) -> Iterator[Cascade]:
    """The cascade, whose judges share the budget and the caches; these are closed at the end, the judges are not.

    concurrency: requests in flight at most, of each judge. Raises UserError as ScoringConfig.check, Scorer, Judge and
        Cascade do.
    """
    with open_cascades([scoring], concurrency=concurrency, caches=caches, budget=budget) as cascades:
        yield cascades[scoring]


def entries_of(cascade: Cascade) -> tuple[JudgeEntry, ...]:
    """What run.json keeps of the judges."""
    return tuple(JudgeEntry(judge.label, judge.id, judge.identity) for judge in cascade.judges)
