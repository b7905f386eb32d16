"""`mmdyn data show` of a dynamic set: before and after, and the same bytes again."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mmdyn.data.set_folder import SampleSet
    from perturb.pairs import Pair


def show_variants(
    dynamic: SampleSet,
    id: str | None,
    number: int,
    *,
    parent: str | None,
    pictures: Path | None,
    again: bool,
    style_backend: str,
) -> None:
    """Print variants beside their parents; copy their pictures; make them again. Exit status 1 where one differs.

    Without the parent set variants are printed alone, unless something was asked for that needs it.
    """
    from mmdyn.data.show import describe
    from mmdyn.errors import UserError
    from perturb.pairs import find_parent, pairs

    try:
        source = find_parent(dynamic, parent)
    except UserError as error:
        if parent or pictures or again:
            raise
        click.echo(f"{error}; the variants are shown alone", err=True)
        chosen = (sample for sample in dynamic if id in (None, sample.id, sample.parent))
        shown = [describe(sample, dynamic.images) for sample in (chosen if id else islice(chosen, number))]
        click.echo("\n\n".join(shown) if shown else _none(dynamic, id))
        return
    wanted = (pair for pair in pairs(dynamic, source) if id in (None, pair.after.id, pair.before.id))
    found = list(wanted if id else islice(wanted, number))
    if not found:
        raise UserError(_none(dynamic, id))
    differing = [pair for pair in found if _show(pair, source, dynamic, pictures, again, style_backend)]
    if differing:
        click.get_current_context().exit(1)


def _show(
    pair: Pair, source: SampleSet, dynamic: SampleSet, pictures: Path | None, again: bool, style_backend: str
) -> bool:
    """Print one pair; True where it was made again and differs."""
    from rich.console import Console

    from perturb.beside import print_beside, write_pictures
    from perturb.replay import replay
    from perturb.workbench import Tools, Workbench

    print_beside(pair.before, pair.after, source.images, dynamic.images, Console())
    if pictures:
        folder = pictures / re.sub(r"[^\w~+-]", "_", pair.after.id)
        for before, after in write_pictures(pair.before, pair.after, source.images, dynamic.images, folder):
            click.echo(f"{before}\n{after}")
    if not again:
        return False
    differing = replay(pair.before, pair.after, source.images, Workbench(Tools(style=style_backend)))
    click.echo(f"replayed: {', '.join(differing)} differ" if differing else "replayed: equal, byte for byte")
    return bool(differing)


def _none(dynamic: SampleSet, id: str | None) -> str:
    what = f"no sample {id!r}" if id else "no variant"
    return f"there is {what} in {dynamic.folder}: `mmdyn data show {dynamic.folder}` prints the first ones"
