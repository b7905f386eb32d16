"""How well a judge tells changed questions from kept ones, on pairs that people have labelled."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import JsonRow, SampleSet, is_set, read_json_rows
from mmdyn.errors import InputError, MmdynError, UserError, reason_of
from mmdyn.keys import Json
from mmdyn.sample import Sample, Verdict, from_dict
from mmdyn.sheets import Seen, digest_shown, find_parent, is_mark, label_of
from mmdyn.stats import Share, kappa_interval, weighted_kappa
from mmdyn.tables import Calibration
from mmdyn.work import interrupts_deferred, wait_for
from perturb.audit.pairs import pairs, services_for, shown_to_judge
from perturb.codec import decode
from perturb.judge._judge import UNKNOWN, Case, Look, VariantJudge, case_of

T = TypeVar("T")
U = TypeVar("U")


def judge_lines(lines: Iterable[bytes], where: str, judge: VariantJudge, concurrency: int = 1) -> Iterator[JsonRow]:
    """Each line with `same`, `confidence`, `reason` and `by`; where no verdict could be had `same` is null and `reason`
    says why.

    Raises InputError, naming `where` and the line, for a line that is no pair.
    """
    rows = ((row, _case_of_line(row, where, number)) for number, row in read_json_rows(lines, where))
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


def _case_of_line(row: JsonRow, where: str, number: int) -> Case:
    try:
        return pair_of(row)
    except ValueError as error:
        raise InputError(where, number, str(error)) from None


class Sources(Struct, frozen=True):
    """Where marked sets lie now, if not where the sheet says, and who paints what is painted again; empty for as they
    say."""

    dynamic: str = ""
    parent: str = ""
    style: str = ""


def labelled_cases(lines: Iterable[bytes], where: str, sources: Sources | None = None) -> Iterator[tuple[bool, Case]]:
    """Each labelled line's label (True: the meaning was kept) and case. `label` is true or false, keep or reject.

    A line is a pair of texts (`a`, `b`, `answer`), a pair of pictures (`before_image`, `after_image`: files, relative
    to the folder of `where`), either with a `group` where lines with another question or picture before are about the
    same, or a variant of an audit sheet (what a Seen holds), read from its sets after all others.
    Raises InputError, and UserError where a set cannot be read or is not the one that was marked.
    """
    marked = defaultdict[tuple[str, str], dict[tuple[str, int], tuple[Seen, bool]]](dict)
    for number, row in read_json_rows(lines, where):
        try:
            keep = label_of(row)
            if not is_mark(row):
                yield keep, _case(row, Path(where).parent)
                continue
            mark = from_dict(row, Seen)
            marked[mark.set, mark.parent_set][mark.id, mark.attempt] = mark, keep
        except ValueError as error:
            raise InputError(where, number, str(error)) from None
    for (dynamic, parent), labels in marked.items():
        yield from _of_sheet(dynamic, parent, labels, sources or Sources())


def _case(row: JsonRow, folder: Path) -> Case:
    files, group = (row.get("before_image"), row.get("after_image")), row.get("group")
    if "a" in row or not all(files):
        case = pair_of(row)
        return replace(case, before=replace(case.before, group=str(group))) if group else case
    before, after = (folder / str(file) for file in files)
    try:
        look = Look(decode(before.read_bytes()), decode(after.read_bytes()), before, after)
    except OSError as error:
        raise ValueError(f"{error.filename} cannot be read ({error.strerror})") from None
    words = Sample("picture", "?", "open_ended", UNKNOWN, group=str(group or before))
    return Case(words, words, (look,))


def _of_sheet(
    marked: str, marked_parent: str, labels: dict[tuple[str, int], tuple[Seen, bool]], sources: Sources
) -> Iterator[tuple[bool, Case]]:
    """The marked variants of a set, each beside its parent. A parent that was moved is looked for beside the set."""
    folder = Path(sources.dynamic or marked)
    if not is_set(folder):
        raise UserError(f"{folder}, whose variants were marked, is no set any more: say where it lies with --set")
    dynamic = SampleSet(folder)
    parent = find_parent(dynamic, sources.parent or (marked_parent if is_set(Path(marked_parent)) else None))
    left = dict(labels)
    with closing(services_for(dynamic, sources.style)) as services:
        for pair in pairs(dynamic, parent):
            mark, keep = left.pop((pair.after.id, pair.trail.attempt), (None, False))
            if mark is None:
                continue
            if mark.digest not in ("", digest_shown(pair.after)):
                raise UserError(f"{mark.id} in {folder} is not what was marked: give the set of then with --set")
            yield keep, shown_to_judge(pair, parent, dynamic, services)
    if left:
        raise UserError(f"{min(left)[0]} is not in {folder}: was the set made again since it was marked?")


def measure(judge: str, identity: Json, judged: Iterable[tuple[bool, Verdict, str]]) -> Calibration:
    """Compare verdicts with labels; a label is True where people say that the meaning was kept, and beside both stands
    what question they are about.

    Raises UserError where there is no pair.
    """
    cases = list(judged)
    if not cases:
        raise UserError("there is no labelled pair: give a file of lines with a label")
    told = [(not keep, verdict.status != "kept", about) for keep, verdict, about in cases if verdict.status != "failed"]
    changed, caught = (np.array([case[side] for case in told], dtype=np.bool_) for side in (0, 1))
    names, asked = np.unique([case[2] for case in told], return_inverse=True)
    hits = (changed, caught), (caught, changed), (~caught, ~changed)
    precision, recall, specificity = (Share.of(hit[among], asked[among]) for hit, among in hits)
    people, verdicts = changed.astype(np.float64), caught.astype(np.float64)
    kappa, interval = weighted_kappa(people, verdicts), kappa_interval(people, verdicts, asked)
    agreement = Share.of(changed == caught, asked)
    return Calibration(
        judge=judge,
        identity=identity,
        n=len(told),
        failed=len(cases) - len(told),
        questions=len(names),
        precision=precision,
        recall=recall,
        sensitivity=recall,
        specificity=specificity,
        agreement=agreement,
        kappa=kappa,
        kappa_ci95=interval,
    )
