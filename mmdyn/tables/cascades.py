"""What the rules, each judge and both together make of a run's answers, and what the judges took and were spared.

Source of the checklist score: AcadReason, section 3.4 (R_j: items that are met over items, over all questions).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from statistics import fmean
from sys import intern

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.record import Judgement, Record, Score
from mmdyn.tables.bounds import Bound, Interval, bound_of, interval_of
from mmdyn.tables.collect import SHOWN_CHARS, SHOWN_FAILURES, average
from mmdyn.tables.grading import weighted_kappa
from mmdyn.tables.results import Failure, Key, Table, key_of
from mmdyn.tables.spending import Spending
from mmdyn.tables.statistics import Floats, mean_score
from mmdyn.work import JudgeEntry, Reader, RunFolder, Scoring, judged_kind, score_kind, unjudged_kind


class Accuracy(Struct, frozen=True):
    """The mean score of `answers` of n parents, in [0, 1], with a 95 % interval; None where there is none.

    bound: `lower` where the score is one, by rules alone. bounds: where answers wait for a verdict, in place of a
        score: the mean with each of them worth 0, and worth 1.
    """

    n: int
    answers: int
    score: float | None
    ci95: Interval | None
    method: str
    bound: Bound = ""
    bounds: tuple[float, float] | None = None


class JudgeFigures(Struct, frozen=True):
    """One judge in one condition. `accuracy`: of the answers that it judged; `failed`: of those that it was asked about
    it gave no verdict on so many; `saved`: it was not asked about so many.

    requests: sent for all that, tries again counted. agreement: the share of answers that the rules and it call right
    alike, kappa: the quadratic weighted kappa of both values; in the mode `all` alone, as otherwise it sees only what
        the rules do not settle. consistency: the mean share of votes that say what was decided, with several votes.
        checklist: the items `met` over `items`, those of all answers.
    """

    judge: str
    id: str
    accuracy: Accuracy
    failed: int
    saved: int
    requests: int
    agreement: float | None
    kappa: float | None
    consistency: float | None
    items: int
    met: int
    checklist: float | None


class CascadeRow(Struct, frozen=True):
    """A condition's scores by rules alone, by each judge alone, and combined. `in_force`: these are the scores in
    force."""

    run: str
    model: str
    set: str
    factors: dict[str, str]
    scorer: str
    active: bool
    mode: str
    rules: Accuracy
    judges: list[JudgeFigures]
    combined: Accuracy


class JudgeSpending(Struct, frozen=True):
    """What a run's judge took, its asks without a verdict among them; its `replies` are asks, of one request or
    several.

    name: the label with what else tells judges apart. cached: replies out of the cache, which cost nothing.
    """

    run: str
    id: str
    name: str
    spending: Spending
    cached: int


class Cascades(Struct, frozen=True):
    """The conditions of judged runs. `unjudged`: answers that no judge gave a verdict on when it was asked; `failures`:
    the first.

    else_rules: answers whose score in force is the rules', as no verdict could be had; they are not among these.
    """

    rows: list[CascadeRow]
    spending: list[JudgeSpending]
    unjudged: int
    failures: list[Failure]
    else_rules: int


def find_cascades(table: Table) -> Cascades:
    """Rows in the report's order, for the conditions of the runs that have judges. Reads their records once more, or
    twice where the scores of some judges are in force and those of others under way."""
    rows, spending, failures = list[CascadeRow](), list[JudgeSpending](), list[Failure]()
    unjudged = else_rules = 0
    for name, run in table.runs.items():
        spent = dict[str, JudgeSpending]()
        for scoring in run.config.judged:
            found = _Run(name, run, scoring)
            spent |= {one.id: one for one in found.spent}
            failures += found.failures
            unjudged += found.unjudged
            else_rules += found.else_rules
            active = scoring.scorer == run.config.scorer
            rows += [
                found.columns[key].row(key, scoring, table, active=active)
                for key in table.scores
                if key in found.columns
            ]
        spending += spent.values()
    return Cascades(rows, spending, unjudged, failures[:SHOWN_FAILURES], else_rules)


class _Asked:
    """What a judge said in a condition, as it comes; `values` goes with the condition's answers, NaN where it has
    none."""

    def __init__(self, entry: JudgeEntry) -> None:
        self.entry, self.values = entry, array("d")
        self.failed = self.saved = self.requests = self.items = self.met = 0
        self.consistency = array("d")

    def add(self, judgement: Judgement | None, failed: list[Judgement], *, scored: bool) -> None:
        value = None if judgement is None else judgement.value
        self.values.append(np.nan if value is None else value)
        self.failed += value is None and bool(failed)
        self.saved += value is None and not failed and scored
        self.requests += sum(one.requests for one in (*failed, judgement) if one)
        if judgement is not None:
            self.items += len(judgement.items)
            self.met += sum(judgement.items)
            if judgement.agreement is not None:
                self.consistency.append(judgement.agreement)

    def figures(self, columns: _Columns, table: Table, places: Mapping[str, int], *, all_asked: bool) -> JudgeFigures:
        values, rules = np.array(self.values), np.array(columns.rules)
        both = ~np.isnan(values)
        compared = all_asked and bool(both.any())
        alike = (values[both] == 1) == (rules[both] == 1)
        kappa = weighted_kappa(rules[both], values[both]) if compared else None
        return JudgeFigures(
            judge=self.entry.name,
            id=self.entry.id,
            accuracy=columns.accuracy(values, table, places),
            failed=self.failed,
            saved=self.saved,
            requests=self.requests,
            agreement=round(float(alike.mean()), 6) if compared else None,
            kappa=None if kappa is None else round(kappa, 6),
            consistency=round(fmean(self.consistency), 6) if self.consistency else None,
            items=self.items,
            met=self.met,
            checklist=round(self.met / self.items, 6) if self.items else None,
        )


class _Columns:
    """One condition's answers as they come: one place in each column."""

    def __init__(self, judges: tuple[JudgeEntry, ...]) -> None:
        self.parents = list[str]()
        self.weights, self.rules, self.combined = array("d"), array("d"), array("d")
        self.rules_bounded = self.combined_bounded = False
        self.judges = [_Asked(entry) for entry in judges]

    def add(self, record: Record, rules: Score, combined: Score | None) -> None:
        self.parents.append(intern(record.parent))
        self.weights.append(rules.weight)
        self.rules.append(rules.value or 0.0)
        self.combined.append(np.nan if combined is None or combined.value is None else combined.value)
        self.rules_bounded |= rules.lower_bound
        self.combined_bounded |= combined is not None and combined.lower_bound

    def row(self, key: Key, scoring: Scoring, table: Table, *, active: bool) -> CascadeRow:
        places = {table.names[place]: place for place in table.scores[key].asked.tolist()}
        mode = scoring.judge_mode
        return CascadeRow(
            run=key.run,
            model=key.model,
            set=key.set,
            factors=key.factors,
            scorer=scoring.scorer,
            active=active,
            mode=mode,
            rules=self.accuracy(np.array(self.rules), table, places, lower=self.rules_bounded),
            judges=[asked.figures(self, table, places, all_asked=mode == "all") for asked in self.judges],
            combined=self._combined(table, places),
        )

    def _combined(self, table: Table, places: Mapping[str, int]) -> Accuracy:
        """The mean of both, which would be too high over those that have a verdict alone: all that the rules call right
        have one."""
        values = np.array(self.combined)
        found = self.accuracy(values, table, places, lower=self.combined_bounded)
        missing = np.isnan(values)
        if not missing.any():
            return found
        low, high = (self.accuracy(np.where(missing, worth, values), table, places).score for worth in (0.0, 1.0))
        assert low is not None and high is not None
        return replace(found, score=None, ci95=None, method="", bound="", bounds=(low, high))

    def accuracy(self, values: Floats, table: Table, places: Mapping[str, int], *, lower: bool = False) -> Accuracy:
        there = ~np.isnan(values)
        if not there.any():
            return Accuracy(0, 0, None, None, "")
        parents = np.array([places[parent] for parent in self.parents])[there]
        unique, means, weights = average(parents, values[there], np.array(self.weights)[there])
        found = mean_score(means, weights, table.clusters[unique])
        ends, score = interval_of(found, lower=lower), round(found.value, 6)
        return Accuracy(len(unique), int(there.sum()), score, ends, found.method, bound_of(lower))


