"""How a MODEL is written."""

from __future__ import annotations

from typing import Annotated

import pytest
from msgspec import Meta, Struct

from mmdyn.errors import PluginError, UserError
from mmdyn.models import Spec, open_model, read_options


class Options(Struct, frozen=True):
    timeout: Annotated[float, Meta(gt=0)] = 3.0
    system: str | None = "x"
    seed: int | None = None


def test_options_follow_the_name_and_values_may_hold_commas_and_colons():
    spec = Spec.parse('openai:Qwen/Qwen2:7b, base_url=http://h:1/v1,system=Be brief, please, headers={"A":"1","B":"2"}')
    assert (spec.backend, spec.name) == ("openai", "Qwen/Qwen2:7b")
    assert spec.options == {"base_url": "http://h:1/v1", "system": "Be brief, please", "headers": '{"A":"1","B":"2"}'}


@pytest.mark.parametrize(("text", "backend", "name"), [
    ("http://h:1/ask?a=b,timeout=5", "http", "http://h:1/ask?a=b"),
    ("https://h/ask,timeout=5", "http", "https://h/ask"),
    ("http:https://h/ask,timeout=5", "http", "https://h/ask"),
    ("solver.py:Solver,timeout=5", "python", "solver.py:Solver"),
    ("../my agents/solver.py:Solver,timeout=5", "python", "../my agents/solver.py:Solver"),
    ("python:solver.py:Solver,timeout=5", "python", "solver.py:Solver"),
    ("cmd:python3 solver.py,timeout=5", "cmd", "python3 solver.py"),
    ("cmd:run a.py:b,timeout=5", "cmd", "run a.py:b"),
    ("openai:made/model.py:v2,timeout=5", "openai", "made/model.py:v2"),
])  # fmt: skip
def test_an_address_and_a_class_of_a_file_need_no_backend(text: str, backend: str, name: str):
    spec = Spec.parse(text)
    assert (spec.backend, spec.name, spec.options) == (backend, name, {"timeout": "5"})


def test_repr_shows_no_value():
    assert repr(Spec.parse("openai:m,header.X=geheim")) == "Spec(openai:m, options: header.X)"


@pytest.mark.parametrize(("text", "says"), [
    ("openai", "the model 'openai' is not backend:name, such as openai:NAME or baseline:lexical"),
    (":x", "the model ':x' is not backend:name"),
    ("openai:", "is not backend:name"),
    ("openai:m,foo", "'foo' in the model 'openai:m,foo' is not option=value"),
    ("openai:m,seed=1,seed=2", "the model 'openai:m' is given the option 'seed' twice: keep one of them"),
])  # fmt: skip
def test_what_is_no_model_is_told(text: str, says: str):
    with pytest.raises(UserError) as caught:
        Spec.parse(text)
    assert says in str(caught.value)


def test_options_become_typed_and_none_is_none():
    assert read_options(Spec.parse("b:m,timeout=2,system=none,seed=7"), Options) == Options(2.0, None, 7)


@pytest.mark.parametrize(("text", "says"), [
    ("b:m,timout=1", "b has no option 'timout' (did you mean 'timeout'?); it takes timeout, system, seed"),
    ("b:m,seed=x", "the option seed of b:m: expected `int | null`, got `str`"),
    ("b:m,timeout=0", "the option timeout of b:m: expected `float` > 0.0"),
])  # fmt: skip
def test_bad_options_are_told(text: str, says: str):
    with pytest.raises(UserError) as caught:
        read_options(Spec.parse(text), Options)
    assert str(caught.value) == says


def test_an_unknown_backend_is_told():
    with pytest.raises(PluginError, match="did you mean 'baseline'"):
        open_model("baselin:random")
