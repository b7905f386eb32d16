"""mmdyn grade: answers scored by rules and by a judge, and how well both give the marks that people gave."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from click.core import ParameterSource

from mmdyn.cli._shared import concurrency_option, money_options
from mmdyn.errors import printable

if TYPE_CHECKING:
    from mmdyn.models.budget import Budget
    from mmdyn.scoring.grade_lines import Answered
    from mmdyn.scoring.judge import Judge
    from mmdyn.scoring.scorer import Scorer
    from mmdyn.work.progress import ProgressBar


@click.command("grade")
@click.argument("file", type=click.File("rb"))
@click.option("--policy", default="mdk12", show_default=True, help="How credit is given: `mmdyn list scorers`.")
@click.option("--judge", "model", metavar="MODEL", help="Who is asked about answers that the rules do not call right.")
@click.option("--rubric", default="auto", show_default=True, help="What the judge is asked: `mmdyn list rubrics`.")
@click.option("--votes", type=click.IntRange(min=1), default=1, show_default=True, help="Asks of the judge; odd.")
@concurrency_option("Requests in flight at most.")
@money_options
@click.option(
    "--calibrate", is_flag=True, help="Measure rules and judge against people's marks, and keep the result for reports."
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="With --calibrate: an answer is right from this mark, or value, on.",
)
@click.option("--json", "as_json", is_flag=True, help="With --calibrate: print one JSON object on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    file: BinaryIO,
    policy: str,
    model: str | None,
    rubric: str,
    votes: int,
    concurrency: int,
    calibrate: bool,
    threshold: float,
    as_json: bool,
    quiet: bool,
    **money: Any,
) -> None:
    """Score the responses in FILE (- for standard input).

    FILE has a JSON object a line: question, task_type, answer, response and, as they apply, options, language, checklist
    and match. The same lines come out on standard output with score (by rules) and, with --judge, judgement (null where the
    judge was not asked) and combined. Exit status: 1 where a line got no verdict (combined is null); 3 stopped at --max-cost or
    --max-requests: replies are in the cache, so that the same command goes on.

    With --calibrate the lines that have human, people's mark from 0 to 1, are graded by rules and by the judge, and each of
    them, and both combined, are compared with these marks.
    """
    from mmdyn.models.budget import open_budget
    from mmdyn.scoring.judge import open_judge
    from mmdyn.scoring.scorer import Scorer
    from mmdyn.work.interrupts import run_to_the_end
    from mmdyn.work.progress import ProgressBar

    if as_json and not calibrate:
        raise click.UsageError("--json goes with --calibrate: without it every line of output is JSON")
    given = click.get_current_context().get_parameter_source("threshold")
    if given is not ParameterSource.DEFAULT and not calibrate:
        raise click.UsageError("--threshold goes with --calibrate: without it scores stay as they are")
    if model is None and (votes > 1 or rubric != "auto" or any(money.values())):
        names = "--votes, --rubric, --prices, --max-cost and --max-requests"
        raise click.UsageError(f"{names} go with --judge: the rules need none of them")
    scorer, ahead = Scorer(policy), 2 * concurrency
    progress = ProgressBar("grading", quiet=quiet)
    if calibrate:
        work = partial(_calibrate, file, scorer, threshold, ahead, as_json, progress)
    else:
        work = partial(_grade, file, scorer, ahead, progress)
    if model is None:
        failed = run_to_the_end(work(None))
    else:
        budget = open_budget(**money)
        opened = partial(open_judge, model, rubric, votes, concurrency=concurrency, budget=budget)
        failed = run_to_the_end(_with_judge(work, opened, budget, progress))
    if failed:
        click.echo(f"answers without a verdict: {failed}", err=True)
        click.get_current_context().exit(1)


async def _with_judge(
    work: Callable[[Judge | None], Coroutine[Any, Any, int]],
    opened: Callable[..., Judge],
    budget: Budget,
    progress: ProgressBar,
) -> int:
    """Work with the judge, and say what it took, also where that is stopped."""
    from mmdyn.errors import Stopped
    from mmdyn.models.cache import open_cache
    from mmdyn.run.draining import see_through, waiting_for

    def interrupt() -> None:
        judge.asker.stop(Stopped("interrupted"))
        if waited := judge.asker.in_flight:
            progress.say(waiting_for(waited))

    with closing(open_cache()) as cache:
        judge = opened(cache=cache)
        watching = asyncio.create_task(_watch(judge, progress))
        try:
            budget.check([judge.asker.model])
            failed = await see_through(asyncio.create_task(work(judge)), interrupt)
        except Stopped:
            progress.say(printable(_took(judge, budget)))
            raise
        finally:
            watching.cancel()
            await judge.close()
    progress.say(printable(_took(judge, budget)))
    return failed


async def _watch(judge: Judge, progress: ProgressBar) -> None:
    asker = judge.asker
    while True:
        progress.note(requests=asker.budget.requests, in_flight=asker.in_flight, from_the_cache=asker.cached)
        await asyncio.sleep(1)


def _took(judge: Judge, budget: Budget) -> str:
    """Such as `judge openai:x: 12 requests for 0.3 USD, 1,234 tokens in, 56 out; 4 replies out of the cache`."""
    tokens = f"{budget.prompt_tokens:,} tokens in, {budget.completion_tokens:,} out"
    cached = f"; {judge.asker.cached} replies out of the cache" if judge.asker.cached else ""
    return f"judge {judge.label}: {budget}, {tokens}{cached}"


async def _grade(file: BinaryIO, scorer: Scorer, ahead: int, progress: ProgressBar, judge: Judge | None) -> int:
    """Print every line graded; how many have no verdict."""
    import msgspec

    from mmdyn.errors import InputError
    from mmdyn.scoring.grade_lines import answered_lines, grade, output

    failed = 0
    all_graded = grade(answered_lines(file, file.name), scorer, judge, ahead=ahead)
    async with aclosing(all_graded):
        with progress:
            async for graded in all_graded:
                sys.stdout.buffer.write(msgspec.json.encode(output(graded, judged=judge is not None)) + b"\n")
                failed += graded.combined is None
                progress.advance()
    if not progress.done:
        raise InputError(file.name, None, "it is empty: give a JSON object a line")
    return failed


def _counted(lines: Iterator[Answered], progress: ProgressBar) -> Iterator[Answered]:
    """The lines, each counted as done when another one is asked for."""
    for line in lines:
        yield line
        progress.advance()


async def _calibrate(
    file: BinaryIO,
    scorer: Scorer,
    threshold: float,
    ahead: int,
    as_json: bool,
    progress: ProgressBar,
    judge: Judge | None,
) -> int:
    """Measure, keep and print; how many answers got no verdict."""
    import msgspec

    from mmdyn.data.json_lines import LabelledFile
    from mmdyn.reporting.grading import load_gradings, save_grading
    from mmdyn.reporting.grading_table import spell
    from mmdyn.scoring.calibrate import calibrate, graders
    from mmdyn.scoring.grade_lines import answered_lines

    for _, identity in graders(scorer, judge).values():
        load_gradings(identity)  # what cannot be read is told before a judge is asked
    lines, name = LabelledFile(file), Path(file.name).name
    counted = _counted(answered_lines(lines, file.name), progress)
    with progress:
        found = await calibrate(counted, scorer, judge, threshold, ahead)
    found = {who: msgspec.structs.replace(each, labels=lines.digest, file=name) for who, each in found.items()}
    if as_json:
        click.echo(msgspec.json.encode(found))
    if any(2 * grading.n < grading.n + grading.failed for grading in found.values()):
        click.echo("nothing is kept: fewer than half of the marked answers have a verdict", err=True)
        return max(grading.failed for grading in found.values())
    for grading in found.values():
        kept, replaced = save_grading(grading)
        for line in () if as_json else spell(grading):
            click.echo(printable(line), err=True)
        instead = ", in place of what was measured on these labels before" if replaced else ""
        click.echo(f"kept for reports{instead}: {kept}", err=True)
    return max(grading.failed for grading in found.values())
