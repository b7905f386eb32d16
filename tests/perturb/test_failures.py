"""What goes wrong with one variant, whatever it is, loses that variant alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import making_checkpoints
import pytest
from making_sets import tree

from making import choice, image_ref, picture, write_set
from mmdyn import plugins
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from perturb import perturb
from perturb.audit.judge_calibration import judge_lines
from perturb.services import open_judge

MOODY = '''
"""An operator and a model that raise at random."""

import re

from mmdyn.keys import digest
from mmdyn.models.model import ModelLimits
from mmdyn.record import Reply
from perturb import Operator

ERRORS = (RuntimeError, KeyError, AttributeError, ZeroDivisionError, MemoryError, OSError, RecursionError, StopIteration)
REPLIES = {"judge": '{"same": true, "confidence": 0.9}', "rewriter": '{"question": "Look: %s"}'}


class Moods(Operator):
    random = True
    on_device = True

    def params(self, stream, sample):
        mood, error = int(stream.integers(6)), int(stream.integers(len(ERRORS)))
        if mood == 0:
            raise ERRORS[error]("while drawing")
        return {"mood": mood, "error": error}

    def apply(self, item, params):
        if params["mood"] == 1:
            raise ERRORS[params["error"]]("while changing")
        if params["mood"] == 2:
            return item.repaint(lambda _, picture: picture.pixels[:0])
        if params["mood"] == 3:
            return item.repaint(lambda _, picture: picture.pixels[..., [0, 1, 2, 0, 1]])
        return item.repaint(lambda _, picture: 255 - picture.pixels)


class Model:
    cached = varies = weighs = False
    varied = {}
    limits = ModelLimits()

    def __init__(self, spec):
        self.label, self.identity, self._reply = f"moody:{spec.name}", {"moody": spec.name}, REPLIES[spec.name]

    async def ask(self, messages):
        text = messages[0].text
        if (number := int(digest(text), 16)) % 2:
            raise ERRORS[number // 2 % 3]("while asked")
        return Reply(self._reply.replace("%s", re.search(r"How many .*[?]", text)[0]))

    async def close(self):
        pass
'''

ENTRIES = "[mmdyn.operators]\nown.moods = moody:Moods\n[mmdyn.models]\nmoody = moody:Model\n"


@pytest.fixture(scope="module", autouse=True)
def moody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The module as another package's plug-ins, and a cache of its own."""
    site = tmp_path_factory.mktemp("site")
    (site / "moody.py").write_text(MOODY)
    info = site / "moody-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moody\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MMDYN_CACHE", str(tmp_path_factory.mktemp("cache")))
        environment.syspath_prepend(str(site))
        plugins.names.cache_clear()
        yield
    plugins.names.cache_clear()
    sys.modules.pop("moody", None)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    data = [picture(60, 40 + number, text=str(number)) for number in range(6)]
    samples = [
        choice(f"s{number}", question=f"How many sides has figure {number}?", images=(image_ref(one),))
        for number, one in enumerate(data)
    ]
    return write_set(tmp_path_factory.mktemp("source"), samples, images=data)


def outcomes(made: SampleSet) -> tuple[set[str], dict[str, str]]:
    """The ids of what was made, and the reasons of what failed by id."""
    return {sample.id for sample in made}, {one.id: one.reason for one in made.dropped() if one.status == "failed"}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_operator_that_raises_at_random_loses_its_variants_alone(
    source: SampleSet, tmp_path: Path, workers: int
) -> None:
    chains = ("moods", "invert", "pad+moods")
    ops, out = ",".join(chains), tmp_path / "out"
    again = perturb(source, out, ops=ops, draws=4, seed=3, workers=workers, quiet=True)
    made, failed = outcomes(again)
    ids = {f"{sample.id}~{chain}~{draw}" for sample, chain, draw in product(source, chains, range(4))}
    assert made | set(failed) == {id for id in ids if "~invert~" not in id or id.endswith("0")}
    assert {id for id in made if "~invert~" in id} == {f"{sample.id}~invert~0" for sample in source}
    assert 10 < len(failed) < 40 and all("~invert~" not in id for id in failed)
    for sample in again:
        assert sample.variant is not None
        assert all(step.params["mood"] in (4, 5) for step in sample.variant.steps if step.operator == "own.moods")
    said = set(failed.values())
    assert any("while drawing" in reason for reason in said) and any("while changing" in reason for reason in said)
    assert all(len(reason) > 20 for reason in said)
    assert {one.operator for one in again.dropped() if "while" in one.reason} == {"own.moods"}
    before = {name: data for name, data in tree(out).items() if not name.startswith(".work")}
    perturb(source, out, ops=ops, draws=4, seed=3, quiet=True)
    assert {name: tree(out)[name] for name in before} == before, "tried again, and lost again"


