"""mmdyn perturb: new questions out of a set's, into a new set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mmdyn.cli._command import Command, Groups, options_of
from mmdyn.cli._shared import OutPath, limit_option, not_empty, number_option, print_variants, say_line


def _groups() -> Groups:
    from mmdyn.run import ConditionSpec, Execution

    made = options_of(ConditionSpec, "ops", "draws", "seed", "rewriter", "style_backend", "take", required="ops")
    return {"Variants": [*made, *options_of(Execution, "workers", "cache", required="ops")]}


@click.command("perturb", cls=Command, groups=_groups)
@click.argument("source", metavar="SET")
@click.option("-o", "--out", metavar="OUT", required=True, type=OutPath())
@click.option("--factorial", is_flag=True)
@click.option("--design", metavar="DESIGN", default="full")
@click.option("--judge", metavar="MODEL", callback=not_empty)
@number_option("--votes", "N")
@number_option("--redraws", "R", default=3, least=0)
@number_option("--concurrency", "N", default=None)
@limit_option("limit")
@click.option("--executor", metavar="ray,…", default="local")
@click.option("--name", metavar="NAME")
@click.option("--skip-bad", is_flag=True)
@click.option("-q", "--quiet", is_flag=True)
def command(source: str, out: Path, quiet: bool, executor: str, **arguments: Any) -> None:
    """Make variants of a set's questions: pictures padded, recoloured, restyled; words and forms changed.

    \b
    mmdyn perturb mmdyn-demo/set -o varied --ops pad,shuffle --draws 2
    mmdyn perturb mmdyn-demo/set -o judged --ops mdk12 --judge embedded

    SET is a set folder, or a file (JSONL, VLMEvalKit TSV, Parquet). On several GPUs: accelerate launch
    --num_processes N -m mmdyn perturb …; each process does a share. Exit status: 0 done; 1 done, but some variants
    failed (OUT/dropped.jsonl lists them with the reason; where a model did not answer, the same command tries again).
    \f
    out: The new set's folder; repeat the command to resume it.
    factorial: Every subset of the chains, chained, with shared draws: what does each one cost?
    design: Which subsets: full; fraction, of 5 to 8 chains, in which three operators are taken not to interact; or
        permutations:K, the prefixes of K random orders of up to 10 chains, and of their reverses. [default: full]
    judge: Throw out variants whose meaning changed: embedded, nli:FOLDER, or a MODEL. [default: nobody judges]
    votes: Ask a judge model so often; the majority counts.
    redraws: Draw a rejected variant again up to R times.
    concurrency: Variants under way where a model is waited for. [default: 32; 256 with flux or klein]
    limit: Only the first N samples.
    executor: ray,HOST:PORT,replicas=2,gpus=0.5 has replicas on a Ray cluster make them; ray,local starts one on this
        machine. [default: this process, or those that a launcher started]
    name: The new set's name. [default: SET's name with -dynamic]
    skip_bad: Leave bad rows of a file out; OUT/.source/rejected.jsonl lists them.
    quiet: No progress and no summary.
    """
    from mmdyn.errors import UserError
    from mmdyn.run import Execution, SlurmConfig
    from mmdyn.work import Ranks, is_unsettled
    from perturb import perturb

    cluster = Execution(executor).cluster
    if isinstance(cluster, SlurmConfig):
        raise UserError(
            "variants are made here or on a Ray cluster: under Slurm start ranks by srun (docs/clusters.md)"
        )
    dynamic = perturb(source, out, quiet=quiet, executor=cluster, **arguments)
    if Ranks.of_environment().number > 0:  # rank 0 speaks for all, and may be replacing this very set
        return
    if not quiet:
        print_variants(dynamic, source)
    if dynamic.manifest.counts.get("failed"):
        if is_unsettled(out) and not quiet:
            say_line("some failed for a reason that may pass: the same command tries them again", err=True)
        click.get_current_context().exit(1)
