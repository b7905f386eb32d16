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
OF_QUESTIONS = "[aria-label=Flips] td a, [aria-label=Scores] td.n a"
OF_ANSWERS = "[aria-label=Scores] td.answered a"


@pytest.fixture(scope="module")
def real_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two models on a few questions of each set and five chains: one with kprag, one with a judge."""
    folder = tmp_path_factory.mktemp("real")
    with FakeServer(reply="hashed") as server:
        for name in SETS:
            standard = convert(source(name), folder / "sets" / name, benchmark=name, name=name, skip_bad=True)
            made = perturb(
                standard, folder / "sets" / f"{name}-dynamic", ops=CHAINS, limit=FEW, judge="embedded", quiet=True
            )
            models = [StandIn("low", [standard, made], 0.7, 0.5), StandIn("high", [standard, made], 0.9, 0.2)]
            modes = "standard,dynamic,kprag" if name == "we_math" else "standard,dynamic"
            judge = f"openai:judge,base_url={server.url}" if name == "scemqa" else ""
            make_run([standard, made], folder / "runs" / name, *models, modes=modes, judge=judge, n=FEW)
    return folder / "runs"


@pytest.mark.slow
def test_every_number_of_a_run_leads_to_as_many_samples(page: Page, real_runs: Path, tmp_path: Path) -> None:
    with viewed(real_runs, tmp_path) as address:
        page.goto(address)
        runs = page.locator("a[href^='/run/']").evaluate_all(
            "all => [...new Set(all.map(one => one.href.split('/samples')[0]))]"
        )
        assert len(runs) == len(SETS)
        for run in runs:
            page.goto(run)
            page.get_by_role("region", name="Scores", exact=True).wait_for()
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
            follow(page, run)
        page.goto("about:blank")  # it asks for nothing more when the viewer is gone


def follow(page: Page, run: str) -> None:
    """The pages under a run: each filter's value shows as many as it says, links answer, keys lead where they say."""
    page.goto(f"{run}/samples")
    for name in page.locator("form.filters select").evaluate_all("all => all.map(one => one.name)"):
        options = page.locator(f"select[name={name}] option[value]:not([value=''])").evaluate_all(
            "all => all.map(one => [one.value, one.innerText])"
        )
        for value, said in options:
            answer = page.request.get(f"{run}/samples", params={name: value})
            told = answer.text().partition('role="status">')[2].split("<b>")[2].partition("</b>")[0]
            assert said.endswith(f" ({told})") and told != "0", (name, value)
    assert answered(page) > 10
    page.locator(".questions .id").first.click()
    page.wait_for_url("**/sample/*")
    assert answered(page) > 5
    for key in "npfu":
        link = page.locator(f"[data-key={key}]")
        if link.count():
            target = link.first.evaluate("one => one.href")
            page.wait_for_load_state()
            page.keyboard.press(key)
            page.wait_for_url(target)
            page.go_back()
            page.wait_for_load_state()


def answered(page: Page) -> int:
    """How many links a page has; each answers 200."""
    links = set(
        page.locator("a").evaluate_all("all => all.map(one => new URL(one.getAttribute('href'), location).href)")
    )
    assert [link for link in links if page.request.get(link).status != 200] == []
    return len(links)


@pytest.mark.slow
def test_everything_is_reached_by_tab(page: Page, viewer: str) -> None:
    page.goto(viewer)
    page.get_by_role("link", name="runs/first").click()
    page.wait_for_url("**/run/*")
    run = page.url
    page.goto(f"{run}/samples?which=lost")
    sample = page.locator(".questions .id").first.evaluate("one => one.href")
    for address in (run, f"{run}/samples", sample):
        page.goto(address)
        wanted = page.evaluate(REACHED.replace("HERE", "true"))
        met = set[int]()
        for _ in range(3 * len(wanted)):
            page.keyboard.press("Tab")
            met |= set(
                page.evaluate(
                    REACHED.replace("HERE", "one === document.activeElement && VISIBLE".replace("VISIBLE", OUTLINED))
                )
            )
            if met >= set(wanted):
                break
        assert met >= set(wanted), address


OUTLINED = "getComputedStyle(one).outlineStyle !== 'none'"
REACHED = """[...document.querySelectorAll("a, button, input:not([type=hidden]), select, summary, [tabindex='0']")]
    .map((one, place) => [one, place]).filter(([one]) => HERE && one.checkVisibility()).map(([, place]) => place)"""
