"""The documentation as a site, in a real Chromium: no raw markup, found by its search, and read by everybody."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import browser, page  # noqa: F401
from tracked import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
LOOKED_AT = ("index", "quickstart", "howto/why", "statistics", "reference/commands/eval", "reference/api", "glossary")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages; a warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", ROOT / "docs", folder], check=True)
    return folder


def test_no_page_shows_a_directive(site: Path) -> None:
    pages = [file for file in site.rglob("*.html") if re.search(r"\.\. \w+::|option::", file.read_text("utf-8"))]
    assert pages == []
    shown = (site / "reference" / "commands" / "eval.html").read_text("utf-8")
    assert shown.count("<h1") == 1 and "--max-cost" in shown
    api = re.sub(r"<[^>]+>", "", (site / "reference" / "api.html").read_text("utf-8"))
    assert "The name of the standard set, which is that of a dynamic set's parent, or its own." in api
    assert "With --ops: what rewrites the text" in api and " -- " not in api


def test_search_works_without_a_server(site: Path, page: Page) -> None:  # noqa: F811
    page.goto((site / "index.html").as_uri())
    page.locator(".sidebar-search").first.fill("rogan-gladen")
    page.keyboard.press("Enter")
    results = page.locator("#search-results li a")  # they come one by one
    results.filter(has_text="Judging replies by a model").first.wait_for()
    results.filter(has_text="Statistics of a report").first.click()
    page.locator("h1", has_text="Statistics of a report").wait_for()
    assert page.url.partition("#")[0].partition("?")[0].endswith("statistics.html")


def test_commands_and_examples_can_be_copied(site: Path, page: Page) -> None:  # noqa: F811
    for name, least in {"quickstart": 5, "reference/commands/eval": 2}.items():
        page.goto((site / f"{name}.html").as_uri())
        buttons = page.locator("div.highlight > button.copybtn")
        assert buttons.count() >= least
        assert buttons.count() == page.locator("div.highlight pre").count()


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1400)])
def test_pages_are_accessible(site: Path, page: Page, scheme: str, width: int) -> None:  # noqa: F811
    axe = (files("axe_core_python") / "axe.min.js").read_text()
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    for name in LOOKED_AT:
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.evaluate(axe)
        assert page.evaluate("axe.run().then(done => done.violations.map(one => [one.id, one.nodes[0].html]))") == []
