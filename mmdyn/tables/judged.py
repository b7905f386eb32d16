"""What the rules, each judge and both together make of a run's answers, and what the judges took and were spared.

Source of the checklist score: AcadReason, section 3.4 (R_j: items that are met over items, over all questions).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.record import Judgement, Record, Score
from mmdyn.stats import Floats, Ints, weighted_kappa
from mmdyn.table import Judged
from mmdyn.tables.blocks import Block, Numbered, RowWatcher
from mmdyn.tables.columns import Cell
from mmdyn.tables.keys import POOLED, Key
from mmdyn.tables.rows import Row
from mmdyn.tables.run_state import SHOWN_FAILURES, FailedReply, RunState, Spending
from mmdyn.tables.scores import conditions_of
from mmdyn.work import JudgeEntry, Reader, RunFolder, Scoring, judged_kind, score_kind, unjudged_kind

NO_SCORE = "no answer has such a score"
BETWEEN = "answers without a verdict as 0 and as 1"

T = TypeVar("T")
_Mask: TypeAlias = NDArray[np.bool_]


class JudgedWatcher(RowWatcher):
    """The scores of each judged run: those in force, and those under way."""

    def __init__(self, part: Judged, runs: Mapping[str, RunFolder]) -> None:
        self._seen = 0
        self._scores = {
            name: [
                _Scores(name, scoring, evaluator.scorer, root)
                for root, evaluator in run.config.by_root.items()
                for scoring in evaluator.judged
            ]
            for name, run in runs.items()
        }

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take what rules and judges say of the answer."""
        for scores in self._scores[run]:
            scores.add(self._seen, record, reader)
        self._seen += 1

    def state(self, run: str, state: RunState) -> RunState:
        """The same with what judges took, and the answers that have no verdict."""
        every = self._scores[run]
        spending = {judge.entry.id: judge.spending.rounded for scores in every for judge in scores.judges}
        failures = [failure for scores in every for failure in scores.failures][:SHOWN_FAILURES]
        counts = {name: sum(getattr(scores, name) for scores in every) for name in ("no_verdict", "else_rules")}
        return replace(state, judge_spending=[*spending.values()], judge_failures=failures, **counts)

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The rows of each condition of each run that has judges: by the rules, by each judge, and by both."""
        conditions = conditions_of(block).items()
        for run, every in self._scores.items():
            for scores in every:
                for key, records in conditions:
                    if key.run == run and key.chain != POOLED:
                        yield from scores.rows(block, key, np.isin(scores.records, records))

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """What each judge took, and on how many answers the rules decide in its place."""
        for run, every in self._scores.items():
            for judge in {judge.entry.id: judge for scores in every for judge in scores.judges}.values():
                name, spent = f"{run}: " if run else "", judge.spending
                cached = f" {spent.cached} replies out of the cache cost nothing." if spent.cached else ""
                if spent.replies or cached:
                    yield f"{name}judge {judge.entry.name}: {spent.tokens}, cost {spent.money}.{cached}"
        if count := sum(scores.else_rules for every in self._scores.values() for scores in every):
            yield f"On {count} answers no judge gave a verdict, and the rules' score counts (else-rules)."


class _Judge:
    """What a judge said, as it comes: of each answer its value (NaN where it gave none), whether it was asked in vain,
    whether it was not to be asked, its requests, items of a checklist and those that are met, and how far its votes
    agree (NaN where they are not several)."""

    def __init__(self, entry: JudgeEntry) -> None:
        self.entry, self.spending, self._said = entry, Spending(entry.name), array("d")
        self._failed: dict[str, list[Judgement]] | None = None

    def add(self, record: Record, reader: Reader, *, scored: bool) -> list[Judgement]:
        """Take what it said of an answer; the asks that brought no verdict, the latest last."""
        if self._failed is None:
            self._failed = _failed(reader, self.entry)
        failed = self._failed.get(record.key, [])
        judgement = _read(reader, judged_kind(self.entry.id), record, Judgement)
        asks, said = [*failed, *([judgement] if judgement else [])], judgement or Judgement(None)
        for one in asks:
            if one.requests:
                self.spending.add(one.usage, one.cost, one.currency)
            self.spending.cached += one.cached
        none, requests = said.value is None, sum(one.requests for one in asks)
        fate = none and bool(failed), none and not failed and scored, requests, len(said.items), sum(said.items)
        value, agreement = (nan if number is None else number for number in (said.value, said.agreement))
        self._said.extend((value, *fate, agreement))
        return failed

    def rows(self, answers: _Answers, kept: _Mask, rules: Floats, *, all_asked: bool) -> Iterator[Numbered]:
        """The score of the answers that it judged; it gave no verdict on `failed` ones and was not asked about those
        `left_out`. agreement, kappa: with the rules, where it was asked about all; consistency: the mean share of votes
        that say what was decided."""
        values, failed, saved, requests, items, met, votes = np.array(self._said).reshape(-1, 7)[kept].T
        who, both = f"judge {self.entry.name}", ~np.isnan(values)
        yield answers.row(who, values, failed=int(failed.sum()), left_out=int(saved.sum()))
        shares = dict[str, tuple[float | None, str]]()
        if all_asked and both.any():
            shares["agreement"] = float(((values[both] == 1) == (rules[both] == 1)).mean()), "share"
            shares["kappa"] = weighted_kappa(rules[both], values[both]), ""
        if len(several := votes[~np.isnan(votes)]):
            shares["consistency"] = float(several.mean()), "share"
        counts = {"requests": int(requests.sum())}
        if items.any():
            counts |= {"items": int(items.sum()), "met": int(met.sum())}
            shares["checklist"] = float(met.sum() / items.sum()), "share"
        for name, count in counts.items():
            yield answers.block.row(("scored by",), (who,), name, count, unit="count"), None
        for name, (value, unit) in shares.items():
            if value is not None:
                yield answers.block.row(("scored by",), (who,), name, round(value, 6), unit=unit), None


class _Scores:
    """The answers of a run that the rules have scored, and those that no judge gave a verdict on."""

    def __init__(self, name: str, scoring: Scoring, in_force: str, root: str) -> None:
        self.records, self._numbers = array("q"), array("d")
        self.judges = [_Judge(entry) for entry in scoring.judges]
        self.failures, self.no_verdict, self.else_rules = list[FailedReply](), 0, 0
        self._name, self._scoring, self._active, self._root = name, scoring, scoring.scorer == in_force, root
        plain, _, self._instead = scoring.scorer.partition(")+")
        self._by_verdict = score_kind(f"{plain})" if self._instead else plain)

    def add(self, place: int, record: Record, reader: Reader) -> None:
        """Take the answer at this place among all records."""
        if self._root not in ("", record.set):
            return
        rules = _read(reader, score_kind(self._scoring.rules), record, Score)
        if record.reply.error or rules is None:
            return
        both = _read(reader, score_kind(self._scoring.scorer), record, Score)
        combined = nan if both is None or both.value is None else both.value
        waits = _waits(rules), both is not None and _waits(both)
        self.records.append(place)
        self._numbers.extend((rules.value or 0.0, rules.weight, combined, *waits))
        scored = reader.get(self._by_verdict, record.key) is not None
        self.else_rules += bool(self._instead) and not scored
        failed = [judge.add(record, reader, scored=scored) for judge in self.judges]
        if both is None and any(failed):
            self.no_verdict += 1
            if len(self.failures) < SHOWN_FAILURES:
                reason = next(asks[-1].error for asks in reversed(failed) if asks)
                self.failures.append(FailedReply.of(self._name, record, reason))

    def rows(self, block: Block, key: Key, kept: _Mask) -> Iterator[Numbered]:
        """The rows of a condition, some of whose answers are kept."""
        if not kept.any():
            return
        records = np.array(self.records)[kept]
        rules, weights, combined, *waits = np.array(self._numbers).reshape(-1, 5)[kept].T
        block = block._replace(front=key.place | {"scorer": self._scoring.scorer})
        answers = _Answers(block, block.cell(records), block.columns.parents[records], weights)
        yield answers.row("rules", rules, waits=waits[0] > 0)
        for judge in self.judges:
            yield from judge.rows(answers, kept, rules, all_asked=self._scoring.judge_mode == "all")
        who = "combined" if self._active else "combined (not in force)"
        yield answers.combined(who, combined, waits[1] > 0)


class _Answers(NamedTuple):
    """The answers of a condition; `parents` and `weights` go with them."""

    block: Block
    cell: Cell
    parents: Ints
    weights: Floats

    def row(
        self, who: str, values: Floats, *, waits: NDArray[np.bool_] | None = None, failed: int = 0, left_out: int = 0
    ) -> Numbered:
        """The mean of the answers that have a value."""
        counts = {"answers": int((~np.isnan(values)).sum()), "failed": failed, "left_out": left_out}
        cell = self.cell.holding(self.parents, values, self.weights, waits)._replace(counts=counts)
        note = "" if counts["answers"] else NO_SCORE
        return self.block.mean_row(("scored by",), (who,), "score", cell, note=note), cell

    def combined(self, who: str, values: Floats, waits: NDArray[np.bool_]) -> Numbered:
        """The mean of rules and judges; where answers have no verdict, between which ends it lies. Over the others
        alone it would be too high, as all that the rules call right are among them."""
        row, cell = self.row(who, values, waits=waits)
        if not (missing := np.isnan(values)).any():
            return row, cell
        sides = (self.cell.holding(self.parents, np.where(missing, end, values), self.weights) for end in (0.0, 1.0))
        low, high = (round(float(np.average(side.values, weights=side.weights)), 6) for side in sides)
        return replace(row, value=None, ci95=(low, high), judged=None, method="", note=BETWEEN), None


def _waits(score: Score) -> bool:
    """Whether what was read waits for a judge."""
    return score.needs_judge and score.status == "ok"


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
