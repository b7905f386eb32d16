"""What a run is asked for: sets, models and the groups of settings, which the command line, a YAML file and Python give
alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import fields, replace

import perturb
from mmdyn.context import NONE, Context
from mmdyn.data import Given, SampleSet, is_set
from mmdyn.errors import UserError, no_such_path, unreadable
from mmdyn.models import in_batches
from mmdyn.prompts import Template
from mmdyn.record import Condition
from mmdyn.run.conditions import ConditionSpec, Names, Numbers
from mmdyn.run.context_providers import check_examples
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.executors._executor import Job
from mmdyn.run.sets import GivenModel
from mmdyn.run.settings import KnowledgeConfig, ScoringConfig
from mmdyn.shots import Shots


class Sections(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The groups of settings: sections of a YAML file, headings of `mmdyn eval --help`, arguments of `evaluate`."""

    conditions: ConditionSpec = ConditionSpec()
    scoring: ScoringConfig = ScoringConfig()
    knowledge: KnowledgeConfig = KnowledgeConfig()
    limits: Limits = Limits()
    execution: Execution = Execution()


SECTIONS: dict[str, type[Struct]] = {field.name: field.type for field in fields(Sections)}


class SetRequest(Struct, frozen=True):
    """A set with what is asked and scored otherwise than the run says; its variants are asked and scored as it is.

    styles, shots, prompt: As in ConditionSpec; None for the run's.
    scoring: In place of the run's.
    n: As in Limits; None for the run's.
    """

    set: Given
    styles: Names | None = None
    shots: Numbers | None = None
    prompt: str | None = None
    scoring: ScoringConfig | None = None
    n: int | None = None

    def job(self, job: Job) -> Job:
        """The job of this set."""
        spec = replace(
            job.spec,
            styles=job.spec.styles if self.styles is None else self.styles,
            shots=job.spec.shots if self.shots is None else self.shots,
            prompt=job.spec.prompt if self.prompt is None else self.prompt,
        )
        n = job.limits.n if self.n is None else self.n
        return replace(job, spec=spec, scoring=self.scoring or job.scoring, limits=replace(job.limits, n=n))


Requested: TypeAlias = Given | SetRequest


class RunRequest(Sections, frozen=True):
    """What `evaluate` is given, and a dry run counts."""

    sets: tuple[Requested, ...]
    models: tuple[GivenModel, ...]
    out: Path

    @property
    def plain_sets(self) -> list[Given]:
        """The sets themselves."""
        return [one.set if isinstance(one, SetRequest) else one for one in self.sets]

    def jobs(self) -> tuple[Job, list[Job | None]]:
        """The run's job with its prompt read, and that of each set which is asked or scored otherwise than the run
        says; None for another set. Raises UserError for what can be told before anything is written."""
        job = _checked(self._job, self.plain_sets)
        own = [one.job(job) if isinstance(one, SetRequest) else job for one in self.sets]
        return job, [None if one == job else _checked(replace(one, prompt=""), self.plain_sets) for one in own]

    @property
    def _job(self) -> Job:
        return Job(
            out=self.out,
            models=self.models,
            spec=self.conditions,
            scoring=self.scoring,
            knowledge=self.knowledge,
            limits=self.limits,
            execution=self.execution,
        )


def own_jobs(job: Job, jobs: Sequence[Job | None], opened: Sequence[SampleSet]) -> dict[str, Job]:
    """The jobs by the names of standard sets; none where the run's is that of all. Raises UserError where a set and its
    variants have different ones."""
    own = dict[str, Job]()
    for one, mine in zip(opened, jobs, strict=True):
        if mine and own.setdefault(one.root, mine) != mine:
            raise UserError(f"{one.root} and its variants are asked and scored alike: say how at one of them alone")
    return {one.root: own.get(one.root, job) for one in opened} if own else {}


def _checked(job: Job, sets: Sequence[object]) -> Job:
    spec, limits = job.spec, job.limits
    numbers = {"--epochs": spec.epochs, "--limit": limits.n, "--concurrency": limits.concurrency}
    for option, number in numbers.items():
        if number is not None and number < 1:
            raise UserError(f"{option} is {number}: give 1 or more")
    if not sets or not spec.styles:
        raise UserError("name at least one set and one style")
    for given in sets:
        if isinstance(given, str | Path) and not Path(given).exists():
            raise no_such_path(given)
    if is_set(job.out):
        raise UserError(f"{job.out} is a set: choose another folder for the run")
    if spec.ops:
        perturb.parse_chains(spec.ops)
    conditions, limited = spec.conditions(), limits.max_cost is not None or limits.max_requests is not None
    job.knowledge.check(conditions, limited=limited)
    check_examples(spec.examples, conditions)
    job.scoring.check()
    if job.execution.batch:
        job = replace(job, models=[in_batches(given) for given in job.models])
    return replace(job, prompt=_read_prompt(spec, conditions))


def _read_prompt(spec: ConditionSpec, conditions: Sequence[Condition]) -> str:
    """The text of the user's own template, empty where there is none. Raises UserError where it cannot be read or does
    not fit."""
    if not spec.prompt:
        return ""
    file = Path(spec.prompt)
    if spec.styles != ("direct",):
        raise UserError("--prompt is a style of its own: leave --style out")
    try:
        custom = Template.parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error, "give a UTF-8 text file") from None
    beside = [one.context for one in conditions if Context.parse(one.context).family != NONE]
    ways = [replace(found, elaborate="none") for found in map(Context.parse, beside) if found.elaborate != "two-turn"]
    if any(ways.count(one) > 1 for one in ways if one.source):
        raise UserError(f"{file} says itself whether to elaborate: ask a context with :inline or without it, not both")
    if "{knowledge}" not in custom.text and beside:
        raise UserError(
            f"{file} does not contain {{knowledge}}, which {beside[0]} needs: put it where the knowledge should stand"
        )
    based = [one.shot_name for one in conditions if Shots.parse(one.shot_name).base]
    if based and "{examples}" not in custom.text:
        raise UserError(f"{file} does not contain {{examples}}, which {based[0]} needs: put it where they should stand")
    return custom.text
