"""Modes, contexts and styles -> the conditions that are asked."""

from __future__ import annotations

from typing import Any

import pytest

from mmdyn.errors import UserError
from mmdyn.run import ConditionSpec


def modes(*given: str, **more: Any) -> list[str]:
    return [condition.mode for condition in ConditionSpec(given, **more).conditions()]


def test_modes_alone() -> None:
    assert modes("standard", "dynamic+kprag", "standard") == ["standard", "dynamic+kprag"]
    found = ConditionSpec(["standard", "kprag"], styles=["direct", "cot"]).conditions()
    assert [(one.context, one.style) for one in found] == [("none", "direct"), ("none", "cot"), ("kprag", "direct"), ("kprag", "cot")]  # fmt: skip


def test_contexts_cross_the_variants_that_the_modes_name() -> None:
    grid = ["standard", "kprag", "hint:all", "dynamic", "dynamic+kprag", "dynamic+hint:all"]
    assert modes("standard", "dynamic", contexts=["none", "kprag", "hint:all"]) == grid
    assert modes("standard", "dynamic+kprag", contexts=["distractor"]) == ["distractor", "kprag", "dynamic+distractor", "dynamic+kprag"]  # fmt: skip


def test_a_context_says_its_source_and_its_way_in_any_order() -> None:
    contexts = "kprag:retrieved:two-turn, kprag:two-turn:retrieved, distractor:inline,kprag"
    assert modes("standard", contexts=contexts) == ["kprag:retrieved:two-turn", "distractor:inline", "kprag"]


def test_a_text_names_several_and_a_prompt_is_a_style() -> None:
    spec = ConditionSpec(modes="standard, dynamic", styles="direct,cot")
    assert spec == ConditionSpec(["standard", "dynamic"], styles=("direct", "cot"))
    asked = [(one.mode, one.style) for one in spec.conditions()]
    assert asked == [("standard", "direct"), ("standard", "cot"), ("dynamic", "direct"), ("dynamic", "cot")]
    assert [one.style for one in ConditionSpec(prompt="p.txt").conditions()] == ["custom"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"contexts": ["kprg"]}, "there is no context 'kprg' (did you mean 'kprag'?)"),
        ({"contexts": "kprag:golden"}, "has an unknown setting 'golden' (did you mean 'gold'?)"),
        ({"styles": "direkt"}, "there is no style 'direkt' (did you mean 'direct'?): direct, cot, likelihood are"),
    ],
)
def test_what_is_unknown_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError) as caught:
        modes("standard", **given)
    assert why in str(caught.value)
