"""mmdyn list: what there is, other packages' plug-ins too."""

from __future__ import annotations

import click

from mmdyn.plugins import FOLDERS, names

OURS = ("mmdyn", "perturb")


@click.command("list")
@click.argument("kind", type=click.Choice(list(FOLDERS)))
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a JSON object: name -> where it is loaded from, or what a short name or a preset stands for.",
)
def command(kind: str, as_json: bool) -> None:
    """List operators, models, formats, scorers or benchmarks.

    Operators are followed by their severities (not those of other packages, which are loaded when they are used), and by
    the names that stand for several operators in a row or, the presets, for a list of chains.
    """
    found = next(names(known) for known in FOLDERS if known == kind)
    aliases, chains = (_aliases(), _presets()) if kind == "operators" else ({}, {})
    if as_json:
        import json

        click.echo(json.dumps(dict(sorted({**found, **aliases, **chains}.items()))))
        return
    for name, source in found.items():
        if source.partition(".")[0] not in OURS:
            click.echo(f"{name}  ({source})")
        else:
            click.echo(f"{name}{_severities(name)}" if kind == "operators" else name)
    for name, operators in aliases.items():
        click.echo(f"{name}  = {operators}{_severities(*operators.split('+'))}")
    for name, listed in chains.items():
        click.echo(f"{name}  = {listed}")


def _aliases() -> dict[str, str]:
    """Names that stand for several operators in a row."""
    from perturb.chains import ALIASES

    return {name: "+".join(operators) for name, operators in ALIASES.items()}


def _presets() -> dict[str, str]:
    """The presets' chains, as they could be typed after --ops."""
    from perturb.presets import expand, presets

    return {name: ",".join(expand(name)) for name in sorted(presets())}


def _severities(*operators: str) -> str:
    """The severities that any of some operators takes, as they are typed."""
    from perturb.chains import load_operator

    known = dict.fromkeys(level for operator in operators for level in load_operator(operator).severities)
    return "  " + " ".join(f"@{level}" for level in known) if known else ""
