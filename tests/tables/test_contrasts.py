"""Which conditions and contexts are compared, within a run and across runs, in what order, and what is noted of them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tables.making_runs import DYNAMIC, SETS, STANDARD, answer, answers, change, changes, score, scores, write_run

from mmdyn.errors import UserError
from mmdyn.record import Condition, Record
from mmdyn.stats import holm
from mmdyn.table import Paired
from mmdyn.tables import Key, Report, report, tabulate
from mmdyn.tables.contrasts import find_sides
from mmdyn.tables.factors import are_compared

POINTS = ("distractor", "distractor:inline", "distractor:two-turn", "kprag:retrieved", "kprag:retrieved:two-turn")
MORE_POINTS = ("kprag:mixed", "kprag", "kprag:inline", "kprag:two-turn")
EVERY = ("none", *POINTS, *MORE_POINTS, "hint:methodology", "hint:background", "hint:all", "oracle")
"""In reporting order."""


def names(found: Report) -> list[str]:
    """The factors of every contrast but the set, in a line."""
    return [" ".join(value for name, value in row.factors.items() if name != "set") for row in changes(found)]


def test_conditions_that_differ_in_one_factor_are_compared(tmp_path: Path) -> None:
    standard = [Condition(), Condition(context="kprag"), Condition(style="cot")]
    dynamic = [DYNAMIC, Condition("dynamic", "pad", "kprag"), Condition("dynamic", "shuffle")]
    records = [record for condition in standard + dynamic for record in answers("10", condition)]
    assert names(report(write_run(tmp_path / "run", records))) == [
        "m1 variant standard dynamic pad none direct",
        "m1 variant standard dynamic shuffle none direct",
        "m1 variant standard dynamic all none direct",
        "m1 variant standard dynamic pad kprag direct",
        "m1 context none kprag standard (not given) direct",
        "m1 context none kprag dynamic pad direct",
        "m1 style direct cot standard (not given) none",
    ]


def test_every_two_models_are_compared_under_the_same_condition(tmp_path: Path) -> None:
    standard = [*answers("11", model="b"), *answers("10", model="a"), *answers("01", model="c")]
    found = report(write_run(tmp_path / "run", [*standard, *answers("00", DYNAMIC, model="a")]))
    assert names(found) == [
        "a variant standard dynamic pad none direct",
        "model b a standard (not given) none direct",
        "model b c standard (not given) none direct",
        "model a c standard (not given) none direct",
    ]
    assert [row.value for row in changes(found)] == [-0.5, -0.5, -0.5, 0.0]


def test_runs_are_compared_where_model_and_condition_are_the_same(tmp_path: Path) -> None:
    first = write_run(tmp_path / "before", [*answers("1111"), *answers("1100", DYNAMIC)])
    second = write_run(tmp_path / "after", [*answers("1110"), *answers("10", model="m2")])
    found = report(first, second)
    conditions = [(row.factors["run"], row.factors["model"]) for row in scores(found)]
    assert conditions == [("before", "m1"), ("before", "m1"), ("after", "m1"), ("after", "m2")]
    assert names(found) == [
        "before m1 variant standard dynamic pad none direct",
        "after model m1 m2 standard (not given) none direct",
        "m1 run before after standard (not given) none direct",
    ]
    assert change(found, factor="run").value == -0.25


def test_models_that_no_run_has_both_of_are_compared_across_runs(tmp_path: Path) -> None:
    found = report(*(write_run(tmp_path / name, answers("1100", model=name)) for name in ("m1", "m2")))
    assert names(found) == ["m1, m2 model m1 m2 standard (not given) none direct"]
    assert change(found).n == 4


def test_runs_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name / "run", answers("1")) for name in "ab"]
    assert [state.name for state in report(*runs).runs] == [str(tmp_path / "a" / "run"), str(tmp_path / "b" / "run")]
    with pytest.raises(UserError, match="is given twice"):
        report(runs[0], runs[0])


def test_scores_of_different_policies_are_not_compared(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / scorer, answers("11"), scorer=scorer) for scorer in ("mdk12", "strict")]
    found = report(*runs)
    row = change(found)
    assert (row.n, row.value, row.ci95, row.p) == (2, None, None, None)
    assert row.note == "scored by different policies (mdk12 and strict): run `mmdyn score` so that they agree"
    assert [change(found, side).value for side in "ab"] == [1.0, 1.0]


def test_another_version_of_the_set_is_noted(tmp_path: Path) -> None:
    changed = (msgspec.structs.replace(SETS[0], digest="other"), SETS[1])
    row = change(
        report(write_run(tmp_path / "a", answers("11")), write_run(tmp_path / "b", answers("11"), sets=changed))
    )
    assert (row.value, row.note) == (0.0, "the runs asked different versions of the set")


def test_chains_are_a_family_behind_their_whole_and_each_breakdown_is_one(tmp_path: Path) -> None:
    def marked(marks: str, condition: Condition = STANDARD) -> list[Record]:
        return [answer(f"p{n}", float(mark), condition, fields={"half": n // 10}) for n, mark in enumerate(marks)]

    records = [*marked("1" * 20)]
    for chain, marks in (("pad", "00000000110000000000"), ("shuffle", "0" * 20), ("blur", "11101111110000000000")):
        records += marked(marks, Condition("dynamic", chain))
    found = report(write_run(tmp_path / "run", records), by=["half", "language"])
    *chains, whole = changes(found)
    assert whole.factors["chain"] == "all" and whole.p_adjusted == whole.p, "the only one of its kind"
    of_chains = [max(p or 0, whole.p or 0) for p in holm([row.p for row in chains])]
    assert [row.p_adjusted for row in chains] == pytest.approx(of_chains, rel=1e-5)
    for by, size in (("half", 8), ("language", 4)):
        family = changes(found, by=by)
        assert [row.p_adjusted for row in family] == pytest.approx(holm([row.p for row in family]), rel=1e-5)
        assert len(family) == size
    assert [row.p for row in changes(found, by="language")] == [row.p for row in changes(found)]


def test_other_models_and_baselines_are_in_families_of_their_own(tmp_path: Path) -> None:
    def run(name: str, *models: str) -> dict[tuple[str, str], float | None]:
        records = [
            one
            for model in models
            for one in answers("1" * 20, model=model) + answers("1" * 13 + "0" * 7, DYNAMIC, model=model)
        ]
        rows = changes(report(write_run(tmp_path / name, records)))
        return {(row.factors.get("model", ""), row.factors["factor"]): row.p_adjusted for row in rows}

    alone, beside = run("alone", "m1"), run("beside", "m1", "baseline:random")
    assert beside["m1", "variant"] == alone["m1", "variant"] == beside["baseline:random", "variant"]
    assert run("both", "m1", "m2")["m1", "variant"] == 2 * (alone["m1", "variant"] or 0), "two models, two questions"


def test_a_chain_is_not_significant_where_the_whole_is_not(tmp_path: Path) -> None:
    records = answers("1" * 30) + answers("1" * 22 + "0" * 8, DYNAMIC)
    for chain in ("shuffle", "blur", "color", "jpeg"):
        records += answers("1" * 30, Condition("dynamic", chain))
    *chains, whole = changes(report(write_run(tmp_path / "run", records)))
    (pad,) = [row for row in chains if row.factors["chain"] == "pad"]
    assert (pad.p or 1) < 0.01 and (pad.p_adjusted or 0) >= (whole.p_adjusted or 1)


def test_a_table_of_changes_by_chain_has_the_p_of_the_report(tmp_path: Path) -> None:
    records = list[Record]()
    for model, marks in (("m1", "1" * 14 + "0" * 16), ("m2", "1" * 20 + "0" * 10), ("baseline:random", "01" * 15)):
        records += answers("1" * 30, model=model) + answers(marks, DYNAMIC, model=model)
        records += answers("1" * 27 + "0" * 3, Condition("dynamic", "blur"), model=model)
    run = write_run(tmp_path / "run", records)
    part = Paired("variant", "standard", "dynamic", ("chain", "model"))
    found, table = report(run), tabulate([run], [part]).parts[0]
    of_report = [row for row in changes(found) if row.factors["factor"] == "variant"]
    same = {(row.factors["model"], row.factors["chain"]): row.p_adjusted for row in of_report}
    own = {
        (row.factors["model"], row.factors["chain"]): row.p_adjusted
        for row in table.rows
        if row.quantity == "difference"
    }
    assert own == same and len(own) == 9 and len({*own.values()}) > 3
    note = "p is adjusted by Holm over 1-2 changes over all chains; 2 chains (no less than the p over all chains)"
    assert note in table.notes
    (contrasts,) = [part for part in found.parts if part.kind == "contrasts" and not part.by]
    assert any(line.startswith(f"{note}; ") for line in contrasts.notes)


def test_breakdowns_go_by_any_field_in_reading_order(tmp_path: Path) -> None:
    records = [answer("p4", 1.0), answer("p4", None, DYNAMIC, error="timed out")]
    for place, (grade, dynamic) in enumerate([("10", 0.0), ("9", 1.0), ("senior", 1.0), ("9", 0.0)]):
        fields = {"grade": grade}
        records += [answer(f"p{place}", 1.0, fields=fields), answer(f"p{place}", dynamic, DYNAMIC, fields=fields)]
    found = report(write_run(tmp_path / "run", records), by=["grade"])
    cells = scores(found, by="grade", chain="pad")
    assert [(row.factors["grade"], row.n, row.value, row.failed) for row in cells] == [
        ("9", 2, 0.5, 0), ("10", 1, 0.0, 0), ("(not given)", 0, None, 1), ("senior", 1, 1.0, 0)
    ]  # fmt: skip
    pairs = changes(found, by="grade")
    assert [(row.factors["grade"], row.n, row.left_out, row.failed, row.value) for row in pairs] == [
        ("9", 2, 0, 0, -0.5), ("10", 1, 0, 0, -1.0), ("(not given)", 0, 1, 1, None), ("senior", 1, 0, 0, 0.0)
    ]  # fmt: skip


def test_a_variant_of_another_task_type_is_broken_down_with_its_parent(tmp_path: Path) -> None:
    dynamic = [answer("p", 0.0, DYNAMIC, task_type="fill_in_the_blank")]
    found = report(write_run(tmp_path / "run", [*dynamic, answer("p", 1.0)]), by=["task_type", "language"])
    assert [row.factors["task_type"] for row in scores(found, by="task_type")] == ["single_choice"] * 2
    assert change(found, by="task_type", task_type="single_choice").n == 1
    assert change(found, by="language", language="en").n == 1
    alone = report(write_run(tmp_path / "alone", dynamic), by=["task_type"])
    assert score(alone, by="task_type").factors["task_type"] == "single_choice"


def test_an_unusual_style_is_compared_only_with_the_usual_one() -> None:
    keys = [Key("", "m", "s", "standard", "", "none", style) for style in ("cot", "long")]
    assert find_sides(keys) == []
    keys = [Key(run, "m", "s", "standard", "", "none", style) for run, style in (("one", "cot"), ("two", "direct"))]
    assert [(sides.a.style, sides.b.style) for sides in find_sides(keys)] == [("direct", "cot")], "the base is the base"


def test_runs_with_other_prompts_are_noted(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", answers("1100"), prompts="x")
    two = write_run(tmp_path / "two", answers("1110"), prompts="y", epochs=2)
    assert change(report(one, two)).note == "the runs asked different prompts and numbers of epochs"


def under(*contexts: str, marks: str = "10", **more: Any) -> list[Record]:
    return [record for name in contexts for record in answers(marks, Condition(context=name), **more)]


def contexts_of(found: Report) -> list[str]:
    return [f"{row.factors['a']} < {row.factors['b']}" for row in changes(found, factor="context")]


@pytest.mark.parametrize(("contexts", "compared"), [
    ("distractor kprag:retrieved kprag:mixed kprag", "distractor < kprag:retrieved, distractor < kprag:mixed, distractor < kprag, kprag:retrieved < kprag:mixed, kprag:retrieved < kprag, kprag:mixed < kprag"),
    ("distractor:two-turn kprag:two-turn kprag", "distractor:two-turn < kprag:two-turn, kprag:two-turn < kprag"),
    ("kprag kprag:inline kprag:two-turn distractor", "kprag < kprag:inline, kprag < kprag:two-turn, kprag < distractor, kprag:inline < kprag:two-turn"),
    ("kprag hint:a hint:b hint:all", "hint:a < hint:all, hint:b < hint:all"),
    ("kprag hint:all kprag:closed-book oracle", ""),
    ("no-picture caption caption+kprag kprag", "no-picture < caption, caption < caption+kprag, caption+kprag < kprag"),
    ("no-picture+kprag caption+distractor caption+kprag caption+hint:a caption+hint:all hint:a", "no-picture+kprag < caption+kprag, caption+distractor < caption+kprag, caption+hint:a < caption+hint:all, caption+hint:a < hint:a"),
    ("caption caption+hint:a caption+kprag:inline caption+kprag:mixed", "caption < caption+hint:a, caption < caption+kprag:inline, caption < caption+kprag:mixed"),
])  # fmt: skip
def test_contexts_are_compared_where_one_thing_differs(contexts: str, compared: str) -> None:
    names = contexts.split()
    assert all(are_compared("none", name) and are_compared(name, "none") for name in names)
    assert ", ".join(f"{a} < {b}" for a, b in combinations(names, 2) if are_compared(a, b)) == compared


def test_conditions_stand_from_what_should_help_least_to_what_should_help_most(tmp_path: Path) -> None:
    conditions = tuple(Condition(context=name) for name in reversed(EVERY))
    asked = [c.context for c in conditions if c.context.startswith("hint")]
    assert asked == ["hint:all", "hint:background", "hint:methodology"]
    run = write_run(tmp_path / "run", under(*sorted(EVERY)), conditions=conditions)
    found = [row.factors["context"] for row in scores(report(run))]
    assert found == [*EVERY[:10], "hint:background", "hint:methodology", "hint:all", "oracle"]


@pytest.mark.parametrize("order", [("bare", "grounded"), ("grounded", "bare")])
def test_contexts_of_two_runs_are_compared_whichever_is_given_first(tmp_path: Path, order: tuple[str, str]) -> None:
    contexts = {"bare": ("none", "distractor"), "grounded": ("kprag",)}
    found = report(*(write_run(tmp_path / name, under(*contexts[name])) for name in order))
    assert sorted(contexts_of(found)) == ["distractor < kprag", "none < distractor", "none < kprag"]
    assert {row.factors["run"] for row in changes(found)} == {"bare", "bare, grounded"}


def test_other_knowledge_is_noted_where_it_lay_there(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{k}", under("none", "kprag:retrieved"), knowledge={"k": k}) for k in (3, 5)]
    notes = {row.factors["context"]: row.note for row in changes(report(*runs), factor="run")}
    assert notes == {"none": "", "kprag:retrieved": "the runs laid other knowledge beside the questions"}
    bare = write_run(tmp_path / "none", under("none"), knowledge={})
    apart = [bare, write_run(tmp_path / "kprag", under("kprag"), knowledge={"k": 3})]
    assert change(report(*apart)).note == "", "where nothing lay nothing differs"
    same = [write_run(tmp_path / name, under("kprag"), knowledge={"k": 3}) for name in "ab"]
    assert change(report(*same)).note == ""
    told = [write_run(tmp_path / f"told {k}", under("caption"), knowledge={"k": k}) for k in (3, 5)]
    assert change(report(*told)).note == "", "a caption is no knowledge"


def test_contexts_stand_by_what_becomes_of_the_pictures_first(tmp_path: Path) -> None:
    names = (
        "no-picture",
        "no-picture+kprag",
        "caption",
        "caption+kprag",
        "caption+hint:all",
        "none",
        "kprag",
        "oracle",
    )
    found = report(write_run(tmp_path / "run", under(*sorted(names))))
    assert [row.factors["context"] for row in scores(found)] == [*names]
    with_none = [pair for pair in contexts_of(found) if "none" in pair.split()]
    assert with_none == [f"{name} < none" for name in names[:5]] + ["none < kprag", "none < oracle"]
