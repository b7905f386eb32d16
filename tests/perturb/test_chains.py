"""--ops: what is read out of it, and what is refused."""

from __future__ import annotations

import pytest

from mmdyn.errors import PluginError, UserError
from perturb.chains import parse_chains


def test_commas_separate_and_pluses_chain() -> None:
    chains = parse_chains("pad, invert ,pad + color+shuffle")
    assert [chain.name for chain in chains] == ["pad", "invert", "pad+color+shuffle"]
    assert chains[2].operators == ("image.pad", "image.invert", "image.salt_pepper", "text.shuffle")
    assert chains[2].key == "image.pad+image.invert+image.salt_pepper+text.shuffle"


def test_short_full_and_hyphenated_names_mean_the_same() -> None:
    for ops in ("image.salt_pepper", "salt_pepper", "salt-pepper"):
        (chain,) = parse_chains(ops)
        assert chain.name == ops
        assert chain.key == "image.salt_pepper"


def test_an_operator_may_come_twice_in_a_chain() -> None:
    assert parse_chains("invert+invert")[0].operators == ("image.invert", "image.invert")


@pytest.mark.parametrize("ops", ["", " ", "pad,", ",pad", "pad++color", "pad+", "+"])
def test_empty_names(ops: str) -> None:
    with pytest.raises(UserError, match=r"--ops has an empty name in '.*': write chains such as pad,color,pad"):
        parse_chains(ops)


@pytest.mark.parametrize("ops", ["pad,pad", "pad,image.pad", "color,invert+salt_pepper"])
def test_a_chain_named_twice(ops: str) -> None:
    with pytest.raises(UserError, match="names one chain twice"):
        parse_chains(ops)


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match=r"there is no operator 'padd' \(did you mean 'pad'\?\)"):
        parse_chains("pad,padd")
    with pytest.raises(PluginError, match=r"there is no operator 'colour'.*\(did you mean 'color'\?\)"):
        parse_chains("colour")
