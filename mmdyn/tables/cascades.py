"""What the rules, each judge and both together make of a run's answers, and what the judges took and were spared.

Source of the checklist score: AcadReason, section 3.4 (R_j: items that are met over items, over all questions).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from statistics import fmean
from sys import intern
from typing import NamedTuple, TextIO, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.record import Judgement, Record, Score
from mmdyn.stats import Floats, Ints, group_means, mean_score, weighted_kappa
from mmdyn.tables.results import Bound, Interval, Key, OfCondition, Table, pick, score_of
from mmdyn.tables.run_state import SHOWN_FAILURES, FailedReply, Spending
from mmdyn.tables.terminal import names_of, open_console, percent, print_grid, say
from mmdyn.work import JudgeEntry, Reader, RunFolder, Scoring, judged_kind, score_kind, unjudged_kind

TITLE = (
    "Rules and judges: mean scores in percent with 95 % intervals; n counts parent samples, answers those that each one"
    " scored, saved those that a judge was not asked about"
)

JUDGE_COLUMNS = ("saved", "no verdict", "requests", "as rules", "votes\nagree", "items met")

T = TypeVar("T")


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


class CascadeRow(OfCondition, frozen=True):
    """A condition's scores by rules alone, by each judge alone, and combined. active: these are the scores in force."""

    scorer: str
    active: bool
    mode: str
    rules: Accuracy
    judges: list[JudgeFigures]
    combined: Accuracy

    def lines(self) -> Iterator[tuple[str, Accuracy, JudgeFigures | None]]:
        """What the row tells, for people: rules, judges, combined."""
        yield "rules", self.rules, None
        for judge in self.judges:
            yield f"judge {judge.judge}", judge.accuracy, judge
        yield "combined" if self.active else "combined (not in force)", self.combined, None


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
    failures: list[FailedReply]
    else_rules: int


def find_cascades(table: Table) -> Cascades:
    """Rows in the report's order, for the conditions of the runs that have judges. Reads their records once more, or
    twice where the scores of some judges are in force and those of others under way."""
    runs = [_Run(name, run, scoring) for name, run in table.runs.items() for scoring in run.config.judged]
    rows = [one.conditions[key].row(key, one, table) for one in runs for key in table.scores if key in one.conditions]
    spending = {(spent.run, spent.id): spent for one in runs for spent in one.spending()}
    failures = [failure for one in runs for failure in one.failures][:SHOWN_FAILURES]
    unjudged, else_rules = sum(one.unjudged for one in runs), sum(one.else_rules for one in runs)
    return Cascades(rows, list(spending.values()), unjudged, failures, else_rules)


def print_cascades(cascades: Cascades, file: TextIO | None = None) -> None:
    """Print what rules and judges make of each condition to `file` or standard output, a line each, and what judges
    took."""
    console = open_console(file)
    if not cascades.rows:
        return
    lines = [
        {**names_of(row), "value": who, **_shown(accuracy, judge)}
        for row in cascades.rows
        for who, accuracy, judge in row.lines()
    ]
    print_grid(console, TITLE, lines, "scored by")
    for spent in cascades.spending:
        name, total = f"{spent.run}: " if spent.run else "", spent.spending
        cached = f" {spent.cached} replies out of the cache cost nothing." if spent.cached else ""
        if total.replies or cached:
            say(console, f"{name}judge {spent.name}: {total.tokens}, cost {total.money}.{cached}")
    if count := cascades.else_rules:
        say(console, f"On {count} answers no judge gave a verdict, and the rules' score counts (else-rules).")


