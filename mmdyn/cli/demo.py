"""mmdyn demo: the whole pipeline on a small set, with no network and no GPU."""

from __future__ import annotations

from pathlib import Path

import click

from mmdyn.cli._shared import OutPath, finish, quiet_option, say_line
from mmdyn.errors import command_line

BASELINES = ("baseline:majority", "baseline:lexical")
MODES = ("standard", "dynamic", "kprag")
OPS = "pad+color,shuffle,convert"


@click.command("demo")
@click.option("-o", "--out", default="mmdyn-demo", show_default=True, type=OutPath(), help="Folder.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Processes.")
@quiet_option
def command(out: Path, workers: int, quiet: bool) -> None:
    """Perturb a small bilingual set, ask three models that need no network, and report.

    \b
    mmdyn demo

    One has learned the set's answers by heart, one always picks the option that is right most often, and one goes by
    the words that the question and the options share.
    """
    from mmdyn.demo import learn_by_heart, make_demo
    from mmdyn.run import ConditionSpec, Execution, evaluate
    from mmdyn.tables import why
    from perturb import perturb

    standard = make_demo(out / "set")
    dynamic = perturb(standard, out / "dynamic", ops=OPS, draws=2, seed=1, workers=workers, quiet=quiet)
    models = (f"scripted:{learn_by_heart(standard, out / 'by_heart')}", *BASELINES)
    asked, how = ConditionSpec(MODES), Execution(quiet=quiet)
    run = evaluate([standard, dynamic], models, out / "run", conditions=asked, execution=how)
    finish(run)
    say_line("\nIn short:\n" + "\n".join(line.text for line in why(run).sections[0].lines))
    steps = {
        command_line("mmdyn", "report", run.folder, "--why"): "through which change, how sure, and what is open",
        command_line("mmdyn", "data", "show", dynamic.folder, "-n", "1"): "a variant beside its question",
        command_line("mmdyn", "view", out): "all of it in a browser (pip install 'mmdyn[view]')",
    }
    say_line("\nNext:\n" + "\n".join(f"  {command}\n      {what}" for command, what in steps.items()))
