"""mmdyn report, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import mmdyn
from tables.making_runs import DYNAMIC, answers, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    records = [*answers("1111111100", fields={"grade": 7}), *answers("1100010110", DYNAMIC, fields={"grade": 7})]
    return write_run(tmp_path / "run", records).folder


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    return write_run(tmp_path / "failed", [*answers("1" + "x" * 24), *answers("1", DYNAMIC)]).folder


def test_json_alone_on_standard_output(run: Path) -> None:
    result = mmdyn("report", run, "--json", "--by", "grade,language", "--flips")
    assert result.returncode == 0
    read = json.loads(result.stdout)
    assert (read["schema"], read["complete"]) == (1, True)
    assert list(read["conditions"][0]["by"]) == ["grade", "language"]
    assert [flip["direction"] for flip in read["flips"]] == ["right to wrong"] * 4 + ["wrong to right"]
    assert result.stdout == mmdyn("report", run, "--json", "--by", "grade,language", "--flips").stdout


def test_a_table_with_flips(run: Path) -> None:
    result = mmdyn("report", run, "--flips")
    assert result.returncode == 0
    assert "Scores in percent with 95 % intervals" in result.stdout
    assert "Flips from standard to dynamic: 4 right to wrong, 1 wrong to right" in result.stdout


def test_a_csv_file(run: Path, tmp_path: Path) -> None:
    result = mmdyn("report", run, "--csv", tmp_path / "out.csv")
    assert (result.returncode, result.stdout) == (0, "")
    assert f"wrote {tmp_path / 'out.csv'}" in result.stderr
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith("kind,run,model,set,")


def test_failures_are_listed_and_end_in_status_1(failed: Path) -> None:
    result = mmdyn("report", failed, "--json")
    assert result.returncode == 1
    lines = [line for line in result.stderr.splitlines() if line.startswith("failed:")]
    assert len(lines) == 21
    assert lines[0].endswith(" of exam, m1, standard: the server said 500")
    assert lines[-1] == "failed: 4 more"
    assert len(json.loads(result.stdout)["failures"]) == 20


def test_several_runs(run: Path, failed: Path) -> None:
    result = mmdyn("report", run, failed, "--json", "-q")
    assert [state["name"] for state in json.loads(result.stdout)["runs"]] == ["run", "failed"]
    assert {contrast["factor"] for contrast in json.loads(result.stdout)["contrasts"]} == {"variant", "run"}


def test_mistakes(run: Path, tmp_path: Path) -> None:
    both = mmdyn("report", run, "--json", "--csv", tmp_path / "x.csv")
    assert (both.returncode, "--json and --csv exclude each other" in both.stderr) == (2, True)
    empty = mmdyn("report", run, "--csv", "")
    assert (empty.returncode, "it is empty: name a file or folder" in empty.stderr) == (2, True)
    assert mmdyn("report").returncode == 2
    assert "no run.json in it" in mmdyn("report", tmp_path).stderr
    assert "did you mean 'grade'?" in mmdyn("report", run, "--by", "grad").stderr
