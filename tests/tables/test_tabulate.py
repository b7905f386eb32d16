"""Tables of runs whose right answers are known: every kind of declaration, every factor and measure, odd cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tables.making_counts import Cell, counted, counted_run
from tables.making_runs import CHEAP, DYNAMIC, STANDARD, answer, answers, judged_run, write_run

from making import choice, open_ended
from mmdyn.errors import UserError
from mmdyn.keys import digest
from mmdyn.record import Condition, Judgement, Record, Reply, Usage
from mmdyn.stats import holm, mean_score, paired_difference, wilson
from mmdyn.table import Contrasts, Gap, Leaderboard, Paired, Part, Pivot, Ranking, Scores, Spread, Trend
from mmdyn.tables import Row, TablePart, tabulate
from mmdyn.work import RunFolder

M1, M2 = {"model": "m1"}, {"model": "m2"}


def table(part: Part, *runs: RunFolder) -> TablePart:
    return tabulate(runs, [part]).parts[0]


def cells(part: TablePart, quantity: str = "") -> dict[tuple[str, ...], tuple[float | None, int]]:
    """Value and n of each row of a quantity, or of all."""
    rows = [row for row in part.rows if quantity in ("", row.quantity)]
    return {tuple(row.factors.values()): (row.value, row.n) for row in rows}


def one(part: TablePart, quantity: str, **factors: str) -> Row:
    found = [row for row in part.rows if row.quantity == quantity and factors.items() <= row.factors.items()]
    assert len(found) == 1
    return found[0]


def by_subject(model: dict[str, str], *rights: int, n: int = 20) -> list[Cell]:
    names = [("art", "easy"), ("art", "hard"), ("math", "easy"), ("math", "hard")]
    return [
        ({**model, "subject": subject, "difficulty": level}, right, n)
        for (subject, level), right in zip(names, rights, strict=True)
    ]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return counted_run(tmp_path / "run", [*by_subject(M1, 16, 12, 8, 4), *by_subject(M2, 8, 6, 4, 2)])


def test_a_pivot_has_every_cell_its_totals_and_wilsons_interval(run: RunFolder) -> None:
    found = table(Pivot(by=("model", "subject", "difficulty")), run)
    assert cells(found) == {
        ("m1", "art", "easy"): (0.8, 20), ("m1", "art", "hard"): (0.6, 20), ("m1", "art", "all"): (0.7, 40),
        ("m1", "math", "easy"): (0.4, 20), ("m1", "math", "hard"): (0.2, 20), ("m1", "math", "all"): (0.3, 40),
        ("m1", "all", "easy"): (0.6, 40), ("m1", "all", "hard"): (0.4, 40), ("m1", "all", "all"): (0.5, 80),
        ("m2", "art", "easy"): (0.4, 20), ("m2", "art", "hard"): (0.3, 20), ("m2", "art", "all"): (0.35, 40),
        ("m2", "math", "easy"): (0.2, 20), ("m2", "math", "hard"): (0.1, 20), ("m2", "math", "all"): (0.15, 40),
        ("m2", "all", "easy"): (0.3, 40), ("m2", "all", "hard"): (0.2, 40), ("m2", "all", "all"): (0.25, 80),
    }  # fmt: skip
    row = one(found, "score", model="m1", subject="art", difficulty="easy")
    assert row.ci95 == pytest.approx(wilson(0.8, 20), abs=1e-6) and row.method == "Wilson"


def test_a_macro_mean_weighs_every_cell_the_same(tmp_path: Path) -> None:
    run = counted_run(tmp_path / "run", [({"field": "a"}, 9, 10), ({"field": "b"}, 20, 40), ({"field": "c"}, 1, 10)])
    found = table(Pivot(by=("field",), macro=("field",)), run)
    assert one(found, "score", field="all").value == 0.5
    mean = one(found, "score", field="mean")
    assert (mean.value, mean.n, mean.method) == (0.5, 60, "mean of 3 means: Price-Bonett, CR2, Satterthwaite t")
    assert mean.ci95 is not None and 0.37 < (mean.ci95[0] or 0) < 0.41, "what sets the fields apart is no chance"


def test_models_and_conditions_are_never_averaged_over_unless_it_is_said(run: RunFolder, tmp_path: Path) -> None:
    assert cells(table(Pivot(by=("difficulty",)), run))["m1", "easy"] == (0.6, 40)
    both = [
        *counted([({"subject": "art"}, 4, 8)]),
        *counted([({"subject": "art", "variant": "dynamic", "chain": "pad"}, 2, 8)]),
    ]
    mixed = write_run(tmp_path / "mixed", both)
    found = table(Pivot(by=("subject",)), mixed)
    assert cells(found) == {("standard", "art"): (0.5, 8), ("dynamic", "art"): (0.25, 8)}
    assert found.notes == ["kept apart by variant: name values of it, such as with --where, for one of them"]
    alone = table(Pivot(by=("subject",), where={"variant": ("dynamic",)}), mixed)
    assert (cells(alone), alone.notes) == ({("art",): (0.25, 8)}, [])
    assert cells(table(Pivot(by=("mode",)), mixed)) == {("standard",): (0.5, 8), ("dynamic",): (0.25, 8)}


def test_runs_are_kept_apart_where_they_asked_the_same_questions(tmp_path: Path) -> None:
    first, again = (write_run(tmp_path / name, answers(marks)) for name, marks in (("a", "1100"), ("b", "1000")))
    assert cells(table(Pivot(by=("model",)), first, again)) == {("a", "m1"): (0.5, 4), ("b", "m1"): (0.25, 4)}
    other = write_run(tmp_path / "c", answers("1111", set="other"))
    found = table(Pivot(by=("model",)), first, other)
    assert (cells(found), found.notes) == ({("m1",): (0.75, 8)}, ["over the sets exam, other together"])


def test_chains_draws_and_epochs_of_a_question_are_averaged_first(tmp_path: Path) -> None:
    pad, blur = Condition("dynamic", "pad"), Condition("dynamic", "blur")
    records = [
        answer("p", 1.0, pad, draw=0),
        answer("p", 0.0, pad, draw=1),
        answer("p", 1.0, blur),
        answer("q", 0.0, pad),
    ]
    run = write_run(tmp_path / "run", records)
    assert cells(table(Pivot(by=("model",)), run)) == {("m1",): (0.625, 2)}, "both chains weigh the same"
    found = cells(table(Pivot(by=("model", "chain")), run))
    assert found == {("m1", "blur"): (1.0, 1), ("m1", "pad"): (0.25, 2), ("m1", "all"): (0.625, 2)}


def test_where_keeps_records_and_says_what_there_is_instead(run: RunFolder) -> None:
    assert cells(table(Pivot(by=("model",), where={"subject": ("math",), "difficulty": ("hard",)}), run)) == {
        ("m1",): (0.2, 20), ("m2",): (0.1, 20)
    }  # fmt: skip
    found = table(Pivot(by=("model",), where={"subject": ("mathh",)}), run)
    assert (found.rows, found.notes) == ([], ["no record has subject = mathh here (there is art, math)"])


@pytest.mark.parametrize(("part", "says"), [
    (Pivot(by=("dificulty",)), r"no record has a field 'dificulty' \(did you mean 'difficulty'\?\): break down by answer_position, chain"),
    (Contrasts(by="dificulty"), r"no record has a field 'dificulty' \(did you mean 'difficulty'\?\): break down by answer_position, chain"),
    (Pivot(by=("model",), measure="scor"), r"there is no measure 'scor' \(did you mean 'score'\?\): give one of score, pass_rate"),
    (Trend(factor="subject"), r"a trend needs numbers, and subject has none \(art, math\): name a factor that has some"),
])  # fmt: skip
def test_a_mistake_is_a_sentence(run: RunFolder, part: Part, says: str) -> None:
    with pytest.raises(UserError, match=says):
        tabulate([run], [part])


@pytest.mark.parametrize("part", [Pivot(by=("page",)), Scores(by="page"), Contrasts(by="page")])
def test_a_factor_of_too_many_values_is_refused(tmp_path: Path, part: Part) -> None:
    run = write_run(
        tmp_path / "run",
        [answer(f"p{n}", 1.0, asked, fields={"page": n}) for n in range(1001) for asked in (STANDARD, DYNAMIC)],
    )
    with pytest.raises(UserError, match="the factor 'page' has 1001 values: go by one of 1000 at most"):
        tabulate([run], [part])


def test_odd_cells_have_no_number_and_say_why(tmp_path: Path) -> None:
    lost = [answer(name, None, error="gone", fields={"kind": "lost"}) for name in ("x", "y")]
    records = [answer("a", 1.0, fields={"kind": "one"}), *lost]
    found = table(Pivot(by=("kind",)), write_run(tmp_path / "run", records))
    row = one(found, "score", kind="lost")
    assert (row.value, row.n, row.failed, row.note) == (None, 0, 2, "no answer has score")
    single = one(found, "score", kind="one")
    assert (single.value, single.n) == (1.0, 1) and single.ci95 == pytest.approx(wilson(1.0, 1), abs=1e-6)
    assert (one(found, "score", kind="all").value, one(found, "score", kind="all").failed) == (1.0, 2)
    assert tabulate([write_run(tmp_path / "none", [])], [Pivot(by=("model",))]).parts[0].rows == []


def test_groups_of_questions_widen_the_interval(tmp_path: Path) -> None:
    records = [answer(f"p{n}", float(n < 8), group=f"g{n // 4}") for n in range(16)]
    found = one(table(Pivot(by=("model",)), write_run(tmp_path / "run", records)), "score")
    assert found.method == "Wilson at effective n (clustered)"
    assert found.ci95 is not None and found.ci95[1] - (found.ci95[0] or 0) > 0.69


def replied(parent: str, value: float, tokens: int = 10, thought: int = 0, **more: Any) -> Record:
    from msgspec.structs import replace

    record = answer(parent, value, **more)
    reply = Reply("x", usage=Usage(100, tokens, thought), seconds=tokens / 10, cost=tokens / 1000, currency="USD",
                  finish_reason="length" if tokens >= 40 else "stop")  # fmt: skip
    return replace(record, reply=reply)


@pytest.mark.parametrize(("name", "value", "unit"), [
    ("response_tokens", 25, "tokens"), ("reasoning_tokens", 5, "tokens"), ("prompt_tokens", 100, "tokens"),
    ("seconds", 2.5, "seconds"), ("cost", 0.025, "cost"), ("truncated", 0.25, "share"), ("pass_rate", 0.25, "share"),
    ("score", 0.375, "share"), ("corrected", 0.25, "share"), ("unparsed", 0.25, "share"), ("refused", 0.25, "share"),
    ("failed", 0.2, "share"), ("questions", 5, "count"),
])  # fmt: skip
def test_measures(tmp_path: Path, name: str, value: float, unit: str) -> None:
    records = [
        replied("a", 1.0, 10, 5, chance=0.25), replied("b", 0.5, 20, 5, chance=0.25),
        replied("c", 0.0, 30, 5, chance=0.25, status="unparsed"), replied("d", 0.0, 40, 5, chance=0.25, status="refused"),
        answer("e", None, error="gone"),
    ]  # fmt: skip
    row = one(table(Pivot(by=("model",), measure=name), write_run(tmp_path / "run", records)), name)
    expected = {"corrected": (1 + 1 / 3 + 0 + 0) / 4}.get(name, value)
    assert (row.value, row.unit) == (pytest.approx(expected, abs=1e-6), unit)


def test_items_of_checklists_are_pooled(tmp_path: Path) -> None:
    items = {"a": (True, True), "b": (True, False, False, False, False, False)}
    said: dict[str, float | Judgement] = {
        name: Judgement(0.0, (0.0,), items=met, requests=1) for name, met in items.items()
    }
    records = [answer(name, 0.0, task_type="open_ended") for name in items]
    run = judged_run(tmp_path / "run", records, said, {}, {"a": 0.0, "b": 0.0})
    row = one(table(Pivot(by=("model",), measure="checklist"), run), "checklist")
    assert (row.value, row.n) == (0.375, 2), "3 of 8, not the mean of 2/2 and 1/6"
    assert "weighted" in row.method and CHEAP.label == "cheap"


def test_answers_that_wait_for_a_judge_are_in_the_interval(tmp_path: Path) -> None:
    from msgspec.structs import replace

    made = [answer(f"p{n}", float(n < 2), task_type="open_ended") for n in range(4)]
    made = [replace(r, score=replace(r.score, needs_judge=True)) for r in made if r.score]
    run = write_run(tmp_path / "run", made)
    row = one(table(Pivot(by=("model",)), run), "score")
    assert (row.value, row.judged, row.ci95, row.needs_judge) == (0.5, (0.0, 1.0), (0.0, 1.0), 4)
    assert one(table(Pivot(by=("model",), measure="refused"), run), "refused").judged is None


def test_properties_of_the_question_and_the_reply_are_factors(tmp_path: Path) -> None:
    samples = [choice("a", "B"), choice("b", "B", ("1", "2")), choice("c", "D"), open_ended("d")]
    kinds = {"d": "open_ended"}
    records = [
        replied(sample.id, float(n < 2), 10 * (n + 1), n, digest=digest(sample), task_type=kinds.get(sample.id, "single_choice"))
        for n, sample in enumerate(samples)
    ]  # fmt: skip
    run = write_run(tmp_path / "run", records, samples=samples, keep_samples=False)
    assert cells(table(Pivot(by=("options",)), run)) == {
        ("2",): (1.0, 1), ("4",): (0.5, 2), ("(not given)",): (0.0, 1), ("all",): (0.5, 4)
    }  # fmt: skip
    positions = cells(table(Pivot(by=("answer_position",)), run))
    assert positions == {("B",): (1.0, 2), ("D",): (0.0, 1), ("(not given)",): (0.0, 1), ("all",): (0.5, 4)}
    quarters = cells(table(Pivot(by=("response_tokens",)), run))
    assert list(quarters) == [("10 to 10",), ("20 to 20",), ("30 to 30",), ("40 to 40",), ("all",)]
    assert len(cells(table(Pivot(by=("reasoning_tokens",)), run))) == 5


def test_a_pair_is_one_question_twice(tmp_path: Path) -> None:
    records = [*answers("11110000.1"), *answers("1100100011", Condition(context="kprag"))]
    found = table(Paired(factor="context", a="none", b="kprag"), write_run(tmp_path / "run", records))
    row = one(found, "difference")
    known = paired_difference(*_pairs([0, 0, -1, -1, 1, 0, 0, 0, 0]))
    assert (row.value, row.n, row.left_out, row.unit) == (pytest.approx(-1 / 9, abs=1e-6), 9, 1, "points")
    assert row.ci95 == pytest.approx(known.ci95, abs=1e-6) and row.p == pytest.approx(known.p, rel=1e-5)
    assert [one(found, name).value for name in ("none", "kprag")] == [
        pytest.approx(5 / 9, abs=1e-6),
        pytest.approx(4 / 9, abs=1e-6),
    ]
    nothing = table(Paired(factor="context", a="none", b="oracle"), write_run(tmp_path / "again", records))
    assert (nothing.rows, nothing.notes) == ([], ["no record has context = oracle here (there is none, kprag)"])


def _pairs(differences: Sequence[float]) -> Any:
    import numpy as np

    return np.array(differences, float), np.ones(len(differences)), np.arange(len(differences))


def test_a_gap_is_of_different_questions(run: RunFolder) -> None:
    found = table(Gap(factor="difficulty", a="easy", b="hard"), run)
    rows = [row for row in found.rows if row.quantity == "difference"]
    assert [(row.factors["model"], row.value, row.n) for row in rows] == [("m1", -0.2, 80), ("m2", -0.1, 80)]
    assert [row.p_adjusted for row in rows] == pytest.approx(holm([row.p for row in rows]), rel=1e-5)
    ends = table(Gap(factor="difficulty", a="first", b="last"), run)
    assert [row.value for row in ends.rows] == [row.value for row in found.rows]
    by = table(Gap(factor="difficulty", a="easy", b="hard", by=("model", "subject")), run)
    assert one(by, "difference", model="m1", subject="all").value == -0.2
    pooled = table(Gap(factor="difficulty", a="easy", b="hard", by=()), run)
    assert (one(pooled, "difference").value, one(pooled, "easy").n) == (-0.15, 40), "a question is averaged over models"


def test_a_gap_needs_two_groups(run: RunFolder) -> None:
    single = table(Gap(factor="subject", a="first", b="last", where={"subject": ("art",)}), run)
    assert one(single, "difference", model="m1").note == "all have subject = art"
    other = table(Gap(factor="subject", a="art", b="music"), run)
    assert one(other, "difference", model="m1").note == "a group has no answer that counts"


def test_a_trend_is_a_slope_a_unit(tmp_path: Path) -> None:
    levels = [({"year": year}, right, 40) for year, right in ((2016, 10), (2018, 18), (2020, 26), (2024, 42 - 2))]
    run = counted_run(tmp_path / "run", [*levels[:3], ({"year": "unknown"}, 0, 10)])
    found = table(Trend(factor="year"), run)
    slope = one(found, "slope")
    assert (slope.value, slope.n, one(found, "levels").value) == (0.1, 120, 3)
    assert slope.p is not None and slope.p < 0.01 and slope.ci95 is not None and (slope.ci95[0] or 0) > 0.03
    short = table(Trend(factor="year", where={"year": ("2016",)}), run)
    assert one(short, "slope").note == "fewer than two levels have an answer"


def test_a_spread_tells_the_range_and_whether_all_are_equal(tmp_path: Path) -> None:
    run = counted_run(
        tmp_path / "run", [({"seed": seed}, right, 50) for seed, right in (("a", 20), ("b", 25), ("c", 40))]
    )
    found = table(Spread(factor="seed"), run)
    assert [one(found, name).value for name in ("lowest", "highest", "range", "levels")] == [0.4, 0.8, 0.4, 3]
    assert one(found, "sd").value == pytest.approx(0.208167, abs=1e-6)
    row = one(found, "range")
    assert row.p is not None and row.p < 0.001 and row.note == "lowest a, highest c"
    alone = table(Spread(factor="seed", where={"seed": ("a",)}), run)
    assert one(alone, "range").note == "fewer than two values have an answer"


def test_an_order_of_models_and_how_steady_it_is(tmp_path: Path) -> None:
    rights = {"m1": (190, 190), "m2": (120, 122), "m3": (121, 110), "m4": (20, 21)}
    made = [({"model": m, "seed": s}, right[s], 200) for m, right in rights.items() for s in (0, 1)]
    found = table(Ranking(over="seed"), counted_run(tmp_path / "run", made))
    tau = one(found, "tau")
    assert tau.value == pytest.approx(4 / 6, abs=1e-6) and tau.ci95 == pytest.approx((4 / 6, 1), abs=1e-6)
    assert [one(found, name).value for name in ("reversals", "sure reversals", "pairs compared")] == [1, 0, 6]
    alone = table(Ranking(over="seed"), counted_run(tmp_path / "alone", made[:2]))
    assert (
        one(alone, "tau").note
        == "an order needs two models and two values of seed, each model answered under all of them"
    )


def test_a_leaderboard_shares_ranks_that_are_not_told_apart(tmp_path: Path) -> None:
    rights = {"m1": (18, 90), "m2": (17, 92), "m3": (2, 11)}
    made = [
        ({"model": m, "set": s}, k, n) for m, ks in rights.items() for s, k, n in zip("ab", ks, (20, 100), strict=True)
    ]
    board = Leaderboard(groups={"both": ("a", "b"), "first": ("a",)})
    found = table(board, counted_run(tmp_path / "run", made))
    assert list(dict.fromkeys(row.factors["model"] for row in found.rows)) == ["m1", "m2", "m3"]
    ranks = {row.factors["model"]: row.ci95 for row in found.rows if row.quantity == "rank"}
    assert ranks == {"m1": (1, 2), "m2": (1, 2), "m3": (3, 3)}
    values = {
        row.factors["set"]: row.value for row in found.rows if row.factors["model"] == "m1" and row.quantity == "score"
    }
    assert values == {"mean": 0.9, "all": 0.9, "both": 0.9, "first": 0.9, "a": 0.9, "b": 0.9}
    assert one(found, "score", model="m2", set="mean").value == 0.885
    assert one(found, "score", model="m2", set="all").value == pytest.approx(109 / 120, abs=1e-6)
    assert {row.mark for row in found.rows} == {""}, "the best is not told apart from the next"


def test_columns_of_a_group_weigh_what_it_says(tmp_path: Path) -> None:
    rights = {"m1": (20, 50), "m2": (10, 80)}
    made = [
        ({"model": m, "set": s}, k, n) for m, ks in rights.items() for s, k, n in zip("ab", ks, (20, 100), strict=True)
    ]
    groups = {"plain": ("a", "b"), "same": ("a:2", "b:2"), "weighed": ("a:3", "b"), "one": ("b:5",)}
    found = table(Leaderboard(groups=groups), counted_run(tmp_path / "run", made))
    means = {name: one(found, "score", model="m1", set=name) for name in groups}
    assert {name: row.value for name, row in means.items()} == {
        "plain": 0.75, "same": 0.75, "weighed": 0.875, "one": 0.5
    }  # fmt: skip
    assert (
        means["plain"].ci95 == means["same"].ci95 and means["one"].ci95 == one(found, "score", model="m1", set="b").ci95
    )
    assert means["weighed"].method == "weighted mean of 2 means: Price-Bonett, CR2, Satterthwaite t"
    assert one(found, "score", model="m2", set="weighed").value == pytest.approx((3 * 0.5 + 0.8) / 4, abs=1e-6)


def test_the_best_is_marked_only_where_it_is_told_apart(tmp_path: Path) -> None:
    made = [({"model": m}, right, 100) for m, right in (("m1", 50), ("m2", 90), ("m3", 48), ("m4", 70))]
    found = table(Pivot(by=("model",)), counted_run(tmp_path / "run", made))
    assert {row.factors["model"]: row.mark for row in found.rows} == {"m1": "", "m2": "best", "m3": "", "m4": "second"}
    ties = [({"model": m}, 50, 100) for m in ("m1", "m2")]
    assert {row.mark for row in table(Pivot(by=("model",)), counted_run(tmp_path / "ties", ties)).rows} == {""}
    one_model = table(Pivot(by=("model",)), counted_run(tmp_path / "one", made[:1]))
    assert [row.mark for row in one_model.rows] == [""]


def test_weights_and_graded_scores_are_in_the_interval(tmp_path: Path) -> None:
    import numpy as np

    records = [answer(f"p{n}", n / 4, weight=float(n + 1)) for n in range(5)]
    row = one(table(Pivot(by=("model",)), write_run(tmp_path / "run", records)), "score")
    known = mean_score(np.arange(5) / 4, np.arange(1.0, 6), np.arange(5))
    assert (row.value, row.ci95) == (pytest.approx(known.value, abs=1e-6), pytest.approx(known.ci95, abs=1e-6))


def test_scores_of_several_policies_are_noted(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, answers("10", model=name), scorer=name) for name in ("mdk12", "strict")]
    found = table(Pivot(by=("model",)), *runs)
    assert found.notes == ["scored by different policies (mdk12, strict): run `mmdyn score` so that they agree"]


def test_memory_stays_at_some_hundred_bytes_a_record(tmp_path: Path) -> None:
    from mmdyn.tables.columns import read_columns

    run = counted_run(tmp_path / "run", [({"subject": "art", "model": f"m{m}"}, 5, 50) for m in range(8)])
    columns = read_columns([run], ("model", "subject", "variant", "context", "style", "run", "set"), ("score",))
    kept = [columns.parents, columns.asked, columns.chance, columns.draws, *columns.worth.values()]
    kept += [*columns.flags.values(), *columns.sides.values(), *(field.codes for field in columns.fields.values())]
    assert sum(column.nbytes for column in kept) <= 150 * 400


def test_a_mean_over_tiny_groups_says_that_its_interval_may_be_too_short(tmp_path: Path) -> None:
    cells = [({"model": "m1", "field": f"f{size}-{k}"}, size // 2, size) for k in range(3) for size in (2, 9, 10)]
    found = table(Pivot(by=("model", "field"), macro=("field",)), counted_run(tmp_path / "run", cells))
    notes = {row.factors["field"]: row.note for row in found.rows}
    assert notes["mean"] == "the interval may be too short: 6 of 9 means are of fewer than 10 questions"
    assert notes["all"] == notes["f2-0"] == ""
    larger = [cell for cell in cells if not cell[0]["field"].startswith("f2")]
    row = table(Pivot(by=("model", "field"), macro=("field",)), counted_run(tmp_path / "other", larger)).rows[-1]
    assert (row.factors["field"], row.note) == ("mean", "")


def test_a_higher_mean_is_no_best_where_the_shared_questions_say_otherwise(tmp_path: Path) -> None:
    """m1 was asked easy questions beside those that both had, of which m2 has more right."""
    cells = [({"model": "m1", "part": "shared"}, 5, 20), ({"model": "m1", "part": "own"}, 40, 40)]
    cells += [({"model": "m2", "part": "shared"}, 14, 20)]
    run = counted_run(tmp_path / "run", cells)
    rows = tabulate([run.folder], [Pivot(by=("model",))]).parts[0].rows
    assert [(row.factors["model"], row.value, row.mark) for row in rows] == [("m1", 0.75, ""), ("m2", 0.7, "")]
