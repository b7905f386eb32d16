"""Which conditions and contexts are compared, within a run and across runs, in what order, and what is noted of them."""

from __future__ import annotations

import io
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tables.making_runs import DYNAMIC, SETS, answer, answers, write_run

from mmdyn.errors import UserError
from mmdyn.record import Condition, Contrast, Record
from mmdyn.stats import holm
from mmdyn.tables import print_summary, summarise
from mmdyn.tables.contexts import are_compared
from mmdyn.tables.contrasts import find_pairs
from mmdyn.tables.results import Key
from mmdyn.work import RunFolder

POINTS = ("distractor", "distractor:inline", "distractor:two-turn", "kprag:retrieved", "kprag:retrieved:two-turn")
MORE_POINTS = ("kprag:mixed", "kprag", "kprag:inline", "kprag:two-turn")
EVERY = ("none", *POINTS, *MORE_POINTS, "hint:methodology", "hint:background", "hint:all", "oracle")
"""In reporting order."""


def names(contrasts: list[Contrast]) -> list[tuple[str, str, str, str, str]]:
    return [(each.model, each.factor, each.a, each.b, " ".join(each.held.values())) for each in contrasts]


def test_conditions_that_differ_in_one_factor_are_compared(tmp_path: Path) -> None:
    standard = [Condition(), Condition(context="kprag"), Condition(style="cot")]
    dynamic = [DYNAMIC, Condition("dynamic", "pad", "kprag"), Condition("dynamic", "shuffle")]
    records = [record for condition in standard + dynamic for record in answers("10", condition)]
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
    standard = [*answers("11", model="b"), *answers("10", model="a"), *answers("01", model="c")]
    found = summarise([write_run(tmp_path / "run", [*standard, *answers("00", DYNAMIC, model="a")])]).contrasts
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
    conditions = [(found.run, found.model) for found in summary.conditions]
    assert conditions == [("before", "m1"), ("before", "m1"), ("after", "m1"), ("after", "m2")]
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
    records = [answer("p4", 1.0), answer("p4", None, DYNAMIC, error="timed out")]
    for place, (grade, dynamic) in enumerate([("10", 0.0), ("9", 1.0), ("senior", 1.0), ("9", 0.0)]):
        fields = {"grade": grade}
        records += [answer(f"p{place}", 1.0, fields=fields), answer(f"p{place}", dynamic, DYNAMIC, fields=fields)]
    summary = summarise([write_run(tmp_path / "run", records)], by=["grade"])
    cells = summary.conditions[1].by["grade"]
    assert [(value, cell.n, cell.score, cell.failed) for value, cell in cells.items()] == [
        ("9", 2, 0.5, 0), ("10", 1, 0.0, 0), ("(not given)", 0, None, 1), ("senior", 1, 1.0, 0)
    ]  # fmt: skip
    pairs = summary.contrasts[0].by["grade"]
    assert [(value, cell["n"], cell["left_out"], cell["failed"], cell["delta"]) for value, cell in pairs.items()] == [
        ("9", 2, 0, 0, -0.5), ("10", 1, 0, 0, -1.0), ("(not given)", 0, 1, 1, None), ("senior", 1, 0, 0, 0.0)
    ]  # fmt: skip


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
    says = r"'dificulty' \(did you mean 'difficulty'\?\): break down by difficulty, language, task_type"
    with pytest.raises(UserError, match=says):
        summarise([run], by=["dificulty"])


def test_a_field_of_too_many_values_is_refused(tmp_path: Path) -> None:
    records = [answer(f"p{place}", 1.0, fields={"page": place}) for place in range(1001)]
    with pytest.raises(UserError, match="the field 'page' has 1001 values: break down by one of 1000 at most"):
        summarise([write_run(tmp_path / "run", records)], by=["page"])


def test_an_unusual_style_is_compared_only_with_the_usual_one() -> None:
    keys = [Key("", "m", "s", "standard", "", "none", style) for style in ("cot", "long")]
    assert find_pairs(keys) == []
    keys = [Key(run, "m", "s", "standard", "", "none", style) for run, style in (("one", "cot"), ("two", "direct"))]
    assert [(pair.a.style, pair.b.style) for pair in find_pairs(keys)] == [("direct", "cot")], "the base is the base"


