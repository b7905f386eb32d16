"""Runs over questions of public sets: every link of the runs' pages answers, and its number is what it leads to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.real_sets import source
from making_views import CHAINS, StandIn, make_run
from view.conftest import viewed

from mmdyn.data import convert
from mmdyn.testing import FakeServer
from perturb import perturb

if TYPE_CHECKING:
    from playwright.sync_api import Page

SETS = ("gaokao_mm", "we_math", "scemqa")
FEW = 5
OF_QUESTIONS = "[aria-label=Flips] td a, [aria-label=Conditions] td:nth-child(7) a"
OF_ANSWERS = "[aria-label=Conditions] td:nth-child(n+8) a"


@pytest.fixture(scope="module")
def real_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two models on a few questions of each set and five chains: one with kprag, one with a judge."""
    folder = tmp_path_factory.mktemp("real")
    with FakeServer(reply="hashed") as server:
        for name in SETS:
            standard = convert(source(name), folder / "sets" / name, benchmark=name, name=name, skip_bad=True)
            made = perturb(
                standard, folder / "sets" / f"{name}-dynamic", ops=CHAINS, limit=FEW, judge="embedded:none", quiet=True
            )
            models = [StandIn("low", [standard, made], 0.7, 0.5), StandIn("high", [standard, made], 0.9, 0.2)]
            modes = "standard,dynamic,kprag" if name == "we_math" else "standard,dynamic"
            judge = f"openai:judge,base_url={server.url}" if name == "scemqa" else ""
            make_run([standard, made], folder / "runs" / name, *models, modes=modes, judge=judge, n=FEW)
    return folder / "runs"


def test_every_number_of_a_run_leads_to_as_many_samples(page: Page, real_runs: Path, tmp_path: Path) -> None:
    with viewed(real_runs, tmp_path) as address:
        page.goto(address)
        runs = page.locator("a[href^='/run/']").evaluate_all(
            "all => [...new Set(all.map(one => one.href.split('/samples')[0]))]"
        )
        assert len(runs) == len(SETS)
        for run in runs:
            page.goto(run)
            page.get_by_role("region", name="Conditions").wait_for()
            numbers = {
                place: page.locator(css).evaluate_all("all => all.map(one => [one.textContent, one.href])")
                for place, css in enumerate((OF_QUESTIONS, OF_ANSWERS))
            }
            assert len(numbers[0]) > 10
            for place, links in numbers.items():
                for number, link in links:
                    answer = page.request.get(link)
                    told = answer.text().partition('role="status">')[2].split("<b>")[place + 1].partition("</b>")[0]
                    assert (answer.status, told) == (200, number), link
            links = page.locator("main a, header a").evaluate_all("all => all.map(one => one.href ?? one.href.baseVal)")
            plots = page.locator("svg a").evaluate_all(
                "all => all.map(one => new URL(one.href.baseVal, location).href)"
            )
            for link in {one for one in [*links, *plots] if isinstance(one, str)}:
                assert page.request.get(link).status == 200, link
