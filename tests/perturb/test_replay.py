"""Variants beside their parents, and made again from their trails."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making_sets import make_set
from msgspec.structs import replace

from mmdyn.data import ImageFolder, SampleSet
from mmdyn.errors import UserError
from mmdyn.sample import Sample, Step
from mmdyn.sheets import find_parent
from perturb import Case, Picture, VariantPair, pairs, perturb, replay, services_for
from perturb.audit.pairs import Replayed, levels_apart, redo, shown_to_judge
from perturb.codec import decode, encode, pictures_in

OPS = "pad,color,style,pad+style+color,shuffle,substitute,paraphrase,convert,pad+shuffle+convert"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleSet, SampleSet]:
    folder = tmp_path_factory.mktemp("replay")
    source = make_set(folder / "source")
    return source, perturb(source, folder / "dynamic", ops=OPS, draws=2, seed=3, quiet=True)


def test_every_variant_comes_with_its_parent(made: tuple[SampleSet, SampleSet]) -> None:
    source, dynamic = made
    found = list(pairs(dynamic, source))
    whole = [dropped.id for dropped in dynamic.dropped() if dropped.sample]
    assert [pair.after.id for pair in found] == [*[sample.id for sample in dynamic], *whole]
    assert all(pair.before.id == pair.after.parent for pair in found)


def again(made: tuple[SampleSet, SampleSet], pair: VariantPair, after: Sample | None = None) -> Replayed:
    return replay(pair.before, after or pair.after, made[0].images, made[1].images)


def test_every_variant_replays_to_the_same_bytes(made: tuple[SampleSet, SampleSet]) -> None:
    source, dynamic = made
    found = {pair.after.id: again(made, pair) for pair in pairs(dynamic, source)}
    assert len(found) > 100
    assert {id: what for id, what in found.items() if what != Replayed()} == {}


def pair_of(made: tuple[SampleSet, SampleSet], id: str) -> VariantPair:
    return next(pair for pair in pairs(made[1], made[0]) if pair.after.id == id)


def with_step(sample: Sample, **params: object) -> Sample:
    assert sample.variant is not None
    (step,) = sample.variant.steps
    changed = Step(step.operator, {**step.params, **params})  # type: ignore[dict-item]
    return replace(sample, variant=replace(sample.variant, steps=(changed,)))


def test_what_differs_is_named(made: tuple[SampleSet, SampleSet]) -> None:
    padded = pair_of(made, "en-multi~pad~0")
    assert again(made, padded, with_step(padded.after, value=7)) == Replayed(("picture 1", "picture 2"))
    shuffled = pair_of(made, "en-choice~shuffle~0")
    assert again(made, shuffled, replace(shuffled.after, question="Another one?")) == Replayed(("question",))
    order = shuffled.trail.steps[0].params["order"]
    assert isinstance(order, list)
    assert again(made, shuffled, with_step(shuffled.after, order=order[::-1])) == Replayed(("answer", "options"))
    assert again(made, shuffled, replace(shuffled.after, images=())) == Replayed(("number of pictures",))


@pytest.mark.parametrize("change", [{"points": 3.0}, {"group": "other"}, {"explanation": "No."}, {"meta": {"a": 1}}])
def test_the_whole_sample_is_compared(made: tuple[SampleSet, SampleSet], change: dict[str, Any]) -> None:
    padded = pair_of(made, "en-choice~pad~0")
    assert again(made, padded, replace(padded.after, **change)) == Replayed(tuple(change))


def test_pictures_are_compared_as_they_lie_on_the_disk(made: tuple[SampleSet, SampleSet], tmp_path: Path) -> None:
    source, dynamic = made[0], SampleSet(shutil.copytree(made[1].folder, tmp_path / "copy"))
    padded = pair_of(made, "en-multi~pad~0")
    first, second = padded.after.all_images
    dynamic.images.path(first).write_bytes(dynamic.images.read(second))
    assert again((source, dynamic), padded) == Replayed(("picture 1",))
    dynamic.images.path(second).unlink()
    assert again((source, dynamic), padded) == Replayed(("picture 1", "picture 2"))


def test_levels_between_two_pictures(tmp_path: Path) -> None:
    images, old = ImageFolder(tmp_path), np.full((9, 7, 3), 100, np.uint8)
    ref, new = images.put(encode(Picture(old, "png"))), old.copy()
    assert levels_apart(images.read(ref), images, ref) is None
    new[4, 4, 1] = 98
    assert levels_apart(encode(Picture(new, "png")), images, ref) == 2
    assert levels_apart(encode(Picture(new[1:], "png")), images, ref) == inf
    assert levels_apart(b"no picture", images, ref) == levels_apart(images.read(ref), images, "images/no.png") == inf
    images.path(ref).write_bytes(encode(Picture(new, "png")))
    assert levels_apart(images.read(ref), images, ref) == inf, "what is named by its bytes was overwritten"


def test_what_cannot_be_replayed(made: tuple[SampleSet, SampleSet]) -> None:
    padded, styled = pair_of(made, "en-choice~pad~0"), pair_of(made, "en-choice~style~0")
    with pytest.raises(UserError, match="en-choice is no variant: there is nothing to replay"):
        again(made, padded, padded.before)
    with pytest.raises(UserError, match=r"image.pad no longer applies to en-choice: the padded picture would have"):
        again(made, padded, with_step(padded.after, left=1e6))
    with pytest.raises(UserError, match=r"en-choice: flux painted this, .* is embedded: give --style-backend flux"):
        again(made, styled, with_step(styled.after, by="flux"))


# what a judge was shown


def shown(made: tuple[SampleSet, SampleSet], pair: VariantPair) -> Case:
    with closing(services_for(made[1])) as services:
        return shown_to_judge(pair, *made, services)


def test_a_judge_is_shown_pictures_without_noise(made: tuple[SampleSet, SampleSet]) -> None:
    """White, black and the greys between them: noise would put white and black where the clean picture has neither."""
    pair = pair_of(made, "en-choice~pad+style+color~0")
    (look,) = shown(made, pair).looks
    noisy = decode(made[1].images.read(pair.after.all_images[0])).pixels
    calm = [step for step in pair.trail.steps if step.operator != "image.salt_pepper"]
    assert len(calm) == len(pair.trail.steps) - 1
    refs = pair.before.all_images
    wanted = redo(pair.before, calm, pictures_in(made[0].images, refs)).pictures[refs[0]]
    assert np.array_equal(look.after.pixels, wanted.pixels)
    changed = np.any(look.after.pixels != noisy, axis=-1)
    assert 0 < changed.mean() < 0.1 and {0, 255} == set(noisy[changed].ravel().tolist())


def test_without_noise_the_file_in_the_set_counts_whoever_painted_it(made: tuple[SampleSet, SampleSet]) -> None:
    pair = pair_of(made, "en-pictured~style~0")
    painted = VariantPair(pair.before, with_step(pair.after, by="flux"), pair.outcome)
    looks = shown(made, painted).looks
    assert [(look.before_file, look.after_file) for look in looks] == [
        (made[0].images.path(old), made[1].images.path(new))
        for old, new in zip(pair.before.all_images, pair.after.all_images, strict=True)
    ]
    for look in looks:
        assert np.array_equal(look.after.pixels, decode(look.after_file.read_bytes()).pixels)


def test_pictures_are_paired_as_the_words_moved_them(made: tuple[SampleSet, SampleSet], tmp_path: Path) -> None:
    dynamic = perturb(made[0], tmp_path / "moved", ops="style+shuffle", seed=3, quiet=True)
    pair = pair_of((made[0], dynamic), "en-pictured~style+shuffle~0")
    for look in shown((made[0], dynamic), pair).looks:
        before = decode(look.before_file.read_bytes()).pixels
        assert before.shape[:2] == look.after.pixels.shape[:2] and np.array_equal(before, look.before.pixels)


def test_the_manifest_says_who_paints(made: tuple[SampleSet, SampleSet], tmp_path: Path) -> None:
    assert services_for(made[1]).tools.style == "embedded"
    assert services_for(made[1], "flux:/weights").tools.style == "flux:/weights"
    folder = shutil.copytree(made[1].folder, tmp_path / "copy")
    manifest = json.loads((folder / "set.json").read_text("utf-8"))
    manifest["made"]["styler"]["styler"] = "klein"
    (folder / "set.json").write_text(json.dumps(manifest), "utf-8")
    assert services_for(SampleSet(folder)).tools.style == "klein"


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


def test_neighbours_that_are_broken_are_passed_over(made: tuple[SampleSet, SampleSet], tmp_path: Path) -> None:
    broken, bare = tmp_path / "a-broken", tmp_path / "b-bare"
    for folder, manifest in ((broken, "{"), (bare, None)):
        folder.mkdir()
        (folder / "samples.jsonl").write_text("not json", "utf-8")
        if manifest:
            (folder / "set.json").write_text(manifest, "utf-8")
    dynamic = SampleSet(shutil.copytree(made[1].folder, tmp_path / "out"))
    with pytest.raises(UserError, match="is not beside it: name it with --parent"):
        find_parent(dynamic)
    shutil.copytree(made[0].folder, tmp_path / "source")
    assert find_parent(dynamic).folder.name == "source"
