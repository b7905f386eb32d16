"""Wrong answers: counts that need no judge, and kinds of error by a judge's labels of a stratified sample.

The five kinds are those of MDK12-Bench's error analysis. Strata are model, set, condition and task type; the same
number of answers is drawn of each, in an order keyed by the seed and the record's key, so that a larger number keeps
the earlier draws. A share over all wrong answers weighs each label by the answers of its stratum that it stands for.
Truncated and empty answers need no label: they are incomplete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec
import numpy as np
from msgspec import Struct

from mmdyn.errors import InputError
from mmdyn.keys import Json, digest
from mmdyn.record import Record, Usage
from mmdyn.stats import Estimate, Ints, Strata, independent_clusters, stratified_share
from mmdyn.table import ErrorCounts, ErrorKinds
from mmdyn.tables.blocks import TOTAL, Block, Numbered, Row, RowWatcher
from mmdyn.tables.columns import Columns, read_columns, split
from mmdyn.tables.factors import Key
from mmdyn.tables.run_state import is_cut_off
from mmdyn.work import Reader, RunFolder, Store

Kind = Literal["question", "reasoning", "visual", "incomplete", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)

DESIGN = "error design"
"""The store's kind for designs, by judge and time."""

NONE_WRONG = "no answer that is scored is wrong"
UNLABELLED = "no wrong answer has a label: `mmdyn errors RUN --judge MODEL` gives some"


