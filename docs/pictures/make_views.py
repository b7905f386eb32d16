"""The pictures of the viewer, of the HTML report and of the plots in docs: a run on the demo's questions, in Chromium.

python docs/pictures/make_views.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(Path(__file__).parent)]

from _camera import HERE, Scheme, camera, save, seen
from making_views import CHAINS, StandIn, make_run
from PIL import Image

from mmdyn.demo import make_demo
from mmdyn.table import Flips
from mmdyn.tables import summary_parts, tabulate
from mmdyn.testing import FakeServer
from mmdyn.work import RunFolder
from perturb import perturb

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDE, NARROW = (1200, 820), (390, 820)
PAGES = ("runs", "run", "why", "samples", "sample", "sample-zh", "set", "compare")


def main() -> None:
    """Make the run, and take every picture."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that no path of this machine is in a picture
        run = make_views(Path("shown"))
        command = [sys.executable, "-m", "mmdyn", "view", "shown", "--port", "0"]
        environment = os.environ | {"MMDYN_CACHE": str(Path("cache").resolve()), "PYTHONPATH": str(ROOT)}
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as viewer,
            camera() as browser,
        ):
            assert viewer.stdout is not None
            try:
                addresses = find_pages(browser, viewer.stdout.readline().removeprefix("open ").strip())
                for name, address in addresses.items():
                    take(browser, address, f"view-{name}")
            finally:
                viewer.kill()
            subprocess.run(
                [sys.executable, "-m", "mmdyn", "report", str(run.folder), "-o", "report.html"], env=environment
            )
            take(browser, Path("report.html").resolve().as_uri(), "report")
        plot(run)


def make_views(folder: Path) -> RunFolder:
    """The demo's questions, five chains of variants, and two models with knowledge beside the questions and a judge."""
    standard = make_demo(folder / "demo")
    made = perturb(standard, folder / "dynamic", ops=CHAINS, seed=1, judge="embedded", quiet=True)
    models = [StandIn("fable-7b", [standard, made], 0.72, 0.6), StandIn("saga-72b", [standard, made], 0.92, 0.3)]
    with FakeServer(reply="hashed") as server:
        judge = f"openai:judge,base_url={server.url}"
        return make_run([standard, made], folder / "run", *models, modes="standard,dynamic,kprag", judge=judge)


def find_pages(browser: Browser, first: str) -> dict[str, str]:
    """The address of one page of each kind; the first one's cookie is that of the browser's default context."""
    page = browser.contexts[0].new_page() if browser.contexts else browser.new_context().new_page()
    page.goto(first)
    home = page.url
    page.wait_for_load_state("networkidle")
    run = page.locator("a[href^='/run/']").first.evaluate("one => one.href")
    made = page.locator("a[href^='/set/']").last.evaluate("one => one.href")
    lost = f"{run}/samples?which=lost"
    page.goto(run)
    page.locator("#scores").wait_for()  # it follows the reading of the run by itself until then
    page.goto(lost)
    sample = page.locator(".questions .id").first.evaluate("one => one.href")
    page.goto(f"{lost}&text=zh-")
    chinese = page.locator(".questions .id").first.evaluate("one => one.href")
    page.goto(f"{home}compare")
    models = page.locator("select[name=a] option").evaluate_all("all => all.map(one => one.value)")
    both = page.evaluate("([a, b]) => '?' + new URLSearchParams({a, b})", [models[1], models[2]])
    page.close()
    return dict(zip(PAGES, (home, run, f"{run}/why", lost, sample, chinese, made, f"{home}compare{both}"), strict=True))


def take(browser: Browser, address: str, name: str) -> None:
    """A page wide and light in full, and wide and dark, narrow and light, narrow and dark side by side."""
    save(shot(browser, address, WIDE, "light"), f"{name}-light")
    others = [
        shot(browser, address, size, scheme) for size, scheme in ((WIDE, "dark"), (NARROW, "light"), (NARROW, "dark"))
    ]
    beside = Image.new("RGB", (sum(one.width for one in others) + 20, WIDE[1]), "#888")
    at = 0
    for one in others:
        beside.paste(one, (at, 0))
        at += one.width + 10
    save(beside.resize((beside.width * 3 // 5, beside.height * 3 // 5), Image.Resampling.LANCZOS), f"{name}-others")


def shot(browser: Browser, address: str, size: tuple[int, int], scheme: Scheme) -> Image.Image:
    """What a window of a size shows."""
    page = browser.contexts[0].new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    picture = seen(page)
    page.close()
    return picture


def plot(run: RunFolder) -> None:
    """Five plots."""
    found = tabulate([run], [*summary_parts(["discipline", "language"]), Flips()])
    for name in ("changes", "scores", "flips", "scores by discipline", "scores by language"):
        found.plot(name).save(HERE / f"plot-{name.replace(' ', '-')}.png")


if __name__ == "__main__":
    main()