class _Judge:
    """What a judge said in a condition, as it comes; `values` goes with the condition's answers, NaN where it has
    none."""

    def __init__(self, entry: JudgeEntry) -> None:
        self._entry, self.values, self._consistency = entry, array("d"), array("d")
        self._counts = Counter[str]()

    def add(self, judgement: Judgement | None, failed: list[Judgement], *, scored: bool) -> None:
        value, counts = None if judgement is None else judgement.value, self._counts
        self.values.append(np.nan if value is None else value)
        counts["failed"] += value is None and bool(failed)
        counts["saved"] += value is None and not failed and scored
        counts["requests"] += sum(one.requests for one in (*failed, judgement) if one)
        if judgement is not None:
            counts["items"] += len(judgement.items)
            counts["met"] += sum(judgement.items)
            if judgement.agreement is not None:
                self._consistency.append(judgement.agreement)

    def figures(self, rules: Floats, accuracy: Accuracy, *, all_asked: bool) -> JudgeFigures:
        values, counts = np.array(self.values), self._counts
        failed, saved, requests, items, met = (counts[name] for name in ("failed", "saved", "requests", "items", "met"))
        both = ~np.isnan(values)
        compared = all_asked and bool(both.any())
        alike = float(((values[both] == 1) == (rules[both] == 1)).mean()) if compared else None
        kappa = weighted_kappa(rules[both], values[both]) if compared else None
        votes = fmean(self._consistency) if self._consistency else None
        agreement, kappa, votes, checklist = map(_digits, (alike, kappa, votes, met / items if items else None))
        who = self._entry.name, self._entry.id, accuracy
        return JudgeFigures(*who, failed, saved, requests, agreement, kappa, votes, items, met, checklist)


class _Condition:
    """One condition's answers as they come: one place in each column."""

    def __init__(self, judges: tuple[JudgeEntry, ...]) -> None:
        self._parents = list[str]()
        self._weights, self._rules, self._combined = array("d"), array("d"), array("d")
        self._rules_bounded = self._combined_bounded = False
        self.judges = [_Judge(entry) for entry in judges]

    def add(self, record: Record, rules: Score, combined: Score | None) -> None:
        self._parents.append(intern(record.parent))
        self._weights.append(rules.weight)
        self._rules.append(rules.value or 0.0)
        self._combined.append(np.nan if combined is None or combined.value is None else combined.value)
        self._rules_bounded |= rules.lower_bound
        self._combined_bounded |= combined is not None and combined.lower_bound

    def row(self, key: Key, run: _Run, table: Table) -> CascadeRow:
        means = _Means(table.clusters, table.indices(key, self._parents), np.array(self._weights))
        rules, mode = np.array(self._rules), run.scoring.judge_mode
        judges = [one.figures(rules, means.of(np.array(one.values)), all_asked=mode == "all") for one in self.judges]
        by_rules = means.of(rules, lower=self._rules_bounded)
        combined = means.combined(np.array(self._combined), lower=self._combined_bounded)
        return CascadeRow(*key.place, run.scoring.scorer, run.active, mode, by_rules, judges, combined)


class _Means(NamedTuple):
    """The means over the parents of a condition; `parents` and `weights` go with its answers."""

    clusters: Ints
    parents: Ints
    weights: Floats

    def of(self, values: Floats, *, lower: bool = False) -> Accuracy:
        """The mean of the answers that have a value."""
        there = ~np.isnan(values)
        if not there.any():
            return Accuracy(0, 0, None, None, "")
        parents, means, weights = group_means(self.parents[there], values[there], self.weights[there])
        found = mean_score(means, weights, self.clusters[parents])
        score, ends, bound = score_of(found, lower=lower)
        return Accuracy(len(parents), int(there.sum()), score, ends, found.method, bound)

    def combined(self, values: Floats, *, lower: bool) -> Accuracy:
        """The mean of rules and judges, which would be too high over those that have a verdict alone: all that the
        rules call right have one."""
        found, missing = self.of(values, lower=lower), np.isnan(values)
        if not missing.any():
            return found
        low, high = (self.of(np.where(missing, worth, values)).score for worth in (0.0, 1.0))
        assert low is not None and high is not None
        return replace(found, score=None, ci95=None, method="", bound="", bounds=(low, high))