def test_runs_with_other_prompts_are_noted(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", answers("1100"), prompts="x")
    two = write_run(tmp_path / "two", answers("1110"), prompts="y", epochs=2)
    (found,) = summarise([one, two]).contrasts
    assert found.note == "the runs asked different prompts and numbers of epochs"


def under(*contexts: str, marks: str = "10", **more: Any) -> list[Record]:
    return [record for name in contexts for record in answers(marks, Condition(context=name), **more)]


def contexts_of(contrasts: list[Contrast]) -> list[str]:
    return [f"{each.a} < {each.b}" for each in contrasts if each.factor == "context"]


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
    found = [row.factors["context"] for row in summarise([run]).conditions]
    assert found == [*EVERY[:10], "hint:background", "hint:methodology", "hint:all", "oracle"]


@pytest.mark.parametrize("order", [("bare", "grounded"), ("grounded", "bare")])
def test_contexts_of_two_runs_are_compared_whichever_is_given_first(tmp_path: Path, order: tuple[str, str]) -> None:
    contexts = {"bare": ("none", "distractor"), "grounded": ("kprag",)}
    runs = [write_run(tmp_path / name, under(*contexts[name])) for name in order]
    found = summarise(runs).contrasts
    assert sorted(contexts_of(found)) == ["distractor < kprag", "none < distractor", "none < kprag"]
    assert {each.held["run"] for each in found} == {"bare", "bare, grounded"}


def test_other_knowledge_is_noted_where_it_lay_there(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{k}", under("none", "kprag:retrieved"), knowledge={"k": k}) for k in (3, 5)]
    notes = {each.held["context"]: each.note for each in summarise(runs).contrasts if each.factor == "run"}
    assert notes == {"none": "", "kprag:retrieved": "the runs laid other knowledge beside the questions"}
    bare = write_run(tmp_path / "none", under("none"), knowledge={})
    apart = [bare, write_run(tmp_path / "kprag", under("kprag"), knowledge={"k": 3})]
    assert [each.note for each in summarise(apart).contrasts] == [""], "where nothing lay nothing differs"
    same = [write_run(tmp_path / name, under("kprag"), knowledge={"k": 3}) for name in "ab"]
    assert [each.note for each in summarise(same).contrasts] == [""]
    told = [write_run(tmp_path / f"told {k}", under("caption"), knowledge={"k": k}) for k in (3, 5)]
    assert [each.note for each in summarise(told).contrasts] == [""], "a caption is no knowledge"


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
    run = write_run(tmp_path / "run", under(*sorted(names)))
    summary = summarise([run])
    assert [row.factors["context"] for row in summary.conditions] == [*names]
    with_none = [pair for pair in contexts_of(summary.contrasts) if "none" in pair.split()]
    assert with_none == [f"{name} < none" for name in names[:5]] + ["none < kprag", "none < oracle"]


@pytest.mark.parametrize(("names", "said"), [
    (["kprag:inline"], "kprag = its own knowledge points; …:inline = the model elaborates on the points before it answers"),
    (["kprag:retrieved", "none"], "none = nothing; kprag:retrieved = looked-up points"),
    (["hint:all", "hint:b", "hint:a"], "hint:KIND = its own hint of that kind; hint:all = all its hints"),
    (["none", "oracle"], "none = nothing"),
    (["no-picture", "caption"], "no-picture = nothing in place of its pictures; caption = their captions in place of its pictures"),
    (["caption+kprag:inline", "none"], "caption = their captions in place of its pictures; kprag = its own knowledge points; none = nothing; …:inline = the model elaborates on the points before it answers"),
    (["caption+hint:all"], "caption = their captions in place of its pictures; hint:all = all its hints"),
    (["oracle"], ""),
    (["none"], ""),
])  # fmt: skip
def test_the_legend_names_only_what_occurs(tmp_path: Path, names: list[str], said: str) -> None:
    assert legend(tmp_path, *names) == said


def legend(folder: Path, *names: str) -> str:
    """What is said of contexts above the scores."""
    lines = " ".join(" ".join(lines_of(write_run(folder / "run", under(*names, marks="1")))).split())
    return "".join(
        re.findall(r"without a judge\. Contexts \(what lies beside the question\): (.*?)\. Scores in percent", lines)
    )


def test_the_legend_names_everything_once(tmp_path: Path) -> None:
    assert [part.partition(" = ")[0] for part in legend(tmp_path, *EVERY).split("; ")] == [
        "none", "distractor", "kprag:retrieved", "kprag:mixed", "kprag", "hint:KIND", "hint:all",
        "…:inline", "…:two-turn",
    ]  # fmt: skip


def test_main_contrasts_are_printed_first(tmp_path: Path) -> None:
    contexts = ("none", "distractor", "kprag")
    conditions = [Condition(context=name) for name in contexts]
    dynamic = [Condition("dynamic", chain, name) for chain in ("blur", "pad") for name in contexts]
    lines = lines_of(write_run(tmp_path / "both", grid(*conditions, *dynamic)))
    within = ["none → distractor", "none → kprag", "distractor → kprag"]
    chains = [f"standard → dynamic (chain {chain})" for chain in ("blur", "pad", "all")]
    assert contrasts_in(lines) == [
        *chains, "standard, direct", *within, "context distractor", *chains, "context kprag", *chains,
        "dynamic blur", *within, "dynamic pad", *within, "dynamic all", *within,
    ]  # fmt: skip
    lines = lines_of(write_run(tmp_path / "one", grid(*conditions, *dynamic[:2])))
    assert contrasts_in(lines) == [
        "standard → dynamic (chain blur)", "standard, direct", *within,
        "other conditions", "standard → dynamic (chain blur, context distractor)", "none → distractor (dynamic blur)",
    ]  # fmt: skip


def test_few_contrasts_need_no_headings(tmp_path: Path) -> None:
    names = ("none", "kprag")
    conditions = [*(Condition(context=name) for name in names), *(Condition("dynamic", "pad", name) for name in names)]
    assert contrasts_in(lines_of(write_run(tmp_path / "run", grid(*conditions)))) == [
        "standard → dynamic (chain pad)", "none → kprag (standard, direct)",
        "standard → dynamic (chain pad, context kprag)", "none → kprag (dynamic pad)",
    ]  # fmt: skip


def grid(*conditions: Condition) -> list[Record]:
    return [record for condition in conditions for record in answers("1100", condition)]


def lines_of(run: RunFolder) -> list[str]:
    print_summary(summarise([run]), out := io.StringIO())
    return out.getvalue().splitlines()


def contrasts_in(lines: list[str]) -> list[str]:
    """The first column of the table of contrasts, with its headings."""
    start = next(n for n, line in enumerate(lines) if line.startswith("Contrasts in points"))
    rule = next(n for n, line in enumerate(lines) if n > start and "──" in line)
    rows = lines[rule + 1 : next(n for n, line in enumerate(lines) if n > rule and not line.strip())]
    return [re.split(r"  +", row.strip())[0] for row in rows]