class ErrorLabel(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The kind of error that a judge sees in an answer, by vote; no votes where it gave no label, and `error` says why.

    Args:
        reason: The words of the first vote.
        requests, usage, cost, currency: As in Judgement.
    """

    votes: tuple[Kind, ...]
    reason: str = ""
    error: str = ""
    requests: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    currency: str = ""


class Design(Struct, frozen=True, forbid_unknown_fields=True):
    """The sample that a judge labels: `per` answers of each stratum, drawn by `seed`. `judge`, `id` and `identity` are
    the judge's."""

    judge: str
    id: str
    identity: Json
    per: int
    seed: int


class Wrong(NamedTuple):
    """A wrong answer.

    Args:
        key: The record's key.
        place: The record's index among all records.
        parent: The parent's index.
        decided: Why it needs no label: `truncated` or `empty`; else empty.
    """

    key: str
    place: int
    parent: int
    stratum: tuple[str, ...]
    decided: str


class WrongAnswers(RowWatcher):
    """The wrong answers of each run: scored below 1, read or not; refused ones are none."""

    def __init__(self, part: ErrorKinds | ErrorCounts, runs: Mapping[str, RunFolder]) -> None:
        self._by, self._seen, self.wrong = part.by, 0, {name: list[Wrong]() for name in runs}

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take the answer if it is wrong."""
        score = record.score
        wrong = score is not None and score.value is not None and score.status != "refused" and score.value < 1
        if wrong and not record.reply.error:
            stratum = (record.model, record.set, *key.factors.values(), record.task_type)
            self.wrong[run].append(Wrong(record.key, self._seen, parent, stratum, _decided(record)))
        self._seen += 1

    def cells(self, columns: Columns, records: Ints) -> Iterator[tuple[str, Ints]]:
        """Some records, and those of each value of each field by which they are broken down."""
        yield TOTAL, records
        for name in self._by:
            for (value,), some in split(columns, records, [name]).items():
                yield f"{name} {value}", some


class LabelledErrors(WrongAnswers):
    """Kinds of error by the labels of judges."""

    def __init__(self, part: ErrorKinds, runs: Mapping[str, RunFolder]) -> None:
        super().__init__(part, runs)
        self._judge, self._silent = part.judge, part.silent
        self._watches = not part.silent or any(_has_design(run) for run in runs.values())

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take the answer if it is wrong, and labels may be told."""
        if self._watches:
            super().see(run, key, parent, record, reader)

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The share of each kind among the wrong answers of each model, by each judge that gave labels or was not
        needed; n counts wrong answers.

        Beside them counts: truncated and empty ones, which are incomplete; how many of the others were drawn, and how
        many of these are labelled; refused answers, which are none of them.
        """
        for name, run in block.columns.runs.items():
            with Reader(run.records_folder) as reader:
                for design in (one for one in _designs(reader) if self._judge in ("", one.id)):
                    drawn = draw(self.wrong[name], design.per, design.seed)
                    labels = {one.key: _label(run, reader, design.id, one.key) for one in drawn}
                    if not drawn or any(labels.values()):
                        yield from self._of_judge(block, name, f"{design.judge} ({design.id})", labels)

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """Why there is no row."""
        return () if rows or self._silent else (UNLABELLED if any(self.wrong.values()) else NONE_WRONG,)

    def _of_judge(
        self, block: Block, run: str, judge: str, labels: Mapping[str, ErrorLabel | None]
    ) -> Iterator[Numbered]:
        columns, wrong = block.columns, {one.place: one for one in self.wrong[run]}
        for model, records in _by_model(block, run).items():
            places = records[np.isin(records, list(wrong))]
            for subset, some in self.cells(columns, places) if len(places) else ():
                front = ({"run": run} if run else {}) | {"model": model, "judge": judge, "subset": subset}
                here = block._replace(front=front)
                yield from _rows(here, [wrong[place] for place in some.tolist()], labels)
                if subset == TOTAL:
                    refused = int(columns.flags["refused"][records].sum())
                    yield here.row((), (), "refused", refused, unit="count"), None


class CountedErrors(WrongAnswers):
    """What is known of wrong answers without a judge."""

    def rows(self, block: Block) -> Iterator[Numbered]:
        """Of `asked` answers of each model the wrong ones, among them those cut off (`truncated`, by the finish
        reason), `empty` ones, and those in which no answer was found (`unparsed`), which may be cut off or empty, too.
        Beside them refused ones, those that never came (`failed`), and those that have no score."""
        columns = block.columns
        for run, wrong in self.wrong.items():
            decided = {one.place: one.decided for one in wrong}
            for model, records in _by_model(block, run).items():
                for subset, some in self.cells(columns, records):
                    found = Counter(decided[place] for place in some.tolist() if place in decided)
                    flags = {name: int(flag[some].sum()) for name, flag in columns.flags.items()}
                    counts = {"asked": len(some), "wrong": found.total()}
                    counts |= {name: found[name] for name in ("truncated", "empty")}
                    counts |= {name: flags[name] for name in ("unparsed", "refused", "failed", "unscored")}
                    here = block._replace(front=({"run": run} if run else {}) | {"model": model, "subset": subset})
                    for name, count in counts.items():
                        yield here.row((), (), name, count, unit="count"), None


def label_kind(judge: str) -> str:
    """The store's kind for the labels of a judge, given by its id."""
    return f"error:{judge}"


def survey(run: RunFolder, by: Sequence[str] = ()) -> list[Wrong]:
    """Find the wrong answers of a run.

    Raises:
        UserError: No record has a name in `by`.
    """
    errors = LabelledErrors(ErrorKinds(), {"": run})
    read_columns([run], by, watchers=[errors])
    return errors.wrong[""]


def draw(wrong: Iterable[Wrong], per: int, seed: int) -> list[Wrong]:
    """Draw up to `per` answers that need a label from each stratum.

    >>> wrong = [Wrong(str(n), n, n, ("model",), "" if n else "empty") for n in range(5)]
    >>> len(draw(wrong, per=3, seed=0)), len(draw(wrong, per=9, seed=0))
    (3, 4)
    """
    strata = dict[tuple[str, ...], list[Wrong]]()
    for one in wrong:
        if not one.decided:
            strata.setdefault(one.stratum, []).append(one)
    ordered = (sorted(strata[name], key=lambda one: digest(["errors", seed, one.key])) for name in sorted(strata))
    return [one for stratum in ordered for one in stratum[:per]]


def keep_design(store: Store, design: Design, time: int) -> None:
    """Save a design, unless it is the judge's current one. `time` is in nanoseconds."""
    with Reader(store.folder) as reader:
        if design in _designs(reader):
            return
    store.put(DESIGN, f"{time:020}:{design.id}", msgspec.json.encode(design))


def _has_design(run: RunFolder) -> bool:
    with Reader(run.records_folder) as reader:
        return any(True for _ in reader.items(DESIGN))


def _designs(reader: Reader) -> list[Design]:
    """The last one of each judge, in the order in which the judges were first asked."""
    designs = (msgspec.json.decode(value, type=Design) for _, value in reader.items(DESIGN))
    return list({design.id: design for design in designs}.values())


def _by_model(block: Block, run: str) -> dict[str, Ints]:
    """The records of a run by model."""
    columns = block.columns
    of_run = np.array([key.run == run for key in columns.keys], np.bool_)[columns.asked[block.records]]
    return {model: records for (model,), records in split(columns, block.records[of_run], ["model"]).items()}


def _rows(block: Block, wrong: Sequence[Wrong], labels: Mapping[str, ErrorLabel | None]) -> Iterator[Numbered]:
    """The shares among some wrong answers. `labels` has those that were drawn."""
    decided = Counter(one.decided for one in wrong)
    drawn = [one for one in wrong if one.key in labels]
    known = [one for one in wrong if one.decided or labels.get(one.key)]
    strata = {_stratum(one) for one in known}
    covered = [one for one in wrong if _stratum(one) in strata]
    missing = sum(not labels[one.key] for one in drawn)
    notes = {
        f"{missing} of {len(drawn)} drawn are not labelled yet: run the same `mmdyn errors` once more": missing,
        f"{len(wrong) - len(covered)} answers of strata without a label are left out": len(wrong) - len(covered),
    }
    note = "; ".join(note for note, holds in notes.items() if holds)
    kinds = _kinds(block.columns.clusters, covered, known, labels) if known else {}
    for kind in KINDS:
        if found := kinds.get(kind):
            yield block.share_row((), (), kind, found, n=len(wrong), method=found.method, note=note), None
        else:
            yield block.row((), (), kind, None, n=len(wrong), note=note), None
    counts = {name: decided[name] for name in ("truncated", "empty")} | {"drawn": len(drawn)}
    for name, count in (counts | {"labelled": len(known) - counts["truncated"] - counts["empty"]}).items():
        yield block.row((), (), name, count, unit="count"), None


def _kinds(
    clusters: Ints, covered: Sequence[Wrong], known: Sequence[Wrong], labels: Mapping[str, ErrorLabel | None]
) -> dict[str, Estimate]:
    """The share of each kind among the answers of strata of which some are known."""
    counts, sizes = Counter(map(_stratum, known)), Counter(map(_stratum, covered))
    order = {stratum: place for place, stratum in enumerate(counts)}
    together = Counter(clusters[[one.parent for one in covered]].tolist())
    labelled = np.array([float(counts[stratum]) for stratum in order])
    size = np.array([float(sizes[stratum]) for stratum in order])
    strata = Strata(size, labelled, independent_clusters(together.values()))
    places = [order[_stratum(one)] for one in known]
    said = {kind: np.bincount(places, [_said(one, kind, labels) for one in known], len(order)) for kind in KINDS}
    return {kind: stratified_share(strata, sums / labelled) for kind, sums in said.items()}


def _stratum(one: Wrong) -> tuple[str, ...]:
    """What an answer stands for others in. All that need no label are one stratum, of which every answer is known."""
    return ("decided",) if one.decided else one.stratum


def _said(one: Wrong, kind: Kind, labels: Mapping[str, ErrorLabel | None]) -> float:
    """The share of an answer's votes that name a kind."""
    label = labels.get(one.key)
    if one.decided or label is None:
        return float(kind == "incomplete")
    return label.votes.count(kind) / len(label.votes)


def _decided(record: Record) -> str:
    """Why a wrong answer needs no label, `truncated` or `empty`; else nothing."""
    if is_cut_off(record.reply):
        return "truncated"
    return "" if record.reply.text.strip() else "empty"


def _label(run: RunFolder, reader: Reader, judge: str, key: str) -> ErrorLabel | None:
    value = reader.get(label_kind(judge), key)
    try:
        return None if value is None else msgspec.json.decode(value, type=ErrorLabel)
    except msgspec.DecodeError as error:
        problem = f"holds a label that cannot be read ({error}): label with a newer mmdyn"
        raise InputError(run.folder, None, problem) from None
