"""Kinds of error: which answers are wrong, which of them are drawn, and what labels say of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tables.making_runs import DYNAMIC, answer, answers, csv_rows, printed, write_run

from mmdyn.errors import InputError, UserError
from mmdyn.keys import canonical
from mmdyn.record import Record, Reply
from mmdyn.tables import (
    Design,
    ErrorLabel,
    ErrorRow,
    Kind,
    Wrong,
    count_errors,
    draw,
    find_errors,
    keep_design,
    label_kind,
    print_counts,
    print_errors,
    report,
    survey,
    write_csv,
)
from mmdyn.tables.wrong_answers import KINDS, ErrorCounts
from mmdyn.work import RunFolder, Store

DESIGN = Design("judge", "0123abcd", {"votes": 1}, per=10, seed=0)


def said(record: Record, text: str = "It is A.", finish: str = "stop") -> Record:
    return msgspec.structs.replace(record, reply=Reply(text=text, finish_reason=finish))


def label(run: RunFolder, kinds: dict[str, Sequence[Kind]], design: Design = DESIGN, time: int = 1) -> None:
    """Keep a design, and the votes for answers by their keys."""
    with Store(run.records_folder) as store:
        keep_design(store, design, time)
        for key, votes in kinds.items():
            store.put(label_kind(design.id), key, canonical(ErrorLabel(tuple(votes))))


def drawn_of(run: RunFolder, design: Design = DESIGN) -> list[Wrong]:
    return draw(survey(run), design.per, design.seed)


def shares(row: ErrorRow) -> dict[str, float]:
    assert row.kinds is not None
    return {kind: rate.share for kind, rate in row.kinds.items() if rate.share}


def wrong(count: int, condition: Any = DYNAMIC, start: int = 0, **more: Any) -> Iterable[Record]:
    return (answer(f"s{place:03}", 0.0, condition, **more) for place in range(start, start + count))


def test_wrong_are_answers_below_full_marks_that_were_given(tmp_path: Path) -> None:
    records = [*answers("10urx"), answer("half", 0.5), answer("not yet", 0.0, scored=False)]
    records += [said(answer("void", 0.0), " \n")]
    cut = {"cut": (0.0, "unparsed"), "cut and right": (1.0, "ok"), "cut and declined": (0.0, "refused")}
    records += [said(answer(name, value, status=status), finish="length") for name, (value, status) in cut.items()]
    run = write_run(tmp_path / "run", records)
    found = survey(run)
    kinds = {one.cluster[2]: one.decided for one in found.wrong}
    assert kinds == {"s01": "", "s02": "", "half": "", "cut": "truncated", "void": "empty"}
    assert (found.refused, found.unscored) == (Counter(m1=2), 1)
    (row,) = count_errors(run, ["style"])
    assert row.by == {"style": {"direct": ErrorCounts(11, 5, 1, 1, 2, 2, 1, 1)}} and row.to_label == 3
    lines = printed([row], print_counts)
    assert "m1 11 5 1 1 2 2 1 1" in lines and "The same by style (m1)" in lines
    assert {"style asked wrong off empty unparsed refused failed unscored", "direct 11 5 1 1 2 2 1 1"} <= {*lines}


def test_each_stratum_has_as_many_drawn_and_a_larger_number_keeps_them(tmp_path: Path) -> None:
    records = [*wrong(30), *wrong(30, task_type="true_false", start=30), *wrong(30, answer("x", 0).condition)]
    records += [*wrong(4, model="m2")] + [said(answer(f"cut{n}", 0.0), finish="length") for n in range(9)]
    run = write_run(tmp_path / "run", records)
    some, more, all_of = ([one.key for one in draw(survey(run), per, 0)] for per in (5, 12, 1000))
    assert sorted(Counter(one.stratum for one in draw(survey(run), 5, 0)).values()) == [4, 5, 5, 5]
    assert len(some) == 19 and len(more) == 12 * 3 + 4 and len(all_of) == 94
    assert set(some) < set(more) < set(all_of)
    assert some == [one.key for one in draw(reversed(survey(run).wrong), 5, 0)], "the records' order does not matter"
    assert set(some) != {one.key for one in draw(survey(run), 5, 1)}


def test_labels_stand_for_their_stratum(tmp_path: Path) -> None:
    """30 answers of one stratum and 10 of another: 10 of each are labelled, and 8 that were cut off need no label."""
    records = [*wrong(30), *wrong(10, answer("x", 0).condition, start=40)]
    records += [said(answer(f"cut{n}", 0.0), finish="length") for n in range(8)] + [*answers("11r")]
    run = write_run(tmp_path / "run", records)
    drawn = drawn_of(run)
    assert len(drawn) == 20
    label(run, {one.key: ("reasoning" if "dynamic" in one.stratum else "visual",) for one in drawn})
    (row,) = find_errors({"": run}, ("variant", "task_type"))
    assert (row.wrong, row.truncated, row.empty, row.drawn, row.labelled, row.refused) == (48, 8, 0, 20, 20, 1)
    assert shares(row) == {"reasoning": 0.625, "visual": round(10 / 48, 6), "incomplete": round(8 / 48, 6)}
    assert (list(row.kinds or ()), row.note, row.method) == (list(KINDS), "", "Wilson at effective n (stratified)")
    assert (row.model, row.judge, row.id, row.per, row.seed) == ("m1", "judge", "0123abcd", 10, 0)
    dynamic, standard = row.by["variant"]["dynamic"], row.by["variant"]["standard"]
    assert (dynamic.wrong, dynamic.labelled, dynamic.kinds and dynamic.kinds["reasoning"].share) == (30, 10, 1.0)
    assert (standard.wrong, standard.truncated, standard.kinds and standard.kinds["visual"].share) == (18, 8, 0.555556)
    assert list(row.by["task_type"]) == ["single_choice"]


def test_votes_that_differ_count_by_their_share(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(2)])
    one, other = (found.key for found in drawn_of(run))
    label(run, {one: ("question", "reasoning", "reasoning"), other: ("other", "other", "visual")})
    (row,) = find_errors({"": run})
    assert shares(row) == {"question": 0.166667, "reasoning": 0.333333, "visual": 0.166667, "other": 0.333333}
    assert row.method == "Wilson"


def test_what_is_not_labelled_is_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(10), *wrong(5, answer("x", 0).condition)])
    label(run, {one.key: ("reasoning",) for one in [one for one in drawn_of(run) if "dynamic" in one.stratum][:8]})
    (row,) = find_errors({"": run})
    assert (row.wrong, row.drawn, row.labelled) == (15, 15, 8) and shares(row) == {"reasoning": 1.0}
    missing = "7 of 15 drawn are not labelled yet: run the same `mmdyn errors` once more"
    assert row.note == f"{missing}; 5 answers of strata without a label are left out"
    part = write_run(tmp_path / "part", [*wrong(3), *wrong(2, model="m2")])
    label(part, {drawn_of(part)[0].key: ("other",)})
    _, bare = find_errors({"": part})
    assert (bare.model, bare.kinds, bare.labelled, bare.method) == ("m2", None, 0, "")


def test_a_judge_that_never_answered_leaves_no_row(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(3), said(answer("cut", 0.0), finish="length")])
    label(run, {})
    assert find_errors({"": run}) == [] and b'"errors"' not in report(run).to_json()
    cut = write_run(tmp_path / "cut", [said(answer("cut", 0.0), finish="length")])
    label(cut, {})
    (row,) = find_errors({"": cut})
    assert shares(row) == {"incomplete": 1.0}, "nothing was drawn, so that no judge was needed"


def test_labels_outside_of_what_is_drawn_do_not_count(tmp_path: Path) -> None:
    """Those of another seed stay in the store, and a smaller number takes the first of those that were drawn."""
    run = write_run(tmp_path / "run", [*wrong(40)])
    wide, narrow = msgspec.structs.replace(DESIGN, per=30), msgspec.structs.replace(DESIGN, per=5)
    inside = {one.key for one in drawn_of(run, narrow)}
    label(run, {one.key: ("reasoning" if one.key in inside else "visual",) for one in drawn_of(run, wide)}, wide)
    assert [row.labelled for row in find_errors({"": run})] == [30]
    label(run, {}, narrow, time=2)
    (row,) = find_errors({"": run})
    assert (row.per, row.labelled, shares(row)) == (5, 5, {"reasoning": 1.0})


def test_each_judge_has_rows_of_its_own_and_other_runs_have_none(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(3), *wrong(2, model="m2"), *answers("11", model="m3")])
    assert find_errors({"": run}) == []
    label(run, {one.key: ("other",) for one in drawn_of(run)})
    second = Design("second", "f" * 8, None, per=1, seed=7)
    label(run, {drawn_of(run, second)[0].key: ("other",)}, second, time=2)
    rows = find_errors({"x": run, "y": write_run(tmp_path / "other", [*wrong(3)])})
    assert [(row.run, row.judge, row.model, row.labelled) for row in rows] == [
        ("x", "judge", "m1", 3), ("x", "judge", "m2", 2), ("x", "second", "m1", 1), ("x", "second", "m2", 0)
    ]  # fmt: skip


def test_a_field_that_no_record_has(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(3, fields={"subject": "physics"})])
    says = r"no record has a field 'subjet' \(did you mean 'subject'\?\): break down by chain"
    with pytest.raises(UserError, match=says):
        survey(run, ("subjet",))


def test_a_label_that_cannot_be_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(1)])
    with Store(run.records_folder) as store:
        keep_design(store, DESIGN, 1)
        store.put(label_kind(DESIGN.id), drawn_of(run)[0].key, b'{"votes": ["maths"]}')
    with pytest.raises(InputError, match="holds a label that cannot be read"):
        find_errors({"": run})


def test_a_report_has_them_where_there_are_labels(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(4, fields={"subject": "=physics"})])
    assert b'"errors"' not in report(run).to_json()
    label(run, {one.key: ("reasoning",) for one in drawn_of(run)})
    summary = report(run, by=["subject"])
    assert isinstance(summary.errors, list) and shares(summary.errors[0]) == {"reasoning": 1.0}
    write_csv(summary, tmp_path / "out.csv")
    rows = csv_rows(tmp_path / "out.csv", "error")
    assert [(row["by"], row["value"], row["factor"], row["estimate"], row["n"]) for row in rows if row["factor"] in KINDS[:2]] == [
        ("", "", "question", "0.0", "4"), ("", "", "reasoning", "1.0", "4"),
        ("subject", "'=physics", "question", "0.0", "4"), ("subject", "'=physics", "reasoning", "1.0", "4"),
    ]  # fmt: skip


def test_what_is_printed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(4), said(answer("cut", 0.0), finish="length")])
    label(run, {one.key: ("reasoning",) for one in drawn_of(run)})
    lines = printed(find_errors({"": run}, ("variant",)), print_errors)
    (row,) = (line for line in lines if line.startswith("judge (0123abcd) "))
    assert "80.0 [37.6, 96.4]" in row and row.endswith("20.0 [3.6, 62.4] 0.0 [0.0, 43.4] 5 1 0 4 1")
    assert any(line.startswith("standard 0.0 [") for line in lines)
    assert printed([], print_errors) == ["Kinds of error: no answer is wrong."]
