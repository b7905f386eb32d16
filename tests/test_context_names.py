"""The names of contexts."""

from __future__ import annotations

import pytest

from mmdyn.context import Context
from mmdyn.errors import UserError

NAMES = {
    "none": Context(),
    "kprag": Context("gold"),
    "kprag:inline": Context("gold", "inline"),
    "kprag:retrieved": Context("retrieved"),
    "kprag:mixed:two-turn": Context("mixed", "two-turn"),
    "distractor": Context("distractor"),
    "distractor:two-turn": Context("distractor", "two-turn"),
    "hint:background": Context(hint="background"),
    "hint:all": Context(hint="all"),
    "no-picture": Context(pictures="withheld"),
    "caption": Context(pictures="captioned"),
    "no-picture+kprag": Context("gold", pictures="withheld"),
    "caption+kprag:mixed:two-turn": Context("mixed", "two-turn", pictures="captioned"),
    "caption+hint:a+b": Context(hint="a+b", pictures="captioned"),
    "hint:caption+b": Context(hint="caption+b"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_all_of_a_context(name: str) -> None:
    assert Context.parse(name) == NAMES[name]
    assert NAMES[name].name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kprag:gold:none", "kprag"),
        ("kprag:two-turn:mixed", "kprag:mixed:two-turn"),
        (" hint: a b ", "hint:a b"),
        ("caption+none", "caption"),
        (" caption + kprag : gold", "caption+kprag"),
    ],
)
def test_a_name_may_say_more_than_it_must_and_in_any_order(text: str, name: str) -> None:
    assert Context.parse(text).name == name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kprg", "there is no context 'kprg' (did you mean 'kprag'?): use none, kprag,"),
        ("", "there is no context ''"),
        ("hint", "the context 'hint' names no kind of hint: write hint:KIND, or hint:all"),
        ("hint:", "the context 'hint:' names no kind of hint"),
        ("none:inline", "there is no context 'none:inline'"),
        ("kprag:retreived", "unknown setting 'retreived' (did you mean 'retrieved'?): use none, inline, two-turn, retrieved"),
        ("kprag:distractor", "unknown setting 'distractor'"),
        ("distractor:gold", "unknown setting 'gold'"),
        ("kprag:gold:mixed", "says one thing twice"),
        ("kprag:inline:none", "says one thing twice"),
        ("kprag:gold:gold", "says one thing twice"),
        ("captions", "there is no context 'captions' (did you mean 'caption'?): use none, kprag,"),
        ("caption:inline", "there is no context 'caption:inline'"),
        ("caption+", "there is no context 'caption+': use"),
        ("kprag+caption", "no-picture or caption; or one of these before another, as caption+kprag"),
        ("caption+no-picture", "there is no context 'caption+no-picture': use none"),
        ("no-picture+kprag:retreived", "the context 'no-picture+kprag:retreived' has an unknown setting"),
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(text: str, why: str) -> None:
    with pytest.raises(UserError) as caught:
        Context.parse(text)
    assert why in str(caught.value)


def test_what_can_be_compared_is_of_one_family() -> None:
    assert {name: context.family for name, context in NAMES.items()} == {
        "none": "none",
        **dict.fromkeys(["kprag", "kprag:inline", "kprag:retrieved", "kprag:mixed:two-turn"], "knowledge"),
        **dict.fromkeys(["distractor", "distractor:two-turn"], "knowledge"),
        **dict.fromkeys(["hint:background", "hint:all", "caption+hint:a+b", "hint:caption+b"], "hint"),
        **dict.fromkeys(["no-picture", "caption"], "none"),
        **dict.fromkeys(["no-picture+kprag", "caption+kprag:mixed:two-turn"], "knowledge"),
    }
    looking = ["kprag:retrieved", "kprag:mixed:two-turn", "caption+kprag:mixed:two-turn"]
    assert [name for name, context in NAMES.items() if context.looks_up] == looking
