"""Who judged the dynamic sets of a run, what became of their variants, and what is known of that judge here."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.data import SampleSet, SetManifest, read_set_manifest
from mmdyn.errors import UserError
from mmdyn.sample import Sample
from mmdyn.table import MeaningJudges
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.measurements import Calibration, judge_id, load_calibrations, named
from mmdyn.tables.rows import Row
from mmdyn.work import RunFolder, SetEntry

UNCALIBRATED = (
    "the judge was never calibrated here: label pairs or mark a sheet (`mmdyn data audit`), and run "
    "`mmdyn judge --calibrate LABELLED` with the --judge and --votes that the set was made with"
)
RULES_MEASURED = (
    "no model judged the variants, and rules are a sieve: on 240 exam pairs that it was not made on, the embedded judge"
    " caught 80 % of the changed questions and kept 84 % of the unchanged ones; `mmdyn perturb --judge MODEL`, or"
    " nli:MODEL, asks a model"
)
"""What is known of the judge `embedded` wherever it is used; a calibration on one's own pairs says more."""

UNJUDGED = "nobody judged its variants: `mmdyn perturb --judge` keeps those that still ask the same"
METHOD = "Agresti-Coull over questions"
"""How the intervals of a calibration's shares are made."""
NOT_THERE = "the set that was asked does not lie in {folder} any more, so nothing is known of its judge"
NOT_WRITTEN = (
    "a set that {command} made does not say which judge that was: calibrations are known for sets of `mmdyn perturb`"
)
NO_VARIANT = "no variant came out"


def by_rules_alone(dynamic: SampleSet) -> bool:
    """Whether a dynamic set's variants were judged, if at all, by the judge that comes with the package."""
    label = _label(dynamic)
    return not label or _is_by_rules(label)


def judge_rows(block: Block, part: MeaningJudges) -> Iterator[Numbered]:
    """What became of the variants of each dynamic set, and how well its judge rejects changed questions on each file of
    labelled pairs. Sets are looked for in their folders, calibrations in this user's cache.

    redrawn: attempts that the judge refused and another one followed. Calibrations are never pooled, as a pair may
    stand in several files; n counts the pairs of a share, and on `failed` ones the judge gave no verdict.
    """
    for name, run in block.columns.runs.items():
        for entry in run.config.sets:
            here = block._replace(front=({"run": name} if name else {}) | {"set": entry.name})
            yield from ((row, None) for row in _rows(here, run, entry))


def _rows(block: Block, run: RunFolder, entry: SetEntry) -> Iterator[Row]:
    """The rows of a dynamic set, none for another. What is wrong with the set spoils no report: it is noted."""
    folder, note = run.set_folder(entry), ""
    try:
        manifest = read_set_manifest(folder)
        if manifest is not None and manifest.digest == entry.digest:
            yield from _judged(block, manifest, SampleSet(folder)) if manifest.parent else ()
        elif entry.name != entry.root:
            note = NOT_THERE.format(folder=entry.folder)
    except UserError as error:
        note = str(error)
    if note:
        yield block.row((), (), "kept", None, unit="count", note=note)


def _judged(block: Block, manifest: SetManifest, dynamic: SampleSet) -> Iterator[Row]:
    label, identity = _label(dynamic), manifest.made.get("judge")
    who, note, found = label, NO_VARIANT, tuple[Calibration, ...]()
    if identity is None:
        command = f"`{manifest.made.get('command') or 'another program'}`"
        note = NOT_WRITTEN.format(command=command) if label else UNJUDGED
    elif label:
        who = f"{label} {judge_id(identity)}"
        try:
            found = load_calibrations(identity)
            note = "" if found else UNCALIBRATED
        except UserError as error:
            note = str(error)
    rules = RULES_MEASURED if _is_by_rules(label) else ""
    here = block._replace(front=block.front | ({"judge": who} if who else {}))
    for outcome in ("kept", "rejected", "doubtful", "redrawn", "unjudged"):
        said = "; ".join(filter(None, (note, rules))) if outcome == "kept" else ""
        yield here.row((), (), outcome, manifest.counts.get(outcome, 0), unit="count", note=said)
    for one in found:
        shares = {"recall": one.recall, "precision": one.precision, "specificity": one.specificity}
        for name, share in shares.items():
            if share:
                more = {"n": share.n, "failed": one.failed, "method": METHOD}
                yield here.share_row(("calibration",), (named(one),), name, share, **more)


def _is_by_rules(label: str) -> bool:
    return label.partition(":")[0] == "embedded"


def _label(dynamic: SampleSet) -> str:
    """What verdicts name the judge by. One judge judged all, so the first variant tells; a dropped one where none was
    kept."""
    for sample in dynamic:
        return _by(sample)
    return next(filter(None, (_by(dropped.sample) for dropped in dynamic.dropped())), "")


def _by(sample: Sample | None) -> str:
    return sample.variant.verdict.by if sample and sample.variant else ""
