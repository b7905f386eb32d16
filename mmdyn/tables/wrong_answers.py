"""Wrong answers: counted by what is known of them without a judge, and what made them wrong, by a judge's labels of a
stratified sample of them.

The five kinds are those of MDK12-Bench's error analysis. Strata are model, set, condition and task type; each has the
same number of answers drawn, in an order that is keyed by the seed and each record's key, so that a larger number keeps
what was drawn. A share over all wrong answers weighs each label by how many answers of its stratum it stands for.
Answers that were cut off, or are empty, need no label: they are incomplete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TextIO, get_args

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from mmdyn.errors import InputError
from mmdyn.keys import Json, digest
from mmdyn.record import Record, Usage
from mmdyn.stats import Strata, independent_clusters, stratified_share
from mmdyn.tables.breakdown import Breakdown, break_down
from mmdyn.tables.keys import Key, cluster_of
from mmdyn.tables.run_state import is_cut_off
from mmdyn.tables.terminal import CUT_OFF, open_console, percent, pick, print_cells, print_grid, say
from mmdyn.tables.win_rates import Rate
from mmdyn.work import Reader, RunFolder, Store

Kind = Literal["question", "reasoning", "visual", "incomplete", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)

DESIGN = "error design"
"""The store's kind for what was drawn, by judge and time."""

TITLE = (
    "Kinds of error in percent of all wrong answers with 95 % intervals; cut off and empty answers count as incomplete "
    "without a label"
)


