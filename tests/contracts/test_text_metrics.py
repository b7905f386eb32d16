"""What every metric must do: bounds, 1 for the same text, 0 for nothing and for nothing in common, in any script, in
threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from mmdyn.plugins import load, names
from mmdyn.scoring.metrics._metric import Metric

METRICS = sorted(name for name in names("scorers") if name.startswith("metric."))
MADE: dict[str, Metric] = {name: load("scorers", name)() for name in METRICS}

TEXTS = (
    "x", "5", "-5", "A", "the", "?", "光", "光合作用", "光合作用产生氧气。", "\\frac{1}{2}", "H₂O", "café", "e = mc²", "50 %",
    "Because ice is less dense than water.", "first\nsecond", "&quot;quoted&quot;", "a" * 3000, "光" * 3000, "\u200b", "\U0001f600",
)  # fmt: skip
APART = (("Paris", "42"), ("北京", "上海"), ("北京", "Paris"), ("yes", "no"), ("光合作用", "细胞呼吸"))


def test_there_are_these() -> None:
    known = ("anls", "bleu", "chrf", "exact_match", "f1", "rouge_1", "rouge_2", "rouge_l")
    assert [f"metric.{name}" for name in known] == METRICS


@pytest.mark.parametrize("name", METRICS)
def test_the_same_text_is_worth_one(name: str) -> None:
    for text in TEXTS:
        assert MADE[name].compare(text, text) == 1.0, text


@pytest.mark.parametrize("name", METRICS)
def test_nothing_and_nothing_in_common_are_worth_nothing(name: str) -> None:
    for given_, gold in (*APART, *(pair[::-1] for pair in APART), *(("", text) for text in TEXTS), (" \n", "光")):
        assert MADE[name].compare(given_, gold) == 0.0, (given_, gold)


@pytest.mark.parametrize("name", [name for name in METRICS if name != "metric.exact_match"])
def test_a_part_in_chinese_is_worth_something(name: str) -> None:
    value = MADE[name].compare("光合作用能产生氧气", "光合作用产生氧气")
    assert 0.4 < value < 1.0


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=60), gold=st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip())))
def test_any_text_has_a_value_within_bounds(name: str, text: str, gold: str) -> None:
    assert 0.0 <= MADE[name].compare(text, gold) <= 1.0
    assert MADE[name].compare(gold, gold) == 1.0


@pytest.mark.parametrize("name", METRICS)
def test_threads_and_order_change_nothing(name: str) -> None:
    metric, pairs = MADE[name], list(product(TEXTS, TEXTS))
    alone = [metric.compare(*pair) for pair in pairs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda pair: metric.compare(*pair), reversed(pairs)))
    assert together[::-1] == alone


@pytest.mark.parametrize("name", METRICS)
def test_it_says_where_it_comes_from(name: str) -> None:
    documented = type(MADE[name]).__doc__ or ""
    assert any(f" {year}" in documented for year in range(2002, 2020)), "a source with its year"
