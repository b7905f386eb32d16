"""Contexts: which are compared, in what order they stand, and what is noted of them."""

from __future__ import annotations

import io
import re
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import pytest
from tables.making_runs import answers, write_run

from mmdyn.record import Condition, Contrast, Record
from mmdyn.tables import print_summary, summarise
from mmdyn.tables.contexts import are_compared
from mmdyn.tables.contrasts import find_pairs
from mmdyn.tables.results import Key
from mmdyn.work import RunFolder

POINTS = ("distractor:none", "distractor", "distractor:two-turn", "kprag:retrieved", "kprag:retrieved:two-turn")
MORE_POINTS = ("kprag:mixed", "kprag:none", "kprag", "kprag:two-turn")
EVERY = ("none", *POINTS, *MORE_POINTS, "hint:methodology", "hint:background", "hint:all", "oracle")
"""In reporting order."""


def pairs_of(*contexts: str) -> list[str]:
    """Which of some contexts, in this order, are compared, but for those with none."""
    found = [(a, b) for a, b in combinations(contexts, 2) if are_compared(a, b)]
    return [f"{a} < {b}" for a, b in found if a != "none"]


def under(*contexts: str, marks: str = "10", **more: Any) -> list[Record]:
    return [record for name in contexts for record in answers(marks, Condition(context=name), **more)]


def contexts_of(contrasts: list[Contrast]) -> list[str]:
    return [f"{each.a} < {each.b}" for each in contrasts if each.factor == "context"]


def test_everything_is_compared_with_none() -> None:
    assert all(are_compared("none", other) for other in EVERY[1:])


def test_sources_are_compared_where_the_elaboration_is_the_same() -> None:
    assert pairs_of("none", "distractor", "kprag:retrieved", "kprag:mixed", "kprag") == [
        "distractor < kprag:retrieved", "distractor < kprag:mixed", "distractor < kprag",
        "kprag:retrieved < kprag:mixed", "kprag:retrieved < kprag", "kprag:mixed < kprag",
    ]  # fmt: skip
    assert pairs_of("distractor:two-turn", "kprag:two-turn", "kprag") == [
        "distractor:two-turn < kprag:two-turn",
        "kprag:two-turn < kprag",
    ]


def test_elaborations_are_compared_where_the_source_is_the_same() -> None:
    assert pairs_of("kprag:none", "kprag", "kprag:two-turn", "distractor:none") == [
        "kprag:none < kprag", "kprag:none < kprag:two-turn", "kprag:none < distractor:none", "kprag < kprag:two-turn"
    ]  # fmt: skip


def test_each_hint_is_compared_with_all_of_them_and_with_no_other_family() -> None:
    assert pairs_of("kprag", "hint:a", "hint:b", "hint:all") == ["hint:a < hint:all", "hint:b < hint:all"]


def test_a_context_of_unknown_name_is_compared_with_none_only() -> None:
    assert pairs_of("kprag", "hint:all", "kprag:closed-book", "oracle") == []


def test_conditions_stand_from_what_should_help_least_to_what_should_help_most(tmp_path: Path) -> None:
    conditions = tuple(Condition(context=name) for name in reversed(EVERY))
    asked = [c.context for c in conditions if c.context.startswith("hint")]
    assert asked == ["hint:all", "hint:background", "hint:methodology"]
    run = write_run(tmp_path / "run", under(*sorted(EVERY)), conditions=conditions)
    found = [row.factors["context"] for row in summarise([run]).conditions]
    assert found == [*EVERY[:10], "hint:background", "hint:methodology", "hint:all", "oracle"]


