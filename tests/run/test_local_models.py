"""Whole runs of models on this machine: answers that they write, and options that they weigh."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import making_models
import pytest
from running import estimated, evaluated
from shell import mmdyn

from making import blank, choice, image_ref, multi, picture, true_false, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.record import Record
from mmdyn.tables import report
from mmdyn.work import RunFolder


def mixed(folder: Path) -> SampleSet:
    """Of six samples, four are choices or statements and three of these have knowledge points."""
    data = picture()
    known = {"knowledge_points": ("Sides",)}
    samples = [
        choice("c1", images=(image_ref(data),), **known),
        choice("c2", question="三角形有几条边？", language="zh", **known),
        choice("c3"),
        true_false("t1", **known),
        blank("b1"),
        multi("m1"),
    ]
    return write_set(folder / "set", samples, images=[data])


def records(run: RunFolder) -> list[Record]:
    return list(run.records())


@pytest.mark.slow
def test_a_run_in_three_modes(tmp_path: Path) -> None:
    model = f"hf:{making_models.saying(tmp_path / 'saying')},max_new_tokens=20"
    given = write_set(tmp_path / "set", [choice(f"c{number}", knowledge_points=("Sides",)) for number in range(4)])
    run = evaluated(given, model, tmp_path / "run", modes=("standard", "dynamic", "kprag"), ops="shuffle")
    found = records(run)
    assert {record.condition.mode for record in found} == {"standard", "dynamic", "kprag"}
    assert {record.reply.text for record in found} == {"Answer: B"}
    summary = report(run)
    assert summary.complete
    again = evaluated(given, model, tmp_path / "again")
    assert len(records(again)) == 4


def test_options_are_weighed_and_what_has_none_is_counted(tmp_path: Path) -> None:
    model = f"hf:{making_models.llava(tmp_path / 'llava')}"
    run = evaluated(mixed(tmp_path), model, tmp_path / "run", modes=("standard", "kprag"), styles="likelihood")
    assert run.config.skipped == {"likelihood": 2, "kprag": 3}
    found = {(record.sample, record.condition.context): record for record in records(run)}
    assert sorted({sample for sample, _ in found}) == ["c1", "c2", "c3", "t1"] and len(found) == 4 + 3
    for record in found.values():
        assert record.condition.style == record.reply.finish_reason == "likelihood"
        assert len(record.reply.logprobs) == len(record.reply.option_tokens) == (2 if record.sample == "t1" else 4)
        assert record.score is None or record.score.status == "ok"
    assert found["c2", "none"].reply.text.startswith("答案：")
    assert report(run).complete


def test_a_model_that_cannot_weigh_is_told_before_the_rest(tmp_path: Path) -> None:
    asks: tuple[Callable[..., object], ...] = evaluated, estimated
    opened = mixed(tmp_path)
    for ask in asks:
        with pytest.raises(UserError, match=r"^baseline:random cannot weigh options: leave --style likelihood out"):
            ask(opened, "baseline:random", tmp_path / "run", styles="likelihood")
        assert not (tmp_path / "run").exists()
    only, model = write_set(tmp_path / "blanks", [blank()]), f"hf:{making_models.llama(tmp_path / 'model')}"
    with pytest.raises(UserError, match=r"there is nothing to ask: .* likelihood single choices or statements"):
        evaluated(only, model, tmp_path / "other", styles="likelihood")


def test_the_scoring_mode_of_the_command(tmp_path: Path) -> None:
    mixed(tmp_path)
    making_models.llama(tmp_path / "model")
    done = mmdyn("eval", "set", "-m", "hf:model", "-o", "run", "--style", "likelihood", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "2 samples could not be asked in mode likelihood" in done.stdout + done.stderr
    assert "1 answer failed" in done.stdout + done.stderr, "the one with a picture, for a model of text"
