"""Variants beside their parents, and made again from their trails."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from making_sets import make_set
from msgspec.structs import replace

from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from mmdyn.sample import Sample, Step
from perturb.pairs import Pair, find_parent, pairs
from perturb.pipeline import perturb
from perturb.replay import replay

OPS = "pad,color,style,pad+style+color,shuffle,substitute,paraphrase,convert,pad+shuffle+convert"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleSet, SampleSet]:
    folder = tmp_path_factory.mktemp("replay")
    source = make_set(folder / "source")
    return source, perturb(source, folder / "dynamic", ops=OPS, draws=2, seed=3, quiet=True)


def test_every_variant_comes_with_its_parent(made: tuple[SampleSet, SampleSet]) -> None:
    source, dynamic = made
    found = list(pairs(dynamic, source))
    assert [pair.after.id for pair in found] == [sample.id for sample in dynamic]
    assert all(pair.before.id == pair.after.parent and pair.outcome == "unjudged" for pair in found)


def test_every_variant_replays_to_the_same_bytes(made: tuple[SampleSet, SampleSet]) -> None:
    source, dynamic = made
    differing = {pair.after.id: replay(pair.before, pair.after, source.images) for pair in pairs(dynamic, source)}
    assert len(differing) > 100
    assert not {id: what for id, what in differing.items() if what}


def pair_of(made: tuple[SampleSet, SampleSet], id: str) -> Pair:
    return next(pair for pair in pairs(made[1], made[0]) if pair.after.id == id)


def with_step(sample: Sample, **params: object) -> Sample:
    assert sample.variant is not None
    (step,) = sample.variant.steps
    changed = Step(step.operator, {**step.params, **params})  # type: ignore[dict-item]
    return replace(sample, variant=replace(sample.variant, steps=(changed,)))


def test_what_differs_is_named(made: tuple[SampleSet, SampleSet]) -> None:
    source = made[0]
    padded = pair_of(made, "en-multi~pad~0")
    assert replay(padded.before, with_step(padded.after, value=7), source.images) == ["picture 1", "picture 2"]
    shuffled = pair_of(made, "en-choice~shuffle~0")
    edited = replace(shuffled.after, question="Another one?")
    assert replay(shuffled.before, edited, source.images) == ["question"]
    other = with_step(shuffled.after, order=[1, 0, 2, 3])
    assert set(replay(shuffled.before, other, source.images)) <= {"answer", "options"}


def test_what_cannot_be_replayed(made: tuple[SampleSet, SampleSet]) -> None:
    source = made[0]
    padded = pair_of(made, "en-choice~pad~0")
    with pytest.raises(UserError, match="en-choice is no variant: there is nothing to replay"):
        replay(padded.before, padded.before, source.images)
    huge = with_step(padded.after, left=1e6)
    with pytest.raises(UserError, match=r"image.pad no longer applies to en-choice: the padded picture would have"):
        replay(padded.before, huge, source.images)


def test_the_parent_set_is_found_beside_or_named(made: tuple[SampleSet, SampleSet], tmp_path: Path) -> None:
    source, dynamic = made
    assert find_parent(dynamic).folder.resolve() == source.folder.resolve()
    assert find_parent(dynamic, source.folder).name == "mixed"
    moved = SampleSet(shutil.copytree(dynamic.folder, tmp_path / "alone"))
    with pytest.raises(
        UserError, match=r"the set mixed that .*alone was made of is not beside it: name it with --parent"
    ):
        find_parent(moved)
    with pytest.raises(UserError, match=r"alone was not made of .*, or of another version of it: give mixed"):
        find_parent(moved, moved.folder)
    with pytest.raises(UserError, match="is no dynamic set: give one that `mmdyn perturb` made"):
        find_parent(source)
