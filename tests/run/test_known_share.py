"""bench/known_share.py: a model that knows a share of the questions answers them rightly in every form, and guesses
else."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import pytest
from benches import load_bench
from tables.making_runs import change, score, scores

from making import blank, choice, multi, open_ended, true_false
from mmdyn.keys import stream
from mmdyn.record import Reply
from mmdyn.run import ConditionSpec, Execution, evaluate
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer
from mmdyn.tables import report


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("known_share")


@pytest.mark.parametrize("sample", [choice(), multi(), true_false(), blank(), open_ended()])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_known_is_read_as_right_and_guesses_earn_chance(bench: Any, sample: Sample, language: str) -> None:
    sample, scorer = msgspec.structs.replace(sample, language=language), Scorer()
    assert scorer.score(sample, Reply(bench.right(sample))).value == 1.0
    random = stream("guesses", sample.task_type)
    earned = [scorer.score(sample, Reply(bench.guess(sample, random))).value or 0.0 for _ in range(400)]
    assert fmean(earned) == pytest.approx(scorer.chance(sample), abs=4 * 0.5 / 20)
    nothing = scorer.score(sample, Reply(bench.NOTHING[language]))
    assert nothing.value == 0.0 and (nothing.status != "ok" or sample.task_type == "open_ended")


@pytest.mark.slow
def test_it_answers_a_run_again(bench: Any, tmp_path: Path) -> None:
    samples = [choice(f"q{number}", question=f"How many are {number} and 3?") for number in range(20)]
    (tmp_path / "quiz.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, samples)))
    run = evaluate(
        tmp_path / "quiz.jsonl", "baseline:random", tmp_path / "random",
        conditions=ConditionSpec("standard,dynamic", ops="convert"), execution=Execution(quiet=True),
    )  # fmt: skip
    assert bench.answered(run, tmp_path / "known", "knows .6", 0) == 0
    found = report(tmp_path / "known")
    assert found.complete and {row.factors["model"] for row in scores(found)} == {"knows .6"}
    known = [stream("known share", 0, sample.id).random() < 0.6 for sample in samples]
    assert all((row.value or 0) >= fmean(known) for row in scores(found))
    assert change(found).n == 20 and score(found, "chance", variant="standard").value == 0.25
    assert bench.counted(tmp_path / "known")[change(found).scale][0] == 1
