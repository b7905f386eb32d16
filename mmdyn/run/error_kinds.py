"""What made the answers of a run wrong: a judge labels a sample of them, and the labels stay in the run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.models import Asker, Caches, open_budget
from mmdyn.run.recorded import Recorded, check_asked
from mmdyn.run.verdicts import judge_all, with_asker
from mmdyn.scoring import ErrorJudge
from mmdyn.table import ErrorKinds
from mmdyn.tables import Design, Report, Wrong, draw, keep_design, label_kind, survey, tabulate
from mmdyn.work import ProgressBar, RunFolder, Store

PER = 20
"""Answers of a stratum that are labelled at most."""

SHOWN_FAILURES = 20


class Unlabelled(Struct, frozen=True):
    """An answer without a label, and why."""

    model: str
    sample: str
    mode: str
    reason: str

    def __str__(self) -> str:
        return f"{self.sample}, {self.model}, {self.mode}: {self.reason}"


class Labelled(Struct, frozen=True):
    """The kinds of error by this judge's labels; failed: drawn answers without a label, of which `failures` are the
    first. Answers without a score, which may be wrong too, were not drawn."""

    report: Report
    failed: int
    failures: list[Unlabelled]


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
            failures = await _label(asker, who, drawn, recorded, store, quiet)
        failures = sorted(failures, key=lambda one: (one.model, one.sample, one.mode))
        found = tabulate([opened], [ErrorKinds(by=tuple(by), judge=who.id)])
        return Labelled(found, len(failures), failures[:SHOWN_FAILURES])

    return with_asker(judge, votes, concurrency, budget, Caches(cache, opened.folder), work)


async def _label(
    asker: Asker, who: ErrorJudge, drawn: Sequence[Wrong], recorded: Recorded, store: Store, quiet: bool
) -> list[Unlabelled]:
    """Label what has no label yet; those that got none. They are not kept, so that the next call asks again."""
    kind, failures = label_kind(who.id), list[Unlabelled]()

    async def label(one: Wrong) -> None:
        record = recorded.record(one.key)
        sample = recorded.sample(record)
        found = await who.judge(sample, record.reply, recorded.images(record))
        if found.error:
            failures.append(Unlabelled(record.model, record.sample, record.condition.mode, found.error))
        else:
            store.put(kind, one.key, canonical(found))

    left = [one for one in drawn if store.get(kind, one.key) is None]
    with ProgressBar("labelling", len(drawn), quiet=quiet) as progress:
        await judge_all(asker, left, label, store, progress, len(drawn) - len(left))
    return failures
