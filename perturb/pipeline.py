"""From a set to a dynamic set: every chain's draws of every parent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mmdyn.data import Given, SampleSet, choose_quota, unsure_form
from mmdyn.errors import UserError
from mmdyn.models import CacheChoice
from mmdyn.work import RayConfig, SetStep, make_set, open_source
from perturb.chains import FULL, Recipe
from perturb.item import EMBEDDED
from perturb.services import ToolNames
from perturb.short_answers import AnswerPool
from perturb.variants import VariantMaker


def perturb(
    source: Given,
    out: str | Path,
    *,
    ops: str | Sequence[str],
    draws: int = 1,
    seed: int = 0,
    factorial: bool = False,
    design: str = FULL,
    rewriter: str = EMBEDDED,
    style_backend: str = EMBEDDED,
    judge: str = "",
    votes: int = 1,
    redraws: int = 3,
    workers: int = 1,
    executor: RayConfig | None = None,
    concurrency: int | None = None,
    cache: CacheChoice | None = None,
    take: str = "",
    limit: int | None = None,
    name: str | None = None,
    skip_bad: bool = False,
    quiet: bool = False,
) -> SampleSet:
    """Make the variants of a set's samples (of the first `limit`) into the set folder `out`, and open it.

    The set is the same, byte for byte, for any number of `workers` (processes) or replicas of an `executor` (a Ray
    cluster, whose machines have the set and `out` at the same place), and however often the work was interrupted: the
    same call resumes. A finished set is opened as it is, unless variants failed for a passing reason: these are
    retried. If the work waits for a model or a GPU, `concurrency` threads of one process do it instead. Processes that
    a launcher started (with RANK and WORLD_SIZE) each do a share, and rank 0 writes the set.

    Args:
        source: an opened set, a set folder, or a file of any format or samples, which are imported into out/.source.
        ops: chains such as "pad,color,pad@strong+color", presets or YAML files of chains, or a list; each makes `draws`
            variants of a sample, or one if the chain is not random.
        factorial: whether to chain subsets of the chains, with shared draws.
        design: which: "full" for every one, "fraction" or "permutations:K" (`mmdyn.stats.design_forms`).
        rewriter: who rewrites: "embedded" or a MODEL.
        style_backend: who paints: "embedded", "flux" or "klein", with options.
        judge: "embedded", a MODEL, or empty for nobody. A variant that most `votes` reject is drawn again, up to
            `redraws` times.
        cache: where replies of the rewriter and the judge are kept, as in `mmdyn.models.Caches`.
        skip_bad: whether a file's bad rows are left out, and listed in out/.source/rejected.jsonl.
        take: a quota such as "difficulty=easy:695,hard:1124": variants of so many samples of each value, drawn by seed.

    Returns:
        The set; a variant that was not kept is listed in its dropped.jsonl with the reason.

    Raises:
        UserError: settings that do not fit or that differ from those in `out`.
        Busy: another process is at it.

    >>> hexagon = {"id": "hexagon", "question": "How many sides does a hexagon have?", "task_type": "single_choice"}
    >>> hexagon |= {"answer": ["B"], "options": [{"label": "A", "text": "five"}, {"label": "B", "text": "six"}]}
    >>> [(variant.id, variant.answer) for variant in perturb([hexagon], "varied", ops="shuffle", quiet=True)]
    [('hexagon~shuffle~0', ('A',))]
    """
    tools = ToolNames(
        rewriter, style_backend, judge, votes, ToolNames().concurrency if concurrency is None else concurrency, cache
    )
    recipe = Recipe.read(ops, draws, seed, design=_of_factorial(design, factorial), redraws=redraws, tools=tools)
    source = _standard(open_source(source, Path(out), skip_bad=skip_bad), quiet=quiet)
    made, waits = recipe.describe()
    tell = None if quiet else partial(print, file=sys.stderr)
    only = choose_quota(source, take, seed, limit, tell) if take else None
    made |= {"take": take} if take else {}
    said = "" if quiet else recipe.announced(min(len(source if only is None else only), limit or len(source)))
    threads = (concurrency or waits) if waits else 0
    step = SetStep("perturbing", made, threads, partial(_prepare, recipe, said), recipe.roles())
    return make_set(
        step,
        source,
        Path(out),
        name=name or f"{source.name}-dynamic",
        limit=limit,
        only=only,
        workers=workers,
        cluster=executor,
        quiet=quiet,
    )


def _of_factorial(design: str, factorial: bool) -> str:
    """The design of a factorial, else nothing. Raises UserError for a design without `factorial`."""
    if design != FULL and not factorial:
        raise UserError(f"design {design} chooses among the subsets of a factorial: add --factorial, or leave it out")
    return design if factorial else ""


def _standard(source: SampleSet, *, quiet: bool) -> SampleSet:
    if source.manifest.parent:
        raise UserError(f"{source.folder} is a dynamic set already: give the set that it was made of")
    if not quiet and (unsure := unsure_form([source])):
        print(unsure, file=sys.stderr)
    return source


def _prepare(recipe: Recipe, said: str, source: SampleSet, out: Path, scratch: Path) -> Callable[[], VariantMaker]:
    """A factory of VariantMaker; it collects other samples' answers if a chain needs wrong ones.

    `said`: what is printed first.
    """
    if said:
        print(said, file=sys.stderr)
    pool = scratch if "pool" in recipe.uses else None
    if pool:
        AnswerPool.build(source, pool)
    return partial(VariantMaker, source.folder, out, recipe, pool)
