"""Whole sets with a diffusion styler: tiny checkpoints of random weights, on the CPU, with pixels as tensors all the
way."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import making_checkpoints
import numpy as np
import pytest
from making_sets import tree

from making import choice, image_ref, multi, open_ended, picture, pixels, write_set
from mmdyn import plugins
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.sample import ImageRef, Sample
from perturb import Services, perturb, replay
from perturb.services import ToolNames, open_styler

OPS = "style,pad+style+color,style+color@mild,color"
STEPS = {
    "style": ("image.style",),
    "pad+style+color": ("image.pad", "image.style", "image.invert", "image.salt_pepper"),
    "style+color@mild": ("image.style", "image.invert", "image.salt_pepper"),
    "color": ("image.invert", "image.salt_pepper"),
}
PICTURES = [picture(60, 40, text="7"), picture(120, 96, "L", text="9"), picture(50, 50, text="3")]
REFS = [image_ref(data) for data in PICTURES]
PACKAGE = Path(__file__).parents[1] / "plugin_package" / "mmdyn_example"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MMDYN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    """Three samples with pictures, grey and in colour, and one without."""
    samples = [
        choice("one", images=(REFS[0],)),
        multi("two", images=(REFS[1], REFS[2])),
        open_ended("grey", images=(REFS[1],)),
        choice("none"),
    ]
    return write_set(tmp_path_factory.mktemp("source"), samples, images=PICTURES)


def checkpoint(name: str, folder: Path, seed: int = 0) -> str:
    """The backend with a checkpoint of its own."""
    made = getattr(making_checkpoints, name)(folder / f"{name}-{seed}", seed)
    return f"{name}:{made},device=cpu,dtype=fp32,steps=4"


@pytest.fixture(scope="module", params=["flux", "klein"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return checkpoint(request.param, tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="module")
def dynamic(source: SampleSet, backend: str, tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    out = tmp_path_factory.mktemp("dynamic") / "out"
    return perturb(source, out, ops=OPS, style_backend=f"{backend},batch=2", concurrency=4, quiet=True)


def sizes(made: SampleSet, sample: Sample) -> list[tuple[int, ...]]:
    """(height, width, 3) of each picture, as it lies in the set."""
    return [pixels(made.images.read(ref)).shape for ref in sample.all_images]


def framed(shape: tuple[int, ...], ratios: dict[str, float]) -> tuple[int, ...]:
    down, across = (
        sum(max(1, round(ratios[side] * length)) for side in sides)
        for sides, length in ((("top", "bottom"), shape[0]), (("left", "right"), shape[1]))
    )
    return shape[0] + down, shape[1] + across, *shape[2:]


def drawn(made: SampleSet) -> dict[str, object]:
    """Every variant's steps."""
    return {sample.id: sample.variant and sample.variant.steps for sample in made}


def test_every_variant_is_made_at_its_size(source: SampleSet, dynamic: SampleSet) -> None:
    parents = {sample.id: sample for sample in source}
    assert [sample.id for sample in dynamic] == [f"{p}~{c}~0" for p in ("one", "two", "grey") for c in STEPS]
    assert {(line.parent, line.status) for line in dynamic.dropped()} == {("none", "not_applicable")}
    for sample in dynamic:
        assert sample.variant is not None
        assert tuple(step.operator for step in sample.variant.steps) == STEPS[sample.variant.chain]
        wanted = sizes(source, parents[sample.variant.parent])
        if sample.variant.chain.startswith("pad"):
            ratios: dict[str, float] = sample.variant.steps[0].params  # type: ignore[assignment]
            wanted = [framed(shape, ratios) for shape in wanted]
        assert sizes(dynamic, sample) == wanted


def test_the_manifest_names_the_styler(dynamic: SampleSet, backend: str) -> None:
    styler = open_styler(backend)
    assert dynamic.manifest.made["styler"] == styler.identity
    styler.close()


def test_trails_replay_as_arrays(source: SampleSet, dynamic: SampleSet, backend: str) -> None:
    """The set was painted from tensors, in batches; a replay paints from arrays, one by one."""
    parents = {sample.id: sample for sample in source}
    services = Services(ToolNames(style=backend))
    for sample in dynamic:
        assert sample.variant is not None
        found = replay(parents[sample.variant.parent], sample, source.images, dynamic.images, services)
        assert not found.differing, (sample.id, found)
        assert "style" in sample.variant.chain or not found.near
    services.close()


def test_another_run_draws_the_same(source: SampleSet, dynamic: SampleSet, backend: str, tmp_path: Path) -> None:
    again = perturb(source, tmp_path / "out", ops=OPS, style_backend=backend, concurrency=1, quiet=True)
    assert drawn(again) == drawn(dynamic)
    assert again.manifest.made == dynamic.manifest.made


def test_a_finished_set_is_left_as_it_is_and_other_weights_are_refused(
    source: SampleSet, dynamic: SampleSet, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(dynamic.folder)
    perturb(source, dynamic.folder, ops=OPS, style_backend=backend)
    assert capsys.readouterr().err == f"{dynamic.folder} is finished: nothing to do\n"
    other = checkpoint(backend.partition(":")[0], tmp_path, seed=1)
    with pytest.raises(UserError, match=r"was made with other settings \(styler "):
        perturb(source, dynamic.folder, ops=OPS, style_backend=other, quiet=True)
    assert tree(dynamic.folder) == before


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """An operator of another package, which turns arrays round and cannot turn tensors: their steps are never
    negative."""
    shutil.copytree(PACKAGE, tmp_path / "site" / PACKAGE.name)
    info = tmp_path / "site" / "mmdyn_example-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mmdyn-example\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mmdyn.operators]\nexample.mirror = mmdyn_example.mirror:Mirror\n")
    with pytest.MonkeyPatch.context() as environment:
        environment.syspath_prepend(str(tmp_path / "site"))
        plugins.names.cache_clear()
        yield "example.mirror"
    plugins.names.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE.name]:
        del sys.modules[name]


def test_an_operator_that_knows_only_arrays_goes_along(
    source: SampleSet, backend: str, mirror: str, tmp_path: Path
) -> None:
    ops = f"{mirror}+style+pad,style+{mirror}+invert,{mirror}"
    out = perturb(source, tmp_path / "out", ops=ops, style_backend=backend, limit=2, quiet=True)
    assert [line.reason for line in out.dropped()] == []
    made = {(sample.variant.parent, sample.variant.chain): sample for sample in out if sample.variant}
    assert len(made) == 6
    parents = {sample.id: sample for sample in source}
    services = Services(ToolNames(style=backend))
    for (parent, _), sample in made.items():
        assert not replay(parents[parent], sample, source.images, out.images, services).differing
    services.close()
    alone = made["one", mirror]
    assert alone.variant is not None
    axis = int(json.loads(json.dumps(alone.variant.steps[0].params))["axis"])
    assert np.array_equal(_picture(out, alone.images[0]), np.flip(_picture(source, REFS[0]), axis))


def _picture(made: SampleSet, ref: ImageRef) -> np.ndarray:
    return pixels(made.images.read(ref))
