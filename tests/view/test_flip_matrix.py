"""Flips in the viewer and in the report of one file: every question is counted once, by links and by words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, answer, answers, write_run

from mmdyn.record import Condition
from mmdyn.tables import EVEN, summarise
from mmdyn.view.filters import WAYS, Filter
from mmdyn.view.html_report import write_report
from mmdyn.view.index import Index
from mmdyn.view.run import flip_matrix
from mmdyn.work import RunFolder

SHUFFLE = Condition("dynamic", "shuffle")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Under pad, of s00 and s01 one draw of two is right; s02 has none that is scored; s03 to s06 are the four ways."""
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    found = [*answers("1011010"), *answers("10.1100", DYNAMIC), *answers("1011010", SHUFFLE)]
    found += [answer("s00", 0.0, DYNAMIC, draw=1), answer("s01", 1.0, DYNAMIC, draw=1)]
    return write_run(tmp_path / "run", found)


def test_five_ways_add_up_and_lead_to_what_they_count(run: RunFolder) -> None:
    index = Index(run)
    index.refresh(None)
    with index.reading() as db:
        rows = {row["chain"]: row for row in flip_matrix(db)}
        assert {name: rows["pad"][name] for name in (*WAYS, "n")} == {
            "kept": 1, "lost": 1, "partly": 2, "gained": 1, "stuck": 1, "n": 6
        }  # fmt: skip
        for row in rows.values():
            assert sum(row[name] for name in WAYS) == row["n"]
            for name in WAYS:
                asked = replace(row["link"], which=(name,))
                assert len(asked.parents(db)) == row[name], asked
        partly = Filter(which=("partly",), chain="pad").parents(db)
    assert [parent["name"] for parent in partly] == ["s00", "s01"]


def test_terminal_and_pages_count_the_same_flips(run: RunFolder, tmp_path: Path) -> None:
    summary = summarise([run], flips=True)
    one_by_one = [flip for flip in summary.flips or () if flip.held["chain"] != "all"]
    write_report([run], summary, file := tmp_path / "report.html")
    page = file.read_text("utf-8")
    ways = [sum(flip.direction == way for flip in one_by_one) for way in ("right to wrong", "wrong to right")]
    assert ways == [1, 1]
    assert f"Chain by chain, {ways[0]} flips are to wrong and {ways[1]} to right." in page
    assert "2 of 2 answers that flipped are shown" in page
    assert re.search(r'n</th></tr></thead><tbody>\s*<tr>(<td>[^<]*</td>){3}<td class="num">1</td>', page)
    assert EVEN == 0.5 and "it is one half before or now" in page
