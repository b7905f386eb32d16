"""Words that carry the logic of a question."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

import pytest

from mmdyn.text import NEGATION_AXIS, SKIPPED_AXIS, Pole, hidden_negations, logic_poles


def poles(text: str) -> dict[str, int]:
    return {f"{pole.axis} {pole.pole}": count for pole, count in logic_poles(text).items() if pole.axis != SKIPPED_AXIS}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("which of these is not true?", {"negation not": 1}),
        ("all of these are true except", {"quantity all": 1, "negation not": 1}),
        ("it isn't possible; it is impossible; it can't be", {"likely likely": 1, "negation not": 3}),
        ("not only red but also blue; whether or not", {"colour red": 1, "colour blue": 1}),
        ("no. 5 and no more than 5", {"junction and": 1, "bound most": 1}),
        ("at least three, 至少三个，不少于三个", {"bound least": 3}),
        ("it cannot exceed 5", {"bound most": 1}),
        ("下列说法不正确的是", {"negation not": 1}),
        ("无法确定，没有错误", {"negation not": 3}),
        ("不仅如此，不等式，不得不说", {}),
        ("请从中选出没有语病的一项", {"negation not": 1}),
        ("甲比乙大", {"size more": 1}),
        ("三只猫只有一只是白的", {"only only": 1, "colour white": 1}),
        ("每个、都、均", {"quantity all": 3}),
        ("the most expensive, most of them", {"extreme most": 1, "quantity most": 1}),
        ("加速度和速度", {"measured acceleration": 1, "junction and": 1, "measured speed": 1}),
        ("growing, grown, growth", {"trend more": 3}),
    ],
)
def test_what_is_said_counts_and_what_only_looks_so_does_not(text: str, found: dict[str, int]) -> None:
    assert poles(text) == found


def test_denial_by_a_prefix_is_seen_beside_the_word_without_it() -> None:
    one, other = frozenset({"unsaturated", "fat"}), frozenset({"saturated", "fat", "asymptotic"})
    assert (hidden_negations(one, other), hidden_negations(other, one)) == (0, 0)  # listed: counted already
    assert logic_poles("unsaturated fat")[Pole(NEGATION_AXIS, "not")] == 1
    one, other = frozenset({"unbounded"}), frozenset({"bounded"})
    assert (hidden_negations(one, other), hidden_negations(other, one)) == (1, 0)
    assert hidden_negations(frozenset({"inside"}), frozenset({"outside"})) == 0


def test_every_phrase_is_listed_once() -> None:
    lines = files("mmdyn.text").joinpath("logic.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert all(len(row) == 3 for row in rows)
    phrases = Counter(phrase for *_, listed in rows for phrase in listed.split("|"))
    assert [phrase for phrase, count in phrases.items() if count > 1 or phrase != phrase.strip().lower()] == []
    axes = Counter(row[0] for row in rows if row[0] not in (SKIPPED_AXIS, NEGATION_AXIS, "only"))
    assert [axis for axis in axes if len({row[1] for row in rows if row[0] == axis}) == 1] == []
