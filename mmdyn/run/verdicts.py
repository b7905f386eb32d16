"""A judge asked about many things: many asks in flight, each verdict kept when it arrives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from mmdyn.errors import Stopped
from mmdyn.models import Asker, Budget, Caches, open_asker, open_model, say_cost
from mmdyn.run.flow import carry_out
from mmdyn.work import ProgressBar, Store, run_to_the_end

WAITING = 2
"""How many times as many things are under way as requests may be in flight."""

J = TypeVar("J")
T = TypeVar("T")


def with_asker(
    model: str,
    votes: int,
    concurrency: int,
    budget: Budget,
    caches: Caches,
    work: Callable[[Asker], Coroutine[Any, Any, T]],
) -> T:
    """What `work` gives, done with a judge's MODEL, which is closed then. For several votes it is to vary, as in
    open_judge.

    Replies are looked up in its cache and kept there. Raises UserError for an unknown backend or option.
    """

    async def going() -> T:
        opened = open_model(model, varied=votes > 1)
        budget.check([opened])
        async with open_asker(opened, concurrency, budget, caches) as asker:
            return await work(asker)

    return run_to_the_end(going())


async def judge_all(
    asker: Asker,
    jobs: Iterable[J],
    judge: Callable[[J], Awaitable[None]],
    store: Store,
    progress: ProgressBar,
    there: int,
) -> None:
    """Let `judge` ask the asker about each job and put what it finds into the store. `there`: more jobs were done
    before.

    Raises ModelError where the model cannot be asked at all, and Stopped where the budget allows no further request,
    both when those in flight have ended. Cancelled, it asks no further, keeps what arrives within DRAIN_SECONDS and
    then ends.
    """
    if there:
        asker.answers = True
        progress.advance(there, there=True)

    async def one(job: J) -> None:
        await judge(job)
        progress.advance()

    try:
        await carry_out(
            jobs, one, workers=WAITING * asker.concurrency, stop=asker.stop, note=lambda: _note(asker, progress)
        )
    except Stopped as stopped:
        raise _explained(stopped, asker, progress) from None


def _note(asker: Asker, progress: ProgressBar) -> None:
    cost = say_cost(asker.budget.spent, asker.budget.unknown)
    progress.note(in_flight=asker.in_flight, asked_again=asker.retried, from_the_cache=asker.cached, cost=cost)


def _explained(stopped: Stopped, asker: Asker, progress: ProgressBar) -> Stopped:
    """The same with what was done and what is left."""
    done, total = progress.done, progress.total or 0
    left = f"{done} of {total} done, {total - done} left, and the same command goes on from here"
    return Stopped(f"{stopped}: {asker.budget} by this call; {left}")
