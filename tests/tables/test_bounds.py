"""What rules alone give open answers is shown as a lower bound, and what needs a judge is counted, wherever a score
stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from making_runs import DYNAMIC, STANDARD, answer, csv_rows, judged_run, write_run
from msgspec.structs import replace
from test_cascades import found

from mmdyn.cli import commands
from mmdyn.keys import canonical
from mmdyn.record import Condition, Record
from mmdyn.stats import wilson
from mmdyn.tables import report
from mmdyn.tables.results import BY_RULES
from mmdyn.work import RunFolder, Store, score_kind

OPEN, CHOICE = {"kind": "open"}, {"kind": "choice"}


def marked(record: Record, *, bound: bool) -> Record:
    assert record.score is not None
    return replace(record, score=replace(record.score, confidence=0.8, needs_judge=True, lower_bound=bound))


def exam(condition: Condition = STANDARD, right: int = 4, epoch: int = 0) -> list[Record]:
    """Ten answers: the first few are right, an unparsed choice needs a judge, and so do two open answers, whose 0 is a
    bound."""

    def one(place: int, fields: dict[str, str], **more: str) -> Record:
        return answer(f"s{place}", float(place < right), condition, epoch=epoch, fields=fields, **more)

    choices = [one(place, CHOICE) for place in range(7)]
    lost = marked(one(7, CHOICE, status="unparsed"), bound=False)
    return [*choices, lost, marked(one(8, OPEN), bound=True), marked(one(9, OPEN), bound=True)]


def typed(*arguments: object) -> Result:
    return CliRunner().invoke(commands, [str(each) for each in arguments])


def test_a_condition_with_open_answers_is_at_least_so_good(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", exam())
    (row,) = report(run, by=["kind"]).conditions
    low = round(wilson(0.4, 10)[0], 6)
    assert (row.score, row.bound, row.ci95, row.needs_judge) == (0.4, "lower", (low, None), 3)
    choice, opened = row.by["kind"]["choice"], row.by["kind"]["open"]
    assert (choice.score, choice.bound, choice.needs_judge) == (0.5, "", 1), "what was not read is worth 0, no bound"
    assert choice.ci95 and choice.ci95[1] is not None
    assert (opened.score, opened.bound, opened.ci95, opened.needs_judge) == (0.0, "lower", (0.0, None), 2)

    told = typed("report", run.folder, "-q", "--by", "kind").stdout
    assert "run: 3 answers need a judge and had none; `mmdyn score RUN --judge MODEL` asks one." in told
    assert "answers; at least: open answers, or blanks in words, had no judge" in told
    (line,) = (line for line in told.splitlines() if line.strip().startswith("standard "))
    assert f"at least 40.0 [{100 * low:.1f}, –]  10         1      3" in line, line
    assert "open    at least 0.0 [0.0, –]  2      2" in " ".join(told.split("\n")), told

    typed("report", run.folder, "-q", "--by", "kind", "--csv", tmp_path / "out.csv")
    names = ("estimate", "bound", "low", "high", "needs_judge")
    whole, by_choice, by_open = ([row[name] for name in names] for row in csv_rows(tmp_path / "out.csv", "score"))
    assert whole == ["0.4", "lower", str(low), "", "3"] and by_open == ["0.0", "lower", "0.0", "", "2"]
    assert by_choice[1] == "" and by_choice[3] and by_choice[4] == "1"


def test_without_open_answers_nothing_is_said_of_bounds(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [record for record in exam() if record.fields == CHOICE])
    (row,) = report(run).conditions
    assert (row.bound, row.needs_judge) == ("", 1)
    told = typed("report", run.folder, "-q").stdout
    assert "at least" not in told and "run: 1 answers need a judge" in told
    plain = typed("report", write_run(tmp_path / "plain", exam()[:7]).folder, "-q").stdout
    assert "need" not in plain


def test_a_contrast_of_bounds_is_marked_where_compared_answers_need_a_judge(tmp_path: Path) -> None:
    choices = [record for record in exam(Condition("dynamic", "color")) if record.fields == CHOICE]
    run = write_run(tmp_path / "run", [*exam(), *exam(DYNAMIC, right=3), *choices])
    summary = report(run, by=["kind"])
    by_chain = {contrast.held["chain"]: contrast for contrast in summary.contrasts}
    pad, color = by_chain["pad"], by_chain["color"]
    assert (pad.delta, pad.needs_judge, pad.note) == (-0.1, 6, BY_RULES) and pad.ci95 is not None
    assert (color.n, color.needs_judge, color.note) == (8, 2, ""), "its open answers are not compared"
    assert (pad.by["kind"]["choice"]["note"], pad.by["kind"]["open"]["note"]) == ("", BY_RULES)
    told = typed("report", run.folder, "-q").stdout
    assert f"; {BY_RULES}" in told and told.count(" needs ") == 2
    typed("report", run.folder, "-q", "--csv", tmp_path / "out.csv")
    found = csv_rows(tmp_path / "out.csv", "contrast")
    noted = {row["chain"]: (row["note"], row["needs_judge"], row["bound"]) for row in found}
    assert noted["pad"] == (BY_RULES, "6", "") and noted["color"] == ("", "2", "")


def test_a_difference_that_is_significant_says_that_it_is_by_rules_alone(tmp_path: Path) -> None:
    records = [answer(f"q{place:02}", 1.0) for place in range(30)]
    records += [marked(answer(f"q{place:02}", 0.0, DYNAMIC), bound=True) for place in range(30)]
    told = typed("report", write_run(tmp_path / "run", records).folder, "-q").stdout
    assert f"30 pairs). But {BY_RULES}." in " ".join(told.split()), told


def test_repeats_are_bounds_but_for_their_consistency(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*exam(), *exam(right=3, epoch=1)], epochs=2)
    (row,) = report(run, repeats=()).repeats or ()
    figures = [row.mean, *(figure for at in row.at for figure in (at.pass_at_k, at.majority_at_k, at.worst_at_k))]
    assert {(figure.bound, figure.ci95 and figure.ci95[1]) for figure in figures} == {("lower", None)}
    assert row.consistency.bound == "" and row.consistency.ci95 and row.consistency.ci95[1] and row.needs_judge == 6
    told = typed("report", run.folder, "-q", "--repeats").stdout
    assert "m1, exam, standard, over epochs: 6 answers need a judge and had none." in told
    assert "pass@2       at least 40.0" in told and f"; {BY_RULES}" in told
    typed("report", run.folder, "-q", "--repeats", "--csv", tmp_path / "out.csv")
    read = {one["factor"]: (one["bound"], one["note"]) for one in csv_rows(tmp_path / "out.csv", "repeats")}
    assert read["pass@2"] == ("lower", "") and read["consistency"] == ("", BY_RULES)


def test_flips_say_which_answers_need_a_judge(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [answer("p0", 1.0), marked(answer("p0", 0.0, DYNAMIC), bound=True)])
    (flip,) = report(run, flips=True).flips or ()
    assert [reply.needs_judge for reply in (*flip.a_replies, *flip.b_replies)] == [False, True]
    told = typed("report", run.folder, "-q", "--flips").stdout
    assert "dynamic: p0~pad~0: A (needs a judge), expected" in told and told.count("(needs a judge)") == 1


def test_the_plain_score_beside_a_corrected_one_is_a_bound_too(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", exam())
    marks = [{"key": record.key, "human": float(place < 5)} for place, record in enumerate(run.records())]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(mark) + "\n" for mark in marks), "utf-8")
    (row,) = report(run, correct="ppi++", labels=tmp_path / "labels.jsonl").corrections or ()
    assert (row.score, row.bound, row.ci95[1]) == (0.4, "lower", None) and row.corrected == 0.5
    told = typed("report", run.folder, "-q", "--correct", "ppi++", "--labels", tmp_path / "labels.jsonl").stdout
    assert told.count("at least 40.0 [") == 2


def let_rules_count(run: RunFolder, sample: str) -> None:
    """Bring scores into force in which one answer, on which no verdict could be had, has the rules' score."""
    name = f"{run.config.scorer}+else-rules"
    with Store(run.records_folder) as store:
        for record in run.records():
            kept = marked(record, bound=True) if record.sample == sample else record
            store.put(score_kind(name), record.key, canonical(kept.score))
    run.write_config(replace(run.config, scorer=name))


