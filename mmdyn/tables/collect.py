"""Records of runs -> the arrays that a report is made of. Each record is read once and let go."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmdyn.errors import InputError, UserError
from mmdyn.record import Record, Score
from mmdyn.shots import Shots
from mmdyn.stats import Ints, correct_for_chance, group_means, least_corrected
from mmdyn.tables.asked_side import AskedSide, AskedSideBuilder
from mmdyn.tables.breakdown import ALWAYS, check_names, field_of, known_names
from mmdyn.tables.contexts import ContextColumnsBuilder, join, place_of
from mmdyn.tables.results import POOLED, Field, Key, Scores, Table
from mmdyn.tables.run_state import SHOWN_FAILURES, FailedReply, StateTally, has_failed, is_cut_off
from mmdyn.work import ProgressBar, RunFolder

MAX_VALUES = 1000
COLUMNS = ("parents", "weights", "values", "chance", "corrected", "least", "unread")
RECORDS = ("failed", "unscored", "needs_judge", "bounded")


def collect(runs: Sequence[RunFolder], by: Sequence[str] = (), progress: ProgressBar | None = None) -> Table:
    """Read every record once. Memory grows by some tens of bytes a record and some hundreds a parent.

    Raises:
        UserError: for a run that is given twice, and for a name in `by` that no record has.
        InputError: for a score that is out of range.
    """
    named = named_runs(runs)
    collector, tallies = _Collector(by), {name: StateTally() for name in named}
    for name, run in named.items():
        for record in run.records():
            collector.add(name, run, record)
            tallies[name].add(record)
            if progress:
                progress.advance()
        for expansion in run.expansions():
            tallies[name].spend(expansion.model, expansion.reply)
    fields = collector.fields()
    scores = {key: builder.finish() for key, builder in collector.builders.items()}
    built = {key: builder.finish() for key, builder in collector.built.items()}
    asked = {key: builder.finish() for key, builder in collector.asked.items()}
    for pool, chains in _pools(scores).items():
        scores[pool] = _joined([scores[key] for key in chains])
        asked[pool] = AskedSide.join([asked[key] for key in chains])
        if beside := [built[key] for key in chains if key in built]:
            built[pool] = join(beside)
    states = [tally.state(name, named[name]) for name, tally in tallies.items()]
    ordered = {key: scores[key] for key in sorted(scores, key=_order(named))}
    names = [parent for _, parent in collector.parents]
    return Table(named, states, ordered, collector.clusters(), names, fields, built, asked, collector.failures)


class _Builder:
    """The records of one condition, as they come."""

    def __init__(self) -> None:
        self._parents, self._values, self._weights = array("q"), array("d"), array("d")
        self._chance, self._read = array("d"), array("b")
        self._records = {name: array("q") for name in RECORDS}
        self._counts, self._languages = Counter[str](), set[str]()

    def add(self, parent: int, run: RunFolder, record: Record) -> None:
        score = record.score
        self._languages.add(record.language)
        self._counts["truncated"] += is_cut_off(record.reply)
        if has_failed(record):
            self._records["failed"].append(parent)
        elif score is None:
            self._records["unscored"].append(parent)
        else:
            self._counts[score.status] += 1
            self._parents.append(parent)
            self._values.append(_value(run, record, score))
            self._weights.append(score.weight)
            self._chance.append(nan if score.chance is None else score.chance)
            self._read.append(score.status == "ok")
            self._records["needs_judge"].extend([parent] * score.needs_judge)
            self._records["bounded"].extend([parent] * score.lower_bound)

    def finish(self) -> Scores:
        values, chance, read = np.array(self._values), np.array(self._chance), np.array(self._read, np.bool_)
        corrected, least = correct_for_chance(values, chance, read), least_corrected(chance)
        parents, weights, unread = np.array(self._parents), np.array(self._weights), (~read).astype(np.float64)
        columns = parents, weights, values, chance, corrected, least, unread
        records = {name: np.array(parents) for name, parents in self._records.items()}
        means = _means(dict(zip(COLUMNS, columns, strict=True)))
        return Scores(**means, records=records, counts=self._counts, languages=frozenset(self._languages))


class _Collector:
    """All records of all runs, with their parents, groups and field values as small numbers."""

    def __init__(self, by: Sequence[str]) -> None:
        self.builders, self.built = dict[Key, _Builder](), dict[Key, ContextColumnsBuilder]()
        self.asked = dict[Key, AskedSideBuilder]()
        self.parents, self._groups = dict[tuple[str, str], int](), dict[tuple[str, str], int]()
        self.failures, self._group_of, self._known = list[FailedReply](), array("q"), set[str](ALWAYS)
        self._values, self._codes = {name: dict[str, int]() for name in by}, {name: array("q") for name in by}

    def add(self, name: str, run: RunFolder, record: Record) -> None:
        key, parent = Key.of(name, record), self._parent(record)
        (self.builders.get(key) or self.builders.setdefault(key, _Builder())).add(parent, run, record)
        (self.asked.get(key) or self.asked.setdefault(key, AskedSideBuilder())).add(parent, record)
        if record.beside:
            built = self.built.get(key) or self.built.setdefault(key, ContextColumnsBuilder())
            built.add(parent, key.context, record.beside)
        if has_failed(record) and len(self.failures) < SHOWN_FAILURES:
            rule = record.score.rule if record.score else ""
            reason = record.reply.error or rule or "the answer could not be scored"
            self.failures.append(FailedReply.of(name, record, reason))

    def clusters(self) -> Ints:
        """A label for each parent: its group's, or a negative one of its own."""
        groups = np.array(self._group_of)
        return np.where(groups >= 0, groups, -1 - np.arange(len(groups)))

    def fields(self) -> dict[str, Field]:
        check_names(self._values, self._known)
        for name, values in self._values.items():
            if (count := len(values)) > MAX_VALUES:
                raise UserError(f"the field {name!r} has {count} values: break down by one of {MAX_VALUES} at most")
        return {name: Field(list(values), np.array(self._codes[name])) for name, values in self._values.items()}

    def _parent(self, record: Record) -> int:
        place = self.parents.setdefault((record.set, record.parent), len(self.parents))
        new = place == len(self._group_of)
        if new:
            group = record.group
            known = -1 if group is None else self._groups.setdefault((record.set, group), len(self._groups))
            self._group_of.append(known)
        self._known.update(known_names(record))
        # A variant may be of another task type than its parent: breakdowns go by the parent, so that pairs stay
        # together.
        if new or record.condition.variant == "standard":
            self._code(record, place)
        return place

    def _code(self, record: Record, place: int) -> None:
        for name, codes in self._codes.items():
            values = self._values[name]
            codes[place : place + 1] = array("q", [values.setdefault(field_of(record, name), len(values))])


