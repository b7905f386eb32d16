"""Kinds of error: which answers are wrong, which of them are drawn, and what labels say of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tables.making_runs import DYNAMIC, answer, answers, csv_rows, lines_of, printed, write_run

from mmdyn.errors import InputError, UserError
from mmdyn.keys import canonical
from mmdyn.record import Record, Reply
from mmdyn.table import ErrorCounts, ErrorKinds
from mmdyn.tables import (
    FORMATS,
    Design,
    ErrorLabel,
    Kind,
    Row,
    Wrong,
    draw,
    keep_design,
    label_kind,
    report,
    survey,
    tabulate,
)
from mmdyn.tables.wrong_answers import KINDS
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


def errors(*runs: RunFolder, by: Sequence[str] = ()) -> list[dict[str, Row]]:
    """The figures of each model by each judge, in all and broken down."""
    return lines_of(tabulate(runs, [ErrorKinds(by=tuple(by))]), "errorkinds")


def shares(row: dict[str, Row]) -> dict[str, float]:
    return {kind: row[kind].value or 0.0 for kind in KINDS if row[kind].value}


def counts(row: dict[str, Row], *names: str) -> list[float | None]:
    return [row[name].value for name in names]


def wrong(count: int, condition: Any = DYNAMIC, start: int = 0, **more: Any) -> Iterable[Record]:
    return (answer(f"s{place:03}", 0.0, condition, **more) for place in range(start, start + count))


def test_wrong_are_answers_below_full_marks_that_were_given(tmp_path: Path) -> None:
    records = [*answers("10urx"), answer("half", 0.5), answer("not yet", 0.0, scored=False)]
    records += [said(answer("void", 0.0), " \n")]
    cut = {"cut": (0.0, "unparsed"), "cut and right": (1.0, "ok"), "cut and declined": (0.0, "refused")}
    records += [said(answer(name, value, status=status), finish="length") for name, (value, status) in cut.items()]
    run = write_run(tmp_path / "run", records)
    assert Counter(one.decided for one in survey(run)) == {"": 3, "truncated": 1, "empty": 1}
    found = tabulate([run], [ErrorCounts(by=("style",))])
    names = ("asked", "wrong", "truncated", "empty", "unparsed", "refused", "failed", "unscored")
    whole, direct = lines_of(found, "errorcounts")
    assert list(whole) == [*names] and counts(whole, *names) == counts(direct, *names) == [11, 5, 1, 1, 2, 2, 1, 1]
    assert direct["asked"].factors == {"model": "m1", "subset": "style direct"}
    lines = printed(found)
    assert {f"model subset {' '.join(names)}", "m1 all 11 5 1 1 2 2 1 1"} <= {*lines}
    assert "m1 style direct 11 5 1 1 2 2 1 1" in lines


def test_each_stratum_has_as_many_drawn_and_a_larger_number_keeps_them(tmp_path: Path) -> None:
    records = [*wrong(30), *wrong(30, task_type="true_false", start=30), *wrong(30, answer("x", 0).condition)]
    records += [*wrong(4, model="m2")] + [said(answer(f"cut{n}", 0.0), finish="length") for n in range(9)]
    run = write_run(tmp_path / "run", records)
    some, more, all_of = ([one.key for one in draw(survey(run), per, 0)] for per in (5, 12, 1000))
    assert sorted(Counter(one.stratum for one in draw(survey(run), 5, 0)).values()) == [4, 5, 5, 5]
    assert len(some) == 19 and len(more) == 12 * 3 + 4 and len(all_of) == 94
    assert set(some) < set(more) < set(all_of)
    assert some == [one.key for one in draw(reversed(survey(run)), 5, 0)], "the records' order does not matter"
    assert set(some) != {one.key for one in draw(survey(run), 5, 1)}


def test_labels_stand_for_their_stratum(tmp_path: Path) -> None:
    """30 answers of one stratum and 10 of another: 10 of each are labelled, and 8 that were cut off need no label."""
    records = [*wrong(30), *wrong(10, answer("x", 0).condition, start=40)]
    records += [said(answer(f"cut{n}", 0.0), finish="length") for n in range(8)] + [*answers("11r")]
    run = write_run(tmp_path / "run", records)
    drawn = drawn_of(run)
    assert len(drawn) == 20
    label(run, {one.key: ("reasoning" if "dynamic" in one.stratum else "visual",) for one in drawn})
    row, standard, dynamic, of_type = errors(run, by=("variant", "task_type"))
    assert row["question"].n == 48
    assert counts(row, "truncated", "empty", "drawn", "labelled", "refused") == [8, 0, 20, 20, 1]
    assert shares(row) == {"reasoning": 0.625, "visual": round(10 / 48, 6), "incomplete": round(8 / 48, 6)}
    first = row["question"]
    assert (list(row)[:5], first.note, first.method) == (list(KINDS), "", "Wilson at effective n (stratified)")
    assert first.factors == {"model": "m1", "judge": "judge (0123abcd)", "subset": "all"}
    answers_of = [one["question"].factors["subset"] for one in (standard, dynamic, of_type)]
    assert answers_of == ["variant standard", "variant dynamic", "task_type single_choice"]
    assert (dynamic["question"].n, *counts(dynamic, "labelled", "reasoning")) == (30, 10, 1.0)
    assert (standard["question"].n, *counts(standard, "truncated", "visual")) == (18, 8, 0.555556)


def test_where_chooses_answers(tmp_path: Path) -> None:
    """What was drawn of a run is what it was, whichever answers a table is of."""
    run = write_run(tmp_path / "run", [*wrong(30), *wrong(10, answer("x", 0).condition, start=40)])
    label(run, {one.key: ("reasoning",) for one in drawn_of(run)})
    (row,) = lines_of(tabulate([run], [ErrorKinds(where={"variant": ("standard",)})]), "errorkinds")
    assert (row["reasoning"].n, *counts(row, "drawn", "labelled", "reasoning")) == (10, 10, 10, 1.0)


def test_votes_that_differ_count_by_their_share(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(2)])
    one, other = (found.key for found in drawn_of(run))
    label(run, {one: ("question", "reasoning", "reasoning"), other: ("other", "other", "visual")})
    (row,) = errors(run)
    assert shares(row) == {"question": 0.166667, "reasoning": 0.333333, "visual": 0.166667, "other": 0.333333}
    assert row["question"].method == "Wilson"


def test_what_is_not_labelled_is_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(10), *wrong(5, answer("x", 0).condition)])
    label(run, {one.key: ("reasoning",) for one in [one for one in drawn_of(run) if "dynamic" in one.stratum][:8]})
    (row,) = errors(run)
    assert (row["question"].n, *counts(row, "drawn", "labelled")) == (15, 15, 8) and shares(row) == {"reasoning": 1.0}
    missing = "7 of 15 drawn are not labelled yet: run the same `mmdyn errors` once more"
    assert row["question"].note == f"{missing}; 5 answers of strata without a label are left out"
    part = write_run(tmp_path / "part", [*wrong(3), *wrong(2, model="m2")])
    label(part, {drawn_of(part)[0].key: ("other",)})
    _, bare = errors(part)
    found = bare["question"]
    assert (found.factors["model"], found.value, found.method) == ("m2", None, "") and counts(bare, "labelled") == [0]


def test_a_judge_that_never_answered_leaves_no_row(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(3), said(answer("cut", 0.0), finish="length")])
    label(run, {})
    assert errors(run) == [] and "Kinds of error" not in " ".join(printed(report(run)))
    assert "no wrong answer has a label: `mmdyn errors" in " ".join(printed(tabulate([run], [ErrorKinds()])))
    cut = write_run(tmp_path / "cut", [said(answer("cut", 0.0), finish="length")])
    label(cut, {})
    (row,) = errors(cut)
    assert shares(row) == {"incomplete": 1.0}, "nothing was drawn, so that no judge was needed"


def test_labels_outside_of_what_is_drawn_do_not_count(tmp_path: Path) -> None:
    """Those of another seed stay in the store, and a smaller number takes the first of those that were drawn."""
    run = write_run(tmp_path / "run", [*wrong(40)])
    wide, narrow = msgspec.structs.replace(DESIGN, per=30), msgspec.structs.replace(DESIGN, per=5)
    inside = {one.key for one in drawn_of(run, narrow)}
    label(run, {one.key: ("reasoning" if one.key in inside else "visual",) for one in drawn_of(run, wide)}, wide)
    assert [counts(row, "labelled") for row in errors(run)] == [[30]]
    label(run, {}, narrow, time=2)
    (row,) = errors(run)
    assert (counts(row, "labelled"), shares(row)) == ([5], {"reasoning": 1.0})


def test_each_judge_has_rows_of_its_own_and_other_runs_have_none(tmp_path: Path) -> None:
    run = write_run(tmp_path / "x", [*wrong(3), *wrong(2, model="m2"), *answers("11", model="m3")])
    assert errors(run) == []
    label(run, {one.key: ("other",) for one in drawn_of(run)})
    second = Design("second", "f" * 8, None, per=1, seed=7)
    label(run, {drawn_of(run, second)[0].key: ("other",)}, second, time=2)
    rows = errors(run, write_run(tmp_path / "y", [*wrong(3)]))
    assert [(*row["other"].factors.values(), *counts(row, "labelled")) for row in rows] == [
        ("x", "m1", "judge (0123abcd)", "all", 3), ("x", "m2", "judge (0123abcd)", "all", 2),
        ("x", "m1", "second (ffffffff)", "all", 1), ("x", "m2", "second (ffffffff)", "all", 0),
    ]  # fmt: skip
    (own, _) = lines_of(tabulate([run], [ErrorKinds(judge="f" * 8)]), "errorkinds")
    assert own["other"].factors["judge"] == "second (ffffffff)"


def test_a_field_that_no_record_has(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(3, fields={"subject": "physics"})])
    says = r"no record has a field 'subjet' \(did you mean 'subject'\?\): break down by .*, subject, "
    with pytest.raises(UserError, match=says):
        survey(run, ("subjet",))


def test_a_label_that_cannot_be_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(1)])
    with Store(run.records_folder) as store:
        keep_design(store, DESIGN, 1)
        store.put(label_kind(DESIGN.id), drawn_of(run)[0].key, b'{"votes": ["maths"]}')
    with pytest.raises(InputError, match="holds a label that cannot be read"):
        errors(run)


def test_a_report_has_them_where_there_are_labels(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(4, fields={"subject": "=physics"})])
    assert report(run).rows("errorkinds") == []
    label(run, {one.key: ("reasoning",) for one in drawn_of(run)})
    found = report(run, by=["subject"])
    assert shares(lines_of(found, "errorkinds")[0]) == {"reasoning": 1.0}
    (tmp_path / "out.csv").write_text(FORMATS["csv"](found), "utf-8")
    rows = csv_rows(tmp_path / "out.csv", "errorkinds")
    told = [(row["subset"], row["quantity"], row["value"], row["n"]) for row in rows if row["quantity"] in KINDS[:2]]
    assert told == [
        ("all", "question", "0.0", "4"), ("all", "reasoning", "1.0", "4"),
        ("subject =physics", "question", "0.0", "4"), ("subject =physics", "reasoning", "1.0", "4"),
    ]  # fmt: skip


def test_what_is_printed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*wrong(4), said(answer("cut", 0.0), finish="length")])
    label(run, {one.key: ("reasoning",) for one in drawn_of(run)})
    lines = printed(tabulate([run], [ErrorKinds(by=("variant",))]))
    text = " ".join(lines)
    assert "all 0 [0, 43] 80 [38, 96]" in text and "20 [4, 62]" in text
    assert "in all rows: model m1, judge judge (0123abcd), " in text
    assert any(line.startswith("variant standard 0 [") for line in lines)
    assert "n counts wrong answers" in text
    right = tabulate([write_run(tmp_path / "right", answers("11"))], [ErrorKinds()])
    assert "no answer that is scored is wrong" in printed(right)
