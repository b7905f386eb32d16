"""Flips: samples that one of two contrasted conditions has right and the other wrong, with what was asked and
answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from mmdyn.keys import Json
from mmdyn.record import Record, Status
from mmdyn.sample import Answer, Sample
from mmdyn.tables.contrasts import Pair, Sides, find_pairs, pair_up, sides
from mmdyn.tables.results import Key, Table, sample_of
from mmdyn.work import Reader, RunFolder

EVEN = 0.5
"""A parent is right where its mean score is above this, wrong where it is below, and neither at it."""

Direction = Literal["right to wrong", "wrong to right"]


class FlippedReply(Struct, frozen=True):
    """One answer of a flipped parent. `pictures` are the files that were shown, `expected` the right answer,
    `needs_judge` as a Score has it."""

    sample: str
    status: Status
    score: float | None
    extracted: Json
    expected: Answer
    pictures: tuple[str, ...]
    needs_judge: bool


class Flip(Sides, frozen=True):
    """A parent that went from right to wrong, or back, between the conditions a and b; scores are means in [0, 1]."""

    direction: Direction
    parent: str
    a_score: float
    b_score: float
    a_replies: tuple[FlippedReply, ...]
    b_replies: tuple[FlippedReply, ...]


def find_flips(table: Table) -> list[Flip]:
    """The flips of every contrast, contrast by contrast, losses first. Reads the records once more.

    Raises InputError where a flipped sample is not in the run's store.
    """
    found = [(pair, _flipped(table, pair)) for pair in find_pairs(list(table.scores))]
    wanted = dict[Key, set[tuple[str, str]]]()
    for pair, parents in found:
        for key in (*pair.a.members(table.scores), *pair.b.members(table.scores)):
            wanted.setdefault(key, set()).update((key.set, table.names[place]) for place, _, _ in parents)
    replies = _replies(table, wanted)
    return [_flip(table, pair, parent, replies) for pair, parents in found for parent in parents]


def _flipped(table: Table, pair: Pair) -> list[tuple[int, float, float]]:
    paired = pair_up(table, pair)
    rows = zip(paired.parents.tolist(), paired.a.tolist(), paired.b.tolist(), strict=True)
    flipped = [row for row in rows if (row[1] - EVEN) * (row[2] - EVEN) < 0]
    return sorted(flipped, key=lambda row: (row[1] < row[2], table.names[row[0]]))


def _replies(table: Table, wanted: dict[Key, set[tuple[str, str]]]) -> dict[tuple[Key, str], list[FlippedReply]]:
    """The answers of the wanted parents, by condition and parent, in the order of samples and epochs."""
    found = dict[tuple[Key, str], list[tuple[str, int, FlippedReply]]]()
    for key, record, run, reader in table.records():
        if (record.set, record.parent) in wanted.get(key, ()) and record.score:
            reply = _reply(run, record, reader)
            found.setdefault((key, record.parent), []).append((record.sample, record.epoch, reply))
    return {key: [reply for *_, reply in sorted(rows, key=lambda row: row[:2])] for key, rows in found.items()}


def _reply(run: RunFolder, record: Record, reader: Reader) -> FlippedReply:
    assert record.score is not None
    sample, score = sample_of(record, run, reader), record.score
    pictures = tuple(_pictures(run, record.set, sample))
    return FlippedReply(
        record.sample, score.status, score.value, score.extracted, sample.answer, pictures, score.needs_judge
    )


def _pictures(run: RunFolder, root: str, sample: Sample) -> Iterator[str]:
    """Where the pictures lie: in the first of the set's folders that has them. A picture that is gone says so."""
    folders = [run.set_folder(entry) for entry in run.config.sets if entry.root == root]
    for ref in sample.all_images:
        files = (Path(folder / ref) for folder in folders)
        yield next((str(file) for file in files if file.is_file()), f"{ref} (no longer there)")


def _flip(
    table: Table, pair: Pair, parent: tuple[int, float, float], replies: dict[tuple[Key, str], list[FlippedReply]]
) -> Flip:
    place, a_score, b_score = parent
    name = table.names[place]

    def of(key: Key) -> tuple[FlippedReply, ...]:
        return tuple(reply for member in key.members(table.scores) for reply in replies.get((member, name), []))

    direction: Direction = "right to wrong" if a_score > b_score else "wrong to right"
    found: dict[str, Any] = {"a_score": round(a_score, 6), "b_score": round(b_score, 6)}
    found |= {"a_replies": of(pair.a), "b_replies": of(pair.b)}
    return Flip(**asdict(sides(table, pair)), direction=direction, parent=name, **found)
