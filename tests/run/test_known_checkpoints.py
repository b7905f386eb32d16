"""A cell of bench/known_checkpoints.py: a checkpoint that read most of a file twenty times is found, one that read other
texts is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benches import load_bench

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
STRONG = 6


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_bench("known_checkpoints")


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "tal-scq5k").exists(), reason="the questions of shared/data are not here")
def test_what_was_read_is_found_and_what_was_not_is_not(bench: Any, tmp_path: Path) -> None:
    opened = bench.open_bench(DATA, tmp_path, base_steps=100)
    found = {}
    for cell in (bench.CELLS[0], bench.CELLS[STRONG]):
        found[cell.key] = bench.measured(opened, bench.checkpoint(opened, cell, 50), cell, 50)
        bench.keep(tmp_path, found[cell.key])
    clean, strong = found["nothing"], found["60 %, 20 times"]
    for kind in ("order", "min-k", "min-k++"):
        assert strong[kind][1] < 0.01 and clean[kind][1] > 0.05, kind
    assert strong["gain"] > 0.5 and abs(clean["gain"]) < 0.05
    assert [*bench.known(tmp_path)] == [("nothing", 50), ("60 %, 20 times", 50)]


def test_cells_differ_in_what_leaked_alone(bench: Any) -> None:
    assert len({cell.key for cell in bench.CELLS}) == 14
    assert bench.leaked(bench.CELLS[0], 0) == []
    stretch, apart = bench.leaked(bench.CELLS[STRONG], 3), bench.leaked(bench.CELLS[-1], 3)
    assert stretch == list(range(stretch[0], stretch[0] + 96)) and stretch[-1] < 160
    assert len(apart) == 96 and apart != list(range(apart[0], apart[0] + 96))


def test_a_kill_costs_one_line_and_the_first_result_stays(bench: Any, tmp_path: Path) -> None:
    assert bench.known(tmp_path) == {}
    bench.keep(tmp_path, {"cell": "nothing", "seed": 0, "gain": 0.5})
    with (tmp_path / "checkpoints.jsonl").open("a") as file:
        file.write('{"cell": "nothing", "se')
    bench.keep(tmp_path, {"cell": "nothing", "seed": 1, "gain": 0.25})
    bench.keep(tmp_path, {"cell": "nothing", "seed": 0, "gain": 9.0})
    assert {key: one["gain"] for key, one in bench.known(tmp_path).items()} == {
        ("nothing", 0): 0.5,
        ("nothing", 1): 0.25,
    }


def test_the_table_counts_checkpoints_and_alarms(bench: Any) -> None:
    kinds = ("order", "min-k", "min-k++", "completion")
    level = {"level": dict(zip(kinds, (0.05, 0.04, 0.06, 0.03), strict=True))}
    rows = [
        {"cell": "nothing", "seed": seed, "gain": 0.1 * seed} | dict.fromkeys(kinds, (0.5, 0.01 if seed else 0.2))
        for seed in range(2)
    ]
    text = "\n".join(bench.table([rows[0] | level, rows[1]]))
    assert "| nothing | 2 | 0.05 ± 0.07 | 0.50 ± 0.00 | 50 % [9, 91] |" in text
    assert "| min-k++ | 6.0 % | 6.0 % | 6.0 % |" in text and "1 clean checkpoints" in text
    assert "| nothing | 1 | 0.00 | 0.50 | 0 % [0, 79] |" in "\n".join(bench.table(rows[:1]))
