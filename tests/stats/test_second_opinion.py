"""The clustered regression: closed forms, degenerate data, and no statsmodels."""

from __future__ import annotations

import math
import sys
import warnings

import numpy as np
import pytest

from mmdyn.errors import MissingExtra
from mmdyn.keys import stream
from mmdyn.stats import log_odds


def logit(share: float) -> float:
    return math.log(share / (1 - share))


def test_of_one_operator_it_is_the_difference_of_log_odds() -> None:
    right = np.repeat([1.0, 0.0, 1.0, 0.0], [30, 10, 20, 20])
    on, labels = np.repeat([[False], [True]], 40, axis=0), np.tile(np.arange(40), 2)
    (found,) = log_odds(right, on, labels) or []
    assert found.value == pytest.approx(logit(0.5) - logit(0.75), abs=1e-6)
    low, high = found.ci95
    assert low < found.value < high and (low + high) / 2 == pytest.approx(found.value)
    # The pairs of a question: 30 were right, of whom 10 fall and none of the others rises.
    assert 0.0005 < found.p < 0.01


def test_shares_count_and_the_order_of_answers_does_not() -> None:
    random = stream("second opinion")
    right, on, labels = random.random(120).round(1), random.random((120, 2)) < 0.5, random.integers(0, 30, 120)
    order = random.permutation(120)
    for one, other in zip(
        log_odds(right, on, labels) or [], log_odds(right[order], on[order], labels[order]) or [], strict=True
    ):
        assert one.value == pytest.approx(other.value, abs=1e-8) and one.p == pytest.approx(other.p, abs=1e-8)


@pytest.mark.parametrize("right", [np.ones(40), np.zeros(40), np.repeat([1.0, 0.0], 20)], ids=["all", "none", "apart"])
def test_where_there_is_no_end_there_is_no_number_and_no_warning(right: np.ndarray) -> None:  # type: ignore[type-arg]
    on, labels = np.repeat([[False], [True]], 20, axis=0), np.tile(np.arange(20), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert log_odds(right, on, labels) is None


def test_too_few_clusters_or_an_operator_that_never_varies_tell_nothing() -> None:
    right, labels = np.tile([1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0], 5), np.repeat(np.arange(20), 2)
    on = np.tile([[False], [True]], (20, 1))
    assert log_odds(right, on, labels) is not None
    assert log_odds(right, on, labels % 2) is None
    assert log_odds(right, np.ones((40, 1), np.bool_), labels) is None


def test_without_statsmodels_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "statsmodels"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    with pytest.raises(MissingExtra, match=r"statsmodels is needed .* pip install 'mmdyn\[why\]'"):
        log_odds(np.ones(2), np.ones((2, 1), np.bool_), np.arange(2))
