"""Other samples' answers by knowledge point: bounded, whatever the order, and drawn by the stream alone."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from making import blank, choice, multi, open_ended, true_false
from mmdyn.errors import InputError
from mmdyn.keys import stream
from mmdyn.sample import Sample
from perturb.short_answers import MOST_ANSWERS, AnswerPool

FORCE = ("force",)


def pool(folder: Path, samples: Iterable[Sample]) -> AnswerPool:
    AnswerPool.build(samples, folder / "pool.json")
    return AnswerPool.load(folder / "pool.json")


def answered(*answers: str, **more: Any) -> list[Sample]:
    more = {"knowledge_points": FORCE, **more}
    return [blank(f"b{number}", answer=((answer,),), **more) for number, answer in enumerate(answers)]


def draw(pool: AnswerPool, answer: str, count: int = 3, number: int = 0, **more: Any) -> tuple[str, ...] | None:
    sample = blank("s", answer=((answer,),), **{"knowledge_points": FORCE, **more})
    return pool.draw(sample, answer, count, stream("pool", number))


def test_an_empty_pool_draws_nothing() -> None:
    assert draw(AnswerPool(), "5 N") is None
    assert len(AnswerPool().digest) == 32


def test_wrong_answers_are_of_the_same_kind_unit_and_size(tmp_path: Path) -> None:
    others = answered("4 N", "8 N", "10 N", "5 N", "5.0 N", "7 kg", "6", "900 N", "-4 N", "gravity", "12 N")
    found = pool(tmp_path, others)
    texts = {text for number in range(60) for text in draw(found, "5 N", number=number) or ()}
    assert texts == {"4 N", "8 N", "10 N", "12 N"}
    assert draw(found, "5 N", count=5) is None
    words = pool(tmp_path, answered("gravity", "friction", "tension", "the normal force of the table", "9 N", "摩擦力"))
    assert set(draw(words, "buoyancy") or ()) == {"gravity", "friction", "tension"}


def test_they_share_a_knowledge_point_and_the_language(tmp_path: Path) -> None:
    others = [
        *answered("gravity", "friction", knowledge_points=("force", "motion")),
        *answered("momentum", knowledge_points=("motion",)),
        *answered("osmosis", knowledge_points=("cells",)),
        *answered("重力", "摩擦力", "弹力", language="zh"),
        *answered("drag", knowledge_points=()),
    ]
    found = pool(tmp_path, others)
    assert set(draw(found, "tension", 2) or ()) == {"gravity", "friction"} and draw(found, "tension") is None
    assert set(draw(found, "tension", knowledge_points=("force", "motion")) or ()) == {
        "gravity",
        "friction",
        "momentum",
    }
    assert set(draw(found, "浮力", language="zh") or ()) == {"重力", "摩擦力", "弹力"}
    assert draw(found, "tension", knowledge_points=()) is None


def test_answers_and_options_of_every_form_are_taken_where_they_are_short(tmp_path: Path) -> None:
    more: dict[str, Any] = {"knowledge_points": FORCE}
    others = [
        choice("c", texts=("gravity", "friction", "All of the forces that act upon the body are in balance here, always", "A"), answer="A", **more),
        multi("m", texts=("tension", "drag"), answer="A", **more),
        open_ended("o", answer="momentum", **more),
        open_ended("o2", **more),
        true_false("t", **more),
        blank("two", answer=(("inertia",), ("mass",)), **more),
    ]  # fmt: skip
    found = pool(tmp_path, others)
    texts = {text for number in range(40) for text in draw(found, "density", 2, number) or ()}
    assert texts == {"gravity", "friction", "tension", "drag", "momentum"}


def test_the_order_of_samples_does_not_matter_and_a_point_keeps_so_many(tmp_path: Path) -> None:
    samples = answered(*(f"{n} N" for n in range(400)))
    first = pool(tmp_path, samples)
    bytes_first = (tmp_path / "pool.json").read_bytes()
    random.Random(1).shuffle(samples)
    assert pool(tmp_path, samples).digest == first.digest
    assert (tmp_path / "pool.json").read_bytes() == bytes_first
    assert bytes_first.count(b" N") == MOST_ANSWERS
    assert (
        pool(tmp_path, samples[:-1]).digest != first.digest
        or b'"' + samples[-1].answer[0][0].encode() not in bytes_first
    )  # type: ignore[index]


def test_memory_does_not_grow_with_points_that_are_never_seen_again(tmp_path: Path) -> None:
    def samples(numbers: Iterable[int]) -> Iterable[Sample]:
        return (blank(f"b{n}", answer=((f"{n % 90} N",),), knowledge_points=(f"point {n % 3000}",)) for n in numbers)

    tracemalloc.start()
    AnswerPool.build(samples(range(9000)), tmp_path / "forwards.json", most_points=50)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    AnswerPool.build(samples(reversed(range(9000))), tmp_path / "backwards.json", most_points=50)
    forwards, backwards = ((tmp_path / f"{way}wards.json").read_bytes() for way in ("for", "back"))
    assert forwards == backwards and forwards.count(b"point ") == 50


def test_what_is_drawn_hangs_on_the_stream_and_the_pool_alone(tmp_path: Path) -> None:
    found = pool(tmp_path, answered("gravity", "friction", "tension", "drag", "thrust"))
    again = AnswerPool.load(tmp_path / "pool.json")
    assert [draw(found, "weight", number=n) for n in range(20)] == [draw(again, "weight", number=n) for n in range(20)]
    assert len({draw(found, "weight", number=n) for n in range(20)}) > 5


def test_nothing_that_is_accepted_beside_the_answer_comes_near(tmp_path: Path) -> None:
    found = pool(tmp_path, answered("20 N", "21 N", "19 N", "30 N", "40 N", "50 N"))
    sample = blank("s", knowledge_points=FORCE)
    texts = {text for n in range(40) for text in found.draw(sample, "20 N", 3, stream("pool", n), apart=0.2) or ()}
    assert texts == {"30 N", "40 N", "50 N"}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"points": {"en": 3}}', b'{"points": {}, "more": 1}', b"\xff"])
def test_a_damaged_file_says_so(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "pool.json"
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"pool\.json: is no pool of answers \(.*\): perturb the set again"):
        AnswerPool.load(file)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(No such file or directory\): perturb the set again"):
        AnswerPool.load(tmp_path / "pool.json")


def test_an_unwritable_folder_is_an_os_error_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        AnswerPool.build(answered("4 N"), tmp_path / "missing" / "pool.json")
    AnswerPool.build(answered("4 N"), tmp_path / "pool.json")
    assert [path.name for path in tmp_path.iterdir()] == ["pool.json"]
