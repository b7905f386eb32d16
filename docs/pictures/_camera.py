"""Chromium as a camera: pages without a window, as small PNG files beside this one."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).resolve().parent
Scheme = Literal["light", "dark"]


@contextmanager
def camera() -> Iterator[Browser]:
    """The system's Chromium."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu", "--no-first-run"],
        )
        yield browser
        browser.close()


def seen(page: Page, *, whole: bool = False) -> Image.Image:
    """What the window shows, or the whole page."""
    return Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB")


def save(picture: Image.Image, name: str, colours: int = 256) -> None:
    """A picture in few colours, so that the repository stays small; the rare ones, such as red and green, are kept."""
    picture.quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        HERE / f"{name}.png", optimize=True
    )
