"""`mmdyn data show` of a dynamic set: before and after, and the same bytes again."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mmdyn.cli._shared import say_line
from mmdyn.errors import UserError, command_line, did_you_mean

if TYPE_CHECKING:
    from mmdyn.data import SampleSet
    from perturb import Services, VariantPair


SOME = 4
"""Ids that are named where one is not there."""


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
    from mmdyn.data import describe_sample
    from mmdyn.sheets import find_parent
    from perturb import pairs, services_for

    try:
        source = find_parent(dynamic, parent)
    except UserError as error:
        if parent or pictures or again:
            raise
        say_line(f"{error}; the variants are shown alone", err=True)
        chosen = (sample for sample in dynamic if id in (None, sample.id, sample.parent))
        shown = [describe_sample(sample, dynamic.images) for sample in (chosen if id else islice(chosen, number))]
        click.echo("\n\n".join(shown) if shown else str(no_sample(dynamic, id)))
        return
    wanted = (pair for pair in pairs(dynamic, source) if id in (None, pair.after.id, pair.before.id))
    found = list(wanted if id else islice(wanted, number))
    if not found:
        raise no_sample(dynamic, id)
    with closing(services_for(dynamic, style_backend)) as services:
        differing = [pair for pair in found if _show(pair, source, dynamic, pictures, services if again else None)]
    if differing:
        click.get_current_context().exit(1)


def replay_built(made: SampleSet, id: str | None, number: int, parent: str | None) -> None:
    """Print samples before and after a step of building, and make them again. Exit status 1 where one differs."""
    from mmdyn.build import replay
    from mmdyn.errors import printable
    from mmdyn.sheets import find_parent
    from perturb import print_beside

    command = str(made.manifest.made.get("command", ""))
    if command and not command.startswith("mmdyn build "):
        raise UserError(f"{made.folder} was made by `{command}`, which is not replayed: call it again with another -o")
    files = parent is not None and not Path(parent, "samples.jsonl").is_file()
    source = Path(parent) if files and parent else find_parent(made, parent)
    found = replay(made, source, [id] if id else ())
    shown = [again for again, _ in zip(found, range(number), strict=False)]
    if not shown:
        raise no_sample(made, id)
    for again in shown:
        for after in again.after if again.before else ():
            assert again.before and not isinstance(source, Path)
            print_beside(again.before, after, source.images, made.images)
        name = (again.before or again.after[0]).id
        told = "; ".join(again.differing) or ("equal, byte for byte" if again.after else "it leaves as then")
        click.echo(printable(f"{name} replayed: {told}{' differ' * bool(again.differing)}"))
    if any(again.differing for again in shown):
        click.get_current_context().exit(1)


def _show(
    pair: VariantPair, source: SampleSet, dynamic: SampleSet, pictures: Path | None, services: Services | None
) -> bool:
    """Print one pair; with services make it again: True where it differs."""
    from perturb import folder_name, print_beside, replay, write_pictures

    print_beside(pair.before, pair.after, source.images, dynamic.images)
    if pictures:
        folder = pictures / folder_name(pair.after)
        for before, after in write_pictures(pair.before, pair.after, source.images, dynamic.images, folder):
            click.echo(f"{before}\n{after}")
    if services is None:
        return False
    found = replay(pair.before, pair.after, source.images, dynamic.images, services)
    if found.differing:
        click.echo(f"replayed: {', '.join(found.differing)} differ")
    else:
        click.echo(f"replayed: {', '.join(found.near) or 'equal, byte for byte'}")
    return bool(found.differing)


def no_sample(source: SampleSet, id: str | None) -> UserError:
    """What is said of a set that has no sample of an id, or nothing to show at all."""
    ids = dict.fromkeys(name for sample in source for name in (sample.parent, sample.id)) if id else {}
    ending = [name for name in ids if name.endswith((f"-{id}", f"/{id}"))]
    hint = f" (did you mean {ending[0]!r}?)" if len(ending) == 1 else did_you_mean(id or "", ids)
    what = f"no sample {id!r}{hint}" if id else "nothing to show"
    first = command_line("mmdyn", "data", "show", source.folder)
    some = f"its ids are {', '.join([*ids][:SOME])}{', …' * (len(ids) > SOME)}; " if ids and not hint else ""
    return UserError(f"there is {what} in {source.folder}: {some}`{first}` prints the first ones")
