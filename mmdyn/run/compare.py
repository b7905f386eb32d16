"""Two runs, or two models of one, compared pair by pair: which reply to one sample under one condition is better. Or
two sets: which question takes more reasoning."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from mmdyn.data import SampleSet, is_set, new_file
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json, canonical
from mmdyn.models import Asker, Caches, open_budget
from mmdyn.record import Condition, Usage
from mmdyn.run.pairing import LeftOut, ReplyPair, Side, find_pairs, find_sides, pair_questions
from mmdyn.run.recorded import Recorded
from mmdyn.run.verdicts import judge_all, with_asker
from mmdyn.sample import from_json
from mmdyn.scoring import PairJudge, QuestionJudge, total
from mmdyn.tables import Compared, TablePart, win_rates
from mmdyn.work import COMPARISON, RUN, ProgressBar, RunFolder, Store

PAIRS = "pairs.jsonl"
PAIR = "pair"
"""The store's kind for a compared pair."""

SHOWN_FAILURES = 20


class CompareSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """compare.json: what is compared, and by whom. `identity` is all of the judge that decides its verdicts."""

    a: Side
    b: Side
    judge: str
    id: str
    identity: Json
    schema: int = 1


class Unjudged(Struct, frozen=True):
    """A pair without a verdict, and why."""

    set: str
    sample: str
    mode: str
    reason: str

    def __str__(self) -> str:
        return f"{self.sample} of {self.set}, {self.mode}: {self.reason}"


