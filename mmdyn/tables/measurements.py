"""What was measured of judges and graders on labelled files, kept in the user's cache folder: a file for what was
measured, an entry a labelled file."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec
from filelock import FileLock
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import new_file
from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical, digest
from mmdyn.stats import Share
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


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge measured as a detector on one labelled file: positive is a pair whose meaning changed, and the judge's
    rejecting it.

    precision: of the pairs that it rejected, the share that people reject. recall, or sensitivity: of the pairs that
        people reject, the share that it rejected. specificity: of the pairs that people keep, the share that it kept.
        None where there is no such pair. agreement: of all pairs, the share that both keep or both reject; kappa: the
        same beyond chance, in [-1, 1], with its 95 % interval; None where it is not defined, in entries of older
        programs too. `failed` counts pairs on which it gave no verdict; they are in no share. `labels` is the SHA-256
        of the labelled file, `file` its name.
    """

    judge: str
    identity: Json
    n: int
    failed: int
    precision: Share | None
    recall: Share | None
    sensitivity: Share | None
    specificity: Share | None
    labels: str = ""
    file: str = ""
    agreement: Share | None = None
    kappa: float | None = None
    kappa_ci95: tuple[float, float] | None = None

    @property
    def rounded(self) -> Calibration:
        """Six digits, as everywhere in a report."""
        names = ("agreement", "precision", "recall", "sensitivity", "specificity")
        shares = {name: getattr(self, name) for name in names}
        kappa = None if self.kappa is None else round(self.kappa, 6)
        interval = self.kappa_ci95 and (round(self.kappa_ci95[0], 6), round(self.kappa_ci95[1], 6))
        rounded = {name: share and share.rounded for name, share in shares.items()}
        return replace(self, kappa=kappa, kappa_ci95=interval, **rounded)


_CALIBRATIONS = Kept("judges", "the judge", tuple[Calibration, ...])


def save(calibration: Calibration) -> tuple[Path, bool]:
    """Keep a calibration; the file, and whether it took the place of one on the same labels. Raises UserError."""
    return _CALIBRATIONS.save(calibration)


def load_calibrations(identity: Json) -> tuple[Calibration, ...]:
    """What was measured of the judge of an identity. Raises UserError for a file that cannot be read."""
    return _CALIBRATIONS.load(identity)


def judge_id(identity: Json) -> str:
    """What tells judges of one label apart, for people."""
    return digest(identity)[:SHOWN_DIGITS]


def named(entry: Measured) -> str:
    """The labelled file for people: its name, and the beginning of its digest, for files of one name."""
    return f"{entry.file} ({entry.labels[:SHOWN_DIGITS]})"
