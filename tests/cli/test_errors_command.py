"""`mmdyn errors` without a judge: what is known of wrong answers as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from shell import mmdyn
from tables.making_runs import answer, answers, write_run

from mmdyn.record import Reply


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Eight answers of m1: one right though cut off, two wrong ones cut off (one unparsed), one empty, one wrong, one
    refused, one that never came, one not scored; and a right one of m2."""
    cut = Reply("The answer", finish_reason="length")
    more = {"fields": {"level": "low"}}
    records = [
        replace(answer("s0", 1.0), reply=cut),
        replace(answer("s1", 0.0, status="unparsed", **more), reply=cut),
        replace(answer("s2", 0.5), reply=cut),
        replace(answer("s3", 0.0, status="unparsed"), reply=Reply(" ")),
        answer("s4", 0.0, **more),
        answer("s5", 0.0, status="refused"),
        answer("s6", None, error="the server said 500"),
        answer("s7", 1.0, scored=False),
        answer("s0", 1.0, model="m2"),
    ]
    return write_run(tmp_path / "run", records).folder


def test_what_needs_no_judge_is_counted(run: Path) -> None:
    done = mmdyn("errors", run)
    assert done.returncode == 1, "an answer is not scored"
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["answers", "of", "asked", "wrong", "off", "empty", "unparsed", "refused", "failed", "unscored"] in lines
    assert ["m1", "8", "4", "2", "1", "2", "1", "1", "1"] in lines
    assert ["m2", "1", "0", "0", "0", "0", "0", "0", "0"] in lines
    assert done.stderr.splitlines() == [
        f"1 wrong answers are neither cut off nor empty: `mmdyn errors {run} --judge MODEL` has a judge say what made them wrong",
        f"1 answers are not scored and were left out: `mmdyn score {run}`, with the judges it had, scores them",
    ]  # fmt: skip


def test_as_json_and_by_a_field(run: Path) -> None:
    done = mmdyn("errors", run, "--by", "level", "--json")
    m1, m2 = json.loads(done.stdout)["rows"]
    counts = {"asked": 8, "wrong": 4, "truncated": 2, "empty": 1, "unparsed": 2, "refused": 1, "failed": 1, "unscored": 1}  # fmt: skip
    assert {name: m1[name] for name in counts} == counts and (m1["model"], m2["model"]) == ("m1", "m2")
    low = m1["by"]["level"]["low"]
    assert (low["asked"], low["wrong"], low["truncated"]) == (2, 2, 1)
    assert m1["by"]["level"]["(not given)"]["asked"] == 6 and m2["by"]["level"].keys() == {"(not given)"}
    assert "The same by level" in mmdyn("errors", run, "--by", "level").stdout
    assert "did you mean 'level'?" in mmdyn("errors", run, "--by", "levle").stderr


def test_a_report_counts_what_was_cut_off(run: Path) -> None:
    def told(*more: str) -> str:
        return mmdyn("report", run, *more).stdout

    rows = json.loads(told("--json"))["conditions"]
    assert [(row["model"], row["truncated"]) for row in rows] == [("m1", 3), ("m2", 0)], "right or wrong"
    head = next(line.split() for line in told().splitlines() if "unparsed" in line.split())
    assert head == ["condition", "score", "n", "off", "unparsed", "refused", "unscored", "failed", "method"]


def test_nothing_cut_off_has_no_column(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", answers("10")).folder
    done = mmdyn("errors", folder)
    assert done.returncode == 0 and "off\n" not in done.stdout and "unparsed" not in done.stdout.splitlines()[2]
    right = write_run(tmp_path / "right", answers("11")).folder
    done = mmdyn("errors", right)
    assert (done.returncode, done.stderr) == (0, ""), "nothing is left for a judge"


@pytest.mark.parametrize("more", [["--per", "3"], ["--votes", "3"], ["--no-pictures"], ["--max-requests", "1"]])
def test_what_is_a_judge_s_needs_one(run: Path, more: list[str]) -> None:
    done = mmdyn("errors", run, *more)
    assert done.returncode == 2 and "go with --judge: name one" in done.stderr


@pytest.mark.parametrize("more", [[], ["--judge", "baseline:majority"]])
def test_a_run_without_answers(tmp_path: Path, more: list[str]) -> None:
    for name, records in (("asked", []), ("answered", answers("xx"))):
        folder = write_run(tmp_path / name, records, planned=2).folder
        done = mmdyn("errors", folder, *more)
        said = f"mmdyn: nothing was {name} yet in {folder}: `mmdyn eval SET -m MODEL -o {folder}` asks\n"
        assert (done.returncode, done.stderr) == (2, said)