def test_a_grid_has_the_contrasts_of_each_variant_and_chain(tmp_path: Path) -> None:
    names = ("none", "distractor", "kprag")
    variants: list[tuple[Literal["standard", "dynamic"], str]] = [
        ("standard", ""),
        ("dynamic", "pad"),
        ("dynamic", "blur"),
    ]
    conditions = [Condition(*variant, name) for variant in variants for name in names]
    records = [record for condition in conditions for record in answers("1100", condition)]
    contrasts = summarise([write_run(tmp_path / "run", records)]).contrasts
    assert contexts_of(contrasts) == ["none < distractor", "none < kprag", "distractor < kprag"] * 4
    assert [(each.held["context"], each.held["chain"]) for each in contrasts if each.factor == "variant"] == [
        (name, chain) for name in names for chain in ("blur", "pad", "all")
    ]
    assert len(contrasts) == 4 * 3 + 3 * 3 and all(each.p_adjusted is not None for each in contrasts)


@pytest.mark.parametrize("order", [("bare", "grounded"), ("grounded", "bare")])
def test_contexts_of_two_runs_are_compared_whichever_is_given_first(tmp_path: Path, order: tuple[str, str]) -> None:
    contexts = {"bare": ("none", "distractor"), "grounded": ("kprag",)}
    runs = [write_run(tmp_path / name, under(*contexts[name])) for name in order]
    found = summarise(runs).contrasts
    assert sorted(contexts_of(found)) == ["distractor < kprag", "none < distractor", "none < kprag"]
    assert {each.held["run"] for each in found} == {"bare", "bare, grounded"}


def test_a_base_in_the_later_run_is_still_the_base() -> None:
    keys = [Key(run, "m", "s", "standard", "", "none", style) for run, style in (("one", "cot"), ("two", "direct"))]
    assert [(pair.a.style, pair.b.style) for pair in find_pairs(keys)] == [("direct", "cot")]


def test_samples_that_could_not_be_asked_in_a_context_are_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*answers("10101010"), *answers("1111....", Condition(context="kprag"))])
    (found,) = summarise([run]).contrasts
    assert (found.n, found.left_out, found.failed, found.delta) == (4, 4, 0, 0.5)


def test_other_knowledge_is_noted_where_it_lay_there(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / str(top), under("none", "kprag:retrieved"), knowledge={"retriever": "lexical", "k": top})
        for top in (3, 5)
    ]
    notes = {each.held["context"]: each.note for each in summarise(runs).contrasts if each.factor == "run"}
    assert notes == {"none": "", "kprag:retrieved": "the runs laid other knowledge beside the questions"}
    apart = [
        write_run(tmp_path / name, under(name), knowledge=knowledge)
        for name, knowledge in (("none", {}), ("kprag", {"k": 3}))
    ]
    assert [each.note for each in summarise(apart).contrasts] == [""], "where nothing lay nothing differs"
    same = [write_run(tmp_path / name, under("kprag"), knowledge={"k": 3}) for name in "ab"]
    assert [each.note for each in summarise(same).contrasts] == [""]


def test_sentences_name_the_contexts(tmp_path: Path) -> None:
    records = [*under("none", "distractor", marks="0" * 12), *under("kprag", marks="1" * 12)]
    said = re.findall(r"(m1 on exam: .*?) \(", " ".join(printed(write_run(tmp_path / "run", records))))
    assert said == [
        "m1 on exam: kprag is 100.0 points higher than none",
        "m1 on exam: kprag is 100.0 points higher than distractor",
    ]


def test_flips_follow_the_same_contrasts(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*under("distractor", marks="00"), *under("kprag", marks="01")])
    found = summarise([run], flips=True).flips or ()
    assert [(flip.a, flip.b, flip.direction) for flip in found] == [("distractor", "kprag", "wrong to right")]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["kprag"], "kprag = its own knowledge points; the model elaborates on the points before it answers"),
        (["kprag:retrieved:none", "none"],
         "none = nothing; kprag:retrieved = looked-up points; …:none = the model does not elaborate on the points"),
        (["hint:all", "hint:b", "hint:a"], "hint:KIND = its own hint of that kind; hint:all = all its hints"),
        (["none", "oracle"], "none = nothing"),
        (["oracle"], ""),
    ],
)  # fmt: skip
def test_the_legend_names_only_what_occurs(tmp_path: Path, names: list[str], said: str) -> None:
    assert legend(tmp_path, *names) == said


