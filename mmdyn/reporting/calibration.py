"""What was measured of judges on labelled pairs, kept in the user's cache folder: a file a judge, an entry a labelled file."""

from __future__ import annotations

from pathlib import Path

import msgspec
from filelock import FileLock
from msgspec import Struct

from mmdyn.data.new_file import new_file
from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical, digest
from mmdyn.work.user_cache import user_cache

SHOWN_DIGITS = 8
"""Of a digest, for people: enough to tell a few judges and files apart."""


class Share(Struct, frozen=True):
    """A share in [0, 1] of `n` pairs with its 95 % Wilson interval."""

    value: float
    low: float
    high: float
    n: int


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge measured as a detector on one labelled file: positive is a pair whose meaning changed, and the judge's rejecting it.

    precision: of the pairs that it rejected, the share that people reject. recall, or sensitivity: of the pairs that people
    reject, the share that it rejected. specificity: of the pairs that people keep, the share that it kept. None where there
    is no such pair. `failed` counts pairs on which it gave no verdict; they are in no share. `labels` is the SHA-256 of the
    labelled file, `file` its name.
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


def judge_id(identity: Json) -> str:
    """What tells judges of one label apart, for people."""
    return digest(identity)[:SHOWN_DIGITS]


def named(calibration: Calibration) -> str:
    """The labelled file for people: its name, and the beginning of its digest, for files of one name."""
    return f"{calibration.file} ({calibration.labels[:SHOWN_DIGITS]})"


def save(calibration: Calibration) -> tuple[Path, bool]:
    """Keep a calibration beside those on other labels; the file, and whether it took the place of one on the same labels.

    Raises UserError where the file cannot be read or written.
    """
    file = _file(calibration.identity)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):
            kept = {found.labels: found for found in load_calibrations(calibration.identity)}
            replaced = calibration.labels in kept
            kept[calibration.labels] = calibration
            with new_file(file) as out:
                out.write(canonical(list(kept.values())) + b"\n")
    except OSError as error:
        raise UserError(f"cannot write {file} ({error.strerror}): set MMDYN_CACHE to a folder of yours") from None
    return file, replaced


def load_calibrations(identity: Json) -> tuple[Calibration, ...]:
    """What was measured of the judge of an identity, the labels that were first used first; nothing where nothing was.

    Raises UserError for a file that is damaged or of an older form.
    """
    file = _file(identity)
    try:
        return msgspec.json.decode(file.read_bytes(), type=tuple[Calibration, ...])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:  # msgspec's errors and bad UTF-8 are ValueErrors
        raise UserError(f"{file} cannot be read ({error}): move it away and calibrate the judge again") from None


def _file(identity: Json) -> Path:
    return user_cache() / "judges" / f"{digest(identity)}.json"
