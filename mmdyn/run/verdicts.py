"""What judges say of recorded replies beside scores: which of two is better, and what kind of error made one wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import Any, Generic, NamedTuple, Self, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import SampleSet, is_set, new_file
from mmdyn.errors import InputError, Stopped, UserError, did_you_mean
from mmdyn.keys import Json, canonical, digest
from mmdyn.models import Asker, Budget, Caches, open_asker, open_budget, open_model, say_cost
from mmdyn.record import Condition, Usage
from mmdyn.run.flow import carry_out
from mmdyn.run.recorded import Recorded, check_asked
from mmdyn.sample import Sample, from_json
from mmdyn.scoring import ErrorJudge, PairJudge, QuestionJudge, total
from mmdyn.stats import reaches
from mmdyn.table import ErrorKinds
from mmdyn.tables import (
    Breakdown,
    Compared,
    Design,
    ErrorLabel,
    Report,
    TablePart,
    Wrong,
    board,
    draw,
    keep_design,
    label_kind,
    pair_rates,
    survey,
    tabulate,
    win_rates,
)
from mmdyn.work import COMPARISON, RUN, ProgressBar, RunFolder, Store, run_to_the_end

WAITING = 2
"""How many times as many things are under way as requests may be in flight."""

J = TypeVar("J")
T = TypeVar("T")
V = TypeVar("V", bound=Struct)


def with_asker(
    model: str,
    votes: int,
    concurrency: int,
    budget: Budget,
    caches: Caches,
    work: Callable[[Asker], Coroutine[Any, Any, T]],
) -> T:
    """What `work` gives, done with a judge's MODEL, which is closed then. For several votes it is to vary, as in
    open_judge.

    Replies are looked up in its cache and kept there. Raises UserError for an unknown backend or option.
    """

    async def going() -> T:
        opened = open_model(model, varied=votes > 1)
        budget.check([opened])
        async with open_asker(opened, concurrency, budget, caches) as asker:
            return await work(asker)

    return run_to_the_end(going())


class NoVerdict(Struct, frozen=True):
    """What a judge gave no verdict on, and why. model: whose answer it is, where one answer was judged."""

    set: str
    sample: str
    mode: str
    reason: str
    model: str = ""

    def __str__(self) -> str:
        model = f", {self.model}" if self.model else ""
        return f"{self.sample} of {self.set}{model}, {self.mode}: {self.reason}"


class VerdictPile(Generic[V]):
    """A judge's verdicts of one kind in a store, each given once."""

    def __init__(self, store: Store, kind: str, verdict: type[V]) -> None:
        self._store, self._kind, self._verdict = store, kind, verdict

    def known(self, key: str) -> V | None:
        """The verdict that is kept under a key."""
        value = self._store.get(self._kind, key)
        return None if value is None else msgspec.json.decode(value, type=self._verdict)

    async def fill(
        self,
        asker: Asker,
        jobs: Mapping[str, J],
        judge: Callable[[J], Awaitable[V | NoVerdict]],
        doing: str,
        *,
        quiet: bool,
    ) -> list[NoVerdict]:
        """Have `judge` ask the asker about each job under whose key no verdict is kept, and keep what it says.

        Args:
            jobs: by the keys of their verdicts.
            doing: what the progress line says.

        Returns:
            What had no verdict, in order. It is not kept, so that the next call asks again.

        Raises:
            ModelError: the model cannot be asked at all.
            Stopped: the budget allows no further request. Both when those in flight have ended. Cancelled, it asks no
                further, keeps what arrives within DRAIN_SECONDS and then ends.
        """
        left = [key for key in jobs if self._store.get(self._kind, key) is None]
        failures = list[NoVerdict]()
        with ProgressBar(doing, len(jobs), quiet=quiet) as progress:
            if there := len(jobs) - len(left):
                asker.answers = True
                progress.advance(there, there=True)

            async def one(key: str) -> None:
                found = await judge(jobs[key])
                if isinstance(found, NoVerdict):
                    failures.append(found)
                else:
                    self._store.put(self._kind, key, canonical(found))
                progress.advance()

            workers, note = WAITING * asker.concurrency, lambda: _note(asker, progress)
            try:
                await carry_out(left, one, workers=workers, stop=asker.stop, note=note)
            except Stopped as stopped:
                raise _explained(stopped, asker, progress) from None
        return sorted(failures, key=lambda one: (one.model, one.set, one.sample, one.mode))