class Comparison(Struct, frozen=True):
    """What came of it. table: the figures of all pairs that have a verdict, and by field and value.

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
    failures: list[Unjudged]
    requests: int
    usage: Usage
    cost: float | None
    currency: str


def compare(
    runs: Sequence[str | Path],
    out: str | Path,
    judge: str,
    *,
    models: Sequence[str] = (),
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
    """Have a judge compare the replies of one model each of two runs, or of two `models` of one run, and keep it in
    `out`.

    Pairs are replies to the same version of a sample under the same condition, in the same epoch. `limit` takes so many
    of them, chosen by their names, so that a larger one keeps those of before. Two set folders in place of runs: which
    of two questions, one of each set and paired at random, takes more reasoning; `gold` says nothing there. Called
    again, it goes on where it stopped. Raises UserError for what does not fit, ModelError for a judge that cannot be
    asked, Stopped at a limit, Busy where `out` is in use.
    """
    folder, budget = Path(out), open_budget(prices, max_cost, max_requests)
    if (folder / RUN).exists() or is_set(folder):
        raise UserError(f"{out} is a run or a set: choose another folder for the comparison")
    kind = _Questions if all(is_set(Path(run)) for run in runs) else _Replies
    matter = kind(runs, models, by, limit)

    async def work(asker: Asker) -> Comparison:
        who = matter.open_judge(asker, votes, gold=gold, pictures=pictures)
        settings = CompareSettings(*matter.sides, who.label, who.id, who.identity)
        with Store(folder / "records") as store, matter:
            _begin(folder, settings)
            client = _PairComparer(matter, store)
            await _judge(asker, client, matter.pairs, store, quiet)
            store.flush()
            return _finished(folder, settings, client, by)

    return with_asker(judge, votes, concurrency, budget, Caches(cache, folder), work)


class _Replies(ExitStack):
    """Replies of models, in pairs."""

    def __init__(self, runs: Sequence[str | Path], models: Sequence[str], by: Sequence[str], limit: int | None) -> None:
        super().__init__()
        opened = [RunFolder(run) for run in runs]
        self.sides, self._folders = find_sides(opened, models), (opened[0], opened[-1])
        self.pairs, self.left_out = find_pairs(self._folders, self.sides, by, limit)

    def open_judge(self, asker: Asker, votes: int, *, gold: bool, pictures: bool) -> PairJudge:
        self._judge = PairJudge(asker, votes, pictures=pictures, gold=gold)
        return self._judge

    def __enter__(self) -> Self:
        self._a, self._b = (self.enter_context(Recorded(run)) for run in self._folders)
        return self

    async def compare(self, pair: ReplyPair) -> Compared:
        a, b = self._a.record(pair.a), self._b.record(pair.b)
        found = await self._judge.compare(self._a.sample(a), a.reply, b.reply, self._a.images(a))
        shared = {name: getattr(a, name) for name in ("set", "sample", "parent", "group", "condition", "epoch")}
        return Compared(**shared, a=a.key, b=b.key, preference=found)


class _Questions(ExitStack):
    """Questions of two sets, in pairs; their keys are their digests."""

    def __init__(self, sets: Sequence[str | Path], models: Sequence[str], by: Sequence[str], limit: int | None) -> None:
        super().__init__()
        if models or by or len(sets) != 2:
            raise UserError("questions are compared of two sets, without --models and --by, which go with runs")
        a, b = self._sets = SampleSet(sets[0]), SampleSet(sets[1])
        self.sides = Side(a.name, ""), Side(b.name, "")
        found, self.left_out = pair_questions((a, b), limit)
        self._samples = {(one.digest, other.digest): (one, other) for one, other in found}
        self.pairs = [ReplyPair(*digests, ()) for digests in self._samples]

    def open_judge(self, asker: Asker, votes: int, *, gold: bool, pictures: bool) -> QuestionJudge:
        self._judge = QuestionJudge(asker, votes, pictures=pictures)
        return self._judge

    async def compare(self, pair: ReplyPair) -> Compared:
        a, b = self._samples[pair.a, pair.b]
        found = await self._judge.compare_questions(a, b, *(each.images for each in self._sets))
        place = self.sides[0].run, f"{a.id} and {b.id}", a.id, a.group
        return Compared(*place, condition=Condition(), epoch=0, a=pair.a, b=pair.b, preference=found)


class _PairComparer:
    """Compares one pair after the other, and keeps what came of it."""

    def __init__(self, matter: _Replies | _Questions, store: Store) -> None:
        self.matter, self._store = matter, store
        self.failures = list[Unjudged]()

    def known(self, pair: ReplyPair) -> Compared | None:
        """A pair that was compared before."""
        value = self._store.get(PAIR, pair.key)
        return None if value is None else msgspec.json.decode(value, type=Compared)

    async def compare(self, pair: ReplyPair) -> None:
        """Ask the judge; a pair without a verdict is noted and not kept, so that it is asked again."""
        found = await self.matter.compare(pair)
        if found.preference.winner is None:
            mode, error = found.condition.mode, found.preference.error
            self.failures.append(Unjudged(found.set, found.sample, mode, error))
        else:
            self._store.put(PAIR, pair.key, canonical(found))


async def _judge(asker: Asker, client: _PairComparer, pairs: Sequence[ReplyPair], store: Store, quiet: bool) -> None:
    left = [pair for pair in pairs if client.known(pair) is None]
    with ProgressBar("comparing", len(pairs), quiet=quiet) as progress:
        await judge_all(asker, left, client.compare, store, progress, len(pairs) - len(left))


def _finished(folder: Path, settings: CompareSettings, client: _PairComparer, by: Sequence[str]) -> Comparison:
    """Write down the pairs that have a verdict, a line each, and what they come to."""
    done = [(found, pair.values) for pair in client.matter.pairs if (found := client.known(pair))]
    compared = [each for each, _ in done]
    with new_file(folder / PAIRS) as file:
        for each in compared:
            file.write(canonical(each) + b"\n")
    values = {name: [had[place] for _, had in done] for place, name in enumerate(dict.fromkeys(by))}
    asked = [each.preference for each in compared if each.preference.requests]
    return Comparison(
        a=settings.a,
        b=settings.b,
        judge=settings.judge,
        id=settings.id,
        table=win_rates(compared, values),
        left_out=client.matter.left_out,
        failed=len(client.failures),
        failures=sorted(client.failures, key=lambda one: (one.set, one.sample, one.mode))[:SHOWN_FAILURES],
        **total(asked),
    )


def _begin(folder: Path, settings: CompareSettings) -> None:
    """Write compare.json. Raises UserError where it is there and speaks of another comparison."""
    file = folder / COMPARISON
    if file.is_file():
        try:
            before = from_json(file.read_bytes(), CompareSettings)
        except ValueError as error:
            raise InputError(file, None, str(error)) from None
        if before != settings:
            what = (
                "by another judge, or one set up otherwise" if (before.a, before.b) == (settings.a, settings.b) else ""
            )
            raise UserError(
                f"{folder} holds a comparison of {before.a} with {before.b} {what}".rstrip() + ": choose another -o"
            )
        return
    with new_file(file) as out:
        out.write(msgspec.json.format(canonical(settings), indent=2) + b"\n")