@pytest.mark.parametrize("who", ["judge", "rewriter"])
def test_a_model_that_raises_at_random_loses_its_variants_alone(source: SampleSet, tmp_path: Path, who: str) -> None:
    tools: dict[str, Any] = {who: f"moody:{who}"}
    made, failed = outcomes(perturb(source, tmp_path / "out", ops="paraphrase,text.null", draws=3, quiet=True, **tools))
    assert {id for id in made if "null" in id} == {f"{one.id}~text.null~{n}" for one, n in product(source, range(3))}
    assert len([id for id in made if "paraphrase" in id]) > 1 < len(failed), "some are made and some are lost"
    assert {reason.partition(":")[2] for reason in failed.values()} <= {" while asked", " 'while asked'"}


def test_a_judge_that_raises_at_random_loses_its_verdicts_alone(tmp_path: Path) -> None:
    pairs = [{"a": f"How many sides has it, {n}?", "b": f"How many sides has it, {n}?\nLook."} for n in range(12)]
    with closing(open_judge("moody:judge")) as judge:
        found = list(judge_lines([json.dumps(pair).encode() for pair in pairs], "pairs.jsonl", judge, 4))
    assert [row["a"] for row in found] == [pair["a"] for pair in pairs]
    lost = [row["reason"] for row in found if row["same"] is None]
    assert 1 < len(lost) < 12 and {reason.partition(":")[2] for reason in lost} <= {" while asked", " 'while asked'"}


def test_a_picture_that_a_styler_cannot_paint_loses_no_other_of_its_batch(source: SampleSet, tmp_path: Path) -> None:
    folder = making_checkpoints.flux(tmp_path / "flux")
    backend = f"flux:{folder},device=cpu,steps=5,batch=4"
    out = perturb(source, tmp_path / "out", ops="moods+style,style", draws=2, seed=3, style_backend=backend, quiet=True)
    made, failed = outcomes(out)
    assert {id for id in made if "~style~" in id} == {f"{one.id}~style~{draw}" for one, draw in product(source, (0, 1))}
    assert len(failed) > 2


def test_a_styler_that_cannot_paint_at_all_loses_what_it_would_have_painted(source: SampleSet, tmp_path: Path) -> None:
    """Its parts do not fit together, which shows when it paints."""
    from diffusers import FluxTransformer2DModel

    folder, inner = making_checkpoints.flux(tmp_path / "flux"), {"joint_attention_dim": 48, "axes_dims_rope": (4, 6, 6)}
    other = FluxTransformer2DModel(**making_checkpoints.TRANSFORMER, **inner, pooled_projection_dim=32)
    other.save_pretrained(folder / "transformer")
    backend = f"flux:{folder},device=cpu,steps=5"
    made, failed = outcomes(perturb(source, tmp_path / "out", ops="style,invert", style_backend=backend, quiet=True))
    assert made == {f"{sample.id}~invert~0" for sample in source}
    assert len(failed) == 6 and all(reason.startswith("RuntimeError: mat1 and mat2") for reason in failed.values())


def test_weights_that_cannot_be_loaded_end_the_set_at_once(source: SampleSet, tmp_path: Path) -> None:
    folder = making_checkpoints.flux(tmp_path / "flux")
    config = folder / "transformer" / "config.json"
    config.write_text(config.read_text().replace('"attention_head_dim": 16', '"attention_head_dim": "wide"'))
    with pytest.raises(UserError, match=r"^flux cannot be loaded \(TypeError: .*\): fetch the checkpoint again, or"):
        perturb(source, tmp_path / "out", ops="style", style_backend=f"flux:{folder},device=cpu", quiet=True)
