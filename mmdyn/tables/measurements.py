"""How well judges agree with people: marks of a run's answers, and measurements on labelled files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import numpy as np
from filelock import FileLock
from msgspec import Struct

from mmdyn.data import JsonRow, new_file, read_json_rows
from mmdyn.errors import InputError, UserError, unreadable
from mmdyn.keys import Json, canonical, digest
from mmdyn.record import Record
from mmdyn.sample import from_dict
from mmdyn.stats import Floats, Share, kappa_interval, rank_correlations, weighted_kappa
from mmdyn.work import user_cache

NAMES = ("model", "set", "style", "epoch")
"""What may be said of a record beside its sample and mode, where several have these."""


def mark_of(row: JsonRow) -> float:
    """Read the mark in a row's `human`, a number in [0, 1].

    Raises:
        ValueError: It is missing or no such number.

    >>> mark_of({"human": 0.5})
    0.5
    """
    mark = row.get("human")
    if isinstance(mark, bool) or not isinstance(mark, int | float) or not 0 <= mark <= 1:
        raise ValueError('"human" must be people\'s mark, a number from 0 to 1')
    return float(mark)


class _Names(Struct, frozen=True):
    """Whose mark a line has: a record's `key`, or its `sample` and `mode` with as many of NAMES as it takes."""

    key: str = ""
    sample: str = ""
    mode: str = ""
    model: str | None = None
    set: str | None = None
    style: str | None = None
    epoch: int | None = None

    def fit(self, record: Record) -> bool:
        """Whether what is said of the record is true of it."""
        seen = {"model": record.model, "set": record.set, "style": record.condition.style, "epoch": record.epoch}
        return all(getattr(self, name) in (None, value) for name, value in seen.items())


class _Line(Struct):
    """A line of the file: what it names, its mark, and the key of the record that it was found to name."""

    number: int
    names: _Names
    mark: float
    record: str = ""


class Marks:
    """The marks of a file. Call `of` with every record of the run, then `check` that each line named one record.

    A line has `human`, and `key` (as `mmdyn runs export` writes it) or `sample` and `mode`; where several records share
    these, also `model`, `set`, `style` or `epoch`. Other keys are ignored.

    Raises:
        InputError: The file cannot be read, or a line lacks one of these.
    """

    def __init__(self, file: str | Path) -> None:
        self._file = file
        self._lines = dict[tuple[str, ...], list[_Line]]()
        try:
            with Path(file).open("rb") as lines:
                for number, row in read_json_rows(lines, str(file)):
                    self._add(number, row)
        except OSError as error:
            raise unreadable(file, error, "name a JSONL file of marks") from None
        if not self._lines:
            raise UserError(f'{file} has no line: give lines with "key" (or "sample" and "mode") and "human"')

    def of(self, record: Record) -> float | None:
        """The mark of a record, None where it has none.

        Raises:
            InputError: where two lines name it, or one names several.
        """
        named = self._lines.get((record.sample, record.condition.mode), [])
        lines = [*self._lines.get((record.key,), []), *(line for line in named if line.names.fit(record))]
        for line in lines:
            if line.record:
                problem = f"several answers are named so: add one of {', '.join(NAMES)}, or the key"
                raise InputError(self._file, line.number, problem)
            line.record = record.key
        if len(lines) > 1:
            problem = f"line {lines[0].number} marks the same answer: keep one of them"
            raise InputError(self._file, lines[1].number, problem)
        return lines[0].mark if lines else None

    def check(self) -> None:
        """Raise InputError where a line named no record that was shown."""
        for line in (line for lines in self._lines.values() for line in lines):
            if not line.record:
                raise InputError(self._file, line.number, "no answer of the run is named so: mark answers of this run")

    def _add(self, number: int, row: JsonRow) -> None:
        try:
            names, mark = from_dict(row, _Names), mark_of(row)
            if not names.key and not (names.sample and names.mode):
                raise ValueError('say whose mark it is: give "key", or "sample" and "mode"')
        except ValueError as error:
            raise InputError(self._file, number, str(error)) from None
        place = (names.key,) if names.key else (names.sample, names.mode)
        self._lines.setdefault(place, []).append(_Line(number, names, mark))


SHOWN_DIGITS = 8
"""The digits of a digest that are shown."""

BINS = 5
"""Parts of equal width that values are put into for the calibration table."""

METHOD = (
    "95 % intervals: Agresti and Coull's over questions, of kappa too; - where fewer than five questions tell how "
    "people's marks, or its own, spread"
)
"""A note on the intervals of a grader, or of a judge of variants."""

_SHARES = {
    "agreement": "of all answers, those that both call right or both do not",
    "precision": "of the answers that it calls right, those that people do",
    "sensitivity": "of the answers that people call right, those that it does",
    "specificity": "of the answers that people do not call right, those that it does not",
}
_NUMBERS = {
    "kappa": "agreement on right and wrong beyond chance",
    "weighted_kappa": "agreement of the marks beyond chance, quadratic weights",
    "kendall": "Kendall's tau-b with people's marks",
    "spearman": "Spearman's rho with people's marks",
    "mean_error": "mean of its value less people's mark",
    "mean_absolute_error": "mean size of that",
}

