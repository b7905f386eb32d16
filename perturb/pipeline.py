"""Set -> set: every chain's draws of every parent, over many processes, resumable."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from mmdyn.data import MANIFEST_FILE, SAMPLES_FILE, Origin, SampleSet, SetWriter, is_set, load
from mmdyn.errors import InputError, MmdynError, UserError
from mmdyn.keys import canonical, sha256
from mmdyn.work import Job, ProgressBar, Ranks, Store, find_result, run_jobs, unsettled
from perturb._embedded import EMBEDDED
from perturb.outcomes import Outcome, Outcomes, is_settled
from perturb.plan import WORK, Plan
from perturb.pool import Pool
from perturb.recipe import Recipe
from perturb.services import Tools
from perturb.variants import VariantMaker

SOURCE = ".source"

_OUTCOMES = "outcomes"


def perturb(
    source: SampleSet | str | Path,
    out: str | Path,
    *,
    ops: str,
    draws: int = 1,
    seed: int = 0,
    factorial: bool = False,
    rewriter: str = EMBEDDED,
    style_backend: str = EMBEDDED,
    judge: str = "",
    votes: int = 1,
    redraws: int = 3,
    workers: int = 1,
    concurrency: int = 32,
    limit: int | None = None,
    name: str | None = None,
    quiet: bool = False,
) -> SampleSet:
    """Make the variants of a set's samples (of the first `limit`) into the set folder `out`, and open it.

    `source` is an opened set, a set folder, or a file of any format, which is imported into out/.source.

    `ops` names chains such as "pad,color,pad@strong+color+shuffle", presets or YAML files of chains; each makes `draws`
    variants of a sample, or one where nothing in it is random. `factorial` makes every subset of the chains, chained,
    with shared draws. `rewriter` and `judge` are "embedded" or a MODEL (`judge` empty: nobody judges), `style_backend`
    is embedded, flux or klein with options. A variant that the judge rejects, by the majority of `votes`, is drawn
    again up to `redraws` times. A variant that was not kept is listed in dropped.jsonl with the reason.

    The set is the same, byte for byte, for any number of `workers` (processes) and however often the work was
    interrupted: called again with the same arguments it goes on, and a finished set is opened as it is, unless variants
    failed for a reason that may be gone, such as a model that did not answer: those are tried again. Where a model or a
    GPU is waited for, `concurrency` threads of one process do the work instead. Processes that a launcher started (RANK
    and WORLD_SIZE in the environment) each do a share, and rank 0 writes the set. Raises UserError for settings that do
    not fit or that differ from those in `out`, Busy where another process is at it.
    """
    tools = Tools(rewriter, style_backend, judge, votes, concurrency)
    tools.check()
    recipe = Recipe.read(ops, draws, seed, factorial=factorial, redraws=redraws, tools=tools)
    for what, number in (("workers", workers), ("limit", 1 if limit is None else limit)):
        if number < 1:
            raise UserError(f"{what} is {number}: give 1 or more")
    out, ranks = Path(out), Ranks.of_environment()
    source = _open(source, out, ranks)
    plan = Plan.of(source, out, recipe, limit, name or f"{source.name}-dynamic", ranks, quiet)
    finished = plan.finished()
    return finished if finished is not None else _carry_out(plan, workers)


def _carry_out(plan: Plan, workers: int) -> SampleSet:
    """Make what is not made yet, and write the set where that is this rank's task."""
    ranks, work, before = plan.ranks, plan.out / WORK, _stamp(plan.out)
    try:
        store = Store(work, ranks.writer)
    except MmdynError:  # rank 0 may have finished the set, and removed the folder, a moment ago
        if (finished := plan.finished()) is not None:
            return finished
        raise
    with store:
        if (finished := plan.finished()) is not None:
            return finished
        plan.begin(store)
        unsettled = _make(plan, store, workers)
        if ranks.number > 0:
            may_leave = (
                bool(before) and not unsettled
            )  # rank 0, which writes the set anew, needs nothing of this session
            ranks.wait_for(0, work, lambda: may_leave or _stamp(plan.out) != before)
            return SampleSet(plan.out)
        settled = _write(plan, store)
    if settled and ranks.wait_until_left(work):
        shutil.rmtree(work, ignore_errors=True)
    return SampleSet(plan.out)


