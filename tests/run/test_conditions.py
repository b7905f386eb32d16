"""Modes, contexts and styles -> the conditions that are asked."""

from __future__ import annotations

from typing import Any

import pytest

from mmdyn.errors import UserError
from mmdyn.run.conditions import parse_conditions


def modes(*given: str, styles: tuple[str, ...] = ("direct",), **more: Any) -> list[str]:
    return [condition.mode for condition in parse_conditions(given, styles, **more)]


def test_modes_alone() -> None:
    assert modes("standard", "dynamic+kprag", "standard") == ["standard", "dynamic+kprag"]
    found = parse_conditions(["standard", "kprag"], ["direct", "cot"])
    assert [(one.context, one.style) for one in found] == [
        ("none", "direct"),
        ("none", "cot"),
        ("kprag", "direct"),
        ("kprag", "cot"),
    ]


def test_contexts_cross_the_variants_that_the_modes_name() -> None:
    grid = ["standard", "kprag", "hint:all", "dynamic", "dynamic+kprag", "dynamic+hint:all"]
    assert modes("standard", "dynamic", contexts=["none", "kprag", "hint:all"]) == grid
    assert modes("standard", "dynamic+kprag", contexts=["distractor"]) == [
        "distractor",
        "kprag",
        "dynamic+distractor",
        "dynamic+kprag",
    ]


def test_a_plain_kprag_stands_for_every_source_and_every_way() -> None:
    assert modes("kprag", knowledge=["gold", "retrieved"], elaborate=["inline", "two-turn"]) == [
        "kprag",
        "kprag:two-turn",
        "kprag:retrieved",
        "kprag:retrieved:two-turn",
    ]
    contexts = ["none", "distractor", "kprag:mixed", "kprag"]
    assert modes("standard", contexts=contexts, knowledge=["retrieved"], elaborate=["none"]) == [
        "standard",
        "distractor:none",
        "kprag:mixed",
        "kprag:retrieved:none",
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"contexts": ["kprg"]}, "there is no context 'kprg' (did you mean 'kprag'?)"),
        ({"knowledge": ["golden"]}, "there is no source of knowledge 'golden' (did you mean 'gold'?)"),
        ({"knowledge": ["distractor"]}, "there is no source of knowledge 'distractor'"),
        ({"elaborate": ["inlined"]}, "there is no way to elaborate 'inlined' (did you mean 'inline'?)"),
        ({"knowledge": ["gold"]}, "--knowledge says how a plain kprag is asked, and none is: add --context kprag"),
        ({"knowledge": ["gold"], "contexts": ["distractor"]}, "--knowledge says how a plain kprag is asked"),
        (
            {"elaborate": ["none"], "contexts": ["hint:all"]},
            "--elaborate says how a plain kprag or distractor is asked",
        ),
    ],
)
def test_what_is_unknown_or_means_nothing_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError) as caught:
        modes("standard", **given)
    assert why in str(caught.value)
