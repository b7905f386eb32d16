"""What failed is asked again when all else is asked, and a model that cannot be asked keeps no other from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import contents, evaluated, many_samples, typed
from serving import serve

from mmdyn.data import SampleSet
from mmdyn.errors import ModelError, UserError
from mmdyn.run import Execution
from mmdyn.run.executors import open_executor
from mmdyn.testing import write_script


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return many_samples(tmp_path / "set", 20)


def failed(out: Path) -> int:
    return sum(bool(record.reply.error) for record in contents(out).values())


@pytest.mark.parametrize("retry", [0, 12])
def test_failures_are_asked_again_at_the_end(source: SampleSet, tmp_path: Path, retry: int) -> None:
    with serve(faults="500=0.3", seed=3) as server:
        models = [f"openai:{name},base_url={server.url},max_tries=1" for name in ("one", "two")]
        evaluated(source, models, tmp_path / "run", retry=retry)
        assert (failed(tmp_path / "run") == 0) == bool(retry) and len(contents(tmp_path / "run")) == 40
        assert server.stats.by_outcome["200"] == 40 - failed(tmp_path / "run"), "what was answered is not asked again"
        assert (server.stats.total == 40) == (not retry)


def test_what_would_fail_again_is_not_asked_again(source: SampleSet, tmp_path: Path) -> None:
    with serve(faults="400=0.3", seed=3) as server:
        model = f"openai:one,base_url={server.url}"
        evaluated(source, model, tmp_path / "run", retry=5, cache="none")
        assert failed(tmp_path / "run") and server.stats.total == 20


def test_a_model_that_cannot_be_asked_keeps_no_other_from_being_asked(source: SampleSet, tmp_path: Path) -> None:
    broken = write_script(tmp_path / "broken.jsonl", {"match": "Question 4", "error": "fatal"}, "Answer: A")
    fine = write_script(tmp_path / "fine.jsonl", "Answer: B")
    models = [f"scripted:{broken}", f"scripted:{fine}"]
    with pytest.raises(ModelError, match=f"a failure scripted in {broken}: take the line out"):
        evaluated(source, models, tmp_path / "run", retry=1)
    answers = [record.model for record in contents(tmp_path / "run").values()]
    assert answers.count("scripted:fine.jsonl") == 20 > answers.count("scripted:broken.jsonl")
    words = [word for model in models for word in ("-m", model)]
    done = typed("eval", source.folder, *words, "-o", tmp_path / "again", "-n", 8)
    assert "scripted:broken.jsonl: a failure scripted in" in done.stderr, "it is told when it happens"


def test_a_judge_that_cannot_be_asked_ends_the_run(source: SampleSet, tmp_path: Path) -> None:
    judge = write_script(tmp_path / "judge.jsonl", {"error": "fatal"})
    fine = [f"scripted:{write_script(tmp_path / f'{name}.jsonl', 'Perhaps.', name)}" for name in "ab"]
    with pytest.raises(ModelError, match=r"a failure scripted in .*judge\.jsonl"):
        evaluated(source, fine, tmp_path / "run", judges=[f"scripted:{judge}"])
    assert {record.model for record in contents(tmp_path / "run").values()} == {"scripted:a.jsonl"}


def test_a_number_that_is_none() -> None:
    with pytest.raises(UserError, match="--retry is -1: give 0 or more"):
        open_executor(Execution(retry=-1))