@pytest.mark.parametrize("else_rules", [False, True])
def test_nothing_is_bound_where_judges_decided(tmp_path: Path, else_rules: bool) -> None:
    """Of the rules' line and of answers on which the rules' score counts instead of a verdict it is told all the
    same."""
    settled = {f"s{place}": float(place < 4) for place in range(10)}
    run = judged_run(tmp_path / "run", exam(), {"s7": 0.0, "s8": 1.0, "s9": 0.0}, {}, settled | {"s8": 1.0})
    if else_rules:
        let_rules_count(run, "s9")
    (row,) = found(run).rows
    assert (row.rules.score, row.rules.bound, row.rules.ci95 and row.rules.ci95[1]) == (0.4, "lower", None)
    (condition,) = report(run).conditions
    expected = ("lower", 1) if else_rules else ("", 0)
    assert (condition.bound, condition.needs_judge) == expected and row.combined.bound == expected[0]
    told = typed("report", run.folder, "-q").stdout
    assert told.count("at least 40.0 [") == 1 and "`mmdyn score RUN" not in told
    typed("report", run.folder, "-q", "--csv", tmp_path / "out.csv")
    bounds = {one["value"]: one["bound"] for one in csv_rows(tmp_path / "out.csv", "cascade")}
    assert bounds["rules"] == "lower" and bounds["combined"] == expected[0]
