"""mmdyn run: a whole matrix from a YAML file."""

from __future__ import annotations

from pathlib import Path

import click

from mmdyn.cli._shared import finish


@click.command("run")
@click.argument("config")
@click.argument("overrides", metavar="[KEY=VALUE]...", nargs=-1)
def command(config: str, overrides: tuple[str, ...]) -> None:
    """Carry out a config file, or a shipped one by its name, with KEY=VALUE changes on top."""
    from mmdyn.configs import find_config
    from mmdyn.run import read_config, run_config

    wanted = read_config(find_config(Path(config)), overrides)
    finish(run_config(wanted), wanted.by)
