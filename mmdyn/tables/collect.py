"""Records of runs -> the arrays that a report is made of. Each record is read once and let go."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mmdyn.errors import InputError, UserError, did_you_mean
from mmdyn.record import Record, Reply, Score
from mmdyn.tables.context_columns import NAMES, ContextColumnsBuilder, join
from mmdyn.tables.contexts import place_of
from mmdyn.tables.results import NOT_GIVEN, POOLED, Failure, Field, Key, RunState, Scores, Table, key_of, pool_of
from mmdyn.tables.spending import Spending
from mmdyn.tables.statistics import Floats, Labels
from mmdyn.tables.waiting import find_waiting
from mmdyn.work import ANSWERED_NOW, ProgressBar, RunFolder

SHOWN_FAILURES, SHOWN_CHARS = 20, 300
MAX_VALUES = 1000
ALWAYS = ("task_type", "language")
"""What every record can be broken down by, beside its fields."""


def collect(runs: Sequence[RunFolder], by: Sequence[str] = (), progress: ProgressBar | None = None) -> Table:
    """Read every record once. Memory grows by some tens of bytes a record and some hundreds a parent.

    Raises UserError for a run that is given twice and for a name in `by` that no record has, InputError for a score
    that is out of range.
    """
    named = _named(runs)
    collector, states = _Collector(by), list[RunState]()
    for name, run in named.items():
        tally = _Tally()
        for record in run.records():
            collector.add(name, run, record, tally)
            if progress:
                progress.advance()
        for expansion in run.expansions():
            tally.spend(expansion.model, expansion.reply)
        states.append(tally.state(name, run))
    fields = collector.fields()
    scores = {key: builder.finish() for key, builder in collector.builders.items()}
    built = {key: builder.finish() for key, builder in collector.built.items()}
    for pool, chains in _pools(scores).items():
        scores[pool] = _joined([scores[key] for key in chains])
        if beside := [built[key] for key in chains if key in built]:
            built[pool] = join(beside)
    return Table(
        runs=named,
        states=states,
        scores={key: scores[key] for key in sorted(scores, key=_order(named))},
        clusters=collector.clusters(),
        names=[parent for _, parent in collector.parents],
        fields=fields,
        built=built,
        failures=collector.failures,
    )


class _Tally:
    """How many records of a run there are."""

    def __init__(self) -> None:
        self.asked = self.failed = self.unscored = self.needs_judge = self.corrected = 0
        self._spending = dict[str, Spending]()

    def spend(self, model: str, reply: Reply) -> None:
        """Count what a reply took."""
        if not reply.error:
            spending = self._spending.get(model) or self._spending.setdefault(model, Spending(model))
            spending.add(reply.usage, reply.cost, reply.currency)

    def state(self, name: str, run: RunFolder) -> RunState:
        planned, under_way = run.config.planned, run.config.under_way
        return RunState(
            name=name or run.name,
            scorer=run.config.scorer,
            complete=self.asked >= planned and not self.unscored and under_way is None,
            planned=planned,
            asked=self.asked,
            failed=self.failed,
            unscored=self.unscored,
            needs_judge=self.needs_judge,
            skipped=dict(sorted(run.config.skipped.items())),
            spending=[self._spending[model].rounded for model in sorted(self._spending)],
            waiting=find_waiting(run, under_way) if under_way else None,
            corrected=self.corrected,
        )


class _Builder:
    """The records of one condition, as they come."""

    def __init__(self) -> None:
        self.parents, self.failed, self.unscored = array("q"), array("q"), array("q")
        self.needs_judge, self.bounded = array("q"), array("q")
        self.values, self.weights = array("d"), array("d")
        self.statuses = {"ok": 0, "unparsed": 0, "refused": 0}
        self.truncated = 0
        self.languages = set[str]()
        self.converted = False

    def finish(self) -> Scores:
        parents, values, weights = average(_ints(self.parents), _floats(self.values), _floats(self.weights))
        failed, unscored = _ints(self.failed), _ints(self.unscored)
        of_rules = _ints(self.needs_judge), _ints(self.bounded)
        counts, languages = (self.statuses, self.truncated), frozenset(self.languages)
        return Scores(parents, values, weights, failed, unscored, *of_rules, *counts, languages, self.converted)


class _Collector:
    """All records of all runs, with their parents, groups and field values as small numbers."""

    def __init__(self, by: Sequence[str]) -> None:
        self.builders = dict[Key, _Builder]()
        self.built = dict[Key, ContextColumnsBuilder]()
        self.parents = dict[tuple[str, str], int]()
        self.failures = list[Failure]()
        self._groups = dict[tuple[str, str], int]()
        self._group_of = array("q")
        self._values = {name: dict[str, int]() for name in by}
        self._codes = {name: array("q") for name in by}
        self._known = set[str](ALWAYS)

    def add(self, name: str, run: RunFolder, record: Record, tally: _Tally) -> None:
        key, score = key_of(name, record), record.score
        builder = self.builders.get(key) or self.builders.setdefault(key, _Builder())
        parent = self._parent(record)
        builder.languages.add(record.language)
        builder.truncated += is_cut_off(record.reply)
        builder.converted |= record.task_type != record.parent_type
        if record.beside:
            built = self.built.get(key) or self.built.setdefault(key, ContextColumnsBuilder())
            built.add(parent, key.context, record.beside)
        tally.asked += 1
        tally.corrected += ANSWERED_NOW in record.key
        tally.spend(record.model, record.reply)
        if record.reply.error or (score and score.status == "failed"):
            tally.failed += 1
            builder.failed.append(parent)
            if len(self.failures) < SHOWN_FAILURES:
                self.failures.append(_failure(name, record))
        elif score is None:
            tally.unscored += 1
            builder.unscored.append(parent)
        else:
            builder.statuses[score.status] += 1
            builder.parents.append(parent)
            builder.values.append(_value(run, record, score))
            builder.weights.append(score.weight)
            tally.needs_judge += score.needs_judge
            builder.needs_judge.extend([parent] * score.needs_judge)
            builder.bounded.extend([parent] * score.lower_bound)

    def clusters(self) -> Labels:
        """A label for each parent: its group's, or a negative one of its own."""
        groups = _ints(self._group_of)
        return np.where(groups >= 0, groups, -1 - np.arange(len(groups)))

    def fields(self) -> dict[str, Field]:
        for name, values in self._values.items():
            if name not in self._known:
                known = sorted(self._known)
                hint = did_you_mean(name, known)
                raise UserError(f"no record has a field {name!r}{hint}: break down by {', '.join(known)}")
            if len(values) > MAX_VALUES:
                raise UserError(
                    f"the field {name!r} has {len(values)} values: break down by one of {MAX_VALUES} at most"
                )
        return {name: Field(list(values), _ints(self._codes[name])) for name, values in self._values.items()}

    def _parent(self, record: Record) -> int:
        place = self.parents.setdefault((record.set, record.parent), len(self.parents))
        new = place == len(self._group_of)
        if new:
            group = record.group
            known = -1 if group is None else self._groups.setdefault((record.set, group), len(self._groups))
            self._group_of.append(known)
        self._known.update(record.fields, NAMES if record.beside else ())
        # A variant may be of another task type than its parent: breakdowns go by the parent, so that pairs stay together.
        if new or record.condition.variant == "standard":
            self._code(record, place)
        return place

    def _code(self, record: Record, place: int) -> None:
        for name, codes in self._codes.items():
            values = self._values[name]
            code = values.setdefault(field_of(record, name), len(values))
            if place == len(codes):
                codes.append(code)
            else:
                codes[place] = code


