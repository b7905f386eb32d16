"""The asks of a plan put to one model: many samples under way at a time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from mmdyn.errors import Stopped
from mmdyn.models import say_cost
from mmdyn.run.flow import carry_out, waiting_for
from mmdyn.run.plan import Ask, Skip
from mmdyn.run.run_sample import WAITING, SampleTools, run_sample
from mmdyn.work import LOG

BACKLOG = 2000
"""Samples that may wait for judges, so that a slow judge does not keep the model waiting."""


async def ask_all(asks: Iterable[Ask | Skip], tools: SampleTools) -> None:
    """Carry out `run_sample` for each ask.

    Raises:
        ModelError: the model or a judge cannot be asked at all.
        Stopped: the budget allows no further request.
    """
    asker, grader = tools.asker, tools.grader

    def stop(why: Stopped) -> None:
        asker.stop(why)
        grader.stop(why)

    def interrupted() -> None:
        if waited := asker.in_flight + grader.in_flight:
            tools.progress.say(waiting_for(waited))

    try:
        await carry_out(
            (ask for ask in asks if isinstance(ask, Ask)),
            lambda ask: run_sample(ask, tools),
            workers=WAITING * asker.concurrency + (BACKLOG if grader.judges else 0),
            stop=stop,
            note=partial(_note, tools),
            interrupted=interrupted,
        )
    except Stopped as stopped:
        raise _explained(stopped, tools) from None
    finally:
        tools.tally.retried += asker.retried
        tools.tally.cached += asker.cached


def _note(tools: SampleTools) -> None:
    asker, grader, tally = tools.asker, tools.grader, tools.tally
    tools.progress.note(
        in_flight=asker.in_flight,
        batches=asker.batches,
        to_judge=grader.left,
        judged=grader.counts.judged,
        failed=tally.failed,
        unjudged=grader.counts.failed,
        asked_again=tally.retried + asker.retried,
        from_the_cache=tally.cached + asker.cached,
        cost=say_cost(asker.budget.spent, asker.budget.unknown),
    )
    for doubt in asker.tally.doubts():
        first_words = f"{asker.model.label}: {doubt.partition(':')[0]}"
        if first_words not in tally.told:
            tally.told.add(first_words)
            tools.progress.say(f"{asker.model.label}: {doubt}")
            LOG.warning("%s: %s", asker.model.label, doubt)


def _explained(stopped: Stopped, tools: SampleTools) -> Stopped:
    """The same with what was done and what is left."""
    done, total = tools.progress.done, tools.progress.total
    told = f"{done} done" if total is None else f"{done} of {total} done, {total - done} left"
    told += f", {tools.grader.left} to judge" if tools.grader.left else ""
    return Stopped(f"{stopped}: {tools.asker.budget} by this call; {told}, and the same command goes on from here")
