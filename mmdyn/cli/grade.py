"""mmdyn grade: answers scored by rules and by judges, and how well these give the marks that people gave."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from click.core import ParameterSource

from mmdyn.cli._command import Command, Groups, asking_options, scoring_options
from mmdyn.cli._shared import InFile, Number, quiet_option
from mmdyn.errors import counted, printable

if TYPE_CHECKING:
    from mmdyn.models import Asker, Budget
    from mmdyn.scoring import Cascade
    from mmdyn.work import ProgressBar


def _groups() -> Groups:
    return {"Scoring": scoring_options("policy", "judges", "judge_mode", "rubric"), "Limits": asking_options()}


@click.command("grade", cls=Command, groups=_groups)
@click.argument("file", type=InFile())
@click.option("--calibrate", is_flag=True)
@click.option("--threshold", metavar="X", type=Number(0, 1, min_open=True), default=0.5, show_default=True)
@click.option("--json", "as_json", is_flag=True)
@quiet_option
def command(
    file: BinaryIO,
    policy: str,
    judges: tuple[str, ...],
    judge_mode: str,
    rubric: str,
    concurrency: int,
    cache: str | None,
    calibrate: bool,
    threshold: float,
    as_json: bool,
    quiet: bool,
    **money: Any,
) -> None:
    """Score the responses in FILE (- for standard input).

    \b
    mmdyn grade replies.jsonl
    mmdyn grade marked.jsonl --calibrate --judge openai:gpt-4o

    FILE has a JSON object a line: question, task_type, answer, response and, as they apply, options, language,
    finish_reason, checklist and match. The same lines come out on standard output with score (by rules), needs_judge
    and, with --judge, judgement (null where no judge was asked) and combined; with several judges also judgements, by
    judge. Exit status: 1 where a line got no verdict (combined is null); 3 stopped at --max-cost or --max-requests:
    replies are in the cache (those of a server of your own with --cache shared), so that the same command goes on.

    With --calibrate the lines that have human, people's mark from 0 to 1, are graded by rules and by every judge, and
    each of them, and all combined, are compared with these marks.
    \f
    calibrate: Measure rules and judges against people's marks, and keep the result for reports.
    threshold: With --calibrate: an answer is right from this mark, or value, on.
    as_json: With --calibrate: print one JSON object on standard output.
    """
    from mmdyn.models import Caches, open_budget
    from mmdyn.run import ScoringConfig, open_cascade
    from mmdyn.work import ProgressBar, run_to_the_end

    if as_json and not calibrate:
        raise click.UsageError("--json goes with --calibrate: without it every line of output is JSON")
    given = click.get_current_context().get_parameter_source
    if given("threshold") is not ParameterSource.DEFAULT and not calibrate:
        raise click.UsageError("--threshold goes with --calibrate: without it scores stay as they are")
    if given("judge_mode") is not ParameterSource.DEFAULT and calibrate:
        raise click.UsageError(
            "--calibrate asks about all marked answers and measures every judge mode: leave --judge-mode out"
        )
    if not judges and (rubric != "auto" or judge_mode != "unsure" or any(money.values())):
        names = "--judge-mode, --rubric, --prices, --max-cost and --max-requests"
        raise click.UsageError(f"{names} go with --judge: the rules need none of them")
    mode = "all" if calibrate and judges else judge_mode
    scoring, budget = ScoringConfig(policy, judges, mode, rubric), open_budget(**money)
    progress = ProgressBar("grading", quiet=quiet)
    with open_cascade(scoring, concurrency=concurrency, caches=Caches(cache), budget=budget) as cascade:
        if calibrate:
            work = partial(_calibrate, file, cascade, threshold, 2 * concurrency, as_json, progress)
        else:
            work = partial(_grade, file, cascade, 2 * concurrency, progress)
        failed = run_to_the_end(_with_judges(work, cascade, budget, progress) if judges else work())
    if failed:
        click.echo(f"answers without a verdict: {failed}", err=True)
        click.get_current_context().exit(1)


async def _with_judges(
    work: Callable[[], Coroutine[Any, Any, int]], cascade: Cascade, budget: Budget, progress: ProgressBar
) -> int:
    """Work with the judges, and say what it took, also where that is stopped."""
    from mmdyn.errors import Stopped
    from mmdyn.run import drain, waiting_for

    askers = [judge.asker for judge in cascade.judges]

    def interrupt() -> None:
        for asker in askers:
            asker.stop(Stopped("interrupted"))
        if waited := sum(asker.in_flight for asker in askers):
            progress.say(waiting_for(waited))

    watching = asyncio.create_task(_watch(askers, budget, progress))
    try:
        budget.check([asker.model for asker in askers])
        failed = await drain(asyncio.create_task(work()), interrupt)
    except Stopped:
        progress.say(printable(_took(cascade, budget)))
        raise
    finally:
        watching.cancel()
        await cascade.close()
    progress.say(printable(_took(cascade, budget)))
    return failed


async def _watch(askers: Sequence[Asker], budget: Budget, progress: ProgressBar) -> None:
    from mmdyn.models import say_cost

    while True:
        in_flight, cached = (sum(getattr(asker, name) for asker in askers) for name in ("in_flight", "cached"))
        cost = say_cost(budget.spent, budget.unknown)
        progress.note(requests=budget.requests, in_flight=in_flight, from_the_cache=cached, cost=cost)
        await asyncio.sleep(1)


def _took(cascade: Cascade, budget: Budget) -> str:
    """Such as `judge openai:x: 12 requests for 0.3 USD, 1,234 tokens in, 56 out; 4 replies out of the cache`, of all
    judges together."""
    who = f"judge{'s' * (len(cascade.judges) > 1)} {' and '.join(judge.label for judge in cascade.judges)}"
    replies = sum(judge.asker.cached for judge in cascade.judges)
    tokens = f"{budget.prompt_tokens:,} tokens in, {budget.completion_tokens:,} out"
    return f"{who}: {budget}, {tokens}" + (f"; {counted(replies, 'reply')} out of the cache" if replies else "")


async def _grade(file: BinaryIO, cascade: Cascade, ahead: int, progress: ProgressBar) -> int:
    """Print every line graded; how many have no verdict."""
    import msgspec

    from mmdyn.scoring import answered_lines, grade, output

    failed, labels = 0, [judge.label for judge in cascade.judges]
    all_graded = grade(answered_lines(file, file.name), cascade, ahead=ahead)
    async with aclosing(all_graded):
        with progress:
            async for graded in all_graded:
                sys.stdout.buffer.write(msgspec.json.encode(output(graded, labels)) + b"\n")
                failed += graded.combined is None
                progress.advance()
    return failed


async def _calibrate(
    file: BinaryIO, cascade: Cascade, threshold: float, ahead: int, as_json: bool, progress: ProgressBar
) -> int:
    """Measure, keep and print; how many answers got no verdict."""
    import msgspec

    from mmdyn.data import LabelledFile
    from mmdyn.scoring import answered_lines, calibrate, graders
    from mmdyn.tables import load_gradings, save_grading, spell

    for _, identity in graders(cascade).values():
        load_gradings(identity)  # what cannot be read is told before a judge is asked
    lines, name = LabelledFile(file), Path(file.name).name
    answered = progress.count(answered_lines(lines, file.name))
    with progress:
        found = await calibrate(answered, cascade, threshold, ahead)
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
