"""mmdyn run: a whole matrix from a YAML file."""

from __future__ import annotations

from pathlib import Path

import click

from mmdyn.cli._command import Command
from mmdyn.cli._estimate import dry_run_option, print_estimate
from mmdyn.cli._shared import finish, quiet_option


class _RunCommand(Command):
    """Its help names the keys of a config, and the configs that are shipped."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what a config holds under its options."""
        from msgspec.structs import fields

        from mmdyn.configs import ready_runs
        from mmdyn.run import SECTIONS, Config, Source

        plain = [field.name for field in fields(Config) if field.name not in SECTIONS]
        rows = [("at the top", ", ".join(plain)), ("sets.N", ", ".join(Source.__struct_fields__))]
        rows += [(name, ", ".join(section.__struct_fields__)) for name, section in SECTIONS.items()]
        with formatter.section("Keys, which `mmdyn eval --help` explains under the same headings"):
            formatter.write_dl(rows)
        with formatter.section("Shipped configs"):
            formatter.write_text(", ".join(ready_runs()))


@click.command("run", cls=_RunCommand)
@click.argument("config")
@click.argument("overrides", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--allow-programs", is_flag=True, help="Start programs and Python files that CONFIG names as models.")
@click.option("--allow-secrets", is_flag=True, help="Send variables and files of yours where CONFIG says.")
@dry_run_option
@quiet_option
def command(
    config: str, overrides: tuple[str, ...], allow_programs: bool, allow_secrets: bool, dry_run: bool, quiet: bool
) -> None:
    """Run a config file, or a shipped one by name (`mmdyn list configs`).

    \b
    mmdyn run ladder 'sets=[mmdyn-demo/set]' 'models=[baseline:lexical]' \\
        out=runs/ladder
    mmdyn run gaokao_mm sets.0.path=path/to/GAOKAO-MM \\
        'models=[openai:gpt-4o]' limits.n=20

    Changes may follow: keys as below, and numbers from 0 for entries of a list.
    """
    from mmdyn.configs import find_config
    from mmdyn.run import estimate_config, read_config, run_config

    more = ["execution.quiet=true"] * quiet
    file, changes = find_config(Path(config)), [*overrides, *more]
    wanted = read_config(file, changes, allow_programs=allow_programs, allow_secrets=allow_secrets)
    if dry_run:
        print_estimate(lambda: estimate_config(wanted))
    else:
        finish(run_config(wanted), wanted.by)