T = TypeVar("T", bound="Calibration | Grading")


class KeptMeasurements(Generic[T]):
    """The measurements of one kind, in a folder of the user's cache. `what` names in errors what was measured: "the
    judge"."""

    def __init__(self, folder: str, what: str, entries: type[tuple[T, ...]]) -> None:
        self._folder, self._what = folder, what
        self._decoder = msgspec.json.Decoder(entries)

    def save(self, entry: T) -> tuple[Path, bool]:
        """Save an entry beside those of the same identity on other labelled files.

        Returns:
            The file, and whether the entry replaced one on the same labels.

        Raises:
            UserError: The file cannot be read or written.
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
        """Load the measurements of an identity, in the order in which their labelled files were first used.

        Raises:
            UserError: The file is damaged.
        """
        file = self._file(identity)
        try:
            return self._decoder.decode(file.read_bytes())
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return ()
        except (OSError, ValueError) as error:  # msgspec's errors and bad UTF-8 are ValueErrors
            raise UserError(f"{file} cannot be read ({error}): move it away and calibrate {self._what} again") from None

    def _file(self, identity: Json) -> Path:
        return user_cache() / self._folder / f"{digest(identity)}.json"


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge of variants, measured on labelled pairs; positive is a pair whose meaning changed.

    A number is None where it is not defined, or too few questions are labelled. Intervals cluster pairs by question.

    Args:
        n, failed: Pairs with a verdict; pairs without one, which count nowhere else.
        questions: The number of questions that the pairs are of.
        precision: Of the pairs that the judge rejected, the share that people reject.
        recall, sensitivity: Of the pairs that people reject, the share that the judge rejected.
        specificity: Of the pairs that people keep, the share that the judge kept.
        agreement, kappa: The share of pairs on which both agree, and Cohen's kappa, in [-1, 1].
        labels, file: The SHA-256 of the labelled file, and its name.
    """

    judge: str
    identity: Json
    n: int
    failed: int
    questions: int
    precision: Share | None
    recall: Share | None
    sensitivity: Share | None
    specificity: Share | None
    labels: str = ""
    file: str = ""
    agreement: Share | None = None
    kappa: float | None = None
    kappa_ci95: tuple[float, float] | None = None


_CALIBRATIONS = KeptMeasurements("judges", "the judge", tuple[Calibration, ...])


save, load_calibrations = _CALIBRATIONS.save, _CALIBRATIONS.load


def judge_id(identity: Json) -> str:
    """The short digest of a judge's identity, which distinguishes judges of one label."""
    return digest(identity)[:SHOWN_DIGITS]


def named(entry: Calibration | Grading) -> str:
    """The labelled file's name, with the beginning of its digest."""
    return f"{entry.file} ({entry.labels[:SHOWN_DIGITS]})"


class Bin(Struct, frozen=True):
    """The answers whose value is in [low, high) (the last bin includes 1): their number and both means, in [0, 1]."""

    low: float
    high: float
    n: int
    value: float
    human: float


class Grading(Struct, frozen=True, forbid_unknown_fields=True):
    """A grader, measured on one labelled file against people's marks in [0, 1].

    An answer is right where its mark, or the grader's value, is `threshold` or more. A number is None where it is not
    defined. Intervals cluster answers by question (`kappa_interval` for both kappas).

    Args:
        n, failed: Answers with a value; answers without one, which count nowhere else.
        agreement, kappa: The share of answers on which both agree on right or wrong; Cohen's kappa, in [-1, 1].
        weighted_kappa: Kappa of the marks as they are, with quadratic weights.
        sensitivity, specificity: Of the answers that people call right (not right), the share that the grader does,
            too.
        precision: Of the answers that the grader calls right, the share that people do.
        kendall, spearman: Tau-b and rho with people's marks, in [-1, 1].
        mean_error, mean_absolute_error: Of value less mark.
        labels, file: The SHA-256 of the labelled file, and its name.
    """

    grader: str
    identity: Json
    threshold: float
    n: int
    failed: int
    questions: int
    agreement: Share | None
    kappa: float | None
    weighted_kappa: float | None
    sensitivity: Share | None
    specificity: Share | None
    precision: Share | None
    kendall: float | None
    spearman: float | None
    mean_error: float | None
    mean_absolute_error: float | None
    bins: tuple[Bin, ...]
    labels: str = ""
    file: str = ""
    kappa_ci95: tuple[float, float] | None = None
    weighted_kappa_ci95: tuple[float, float] | None = None


_GRADINGS = KeptMeasurements("graders", "the grader", tuple[Grading, ...])


save_grading, load_gradings = _GRADINGS.save, _GRADINGS.load


