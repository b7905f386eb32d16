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


COUNTS = ["asked", "wrong", "truncated", "empty", "unparsed", "refused", "failed", "unscored"]


def test_what_needs_no_judge_is_counted(run: Path) -> None:
    done = mmdyn("errors", run)
    assert done.returncode == 1, "an answer is not scored"
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["model", "subset", *COUNTS] in lines
    assert ["m1", "all", "8", "4", "2", "1", "2", "1", "1", "1"] in lines
    assert ["m2", "all", "1", "0", "0", "0", "0", "0", "0", "0"] in lines
    assert done.stderr.splitlines() == [
        f"1 wrong answer is neither cut off nor empty: `mmdyn errors {run} --judge MODEL` has a judge say what made them wrong",
        f"1 answer is not scored, and left out: `mmdyn score {run}`, with the judges it had, scores them",
    ]  # fmt: skip


def test_as_json_and_by_a_field(run: Path) -> None:
    done = mmdyn("errors", run, "--by", "level", "--json")
    found = dict[tuple[str, str], list[int]]()
    for row in json.loads(done.stdout)["parts"][0]["rows"]:
        found.setdefault((row["factors"]["model"], row["factors"]["subset"]), []).append(row["value"])
    assert found == {
        ("m1", "all"): [8, 4, 2, 1, 2, 1, 1, 1],
        ("m1", "level low"): [2, 2, 1, 0, 1, 0, 0, 0],
        ("m1", "level (not given)"): [6, 2, 1, 1, 1, 1, 1, 1],
        ("m2", "all"): [1, 0, 0, 0, 0, 0, 0, 0],
        ("m2", "level (not given)"): [1, 0, 0, 0, 0, 0, 0, 0],
    }
    assert ["m1", "level", "low", "2", "2", "1", "0", "1", "0", "0", "0"] in [
        line.split() for line in mmdyn("errors", run, "--by", "level").stdout.splitlines()
    ]
    assert "did you mean 'level'?" in mmdyn("errors", run, "--by", "levle").stderr


def test_a_report_counts_what_was_cut_off(run: Path) -> None:
    def told(*more: str) -> str:
        return mmdyn("report", run, *more).stdout

    rows = [row for row in json.loads(told("--json"))["parts"][0]["rows"] if row["quantity"] == "score"]
    assert [(row["factors"]["model"], row["truncated"]) for row in rows] == [("m1", 3), ("m2", 0)], "right or wrong"
    head = next(line.split() for line in told().splitlines() if "unparsed" in line.split())
    assert " ".join(head) == "model condition score not read n cut off unparsed refused failed unscored"


def test_nothing_cut_off_has_no_column(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", answers("10")).folder
    done = mmdyn("errors", folder)
    assert done.returncode == 0 and "cut off" not in mmdyn("report", folder).stdout
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
