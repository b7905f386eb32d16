"""Who judged the dynamic sets of a run, what became of their variants, and what is known of that judge here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console

from mmdyn.data import SampleSet, SetManifest, read_set_manifest
from mmdyn.errors import UserError
from mmdyn.sample import Sample
from mmdyn.tables.measurements import Calibration, judge_id, load_calibrations, named
from mmdyn.tables.terminal import percent, print_grid, say
from mmdyn.work import RunFolder, SetEntry

UNCALIBRATED = (
    "the judge was never calibrated here: label pairs or mark a sheet (`mmdyn data audit`), and run "
    "`mmdyn judge --calibrate LABELLED` with the --judge and --votes that the set was made with"
)
RULES_MEASURED = (
    "no model judged the variants, and rules and embeddings are a sieve: on 240 exam pairs that it was not made on, the"
    " embedded judge caught 80 % of the changed questions and kept 73 % of the unchanged ones; `mmdyn perturb"
    " --judge MODEL`, or nli:MODEL, asks a model"
)
"""What is known of the judge `embedded` wherever it is used; a calibration on one's own pairs says more."""

UNJUDGED = "nobody judged its variants: `mmdyn perturb --judge` keeps those that still ask the same"
MOVED = "the set that was asked does not lie in {folder} any more, so nothing is known of its judge"
NOT_WRITTEN = (
    "a set that {command} made does not say which judge that was: calibrations are known for sets of `mmdyn perturb`"
)

TITLE = (
    "Judges on labelled pairs: how well they reject changed questions, in percent with 95 % intervals over questions"
)
SHARES = {"precision": "precision", "recall = sensitivity": "recall", "specificity": "specificity"}
"""What a calibration's shares are called in a heading and in a Calibration."""


class JudgeRow(Struct, frozen=True):
    """The judge of a dynamic set. `judge` is its label, `id` a digest of all that decides its verdicts; empty if not
    known.

    rules: what is known of rules and embeddings, where they judged; empty where a model did, or nobody.
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
    rules: str = ""


def by_rules_alone(dynamic: SampleSet) -> bool:
    """Whether a dynamic set's variants were judged, if at all, by the judge that comes with the package."""
    return _label(dynamic).partition(":")[0] in ("", "embedded")


def find_judges(runs: Mapping[str, RunFolder]) -> list[JudgeRow]:
    """A row for each dynamic set of each run. It is found in the sets' folders and this user's cache, wherever they are
    now."""
    return [row for name, run in runs.items() for entry in run.config.sets for row in _rows(name, run, entry)]


def print_judges(console: Console, rows: Sequence[JudgeRow]) -> None:
    """Print who judged each dynamic set, and a table of what was measured of these judges."""
    for row in rows:
        say(console, _line(row))
    found = {_who(row): row.calibrations for row in rows if row.calibrations}
    lines = [{"judge": who, **_shown(one)} for who, calibrations in found.items() for one in calibrations]
    if lines:
        console.print()
        print_grid(console, TITLE, lines, "labelled file")


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
    label = _label(dynamic)
    row = replace(nothing, judge=label, rules=RULES_MEASURED if label and by_rules_alone(dynamic) else "", **outcomes)
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


def _line(row: JudgeRow) -> str:
    where = f"{row.run}, {row.set}" if row.run else row.set
    if not row.judge:
        return f"{where}: {row.note or 'no variant came out'}."
    redrawn = f", {row.redrawn} more attempts rejected and drawn again" if row.redrawn else ""
    done = f"judged by {_who(row)}: {row.kept} variants kept, {row.rejected} rejected{redrawn}"
    said = [f"{text[0].upper()}{text[1:]}." for text in (row.note, row.rules) if text]
    return " ".join([f"{where}: {done}.", *said])


def _who(row: JudgeRow) -> str:
    return f"{row.judge} ({row.id})" if row.id else row.judge


def _shown(found: Calibration) -> dict[str, object]:
    shares = {shown: getattr(found, name) for shown, name in SHARES.items()}
    spelt = {
        name: f"{percent(share.value, (share.low, share.high))} of {share.n}" if share else "no such pair"
        for name, share in shares.items()
    }
    older = "" if found.questions else ", labels taken as independent"
    return {"value": named(found) + older, "pairs": found.n, "no\nverdict": found.failed, **spelt}
