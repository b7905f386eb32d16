"""mmdyn list: what there is, other packages' plug-ins too."""

from __future__ import annotations

import click

from mmdyn.plugins import FOLDERS, names


@click.command("list")
@click.argument("kind", type=click.Choice(list(FOLDERS)))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: name -> where it is loaded from.")
def command(kind: str, as_json: bool) -> None:
    """List operators, models, formats, scorers or benchmarks."""
    found = next(names(known) for known in FOLDERS if known == kind)
    if kind == "operators":
        from perturb.chains import ALIASES

        found = dict(sorted({**found, **{name: "+".join(chain) for name, chain in ALIASES.items()}}.items()))
    if as_json:
        import json

        click.echo(json.dumps(found))
        return
    for name, source in found.items():
        package = source.partition(".")[0]
        click.echo(name if package in ("mmdyn", "perturb") else f"{name}  ({source})")
