"""mmdyn report with tables in place of the usual ones, as it is typed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from shell import mmdyn
from tables.making_counts import counted_run
from tables.making_runs import answers, write_run

from mmdyn.record import Condition
from mmdyn.work import SetEntry


@pytest.fixture
def run(tmp_path: Path) -> Path:
    cells = [
        ({"model": model, "level": level, "year": year}, right, 20)
        for model, right in (("m1", 14), ("m2", 8))
        for level in ("easy", "hard")
        for year in (2019, 2021)
    ]
    return counted_run(tmp_path / "run", cells).folder


def test_every_kind_of_table(run: Path) -> None:
    words = ["--pivot", "model,level,year", "--macro", "level", "--gap", "level=easy:hard", "--gap", "year=first:last"]
    words += ["--paired", "model=m1:m2", "--trend", "year", "--spread", "level", "--ranking", "level"]
    result = mmdyn(
        "report", run, *words, "--leaderboard", "level", "--group", "one=easy", "--by", "level", "--format", "json"
    )
    assert result.returncode == 0, result.stderr
    parts = json.loads(result.stdout)["parts"]
    assert [part["kind"] for part in parts] == [
        "pivot", "paired", "gap", "gap", "trend", "spread", "ranking", "leaderboard"
    ]  # fmt: skip
    assert {row["factors"]["level"] for row in parts[4]["rows"]} == {"easy", "hard", "all"}
    assert {row["quantity"] for row in parts[1]["rows"]} == {"m1", "m2", "difference"}
    assert [row["factors"] for row in parts[7]["rows"][:3]] == [
        {"model": "m1", "level": name} for name in ("rank", "mean", "all")
    ]


def test_where_keeps_some_records(run: Path) -> None:
    result = mmdyn("report", run, "--pivot", "level", "--where", "model=m1", "--json")
    assert [row["value"] for row in json.loads(result.stdout)["parts"][0]["rows"]] == [0.7, 0.7, 0.7]


def test_values_that_hold_colons_are_quoted(tmp_path: Path) -> None:
    records = [*answers("1111000000", model="openai:a:b"), *answers("1111111111", model="hf:c:d@1")]
    run = write_run(tmp_path / "run", records).folder
    result = mmdyn("report", run, "--paired", 'model="openai:a:b":"hf:c:d@1"', "--json")
    assert result.returncode == 0, result.stderr
    values = {row["quantity"]: row["value"] for row in json.loads(result.stdout)["parts"][0]["rows"]}
    assert values == {"openai:a:b": 0.4, "hf:c:d@1": 1.0, "difference": 0.6}
    unquoted = mmdyn("report", run, "--paired", "model=openai:a:b:hf:c:d@1")
    assert unquoted.returncode == 2 and 'quote values that hold a colon: model="openai:a":"openai:b"' in unquoted.stderr


def test_a_named_table(run: Path) -> None:
    result = mmdyn("report", run, "--table", "opencompass.table1", "--format", "latex")
    assert result.returncode == 0 and r"\toprule" in result.stdout
    listed = json.loads(mmdyn("list", "tables", "--json").stdout)
    assert listed["opencompass.leaderboard"] == "Leaderboard"
    assert "opencompass.table1  " in mmdyn("list", "tables").stdout


def test_failed_records_end_in_1(tmp_path: Path) -> None:
    run = write_run(tmp_path / "failed", answers("1x"), planned=3).folder
    result = mmdyn("report", run, "--pivot", "model")
    assert (result.returncode, "failed: s01 of exam, m1, standard: " in result.stderr) == (1, True)
    assert "records are missing or not scored yet" in result.stderr
    result = mmdyn("report", run, "--table", "opencompass.leaderboard", "--pivot", "model")
    assert result.returncode == 1 and "Leaderboard" in result.stdout and "Score by model" in result.stdout


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        ("one=esay", "the group one has 'esay', which no level of these records is (did you mean 'easy'?)"),
        ("both=easy,nothing", "the group both has 'nothing', which no level of these records is"),
        ("both=esay:2,hard", "the group both has 'esay:2', which no level of these records is"),
        ("both=easy:0,hard", "the group both weighs easy '0': give a number above 0, as in easy:2"),
        ("both=easy:much,hard", "the group both weighs easy 'much': give a number above 0"),
    ],
)
def test_a_group_of_what_no_record_has_is_refused(run: Path, group: str, problem: str) -> None:
    result = mmdyn("report", run, "--leaderboard", "level", "--group", group)
    assert result.returncode == 2 and problem in result.stderr.splitlines()[-1]


def test_a_group_of_a_paper_may_lack_columns(run: Path) -> None:
    result = mmdyn("report", run, "--table", "opencompass.table1")
    assert result.returncode == 0 and "no record has set = ifeval, of which the group instructions is" in result.stdout


def test_models_that_one_name_would_stand_for_are_told(run: Path, tmp_path: Path) -> None:
    (tmp_path / "models.csv").write_text("model,size\nm1,7\nM-1,72\n")
    result = mmdyn("report", run, "--pivot", "size", "--models", tmp_path / "models.csv")
    assert result.returncode == 2 and "names a model twice" in result.stderr


def factorial(folder: Path) -> Path:
    """Two operators of 40 questions, the first of which costs half of them; the standard question twice."""
    marks = {"": "1" * 40, "pad": "10" * 20, "noise": "1" * 40, "pad+noise": "10" * 20}
    records = [
        one
        for chain, told in marks.items()
        for one in answers(told, Condition("dynamic" if chain else "standard", chain))
    ]
    records += answers("1" * 40, epoch=1)
    made = SetEntry("exam-dynamic", "exam", "sets/exam-dynamic", "d1", factors=("pad", "noise"), design="full")
    return write_run(folder, records, sets=(SetEntry("exam", "exam", "sets/exam", "d0"), made)).folder


def test_attribution_and_the_noise_floor(tmp_path: Path) -> None:
    run = factorial(tmp_path / "run")
    result = mmdyn("report", run, "--attribute", "--noise", "--json")
    assert result.returncode == 0, result.stderr
    parts = json.loads(result.stdout)["parts"]
    shown = {(row["factors"]["operator"], row["quantity"]): row["value"] for row in parts[0]["rows"]}
    assert shown["pad", "shapley"] == shown["all", "whole"] == -0.5 and shown["noise", "shapley"] == 0
    flips = [row for row in parts[1]["rows"] if row["factors"]["figure"] == "right to wrong"]
    assert [row["value"] for row in flips if row["factors"]["chain"] == "pad"] == [0.5]
    text = mmdyn("report", run, "--attribute", "--gee").stdout
    assert "log odds" in text and "the regression has no finite solution" in text
    markdown = mmdyn("report", run, "--noise", "--format", "markdown").stdout
    assert "| m1 | pad | right to wrong | - | 50 " in markdown


def test_attribution_by_sample_as_csv(tmp_path: Path) -> None:
    run = factorial(tmp_path / "run")
    result = mmdyn("report", run, "--attribute", "--by", "sample", "-o", tmp_path / "out.csv")
    assert result.returncode == 0, result.stderr
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["operator"], row["quantity"]) == ("pad", "shapley")]
    assert [(row["sample"], row["value"], row["n"]) for row in rows[:2]] == [("s00", "0.0", "1"), ("s01", "-1.0", "1")]
    assert [(row["sample"], row["value"], row["n"]) for row in rows[-1:]] == [("all", "-0.5", "40")]


def test_a_table_without_a_number_is_told_and_ends_in_1(run: Path) -> None:
    result = mmdyn("report", run, "--attribute", "--noise", "--pivot", "level", "-q")
    assert result.returncode == 1 and "Score by level" in result.stdout
    assert result.stderr.splitlines() == [
        "Attribution: what of the drop each operator takes, in points: no number: no set here holds subsets of operators:"
        " make one with `mmdyn perturb --factorial` and evaluate it",
        "Noise floor: what chains flip beyond what asking again flips: no number: no variant was asked",
    ]
    assert "no set here holds subsets of operators" in result.stdout and "no variant was asked" in result.stdout
    none = mmdyn("report", run, "--pivot", "level", "--where", "level=none", "-q")
    assert (none.returncode, none.stderr) == (
        1,
        "Score by level: no number: no record has level = none here (there is easy, hard)\n",
    )


@pytest.mark.parametrize(("words", "says"), [
    (["--pivot", "a,b,c,d"], "--pivot 'a,b,c,d' names 4 factors: name one to three"),
    (["--gap", "level"], "'level' is no FACTOR=A:B: write it like difficulty=easy:hard"),
    (["--pivot", "level", "--where", "level"], "'level' is no NAME=VALUE,…: write it like difficulty=easy,hard"),
    (["--where", "level=easy"], "--where goes with a table or --flips: add one, such as --pivot FACTOR"),
    (["--pivot", "levle"], "no record has a field 'levle' (did you mean 'level'?)"),
    (["--table", "opencompass.table1", "--macro", "level"], "--macro goes with --pivot: give one, or leave --macro out"),
    (["--table", "opencompass.table1", "--measure", "cost"], "--spread or --ranking or --leaderboard: give one, or leave --measure out"),
    (["--pivot", "level", "--by", "level"], "--by goes with --paired, --gap, --trend, --spread, --attribute, --noise"),
    (["--full", "--flips", "--by", "level"], "--curves, or with no table: leave it out"),
    (["--pivot", "level", "--paper", "x"], "--paper goes with --table: give one, or leave --paper out"),
    (["--pivot", "level", "--measure", "cost", "--measure", "score"], "--measure is given 2 times: give it once"),
    (["--pivot", "level", "--where", "level=a", "--where", "level=b"], "--where names one thing twice"),
    (["--table", "opencompass.table1", "--table", "opencompass.leaderboard"], "--table names one paper's table at a time"),
    (["--leaderboard", "set", "--group", "mean=x"], "a group cannot be called 'mean', as a column is"),
    (["--table", "opencompass.x"], "there is no table 'opencompass.x'"),
    (["--noise", "--gee"], "--gee goes with --attribute: give one, or leave --gee out"),
    (["--attribute", "--by", "levle"], "no record has a field 'levle' (did you mean 'level'?)"),
])  # fmt: skip
def test_a_mistake_ends_in_a_sentence_and_2(run: Path, words: list[str], says: str) -> None:
    result = mmdyn("report", run, *words)
    assert result.returncode == 2 and says in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_field_with_an_equals_sign_in_its_name_is_quoted(tmp_path: Path) -> None:
    cells = [({"a=b": level}, right, 20) for level, right in (("x=1", 14), ("y", 8))]
    run = counted_run(tmp_path / "run", cells).folder
    result = mmdyn("report", run, "--pivot", "a=b", "--where", '"a=b"=x=1', "--json")
    assert [row["value"] for row in json.loads(result.stdout)["parts"][0]["rows"]] == [0.7]
    result = mmdyn("report", run, "--gap", '"a=b"=y:x=1', "--json")
    assert {row["quantity"] for row in json.loads(result.stdout)["parts"][0]["rows"]} == {"x=1", "y", "difference"}
    bare = mmdyn("report", run, "--pivot", "a=b", "--where", "a=b=y")
    assert bare.returncode == 2 and "no record has a field 'a'" in bare.stderr and "break down by a=b," in bare.stderr
