"""What there is to see under a path: runs and sets, by names that addresses have; and the pictures of what is shown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, ImageFolder, SampleSet, is_set, open_image
from mmdyn.errors import InputError
from mmdyn.keys import digest, sha256
from mmdyn.run import pictures_of
from mmdyn.sample import ImageRef
from mmdyn.view.index import Index
from mmdyn.work import RUN, RunFolder

DEPTH = 3
"""How many folders down runs and sets are looked for."""


class Catalog:
    """The runs and sets under a path. Nothing in an address is ever a path: it is looked up here.

    Raises InputError where there is no such folder, or neither a run nor a set in it.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(root, None, "no such folder: name a run, a set, or a folder of them")
        self.root = root.resolve()
        self._indexes, self._guard = dict[Path, tuple[int, Index]](), threading.Lock()
        self._pictures = dict[str, tuple[ImageFolder, ImageRef]]()
        if not self.runs() and not self.sets():
            raise InputError(root, None, "there is neither a run nor a set in it: `mmdyn eval -o` makes a run")

    def runs(self) -> dict[str, Path]:
        """The folders of runs by their names in addresses."""
        return {self.name(folder): folder for folder in _look(self.root, DEPTH) if (folder / RUN).is_file()}

    def sets(self) -> dict[str, Path]:
        """The folders of sets by their names in addresses."""
        return {self.name(folder): folder for folder in _look(self.root, DEPTH) if is_set(folder)}

    def name(self, folder: Path) -> str:
        """What names a folder in addresses."""
        return digest(str(folder.relative_to(self.root)), 5)

    def index(self, name: str) -> Index:
        """The index of a run, brought up to date. Raises KeyError for a run that is not there, UserError for one that
        cannot be read."""
        folder = self.runs()[name]
        with self._guard:
            written = (folder / RUN).stat().st_mtime_ns
            known = self._indexes.get(folder)
            if known is None or known[0] != written:
                known = self._indexes[folder] = written, Index(RunFolder(folder))
        known[1].refresh()
        return known[1]

    def set(self, name: str) -> SampleSet:
        """A set. Raises KeyError, InputError."""
        return SampleSet(self.sets()[name])

    def images(self, run: RunFolder) -> dict[str, ImageFolder]:
        """The pictures of a run's sets, by the standard set's name: only of sets that are what was asked."""
        there = tuple(
            entry for entry in run.config.sets if has_digest(run.set_folder(entry), entry.digest, entry.answers)
        )
        shown = RunFolder(run.folder)
        shown.config = replace(run.config, sets=there)
        return pictures_of(shown)

    def picture(self, images: ImageFolder, ref: ImageRef) -> str:
        """The address of a picture; empty where it cannot be read."""
        try:
            name = sha256(images.read(ref))
        except ValueError:
            return ""
        self._pictures[name] = images, ref
        return f"/picture/{name}"

    def read_picture(self, name: str) -> tuple[bytes, str]:
        """The bytes and media type of a picture that a page has shown, by its bytes' SHA-256. Raises KeyError,
        ValueError."""
        images, ref = self._pictures[name]
        data = images.read(ref)
        if sha256(data) != name:
            raise ValueError("the picture has changed")
        return data, IMAGE_MEDIA_TYPES[IMAGE_SUFFIXES[open_image(data).format or ""]]


def _look(folder: Path, depth: int) -> Iterator[Path]:
    """A folder and those in it, without links, and without what may not be read; a run's own are its own."""
    try:
        whole = not depth or (folder / RUN).is_file() or is_set(folder)
        inside = [] if whole else sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return
    yield folder
    for one in inside:
        if not one.name.startswith("."):
            yield from _look(one, depth - 1)


def has_digest(folder: Path, *digests: str) -> bool:
    """Whether a set of one of these digests lies in a folder."""
    try:
        return SampleSet(folder).manifest.digest in digests
    except Exception:  # a set that cannot be read is no set that was asked
        return False