def _note(asker: Asker, progress: ProgressBar) -> None:
    cost = say_cost(asker.budget.spent, asker.budget.unknown)
    progress.note(in_flight=asker.in_flight, asked_again=asker.retried, from_the_cache=asker.cached, cost=cost)


def _explained(stopped: Stopped, asker: Asker, progress: ProgressBar) -> Stopped:
    """The same with what was done and what is left."""
    done, total = progress.done, progress.total or 0
    left = f"{done} of {total} done, {total - done} left, and the same command goes on from here"
    return Stopped(f"{stopped}: {asker.budget} by this call; {left}")


class Side(Struct, frozen=True, forbid_unknown_fields=True):
    """One of the two: a model of a run, by the run's name; or a set, by its name, where `model` is empty."""

    run: str
    model: str

    def __str__(self) -> str:
        return f"{self.model} ({self.run})" if self.model else self.run


class LeftOut(Struct, frozen=True):
    """Answers that have no counterpart, by their number: asked in one alone, asked another version of the sample, or
    never answered in one of both. `limit`: pairs that were not compared because of the limit. On a board sums over
    every two models that were to be compared.
    """

    only_a: int
    only_b: int
    changed: int
    failed: int
    limit: int


class _Entry(NamedTuple):
    """An answer: its record's key (empty where it never came), its sample's digest, and the values of the breakdown."""

    key: str
    digest: str
    values: tuple[str, ...]


class ReplyPair(NamedTuple):
    """Two replies to compare: their records' keys, the values of the breakdown, and the places of the two sides. Or two
    questions: their digests."""

    a: str
    b: str
    values: tuple[str, ...]
    sides: tuple[int, int] = (0, 1)

    @property
    def key(self) -> str:
        """What it is kept under."""
        return digest([self.a, self.b])


def find_sides(runs: Sequence[RunFolder], models: Sequence[str]) -> list[tuple[RunFolder, Side]]:
    """Who is compared: all models of the runs, or those named, of two runs and two names the first run's first. Raises
    UserError where that is not clear."""
    held = [(run, entry.label) for run in runs for entry in run.config.models]
    if models:
        within = [[run] for run in runs] if len(models) == len(runs) == 2 else [runs] * len(models)
        held = [(run, model) for model, some in zip(models, within, strict=True) for run in _holding(some, model)]
    if len(held) < 2:
        holds = " and ".join(f"{run.name} holds {label}" for run, label in held)
        raise UserError(f"--models names {models[0]}: give two or more" if models else f"{holds}: name RUN_B, too")
    folders = Counter(run.name for run in {run.folder.resolve(): run for run in runs}.values())
    sides = [(run, Side(str(run.folder) if folders[run.name] > 1 else run.name, label)) for run, label in held]
    for place, (run, side) in enumerate(sides):
        for other, twice in sides[:place]:
            if twice.model == side.model and run.folder.resolve() == other.folder.resolve():
                raise UserError(f"{side} is compared with itself: name two runs, or two models of one")
            if twice.model == side.model and len(sides) > 2:
                raise UserError(
                    f"{side.model} is in {twice.run} and in {side.run}, and a board has a model once: leave one of them"
                    " out, or make one run of both with `mmdyn runs merge`"
                )
    return sides


