"""Pairs of questions out of JSONL, judged in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from mmdyn.data import JsonRow, read_json_rows
from mmdyn.errors import InputError, MmdynError, reason_of
from mmdyn.sample import Verdict
from mmdyn.work import interrupts_deferred, wait_for
from perturb.judge._judge import Case, VariantJudge, case_of

T = TypeVar("T")
U = TypeVar("U")


def judge_lines(lines: Iterable[bytes], where: str, judge: VariantJudge, concurrency: int = 1) -> Iterator[JsonRow]:
    """Each line with `same`, `confidence`, `reason` and `by`; where no verdict could be had `same` is null and `reason`
    says why.

    Raises InputError, naming `where` and the line, for a line that is no pair.
    """
    rows = ((row, _case(row, where, number)) for number, row in read_json_rows(lines, where))
    for (row, _), verdict in in_order(lambda pair: verdict_of(judge, pair[1]), rows, concurrency if judge.waits else 1):
        same = None if verdict.status == "failed" else verdict.status == "kept"
        yield {**row, "same": same, "confidence": verdict.confidence, "reason": verdict.reason, "by": verdict.by}


def pair_of(row: JsonRow) -> Case:
    """The case that a row's `a`, `b` and `answer` make. Raises ValueError where they are not two texts."""
    a, b = row.get("a"), row.get("b")
    if not (isinstance(a, str) and isinstance(b, str)):
        raise ValueError('"a" and "b" must be two texts, the question before and after')
    return case_of(a, b, row.get("answer"))


def verdict_of(judge: VariantJudge, case: Case) -> Verdict:
    """The judge's verdict, or one of status `failed` with the reason why none could be had."""
    try:
        return judge.judge(case)
    except MmdynError:
        raise
    except Exception as error:
        return Verdict("failed", judge.label, reason_of(error))


def in_order(function: Callable[[T], U], items: Iterable[T], concurrency: int) -> Iterator[tuple[T, U]]:
    """Each item with what a function makes of it, in the items' order; some twice `concurrency` items are held at a
    time."""
    if concurrency == 1:
        yield from ((item, function(item)) for item in items)
        return
    pool = ThreadPoolExecutor(concurrency)
    under_way = deque[tuple[T, Future[U]]]()
    try:
        for item in items:
            with interrupts_deferred():
                under_way.append((item, pool.submit(function, item)))
            if len(under_way) > 2 * concurrency:
                first, future = under_way.popleft()
                yield first, wait_for(future)
        while under_way:
            first, future = under_way.popleft()
            yield first, wait_for(future)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _case(row: JsonRow, where: str, number: int) -> Case:
    try:
        return pair_of(row)
    except ValueError as error:
        raise InputError(where, number, str(error)) from None
