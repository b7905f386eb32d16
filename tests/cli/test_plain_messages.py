"""Sentences that say what is so, where another one misled: each is what a command prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import mmdyn

from making import choice, write_set


@pytest.mark.parametrize(("fields", "reason"), [
    (["a"] * 4, "2 there are 2 of topic 'a' already"), (["a", "a", "a", "b", "b", "b"], "2 there are 2 of topic … already"),
])  # fmt: skip
def test_a_reason_has_its_own_words_where_all_are_alike(tmp_path: Path, fields: list[str], reason: str) -> None:
    samples = [choice(f"q{n}", question=f"What is {n}?", fields={"topic": one}) for n, one in enumerate(fields)]
    source = write_set(tmp_path / "set", samples)
    done = mmdyn("build", "cap", source.folder, "-o", tmp_path / "out", "--field", "topic", "--most", 2)
    assert done.returncode == 0 and done.stderr.splitlines()[-1].strip() == reason, done.stderr


def test_a_step_that_needs_a_run_names_its_option(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice()])
    done = mmdyn("build", "retire", source.folder, "-o", tmp_path / "out")
    told = "mmdyn: no run is named: name a folder that `mmdyn eval` made\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_a_set_with_a_judge_is_not_spelt_beside_one_without(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice()])
    command = ("perturb", source.folder, "-o", tmp_path / "out", "--ops", "shuffle")
    assert mmdyn(*command, "--judge", "embedded").returncode == 0
    done = mmdyn(*command)
    assert done.returncode == 2 and "judge given, now none" in done.stderr and "{" not in done.stderr


@pytest.mark.parametrize(("text", "told"), [
    ("question,A,B,answer,image\nq,1,2,A,gone.png\n", "image 'gone.png' is missing: put the file into {folder}"),
    ("frage,answer\nq,1\n", "say which column is the question, by --map question=COLUMN: the columns are"),
])  # fmt: skip
def test_a_table_is_told_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    (tmp_path / "own.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    done = mmdyn("data", "convert", "own.csv", "-o", "out")
    assert done.returncode == 2 and told.format(folder=tmp_path) in done.stderr, done.stderr


def test_no_columns_are_told_of_a_table_without_rows(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("question,answer\n")
    done = mmdyn("data", "convert", tmp_path / "own.csv", "-o", tmp_path / "out")
    assert done.returncode == 2 and done.stderr.startswith("mmdyn: there is no sample for "), done.stderr
