"""The contract of an executor: what it is handed, and what it does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.models import Budget, Model, open_asker
from mmdyn.prompts import Template
from mmdyn.record import Condition
from mmdyn.run.ask_all import ask_all
from mmdyn.run.conditions import ConditionSpec
from mmdyn.run.context_providers import ContextProvider
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.grader import Grader
from mmdyn.run.knowledge_config import KnowledgeConfig
from mmdyn.run.plan import Ask, Skip, plan
from mmdyn.run.render import Renderer
from mmdyn.run.run_sample import AskTally, SampleTools
from mmdyn.run.scoring_config import ScoringConfig
from mmdyn.run.sets import GivenModel
from mmdyn.run.two_turn import Expansions
from mmdyn.scoring import Cascade, Scorer
from mmdyn.work import ProgressBar, Ranks, Store, run_to_the_end


class Job(Struct, frozen=True):
    """What a process needs to do its share of a run by itself: the groups of `evaluate`, as they were given.

    models: MODEL texts, which may hold secrets: they are never written down; or objects with `ask`. prompt: the text of
        the user's own template, or nothing. Known once the sets are there: `conditions`, and `planned`, the asks for
        each model.
    """

    out: Path
    models: tuple[GivenModel, ...]
    spec: ConditionSpec = ConditionSpec()
    scoring: ScoringConfig = ScoringConfig()
    knowledge: KnowledgeConfig = KnowledgeConfig()
    limits: Limits = Limits()
    execution: Execution = Execution()
    prompt: str = ""
    conditions: tuple[Condition, ...] = ()
    planned: int = 0


class Engine:
    """A process's end of a job: the opened sets and models, and the store that it writes.

    budget: what all its models and judges together may be asked. cascade: how replies are scored; by the job's policy
        alone where there is none. shelves: for each set what can be laid beside its samples; none where nothing is to
        be.
    """

    def __init__(
        self,
        job: Job,
        sets: Sequence[SampleSet],
        models: Sequence[Model],
        store: Store,
        budget: Budget | None = None,
        cascade: Cascade | None = None,
        providers: Sequence[ContextProvider] = (),
    ) -> None:
        self.job, self.sets, self.models, self.store = job, sets, models, store
        self.budget, self.cascade = budget or Budget(), cascade or Cascade(Scorer(job.scoring.policy))
        self.providers = providers

    def plan(self) -> Iterator[Ask | Skip]:
        """Every ask of the job, streamed in the sets' order."""
        return plan(self.sets, self.job.conditions, self.job.spec.epochs, self.job.limits.n, self.providers)

    def ask(
        self,
        asks: Callable[[], Iterable[Ask | Skip]],
        models: Sequence[Model] | None = None,
        *,
        of_all: int | None = None,
        what: str = "asking",
    ) -> None:
        """Put asks to every model in turn (or to `models` in their stead), score the replies and record them.

        `asks` is called once a model; `of_all` counts what it gives where that is not the whole plan. A model is closed
        when its last reply is in and judged, the judges when all is. Raises ModelError for a model or a judge that
        cannot be asked, Stopped where the budget is used up.
        """
        models = self.models if models is None else models
        total = self.job.planned if of_all is None else of_all
        with ProgressBar(what, total * len(models), quiet=self.job.execution.quiet) as progress:
            run_to_the_end(self._ask_all(models, asks, progress))

    async def _ask_all(
        self, models: Sequence[Model], asks: Callable[[], Iterable[Ask | Skip]], progress: ProgressBar
    ) -> None:
        job, renderers = self.job, open_renderers(self.job, self.sets)
        grader, expansions, tally = Grader(self.store, self.cascade), Expansions(self.store), AskTally()
        try:
            for model in models:
                async with open_asker(
                    model, job.limits.concurrency, self.budget, use_cache=job.execution.use_cache
                ) as asker:
                    tools = SampleTools(self.sets, renderers, asker, self.store, grader, expansions, progress, tally)
                    await ask_all(asks(), tools)
        finally:
            await self.cascade.close()


def open_renderers(job: Job, sets: Sequence[SampleSet]) -> list[Renderer]:
    """What turns each set's samples into messages."""
    custom = Template.parse(job.prompt, "--prompt") if job.prompt else None
    return [Renderer(opened.images, custom) for opened in sets]


class Executor(Protocol):
    """Carries out a job. One public class a file under run/executors."""

    ranks: Ranks
    """Who this process is among those that share the job; the first one alone prepares, writes run.json and reports."""

    def meet(self, store: Store) -> None:
        """Wait, in another than the first process, until that one has prepared the run. Raises UserError where it is
        lost."""

    def run(self, engine: Engine) -> None:
        """Ask whatever has no record yet; return when all is asked that this process answers for.

        In the first process that is everything. Raises UserError where work was left.
        """
