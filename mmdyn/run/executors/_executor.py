"""The contract of an executor, and what the processes of one launch tell each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import MmdynError, ModelError, Stopped, UserError
from mmdyn.keys import Json, canonical, digest
from mmdyn.models import Budget, Caches, Model, open_asker, open_model
from mmdyn.prompts import Template
from mmdyn.record import Condition
from mmdyn.run.ask_all import AskTally, Expansions, SampleTools, ask_all
from mmdyn.run.conditions import ConditionSpec
from mmdyn.run.context_providers import ContextProvider, ContextProviders
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.grader import Grader
from mmdyn.run.plan import Ask, Partition, Skip, plan
from mmdyn.run.render import Renderer
from mmdyn.run.sets import GivenModel
from mmdyn.run.settings import Cascades, KnowledgeConfig, ScoringConfig
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
    spec, execution = job.spec, job.execution
    return ContextProviders(
        sets, conditions, job.knowledge, store, known, seed=spec.seed, examples=spec.examples, execution=execution
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


LAUNCH, BEGIN, END = "launch", "begin of share", "end of share"
"""The store's kinds for what the first process says when all may begin, a digest of what is shared, by the session of
its store, and for what each other one says first and last, by that session and its share.
"""


class End(Struct, frozen=True):
    """How a share ended; `error` is empty where all was asked."""

    error: str = ""
    stopped: bool = False


class Launch(Struct, frozen=True):
    """A launch: the session of the first process's store, and how many shares there are."""

    session: str
    partition: Partition
    shares: int

    def announce(self, engine: Engine) -> None:
        """Let the others begin."""
        store = engine.store
        for kind in (LAUNCH, BEGIN, END):
            store.forget(kind)
        store.put(LAUNCH, self.session, canonical(self._work(engine)))
        store.flush()

    def is_announced(self, store: Store) -> bool:
        """Whether all may begin."""
        return store.get(LAUNCH, self.session) is not None

    def check(self, engine: Engine) -> None:
        """Raise UserError where this process would not do a share of what was announced."""
        if engine.store.get(LAUNCH, self.session) != canonical(self._work(engine)):
            raise UserError("this rank was given another task than rank 0: start every rank with the same command")

    @contextmanager
    def saying_so(self, store: Store, share: str, otherwise: End | None = None) -> Iterator[None]:
        """Leave word of how a share ended, so that the first process does not wait for more; `otherwise` where it was
        broken off."""
        store.put(BEGIN, self._key(share), b"true")
        store.flush()
        end = otherwise
        try:
            yield
            end = End()
        except MmdynError as error:
            end = End(str(error), isinstance(error, Stopped))
            raise
        finally:
            if end:
                store.put(END, self._key(share), canonical(end))
                store.flush()

    def has_begun(self, store: Store, share: str) -> bool:
        """Whether somebody is at a share, or was."""
        return store.get(BEGIN, self._key(share)) is not None

    def end_of(self, store: Store, share: str) -> End | None:
        """How a share ended, once it has."""
        found = store.get(END, self._key(share))
        return None if found is None else msgspec.json.decode(found, type=End)

    def _key(self, share: str) -> str:
        return f"{self.session}:{share}"

    def _work(self, engine: Engine) -> str:
        """A digest of what is shared, and how."""
        job = engine.job
        sets = [[opened.name, opened.manifest.digest] for opened in engine.sets]
        models = [[model.label, model.identity] for model in engine.models]
        how = [
            [job.spec, job.knowledge, job.limits.n, job.prompt, job.conditions, job.planned],
            [[root, one.limits.n, one.prompt, one.conditions] for root, one in job.own.items()],
            [[cascade.name, cascade.mode] for cascade in engine.cascades.values()],
            self.partition,
            self.shares,
        ]
        return digest([sets, models, how])