def measure(
    grader: str,
    identity: Json,
    marked: Iterable[tuple[float, float | None]],
    threshold: float = 0.5,
    about: Sequence[str] = (),
) -> Grading:
    """Compare a grader's values with people's marks.

    Args:
        grader, identity: The grader's name, and all that decides its values.
        marked: (mark, value) for each answer, in [0, 1]; the value is None where the grader gave none.
        threshold: An answer is right from this mark, or value, on.
        about: The question of each answer; by default each has its own.

    Raises:
        UserError: There is no answer.

    >>> measure("grader", "id", [(1.0, 0.75), (0.0, 0.25), (1.0, 0.25), (0.0, None)]).agreement.value
    0.6666666666666666
    """
    pairs = list(marked)
    if not pairs:
        raise UserError('there is no marked answer: give lines with "human", a number from 0 to 1')
    graded = np.array([pair for pair in pairs if pair[1] is not None], dtype=np.float64).reshape(-1, 2)
    human, value = graded[:, 0], graded[:, 1]
    right, called = human >= threshold, value >= threshold
    by_people, by_grader = right.astype(np.float64), called.astype(np.float64)
    kendall, spearman = rank_correlations(human, value)
    _, asked = np.unique(about or np.arange(len(pairs)), return_inverse=True)
    asked = asked[[pair[1] is not None for pair in pairs]]
    n, errors = len(graded), value - human
    error, size = (float(column.mean()) if n else None for column in (errors, np.abs(errors)))
    hits = (called, right), (~called, ~right), (right, called)
    sensitivity, specificity, precision = (Share.of(hit[among], asked[among]) for hit, among in hits)
    return Grading(
        grader=grader,
        identity=identity,
        threshold=threshold,
        n=n,
        failed=len(pairs) - n,
        questions=len(np.unique(asked)),
        agreement=Share.of(right == called, asked),
        kappa=weighted_kappa(by_people, by_grader),
        weighted_kappa=weighted_kappa(human, value),
        sensitivity=sensitivity,
        specificity=specificity,
        precision=precision,
        kendall=kendall,
        spearman=spearman,
        mean_error=error,
        mean_absolute_error=size,
        bins=tuple(_bins(human, value)),
        kappa_ci95=kappa_interval(by_people, by_grader, asked),
        weighted_kappa_ci95=kappa_interval(human, value, asked),
    )


def spell(grading: Grading) -> Iterator[str]:
    """Yield the lines of a report on one grader."""
    who = grading.grader if grading.grader == grading.identity else f"{grading.grader} ({judge_id(grading.identity)})"
    failed = f", {grading.failed} without a verdict" if grading.failed else ""
    asked = f"{grading.questions} question{'s' * (grading.questions != 1)}"
    on = f"{grading.n} marked answers to {asked} of {named(grading)}"
    yield f"{who} on {on}{failed}; right from {grading.threshold:g} on"
    for name, meaning in _SHARES.items():
        yield f"    {name:<20} {_share(getattr(grading, name)):<36} {meaning}"
    for name, meaning in _NUMBERS.items():
        number = getattr(grading, name)
        shown = spell_kappa(number, getattr(grading, f"{name}_ci95")) if "kappa" in name else _number(number)
        yield f"    {name.replace('_', ' '):<20} {shown:<36} {meaning}"
    for found in grading.bins:
        last = "]" if found.high == 1 else ")"
        bounds = f"value in [{found.low:.1f}, {found.high:.1f}{last}"
        counted = f"{found.n:>6} answer{'s' * (found.n != 1)}"
        yield f"    {bounds:<20} {counted}: mean value {found.value:.3f}, people's mean mark {found.human:.3f}"
    yield f"    {METHOD}"


def spell_kappa(kappa: float | None, ci95: tuple[float, float] | None) -> str:
    """Write kappa with its interval; a dash where there is no interval.

    >>> spell_kappa(0.55, (-0.013, 0.855))
    ' 0.550  [-0.013, 0.855]'
    """
    interval = f"[{ci95[0]:.3f}, {ci95[1]:.3f}]" if ci95 else "-"
    return _number(kappa) if kappa is None else f"{_number(kappa)}  {interval}"


def _share(share: Share | None) -> str:
    return f"{share.value:6.1%}  [{share.low:.1%}, {share.high:.1%}]  n = {share.n}" if share else "no such answer"


def _number(number: float | None) -> str:
    return "not defined" if number is None else f"{number:6.3f}"


def _bins(human: Floats, value: Floats) -> Iterator[Bin]:
    """The calibration table; bins without an answer are left out."""
    places = np.minimum((value * BINS).astype(int), BINS - 1)
    for place in np.unique(places).tolist():
        inside = places == place
        yield Bin(
            low=place / BINS,
            high=(place + 1) / BINS,
            n=int(inside.sum()),
            value=float(value[inside].mean()),
            human=float(human[inside].mean()),
        )
