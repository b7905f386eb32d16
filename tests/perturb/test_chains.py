"""--ops: what is read out of it, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mmdyn.errors import UserError
from perturb import parse_chains
from perturb.chains import Chain, Recipe
from perturb.services import ToolNames


def factorial(ops: str, design: str = "full", parent: str = "") -> tuple[Chain, ...]:
    """The subsets that are made of a parent."""
    return Recipe.read(ops, 1, 0, design=design, redraws=0, tools=ToolNames()).forms(parent)


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


@pytest.mark.parametrize(("wrong", "says"), [
    (["", " ", "pad,", ",pad", "pad++color", "pad+", "+"], r"--ops has an empty name in '.*': write chains such as pad,color,pad"),
    (["pad,pad", "pad,image.pad", "color,invert+salt_pepper"], "names one chain twice"),
    (["pad,padd"], r"there is no operator 'padd' \(did you mean 'pad'\?\)"),
    (["colour"], r"there is no operator 'colour'.*\(did you mean 'color'\?\)"),
    (["pad@storng"], r"pad has no severity 'storng' \(did you mean 'strong'\?\): it takes 1, 2, 3, 4, 5, mild, strong"),
    (["pad@"], r"pad has no severity ''.*: it takes 1, 2, 3, 4, 5, mild, strong"),
    (["invert@fierce"], r"invert has no severity 'fierce': it takes"),
    (["shuffle@Mild"], r"shuffle has no severity 'Mild' \(did you mean 'mild'\?\): it takes mild, strong"),
    (["mdk12+pad", "mdk12@strong", "pad+mdk12"], "the preset mdk12 stands for several chains: give it alone between commas"),
])  # fmt: skip
def test_chains_that_cannot_be_read(wrong: list[str], says: str) -> None:
    for ops in wrong:
        with pytest.raises(UserError, match=says):
            parse_chains(ops)


def test_a_severity_follows_its_operator() -> None:
    (chain,) = parse_chains("pad@strong+invert+salt_pepper@mild")
    assert [(link.operator, link.severity) for link in chain.links] == [
        ("image.pad", "strong"), ("image.invert", ""), ("image.salt_pepper", "mild"),
    ]  # fmt: skip
    assert chain.name == "pad@strong+invert+salt_pepper@mild"
    assert chain.key == parse_chains("pad+invert+salt_pepper")[0].key
    assert len(parse_chains("pad,pad@mild,pad@strong")) == 3


def test_an_alias_hands_its_severity_to_whoever_knows_it() -> None:
    (chain,) = parse_chains("color@strong")
    assert [link.severity for link in chain.links] == ["", "strong"]


def test_a_form_is_asked_for_behind_a_colon() -> None:
    asked, pure = parse_chains("pad@mild+convert:blank,convert")
    assert asked.name == "pad@mild+convert:blank" and asked.key == "image.pad+text.convert"
    assert [(link.severity, link.form) for link in asked.links] == [("mild", ""), ("", "blank")]
    assert asked.load()[1]._form == "blank" and pure.links[0].form == ""  # type: ignore[attr-defined]
    parse_chains("convert,convert:blank,convert:open")


@pytest.mark.parametrize(("ops", "says"), [
    ("convert:blnk", "convert has no form 'blnk' (did you mean 'blank'?): it takes blank, choice, claim, open"),
    ("convert@mild", "convert has no severity 'mild': it takes convert:blank, convert:choice"),
    ("convert:blank@mild", "convert has no form 'blank@mild'"),
    ("pad:blank", "pad has no form 'blank': it takes none"),
    ("color:", "color has no form '': it takes none"),
    ("convert:blank,text.convert:blank", "--ops names one chain twice"),
])  # fmt: skip
def test_a_form_that_an_operator_does_not_take(ops: str, says: str) -> None:
    with pytest.raises(UserError, match=re.escape(says)):
        parse_chains(ops)


def test_the_preset_mdk12_is_the_six_strategies_alone_and_chained() -> None:
    """MDK12-Bench, "Evaluation Methods": three strategies of the picture, three of the text."""
    chains = {chain.name: chain.operators for chain in parse_chains("mdk12")}
    picture = ("image.pad", "image.style", "image.invert", "image.salt_pepper")
    text = ("text.paraphrase", "text.substitute", "text.convert")
    assert list(chains.values()) == [
        ("image.pad",), ("image.invert", "image.salt_pepper"), ("image.style",),
        ("text.substitute",), ("text.paraphrase",), ("text.convert",), picture, text, picture + text,
    ]  # fmt: skip


def test_presets_and_files_of_chains_stand_among_others(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("# mine\n- pad+invert\n- shuffle\n")
    names = [chain.name for chain in parse_chains(f"invert, {tmp_path / 'mine.yaml'} ,pad@mild")]
    assert names == ["invert", "pad+invert", "shuffle", "pad@mild"]
    assert [chain.name for chain in parse_chains("mdk12,shuffle")][-1] == "shuffle"


@pytest.mark.parametrize(("text", "says"), [
    (None, "no such file or folder: check the path"),
    ("- [pad", "is no YAML"),
    ("pad", "lists no chains: write one a line, such as `- pad"),
    ("- pad,invert", "lists no chains: write one a line"),
    ("- 3", "lists no chains: write one a line"),
    ("[]", "lists no chain: write one a line"),
])  # fmt: skip
def test_files_that_list_no_chains(tmp_path: Path, text: str | None, says: str) -> None:
    file = tmp_path / "mine.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=f"mine.yaml:? {re.escape(says)}"):
        parse_chains(str(file))


def test_a_factorial_is_every_subset_with_shared_draws() -> None:
    chains = factorial("pad,color,shuffle")
    assert [chain.name for chain in chains] == [
        "pad", "color", "shuffle", "pad+color", "pad+shuffle", "color+shuffle", "pad+color+shuffle",
    ]  # fmt: skip
    assert len({chain.key for chain in chains}) == 1
    steps = {(link.operator, link.step) for chain in chains for link in chain.links}
    assert steps == {("image.pad", 0), ("image.invert", 1), ("image.salt_pepper", 2), ("text.shuffle", 3)}
    assert chains[0].key != parse_chains("pad")[0].key


@pytest.mark.parametrize("ops", ["pad", "pad,invert,salt_pepper,shuffle,convert,pad@mild,pad@strong"])
def test_a_factorial_of_too_few_or_too_many(ops: str) -> None:
    with pytest.raises(UserError, match=r"--factorial takes 2 to 6 chains, --ops names \d: change --ops"):
        factorial(ops)


def test_a_factorial_that_would_make_a_chain_twice() -> None:
    with pytest.raises(
        UserError, match=r"--factorial would make pad\+invert twice: take the chain that is made of others"
    ):
        factorial("pad,invert,pad+invert")


def test_a_fraction_has_an_even_number_of_all_factors_and_the_full_form() -> None:
    ops = "pad,invert,salt_pepper,substitute,paraphrase"
    every, fraction = factorial(ops), factorial(ops, "fraction")
    assert [chain for chain in every if len(chain.links) in (2, 4, 5)] == list(fraction) and len(fraction) == 16
    assert {chain.key for chain in fraction} == {every[0].key}, "so that they draw alike"
    six, seven = (ops + ",".join(["", "shuffle", "blur"][: n + 1]) for n in (1, 2))
    assert [len(factorial(more, "fraction")) for more in (six, seven, seven + ",jpeg")] == [31, 64, 64]


def test_orders_differ_between_parents_and_are_kept() -> None:
    ops = "pad,invert,salt_pepper,shuffle,substitute,paraphrase,blur,jpeg,scale,style"
    names = [chain.name for chain in factorial(ops, "permutations:2", "q1")]
    assert names == [chain.name for chain in factorial(ops, "permutations:2", "q1")]
    assert names != [chain.name for chain in factorial(ops, "permutations:2", "q2")]
    assert len(names) <= 4 * 9 + 1 and names[-1] == ops.replace(",", "+")
    assert all(
        [ops.index(one) for one in name.split("+")] == sorted(ops.index(one) for one in name.split("+"))
        for name in names
    )


@pytest.mark.parametrize(("count", "design", "says"), [
    (4, "fraction", "a fraction of 4 chains is hardly smaller than all their subsets: take --design full"),
    (9, "fraction", "--factorial takes 5 to 8 chains, --ops names 9: change --ops, or take --design permutations:4 for up to 10"),
    (7, "full", "--factorial takes 2 to 6 chains, --ops names 7: change --ops, or take --design permutations:4 for up to 10"),
    (11, "permutations:3", "--factorial takes 2 to 10 chains, --ops names 11: change --ops"),
    (1, "permutations:3", "--factorial takes 2 to 10 chains, --ops names 1: change --ops"),
    (5, "permutations:0", "there is no design 'permutations:0': use full, fraction or permutations:K with K of 1 or more"),
    (5, "permutations", "there is no design 'permutations'"), (5, "fractoin", "there is no design 'fractoin'"),
    (5, "fraction:2", "there is no design 'fraction:2'"), (5, "full:2", "there is no design 'full:2'"),
])  # fmt: skip
def test_designs_that_cannot_be(count: int, design: str, says: str) -> None:
    ops = [
        "pad",
        "invert",
        "salt_pepper",
        "shuffle",
        "substitute",
        "paraphrase",
        "blur",
        "jpeg",
        "scale",
        "style",
        "rotate",
    ][:count]
    with pytest.raises(UserError, match=f"^{re.escape(says)}"):
        factorial(",".join(ops), design)
