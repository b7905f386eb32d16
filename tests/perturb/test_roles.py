"""What a chain is in its set for: declared by --ops, written in set.json, kept by copies and runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mmdyn
from making import choice, image_ref, picture, write_set
from mmdyn.data import ChainStrength, SampleSet, convert
from mmdyn.run import Execution
from mmdyn.run.sets import entry_of
from mmdyn.work import RunConfig, SetEntry
from perturb import perturb
from perturb.chains import FULL, Recipe
from perturb.services import ToolNames


def roles(ops: str, design: str = "") -> dict[str, str]:
    return dict(Recipe.read(ops, 1, 0, design=design, redraws=0, tools=ToolNames()).roles())


@pytest.mark.parametrize(("ops", "found"), [
    ("pad,color+shuffle", {"pad": "treatment", "color+shuffle": "treatment"}),
    ("pad@strong,blur@3", {"pad@strong": "treatment", "blur@3": "treatment"}),
    ("blur@1,blur@3,pad", {"blur@1": "dose", "blur@3": "dose", "pad": "treatment"}),
    ("pad@mild,pad,image.pad@strong", {"pad@mild": "dose", "pad": "treatment", "image.pad@strong": "dose"}),
    ("pad+shuffle,pad@mild+shuffle,pad@mild", {"pad+shuffle": "treatment", "pad@mild+shuffle": "dose", "pad@mild": "treatment"}),
    ("convert:blank,convert:claim,convert", {"convert:blank": "treatment", "convert:claim": "treatment", "convert": "treatment"}),
    ("text.null,image.null+text.null,text.null+pad", {"text.null": "null", "image.null+text.null": "null", "text.null+pad": "treatment"}),
])  # fmt: skip
def test_doses_and_null_chains_are_no_treatment(ops: str, found: dict[str, str]) -> None:
    assert roles(ops) == found


def test_every_chain_of_mdk12_is_treatment_whatever_stands_beside_it() -> None:
    alone, more = roles("mdk12"), roles("mdk12,pad@strong,text.null")
    assert set(alone.values()) == {"treatment"}
    assert more == alone | {"pad@strong": "dose", "text.null": "null"}


@pytest.mark.parametrize("design", [FULL, "permutations:1"])
def test_of_a_factorial_the_whole_chain_is_the_treatment(design: str) -> None:
    assert roles("text.null,pad,shuffle@mild", design) == {
        "text.null": "null",
        "pad": "subset",
        "shuffle@mild": "subset",
        "text.null+pad": "subset",
        "text.null+shuffle@mild": "subset",
        "pad+shuffle@mild": "subset",
        "text.null+pad+shuffle@mild": "treatment",
    }


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    folder, data = tmp_path_factory.mktemp("roles"), picture(width=200, height=150)
    source = write_set(folder / "set", [choice(f"q{n}", images=(image_ref(data),)) for n in range(3)], "small", [data])
    return perturb(source, folder / "out", ops="pad,blur@1,blur@5,text.null,image.null", quiet=True)


WRITTEN = {"pad": "treatment", "blur@1": "dose", "blur@5": "dose", "text.null": "null", "image.null": "null"}


def test_set_json_says_it_and_copies_keep_it(dynamic: SampleSet, tmp_path: Path) -> None:
    written = json.loads((dynamic.folder / "set.json").read_text("utf-8"))["strength"]
    assert {chain: far["role"] for chain, far in written.items()} == WRITTEN == dynamic.manifest.roles
    assert dynamic[:5].manifest.roles == WRITTEN
    assert convert(dynamic.folder, tmp_path / "copy").manifest.roles == WRITTEN


def test_a_null_chain_is_never_weak(dynamic: SampleSet) -> None:
    far = dynamic.manifest.strength or {}
    assert far["pad"].weak and far["pad"].tokens == far["text.null"].tokens == far["image.null"].tokens == 0
    assert not far["text.null"].weak and not far["image.null"].weak
    assert ChainStrength(9, 0.0).weak and ChainStrength(9, 0.0, role="dose").weak
    assert not ChainStrength(9, 0.0, role="null").weak


def config(*sets: SetEntry) -> RunConfig:
    return RunConfig(sets=sets, models=(), conditions=(), epochs=1, limit=None, prompts="", ops="", versions={})


def test_a_run_knows_the_roles_of_its_sets(dynamic: SampleSet, tmp_path: Path) -> None:
    run = config(entry_of(dynamic, tmp_path))
    assert {chain: run.role("small", chain) for chain in WRITTEN} == WRITTEN
    assert run.role("small", "made by hand") == run.role("another set", "blur@1") == "treatment"


def test_a_chain_is_treatment_where_one_set_says_so() -> None:
    dose = SetEntry("a", "exam", "a", "0", strength={"blur@3": ChainStrength(9, 0.0, 0.5, role="dose")})
    alone = SetEntry("b", "exam", "b", "1", strength={"blur@3": ChainStrength(9, 0.0, 0.5)})
    assert config(dose).role("exam", "blur@3") == "dose"
    assert config(dose, alone).role("exam", "blur@3") == "treatment"


def test_an_evaluated_set_brings_its_roles_along(dynamic: SampleSet, tmp_path: Path) -> None:
    run = mmdyn.evaluate([dynamic], ["baseline:majority"], tmp_path / "run", execution=Execution(quiet=True))
    written = json.loads((run.folder / "run.json").read_text("utf-8"))["sets"][0]["strength"]
    assert {chain: far["role"] for chain, far in written.items()} == WRITTEN
