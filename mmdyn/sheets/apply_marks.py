"""What people rejected on sheets leaves a set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mmdyn.data import Dropped, SampleSet, fingerprint, write_without
from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.sheets.sheet import Mark, digest_shown, read_marks


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


COMMAND = "mmdyn data apply"


def apply_marks(marks: Sequence[Path], source: SampleSet, out: Path, *, name: str | None = None) -> SampleSet:
    """Write the set without the samples that people rejected; its dropped.jsonl says how many did, and what failed.

    Of several marks of a sample, one a reviewer, the majority decides, and a tie rejects. Samples that nobody marked
    stay. Marks of what the set dropped already count for nothing.

    Args:
        marks: Files that sheets saved (JSON Lines of Mark).
        source: The set that was marked.
        out: The new set's folder.
        name: The new set's name; that of the folder without one.

    Raises:
        InputError: A line is no mark.
        UserError: A marked sample is not in the set, or is not what was marked, or everything was rejected.
    """
    given = marks_of_set(marks, source)
    rejected = {sample.id: gone for sample in source if (gone := _rejected(sample, given.get(sample.id, [])))}
    if len(rejected) == len(source):
        raise UserError(f"people rejected all {len(source)} samples of {source.folder}: no set is left to write")
    files: list[Json] = [fingerprint(file) for file in marks]
    origin: Json = {"name": source.name, "digest": source.manifest.digest}
    how: dict[str, Json] = {**source.manifest.made, "command": COMMAND, "marks": files, "marked": origin}
    return write_without(source, out, name, how, rejected)


def _rejected(sample: Sample, marks: Sequence[Mark]) -> Dropped | None:
    """A sample as dropped where it was rejected."""
    rejecting = [mark for mark in marks if mark.label == "reject"]
    if not marks or 2 * len(rejecting) < len(marks):
        return None
    failed = ", ".join(dict.fromkeys(name for mark in rejecting for name in mark.failed))
    return _dropped(sample, f"people rejected it ({len(rejecting)} of {len(marks)}{': ' * bool(failed)}{failed})")


def _dropped(sample: Sample, reason: str) -> Dropped:
    trail = sample.variant
    if trail is None:
        return Dropped(sample.id, sample.id, "people", 0, 0, "rejected", reason)
    return Dropped(
        id=sample.id,
        parent=trail.parent,
        chain=trail.chain,
        draw=trail.draw,
        seed=trail.seed,
        status="rejected",
        reason=reason,
        attempt=trail.attempt,
        steps=trail.steps,
    )
