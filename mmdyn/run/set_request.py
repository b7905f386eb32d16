"""A set of a run that is asked, or scored, in a way of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import Given, SampleSet
from mmdyn.errors import UserError
from mmdyn.run.conditions import Names, Numbers
from mmdyn.run.executors._executor import Job
from mmdyn.run.scoring_config import ScoringConfig


class SetRequest(Struct, frozen=True):
    """A set with what is asked and scored otherwise than the run says; its variants are asked and scored as it is.

    styles, shots, prompt: as in ConditionSpec. scoring: in place of the run's. n: as in Limits. None is the run's.
    """

    set: Given
    styles: Names | None = None
    shots: Numbers | None = None
    prompt: str | None = None
    scoring: ScoringConfig | None = None
    n: int | None = None

    def job(self, job: Job) -> Job:
        """The job of this set."""
        spec = {name: value for name in ("styles", "shots", "prompt") if (value := getattr(self, name)) is not None}
        n = job.limits.n if self.n is None else self.n
        return replace(
            job, spec=replace(job.spec, **spec), scoring=self.scoring or job.scoring, limits=replace(job.limits, n=n)
        )


Requested: TypeAlias = Given | SetRequest


def plain_sets(requests: Sequence[Requested]) -> list[Given]:
    """The sets themselves."""
    return [one.set if isinstance(one, SetRequest) else one for one in requests]


def jobs_of(job: Job, requests: Sequence[Requested]) -> list[Job | None]:
    """The job of each set that is asked or scored otherwise than the run says; None for another set."""
    jobs = (one.job(job) if isinstance(one, SetRequest) else None for one in requests)
    return [None if one == job else one for one in jobs]


def own_jobs(job: Job, jobs: Sequence[Job | None], opened: Sequence[SampleSet]) -> dict[str, Job]:
    """The jobs by the names of standard sets; none where the run's is that of all. Raises UserError where a set and its
    variants have different ones."""
    own = dict[str, Job]()
    for one, mine in zip(opened, jobs, strict=True):
        if mine and own.setdefault(one.root, mine) != mine:
            raise UserError(f"{one.root} and its variants are asked and scored alike: say how at one of them alone")
    return {one.root: own.get(one.root, job) for one in opened} if own else {}
