"""Which questions leave by what models answered to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from serving import serve
from shell import mmdyn

from making import choice, write_set
from mmdyn.build import build
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.plugins import load

QUESTIONS = {"easy": "BBBB", "doubt": "CCCB", "split": "ABCD", "unread": "????"}
"""What each of four models answers; the key says B."""


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return write_set(tmp_path / "set", [choice(id, question=f"The question called {id}?") for id in QUESTIONS])


def run_of(source: SampleSet, folder: Path, models: int = 4) -> Path:
    words: list[object] = ["eval", source.folder, "-o", folder / "run", "-q"]
    for number in range(models):
        lines = [{"match": f"called {id}?", "reply": f"Answer: {said[number]}"} for id, said in QUESTIONS.items()]
        script = folder / f"model{number}.jsonl"
        script.write_text("".join(json.dumps(line) + "\n" for line in lines))
        words += ["-m", f"scripted:{script}"]
    done = mmdyn(*words)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def settings(step: str, **given: Any) -> Any:
    return load("steps", step).Settings(**given)


def reasons(made: SampleSet) -> dict[str, str]:
    return {item.id: item.reason for item in made.dropped()}


def test_saturated_and_doubtful_questions_are_retired(source: SampleSet, tmp_path: Path) -> None:
    run = run_of(source, tmp_path)
    made = build("retire", source, tmp_path / "out", settings("retire", runs=str(run)), quiet=True)
    names = [f"scripted:model{number}.jsonl" for number in range(4)]
    three = ", ".join(names[:3])
    assert reasons(made) == {
        "easy": f"saturated: 4 models score 100 % on the mean ('{', '.join(names)}')",
        "doubt": f'in doubt: 3 of 4 models (\'{three}\') answer ["C"], and the key says ["B"]',
    }
    kept = build(
        "retire",
        source,
        tmp_path / "kept",
        settings("retire", runs=str(run), saturated=1.1, contradicted=0.8),
        quiet=True,
    )
    assert len(kept) == 4


def test_few_models_retire_nothing(source: SampleSet, tmp_path: Path) -> None:
    run = run_of(source, tmp_path, models=2)
    assert len(build("retire", source, tmp_path / "out", settings("retire", runs=str(run)), quiet=True)) == 4


def test_runs_that_do_not_fit_are_told(source: SampleSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run is named"):
        build("retire", source, tmp_path / "out", quiet=True)
    run = run_of(source, tmp_path, models=1)
    other = write_set(tmp_path / "other", [choice("easy", question="Another one?")])
    with pytest.raises(UserError, match="has no scored answer to a question of"):
        build("retire", other, tmp_path / "out", settings("retire", runs=str(run)), quiet=True)
    with pytest.raises(UserError, match=r"has no model 'gpt': it has scripted:model0\.jsonl"):
        build("effort", source, tmp_path / "out", settings("effort", run=str(run), label="gpt"), quiet=True)


def test_questions_without_effort_leave(source: SampleSet, tmp_path: Path) -> None:
    run = run_of(source, tmp_path, models=1)
    assert not len(build("effort", source, tmp_path / "out", settings("effort", run=str(run)), quiet=True))
    with serve(reply="hashed") as server:
        done = mmdyn("eval", source.folder, "-m", f"openai:m,base_url={server.url}", "-o", tmp_path / "served", "-q")
    assert done.returncode == 0, done.stderr
    made = build(
        "effort", source, tmp_path / "all", settings("effort", run=str(tmp_path / "served"), least=1), quiet=True
    )
    assert len(made) == 4
    much = settings("effort", run=str(tmp_path / "served"), least=10**6)
    none = build("effort", source, tmp_path / "none", much, quiet=True)
    assert not len(none) and len(list(none.dropped())) == 4


def test_whose_effort_counts_is_named(source: SampleSet, tmp_path: Path) -> None:
    run = run_of(source, tmp_path, models=2)
    with pytest.raises(UserError, match=r"has several models: name one by --label \(scripted:model0"):
        build("effort", source, tmp_path / "out", settings("effort", run=str(run)), quiet=True)
