"""What `evaluate` and `perturb` take in Python: functions, samples, slices, lists of operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from making import choice, picture, write_set
from mmdyn import evaluate, load, perturb
from mmdyn.errors import UserError
from mmdyn.models import Message
from mmdyn.run import ConditionSpec, Execution
from mmdyn.sheets import find_parent
from mmdyn.work import IMPORTED_SOURCE

QUIET = Execution(quiet=True)


def always_b(messages: tuple[Message, ...]) -> str:
    return "Answer: B"


def test_a_function_answers(tmp_path: Path) -> None:
    run = evaluate([choice("q1"), choice("q2", "A")], always_b, tmp_path / "run", execution=QUIET)
    (entry,) = run.config.sets
    assert (run.config.models[0].label, entry.name) == ("python:always_b", "samples")
    assert entry.folder.startswith("sets/samples-")
    assert {record.sample: record.score and record.score.value for record in run.records()} == {"q1": 1.0, "q2": 0.0}


def test_a_coroutine_answers(tmp_path: Path) -> None:
    async def slowly(messages: tuple[Message, ...]) -> str:
        return "Answer: B"

    run = evaluate([choice("q1")], [slowly, always_b], tmp_path / "run", execution=QUIET)
    assert sorted(record.model for record in run.records()) == ["python:always_b", "python:slowly"]


def test_a_class_is_no_model(tmp_path: Path) -> None:
    class Mine:
        def ask(self, messages: tuple[Message, ...]) -> str:
            return "B"

    with pytest.raises(UserError, match=r"Mine is a class: give an object of it, Mine\(…\)"):
        evaluate([choice("q1")], Mine, tmp_path / "run", execution=QUIET)


def test_a_slice_is_kept_in_the_run(tmp_path: Path) -> None:
    data = picture(text="3")
    whole = write_set(tmp_path / "exam", [choice(f"q{n}", images=("images/x.png",)) for n in range(3)], "exam")
    (tmp_path / "exam" / "images").mkdir(exist_ok=True)
    (tmp_path / "exam" / "images" / "x.png").write_bytes(data)
    part = whole[:2]
    for _ in range(2):  # the same once more goes on
        run = evaluate(part, always_b, tmp_path / "run", execution=QUIET)
    (entry,) = run.config.sets
    kept = load(run.set_folder(entry))
    assert (entry.name, entry.digest, entry.folder) == ("exam", part.manifest.digest, f"sets/exam-{entry.digest[:12]}")
    assert kept.images.read(kept[0].images[0]) == data
    assert len(list(run.records())) == 2


def test_operators_may_be_a_list(tmp_path: Path) -> None:
    source = write_set(tmp_path / "exam", [choice("q1"), choice("q2")], "exam")
    as_list = perturb(source, tmp_path / "one", ops=["shuffle", "shuffle+paraphrase"], quiet=True)
    as_text = perturb(source, tmp_path / "two", ops="shuffle,shuffle+paraphrase", quiet=True)
    assert as_list.manifest.digest == as_text.manifest.digest
    assert ConditionSpec(ops=["shuffle", "pad"]) == ConditionSpec(ops="shuffle,pad")


def test_variants_of_a_slice_find_their_parents(tmp_path: Path) -> None:
    source = write_set(tmp_path / "there" / "exam", [choice("q1"), choice("q2")], "exam")
    made = perturb(source[1:], tmp_path / "dynamic", ops=["shuffle"], quiet=True)
    assert find_parent(made).folder == tmp_path / "dynamic" / IMPORTED_SOURCE
    assert [sample.parent for sample in made] == ["q2"]
