"""What the rules, each judge and both together make of a run, and what the judges took and were spared."""

from __future__ import annotations

import io
import json
from pathlib import Path

from click.testing import CliRunner, Result
from making_runs import DYNAMIC, STANDARD, Said, answer, judged_run, write_run

from mmdyn.cli.report import command
from mmdyn.record import Judgement, Record, Usage
from mmdyn.tables import Cascades, print_cascades, report, summarise
from mmdyn.work import RunFolder


def standard(values: str) -> list[Record]:
    return [answer(f"p{place}", float(mark), STANDARD) for place, mark in enumerate(values)]


def found(run: RunFolder) -> Cascades:
    cascades = summarise([run]).cascades
    assert isinstance(cascades, Cascades)
    return cascades


def test_rules_judges_and_both(tmp_path: Path) -> None:
    said: Said = {"p1": 1.0, "p2": 0.5, "p3": 0.25}
    combined = {"p0": 1.0, "p1": 1.0, "p2": 1.0, "p3": 0.0}
    run = judged_run(tmp_path / "run", standard("1000"), said, {"p2": 1.0, "p3": 0.0}, combined)
    cascades = found(run)
    (row,) = cascades.rows
    assert (row.rules.score, row.rules.n, row.combined.score, row.combined.answers) == (0.25, 4, 0.75, 4)
    cheap, strong = row.judges
    assert (cheap.judge, cheap.accuracy.score, cheap.accuracy.answers) == ("cheap (aaaa)", round(1.75 / 3, 6), 3)
    assert (cheap.saved, cheap.failed, cheap.requests) == (1, 0, 3)
    assert (strong.accuracy.score, strong.saved, strong.requests) == (0.5, 2, 2)
    assert cheap.agreement is cheap.kappa is cheap.consistency is cheap.checklist is None and cheap.items == 0
    spent = [(one.id, one.spending.replies, one.spending.cost) for one in cascades.spending]
    assert spent == [("aaaa", 3, {"USD": 1.5}), ("bbbb", 2, {"USD": 1.0})]
    (main,) = summarise([run]).conditions
    assert (row.combined.score, row.combined.ci95) == (main.score, main.ci95), "as the report has it"


def test_agreement_votes_and_checklists(tmp_path: Path) -> None:
    two = Judgement(1.0, (1.0, 1.0, 0.0), items=(True, True, False, False), agreement=0.8, requests=3)
    three = Judgement(1.0, (1.0, 1.0, 1.0), items=(True,), agreement=1.0, requests=3)
    cheap: Said = {"p0": two, "p1": three, "p2": 0.0, "p3": 0.0}
    run = judged_run(tmp_path / "run", standard("1000"), cheap, {}, {}, "all")
    (row,) = found(run).rows
    figures, silent = row.judges
    assert (figures.agreement, figures.kappa, figures.consistency) == (0.75, 0.5, 0.9)
    assert (figures.items, figures.met, figures.checklist, figures.requests) == (5, 3, 0.6, 8)
    assert "3 of 5" in invoke(run).stdout
    assert (silent.accuracy.score, silent.agreement, silent.requests) == (None, None, 0)


def test_answers_without_a_verdict_are_listed_and_not_spared(tmp_path: Path) -> None:
    lost = Judgement(None, error="cheap did not answer (503)", requests=2, usage=Usage(7, 1))
    records = [*standard("100"), answer("p3", None, error="never came")]
    run = judged_run(tmp_path / "run", records, {"p1": lost, "p2": lost}, {"p1": 1.0}, {"p0": 1.0, "p1": 1.0})
    cascades = found(run)
    (row,), (one,) = cascades.rows, cascades.failures
    assert (cascades.unjudged, one.sample, one.reason) == (1, "p2", "cheap did not answer (503)")
    assert (row.rules.answers, row.combined.answers) == (3, 2), "a failed answer is nobody's"
    assert (row.combined.score, row.combined.bounds) == (None, (round(2 / 3, 6), 1.0))
    assert [(judge.failed, judge.saved, judge.requests) for judge in row.judges] == [(2, 1, 4), (0, 1, 1)]
    result = invoke(run)
    assert result.exit_code == 1 and "not judged: p2 of exam, m1, standard: cheap did not answer (503)" in result.stderr
    assert "66.7 to 100.0" in result.stdout and "answers without a verdict as 0 and as 1" in result.stdout
    assert "run: 1 answers are not scored yet; `mmdyn score`, with the same --judge, scores them." in result.stdout


def test_each_condition_has_its_row_and_draws_count_as_one_parent(tmp_path: Path) -> None:
    records = [answer("p0", 1.0), answer("p0", 1.0, DYNAMIC), answer("p0", 0.0, DYNAMIC, draw=1)]
    combined = {record.sample: 1.0 for record in records}
    rows = found(judged_run(tmp_path / "run", records, {"p0~pad~1": 1.0}, {}, combined)).rows
    counts = [(row.factors["variant"], row.rules.score, row.rules.n, row.rules.answers) for row in rows]
    assert counts == [("standard", 1.0, 1, 1), ("dynamic", 0.5, 1, 2)]


def invoke(run: RunFolder, *arguments: str) -> Result:
    return CliRunner().invoke(command, [str(run.folder), "-q", *arguments])


def test_people_and_programs_read_the_same(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", standard("10"), {"p1": 0.5}, {"p1": 1.0}, {"p0": 1.0, "p1": 1.0})
    result = invoke(run)
    assert result.exit_code == 0, result.output
    assert "Rules and judges: mean scores in percent with 95 % intervals" in result.stdout
    lines = {line.split("  ")[1].strip(): line for line in result.stdout.splitlines() if line.startswith("  ")}
    assert [*lines][-4:] == ["rules", "judge cheap (aaaa)", "judge strong (bbbb)", "combined"]
    assert "50.0 [" in lines["rules"] and "50.0 [" in lines["judge cheap (aaaa)"]
    assert "100.0 [" in lines["judge strong (bbbb)"] and "100.0 [" in lines["combined"]
    assert "judge cheap (aaaa): 100 tokens in, 10 out, cost 0.5 USD." in result.stdout
    told = json.loads(invoke(run, "--json").stdout)["cascades"]
    assert told["rows"][0]["judges"][1]["accuracy"]["score"] == 1.0 and told["unjudged"] == 0


def test_runs_without_judges_say_nothing_of_them(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", standard("10"))
    assert "cascades" not in json.loads(report(run).to_json()) and "Rules and judges" not in invoke(run).stdout
    file = io.StringIO()
    print_cascades(Cascades([], [], 0, [], 0), file)
    assert file.getvalue() == ""


def test_a_run_without_judges_beside_one_with_them(tmp_path: Path) -> None:
    judged = judged_run(tmp_path / "judged", standard("10"), {"p1": 0.5}, {"p1": 1.0}, {"p0": 1.0, "p1": 1.0})
    plain = write_run(tmp_path / "plain", standard("10"))
    cascades = summarise([plain, judged]).cascades
    assert isinstance(cascades, Cascades) and [row.run for row in cascades.rows] == ["judged"]
