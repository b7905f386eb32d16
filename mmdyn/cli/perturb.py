"""mmdyn perturb: new questions out of a set's, into a new set."""

from __future__ import annotations

import click

from mmdyn.cli._shared import print_variants


@click.command("perturb")
@click.argument("source", metavar="SET")
@click.option(
    "-o", "--out", metavar="OUT", required=True, help="The new set's folder; the same command again goes on in it."
)
@click.option(
    "--ops",
    metavar="CHAINS",
    required=True,
    help="Operators; a comma separates variants, a plus chains: pad,color,pad+color. `mmdyn list operators` names them.",
)
@click.option(
    "--draws",
    metavar="K",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Variants per sample and chain; one where nothing in a chain is random.",
)
@click.option("--seed", metavar="N", default=0, show_default=True, type=click.IntRange(0, (1 << 63) - 1))
@click.option(
    "--workers",
    metavar="N",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Processes; the set is the same for any number.",
)
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N samples.")
@click.option("--name", metavar="NAME", help="The new set's name. [default: SET's name with -dynamic]")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(
    source: str,
    out: str,
    ops: str,
    draws: int,
    seed: int,
    workers: int,
    limit: int | None,
    name: str | None,
    quiet: bool,
) -> None:
    """Make variants of a set's questions: pictures padded, recoloured, noisy; options shuffled; forms converted.

    \b
    SET is a set folder, or a file (JSONL, VLMEvalKit TSV, Parquet).
    Exit status: 0 done; 1 done, but some variants failed (OUT/dropped.jsonl lists them with the reason).
    """
    from perturb.pipeline import perturb

    dynamic = perturb(
        source, out, ops=ops, draws=draws, seed=seed, workers=workers, limit=limit, name=name, quiet=quiet
    )
    if not quiet:
        print_variants(dynamic)
    if dynamic.manifest.counts.get("failed"):
        click.get_current_context().exit(1)