def _holding(runs: Sequence[RunFolder], model: str) -> list[RunFolder]:
    """Those runs that have a model. Raises UserError for none."""
    held = {run.folder: [entry.label for entry in run.config.models] for run in runs}
    if found := [run for run in runs if model in held[run.folder]]:
        return found
    labels = [*dict.fromkeys(label for labels in held.values() for label in labels)]
    folders = " and ".join(map(str, held))
    has, holds = ("has", "it holds") if len(held) == 1 else ("have", "they hold")
    raise UserError(f"{folders} {has} no model {model!r}{did_you_mean(model, labels)}: {holds} {', '.join(labels)}")


def find_pairs(
    sides: Sequence[tuple[RunFolder, Side]], by: Sequence[str], limit: int | None, reference: int | None = None
) -> tuple[list[ReplyPair], LeftOut]:
    """The pairs in an order that hangs on their names alone, and what has no counterpart.

    Args:
        limit: takes so many samples, those first that most pairs of sides have.
        reference: the place of a side with which each pair is.

    Raises:
        UserError: no pair leads from the first side to another, even by way of third ones.
    """
    breakdown, runs = Breakdown(by), {run.folder: run for run, _ in sides}
    entries = {folder: _entries(run, breakdown) for folder, run in runs.items()}
    breakdown.check()
    each = [entries[run.folder].get(side.model, {}) for run, side in sides]
    counts, pairs, met = Counter[str](), dict[str, list[ReplyPair]](), np.zeros((len(sides), len(sides)))
    for places in combinations(range(len(sides)), 2):
        if reference not in (None, *places):
            continue
        a, b = (each[place] for place in places)
        counts.update(only_a=len(a.keys() - b.keys()), only_b=len(b.keys() - a.keys()))
        for name in a.keys() & b.keys():
            if not (a[name].key and b[name].key):
                counts["failed"] += 1
            elif a[name].digest != b[name].digest:
                counts["changed"] += 1
            else:
                pairs.setdefault(name, []).append(ReplyPair(a[name].key, b[name].key, a[name].values, places))
                met[places] = met[places[::-1]] = 1
    if alone := np.flatnonzero(~reaches(met)[0]).tolist():
        raise UserError(
            f"{sides[0][1]} and {' and '.join(str(sides[place][1]) for place in alone)} have no pair of replies to one"
            " sample under one condition: compare runs of the same sets"
        )
    names = sorted(pairs, key=lambda name: (-len(pairs[name]), name))
    kept = [pair for name in names[:limit] for pair in pairs[name]]
    left_out = LeftOut(
        only_a=counts["only_a"],
        only_b=counts["only_b"],
        changed=counts["changed"],
        failed=counts["failed"],
        limit=sum(map(len, pairs.values())) - len(kept),
    )
    return kept, left_out


def pair_questions(sets: tuple[SampleSet, SampleSet], limit: int | None) -> tuple[list[tuple[Sample, Sample]], LeftOut]:
    """Questions of two sets, paired at random by their ids, each in one pair; variants are left out.

    Raises UserError where a set has none.
    """
    a, b = ([sample for sample in each if sample.variant is None] for each in sets)
    if not (a and b):
        raise UserError(f"{sets[bool(a)].folder} holds no question of its own: give two sets as they were converted")
    orders = (sorted(each, key=lambda sample: digest([side, sample.id])) for side, each in (("a", a), ("b", b)))
    pairs = [*zip(*orders, strict=False)]
    kept = pairs[:limit]
    return kept, LeftOut(len(a) - len(pairs), len(b) - len(pairs), changed=0, failed=0, limit=len(pairs) - len(kept))


def _entries(run: RunFolder, breakdown: Breakdown) -> dict[str, dict[str, _Entry]]:
    """Each model's answers by a digest of what was asked, whichever version of the sample it was."""
    found = dict[str, dict[str, _Entry]]()
    for record in run.records():
        name = digest([record.set, record.sample, record.condition, record.epoch])
        key = "" if record.reply.error else record.key
        found.setdefault(record.model, {})[name] = _Entry(key, record.digest, breakdown.of(record))
    return found


