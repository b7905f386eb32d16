"""The dimensions of the rubric `quality` in a report: the mean grade of each model on each, out of verdicts whose truth
is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, answer, csv_rows, printed, write_run

from mmdyn.keys import canonical
from mmdyn.record import Judgement, Record
from mmdyn.scoring.rubrics.quality import DIMENSIONS, Quality
from mmdyn.stats import wilson
from mmdyn.table import Dimensions
from mmdyn.tables import FORMATS, Report, Row, full_text, report, tabulate
from mmdyn.work import JudgeEntry, RunFolder, Store, judged_kind

JUDGE = JudgeEntry("strong", "bbbb", {"rubrics": {"quality": {"reading": 1}}, "votes": 1})
NAME = "strong, quality (bbbb)"
Grades = Mapping[tuple[str, str], tuple[float, ...]]
"""What the judge gave, by sample and model."""


def graded(folder: Path, records: list[Record], grades: Grades, judge: JudgeEntry = JUDGE, **config: Any) -> RunFolder:
    run = write_run(folder, records, judges=(judge,), judge_mode="all", **config)
    with Store(run.records_folder) as store:
        for record in records:
            if parts := grades.get((record.sample, record.model)):
                said = Judgement(sum(parts) / len(parts), parts=parts if len(parts) > 1 else ())
                store.put(judged_kind(judge.id), record.key, canonical(said))
    return run


def told(found: Report, **factors: str) -> dict[str, Row]:
    """The rows of dimensions that have these factors, by dimension."""
    rows = [row for row in found.rows("dimensions") if factors.items() <= row.factors.items()]
    assert len({row.quantity for row in rows}) == len(rows)
    return {row.quantity: row for row in rows}


def values(rows: Mapping[str, Row]) -> list[float | None]:
    return [row.value for row in rows.values()]


def records(models: str, n: int = 4, **more: Any) -> list[Record]:
    return [answer(f"s{k}", 0.0, model=model, **more) for model in models for k in range(n)]


def test_each_model_has_its_mean_on_each_dimension(tmp_path: Path) -> None:
    grades = {(f"s{k}", "x"): (1.0, 0.0, k / 3, 0.5, float(k % 2)) for k in range(4)}
    grades |= {(f"s{k}", "y"): (0.0, 1.0, 0.25, 0.5, 1.0) for k in range(4)}
    found = report(graded(tmp_path / "run", records("xy"), grades))
    x, y = (told(found, model=model, judge=NAME) for model in "xy")
    assert [*x] == [*DIMENSIONS] == [*Quality.dimensions]
    assert values(x) == [1.0, 0.0, 0.5, 0.5, 0.5] and values(y) == [0.0, 1.0, 0.25, 0.5, 1.0]
    assert {(row.n, row.answers, row.left_out, row.unit) for row in (*x.values(), *y.values())} == {(4, 4, 0, "share")}
    assert x["clarity"].ci95 == tuple(round(end, 6) for end in wilson(0.5, 4)) and x["clarity"].method == "Wilson"
    graded_ends = x["reasoning"].ci95
    assert graded_ends and graded_ends[0] > wilson(0.5, 4)[0] and "graded" in x["reasoning"].method


def test_answers_without_grades_are_left_out_and_counted(tmp_path: Path) -> None:
    """One waits for its verdict, one was empty without parts, and one was never answered."""
    made = [*records("x", 5), answer("s5", None, model="x", error="500")]
    found = told(report(graded(tmp_path / "run", made, {(f"s{k}", "x"): (0.5,) * 5 for k in range(3)} | {("s3", "x"): (0.5,)})))  # fmt: skip
    assert {(row.n, row.value) for row in found.values()} == {(3, 0.5)}
    assert {row.left_out for row in found.values()} == {2}


def test_draws_and_epochs_of_a_question_count_once_and_conditions_stand_apart(tmp_path: Path) -> None:
    made = [*records("x", 2), *records("x", 2, epoch=1), *records("x", 2, condition=DYNAMIC)]
    run = write_run(tmp_path / "run", made, judges=(JUDGE,), judge_mode="all")
    with Store(run.records_folder) as store:
        for record in made:
            grade = 0.25 if record.condition.chain else float(record.epoch or record.parent == "s0")
            store.put(judged_kind(JUDGE.id), record.key, canonical(Judgement(grade, parts=(grade,) * 5)))
    found = report(run)
    standard, dynamic = (told(found, variant=variant)["relevance"] for variant in ("standard", "dynamic"))
    assert (standard.value, standard.n, standard.answers) == (0.75, 2, 4) and dynamic.value == 0.25


def test_weights_of_the_policy_count(tmp_path: Path) -> None:
    made = [answer("s0", 0.0, model="x", weight=3.0), answer("s1", 0.0, model="x", weight=1.0)]
    found = told(report(graded(tmp_path / "run", made, {("s0", "x"): (1.0,) * 5, ("s1", "x"): (0.0,) * 5})))
    assert values(found) == [0.75] * 5


@pytest.mark.parametrize("rubrics", [{"match": 1}, {"checklist": 1, "match": 1}, {"quality": 1, "match": 1}, {"not_installed": 1}, None])  # fmt: skip
def test_no_other_judge_has_dimensions(tmp_path: Path, rubrics: Any) -> None:
    """Several blanks have parts, too, but these are no dimensions."""
    other = replace(JUDGE, identity={"rubrics": rubrics})
    found = report(graded(tmp_path / "run", records("x"), {("s0", "x"): (0.5,) * 5}, other))
    assert found.rows("dimensions") == [] and "Dimensions" not in full_text(found)


def test_two_runs_and_two_judges_have_rows_of_their_own(tmp_path: Path) -> None:
    runs = list[RunFolder]()
    for name, grade in (("before", 0.25), ("after", 0.75)):
        run = graded(tmp_path / name, records("x", 2), {(f"s{k}", "x"): (grade,) * 5 for k in range(2)})
        other = replace(JUDGE, id="cccc", label="cheap")
        run.write_config(replace(run.config, judges=(JUDGE, other)))
        with Store(run.records_folder) as store:
            for record in run.records():
                store.put(judged_kind("cccc"), record.key, canonical(Judgement(0.5, parts=(1.0, 0.0, 0.5, 0.5, 0.5))))
        runs.append(run)
    found = report(*runs)
    for name, grade in (("before", 0.25), ("after", 0.75)):
        assert values(told(found, run=name, judge=NAME)) == [grade] * 5
        assert values(told(found, run=name, judge="cheap, quality (cccc)")) == [1.0, 0.0, 0.5, 0.5, 0.5]


def test_a_judge_in_force_and_under_way_is_told_once(tmp_path: Path) -> None:
    run = graded(tmp_path / "run", records("x", 2), {("s0", "x"): (0.5,) * 5, ("s1", "x"): (0.5,) * 5})
    scoring = run.config.active_scores
    run.write_config(replace(run.config, under_way=replace(scoring, scorer="mdk12+unsure(bbbb)", judge_mode="unsure")))
    assert values(told(report(RunFolder(run.folder)))) == [0.5] * 5


def test_what_is_printed_and_written(tmp_path: Path) -> None:
    run = graded(tmp_path / "run", records("xy", 3), {(f"s{k}", m): (1.0, 0.0, 0.5, 0.5, 1.0) for k in range(3) for m in "xy"})  # fmt: skip
    found = tabulate([run], [Dimensions()])
    text = " ".join(printed(found))
    assert "Dimensions: the mean grade on each that the judge's rubric has, 100 the best" in text
    assert "model condition judge relevance correctness" in text and f"x standard {NAME}" in text
    (tmp_path / "out.csv").write_text(FORMATS["csv"](report(run)), "utf-8")
    rows = csv_rows(tmp_path / "out.csv", "dimensions")
    assert [row["quantity"] for row in rows[:5]] == [*DIMENSIONS] and [row["value"] for row in rows[:3]] == ["1.0", "0.0", "0.5"]  # fmt: skip
    (part,) = (part for part in json.loads(report(run).to_json())["parts"] if part["kind"] == "dimensions")
    assert len(part["rows"]) == 10
