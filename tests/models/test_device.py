"""Which GPUs are a rank's own, by what its launcher says and shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mmdyn.errors import UserError
from mmdyn.models import open_model
from mmdyn.models.checkpoint import own_card, own_cards


@pytest.mark.parametrize(("visible", "rank", "card"), [(8, "0", 0), (8, "5", 5), (1, "5", 0), (1, "0", 0), (2, "", 0)])
def test_one_gpu_that_is_shown_is_the_rank_s_own(
    monkeypatch: pytest.MonkeyPatch, visible: int, rank: str, card: int
) -> None:
    monkeypatch.setenv("LOCAL_RANK", rank)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(visible))))
    assert own_card(visible) == card
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert own_card(visible) == int(rank or 0), "nobody showed it one alone"


@pytest.mark.parametrize(("visible", "ranks", "rank", "count", "own"), [
    ("01234567", 8, 5, 1, "5"), ("01234567", 4, 3, 2, "67"), ("4567", 2, 1, 2, "67"),
    ("5", 8, 5, 1, "5"), ("67", 4, 3, 2, "67"), ("0123", 1, 0, 2, "0123"),
])  # fmt: skip
def test_each_rank_has_gpus_of_its_own(
    monkeypatch: pytest.MonkeyPatch, visible: str, ranks: int, rank: int, count: int, own: str
) -> None:
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(ranks))
    monkeypatch.setenv("LOCAL_RANK", str(rank))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(visible))
    assert "".join(own_cards(visible, count)) == own


def test_too_few_gpus_for_all_ranks_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    with pytest.raises(UserError, match=r"^4 ranks with 2 GPUs each need 8, and 4 are there$"):
        own_cards("0123", 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with pytest.raises(UserError, match=r"^4 ranks with 1 GPUs each need 4, and 1 are there$"):
        own_cards("0", 1)
    monkeypatch.setenv("LOCAL_RANK", "first")
    with pytest.raises(UserError, match=r"^LOCAL_RANK is 'first': let the launcher set a number, or unset it$"):
        own_card(2)


@pytest.mark.slow
def test_a_model_over_all_gpus_is_refused_to_several_ranks(
    monkeypatch: pytest.MonkeyPatch, made: Callable[[str], Path]
) -> None:
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    with pytest.raises(UserError) as error:
        open_model(f"hf:{made('llama')},device_map=auto")
    assert str(error.value) == (
        "device_map=auto spreads a model over all GPUs, and 2 ranks would share them: leave it out, or start one "
        "process"
    )
