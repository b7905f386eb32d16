"""What people rejected leaves a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mmdyn.data import Dropped, SampleSet, fingerprint, numbered_lines, read_json_rows, write_without
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json
from mmdyn.sample import Sample, from_dict
from perturb.audit.judge_calibration import Mark, digest_shown, is_mark, label_of

COMMAND = "mmdyn data apply"

Marks = dict[tuple[str, int], tuple[Mark, Counter[bool]]]
"""By a sample's id and attempt: a mark of it, and how many say keep (True) and reject (False)."""


def apply_marks(marks: Sequence[Path], source: SampleSet, out: Path, *, name: str | None = None) -> SampleSet:
    """Write the set without the samples that people rejected; those stand in its dropped.jsonl, with how many did.

    Of several marks of a sample the majority decides, and a tie rejects. Samples that nobody marked stay. Marks of
    variants that the set dropped already count for nothing.

    Args:
        marks: Files that an audit sheet saved: JSON Lines of a Mark's fields and `label`, keep or reject.
        source: The set that was marked.
        out: The new set's folder.
        name: The new set's name; that of the folder without one.

    Raises:
        InputError: A line is no mark.
        UserError: A marked sample is not in the set, or is not what was marked, or everything was rejected.
    """
    left = _read(marks)
    rejected = {sample.id: gone for sample in source if (gone := _rejected(sample, left, source.folder))}
    if missing := sorted(left.keys() - {(item.id, item.attempt) for item in source.dropped()}):
        raise UserError(f"{missing[0][0]} is not in {source.folder}: was the set made again since it was marked?")
    files: list[Json] = [fingerprint(file) for file in marks]
    origin: Json = {"name": source.name, "digest": source.manifest.digest}
    how: dict[str, Json] = {**source.manifest.made, "command": COMMAND, "marks": files, "marked": origin}
    return write_without(source, out, name, how, rejected)


def _read(files: Sequence[Path]) -> Marks:
    found: Marks = {}
    for file in files:
        for number, row in read_json_rows((line for _, line in numbered_lines(file)), str(file)):
            if not is_mark(row):
                raise InputError(file, number, "is no mark of an audit sheet: give the file that the sheet saved")
            try:
                mark, keep = from_dict(row, Mark), label_of(row)
            except ValueError as error:
                raise InputError(file, number, str(error)) from None
            first, votes = found.setdefault((mark.id, mark.attempt), (mark, Counter()))
            if first.digest != mark.digest:
                raise InputError(file, number, f"{mark.id} was marked in two versions: give the marks of one")
            votes[keep] += 1
    return found


def _rejected(sample: Sample, left: Marks, folder: Path) -> Dropped | None:
    """A sample as dropped where it was rejected; its marks are taken out of those that are left."""
    place = sample.id, sample.variant.attempt if sample.variant else 0
    if place not in left:
        return None
    mark, votes = left.pop(place)
    if mark.digest not in ("", digest_shown(sample)):
        raise UserError(f"{sample.id} in {folder} is not what was marked: give the set that was")
    if votes[True] > votes[False]:
        return None
    return _dropped(sample, f"people rejected it ({votes[False]} of {votes.total()})")


def _dropped(sample: Sample, reason: str) -> Dropped:
    trail = sample.variant
    if trail is None:
        return Dropped(sample.id, sample.id, "", 0, 0, "rejected", reason)
    made = (sample.id, trail.parent, trail.chain, trail.draw, trail.seed, "rejected", reason)
    return Dropped(*made, attempt=trail.attempt, steps=trail.steps)
