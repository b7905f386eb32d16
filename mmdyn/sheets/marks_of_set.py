"""What people marked of the samples of one set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.sheets.marks import Mark, digest_shown, read_marks


def marks_of_set(files: Sequence[str | Path], source: SampleSet) -> dict[str, list[Mark]]:
    """The marks of a set's samples, one a reviewer, by the samples' ids in the set's order.

    Marks of what the set dropped already count for nothing.

    Raises:
        InputError: A line is no mark.
        UserError: A marked sample is not in the set, or is not what was marked.
    """
    left, found = read_marks([Path(file) for file in files]), dict[str, list[Mark]]()
    for sample in source:
        marks = left.pop((sample.id, sample.variant.attempt if sample.variant else 0), {}).values()
        if any(mark.digest not in ("", digest_shown(sample)) for mark in marks):
            raise UserError(f"{sample.id} in {source.folder} is not what was marked: give the set that was")
        if marks:
            found[sample.id] = list(marks)
    if missing := sorted(left.keys() - {(item.id, item.attempt) for item in source.dropped()}):
        raise UserError(f"{missing[0][0]} is not in {source.folder}: was the set made again since it was marked?")
    return found


def rejection(marks: Sequence[Mark]) -> str:
    """How many reviewers reject a sample, which criteria fail, and what they noted."""
    rejecting = [mark for mark in marks if mark.label == "reject"]
    failed = dict.fromkeys(name for mark in rejecting for name in mark.failed)
    why = [", ".join(failed), *(repr(" ".join(mark.note.split())) for mark in rejecting if mark.note.strip())]
    told = "; ".join(filter(None, why))
    reviewers = "reviewer rejects" if len(rejecting) == 1 == len(marks) else "reviewers reject"
    return f"{len(rejecting)} of {len(marks)} {reviewers} it{f' ({told})' if told else ''}"
