"""Which conditions are compared, within a run and across runs, and how breakdowns are adjusted."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from tables.making_runs import DYNAMIC, SETS, answer, answers, write_run

from mmdyn.errors import UserError
from mmdyn.record import Condition, Contrast, Record
from mmdyn.stats import holm
from mmdyn.tables import print_summary, summarise
from mmdyn.tables.contrasts import find_pairs
from mmdyn.tables.results import Key


def names(contrasts: list[Contrast]) -> list[tuple[str, str, str, str, str]]:
    return [(each.model, each.factor, each.a, each.b, " ".join(each.held.values())) for each in contrasts]


def test_conditions_that_differ_in_one_factor_are_compared(tmp_path: Path) -> None:
    conditions = [
        Condition(),
        Condition(context="kprag"),
        Condition(style="cot"),
        DYNAMIC,
        Condition("dynamic", "pad", "kprag"),
        Condition("dynamic", "shuffle"),
    ]
    records = [record for condition in conditions for record in answers("10", condition)]
    assert names(summarise([write_run(tmp_path / "run", records)]).contrasts) == [
        ("m1", "variant", "standard", "dynamic", "pad none direct"),
        ("m1", "variant", "standard", "dynamic", "shuffle none direct"),
        ("m1", "variant", "standard", "dynamic", "all none direct"),
        ("m1", "variant", "standard", "dynamic", "pad kprag direct"),
        ("m1", "context", "none", "kprag", "standard  direct"),
        ("m1", "context", "none", "kprag", "dynamic pad direct"),
        ("m1", "style", "direct", "cot", "standard  none"),
    ]


def test_every_two_models_are_compared_under_the_same_condition(tmp_path: Path) -> None:
    records = [
        *answers("11", model="b"),
        *answers("10", model="a"),
        *answers("00", DYNAMIC, model="a"),
        *answers("01", model="c"),
    ]
    found = summarise([write_run(tmp_path / "run", records)]).contrasts
    assert names(found) == [
        ("a", "variant", "standard", "dynamic", "pad none direct"),
        ("", "model", "b", "a", "standard  none direct"),
        ("", "model", "b", "c", "standard  none direct"),
        ("", "model", "a", "c", "standard  none direct"),
    ]
    assert [each.delta for each in found] == [-0.5, -0.5, -0.5, 0.0]


def test_runs_are_compared_where_model_and_condition_are_the_same(tmp_path: Path) -> None:
    first = write_run(tmp_path / "before", [*answers("1111"), *answers("1100", DYNAMIC)])
    second = write_run(tmp_path / "after", [*answers("1110"), *answers("10", model="m2")])
    summary = summarise([first, second])
    assert [(found.run, found.model) for found in summary.conditions] == [
        ("before", "m1"),
        ("before", "m1"),
        ("after", "m1"),
        ("after", "m2"),
    ]
    assert names(summary.contrasts) == [
        ("m1", "variant", "standard", "dynamic", "pad none direct before"),
        ("", "model", "m1", "m2", "standard  none direct after"),
        ("m1", "run", "before", "after", "standard  none direct"),
    ]
    assert summary.contrasts[-1].delta == -0.25


def test_models_that_no_run_has_both_of_are_compared_across_runs(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, answers("1100", model=name)) for name in ("m1", "m2")]
    (found,) = summarise(runs).contrasts
    assert (found.factor, found.a, found.b, found.held["run"], found.n) == ("model", "m1", "m2", "m1, m2", 4)


def test_runs_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name / "run", answers("1")) for name in "ab"]
    assert [state.name for state in summarise(runs).runs] == [str(tmp_path / "a" / "run"), str(tmp_path / "b" / "run")]
    with pytest.raises(UserError, match="is given twice"):
        summarise([runs[0], runs[0]])


def test_scores_of_different_policies_are_not_compared(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / scorer, answers("11"), scorer=scorer) for scorer in ("mdk12", "strict")]
    (found,) = summarise(runs).contrasts
    assert (found.n, found.delta, found.ci95, found.p) == (2, None, None, None)
    assert found.note == "scored by different policies (mdk12 and strict): run `mmdyn score` so that they agree"


def test_another_version_of_the_set_is_noted(tmp_path: Path) -> None:
    changed = (msgspec.structs.replace(SETS[0], digest="other"), SETS[1])
    runs = [write_run(tmp_path / "a", answers("11")), write_run(tmp_path / "b", answers("11"), sets=changed)]
    (found,) = summarise(runs).contrasts
    assert (found.delta, found.note) == (0.0, "the runs asked different versions of the set")


def test_holm_is_over_all_contrasts_and_over_all_cells_apart(tmp_path: Path) -> None:
    records: list[Record] = []
    for chain, marks in (("pad", "0000000011"), ("shuffle", "0011111111"), ("blur", "1110111111")):
        records += answers(marks, Condition("dynamic", chain), fields={"half": 1})
    records += answers("1111111111", fields={"half": 1})
    contrasts = summarise([write_run(tmp_path / "run", records)], by=["half"]).contrasts
    whole = [each.p for each in contrasts]
    assert [each.p_adjusted for each in contrasts] == pytest.approx(holm(whole), rel=1e-5)
    cells = [each.by["half"]["1"] for each in contrasts]
    assert [cell["p"] for cell in cells] == whole
    assert [cell["p_adjusted"] for cell in cells] == [each.p_adjusted for each in contrasts]


def test_breakdowns_go_by_any_field_in_reading_order(tmp_path: Path) -> None:
    records = list[Record]()
    for place, (grade, dynamic) in enumerate([("10", 0.0), ("9", 1.0), ("senior", 1.0), ("9", 0.0)]):
        records += [
            answer(f"p{place}", 1.0, fields={"grade": grade}),
            answer(f"p{place}", dynamic, DYNAMIC, fields={"grade": grade}),
        ]
    records += [answer("p4", 1.0), answer("p4", None, DYNAMIC, error="timed out")]
    summary = summarise([write_run(tmp_path / "run", records)], by=["grade"])
    cells = summary.conditions[1].by["grade"]
    assert [(value, cell.n, cell.score, cell.failed) for value, cell in cells.items()] == [
        ("9", 2, 0.5, 0),
        ("10", 1, 0.0, 0),
        ("(not given)", 0, None, 1),
        ("senior", 1, 1.0, 0),
    ]
    pairs = summary.contrasts[0].by["grade"]
    assert [(value, cell["n"], cell["left_out"], cell["failed"], cell["delta"]) for value, cell in pairs.items()] == [
        ("9", 2, 0, 0, -0.5),
        ("10", 1, 0, 0, -1.0),
        ("(not given)", 0, 1, 1, None),
        ("senior", 1, 0, 0, 0.0),
    ]


def test_a_variant_of_another_task_type_is_broken_down_with_its_parent(tmp_path: Path) -> None:
    dynamic = [answer("p", 0.0, DYNAMIC, task_type="fill_in_the_blank")]
    summary = summarise([write_run(tmp_path / "run", [*dynamic, answer("p", 1.0)])], by=["task_type", "language"])
    assert [list(found.by["task_type"]) for found in summary.conditions] == [["single_choice"]] * 2
    assert summary.contrasts[0].by["task_type"]["single_choice"]["n"] == 1
    alone = summarise([write_run(tmp_path / "alone", dynamic)], by=["task_type"])
    assert list(alone.conditions[0].by["task_type"]) == ["single_choice"]
    assert summary.contrasts[0].by["language"]["en"]["n"] == 1


def test_an_unknown_field_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", answers("1", fields={"difficulty": "easy"}))
    with pytest.raises(
        UserError, match=r"'dificulty' \(did you mean 'difficulty'\?\): break down by difficulty, language, task_type"
    ):
        summarise([run], by=["dificulty"])


def test_a_field_of_too_many_values_is_refused(tmp_path: Path) -> None:
    records = [answer(f"p{place}", 1.0, fields={"page": place}) for place in range(1001)]
    with pytest.raises(UserError, match="the field 'page' has 1001 values: break down by one of 1000 at most"):
        summarise([write_run(tmp_path / "run", records)], by=["page"])


def test_an_unusual_style_is_compared_only_with_the_usual_one() -> None:
    keys = [Key("", "m", "s", "standard", "", "none", style) for style in ("cot", "long")]
    assert find_pairs(keys) == []


def test_a_contrast_between_forms_says_that_guessing_pays_differently(tmp_path: Path) -> None:
    converted = [answer(f"p{n}", 1.0, DYNAMIC, task_type="true_false") for n in range(12)]
    standard = [answer(f"p{n}", 0.0) for n in range(12)]
    summary = summarise([write_run(tmp_path / "run", [*standard, *converted])])
    note = "some questions were asked in another form, in which guessing pays differently"
    assert [found.note for found in summary.contrasts] == [note]
    print_summary(summary, out := io.StringIO())
    assert f"12 pairs). But {note}." in " ".join(out.getvalue().split())
    same = [answer(f"p{n}", 1.0, DYNAMIC) for n in range(12)]
    assert summarise([write_run(tmp_path / "same", [*standard, *same])]).contrasts[0].note == ""


def test_runs_with_other_prompts_are_noted(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", answers("1100"), prompts="x")
    two = write_run(tmp_path / "two", answers("1110"), prompts="y", epochs=2)
    (found,) = summarise([one, two]).contrasts
    assert found.note == "the runs asked different prompts and numbers of epochs"
