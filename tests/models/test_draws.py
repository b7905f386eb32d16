"""Drawing tokens: in proportion to their probabilities, from the likeliest alone, whoever is answered beside."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mmdyn.models.backends._local_draws import Draws

SHARES = [0.05, 0.5, 0.15, 0.3]


def drawn(draws: Draws, scores: torch.Tensor, times: int) -> np.ndarray:
    """Tokens of shape (times, rows)."""
    return np.array([draws(None, scores).argmax(-1).tolist() for _ in range(times)])


def test_tokens_come_as_often_as_they_are_likely() -> None:
    scores = torch.log(torch.tensor([SHARES]))
    found = np.bincount(drawn(Draws([("a", 1)], 1.0, 1.0), scores, 4000)[:, 0], minlength=4) / 4000
    assert found == pytest.approx(SHARES, abs=0.03)
    warm = np.array(SHARES) ** 0.5
    found = np.bincount(drawn(Draws([("a", 2)], 2.0, 1.0), scores, 4000)[:, 0], minlength=4) / 4000
    assert found == pytest.approx(warm / warm.sum(), abs=0.03)


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.4, {1}), (0.5, {1}), (0.6, {1, 3}), (0.9, {1, 2, 3}), (1.0, {0, 1, 2, 3})]
)
def test_only_the_likeliest_that_make_up_top_p_are_drawn(top_p: float, kept: set[int]) -> None:
    scores = torch.log(torch.tensor([SHARES]))
    assert set(drawn(Draws([("a", 1)], 1.0, top_p), scores, 400)[:, 0].tolist()) == kept


def test_rows_do_not_touch_each_other() -> None:
    scores = torch.randn((3, 50), generator=torch.Generator().manual_seed(0))
    together = drawn(Draws([("a", 1), ("a", 2), ("a", 3)], 1.0, 0.9), scores, 20)
    for row in range(3):
        alone = drawn(Draws([("a", row + 1)], 1.0, 0.9), scores[row : row + 1], 20)
        assert together[:, row].tolist() == alone[:, 0].tolist()
    assert not np.array_equal(together[:, 0], together[:, 1])


def test_one_token_is_left_and_it_is_never_an_impossible_one() -> None:
    scores = torch.full((2, 6), -torch.inf)
    scores[:, 4] = 0.0
    left = Draws([("a", 1), ("a", 2)], 1.0, 1.0)(None, scores)
    assert left.isfinite().sum(-1).tolist() == [1, 1] and left.argmax(-1).tolist() == [4, 4]