PAIRS = "pairs.jsonl"
PAIR = "pair"
"""The store's kind for a compared pair."""

SHOWN_FAILURES = 20


class CompareSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """compare.json: what is compared, and by whom. `identity` is all of the judge that decides its verdicts; `more` are
    the sides of a board after the first two."""

    a: Side
    b: Side
    judge: str
    id: str
    identity: Json
    schema: int
    more: tuple[Side, ...] = ()

    @property
    def sides(self) -> tuple[Side, ...]:
        """All sides."""
        return self.a, self.b, *self.more


class Comparison(Struct, frozen=True, omit_defaults=True):
    """What came of it. table: the figures of all pairs that have a verdict, and by field and value; on a board those of
    every two models. board: of several models, or against a `reference`, which it names; `more` are the sides after the
    first two.

    failed: pairs without a verdict, of which `failures` are the first. requests, usage and cost: what all verdicts
        took, in this call and before; cost None where that is not known.
    """

    a: Side
    b: Side
    judge: str
    id: str
    table: TablePart
    left_out: LeftOut
    failed: int
    failures: list[NoVerdict]
    requests: int
    usage: Usage
    cost: float | None
    currency: str
    more: tuple[Side, ...] = ()
    reference: str = ""
    board: TablePart | None = None


def compare(
    runs: Sequence[str | Path],
    out: str | Path,
    judge: str,
    *,
    models: Sequence[str] = (),
    reference: str = "",
    by: Sequence[str] = (),
    votes: int = 1,
    limit: int | None = None,
    gold: bool = True,
    pictures: bool = False,
    concurrency: int = 32,
    cache: str | None = None,
    prices: str | Path | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    quiet: bool = False,
) -> Comparison:
    """Have a judge compare the replies of the models of some runs, or of the `models` named, in pairs, and keep it in
    `out`. Several models, or a `reference`, make a board.

    Pairs are replies to the same version of a sample under the same condition, in the same epoch: of every two models,
    or of each model and the `reference`. `limit` takes so many samples, chosen by their names, so that a larger one
    keeps those of before. Two set folders in place of runs: which of two questions, one of each set and paired at
    random, takes more reasoning; `gold` says nothing there. Called again, it goes on where it stopped; a board takes
    models more, named after those of before. Raises UserError for what does not fit, ModelError for a judge that cannot
    be asked, Stopped at a limit, Busy where `out` is in use.
    """
    folder, budget = Path(out), open_budget(prices, max_cost, max_requests)
    if (folder / RUN).exists() or is_set(folder):
        raise UserError(f"{out} is a run or a set: choose another folder for the comparison")
    kind = _Questions if all(is_set(Path(run)) for run in runs) else _Replies
    matter = kind(runs, models, by, limit, reference)

    async def work(asker: Asker) -> Comparison:
        who = matter.open_judge(asker, votes, gold=gold, pictures=pictures)
        a, b, *more = matter.sides
        settings = CompareSettings(a, b, who.label, who.id, who.identity, 1, tuple(more))
        with Store(folder / "records") as store, matter:
            _begin(folder, settings)
            pile = VerdictPile(store, PAIR, Compared)
            pairs = {pair.key: pair for pair in matter.pairs}
            failures = await pile.fill(asker, pairs, matter.compare, "comparing", quiet=quiet)
            store.flush()
            done = [(found, pair) for key, pair in pairs.items() if (found := pile.known(key))]
            return _finished(folder, settings, done, matter.left_out, failures, by, reference)

    return with_asker(judge, votes, concurrency, budget, Caches(cache, folder), work)