class ErrorLabel(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What kind of error a judge sees in an answer: what each vote said, none where it gave no label (`error` says
    why).

    `reason`: the first vote's own words. `requests`, `usage`, `cost` and `currency` are as a Judgement has them.
    """

    votes: tuple[Kind, ...]
    reason: str = ""
    error: str = ""
    requests: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    currency: str = ""


class Design(Struct, frozen=True, forbid_unknown_fields=True):
    """What was drawn for a judge of this label and id: `per` answers of each stratum, by `seed`. `identity` decides its
    labels."""

    judge: str
    id: str
    identity: Json
    per: int
    seed: int


class Wrong(NamedTuple):
    """A wrong answer. `decided`: why it needs no label (`truncated` or `empty`), else empty. `values`: of a
    breakdown."""

    key: str
    model: str
    stratum: tuple[str, ...]
    cluster: tuple[str, ...]
    decided: str
    values: tuple[str, ...]


class Survey(NamedTuple):
    """The wrong answers of a run, and how many answers of each model were refused. `by` are the names of the values.

    unscored: answers that have no score, so that nobody knows whether they are wrong.
    """

    wrong: list[Wrong]
    refused: Counter[str]
    by: tuple[str, ...]
    unscored: int


class Part(Struct, frozen=True):
    """Of wrong answers, the share of each kind, None where none was labelled. `note` says what is not covered.

    wrong: how many there are, `truncated` and `empty` ones among them, which are incomplete. drawn: how many of the
        others were drawn; labelled: how many of these a judge labelled.
    """

    wrong: int
    truncated: int
    empty: int
    drawn: int
    labelled: int
    kinds: dict[Kind, Rate] | None
    method: str
    note: str


class ErrorRow(Part, frozen=True):
    """The wrong answers of one model, by the labels of one judge. `refused` answers are not among them."""

    run: str
    model: str
    judge: str
    id: str
    per: int
    seed: int
    refused: int
    by: dict[str, dict[str, Part]]


class ErrorCounts(Struct, frozen=True):
    """Of `asked` answers: `wrong` ones, scored below 1, among them `truncated` ones (cut off, by the finish reason),
    `empty` ones and those in which no answer was found (`unparsed`), which may be truncated or empty, too. Beside them
    `refused` ones, those that never came (`failed`), and those that have no score.
    """

    asked: int
    wrong: int
    truncated: int
    empty: int
    unparsed: int
    refused: int
    failed: int
    unscored: int


COUNTS = ErrorCounts.__struct_fields__


class CountsRow(ErrorCounts, frozen=True):
    """The answers of one model, and broken down by fields."""

    model: str
    by: dict[str, dict[str, ErrorCounts]]

    @property
    def to_label(self) -> int:
        """How many wrong answers only a judge can tell the kind of."""
        return self.wrong - self.truncated - self.empty


def label_kind(judge: str) -> str:
    """The store's kind for the labels of a judge of this id."""
    return f"error:{judge}"


def count_errors(run: RunFolder, by: Sequence[str] = ()) -> list[CountsRow]:
    """A row for each model.

    Raises:
        UserError: for a name in `by` that no record has.
    """
    breakdown, models = Breakdown(by), dict[str, dict[tuple[str, ...], Counter[str]]]()
    for record in run.records():
        found, fate = models.setdefault(record.model, {}).setdefault(breakdown.of(record), Counter()), _fate(record)
        found.update(("asked", fate))
        if fate == "wrong" and record.score:
            found.update((_decided(record), record.score.status))
    breakdown.check()
    labels = dict.fromkeys(entry.label for entry in run.config.models)
    return [_counts_row(label, breakdown.names, models[label]) for label in labels if label in models]


def survey(run: RunFolder, by: Sequence[str] = ()) -> Survey:
    """The wrong answers: scored below 1, read or not; those that were refused apart.

    Raises:
        UserError: for a name in `by` that no record has.
    """
    breakdown, found, known = Breakdown(by), list[Wrong](), dict[tuple[str, ...], tuple[str, ...]]()
    refused, unscored = Counter[str](), 0
    for record in run.records():
        values, fate = breakdown.of(record), _fate(record)
        unscored += fate == "unscored"
        refused[record.model] += fate == "refused"
        if fate == "wrong":
            kept = (_stratum_of(record), cluster_of(record.set, record.parent, record.group), values)
            stratum, cluster, values = (known.setdefault(one, one) for one in kept)
            found.append(Wrong(record.key, stratum[0], stratum, cluster, _decided(record), values))
    breakdown.check()
    return Survey(found, refused, breakdown.names, unscored)


def draw(wrong: Iterable[Wrong], per: int, seed: int) -> list[Wrong]:
    """At most `per` of each stratum that need a label, stratum by stratum."""
    strata = dict[tuple[str, ...], list[Wrong]]()
    for one in wrong:
        if not one.decided:
            strata.setdefault(one.stratum, []).append(one)
    ordered = (sorted(strata[name], key=lambda one: digest(["errors", seed, one.key])) for name in sorted(strata))
    return [one for stratum in ordered for one in stratum[:per]]


def keep_design(store: Store, design: Design, time: int) -> None:
    """Keep what was drawn, unless that is in force already. `time` in nanoseconds."""
    with Reader(store.folder) as reader:
        if design in _designs(reader):
            return
    store.put(DESIGN, f"{time:020}:{design.id}", msgspec.json.encode(design))


def find_errors(runs: Mapping[str, RunFolder], by: Sequence[str] = ()) -> list[ErrorRow]:
    """A row for each model of each run that has labels, and each judge who gave some or was not needed.

    Raises:
        UserError: for a name in `by` that no record has.
    """
    rows = list[ErrorRow]()
    for name, run in runs.items():
        with Reader(run.records_folder) as reader:
            if designs := _designs(reader):
                found = survey(run, by)
                rows += [row for design in designs for row in _rows(name, run, found, design, reader)]
    return rows


def print_errors(rows: Sequence[ErrorRow], file: TextIO | None = None, *, unscored: int = 0, failed: int = 0) -> None:
    """Print what made answers wrong: a line a model and judge, then the breakdowns.

    Args:
        rows: what is printed.
        file: where; without it standard output.
        unscored: answers of which nobody knows whether they are wrong.
        failed: wrong answers that the judge gave no label.
    """
    console = open_console(file)
    if not rows:
        which = "no answer that is scored" if unscored else "no answer"
        said = f"none of {failed} drawn got a label" if failed else f"{which} is wrong"
        say(console, f"Kinds of error: {said}.")
        return
    print_grid(console, TITLE, [{"judge": _who(row), **pick(row, "run", "model"), **_shown(row)} for row in rows])
    cells = [({"run": row.run, "model": f"{row.model}, by {_who(row)}"}, row.by) for row in rows]
    print_cells(console, "Kinds of error by {}", cells, _shown)


def print_counts(rows: Sequence[CountsRow], file: TextIO | None = None) -> None:
    """Print what is known of wrong answers without a judge to `file` or standard output: a line a model, then the
    breakdowns."""
    console = open_console(file)
    title = "Answers by what is known without a judge; cut off, empty and unparsed ones are among the wrong"
    print_grid(console, title, [{"answers of": row.model, **_counted(row)} for row in rows])
    print_cells(console, "The same by {}", [({"model": row.model}, row.by) for row in rows], _counted)


def _designs(reader: Reader) -> list[Design]:
    """The last one of each judge, in the order in which the judges were first asked."""
    designs = (msgspec.json.decode(value, type=Design) for _, value in reader.items(DESIGN))
    return list({design.id: design for design in designs}.values())


def _rows(name: str, run: RunFolder, found: Survey, design: Design, reader: Reader) -> Iterator[ErrorRow]:
    drawn = draw(found.wrong, design.per, design.seed)
    labels = {one.key: _label(run, reader, design.id, one.key) for one in drawn}
    if drawn and not any(labels.values()):
        return
    for model in dict.fromkeys(entry.label for entry in run.config.models):
        wrong = [one for one in found.wrong if one.model == model]
        if not wrong:
            continue
        cells = break_down(found.by, ((one, one.values) for one in wrong))
        by = {each: {value: _part(some, labels) for value, some in of.items()} for each, of in cells.items()}
        about = pick(design, "judge", "id", "per", "seed") | asdict(_part(wrong, labels))
        yield ErrorRow(run=name, model=model, refused=found.refused[model], by=by, **about)


def _part(wrong: Sequence[Wrong], labels: Mapping[str, ErrorLabel | None]) -> Part:
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
    kinds, method = _kinds(covered, known, labels) if known else (None, "")
    truncated, empty = decided["truncated"], decided["empty"]
    counts = len(wrong), truncated, empty, len(drawn), len(known) - truncated - empty
    return Part(*counts, kinds, method, "; ".join(note for note, holds in notes.items() if holds))


def _kinds(
    covered: Sequence[Wrong], known: Sequence[Wrong], labels: Mapping[str, ErrorLabel | None]
) -> tuple[dict[Kind, Rate], str]:
    """The share of each kind among the answers of strata of which some are known, and the intervals' name."""
    counts, sizes = Counter(map(_stratum, known)), Counter(map(_stratum, covered))
    order = {stratum: place for place, stratum in enumerate(counts)}
    clusters = Counter(one.cluster for one in covered)
    labelled = np.array([float(counts[stratum]) for stratum in order])
    size = np.array([float(sizes[stratum]) for stratum in order])
    strata = Strata(size, labelled, independent_clusters(clusters.values()))
    places, rates = [order[_stratum(one)] for one in known], dict[Kind, Rate]()
    for kind in KINDS:
        means = np.bincount(places, [_said(one, kind, labels) for one in known], len(order)) / labelled
        rates[kind] = Rate.of(stratified_share(strata, means))
    return rates, strata.method


def _stratum(one: Wrong) -> tuple[str, ...]:
    """What an answer stands for others in. All that need no label are one stratum, of which every answer is known."""
    return ("decided",) if one.decided else one.stratum


def _said(one: Wrong, kind: Kind, labels: Mapping[str, ErrorLabel | None]) -> float:
    """The share of an answer's votes that name a kind."""
    label = labels.get(one.key)
    if one.decided or label is None:
        return float(kind == "incomplete")
    return label.votes.count(kind) / len(label.votes)


def _stratum_of(record: Record) -> tuple[str, ...]:
    return record.model, record.set, *Key.of("", record).factors.values(), record.task_type


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


def _who(row: ErrorRow) -> str:
    return f"{row.judge} ({row.id})"


def _shown(part: Part) -> dict[str, object]:
    shares: dict[str, str] = dict.fromkeys(KINDS, "-")
    for kind, rate in (part.kinds or {}).items():
        shares[kind] = percent(rate.share, rate.ci95)
    counts = {"wrong": part.wrong, CUT_OFF: part.truncated, **pick(part, "empty", "labelled")}
    refused = pick(part, "refused") if isinstance(part, ErrorRow) else {}
    return {**shares, **counts, **refused, "method": "; ".join(text for text in (part.method, part.note) if text)}


def _fate(record: Record) -> str:
    """What became of an answer."""
    score = record.score
    if record.reply.error:
        return "failed"
    if score is None or score.value is None:
        return "unscored"
    if score.status == "refused":
        return "refused"
    return "wrong" if score.value < 1 else "right"


def _counts_row(model: str, names: Sequence[str], found: dict[tuple[str, ...], Counter[str]]) -> CountsRow:
    cells = break_down(names, ((counts, values) for values, counts in found.items()))
    by = {name: {value: _counts(parts) for value, parts in of.items()} for name, of in cells.items()}
    return CountsRow(model=model, by=by, **asdict(_counts(found.values())))


def _counts(parts: Iterable[Counter[str]]) -> ErrorCounts:
    found = sum(parts, Counter[str]())
    return ErrorCounts(**{name: found[name] for name in COUNTS})


def _counted(counts: ErrorCounts) -> dict[str, object]:
    return {CUT_OFF if name == "truncated" else name: count for name, count in pick(counts, *COUNTS).items()}
