"""The state of a run and what it cost, and the measures of records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from math import nan
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct, field

from mmdyn.errors import UserError, counted, did_you_mean
from mmdyn.plugins import load, names
from mmdyn.record import Judgement, Record, Reply, Score, Usage
from mmdyn.tables.factors import sample_of
from mmdyn.task_types import kind_of
from mmdyn.work import (
    ANSWERED_NOW,
    CacheUse,
    Reader,
    ReplyTally,
    RunFolder,
    Scoring,
    judged_kind,
    score_kind,
    scored_records,
    spelt,
)

BY_JUDGE = "judge:"
"""The beginning of the `rule` of a score that a judge decided."""

DECIDES = {"unsure": "on what rules do not settle", "wrong": "on what rules do not call right", "all": "on everything"}
"""The answers that judges decide on, by mode."""

SHOWN_FAILURES, SHOWN_CHARS = 20, 300


class Spending(Struct):
    """Counts of the replies of one model. Tokens are as servers counted them, and include cached replies.

    Args:
        cost: By currency, at the prices of when it was asked; cached replies cost nothing.
        unknown: Replies of unknown cost, without a price or a count of tokens.
        cached: For judges, replies out of the cache; they are not in `replies`.
    """

    model: str
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cost: dict[str, float] = field(default_factory=dict)
    unknown: int = 0
    cached: int = 0

    def add(self, usage: Usage, cost: float | None, currency: str) -> None:
        """Count one reply."""
        self.replies += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        self.reasoning_tokens += usage.reasoning_tokens
        self.cached_tokens += usage.cached_tokens
        if cost is None:
            self.unknown += 1
        else:
            self.cost[currency] = self.cost.get(currency, 0.0) + cost

    @property
    def rounded(self) -> Spending:
        """A copy with costs rounded to six digits."""
        cost = {currency: round(amount, 6) for currency, amount in sorted(self.cost.items())}
        return msgspec.structs.replace(self, cost=cost)

    @property
    def tokens(self) -> str:
        """The tokens in words.

        >>> Spending("openai:x", prompt_tokens=1234, completion_tokens=56, reasoning_tokens=40).tokens
        '1,234 tokens in, 56 out (40 of reasoning)'
        """
        cached = f" ({self.cached_tokens:,} out of the server's cache)" if self.cached_tokens else ""
        reasoning = f" ({self.reasoning_tokens:,} of reasoning)" if self.reasoning_tokens else ""
        return f"{self.prompt_tokens:,} tokens in{cached}, {self.completion_tokens:,} out{reasoning}"

    @property
    def money(self) -> str:
        """The cost in words; `unknown` where it is not known.

        >>> Spending("openai:x", cost={"USD": 1.2}, unknown=3).money
        '1.2 USD and 3 replies of unknown cost'
        """
        if not self.cost:
            return "unknown" if self.unknown else "0"
        known = " + ".join(f"{amount:.4g} {currency}" for currency, amount in sorted(self.cost.items()))
        return f"{known} and {counted(self.unknown, 'reply')} of unknown cost" if self.unknown else known


class FailedReply(Struct, frozen=True):
    """A sample that got no answer, or whose answer could not be scored, and the reason."""

    run: str
    model: str
    set: str
    sample: str
    mode: str
    reason: str

    @classmethod
    def of(cls, run: str, record: Record, reason: str) -> FailedReply:
        """The failure of a record of the run of this name."""
        return cls(run, record.model, record.set, record.sample, record.condition.mode, reason[:SHOWN_CHARS])

    def __str__(self) -> str:
        return f"{self.sample} of {self.set}, {self.model}, {self.mode}: {self.reason}"


class Waiting(Struct, frozen=True):
    """Scores of judges that are not in force yet.

    Args:
        scorer: The name of these scores.
        judges: The judges' names.
        due, missing: The answers that a judge decides on, and those of them without a verdict.
        active: The name of the scores in force until then.
    """

    scorer: str
    judges: tuple[str, ...]
    due: int
    missing: int
    active: str

    @staticmethod
    def together(waiting: Iterable[Waiting | None]) -> Waiting | None:
        """Combine the waiting scores of several sets; None where there are none."""
        every = [one for one in waiting if one]
        if len(every) < 2:
            return every[0] if every else None
        scorer, active = (
            " and ".join(dict.fromkeys(getattr(one, name) for one in every)) for name in ("scorer", "active")
        )
        judges = tuple(dict.fromkeys(judge for one in every for judge in one.judges))
        return Waiting(scorer, judges, sum(w.due for w in every), sum(w.missing for w in every), active)

    def __str__(self) -> str:
        who = f"judge{'s' if len(self.judges) > 1 else ''} {' and '.join(self.judges)}"
        stay = f"the scores in force stay those of {self.active}"
        if not self.missing:
            return f"{who} gave a verdict on all {self.due} answers due so far: {stay} until all is asked"
        return (
            f"{who} gave no verdict on {self.missing} of the {self.due} answers due: {stay}; the same command goes on"
        )


class RunState(Struct, frozen=True):
    """The state of a run: `asked` of `planned` records, and counts of them.

    Args:
        scorer, judges, judge_mode, sets: The scores in force; their judges, and what those decide on; by set, where
            sets differ.
        skipped: By mode, samples that could not be asked in it.
        unscored, needs_judge: Answers without a score; answers that rules alone do not settle.
        waits: Of the latter those that were read, and so the only ones for whose verdicts intervals and p hold.
        rejected: Of the failed records, those that no retry can mend.
        corrected: Answers scored by a corrected golden answer.
        spending, judge_spending: What each model, and each judge, cost.
        no_verdict, judge_failures: Answers without a verdict though a judge was asked, and the first of them.
        else_rules: Answers scored by rules instead, because no verdict could be had; not among `no_verdict`.
        waiting: The scores of judges that are not in force yet.
        servers, fingerprints: Doubts about servers; system fingerprints, where a model's replies have several.
    """

    name: str
    scorer: str
    complete: bool
    planned: int
    asked: int
    failed: int
    unscored: int
    needs_judge: int
    skipped: dict[str, int]
    spending: list[Spending]
    waiting: Waiting | None = None
    corrected: int = 0
    judges: tuple[str, ...] = ()
    judge_mode: str = ""
    sets: tuple[str, ...] = ()
    judge_spending: list[Spending] = []
    no_verdict: int = 0
    judge_failures: list[FailedReply] = []
    else_rules: int = 0
    rejected: int = 0
    cache: CacheUse = field(default_factory=CacheUse)
    servers: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    waits: int = 0

    @property
    def unjudged(self) -> bool:
        """Whether verdicts are missing: of scores under way, or of those in force."""
        return self.waiting is not None or (self.unscored > 0 and "+" in self.scorer)


def caveats(state: RunState) -> Iterator[str]:
    """Yield what a reader of a run must know: cached replies, doubts about servers, corrected answers, and samples not
    asked."""
    if state.cache.cached:
        yield f"{state.name}: {state.cache}"
    yield from (f"{state.name}: {said}" for said in state.servers)
    if state.corrected:
        said = "scored by another golden answer than their sample had when it was asked"
        yield f"{state.name}: {said}: {state.corrected}"
    for mode, count in state.skipped.items():
        yield f"{state.name}: {counted(count, 'sample')} could not be asked in mode {mode}"


def state_lines(state: RunState) -> Iterator[str]:
    """Yield sentences on a run: what is unfinished, what it cost, and how it was scored."""
    if state.asked < state.planned:
        yield f"{state.name} is not finished: {state.asked} of {state.planned} asked so far."
    if state.waiting:
        yield f"{state.name}: {state.waiting}."
    if state.unscored:
        again = "`mmdyn score`, with the same --judge," if "+" in state.scorer else "`mmdyn score`"
        yield f"{state.name}: {counted(state.unscored, 'answer', 'is/are')} not scored yet; {again} scores all."
    if state.needs_judge and not state.waiting and "+" not in state.scorer:
        ask = "`mmdyn score RUN --judge MODEL` asks one"
        unread = f" ({state.needs_judge - state.waits} of them were not read)" * (state.needs_judge > state.waits)
        yield f"{state.name}: {counted(state.needs_judge, 'answer', 'needs/need')} a judge and had none{unread}; {ask}."
    if state.failed:
        refused = f", {state.rejected} of them refused by the server" if state.rejected else ""
        yield f"{state.name}: {state.failed} never answered (failed){refused}, left out of every score and contrast."
    yield from (f"{line}." for line in caveats(state))
    yield from (f"{state.name}: {said}." for said in state.fingerprints)
    for spent in state.spending:
        if spent.prompt_tokens or spent.completion_tokens or spent.cost:
            yield f"{state.name}: {spent.model}: {spent.tokens}, cost {spent.money}."
    if state.asked and state.sets:
        yield f"{state.name}: each set by its own scorer: {'; '.join(state.sets)}."
    elif state.asked:
        who = f"and by the judge {' and then '.join(state.judges)} ({DECIDES.get(state.judge_mode)})"
        judged = who if state.judges else "without a judge"
        yield f"{state.name}: scored by the policy {state.scorer.partition('+')[0]}, {judged}."


class StateTally:
    """The records of a run, counted as they come."""

    def __init__(self) -> None:
        self._counts, self._spending = Counter[str](), dict[str, Spending]()
        self._cache, self._replies = CacheUse(), defaultdict[str, ReplyTally](ReplyTally)

    def add(self, record: Record) -> None:
        """Count a record and what its reply took."""
        score = record.score
        self._counts["asked"] += 1
        self._counts["corrected"] += ANSWERED_NOW in record.key
        if has_failed(record):
            self._counts["failed"] += 1
            self._counts["rejected"] += record.reply.final
        else:
            self._counts["unscored"] += score is None
            self._counts["needs_judge"] += score is not None and score.needs_judge
            self._counts["waits"] += record.waits
        self.spend(record.model, record.reply)

    def spend(self, model: str, reply: Reply) -> None:
        """Count what a reply took."""
        if not reply.error:
            spending = self._spending.get(model) or self._spending.setdefault(model, Spending(model))
            spending.add(reply.usage, reply.cost, reply.currency)
            self._cache.add(reply)
            self._replies[model].add(reply)

    def state(self, name: str, run: RunFolder) -> RunState:
        """How far the run is, now that all its records are counted."""
        planned, counts, by_root = run.config.planned, self._counts, run.config.by_root
        under_way = {root: one.under_way for root, one in by_root.items() if one.under_way}
        return RunState(
            name=name or run.name,
            scorer=", ".join(run.config.scorers),
            complete=counts["asked"] >= planned and not counts["unscored"] and not under_way,
            planned=planned,
            skipped=dict(sorted(run.config.skipped.items())),
            spending=[self._spending[model].rounded for model in sorted(self._spending)],
            waiting=Waiting.together(find_waiting(run, asked, root) for root, asked in under_way.items()),
            judges=tuple(dict.fromkeys(entry.name for one in by_root.values() for entry in one.judges)),
            judge_mode=next((one.judge_mode for one in by_root.values() if one.judge_mode), ""),
            sets=tuple(f"{root} by {one.active_scores}" for root, one in by_root.items() if root),
            asked=counts["asked"],
            failed=counts["failed"],
            rejected=counts["rejected"],
            unscored=counts["unscored"],
            needs_judge=counts["needs_judge"],
            waits=counts["waits"],
            corrected=counts["corrected"],
            cache=self._cache,
            servers=tuple(self._said_of_servers(run)),
            fingerprints=tuple(
                f"{model}: system fingerprints {told}"
                for model, tally in sorted(self._replies.items())
                if (told := _several(tally.fingerprints))
            ),
        )

    def _said_of_servers(self, run: RunFolder) -> Iterator[str]:
        for name, entries in run.config.served.items():
            if len(entries) > 1:
                yield f"{name}: its server had several models under the name: {'; then '.join(map(spelt, entries))}"
        for model, tally in sorted(self._replies.items()):
            if told := _several(tally.models):
                yield f"{model}: replies are of several models: {told}"
            yield from (f"{model}: {doubt}" for doubt in tally.doubts())


def _several(counts: Counter[str]) -> str:
    """What replies are of, where that is not one thing: such as `a (80), b (20)`."""
    return ", ".join(f"{name} ({count})" for name, count in counts.most_common()) if len(counts) > 1 else ""


class _Rule(Struct):
    rule: str = ""


def find_waiting(run: RunFolder, scoring: Scoring, root: str = "") -> Waiting:
    """Count the missing verdicts of scores, over a run, or over one standard set (`root`) with its variants."""
    kind, due, missing = score_kind(scoring.scorer), 0, 0
    with Reader(run.records_folder) as reader:
        for key, _ in scored_records(reader, run.config.sets, root):
            value = reader.get(kind, key)
            missing += value is None
            due += value is None or msgspec.json.decode(value, type=_Rule).rule.startswith(BY_JUDGE)
    return Waiting(
        scoring.scorer, tuple(entry.name for entry in scoring.judges), due, missing, run.config.evaluator(root).scorer
    )


def has_failed(record: Record) -> bool:
    """Tell whether a record has no answer, or its answer could not be scored."""
    return bool(record.reply.error) or (record.score is not None and record.score.status == "failed")


def is_cut_off(reply: Reply) -> bool:
    """Tell whether a reply reached the limit of its length.

    >>> is_cut_off(Reply(text="The answer is", finish_reason="length"))
    True
    """
    return reply.finish_reason == "length"


Unit: TypeAlias = Literal["share", "tokens", "characters", "seconds", "cost", "count"]
Worth: TypeAlias = tuple[float, float]
"""The value of a record (NaN: it has none) and its weight."""

NONE: Worth = (nan, 0.0)


class Measure(NamedTuple):
    """What is measured of each record.

    Args:
        of: Gives the value and weight of a record, from the record, its run and the run's store.
        better: Whether more is better; None where neither is.
        answers: Whether failed records are left out.
        judged: Whether a judge may change it.
    """

    of: Callable[[Record, RunFolder, Reader], Worth]
    unit: Unit = "share"
    better: bool | None = None
    answers: bool = True
    judged: bool = False


@cache
def measure(name: str) -> Measure:
    """The measure of a name, which may be that of a metric.

    Raises:
        UserError: There is no such measure.
    """
    if name in MEASURES:
        return MEASURES[name]
    metrics = [scorer for scorer in names("scorers") if hasattr(load("scorers", scorer), "compare")]
    if name in metrics:
        return Measure(_by_metric(name), better=True)
    known = [*MEASURES, *metrics]
    raise UserError(f"there is no measure {name!r}{did_you_mean(name, known)}: give one of {', '.join(known)}")


def _by_metric(metric: str) -> Callable[[Record, RunFolder, Reader], Worth]:
    def of(record: Record, run: RunFolder, reader: Reader) -> Worth:
        scorer = run.config.scores_by(metric, record.set)
        stored = reader.get(score_kind(scorer), record.key) if scorer else None
        score = msgspec.json.decode(stored, type=Score) if stored else None
        return NONE if score is None or score.value is None else (score.value, score.weight)

    return of


def _scored(worth: Callable[[Score], float]) -> Callable[[Record, RunFolder, Reader], Worth]:
    def of(record: Record, run: RunFolder, reader: Reader) -> Worth:
        score = record.score
        return NONE if score is None or score.value is None else (worth(score), score.weight)

    return of


def _replied(worth: Callable[[Reply], float | None]) -> Callable[[Record, RunFolder, Reader], Worth]:
    def of(record: Record, run: RunFolder, reader: Reader) -> Worth:
        value = worth(record.reply)
        return NONE if value is None else (float(value), 1.0)

    return of


def _counted(worth: Callable[[Reply], int]) -> Callable[[Record, RunFolder, Reader], Worth]:
    """A number of tokens, where the server counted any."""
    return _replied(lambda reply: worth(reply) if reply.usage.prompt_tokens + reply.usage.completion_tokens else None)


def _corrected(score: Score) -> float:
    """As `correct_for_chance` has it, of one score."""
    if score.value is None or score.chance >= 1:
        return nan
    return (score.value - score.chance) / (1 - score.chance) if score.status == "ok" else 0.0


def _true_statements(record: Record, run: RunFolder, reader: Reader) -> Worth:
    """The share of true statements in a question that was composed of statements."""
    labels = sample_of(record, run, reader).meta.get("true")
    return (labels.count(True) / len(labels), 1.0) if isinstance(labels, list) and labels else NONE


def _checklist(record: Record, run: RunFolder, reader: Reader) -> Worth:
    """The items that are met, by the last judge that looked at a checklist; a record weighs as many as it has.

    An answer that scores 0 and that no judge was to see, such as an empty one, meets no item of its sample's.
    """
    judged, score = False, record.score
    for entry in reversed(run.config.evaluator(record.set).judges):
        stored = reader.get(judged_kind(entry.id), record.key)
        items = msgspec.json.decode(stored, type=Judgement).items if stored else ()
        if items:
            return sum(items) / len(items), float(len(items))
        judged |= "checklist" in entry.rubrics
    if not judged or score is None or score.value != 0:
        return NONE
    count = len(sample_of(record, run, reader).checklist)
    return (0.0, float(count)) if count else NONE


def _followed(least: float, *, by_prompt: bool) -> Callable[[Record, RunFolder, Reader], Worth]:
    """The instructions of which a part of the score is `least` or more: whether all are, or the share that is, and then
    a record weighs as many as it has. None is followed by a reply in which nothing was read."""

    def of(record: Record, run: RunFolder, reader: Reader) -> Worth:
        score = record.score
        if kind_of(record.task_type).form != "rules" or score is None or score.value is None:
            return NONE
        parts = score.parts or (0.0,) * len(sample_of(record, run, reader).instructions)
        kept = [part >= least for part in parts]
        return (float(all(kept)), 1.0) if by_prompt else (sum(kept) / len(kept), float(len(kept)))

    return of


FOLLOWED = {
    "prompt_strict": Measure(_followed(1.0, by_prompt=True), better=True),
    "prompt_loose": Measure(_followed(0.5, by_prompt=True), better=True),
    "instruction_strict": Measure(_followed(1.0, by_prompt=False), better=True),
    "instruction_loose": Measure(_followed(0.5, by_prompt=False), better=True),
}
"""The accuracies of IFEval (Zhou et al. 2023, "IFEval Metrics"): by prompt whether all instructions are followed, and
by instruction."""

MEASURES = {
    "score": Measure(_scored(lambda score: score.value or 0.0), better=True, judged=True),
    "pass_rate": Measure(_scored(lambda score: float(score.value == 1)), better=True, judged=True),
    "corrected": Measure(_scored(_corrected), better=True, judged=True),
    "checklist": Measure(_checklist, better=True),
    "true_statements": Measure(_true_statements),
    **FOLLOWED,
    "questions": Measure(lambda record, run, reader: (1.0, 1.0), "count", answers=False),
    "unparsed": Measure(_scored(lambda score: float(score.status == "unparsed"))),
    "refused": Measure(_scored(lambda score: float(score.status == "refused"))),
    "unread": Measure(_scored(lambda score: float(score.status != "ok"))),
    "failed": Measure(lambda record, run, reader: (float(has_failed(record)), 1.0), answers=False),
    "truncated": Measure(_replied(is_cut_off)),
    "response_tokens": Measure(_counted(lambda reply: reply.usage.completion_tokens), "tokens"),
    "response_characters": Measure(_replied(lambda reply: len(reply.reasoning + reply.text)), "characters"),
    "reasoning_tokens": Measure(_counted(lambda reply: reply.usage.reasoning_tokens), "tokens"),
    "prompt_tokens": Measure(_counted(lambda reply: reply.usage.prompt_tokens), "tokens"),
    "seconds": Measure(_replied(lambda reply: reply.seconds), "seconds"),
    "cost": Measure(_replied(lambda reply: reply.cost), "cost"),
}
"""By name. Response tokens include reasoning; a cached reply counts with the numbers that it had when it was made."""
