"""bench/style.py and style_sizes.py: small runs pass, and the work that is counted is that of the full model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benches import load_bench

WAYS = ("batched", "one by one", "as arrays")
FILLED = ("mean batch", "host copies", "device idle")


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("style")


@pytest.mark.slow
def test_pictures_of_many_sizes_are_painted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path))  # which it sets for itself
    sizes = load_bench("style_sizes")
    assert sizes.main(["--sizes", "4", "--limit", "1"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "painted" in line]
    assert [line.split()[0] for line in lines] == ["flux"] * (len(lines) // 2) + ["klein"] * (len(lines) // 2)
    assert all("drawn        4 of 4 pictures painted" in lines[place] for place in (len(lines) // 2 - 1, -1))


@pytest.mark.slow
def test_the_small_run_says_what_it_measured(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["--small", "--rounds", "1"])
    rows = {line[:15].strip(): line[15:].strip() for line in capsys.readouterr().out.splitlines()}
    painting = ["device", "picture", "steps", "batch", "work", "speed", "matrix product", "dense bf16", "peak memory"]
    assert list(rows) == [*painting, "pixels", *WAYS, "batches", *FILLED[: 3 * bench.DATA.is_dir()]]
    assert rows["steps"] == "10 (0.2 of 50)" and rows["batch"] == "2 (given)"
    assert all(float(rows[name].partition(" ")[0]) > 0 for name in ("speed", *WAYS))
    assert rows["pixels"] == "pad, invert, salt_pepper on 8 pictures of 256x192, CPU"