class _Run:
    """The answers of one run that the rules have scored, by condition, and those that no judge gave a verdict on."""

    def __init__(self, name: str, run: RunFolder, scoring: Scoring) -> None:
        self.columns = dict[Key, _Columns]()
        self.failures, self.unjudged, self.else_rules = list[Failure](), 0, 0
        judges, kind = scoring.judges, score_kind(scoring.rules)
        plain, _, instead = scoring.scorer.partition(")+")
        both, all_scored = score_kind(f"{plain})" if instead else plain), score_kind(scoring.scorer)
        self._spending, self._cached = [Spending(entry.label) for entry in judges], [0] * len(judges)
        with Reader(run.records_folder) as reader:
            failed = [_failed(reader, entry) for entry in judges]
            for record in run.records():
                if record.reply.error or (value := reader.get(kind, record.key)) is None:
                    continue
                columns = self.columns.setdefault(key_of(name, record), _Columns(judges))
                has_verdict = reader.get(both, record.key) is not None
                combined = reader.get(all_scored, record.key)
                score = None if combined is None else msgspec.json.decode(combined, type=Score)
                columns.add(record, msgspec.json.decode(value, type=Score), score)
                tries = [by_key.get(record.key, []) for by_key in failed]
                for place, (entry, without) in enumerate(zip(judges, tries, strict=True)):
                    known = reader.get(judged_kind(entry.id), record.key)
                    judgement = None if known is None else msgspec.json.decode(known, type=Judgement)
                    columns.judges[place].add(judgement, without, scored=has_verdict)
                    self._spend(place, *without, judgement)
                self.else_rules += bool(instead) and not has_verdict
                if combined is None and any(tries):
                    self._note(name, record, tries)
        spent = zip(judges, self._spending, self._cached, strict=True)
        self.spent = [JudgeSpending(name, entry.id, entry.name, one.rounded, cached) for entry, one, cached in spent]

    def _spend(self, place: int, *judgements: Judgement | None) -> None:
        for one in judgements:
            if one and one.requests:
                self._spending[place].add(one.usage, one.cost, one.currency)
            self._cached[place] += one.cached if one else 0

    def _note(self, name: str, record: Record, tries: list[list[Judgement]]) -> None:
        self.unjudged += 1
        if len(self.failures) < SHOWN_FAILURES:
            reason = next(without[-1].error for without in reversed(tries) if without)
            mode = record.condition.mode
            self.failures.append(Failure(name, record.model, record.set, record.sample, mode, reason[:SHOWN_CHARS]))


def _failed(reader: Reader, entry: JudgeEntry) -> dict[str, list[Judgement]]:
    """The asks of a judge that brought no verdict, by record, the latest last. There are few, or there is no report
    worth reading."""
    found = dict[str, list[Judgement]]()
    for key, value in reader.items(unjudged_kind(entry.id)):
        found.setdefault(key.partition(":")[0], []).append(msgspec.json.decode(value, type=Judgement))
    return found


def lines_of(row: CascadeRow) -> Iterator[tuple[str, Accuracy, JudgeFigures | None]]:
    """What a row tells, for people: rules, judges, combined."""
    yield "rules", row.rules, None
    for judge in row.judges:
        yield f"judge {judge.judge}", judge.accuracy, judge
    yield "combined" if row.active else "combined (not in force)", row.combined, None