class _Replies(ExitStack):
    """Replies of models, in pairs."""

    def __init__(
        self, runs: Sequence[str | Path], models: Sequence[str], by: Sequence[str], limit: int | None, reference: str
    ) -> None:
        super().__init__()
        self._held = find_sides([RunFolder(run) for run in runs], models)
        self.sides = [side for _, side in self._held]
        labels = [side.model for side in self.sides]
        if reference and labels.count(reference) != 1:
            hint, times = ("", "twice") if reference in labels else (did_you_mean(reference, labels), "not")
            raise UserError(f"the reference {reference!r} is {times} among the models{hint}: {', '.join(labels)}")
        place = labels.index(reference) if reference else None
        self.pairs, self.left_out = find_pairs(self._held, by, limit, place)

    def open_judge(self, asker: Asker, votes: int, *, gold: bool, pictures: bool) -> PairJudge:
        self._judge = PairJudge(asker, votes, pictures=pictures, gold=gold)
        return self._judge

    def __enter__(self) -> Self:
        opened = {run.folder: run for run, _ in self._held}
        recorded = {folder: self.enter_context(Recorded(run)) for folder, run in opened.items()}
        self._recorded = [recorded[run.folder] for run, _ in self._held]
        return self

    async def compare(self, pair: ReplyPair) -> Compared | NoVerdict:
        one, other = (self._recorded[place] for place in pair.sides)
        a, b = one.record(pair.a), other.record(pair.b)
        found = await self._judge.compare(one.sample(a), a.reply, b.reply, one.images(a))
        compared = Compared(
            set=a.set,
            sample=a.sample,
            parent=a.parent,
            group=a.group,
            condition=a.condition,
            epoch=a.epoch,
            a=a.key,
            b=b.key,
            preference=found,
        )
        return _verdict(compared, f"{a.model} and {b.model}" if len(self.sides) > 2 else "")


class _Questions(ExitStack):
    """Questions of two sets, in pairs; their keys are their digests."""

    def __init__(
        self, sets: Sequence[str | Path], models: Sequence[str], by: Sequence[str], limit: int | None, reference: str
    ) -> None:
        super().__init__()
        if models or by or reference or len(sets) != 2:
            raise UserError(
                "questions are compared of two sets, without --models, --reference and --by, which go with runs"
            )
        a, b = self._sets = SampleSet(sets[0]), SampleSet(sets[1])
        self.sides = Side(a.name, ""), Side(b.name, "")
        found, self.left_out = pair_questions((a, b), limit)
        self._samples = {(one.digest, other.digest): (one, other) for one, other in found}
        self.pairs = [ReplyPair(one, other, ()) for one, other in self._samples]

    def open_judge(self, asker: Asker, votes: int, *, gold: bool, pictures: bool) -> QuestionJudge:
        self._judge = QuestionJudge(asker, votes, pictures=pictures)
        return self._judge

    async def compare(self, pair: ReplyPair) -> Compared | NoVerdict:
        a, b = self._samples[pair.a, pair.b]
        images_a, images_b = (each.images for each in self._sets)
        found = await self._judge.compare_questions(a, b, images_a, images_b)
        compared = Compared(
            set=self.sides[0].run,
            sample=f"{a.id} and {b.id}",
            parent=a.id,
            group=a.group,
            condition=Condition(),
            epoch=0,
            a=pair.a,
            b=pair.b,
            preference=found,
        )
        return _verdict(compared)


def _verdict(found: Compared, models: str = "") -> Compared | NoVerdict:
    if found.preference.winner is not None:
        return found
    return NoVerdict(found.set, found.sample, found.condition.mode, found.preference.error, models)


