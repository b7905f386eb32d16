"""Flips in the viewer and in the report of one file: every question is counted once, by links and by words."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, answer, answers, write_run

from mmdyn.record import Condition
from mmdyn.table import Flips
from mmdyn.tables import EVEN, tabulate, why_parts
from mmdyn.view import report_page
from mmdyn.view._page import WAYS, Filter
from mmdyn.view.index import Catalog, Index
from mmdyn.view.run import flip_matrix, page
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


def test_terminal_and_pages_count_the_same_flips(run: RunFolder) -> None:
    found = tabulate([run], [*why_parts(), Flips()])
    ways = Counter(row.factors["direction"] for row in found.rows("flips", "b score"))
    assert ways == {"right to wrong": 1, "wrong to right": 1}
    text = report_page([run], found)
    assert "<p>1 from right to wrong and 1 from wrong to right, chain by chain." in text
    assert "2 of 2 are shown." in text and text.count('<details class="card">') == 2
    assert re.search(r"<summary>s05 .*1 right to wrong</span> <span class=\"muted\">pad; m1</span>", text)
    assert re.search(r"<summary>pad <span class=\"muted\">m1 1 of 1 wrong</span>", text)
    catalog = Catalog(run.folder)
    catalog.index(name := next(iter(catalog.runs()))).refresh(None)
    text = page(catalog, name)
    assert "Flips: 1 from right to wrong and 1 from wrong to right, chain by chain" in text
    assert EVEN == 0.5 and "it is one half before or now" in text
