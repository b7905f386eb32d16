"""mmdyn demo: the whole pipeline on a small set, with no network and no GPU."""

from __future__ import annotations

from pathlib import Path

import click

from mmdyn.cli._shared import OutPath, quiet_option

MODELS = ("baseline:random", "baseline:majority", "baseline:lexical")
MODES = ("standard", "dynamic", "kprag")
OPS = "pad+color,shuffle,convert"


@click.command("demo")
@click.option("-o", "--out", default="mmdyn-demo", show_default=True, type=OutPath(), help="Folder.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Processes.")
@quiet_option
def command(out: Path, workers: int, quiet: bool) -> None:
    """Perturb a small bilingual set, ask the embedded baselines in three modes, and report."""
    from mmdyn.cli._shared import finish
    from mmdyn.demo import make_demo
    from mmdyn.run import ConditionSpec, Execution, evaluate
    from perturb import perturb

    standard = make_demo(out / "set")
    dynamic = perturb(standard, out / "dynamic", ops=OPS, draws=2, seed=1, workers=workers, quiet=quiet)
    asked, how = ConditionSpec(MODES), Execution(quiet=quiet)
    run = evaluate([standard, dynamic], MODELS, out / "run", conditions=asked, execution=how)
    click.echo(
        f"\nLook at {dynamic.folder} (the variants and their pictures) and {run.folder} (the answers).", err=True
    )
    finish(run)
