"""Two runs, or two models of one, compared pair by pair: which reply to one sample under one condition is better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.data import is_set, new_file
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json, canonical
from mmdyn.models import Asker, open_budget
from mmdyn.record import Record, Usage
from mmdyn.run.pairing import LeftOut, ReplyPair, Side, find_pairs, find_sides
from mmdyn.run.recorded import Recorded
from mmdyn.run.verdicts import judge_all, with_asker
from mmdyn.sample import from_json
from mmdyn.scoring import PairJudge, total
from mmdyn.tables import Compared, Preference, WinRate, win_rate, win_rates
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
    """What came of it. `whole` is None where no pair has a verdict, `by` has the figures by field and value.

    failed: pairs without a verdict, of which `failures` are the first. requests, usage and cost: what all verdicts
        took, in this call and before; cost None where that is not known.
    """

    a: Side
    b: Side
    judge: str
    id: str
    whole: WinRate | None
    by: dict[str, dict[str, WinRate]]
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
    prices: str | Path | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    quiet: bool = False,
) -> Comparison:
    """Have a judge compare the replies of one model each of two runs, or of two `models` of one run, and keep it in
    `out`.

    Pairs are replies to the same version of a sample under the same condition, in the same epoch. `limit` takes so many
    of them, chosen by their names, so that a larger one keeps those of before. Called again, it goes on where it
    stopped. Raises UserError for what does not fit, ModelError for a judge that cannot be asked, Stopped at a limit,
    Busy where `out` is in use.
    """
    opened = [RunFolder(run) for run in runs]
    sides, folders, folder = find_sides(opened, models), (opened[0], opened[-1]), Path(out)
    budget = open_budget(prices, max_cost, max_requests)
    if (folder / RUN).exists() or is_set(folder):
        raise UserError(f"{out} is a run or a set: choose another folder for the comparison")
    pairs, left_out = find_pairs(folders, sides, by, limit)

    async def work(asker: Asker) -> Comparison:
        who = PairJudge(asker, votes, pictures=pictures, gold=gold)
        settings = CompareSettings(*sides, who.label, who.id, who.identity)
        with Store(folder / "records") as store, Recorded(folders[0]) as in_a, Recorded(folders[1]) as in_b:
            _begin(folder, settings)
            client = _PairComparer(who, in_a, in_b, store)
            await _judge(asker, client, pairs, store, quiet)
            store.flush()
            return _finished(folder, settings, client, pairs, by, left_out)

    return with_asker(judge, votes, concurrency, budget, work)


class _PairComparer:
    """Compares one pair after the other, and keeps what came of it."""

    def __init__(self, judge: PairJudge, in_a: Recorded, in_b: Recorded, store: Store) -> None:
        self._judge, self._a, self._b, self._store = judge, in_a, in_b, store
        self.failures = list[Unjudged]()

    def known(self, pair: ReplyPair) -> Compared | None:
        """A pair that was compared before."""
        value = self._store.get(PAIR, pair.key)
        return None if value is None else msgspec.json.decode(value, type=Compared)

    async def compare(self, pair: ReplyPair) -> None:
        """Ask the judge; a pair without a verdict is noted and not kept, so that it is asked again."""
        a, b = self._a.record(pair.a), self._b.record(pair.b)
        sample = self._a.sample(a)
        found = await self._judge.compare(sample, a.reply, b.reply, self._a.images(a))
        if found.winner is None:
            self.failures.append(Unjudged(a.set, a.sample, a.condition.mode, found.error))
        else:
            self._store.put(PAIR, pair.key, canonical(_compared(a, b, found)))


def _compared(a: Record, b: Record, found: Preference) -> Compared:
    shared = {name: getattr(a, name) for name in ("set", "sample", "parent", "group", "condition", "epoch")}
    return Compared(**shared, a=a.key, b=b.key, preference=found)


async def _judge(asker: Asker, client: _PairComparer, pairs: Sequence[ReplyPair], store: Store, quiet: bool) -> None:
    left = [pair for pair in pairs if client.known(pair) is None]
    with ProgressBar("comparing", len(pairs), quiet=quiet) as progress:
        await judge_all(asker, left, client.compare, store, progress, len(pairs) - len(left))


def _finished(
    folder: Path,
    settings: CompareSettings,
    client: _PairComparer,
    pairs: Sequence[ReplyPair],
    by: Sequence[str],
    left_out: LeftOut,
) -> Comparison:
    """Write down the pairs that have a verdict, a line each, and what they come to."""
    done = [(found, pair.values) for pair in pairs if (found := client.known(pair))]
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
        whole=win_rate(compared) if compared else None,
        by=win_rates(compared, values),
        left_out=left_out,
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