class _Run:
    """The answers of one run that the rules have scored, by condition, and those that no judge gave a verdict on."""

    def __init__(self, name: str, run: RunFolder, scoring: Scoring) -> None:
        self.conditions = dict[Key, _Condition]()
        self.failures, self.unjudged, self.else_rules = list[FailedReply](), 0, 0
        self._name, self.scoring, self.active = name, scoring, scoring.scorer == run.config.scorer
        self._spending, self._cached = [Spending(entry.label) for entry in scoring.judges], [0] * len(scoring.judges)
        plain, _, instead = scoring.scorer.partition(")+")
        both = score_kind(f"{plain})" if instead else plain)
        with Reader(run.records_folder) as reader:
            failed = [_failed(reader, entry) for entry in scoring.judges]
            for record in run.records():
                rules = _read(reader, score_kind(scoring.rules), record, Score)
                if record.reply.error or rules is None:
                    continue
                condition = self.conditions.setdefault(Key.of(name, record), _Condition(scoring.judges))
                combined = _read(reader, score_kind(scoring.scorer), record, Score)
                condition.add(record, rules, combined)
                has_verdict = reader.get(both, record.key) is not None
                self.else_rules += bool(instead) and not has_verdict
                tries = [by_key.get(record.key, []) for by_key in failed]
                for place, (entry, without) in enumerate(zip(scoring.judges, tries, strict=True)):
                    judgement = _read(reader, judged_kind(entry.id), record, Judgement)
                    condition.judges[place].add(judgement, without, scored=has_verdict)
                    self._spend(place, *without, judgement)
                if combined is None and any(tries):
                    self._note(record, tries)

    def spending(self) -> Iterator[JudgeSpending]:
        """What each judge took."""
        for entry, spent, cached in zip(self.scoring.judges, self._spending, self._cached, strict=True):
            yield JudgeSpending(self._name, entry.id, entry.name, spent.rounded, cached)

    def _spend(self, place: int, *judgements: Judgement | None) -> None:
        for one in judgements:
            if one and one.requests:
                self._spending[place].add(one.usage, one.cost, one.currency)
            self._cached[place] += one.cached if one else 0

    def _note(self, record: Record, tries: list[list[Judgement]]) -> None:
        self.unjudged += 1
        if len(self.failures) < SHOWN_FAILURES:
            reason = next(without[-1].error for without in reversed(tries) if without)
            self.failures.append(FailedReply.of(self._name, record, reason))


def _digits(number: float | None) -> float | None:
    return None if number is None else round(number, 6)


def _read(reader: Reader, kind: str, record: Record, form: type[T]) -> T | None:
    """What the store has of a kind for a record."""
    value = reader.get(kind, record.key)
    return None if value is None else msgspec.json.decode(value, type=form)


def _failed(reader: Reader, entry: JudgeEntry) -> dict[str, list[Judgement]]:
    """The asks of a judge that brought no verdict, by record, the latest last. There are few, or there is no report
    worth reading."""
    found = dict[str, list[Judgement]]()
    for key, value in reader.items(unjudged_kind(entry.id)):
        found.setdefault(key.partition(":")[0], []).append(msgspec.json.decode(value, type=Judgement))
    return found


def _shown(accuracy: Accuracy, judge: JudgeFigures | None) -> dict[str, object]:
    score, method = percent(accuracy.score, accuracy.ci95), accuracy.method or "no answer has such a score"
    if accuracy.bounds:
        low, high = (f"{100 * bound:.1f}" for bound in accuracy.bounds)
        score, method = f"{low} to {high}", "answers without a verdict as 0 and as 1"
    shown: dict[str, object] = {"score": score, **pick(accuracy, "n", "answers"), **dict.fromkeys(JUDGE_COLUMNS, "")}
    if judge:
        shown |= {"no verdict": judge.failed or "", **pick(judge, "saved", "requests")}
        shown |= {"as rules": _share(judge.agreement), "votes\nagree": _share(judge.consistency)}
        shown["items met"] = f"{judge.met} of {judge.items}" if judge.items else ""
    return {**shown, "method": method}


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
