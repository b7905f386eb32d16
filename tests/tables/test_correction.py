"""Corrected scores in reports: which calibration and which marks count, what is refused, and how it is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, answer, answers, csv_rows, lines_of, printed, score, scores, write_run

from mmdyn.errors import InputError, UserError
from mmdyn.record import Condition, Record
from mmdyn.stats import Share
from mmdyn.table import Corrected
from mmdyn.tables import FORMATS, Report, Row, measure, report, save_grading, tabulate
from mmdyn.work import JudgeEntry, RunFolder

SCORER = "mdk12@3"
VALUES = "1101001110" * 4


def run_of(tmp_path: Path, *records: Record, **config: Any) -> RunFolder:
    return write_run(tmp_path / "run", records or answers(VALUES), scorer=SCORER, **config)


def calibrate(caught: int = 18, missed: int = 2, wronged: int = 6, spared: int = 14, *, labels: str = "ab", scorer: str = SCORER) -> None:  # fmt: skip
    """Keep a calibration of so many right answers called right and wrong, and of wrong ones called right and wrong."""
    pairs = [(1.0, 1.0)] * caught + [(1.0, 0.0)] * missed + [(0.0, 1.0)] * wronged + [(0.0, 0.0)] * spared
    save_grading(replace(measure(scorer, scorer, pairs), labels=labels * 32, file="marks.jsonl"))


def marks_file(tmp_path: Path, *lines: Any) -> Path:
    file = tmp_path / "marks.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def rows(summary: Report) -> list[dict[str, Row]]:
    """The figures of each condition, for each calibration."""
    return [row for row in lines_of(summary, "corrected") if "score" in row]


def width(row: Row) -> float:
    assert row.ci95 and row.ci95[1] is not None
    return row.ci95[1] - row.ci95[0]


def test_rogan_gladen_beside_the_plain_score(tmp_path: Path) -> None:
    calibrate()
    summary = report(run_of(tmp_path), correct="rogan-gladen")
    (row,), plain = rows(summary), score(summary)
    found, corrected = row["score"], row["corrected"]
    assert (found.value, found.ci95, found.answers) == (plain.value, plain.ci95, 40) == (0.6, plain.ci95, plain.n)
    assert (corrected.value, corrected.method) == (0.5, "Rogan-Gladen, interval of Lang and Reiczigel")
    told = {"scorer": SCORER, "correction": "rogan-gladen", "calibration": "marks.jsonl (abababab)"}
    assert row["marks"].value == 40 and told.items() <= corrected.factors.items()
    (known,) = (row for row in lines_of(summary, "corrected") if "score" not in row)
    se, sp = (Share.of(np.arange(20) < part, np.arange(20)) for part in (18, 14))
    for name, share in (("sensitivity", se), ("specificity", sp)):
        assert share and (known[name].value, known[name].ci95) == (share.value, (share.rounded.low, share.rounded.high))
        assert (known[name].n, known[name].factors) == (20, told)
    assert width(corrected) > width(plain)
    parts = {part["kind"]: part["rows"] for part in json.loads(summary.to_json())["parts"]}
    assert [row["value"] for row in parts["corrected"] if row["quantity"] == "corrected"] == [0.5]


def test_each_calibration_of_the_scorer_in_force_gives_a_row(tmp_path: Path) -> None:
    calibrate()
    calibrate(20, 0, 0, 20, labels="cd")
    calibrate(10, 10, 10, 10, labels="ef")
    calibrate(scorer="mdk12@2", labels="aa")
    found = [row["corrected"] for row in rows(report(run_of(tmp_path), correct="rogan-gladen"))]
    names = [row.factors["calibration"][-9:-1] for row in found]
    assert names == ["abababab", "cdcdcdcd", "efefefef"] and [row.value for row in found] == [0.5, 0.6, None]
    assert found[2].note.endswith("tell right from wrong no better than chance")


@pytest.mark.parametrize(("counts", "problem"), [
    ((10, 10, 10, 10), "mdk12@3 cannot be corrected: sensitivity 0.500 and specificity 0.500 on marks.jsonl (abababab) tell right from wrong no better than chance; calibrate it on other answers"),
    ((5, 15, 10, 10), "mdk12@3 cannot be corrected: sensitivity 0.250 and specificity 0.500 on"),
    ((10, 10, 0, 0), "mdk12@3 cannot be corrected: people call all answers of marks.jsonl (abababab) right, or none"),
])  # fmt: skip
def test_a_calibration_that_tells_nothing_is_refused(tmp_path: Path, counts: tuple[int, ...], problem: str) -> None:
    calibrate(*counts)
    with pytest.raises(UserError) as caught:
        report(run_of(tmp_path), correct="rogan-gladen")
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(("scorer", "again"), [
    ("mdk12@3", "`mmdyn grade LABELLED --calibrate --policy mdk12`"),
    ("exam@3+wrong(ab12cd34)", "`mmdyn grade LABELLED --calibrate --policy exam --judge MODEL`"),
    ("mdk12@3+wrong(ab12cd34,ef56ab78)", "`mmdyn grade LABELLED --calibrate --policy mdk12 --judge MODEL --judge MODEL`"),
])  # fmt: skip
def test_a_scorer_that_was_never_calibrated_is_refused(tmp_path: Path, scorer: str, again: str) -> None:
    calibrate(scorer="mdk12@2")
    run = write_run(tmp_path / "run", answers("10"), scorer=scorer)
    with pytest.raises(UserError) as caught:
        report(run, correct="rogan-gladen")
    assert str(caught.value).startswith(f"{scorer} was never calibrated here") and again in str(caught.value)


def test_a_scorer_that_cannot_be_calibrated_is_not_told_to_be(tmp_path: Path) -> None:
    judges = tuple(JudgeEntry("judge", f"0000000{n}", {"pictures": n == 1}) for n in (0, 1))
    run = write_run(tmp_path / "run", answers("10"), scorer=f"{SCORER}+wrong(00000000,00000001)", judges=judges)
    problem = "is by a judge that is shown pictures, which `mmdyn grade --calibrate` cannot measure: mark answers"
    with pytest.raises(UserError, match=problem):
        report(run, correct="rogan-gladen")


def test_graded_scores_are_refused_to_rogan_gladen(tmp_path: Path) -> None:
    run = run_of(tmp_path, answer("s0", 1), answer("s1", 0.5))
    with pytest.raises(UserError) as caught:
        report(run, correct="rogan-gladen")
    said = "has scores between 0 and 1 (0.5 of s1), and Rogan-Gladen is for right and wrong alone: give --correct ppi++"
    assert str(caught.value) == f"{run.folder} {said} --labels FILE"


def test_failed_answers_count_for_nothing_and_unparsed_ones_as_wrong(tmp_path: Path) -> None:
    calibrate(20, 0, 0, 20)
    summary = report(run_of(tmp_path, *answers("11ur0x")), correct="rogan-gladen")
    (row,), plain = rows(summary), score(summary)
    assert (row["score"].n, row["score"].value, row["corrected"].value) == (5, 0.4, 0.4) == (plain.n, plain.value, 0.4)


def test_the_plain_score_is_the_reports_for_draws_groups_weights_and_chains(tmp_path: Path) -> None:
    records = [
        answer(f"s{n}", float(n * draw % 3 > 0), Condition("dynamic", chain), draw=draw, weight=1 + n % 4, group=f"g{n // 3}")
        for n in range(12)
        for chain, draws, asked in (("pad", 2, True), ("color", 3, n % 5))
        for draw in range(1 + n % draws) if asked
    ]  # fmt: skip
    calibrate()
    summary = report(run_of(tmp_path, *records), correct="rogan-gladen")
    found = [(row["score"].factors["chain"], row["score"].value, row["score"].ci95) for row in rows(summary)]
    assert found == [(row.factors["chain"], row.value, row.ci95) for row in scores(summary)]
    assert [chain for chain, *_ in found] == ["color", "pad", "all"]


def test_marks_correct_the_reports_score_for_draws_weights_and_chains(tmp_path: Path) -> None:
    """Where every answer is marked as it is scored the correction is the score itself, chain by chain and over all."""
    records = [
        answer(f"s{n}", float(n * draw % 3 > 0), Condition("dynamic", chain), draw=draw, weight=1 + n % 4)
        for n in range(24)
        for chain, draws in (("pad", 2), ("color", 3))
        for draw in range(1 + n % draws) if chain == "pad" or n % 5
    ]  # fmt: skip
    lines = [{"key": record.key, "human": record.score.value if record.score else 0} for record in records]
    found = rows(report(run_of(tmp_path, *records), correct="ppi++", labels=marks_file(tmp_path, *lines)))
    assert [row["score"].factors["chain"] for row in found] == ["color", "pad", "all"]
    assert all(row["corrected"].value == pytest.approx(row["score"].value, abs=2e-6) for row in found)


def test_ppi_by_key_and_by_name(tmp_path: Path) -> None:
    records = answers(VALUES)
    named = [{"sample": record.sample, "mode": "standard", "human": 1} for record in records[:5]]
    some = zip(records[5:9], VALUES[5:9], strict=True)
    keyed = [{"key": record.key, "human": int(value) / 2, "reply": "passed over"} for record, value in some]
    summary = report(run_of(tmp_path, *records), correct="ppi++", labels=marks_file(tmp_path, *named, *keyed))
    (row,) = rows(summary)
    power = (4.5 / 9 - 6 / 9 * 6.5 / 9) / (0.6 * 0.4)  # the covariance of scores and marks over the scores' variance
    plain, corrected = row["score"], row["corrected"]
    assert (plain.n, plain.value, row["marks"].value, corrected.method) == (40, 0.6, 9, "PPI++ (lambda 0.08)")
    assert row["power"].value == pytest.approx(power, abs=1e-6)
    assert corrected.value == pytest.approx(power * 0.6 + (6.5 - power * 6) / 9, abs=1e-6)
    assert width(corrected) > width(plain)


def test_ppi_takes_graded_scores_and_corrects_each_condition_by_its_own_marks(tmp_path: Path) -> None:
    records = [answer(f"s{n}", n % 5 / 4) for n in range(20)]
    records += [answer(f"s{n}", 0.5, **more) for more in ({"condition": DYNAMIC}, {"model": "m2"}) for n in range(20)]
    lines = [{"sample": f"s{n}", "mode": "standard", "model": "m1", "human": 1} for n in range(10)]
    lines += [{"sample": "s1~pad~0", "mode": "dynamic", "human": 0}]
    found = rows(report(run_of(tmp_path, *records), correct="ppi++", labels=marks_file(tmp_path, *lines)))
    told = [row["corrected"] for row in found]
    assert [(row.factors["model"], row.factors["variant"], row.value) for row in told] == [
        ("m1", "standard", 1.0), ("m1", "dynamic", None), ("m2", "standard", None),
    ]  # fmt: skip
    assert [row["marks"].value for row in found] == [10, 1, 0]
    assert told[1].note == "fewer than two marked answers that do not belong together" and not told[0].note


@pytest.mark.parametrize(("lines", "problem"), [
    ([{"key": "k", "human": 1.5}], "marks.jsonl:1: \"human\" must be people's mark, a number from 0 to 1"),
    ([{"key": "k", "human": True}], "marks.jsonl:1: \"human\" must be people's mark, a number from 0 to 1"),
    ([{"key": "k"}], "marks.jsonl:1: \"human\" must be people's mark, a number from 0 to 1"),
    ([{"sample": "s00", "human": 1}], 'marks.jsonl:1: say whose mark it is: give "key", or "sample" and "mode"'),
    ([{"key": 7, "human": 1}], "marks.jsonl:1: key must be a text, a whole number given"),
    ([{"key": "k", "human": 1}], "marks.jsonl:1: no answer of the run is named so: mark answers of this run"),
    ([{"sample": "s00", "mode": "kprag", "human": 1}], "marks.jsonl:1: no answer of the run is named so"),
    ([{"sample": "s00", "mode": "standard", "human": 1}], "marks.jsonl:1: several answers are named so: add one of model, set, style, epoch, or the key"),
    ([{"sample": "s01", "mode": "standard", "model": "m1", "human": 1}] * 2, "marks.jsonl:2: line 1 marks the same answer: keep one of them"),
])  # fmt: skip
def test_a_bad_line_of_marks_is_named(tmp_path: Path, lines: list[Any], problem: str) -> None:
    run = run_of(tmp_path, *answers("10"), *answers("11", model="m2"))
    with pytest.raises(InputError) as caught:
        report(run, correct="ppi++", labels=marks_file(tmp_path, *lines))
    assert str(caught.value).startswith(f"{tmp_path}/{problem}")


def test_marks_of_answers_without_a_score_are_left_out(tmp_path: Path) -> None:
    records = [*answers("101x"), answer("s9", None, scored=False)]
    lines = [{"key": record.key, "human": 1} for record in records]
    (row,) = rows(report(run_of(tmp_path, *records), correct="ppi++", labels=marks_file(tmp_path, *lines)))
    assert (row["score"].n, row["marks"].value) == (3, 3)


@pytest.mark.parametrize(("method", "labels", "problem"), [
    ("rogan-glad", None, "there is no correction 'rogan-glad' (did you mean 'rogan-gladen'?): use rogan-gladen, ppi++"),
    ("ppi++", None, "ppi++ corrects one run by marks of its own answers: give one RUN and --labels FILE"),
    ("rogan-gladen", "marks.jsonl", "labels go with ppi++: Rogan-Gladen takes what `mmdyn grade --calibrate` measured"),
    ("ppi++", "nowhere.jsonl", "nowhere.jsonl: no such file or folder: check the path"),
    ("ppi++", "/dev/null", '/dev/null has no line: give lines with "key" (or "sample" and "mode") and "human"'),
])  # fmt: skip
def test_mistakes(tmp_path: Path, method: str, labels: str | None, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        report(run_of(tmp_path), correct=method, labels=labels)
    assert str(caught.value) == problem


def test_ppi_corrects_one_run_and_rogan_gladen_several(tmp_path: Path) -> None:
    calibrate()
    calibrate(19, 1, 1, 19, scorer="strict@3")
    runs = [write_run(tmp_path / name, answers("110"), scorer=f"{name}@3") for name in ("mdk12", "strict")]
    found = rows(report(*runs, correct="rogan-gladen"))
    places = [row["corrected"].factors for row in found]
    assert [(place["run"], place["scorer"]) for place in places] == [("mdk12", "mdk12@3"), ("strict", "strict@3")]
    with pytest.raises(UserError, match=r"ppi\+\+ corrects one run"):
        report(*runs, correct="ppi++", labels=marks_file(tmp_path, {"key": "k", "human": 1}))


def test_the_table_and_the_csv_file(tmp_path: Path) -> None:
    calibrate()
    run = run_of(tmp_path, *answers(VALUES), *answers(VALUES, DYNAMIC))
    found = tabulate([run], [Corrected(method="rogan-gladen")])
    text = " ".join(printed(found))
    assert "(mdk12@3, rogan-gladen)" in text
    for where in ("m1 exam standard", "m1 exam dynamic pad"):
        assert f"{where} marks.jsonl 60 [45, 74] 50 [13, 83] 40" in text
    assert "90 [67, 100]" in text and "70 [46, 87]" in text
    assert "Rogan-Gladen, interval of Lang and Reiczigel" in text
    (tmp_path / "out.csv").write_text(FORMATS["csv"](found), "utf-8")
    names = ("quantity", "variant", "scorer", "calibration", "value", "n")
    told = [[row[name] for name in names] for row in csv_rows(tmp_path / "out.csv", "corrected")]
    by = [SCORER, "marks.jsonl (abababab)"]
    assert told[:2] == [["score", "standard", *by, "0.6", "40"], ["corrected", "standard", *by, "0.5", "40"]]
    assert told[4][:2] == ["corrected", "dynamic"] and told[-1] == ["specificity", "", *by, "0.7", "20"]


def test_a_table_of_marks_says_what_is_missing(tmp_path: Path) -> None:
    records = [*answers("1100"), *answers("1100", DYNAMIC)]
    lines = [{"sample": f"s0{n}", "mode": "standard", "human": n % 2} for n in range(4)]
    given = [Corrected(method="ppi++", labels=str(marks_file(tmp_path, *lines)))]
    text = " ".join(printed(tabulate([run_of(tmp_path, *records)], given)))
    assert "PPI++ (lambda 0.00)" in text
    assert "dynamic pad, mdk12@3, ppi++: fewer than two marked answers that do not belong together" in text
