"""Who judged the dynamic sets of a run, what became of their variants, and what is known of that judge here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import SampleSet, SetManifest, read_set_manifest
from mmdyn.errors import UserError
from mmdyn.sample import Sample
from mmdyn.tables.calibration import Calibration, judge_id, load_calibrations
from mmdyn.work import RunFolder, SetEntry

UNCALIBRATED = (
    "the judge was never calibrated here: label pairs or mark a sheet (`mmdyn data audit`), and run "
    "`mmdyn judge --calibrate LABELLED` with the --judge and --votes that the set was made with"
)
UNJUDGED = "nobody judged its variants: `mmdyn perturb --judge` keeps those that still ask the same"
MOVED = "the set that was asked does not lie in {folder} any more, so nothing is known of its judge"
NOT_WRITTEN = (
    "a set that {command} made does not say which judge that was: calibrations are known for sets of `mmdyn perturb`"
)


class JudgeRow(Struct, frozen=True):
    """The judge of a dynamic set. `judge` is its label, `id` a digest of all that decides its verdicts; empty if not
    known.

    kept, rejected, unjudged: variants; redrawn: attempts that it rejected and another one followed. `note` says why
        there is no calibration; each calibration is on labels of its own. They are never pooled: a pair may stand in
        several files.
    """

    run: str
    set: str
    judge: str
    id: str
    kept: int
    rejected: int
    redrawn: int
    unjudged: int
    calibrations: list[Calibration]
    note: str


def find_judges(runs: Mapping[str, RunFolder]) -> list[JudgeRow]:
    """A row for each dynamic set of each run. It is found in the sets' folders and this user's cache, wherever they are
    now."""
    return [row for name, run in runs.items() for entry in run.config.sets for row in _rows(name, run, entry)]


def _rows(name: str, run: RunFolder, entry: SetEntry) -> Iterator[JudgeRow]:
    """One row for a dynamic set, none for another. What is wrong with the set or the cache spoils no report: it is
    noted."""
    nothing = JudgeRow(name, entry.name, "", "", 0, 0, 0, 0, [], "")
    try:
        manifest = read_set_manifest(run.set_folder(entry))
        if manifest is None or manifest.digest != entry.digest:
            if entry.name != entry.root:
                yield replace(nothing, note=MOVED.format(folder=entry.folder))
        elif manifest.parent:
            yield _judged(nothing, manifest, SampleSet(run.set_folder(entry)))
    except UserError as error:
        yield replace(nothing, note=str(error))


def _judged(nothing: JudgeRow, manifest: SetManifest, dynamic: SampleSet) -> JudgeRow:
    outcomes = {name: manifest.counts.get(name, 0) for name in ("kept", "rejected", "redrawn", "unjudged")}
    row = replace(nothing, judge=_label(dynamic), **outcomes)
    identity = manifest.made.get("judge")
    if identity is None:
        command = f"`{manifest.made.get('command') or 'another program'}`"
        return replace(row, note=NOT_WRITTEN.format(command=command) if row.judge else UNJUDGED)
    row = replace(row, id=judge_id(identity))
    try:
        found = load_calibrations(identity)
    except UserError as error:
        return replace(row, note=str(error))
    return replace(row, calibrations=[each.rounded for each in found], note="" if found else UNCALIBRATED)


def _label(dynamic: SampleSet) -> str:
    """What verdicts name the judge by. One judge judged all, so the first variant tells; a dropped one where none was
    kept."""
    for sample in dynamic:
        return _by(sample)
    return next(filter(None, (_by(dropped.sample) for dropped in dynamic.dropped())), "")


def _by(sample: Sample | None) -> str:
    return sample.variant.verdict.by if sample and sample.variant else ""
