"""Labelled pairs for a calibration: texts, pictures, or variants that were marked on an audit sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.codec import decode
from perturb.judge._forms import UNKNOWN
from perturb.judge._judge import Case, Look
from perturb.judge.lines import Row, pair_of, read_rows

_LABELS: dict[Json, bool] = {"keep": True, "reject": False}


def labelled_cases(lines: Iterable[bytes], where: str) -> Iterator[tuple[bool, Case]]:
    """Each labelled line's label (True: the meaning was kept) and case. `label` is true or false, keep or reject.

    A line is a pair of texts (`a`, `b`, `answer`), a pair of pictures (`before_image`, `after_image`: files, relative to
    the folder of `where`), or a variant of an audit sheet (`set`, `parent_set`, `id`), read from its sets after all others.
    Raises InputError, and UserError where a set cannot be read.
    """
    marked = dict[tuple[str, str], dict[str, bool]]()
    for number, row in read_rows(lines, where):
        try:
            keep = _label(row)
            if not _is_mark(row):
                yield keep, _case(row, Path(where).parent)
                continue
            sets = str(row["set"]), str(row["parent_set"])
            marked.setdefault(sets, {})[str(row["id"])] = keep
        except ValueError as error:
            raise InputError(where, number, str(error)) from None
    for (dynamic, parent), labels in marked.items():
        yield from _of_sheet(SampleSet(dynamic), SampleSet(parent), labels)


def _label(row: Row) -> bool:
    label = row.get("label")
    if isinstance(label, bool):
        return label
    if isinstance(label, str) and label in _LABELS:
        return _LABELS[label]
    raise ValueError('"label" must be true (keep) or false (reject)')


def _is_mark(row: Row) -> bool:
    return "a" not in row and all(isinstance(row.get(key), str) for key in ("set", "parent_set", "id"))


def _case(row: Row, folder: Path) -> Case:
    files = row.get("before_image"), row.get("after_image")
    if "a" in row or not all(files):
        return pair_of(row)
    before, after = (folder / str(file) for file in files)
    try:
        look = Look(decode(before.read_bytes()), decode(after.read_bytes()), before, after)
    except OSError as error:
        raise ValueError(f"{error.filename} cannot be read ({error.strerror})") from None
    words = Sample("picture", "?", "open_ended", UNKNOWN)
    return Case(words, words, (look,))


def _of_sheet(dynamic: SampleSet, parent: SampleSet, labels: dict[str, bool]) -> Iterator[tuple[bool, Case]]:
    """The marked variants of a set, each beside its parent."""
    from perturb.pairs import case_of, pairs  # which stands above: a set's variants are made again for their pictures

    left = dict(labels)
    for pair in pairs(dynamic, parent):
        if (keep := left.pop(pair.after.id, None)) is not None:
            yield keep, case_of(pair, parent, dynamic)
    if left:
        raise UserError(f"{min(left)} is not in {dynamic.folder}: was the set made again since it was marked?")
