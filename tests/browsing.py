"""Pages in a real Chromium: what they complain of, and whom they ask for anything, is seen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
HERE = ("", "localhost", "127.0.0.1")
"""Hosts that a page may ask: files and blobs have none."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window, for a module's tests; they are skipped where there is none.

    No longer than that: its event loop runs in this thread, where tests of other modules run loops of their own.
    """
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'mmdyn[dev]'")
    if not CHROMIUM:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page with storage of its own. The test fails where it raised or complained, or asked another host."""
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(60_000)  # of a machine that does other things, too
    page, trouble = context.new_page(), list[str]()
    page.on("pageerror", lambda error: trouble.append(f"raised: {error}"))
    page.on("console", lambda said: trouble.append(f"said: {said.text}") if said.type == "error" else None)
    context.on("request", lambda request: trouble.append(f"asked for {request.url}") if abroad(request) else None)
    yield page
    context.close()
    assert trouble == [], trouble


def abroad(request: Request) -> bool:
    """Whether a request leaves this machine."""
    return (urlsplit(request.url).hostname or "") not in HERE
