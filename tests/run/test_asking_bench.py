"""bench/asking.py: its small runs pass and say what they measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "asking.py"


def small(*options: str) -> list[list[str]]:
    """The cells of the printed tables, row by row, and the other lines as rows of one cell."""
    done = subprocess.run([sys.executable, BENCH, "--small", *options], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_our_loop_stands_beside_the_bare_client_s() -> None:
    rows = small()
    cells = [row for row in rows if "in flight" in row[0] and len(row) > 7]
    assert len({row[0] for row in cells}) == 2 and [row[3] for row in cells] == ["without", "with"] * 2
    for row in cells:
        assert float(row[2]) > 0 and float(row[4]) > 0 and row[7] in ("met", "missed")
    assert [row[:2] for row in rows if row[0] == "50"] == [["50", "100"], ["50", "10"]], "the whole command"


@pytest.mark.slow
def test_faults_and_kills_change_no_record() -> None:
    rows = small("--faults")
    faults = [row for row in rows if len(row) == 9 and row[1] == "0"]
    assert [row[0] for row in faults] == ["none", "429", "hang", "all kinds"]
    for name, status, samples, answered, otherwise, requests, *_ in faults:
        assert (status, answered, otherwise) == ("0", samples, "0"), name
        assert int(requests) >= int(samples)
    assert [row[0].partition(",")[0] for row in rows if row[0].startswith("status ")] == ["status 1", "status 0"]
    said = [row[0] for row in rows]
    assert "held answers asked again or lost: 0; status at the end 0" in said
    assert "answered: 120; otherwise than undisturbed: 0" in said
