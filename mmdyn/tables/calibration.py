"""What was measured of judges on labelled pairs."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.keys import Json, digest
from mmdyn.tables.measurement_cache import SHOWN_DIGITS, Kept
from mmdyn.tables.statistics import wilson


class Share(Struct, frozen=True):
    """A share in [0, 1] of `n` pairs with its 95 % Wilson interval."""

    value: float
    low: float
    high: float
    n: int

    @property
    def rounded(self) -> Share:
        """Six digits, as everywhere in a report."""
        return Share(round(self.value, 6), round(self.low, 6), round(self.high, 6), self.n)


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


_KEPT = Kept("judges", "the judge", tuple[Calibration, ...])


def share(part: int, whole: int) -> Share | None:
    """`part` of `whole` cases with Wilson's interval; None where there is no case."""
    return Share(part / whole, *wilson(part / whole, whole), whole) if whole else None


def judge_id(identity: Json) -> str:
    """What tells judges of one label apart, for people."""
    return digest(identity)[:SHOWN_DIGITS]


def save(calibration: Calibration) -> tuple[Path, bool]:
    """Keep a calibration; the file, and whether it took the place of one on the same labels. Raises UserError."""
    return _KEPT.save(calibration)


def load_calibrations(identity: Json) -> tuple[Calibration, ...]:
    """What was measured of the judge of an identity. Raises UserError for a file that cannot be read."""
    return _KEPT.load(identity)
