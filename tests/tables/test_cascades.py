"""What the rules, each judge and both together make of a run, and what the judges took and were spared."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result
from making_runs import DYNAMIC, STANDARD, Said, answer, judged_run, lines_of, score, write_run

from mmdyn.cli.report import command
from mmdyn.record import Judgement, Record, Usage
from mmdyn.tables import Report, Row, report
from mmdyn.work import RunFolder


def standard(values: str) -> list[Record]:
    return [answer(f"p{place}", float(mark), STANDARD) for place, mark in enumerate(values)]


def by_whom(found: Report) -> dict[str, dict[str, Row]]:
    """The figures of a run's one condition, by who scored."""
    return {row["score"].factors["scored by"]: row for row in lines_of(found, "judged")}


def values(row: dict[str, Row], *names: str) -> list[float | None]:
    return [row[name].value for name in names]


def test_rules_judges_and_both(tmp_path: Path) -> None:
    said: Said = {"p1": 1.0, "p2": 0.5, "p3": 0.25}
    combined = {"p0": 1.0, "p1": 1.0, "p2": 1.0, "p3": 0.0}
    found = report(judged_run(tmp_path / "run", standard("1000"), said, {"p2": 1.0, "p3": 0.0}, combined))
    rows = by_whom(found)
    assert list(rows) == ["rules", "judge cheap (aaaa)", "judge strong (bbbb)", "combined"]
    rules, cheap, strong, both = rows.values()
    assert (rules["score"].value, rules["score"].n) == (0.25, 4)
    assert (both["score"].value, both["score"].answers) == (0.75, 4)
    assert (cheap["score"].value, cheap["score"].answers) == (round(1.75 / 3, 6), 3)
    assert (cheap["score"].left_out, cheap["score"].failed, cheap["requests"].value) == (1, 0, 3)
    assert (strong["score"].value, strong["score"].left_out, strong["requests"].value) == (0.5, 2, 2)
    assert list(cheap) == ["score", "requests"], "it saw what the rules do not settle alone, once, and no checklist"
    spent = [(one.model, one.replies, one.cost) for one in found.runs[0].judge_spending]
    assert spent == [("cheap (aaaa)", 3, {"USD": 1.5}), ("strong (bbbb)", 2, {"USD": 1.0})]
    main = score(found)
    assert (both["score"].value, both["score"].ci95) == (main.value, main.ci95), "as the report has it"


def test_agreement_votes_and_checklists(tmp_path: Path) -> None:
    two = Judgement(1.0, (1.0, 1.0, 0.0), items=(True, True, False, False), agreement=0.8, requests=3)
    three = Judgement(1.0, (1.0, 1.0, 1.0), items=(True,), agreement=1.0, requests=3)
    cheap: Said = {"p0": two, "p1": three, "p2": 0.0, "p3": 0.0}
    _, figures, silent, _ = by_whom(
        report(judged_run(tmp_path / "run", standard("1000"), cheap, {}, {}, "all"))
    ).values()
    assert values(figures, "agreement", "kappa", "consistency") == [0.75, 0.5, 0.9]
    assert values(figures, "items", "met", "checklist", "requests") == [5, 3, 0.6, 8]
    assert values(silent, "score", "requests") == [None, 0] and "agreement" not in silent
    assert silent["score"].note == "no answer has such a score"


def test_answers_without_a_verdict_are_listed_and_not_spared(tmp_path: Path) -> None:
    lost = Judgement(None, error="cheap did not answer (503)", requests=2, usage=Usage(7, 1))
    records = [*standard("100"), answer("p3", None, error="never came")]
    run = judged_run(tmp_path / "run", records, {"p1": lost, "p2": lost}, {"p1": 1.0}, {"p0": 1.0, "p1": 1.0})
    found = report(run)
    (state,), (rules, *judges, both) = found.runs, by_whom(found).values()
    (one,) = state.judge_failures
    assert (state.no_verdict, one.sample, one.reason) == (1, "p2", "cheap did not answer (503)")
    assert (rules["score"].answers, both["score"].answers) == (3, 2), "a failed answer is nobody's"
    assert (both["score"].value, both["score"].ci95) == (None, (round(2 / 3, 6), 1.0))
    told = [(row["score"].failed, row["score"].left_out, row["requests"].value) for row in judges]
    assert told == [(2, 1, 4), (0, 1, 1)]
    result = invoke(run, "--full")
    assert result.exit_code == 1 and "not judged: p2 of exam, m1, standard: cheap did not answer (503)" in result.stderr
    text = " ".join(result.stdout.split())
    assert "67 to 100" in text and "answers without a verdict as 0 and as 1" in text
    assert "run: 1 answer is not scored yet; `mmdyn score`, with the same --judge, scores all." in text


def test_each_condition_has_its_row_and_draws_count_as_one_parent(tmp_path: Path) -> None:
    records = [answer("p0", 1.0), answer("p0", 1.0, DYNAMIC), answer("p0", 0.0, DYNAMIC, draw=1)]
    combined = {record.sample: 1.0 for record in records}
    found = report(judged_run(tmp_path / "run", records, {"p0~pad~1": 1.0}, {}, combined))
    rows = [row for row in found.rows("judged", "score") if row.factors["scored by"] == "rules"]
    counts = [(row.factors["variant"], row.value, row.n, row.answers) for row in rows]
    assert counts == [("standard", 1.0, 1, 1), ("dynamic", 0.5, 1, 2)]


def invoke(run: RunFolder, *arguments: str) -> Result:
    return CliRunner().invoke(command, [str(run.folder), "-q", *arguments])


def test_people_and_programs_read_the_same(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", standard("10"), {"p1": 0.5}, {"p1": 1.0}, {"p0": 1.0, "p1": 1.0})
    result = invoke(run, "--full")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert any(line.startswith("Rules and judges") for line in lines)
    for who, said in {"rules": 50, "judge cheap (aaaa)": 50, "judge strong (bbbb)": 100, "combined": 100}.items():
        assert any(f"{who} {said} [" in line for line in lines), who
    assert "judge cheap (aaaa): 100 tokens in, 10 out, cost 0.5 USD." in lines
    told = json.loads(invoke(run, "--json").stdout)
    (rows,) = (part["rows"] for part in told["parts"] if part["kind"] == "judged")
    found = {row["factors"]["scored by"]: row["value"] for row in rows if row["quantity"] == "score"}
    assert found["judge strong (bbbb)"] == 1.0 and told["runs"][0]["no_verdict"] == 0


def test_runs_without_judges_say_nothing_of_them(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", standard("10"))
    assert report(run).rows("judged") == [] and "Rules and judges" not in invoke(run, "--full").stdout


def test_a_run_without_judges_beside_one_with_them(tmp_path: Path) -> None:
    judged = judged_run(tmp_path / "judged", standard("10"), {"p1": 0.5}, {"p1": 1.0}, {"p0": 1.0, "p1": 1.0})
    plain = write_run(tmp_path / "plain", standard("10"))
    found = report(plain, judged)
    assert {row.factors["run"] for row in found.rows("judged")} == {"judged"}
    assert [len(state.judge_spending) for state in found.runs] == [0, 2]
