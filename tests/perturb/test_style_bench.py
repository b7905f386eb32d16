"""bench/style.py: its small run passes, and the work that it counts is that of the full model."""

from __future__ import annotations

from typing import Any

import pytest
from benches import load_bench

WAYS = ("batched", "one by one", "as arrays")
FILLED = ("mean batch", "host copies", "device idle")


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("style")


@pytest.mark.slow
def test_the_small_run_says_what_it_measured(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["--small", "--rounds", "1"])
    rows = {line[:15].strip(): line[15:].strip() for line in capsys.readouterr().out.splitlines()}
    painting = ["device", "picture", "steps", "batch", "work", "speed", "matrix product", "dense bf16", "peak memory"]
    assert list(rows) == [*painting, "pixels", *WAYS, "batches", *FILLED[: 3 * bench.DATA.is_dir()]]
    assert rows["steps"] == "10 (0.2 of 50)" and rows["batch"] == "2 (given)"
    assert all(float(rows[name].partition(" ")[0]) > 0 for name in ("speed", *WAYS))
    assert rows["pixels"] == "pad, invert, salt_pepper on 8 pictures of 256x192, CPU"
