"""A variant beside its parent, for people: two columns of text, and the pictures as files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mmdyn.data import ImageFolder, describe_sample, describe_trail
from mmdyn.errors import UserError
from mmdyn.keys import digest
from mmdyn.sample import Sample
from perturb.audit.differences import differences

_LONGEST = 60
"""Characters of an id in a folder's name: in Chinese that is three times as many bytes, and a name may have 255."""


def print_beside(before: Sample, after: Sample, source: ImageFolder, images: ImageFolder, console: Console) -> None:
    """Print a parent and its variant in two columns, and under them what differs, and the trail with the verdict."""
    table = Table(expand=True, show_lines=False)
    attempt = after.variant.attempt if after.variant else 0
    for title in ("before", f"after, attempt {attempt}" if attempt else "after"):
        table.add_column(title, ratio=1, overflow="fold")
    table.add_row(Text(describe_sample(before, source)), Text(describe_sample(replace(after, variant=None), images)))
    console.print(table)
    for line in differences(before, after, source, images):
        console.print(Text(f"  {line}"))
    console.print(Text(describe_trail(after)))


def folder_name(variant: Sample) -> str:
    """A name for a variant's folder of which no other variant has an equal one: its id where that can be one."""
    id, attempt = variant.id, variant.variant.attempt if variant.variant else 0
    name = re.sub(r"[^\w~+-]", "_", id)[:_LONGEST]
    return name + f".{digest(id, 4)}" * (name != id) + f".attempt{attempt}" * (attempt > 0)


def write_pictures(
    before: Sample, after: Sample, source: ImageFolder, images: ImageFolder, folder: Path
) -> list[tuple[Path, Path]]:
    """Copy each pair of pictures into a folder as 1-before.png, 1-after.png, …; the pairs in order.

    Raises UserError where a picture is missing or the folder cannot be written.
    """
    pairs = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (old, new) in enumerate(zip(before.all_images, after.all_images, strict=False), 1):
            here = folder / f"{number}-before{Path(old).suffix}"
            there = folder / f"{number}-after{Path(new).suffix}"
            shutil.copyfile(source.path(old), here)
            shutil.copyfile(images.path(new), there)
            pairs.append((here, there))
    except OSError as error:
        reason = f"{error.filename or folder} cannot be copied ({error.strerror})"
        raise UserError(f"{reason}: choose another --pictures") from None
    return pairs
