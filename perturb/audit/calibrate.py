"""How well a judge tells changed questions from kept ones, on pairs that people have labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.data._text import new_file
from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical, digest
from mmdyn.models.cache import cache_folder
from mmdyn.reporting.statistics import wilson
from mmdyn.sample import Verdict


class Share(Struct, frozen=True):
    """A share of `n` pairs with its 95 % Wilson interval."""

    value: float
    low: float
    high: float
    n: int


class Calibration(Struct, frozen=True):
    """A judge measured as a detector: positive is a pair whose meaning changed, and the judge's rejecting it.

    precision: of the pairs that it rejected, the share that people reject. recall, or sensitivity: of the pairs that people
    reject, the share that it rejected. specificity: of the pairs that people keep, the share that it kept. None where there
    is no such pair. `failed` counts pairs on which it gave no verdict; they are in no share.
    """

    judge: str
    identity: Json
    n: int
    failed: int
    precision: Share | None
    recall: Share | None
    sensitivity: Share | None
    specificity: Share | None


def measure(judge: str, identity: Json, judged: Iterable[tuple[bool, Verdict]]) -> Calibration:
    """Compare verdicts with labels; a label is True where people say that the meaning was kept.

    Raises UserError where there is no pair.
    """
    counts = Counter((keep, verdict.status) for keep, verdict in judged)
    if not counts:
        raise UserError("there is no labelled pair: give a file of lines with a label")
    failed = counts.pop((True, "failed"), 0) + counts.pop((False, "failed"), 0)
    caught, missed = counts[False, "rejected"], counts[False, "kept"]
    wronged, spared = counts[True, "rejected"], counts[True, "kept"]
    recall = _share(caught, caught + missed)
    precision, specificity = _share(caught, caught + wronged), _share(spared, spared + wronged)
    return Calibration(judge, identity, counts.total(), failed, precision, recall, recall, specificity)


def save(calibration: Calibration) -> Path:
    """Keep a calibration in the user's cache folder, in place of an older one of the same judge. Raises UserError."""
    file = _file(calibration.identity)
    with new_file(file) as out:
        out.write(canonical(calibration) + b"\n")
    return file


def load_calibration(identity: Json) -> Calibration | None:
    """What was last measured of the judge of an identity; None where nothing was. Raises UserError for a damaged file."""
    file = _file(identity)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Calibration)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise UserError(f"{file} cannot be read ({error}): remove it and calibrate the judge again") from None


def _file(identity: Json) -> Path:
    return cache_folder().parent / "judges" / f"{digest(identity)}.json"


def _share(part: int, whole: int) -> Share | None:
    return Share(part / whole, *wilson(part / whole, whole), whole) if whole else None