def legend(folder: Path, *names: str) -> str:
    """What is said of contexts above the scores."""
    lines = " ".join(" ".join(printed(write_run(folder / "run", under(*names, marks="1")))).split())
    return "".join(re.findall(r"^Contexts \(what lies beside the question\): (.*?)\. Scores in percent", lines))


def test_the_legend_names_everything_once(tmp_path: Path) -> None:
    assert [part.partition(" = ")[0] for part in legend(tmp_path, *EVERY).split("; ")] == [
        "none", "distractor", "kprag:retrieved", "kprag:mixed", "kprag", "hint:KIND", "hint:all",
        "the model elaborates on the points before it answers", "…:none", "…:two-turn",
    ]  # fmt: skip


def test_contexts_are_explained_above_the_scores(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", under("none", "kprag:retrieved", "kprag:mixed:two-turn"))
    lines = printed(run)
    scores = next(n for n, line in enumerate(lines) if line.startswith("Scores"))
    assert lines[0].startswith("Contexts (what lies beside the question): none = nothing; kprag:retrieved = looked-up")
    assert scores > 1 and all(len(line) <= 160 for line in lines[:scores])
    assert not any(line.startswith("Contexts") for line in printed(write_run(tmp_path / "bare", under("none"))))


def test_main_contrasts_are_printed_first(tmp_path: Path) -> None:
    contexts = ("none", "distractor", "kprag")
    conditions = [Condition(context=name) for name in contexts]
    dynamic = [Condition("dynamic", chain, name) for chain in ("blur", "pad") for name in contexts]
    lines = printed(write_run(tmp_path / "both", grid(*conditions, *dynamic)))
    within = ["none → distractor", "none → kprag", "distractor → kprag"]
    chains = [f"standard → dynamic (chain {chain})" for chain in ("blur", "pad", "all")]
    assert contrasts_in(lines) == [
        *chains, "standard, direct", *within, "context distractor", *chains, "context kprag", *chains,
        "dynamic blur", *within, "dynamic pad", *within, "dynamic all", *within,
    ]  # fmt: skip
    lines = printed(write_run(tmp_path / "one", grid(*conditions, *dynamic[:2])))
    assert contrasts_in(lines) == [
        "standard → dynamic (chain blur)", "standard, direct", *within,
        "other conditions", "standard → dynamic (chain blur, context distractor)", "none → distractor (dynamic blur)",
    ]  # fmt: skip


def test_few_contrasts_need_no_headings(tmp_path: Path) -> None:
    names = ("none", "kprag")
    conditions = [*(Condition(context=name) for name in names), *(Condition("dynamic", "pad", name) for name in names)]
    assert contrasts_in(printed(write_run(tmp_path / "run", grid(*conditions)))) == [
        "standard → dynamic (chain pad)", "none → kprag (standard, direct)",
        "standard → dynamic (chain pad, context kprag)", "none → kprag (dynamic pad)",
    ]  # fmt: skip


def grid(*conditions: Condition) -> list[Record]:
    return [record for condition in conditions for record in answers("1100", condition)]


def printed(run: RunFolder) -> list[str]:
    print_summary(summarise([run]), out := io.StringIO())
    return out.getvalue().splitlines()


def contrasts_in(lines: list[str]) -> list[str]:
    """The first column of the table of contrasts, with its headings."""
    start = next(n for n, line in enumerate(lines) if line.startswith("Contrasts in points"))
    rule = next(n for n, line in enumerate(lines) if n > start and "──" in line)
    rows = lines[rule + 1 : next(n for n, line in enumerate(lines) if n > rule and not line.strip())]
    return [re.split(r"  +", row.strip())[0] for row in rows]
