"""mmdyn run: a whole matrix from a YAML file."""

from __future__ import annotations

from pathlib import Path

import click

from mmdyn.cli._estimate import dry_run_option, print_estimate
from mmdyn.cli._shared import finish, quiet_option


@click.command("run")
@click.argument("config")
@click.argument("overrides", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--allow-programs", is_flag=True, help="Start programs and Python files that CONFIG names as models.")
@dry_run_option
@quiet_option
def command(config: str, overrides: tuple[str, ...], allow_programs: bool, dry_run: bool, quiet: bool) -> None:
    """Carry out a config file, or a shipped one by its name (`mmdyn list configs`), with changes on top, such as
    models=[openai:NAME] or limits.n=20: its sections are those of `mmdyn eval --help`.
    """
    from mmdyn.configs import find_config
    from mmdyn.run import estimate_config, read_config, run_config

    more = ["execution.quiet=true"] * quiet
    wanted = read_config(find_config(Path(config)), [*overrides, *more], allow_programs=allow_programs)
    if dry_run:
        print_estimate(lambda: estimate_config(wanted))
    else:
        finish(run_config(wanted), wanted.by)
