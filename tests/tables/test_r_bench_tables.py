"""R-Bench's tables: languages on paired questions, chain of thought, departments, courses, thinking time."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tables.making_counts import Cell, counted, counted_run
from tables.making_runs import answer, write_run
from tables.paper_numbers import percent, published, row, told

from mmdyn.record import Record, Reply, Usage
from mmdyn.table import Pivot
from mmdyn.tables import tabulate
from mmdyn.tables.factors import NOT_GIVEN
from mmdyn.work import RunFolder

T, M = {"modality": "text"}, {"modality": "multimodal"}


@pytest.mark.parametrize(("table", "modality", "paper"), [("table5", T, (69.0, 70.1)), ("table6", M, (53.2, 55.0))])
def test_languages_of_a_part(tmp_path: Path, table: str, modality: dict[str, str], paper: tuple[float, float]) -> None:
    other = M if modality == T else T
    cells: list[Cell] = [
        ({"model": "o1-20241217", "language": "en", **modality}, 60, 100),
        ({"model": "o1-20241217", "language": "zh", **modality}, 50, 100),
        ({"model": "o1-20241217", "language": "en", **other}, 0, 100),
    ]
    found = told(f"r_bench.{table}", counted_run(tmp_path / "run", cells))
    assert [percent(row(found, language=name).value) for name in ("en", "zh", "all")] == [60, 50, 55]
    assert [percent(row(found, language=name).paper) for name in ("en", "zh")] == [*paper]


def in_languages(both: str, model: str = "m1") -> list[Record]:
    """A character a question: + right in both languages, e and z right in one alone, = wrong alike, / wrong otherwise,
    ? wrong in both with nothing read in one, . asked in English alone."""
    made = list[Record]()
    for place, mark in enumerate(both):
        more = {"group": f"r-bench-t-{place}", "fields": T, "model": model}
        said = {"+": "AA", "e": "AB", "z": "BA", "=": "BB", "/": "BC", "?": "B-", ".": "A"}[mark]
        for language, letter in zip(("en", "zh"), said, strict=False):
            value, read = float(letter == "A"), None if letter == "-" else [letter]
            status = "unparsed" if read is None else "ok"
            made.append(answer(f"{language}-{place}", value, language=language, extracted=read, status=status, **more))
    return made


def shares(run: RunFolder, model: str = "m1") -> dict[str, float | None]:
    """The figures of figure 5 by quantity, in percent."""
    return {
        one.quantity: percent(one.value)
        for one in told("r_bench.figure5", run).parts[0].rows
        if one.factors["model"] == model
    }


def test_english_against_chinese_on_paired_questions(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", in_languages("+" * 8 + "eee" + "z" + "==//" + "?" + "..." + "+" * 3))
    found = shares(run)
    assert found == {
        "en": 70, "zh": 60, "difference": -10, "consistency": 80,
        "both right": 55, "en only": 15, "zh only": 5, "both wrong": 25, "both wrong, alike": 10,
    }  # fmt: skip
    test = row(told("r_bench.figure5", run), 0, "difference")
    assert (test.n, test.left_out) == (20, 3) and "McNemar" in test.method
    assert test.p == 0.375, "the mid-p test of 3 against 1"
    consistency = row(told("r_bench.figure5", run), 0, "consistency")
    assert (consistency.n, consistency.ci95) == (20, (0.583983, 0.919342)), "Wilson's interval of 16 in 20"


def test_a_model_that_answers_alike_in_both_languages(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*in_languages("+++===", "m1"), *in_languages("eeezzz", "m2")])
    assert shares(run)["both wrong, alike"] == 50 and shares(run)["difference"] == 0
    assert (
        shares(run, "m2")["both right"],
        shares(run, "m2")["both wrong, alike"],
        shares(run, "m2")["difference"],
    ) == (0, 0, 0)


def test_what_was_picked_is_a_factor(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", in_languages("++e/?"))
    found = tabulate([run], [Pivot(by=("language", "picked"), measure="questions")])
    counts = {(one.factors["language"], one.factors["picked"]): one.value for one in found.parts[0].rows}
    assert counts["en", "A"] == 3 and counts["en", "B"] == 2 and counts["en", "all"] == 5
    assert (counts["zh", "A"], counts["zh", "B"], counts["zh", "C"], counts["zh", NOT_GIVEN]) == (2, 1, 1, 1)


def test_one_question_and_no_pair(tmp_path: Path) -> None:
    one = told("r_bench.figure5", write_run(tmp_path / "one", in_languages("+")))
    assert row(one, 0, "both right").value == 1 and row(one, 0, "difference").p == 1
    none = told("r_bench.figure5", write_run(tmp_path / "none", in_languages("...")))
    assert all(each.value is None for each in none.parts[0].rows) and none.parts[0].notes


def test_chain_of_thought(tmp_path: Path) -> None:
    shared = {"model": "GPT-4o-20241120", "language": "en", **T}
    cells: list[Cell] = [({**shared, "style": "direct"}, 20, 40), ({**shared, "style": "cot"}, 26, 40), ({**shared, "style": "cot", "language": "zh"}, 0, 40)]  # fmt: skip
    found = told("r_bench.table7", counted_run(tmp_path / "run", cells))
    gained = row(found, 0, "difference")
    assert (percent(gained.value), gained.n, percent(gained.paper)) == (15, 40, 2.1)
    assert [percent(row(found, 0, style).paper) for style in ("direct", "cot")] == [51.5, 53.6]


def test_departments_and_subjects(tmp_path: Path) -> None:
    shared = {"language": "en", **T}
    places = [("Physics", "Optics", 6), ("Physics", "Group Theory", 2), ("Biology", "Genetics", 1)]
    cells: list[Cell] = [({**shared, "department": d, "subject": s}, right, 10) for d, s, right in places]
    run = counted_run(tmp_path / "run", cells)
    found = told("r_bench.figure6", run)
    assert [percent(row(found, 0, department=name).value) for name in ("Physics", "Biology", "all")] == [40, 10, 30]
    assert [percent(row(found, 1, name).value) for name in ("lowest", "highest", "range")] == [10, 40, 30]
    assert [percent(row(found, 1, name).paper, 1) for name in ("lowest", "highest", "range")] == [30.4, 68.3, 37.9]
    each = told("r_bench.subjects", run)
    assert percent(row(each, department="Physics", subject="Optics").value) == 60
    assert percent(row(each, department="Physics", subject="all").value) == 40


@pytest.mark.parametrize(
    ("table", "modality", "questions", "subjects"), [("table8", T, 1094, 108), ("table9", M, 665, 83)]
)
def test_courses_are_the_papers(
    tmp_path: Path, table: str, modality: dict[str, str], questions: int, subjects: int
) -> None:
    """From the paper's counts of courses its total comes out, and every course."""
    lines = published(f"r_bench.{table}")
    cells: list[Cell] = [({"department": line["department"], "subject": line["subject"], "language": "en", **modality}, 0, int(line["value"])) for line in lines]  # fmt: skip
    found = told(f"r_bench.{table}", counted_run(tmp_path / "run", cells))
    whole = row(found, department="all", subject="all")
    assert (whole.value, whole.unit, len(lines)) == (questions, "count", subjects)
    for line in lines:
        course = row(found, department=line["department"], subject=line["subject"])
        assert course.value == course.paper == int(line["value"])


def test_failed_questions_are_counted_as_questions(tmp_path: Path) -> None:
    cells: list[Cell] = [
        ({"department": "Biology", "subject": "Genetics", "language": "en", "error": "500", **T}, 0, 3)
    ]
    assert row(told("r_bench.table8", counted_run(tmp_path / "run", cells)), department="Biology").value == 3


def test_thinking_time(tmp_path: Path) -> None:
    def took(set: str, seconds: float, tokens: int) -> list[Record]:
        reply = Reply("A", seconds=seconds, usage=Usage(10, tokens + 5, reasoning_tokens=tokens))
        return [replace(record, reply=reply) for record in counted([({"model": "o1", "set": set}, 1, 3)])]

    run = write_run(tmp_path / "run", [*took("MMLU", 10, 300), *took("R-Bench-T", 80, 6000)])
    found = told("r_bench.table4", run)
    assert [row(found, 0, set=name).value for name in ("MMLU", "R-Bench-T")] == [10, 80]
    assert [row(found, 1, set=name).value for name in ("MMLU", "R-Bench-T")] == [300, 6000]
    assert [row(found, 0, set=name).paper for name in ("MMLU", "R-Bench-T")] == [13.5, 98.2]
