"""Factorial sets by design: what is made of which parent, what the manifest says, and that the full one stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making_sets import make_set

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.stats import design_forms
from perturb import perturb

OPS = "pad,invert,salt_pepper,blur,shuffle"


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SampleSet]:
    folder = tmp_path_factory.mktemp("sets")
    source = make_set(folder / "source")
    designs: dict[str, dict[str, Any]] = {
        "full": {},
        "fraction": {"design": "fraction"},
        "orders": {"design": "permutations:2"},
    }
    return {
        name: perturb(source, folder / name, ops=OPS, factorial=True, seed=7, quiet=True, **design)
        for name, design in designs.items()
    }


def variants(dynamic: SampleSet) -> dict[str, bytes]:
    lines = (dynamic.folder / "samples.jsonl").read_bytes().splitlines()
    return {one.id: line for one, line in zip(dynamic, lines, strict=True) if one.variant}


def test_the_manifest_names_the_design_and_its_factors(sets: dict[str, SampleSet]) -> None:
    full, fraction, orders = (sets[name].manifest.made for name in ("full", "fraction", "orders"))
    assert full["factorial"] is fraction["factorial"] is orders["factorial"] is True
    assert "design" not in full and "factors" not in full and len(str(full["ops"]).split(",")) == 31
    assert (fraction["design"], orders["design"]) == ("fraction", "permutations:2")
    assert fraction["factors"] == orders["factors"] == OPS.split(",")
    assert len(str(fraction["ops"]).split(",")) == 16 and orders["ops"] == OPS


def test_a_variant_is_the_same_in_every_design(sets: dict[str, SampleSet]) -> None:
    full, fraction, orders = (variants(sets[name]) for name in ("full", "fraction", "orders"))
    assert fraction.items() < full.items() and orders.items() < full.items()
    assert 0 < len(fraction) < len(full) and 0 < len(orders) < len(full)


def test_each_parent_has_the_forms_that_its_design_says(sets: dict[str, SampleSet]) -> None:
    orders, names = sets["orders"], OPS.split(",")
    made = [(one.parent, one.variant.chain) for one in orders if one.variant]
    made += [(one.parent, one.chain) for one in orders.dropped()]
    for parent in {parent for parent, _ in made}:
        forms = design_forms("permutations:2", 5, 7, str(parent))[1:]
        wanted = ["+".join(names[place] for place in np.flatnonzero(form)) for form in forms]
        assert sorted(wanted) == sorted(chain for of, chain in made if of == parent)
    assert len({tuple(sorted(chain for of, chain in made if of == parent)) for parent, _ in made}) > 5


def test_the_full_design_is_byte_for_byte_what_it_was(tmp_path: Path, sets: dict[str, SampleSet]) -> None:
    source = make_set(tmp_path / "source")
    named = perturb(source, tmp_path / "out", ops=OPS, factorial=True, design="full", seed=7, quiet=True, workers=2)
    for file in ("samples.jsonl", "dropped.jsonl", "set.json"):
        assert (named.folder / file).read_bytes() == (sets["full"].folder / file).read_bytes()


def test_it_says_beforehand_what_a_design_costs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = make_set(tmp_path / "source")
    how: dict[str, Any] = {"ops": OPS, "factorial": True, "limit": 2}
    perturb(source, tmp_path / "a", design="fraction", **how)
    assert capfd.readouterr().err.splitlines()[0] == (
        "design fraction: 17 forms a question in place of 32; standard error of an operator's share 18.7 points over 2"
        " questions (full 16.3), if no three operators interact"
    )
    perturb(source, tmp_path / "b", design="permutations:1", **how)
    assert capfd.readouterr().err.splitlines()[0] == (
        "design permutations:1: 10 forms a question in place of 32; standard error of an operator's share 35.4 points over"
        " 2 questions (full 16.3), and more where operators interact"
    )
    perturb(source, tmp_path / "c", **how)
    assert capfd.readouterr().err.startswith("perturbing: ")


def test_a_design_goes_with_a_factorial(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^design fraction chooses among the subsets of a factorial: add --factorial"):
        perturb(make_set(tmp_path / "source"), tmp_path / "out", ops=OPS, design="fraction", quiet=True)
    assert not (tmp_path / "out").exists()