def _named(runs: Sequence[RunFolder]) -> dict[str, RunFolder]:
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


def is_cut_off(reply: Reply) -> bool:
    """Whether an answer reached the limit of its length."""
    return reply.finish_reason == "length"


def _failure(run: str, record: Record) -> Failure:
    rule = record.score.rule if record.score else ""
    reason = record.reply.error or rule or "the answer could not be scored"
    return Failure(run, record.model, record.set, record.sample, record.condition.mode, reason[:SHOWN_CHARS])


def _value(run: RunFolder, record: Record, score: Score) -> float:
    value = score.value if score.status == "ok" else 0.0
    if value is None or not 0 <= value <= 1:
        raise InputError(run.folder, None, f"sample {record.sample} has the score {value}: a scorer must give 0 to 1")
    if not 0 < score.weight < float("inf"):
        raise InputError(run.folder, None, f"sample {record.sample} weighs {score.weight}: a weight must be positive")
    return value


def field_of(record: Record, name: str) -> str:
    """What a record has under a name: its parent's task type, its language, or a field; NOT_GIVEN where it has none."""
    if name == "task_type":
        return record.parent_type
    if name == "language":
        return record.language
    return str(record.fields.get(name, NOT_GIVEN))


def _pools(keys: Iterable[Key]) -> dict[Key, list[Key]]:
    """A condition over all chains wherever there are several, with these."""
    pools = dict[Key, list[Key]]()
    for key in keys:
        if pool := pool_of(key):
            pools.setdefault(pool, []).append(key)
    return {pool: chains for pool, chains in pools.items() if len(chains) > 1}


def _joined(chains: list[Scores]) -> Scores:
    """Over all chains: a parent's mean over its chains."""

    def together(name: str) -> Any:
        return np.concatenate([getattr(chain, name) for chain in chains])

    averaged = average(together("parents"), together("values"), together("weights"))
    statuses = {status: sum(chain.statuses[status] for chain in chains) for status in chains[0].statuses}
    truncated = sum(chain.truncated for chain in chains)
    languages = frozenset[str]().union(*(chain.languages for chain in chains))
    converted = any(chain.converted for chain in chains)
    failed, unscored = together("failed"), together("unscored")
    of_rules = together("needs_judge"), together("bounded")
    return Scores(*averaged, failed, unscored, *of_rules, statuses, truncated, languages, converted)


def average(parents: Labels, values: Floats, weights: Floats) -> tuple[Labels, Floats, Floats]:
    """The parents in order, each with the weighted mean of its values and its mean weight."""
    unique, places, counts = np.unique(parents, return_inverse=True, return_counts=True)
    total = np.bincount(places, weights, len(unique))
    return unique, np.bincount(places, weights * values, len(unique)) / total, total / counts


def _order(runs: dict[str, RunFolder]) -> Callable[[Key], tuple[object, ...]]:
    """Runs, models and hints as they were given; standard before dynamic, all chains last; contexts by what should
    help, direct first."""
    run_places = {name: place for place, name in enumerate(runs)}
    labels = [entry.label for run in runs.values() for entry in run.config.models]
    models = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    asked = [condition.context for run in runs.values() for condition in run.config.conditions]
    contexts = {context: place for place, context in enumerate(dict.fromkeys(asked))}

    def order(key: Key) -> tuple[object, ...]:
        chain = (key.variant != "standard", key.chain == POOLED, key.chain)
        model = (models.get(key.model, len(models)), key.model)
        return (
            run_places[key.run],
            *model,
            key.set,
            *chain,
            place_of(key.context),
            contexts.get(key.context, len(contexts)),
            key.context,
            key.style != "direct",
            key.style,
        )

    return order


def _ints(numbers: array[int]) -> Labels:
    return np.array(numbers, dtype=np.int64)


def _floats(numbers: array[float]) -> Floats:
    return np.array(numbers, dtype=np.float64)
