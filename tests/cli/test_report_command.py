"""mmdyn report, as it is typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from shell import mmdyn
from tables.making_runs import DYNAMIC, answers, csv_rows, write_run

from making import choice, write_set

FORMS = ["text", "json", "csv", "markdown", "latex"]
STARTS = {
    "text": "mmdyn report\n\n",
    "json": '{\n  "',
    "csv": "part,kind,title,",
    "markdown": "<!-- mmdyn report -->\n\n",
    "latex": "% mmdyn report\n",
}
ENDINGS = dict(zip(FORMS, ("txt", "json", "csv", "md", "tex"), strict=True))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    for name in ("exam", "exam-dynamic"):
        write_set(tmp_path / "run" / "sets" / name, [choice(f"s{n:02}") for n in range(10)], name)
    records = [*answers("1111111100", fields={"grade": 7}), *answers("1100010110", DYNAMIC, fields={"grade": 7})]
    return write_run(tmp_path / "run", records).folder


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    return write_run(tmp_path / "failed", [*answers("1" + "x" * 24), *answers("1", DYNAMIC)]).folder


def test_json_alone_on_standard_output(run: Path) -> None:
    result = mmdyn("report", run, "--json", "--by", "grade,language")
    assert result.returncode == 0
    read = json.loads(result.stdout)
    assert (read["schema"], read["complete"]) == (1, True)
    assert [part["by"] for part in read["parts"] if part["kind"] == "scores"] == ["", "grade", "language"]
    assert result.stdout == mmdyn("report", run, "--json", "--by", "grade,language").stdout
    assert result.stdout == mmdyn("report", run, "--format", "json", "--by", "grade,language").stdout


def test_flips_are_a_table_of_their_own(run: Path) -> None:
    result = mmdyn("report", run, "--flips")
    assert result.returncode == 0
    assert result.stdout.startswith("Flips: questions that a chain turned (m1, exam)\n")
    assert "4 right to wrong, 1 wrong to right" in result.stdout and "Scores" not in result.stdout
    read = json.loads(mmdyn("report", run, "--flips", "--json").stdout)
    ways = [row["factors"]["direction"] for row in read["parts"][0]["rows"] if row["quantity"] == "a score"]
    assert ways == ["right to wrong"] * 4 + ["wrong to right"]


@pytest.mark.parametrize("page", ["", "--full", "--brief", "--why"])
@pytest.mark.parametrize("form", FORMS)
def test_every_page_has_every_form(run: Path, page: str, form: str, tmp_path: Path) -> None:
    words = [page] * bool(page)
    result = mmdyn("report", run, *words, "--format", form, "-q")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(r"(-|\$-\$)(30|0\.3)\b", result.stdout)
    file = tmp_path / f"out.{ENDINGS[form]}"
    written = mmdyn("report", run, *words, "-o", file, "-q")
    assert (written.returncode, written.stdout, written.stderr) == (0, "", f"wrote {file}\n")
    text = file.read_text("utf-8")
    assert text.startswith(STARTS[form]) and text.endswith(result.stdout)


def test_pages_and_tables_stand_together(run: Path) -> None:
    result = mmdyn("report", run, "--brief", "--pivot", "grade", "-q")
    assert result.returncode == 0
    assert result.stdout.startswith("run: 20 of 20 answers, 0 failed\n") and "Score by grade" in result.stdout
    both = mmdyn("report", run, "--brief", "--why")
    assert (
        both.returncode == 2 and "--full, --brief, --why and --memory are pages of their own: give one" in both.stderr
    )


def test_a_csv_file_has_the_rows_of_the_json(run: Path, tmp_path: Path) -> None:
    assert mmdyn("report", run, "-o", tmp_path / "out.csv", "-q").returncode == 0
    read = json.loads(mmdyn("report", run, "--json").stdout)
    every = [(part["kind"], row["quantity"], row["n"]) for part in read["parts"] for row in part["rows"]]
    assert [(row["kind"], row["quantity"], int(row["n"])) for row in csv_rows(tmp_path / "out.csv")] == every


def test_a_file_that_is_no_report_is_not_written_over(run: Path, tmp_path: Path) -> None:
    mine = tmp_path / "notes.md"
    mine.write_text("my notes\n")
    refused = mmdyn("report", run, "-o", mine, "-q")
    assert refused.returncode == 2 and mine.read_text() == "my notes\n"
    assert f"{mine} is there, and this command did not write it: choose another name, or give --force" in refused.stderr
    assert mmdyn("report", run, "-o", mine, "--force", "-q").returncode == 0
    first = mine.read_text()
    assert first.startswith("<!-- mmdyn report -->") and "my notes" not in first
    assert mmdyn("report", run, "-o", mine, "-q").returncode == 0, "a report is written over"
    assert mine.read_text() == first
    for form, ending in ENDINGS.items():
        file = tmp_path / f"twice.{ending}"
        assert [mmdyn("report", run, "-o", file, "-q").returncode for _ in range(2)] == [0, 0], form


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
    read = json.loads(result.stdout)
    assert [state["name"] for state in read["runs"]] == ["run", "failed"]
    contrasts = [row for part in read["parts"] if part["kind"] == "contrasts" for row in part["rows"]]
    assert {row["factors"]["factor"] for row in contrasts} == {"variant", "run"}


@pytest.mark.parametrize(("words", "says"), [
    (["--json", "--format", "csv"], "--json is --format json: give one of the two"),
    (["-o", ""], "it is empty: name a file or folder"),
    (["-o", "report.cvs"], "-o report.cvs ends in none of .txt, .json, .csv, .md, .tex, .html (did you mean 'csv'?): add"),
    (["--format", "pdf"], "'pdf' is not one of 'text', 'json', 'csv', 'markdown', 'latex', 'html'"),
    (["--by", "grad"], "did you mean 'grade'?"),
    (["--csv", "x.csv"], "No such option"),
    (["--flips", "--where", "chain=pad,context=none"],
     "no record has chain = context=none: give what records are to have one by one, --where NAME=VALUE each"),
])  # fmt: skip
def test_mistakes(run: Path, words: list[str], says: str) -> None:
    result = mmdyn("report", run, *words)
    assert (result.returncode, says in " ".join(result.stderr.split())) == (2, True), result.stderr


def test_folders_are_made_and_a_place_that_cannot_be_written_is_a_sentence(run: Path, tmp_path: Path) -> None:
    assert mmdyn("report", run, "-o", tmp_path / "new" / "out.csv").returncode == 0
    refused = mmdyn("report", run, "-o", run / "run.json" / "out.csv")
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    assert f"cannot write {run / 'run.json' / 'out.csv'}" in refused.stderr


def test_no_run(tmp_path: Path) -> None:
    assert mmdyn("report").returncode == 2
    assert "no run.json in it" in mmdyn("report", tmp_path).stderr
