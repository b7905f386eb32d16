"""The contract of an executor: what it is handed, and what it does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json
from mmdyn.models import Budget, Caches, Model, open_asker, open_model
from mmdyn.prompts import Template
from mmdyn.record import Condition
from mmdyn.run.ask_all import ask_all
from mmdyn.run.conditions import ConditionSpec
from mmdyn.run.context_providers import ContextProvider, ContextProviders
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.grader import Grader
from mmdyn.run.knowledge_config import KnowledgeConfig
from mmdyn.run.plan import Ask, Skip, plan
from mmdyn.run.render import Renderer
from mmdyn.run.run_sample import AskTally, SampleTools
from mmdyn.run.scoring_config import Cascades, ScoringConfig
from mmdyn.run.sets import GivenModel
from mmdyn.run.two_turn import Expansions
from mmdyn.scoring import Cascade, Scorer
from mmdyn.work import ProgressBar, Ranks, Store, run_to_the_end


class Job(Struct, frozen=True):
    """What a process needs to do its share of a run by itself: the groups of `evaluate`, as they were given.

    models: MODEL texts, which may hold secrets: they are never written down; or objects with `ask`. prompt: the text of
        the user's own template, or nothing. Known once the sets are there: `conditions`, `planned`, the asks for each
        model, and `own`, the jobs of standard sets that are asked or scored in a way of their own.
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
    own: dict[str, Job] = {}

    def of(self, root: str) -> Job:
        """How a standard set and its variants are asked and scored."""
        return self.own.get(root, self)

    def caches(self) -> Caches:
        """The caches that its models and judges use, to be closed. Raises UserError."""
        return Caches(self.execution.cache, self.out)

    @property
    def scorings(self) -> list[ScoringConfig]:
        """How the sets are scored."""
        return [job.scoring for job in self.own.values()] or [self.scoring]

    def question_limits(self, sets: Sequence[SampleSet]) -> dict[str, int | None]:
        """How many questions of each standard set are asked, by its name."""
        return {opened.root: self.of(opened.root).limits.n for opened in sets}


class Engine:
    """A process's end of a job: the opened sets and models, and the store that it writes.

    budget: what all its models and judges together may be asked. cascades: how replies are scored, by what the job says
        of that; by its policy alone where there are none. providers: for each set what can be laid beside its samples;
        none where nothing is to be.
    """

    def __init__(
        self,
        job: Job,
        sets: Sequence[SampleSet],
        models: Sequence[Model],
        store: Store,
        budget: Budget | None = None,
        cascades: Cascades | None = None,
        providers: Sequence[ContextProvider] = (),
    ) -> None:
        self.job, self.sets, self.models, self.store = job, sets, models, store
        self.budget = budget or Budget()
        self.cascades = cascades or {job.scoring: Cascade(Scorer(job.scoring.policy))}
        self.providers = providers

    @property
    def model_texts(self) -> list[str]:
        """The MODELs, for other processes to open. Raises UserError for an object, which is in this process alone."""
        texts = [model for model in self.job.models if isinstance(model, str)]
        if len(texts) < len(self.job.models):
            raise UserError("an object of this process is no model for others: write its class as FILE.py:CLASS")
        return texts

    def plan(self) -> Iterator[Ask | Skip]:
        """Every ask of the job, streamed in the sets' order."""
        return planned(self.job, self.sets, self.providers)

    def cascade(self, root: str) -> Cascade:
        """How replies to a standard set and its variants are scored."""
        return self.cascades[self.job.of(root).scoring]

    def ask(
        self,
        asks: Callable[[int], Iterable[Ask | Skip]],
        total: int,
        *,
        host: Callable[[int, Model], Model] = lambda place, model: model,
        what: str = "asking",
    ) -> None:
        """Put to every model in turn the asks for it, `total` in all, score the replies and record them.

        A model that cannot be asked keeps no other from being asked; what failed is asked again as often as the job
        says, a model that has failed opened anew. A model is closed when its last reply is in and judged, the judges
        when all is. Raises ModelError for a model or a judge that cannot be asked, Stopped where the budget is used up.

        Args:
            asks: by a model's place, from 0; called anew each time.
            host: what is asked in a model's stead, such as its replicas.
        """
        with ProgressBar(what, total, quiet=self.job.execution.quiet) as progress:
            run_to_the_end(self._ask_all(asks, host, progress))

    async def _ask_all(
        self, asks: Callable[[int], Iterable[Ask | Skip]], host: Callable[[int, Model], Model], progress: ProgressBar
    ) -> None:
        job, tally, grader = self.job, AskTally(), Grader(self.store, self.cascade, [*self.cascades.values()])
        tools = partial(SampleTools, self.sets, open_renderers(job, self.sets), store=self.store, grader=grader)
        tools = partial(tools, expansions=Expansions(self.store), tally=tally)
        failed: dict[int, ModelError | None] = dict.fromkeys(range(len(self.models)))
        try:
            for attempt in range(job.execution.retry + 1):
                left, failed = failed, {}
                for place in left:
                    model = host(place, open_model(job.models[place]) if attempt else self.models[place])
                    before = tally.may_pass
                    error = await self._ask_model(model, asks(place), partial(tools, progress=progress))
                    if error or tally.may_pass > before:
                        failed[place] = error
                    if error and len(self.models) > 1:
                        progress.say(f"{model.label}: {error}")
                progress = ProgressBar("asking again", quiet=True)
        finally:
            await grader.close()
        for lost in filter(None, failed.values()):
            raise lost

    async def _ask_model(
        self, model: Model, asks: Iterable[Ask | Skip], tools: Callable[..., SampleTools]
    ) -> ModelError | None:
        """Why the model could not be asked; None where it was. Raises ModelError for a judge."""
        limits = self.job.limits
        async with open_asker(model, limits.concurrency, self.budget, self.job.caches()) as asker:
            try:
                await ask_all(asks, tools(asker=asker))
            except ModelError as error:
                if not asker.is_broken:
                    raise
                return error
        return None


def open_providers(
    job: Job,
    sets: Sequence[SampleSet],
    conditions: Sequence[Condition],
    store: Store,
    known: dict[str, Json] | None = None,
) -> ContextProviders:
    """What lies beside the samples of a job's sets; `known`: the settings of another process, which looked it up."""
    quiet, seed = job.execution.quiet, job.spec.seed
    return ContextProviders(
        sets, conditions, job.knowledge, store, known, seed=seed, examples=job.spec.examples, quiet=quiet
    )


def planned(job: Job, sets: Sequence[SampleSet], providers: Sequence[ContextProvider] = ()) -> Iterator[Ask | Skip]:
    """Every ask of a job, streamed in the sets' order."""
    conditions = [job.of(opened.root).conditions for opened in sets]
    return plan(sets, conditions, job.spec.epochs, job.question_limits(sets), providers)


def open_renderers(job: Job, sets: Sequence[SampleSet]) -> list[Renderer]:
    """What turns each set's samples into messages."""
    prompts = [job.of(opened.root).prompt for opened in sets]
    customs = [Template.parse(prompt, "--prompt") if prompt else None for prompt in prompts]
    return [Renderer(opened.images, custom) for opened, custom in zip(sets, customs, strict=True)]


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