def _stamp(out: Path) -> tuple[int, ...]:
    """What tells a written set from the one that replaces it; empty where there is none."""
    try:
        status = (out / MANIFEST_FILE).stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _open(source: SampleSet | str | Path, out: Path, ranks: Ranks) -> SampleSet:
    if not isinstance(source, SampleSet):
        if ranks.size > 1 and not is_set(Path(source)):
            raise UserError(f"{source} is no set folder, which several processes need: `mmdyn data convert` makes one")
        source = load(source, into=out / SOURCE)
    if source.manifest.parent:
        raise UserError(f"{source.folder} is a dynamic set already: give the set that it was made of")
    return source


def _make(plan: Plan, store: Store, workers: int) -> int:
    """Do this rank's jobs; how many of them another run may do better.

    What waits for a server or a device is done by threads of this process.
    """
    recipe, pool = plan.recipe, None
    if "pool" in recipe.uses:
        pool = plan.out / WORK / f"pool-{plan.ranks.number}.json"
        Pool.build(plan.source, pool)
    make = partial(VariantMaker, plan.source.folder, plan.out, recipe, pool)
    label, total = "perturbing", min(len(plan.source), plan.limit or len(plan.source))
    if plan.ranks.size > 1:
        label, total = f"perturbing, rank {plan.ranks.number}", sum(1 for _ in _share(plan))
    with ProgressBar(label, total, quiet=plan.quiet) as progress:
        run = partial(run_jobs, _share(plan), store=store, kind=_OUTCOMES, advance=progress.advance, settled=is_settled)
        if workers > 1 and not plan.waits:
            return run(make=make, workers=workers)
        if workers > 1 and not plan.quiet:
            print(
                f"--workers {workers} is not used: {recipe.tools.concurrency} threads of one process wait for models",
                file=sys.stderr,
            )
        with closing(make()) as maker:
            return run(make=lambda: maker, workers=1, threads=recipe.tools.concurrency if plan.waits else 1)


def _share(plan: Plan) -> Iterator[Job]:
    """This rank's parents."""
    return (job for job in _parents(plan) if plan.ranks.owner(job[0]) == plan.ranks.number)


def _parents(plan: Plan) -> Iterator[Job]:
    """Each parent's line under its digest, so that a sample that changed, or an id given twice, is a job of its own."""
    for sample in islice(plan.source, plan.limit):
        if sample.variant:
            raise UserError(f"{plan.source.folder} holds a variant ({sample.id}): give a set of standard samples")
        line = canonical(sample)
        yield sha256(line), line


def _write(plan: Plan, store: Store) -> bool:
    """Parents in their order, then chains, then draws; whether another run could not do better.

    Parts that a killed process left of pictures are removed.
    """
    sessions = {plan.ranks.number: store.session}
    for key, _ in _parents(plan) if plan.ranks.size > 1 else ():
        sessions[plan.ranks.owner(key)] = plan.ranks.wait_for_result(store, _OUTCOMES, key)
    for part in plan.out.glob("images/*/.*.part"):
        part.unlink(missing_ok=True)
    settled, origin = True, Origin(plan.source.name, plan.source.manifest.digest)
    again = plan.unsettled.exists()
    with SetWriter(plan.out, plan.name, parent=origin, made=plan.made, replace=again) as writer:
        for point in plan.source.knowledge():
            writer.know(point)
        for key, _ in _parents(plan):
            line = find_result(store, _OUTCOMES, key, sessions.get(plan.ranks.owner(key), ""))
            if line is None:
                raise InputError(plan.source.folder / SAMPLES_FILE, None, "changed while it was perturbed: run again")
            outcomes = msgspec.json.decode(line, type=Outcomes)
            settled &= outcomes.settled
            for outcome in outcomes.all:
                _add(writer, outcome, plan.source)
        if not settled:
            plan.unsettled.touch()
    store.forget(unsettled(_OUTCOMES))
    return settled


def _add(writer: SetWriter, outcome: Outcome, source: SampleSet) -> None:
    if outcome.dropped:
        writer.drop(outcome.dropped)
    if outcome.sample:
        try:
            writer.add(outcome.sample)
        except ValueError as error:
            raise InputError(source.folder / SAMPLES_FILE, None, str(error)) from None