def named_runs(runs: Sequence[RunFolder]) -> dict[str, RunFolder]:
    """Several runs by their folders' names, or by their paths where two folders have one name; a single one by no
    name."""
    if not runs:
        raise UserError("no run is given: name the folder that `mmdyn eval -o` made")
    folders = [run.folder.resolve() for run in runs]
    for place, folder in enumerate(folders):
        if folder in folders[:place]:
            raise UserError(f"the run {runs[place].folder} is given twice: give each run once")
    if len(runs) == 1:
        return {"": runs[0]}
    short = len({run.name for run in runs}) == len(runs)
    return {run.name if short else str(run.folder): run for run in runs}


def _value(run: RunFolder, record: Record, score: Score) -> float:
    value = score.value if score.status == "ok" else 0.0
    if value is None or not 0 <= value <= 1:
        raise InputError(run.folder, None, f"sample {record.sample} has the score {value}: a scorer must give 0 to 1")
    if not 0 < score.weight < float("inf"):
        raise InputError(run.folder, None, f"sample {record.sample} weighs {score.weight}: a weight must be positive")
    return value


def _pools(keys: Iterable[Key]) -> dict[Key, list[Key]]:
    """A condition over all chains wherever there are several, with these."""
    pools = dict[Key, list[Key]]()
    for key in keys:
        if key.pool:
            pools.setdefault(key.pool, []).append(key)
    return {pool: chains for pool, chains in pools.items() if len(chains) > 1}


def _joined(chains: Sequence[Scores]) -> Scores:
    """Over all chains: a parent's mean over its chains."""
    means = _means({name: np.concatenate([getattr(chain, name) for chain in chains]) for name in COLUMNS})
    records = {name: np.concatenate([chain.records[name] for chain in chains]) for name in RECORDS}
    languages = frozenset[str]().union(*(chain.languages for chain in chains))
    counts = sum((chain.counts for chain in chains), Counter[str]())
    return Scores(**means, records=records, counts=counts, languages=languages)


def _means(columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The parents in order, each with the weighted mean of every column over what is not NaN, and its mean weight."""
    parents, weights = columns["parents"], columns["weights"]
    unique, mean_weights, _ = group_means(parents, weights, np.ones_like(weights))
    found: dict[str, Any] = {"parents": unique, "weights": mean_weights}
    for name in COLUMNS[2:]:
        told = ~np.isnan(columns[name])
        having, means, _ = group_means(parents[told], columns[name][told], weights[told])
        found[name] = np.full(len(unique), nan)
        found[name][np.searchsorted(unique, having)] = means
    return found


def _order(runs: dict[str, RunFolder]) -> Callable[[Key], tuple[object, ...]]:
    """Runs, models and hints as they were given; standard before dynamic, all chains last; contexts by what should
    help, direct first."""
    names = list(runs)
    labels = [entry.label for run in runs.values() for entry in run.config.models]
    asked = [condition.context for run in runs.values() for condition in run.config.conditions]

    def order(key: Key) -> tuple[object, ...]:
        model = labels.index(key.model) if key.model in labels else len(labels)
        context = asked.index(key.context) if key.context in asked else len(asked)
        chain = (key.variant != "standard", key.chain == POOLED, key.chain)
        style = (key.style != "direct", key.style, Shots.parse(key.shots).k, key.shots)
        contexts = (place_of(key.context), context, key.context)
        return (names.index(key.run), model, key.model, key.set, *chain, *contexts, *style)

    return order
