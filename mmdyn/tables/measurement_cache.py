"""What was measured on labelled files, kept in the user's cache folder: a file for what was measured, an entry a
labelled file."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec
from filelock import FileLock

from mmdyn.data import new_file
from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical, digest
from mmdyn.work import user_cache

SHOWN_DIGITS = 8
"""Of a digest, for people: enough to tell a few judges and files apart."""


class Measured(Protocol):
    """An entry: the identity of what was measured, and the labelled file's SHA-256 and name."""

    @property
    def identity(self) -> Json: ...
    @property
    def labels(self) -> str: ...
    @property
    def file(self) -> str: ...


T = TypeVar("T", bound=Measured)


class Kept(Generic[T]):
    """The entries of one kind, in a folder of the cache. `what` was measured, for people: "the judge"."""

    def __init__(self, folder: str, what: str, entries: type[tuple[T, ...]]) -> None:
        self._folder, self._what = folder, what
        self._decoder = msgspec.json.Decoder(entries)

    def save(self, entry: T) -> tuple[Path, bool]:
        """Keep an entry beside those on other labels; the file, and whether it took the place of one on the same
        labels.

        Raises UserError where the file cannot be read or written.
        """
        file = self._file(entry.identity)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{file}.lock"):
                kept = {found.labels: found for found in self.load(entry.identity)}
                replaced = entry.labels in kept
                kept[entry.labels] = entry
                with new_file(file) as out:
                    out.write(canonical(list(kept.values())) + b"\n")
        except OSError as error:
            raise UserError(f"cannot write {file} ({error.strerror}): set MMDYN_CACHE to a folder of yours") from None
        return file, replaced

    def load(self, identity: Json) -> tuple[T, ...]:
        """What was measured of an identity, the labels that were first used first; nothing where nothing was.

        Raises UserError for a file that is damaged or of an older form.
        """
        file = self._file(identity)
        try:
            return self._decoder.decode(file.read_bytes())
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:  # msgspec's errors and bad UTF-8 are ValueErrors
            raise UserError(f"{file} cannot be read ({error}): move it away and calibrate {self._what} again") from None

    def _file(self, identity: Json) -> Path:
        return user_cache() / self._folder / f"{digest(identity)}.json"


def named(entry: Measured) -> str:
    """The labelled file for people: its name, and the beginning of its digest, for files of one name."""
    return f"{entry.file} ({entry.labels[:SHOWN_DIGITS]})"