def _finished(
    folder: Path,
    settings: CompareSettings,
    done: Sequence[tuple[Compared, ReplyPair]],
    left_out: LeftOut,
    failures: Sequence[NoVerdict],
    by: Sequence[str],
    reference: str,
) -> Comparison:
    """Write down the pairs that have a verdict, a line each, and what they come to."""
    compared = [each for each, _ in done]
    models = [side.model for side in settings.sides]
    if is_board := bool(settings.more or reference):
        compared = [replace(each, model_a=models[pair.sides[0]], model_b=models[pair.sides[1]]) for each, pair in done]
    with new_file(folder / PAIRS) as file:
        for each in compared:
            file.write(canonical(each) + b"\n")
    values = {name: [pair.values[place] for _, pair in done] for place, name in enumerate(dict.fromkeys(by))}
    took = total([each.preference for each in compared if each.preference.requests])
    return Comparison(
        a=settings.a,
        b=settings.b,
        judge=settings.judge,
        id=settings.id,
        table=pair_rates(compared) if is_board else win_rates(compared, values),
        left_out=left_out,
        failed=len(failures),
        failures=[*failures[:SHOWN_FAILURES]],
        requests=took.requests,
        usage=took.usage,
        cost=took.cost,
        currency=took.currency,
        more=settings.more,
        reference=reference,
        board=board(compared, reference, values) if is_board else None,
    )


def _begin(folder: Path, settings: CompareSettings) -> None:
    """Write compare.json. Raises UserError where it is there and speaks of another comparison, or of models that are
    not the first ones of this one."""
    file = folder / COMPARISON
    if file.is_file():
        try:
            before = from_json(file.read_bytes(), CompareSettings)
        except ValueError as error:
            raise InputError(file, None, str(error)) from None
        grown = settings.sides[: len(before.sides)] == before.sides
        if not grown or replace(before, more=settings.more) != settings:
            what = " by another judge, or one set up otherwise" if grown else ""
            others = " and ".join(map(str, before.sides[1:]))
            raise UserError(f"{folder} holds a comparison of {before.a} with {others}{what}: choose another -o")
        if before == settings:
            return
    with new_file(file) as out:
        out.write(msgspec.json.format(canonical(settings), indent=2) + b"\n")


PER = 20
"""Answers of a stratum that are labelled at most."""


class Labelled(Struct, frozen=True):
    """The kinds of error by this judge's labels; failed: drawn answers without a label, of which `failures` are the
    first. Answers without a score, which may be wrong too, were not drawn."""

    report: Report
    failed: int
    failures: list[NoVerdict]


def label_errors(
    run: RunFolder | str | Path,
    judge: str,
    *,
    per: int = PER,
    by: Sequence[str] = (),
    seed: int = 0,
    votes: int = 1,
    pictures: bool = True,
    concurrency: int = 32,
    cache: str | None = None,
    prices: str | Path | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    quiet: bool = False,
) -> Labelled:
    """Have a judge label `per` wrong answers of each stratum (model, set, condition, task type), drawn by `seed`.

    An answer that the judge has labelled is not shown to it again. Raises Busy while the run is going on, UserError for
    an unknown name in `by` and a run without answers, ModelError for a judge that cannot be asked, Stopped at a limit.
    """
    opened = run if isinstance(run, RunFolder) else RunFolder(run)
    if per < 1:
        raise UserError(f"per is {per}: give 1 or more")
    check_asked(opened)
    budget = open_budget(prices, max_cost, max_requests)
    drawn = draw(survey(opened, by), per, seed)

    async def work(asker: Asker) -> Labelled:
        who = ErrorJudge(asker, votes, pictures=pictures)
        with Store(opened.records_folder) as store, Recorded(opened) as recorded:
            keep_design(store, Design(who.label, who.id, who.identity, per, seed), time.time_ns())

            async def label(one: Wrong) -> ErrorLabel | NoVerdict:
                record = recorded.record(one.key)
                found = await who.judge(recorded.sample(record), record.reply, recorded.images(record))
                if found.error:
                    return NoVerdict(record.set, record.sample, record.condition.mode, found.error, record.model)
                return found

            pile = VerdictPile(store, label_kind(who.id), ErrorLabel)
            failures = await pile.fill(asker, {one.key: one for one in drawn}, label, "labelling", quiet=quiet)
        found = tabulate([opened], [ErrorKinds(by=tuple(by), judge=who.id)])
        return Labelled(found, len(failures), failures[:SHOWN_FAILURES])

    return with_asker(judge, votes, concurrency, budget, Caches(cache, opened.folder), work)
