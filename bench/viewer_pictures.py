"""The pictures of docs/viewing.md, of the runs that bench/viewer_runs.py made.

python -P bench/viewer_pictures.py FOLDER
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

OUT = Path(__file__).resolve().parents[1] / "docs" / "viewing"


def main(folder: Path) -> None:
    """A page each, as they are in a window of 1,200 by 800 pixels."""
    command = [sys.executable, "-m", "mmdyn", "view", str(folder), "--port", "0"]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as viewer, sync_playwright() as driver:
        assert viewer.stdout is not None
        try:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.goto(viewer.stdout.readline().removeprefix("open ").strip())
            page.click("text=runs/gaokao_mm")
            page.wait_for_url("**/run/*")
            page.screenshot(path=OUT / "run.png")
            page.goto(f"{page.url}/samples?which=lost")
            page.screenshot(path=OUT / "samples.png")
            page.click(".questions .id >> nth=0")
            page.wait_for_url("**/sample/*")
            page.wait_for_selector(".katex")
            page.screenshot(path=OUT / "sample.png")
        finally:
            viewer.kill()


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    main(Path(sys.argv[1]))
