"""What leaves the viewer: the pages as files (`mmdyn view --export`), and the report as one file (`mmdyn report -o`)."""

from __future__ import annotations

import json
import re
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from shell import mmdyn

from mmdyn.table import Flips
from mmdyn.tables import changes_of, main_changes, percent, report, scores_of, tabulate, verdict_of, why_parts
from mmdyn.view import html_report
from mmdyn.work import RunFolder

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def exported(shown: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the small runs."""
    return _export(shown, tmp_path_factory.mktemp("copy") / "pages")


@pytest.fixture(scope="module")
def hostile_copy(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of the hostile one, with its report beside them."""
    folder = _export(hostile, tmp_path_factory.mktemp("hostile-copy") / "pages")
    _write(hostile / "run", folder / "report.html")
    return folder


@pytest.fixture(scope="module")
def written(shown: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the small run."""
    return _write(shown / "runs" / "first", tmp_path_factory.mktemp("report") / "report.html")


def test_every_link_of_a_copy_leads_to_a_file(exported: Path) -> None:
    pages = sorted(exported.glob("*.html"))
    linked = set[str]()
    for page in pages:
        assert "Not to be shown" not in page.read_text("utf-8"), page
        linked |= {unescape(found) for found in re.findall(r' (?:href|src)="([^"#]+)"', page.read_text("utf-8"))}
    assert all((exported / unquote(target)).is_file() for target in linked)
    assert {page.name for page in pages} - linked == set()
    kinds = ("index", "compare", "set-", "run-\\w+.html", "run-\\w+-samples", "run-\\w+-why", "run-\\w+-sample-")
    assert all(any(re.match(kind, page.name) for page in pages) for kind in kinds)


def test_numbers_of_a_copy_lead_to_as_many_questions(page: Page, exported: Path) -> None:
    page.goto((exported / "index.html").as_uri())
    page.get_by_role("link", name="runs/first").click()
    page.locator("summary", has_text="Flips").click()
    lost = page.get_by_role("region", name="Flips").get_by_role("row").nth(1).locator(".lostcell a")
    count = lost.inner_text()
    lost.click()
    assert page.locator("[role=status] b").first.inner_text() == count
    assert page.get_by_role("button", name="Filter").count() == 0
    page.locator(".questions .id").first.click()
    assert page.locator(".side h2").count() == 2
    page.locator(".side .katex").nth(3).wait_for()
    assert page.evaluate("[...document.images].every(one => one.complete && one.naturalWidth > 0)")
    page.keyboard.press("+")
    assert page.locator(".frame.zoomed").count() == 2


def test_a_report_says_what_the_command_says(page: Page, written: Path, shown: Path) -> None:
    found = report(shown / "runs" / "first")
    page.goto(written.as_uri())
    cells = page.get_by_role("region", name="Scores", exact=True).locator("td.score").all_inner_texts()
    assert cells == [percent(one.score.value, one.score.ci95) for one in scores_of(found.parts)]
    rows = page.locator("[aria-label=Changes], [aria-label='Other contrasts']").locator("tbody tr")
    assert rows.count() == len(changes_of(found.parts))
    assert page.locator("details.card .verdict", has_text="right to wrong").count() > 0
    assert page.locator("math").count() >= 4
    assert page.evaluate("[...document.images].length > 0 && [...document.images].every(one => one.naturalWidth > 0)")
    contents = page.get_by_role("navigation", name="Contents").locator("a")
    assert page.locator("a").count() == contents.count() > 4
    assert all(page.locator(link.get_attribute("href") or "").count() == 1 for link in contents.all())
    headlines = page.locator(".headline")
    assert headlines.count() == len(main_changes(found.parts))
    for one, change in zip(headlines.all(), main_changes(found.parts), strict=True):
        assert verdict_of(change.difference) in one.inner_text()
        assert percent(change.value, change.difference.ci95, "+") in one.inner_text()
    assert page.get_by_role("region", name="Settings").get_by_text("exam-dynamic, digest").count() == 1


def test_flips_are_closed_and_those_of_questions_that_most_broke_stand_first(page: Page, written: Path) -> None:
    page.goto(written.as_uri())
    cards = page.locator("details.card")
    assert page.locator("details.card[open]").count() == 0 < cards.count() <= html_report.MOST_FLIPS
    assert page.evaluate("document.documentElement.scrollHeight") < 8000
    first = cards.first
    assert first.locator(".side").first.is_hidden()
    first.locator("summary").first.click()
    assert first.locator(".side").nth(1).is_visible() and first.locator(".side").first.is_visible()
    told = first.locator(".pair summary").all_inner_texts()
    assert len(told) == first.locator(".side").count() - 1
    assert all(re.search(r"\d of \d (wrong|right)$", one) for one in told)


def test_words_find_questions_without_a_server(page: Page, written: Path) -> None:
    page.goto(written.as_uri())
    cards = page.locator("details.card")
    name = cards.first.locator("summary").first.inner_text().partition(":")[0]
    page.fill("[data-find]", name.upper())
    assert page.locator("[data-found]").inner_text().endswith(f" of {cards.count()} questions")
    assert 0 < cards.locator("visible=true").count() < cards.count()
    page.fill("[data-find]", "nothing has these words")
    assert page.locator("[data-found]").inner_text().startswith("0 of ")


def test_a_picture_is_kept_once_and_no_path_of_the_machine_is_told(written: Path) -> None:
    text = written.read_text("utf-8")
    kept = json.loads(re.search(r'id="pictures">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    assert kept and len(kept) == len(set(kept)) and text.count("data:image") == len(kept)
    assert {int(place) for place in re.findall(r'data-picture="(\d+)"', text)} == set(range(len(kept)))
    assert str(written.parent) not in text and "/tmp/" not in text


@pytest.mark.parametrize(("limit", "most"), [("ROOM", 20_000), ("MOST_FLIPS", 3)])
def test_what_does_not_fit_is_counted(shown: Path, limit: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_report, limit, most)
    run = RunFolder(shown / "runs" / "first")
    text = html_report.report_page([run], tabulate([run], [*why_parts(), Flips()]))
    ways = re.search(r"(\d+) from right to wrong and (\d+) from wrong to right, chain by chain", text)
    found = re.search(r"(\d+) of (\d+) are shown: those to wrong first", text)
    assert ways and found and int(ways[1]) + int(ways[2]) == int(found[2])
    assert len(re.findall(r"<details(?: open)?><summary>[^<]+<span class=\"muted\">\d of \d", text)) == int(found[1])
    assert int(found[1]) < int(found[2])


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1600)])
def test_copies_are_accessible(page: Page, exported: Path, written: Path, scheme: str, width: int) -> None:
    axe = (files("axe_core_python") / "axe.min.js").read_text()
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    sample = next(exported.glob("run-*-sample-*.html"))
    for file in (written, exported / "index.html", exported / "compare.html", sample):
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, file
        found = page.context.new_cdp_session(page).send(
            "Runtime.evaluate", {"expression": f"{axe}; axe.run()", "awaitPromise": True, "returnByValue": True}
        )
        trouble = [
            one["id"] for one in found["result"]["value"]["violations"] if one["impact"] in ("serious", "critical")
        ]
        assert trouble == [], file


def test_what_was_said_is_text_in_copies(page: Page, hostile_copy: Path) -> None:
    for file in sorted(hostile_copy.glob("*.html")):
        page.goto(file.as_uri())
        assert page.evaluate(
            "window.ran === undefined && document.querySelectorAll('a[href^=javascript]').length === 0"
        ), file
    assert (hostile_copy / "report.html").stat().st_size < 1_000_000


def test_a_copy_takes_no_folder_that_is_there_and_none_of_the_run(shown: Path, tmp_path: Path) -> None:
    done = mmdyn("view", shown, "--export", tmp_path)
    assert (done.returncode, done.stderr) == (2, f"mmdyn: {tmp_path} is there already: name a new folder\n")
    inside = shown / "copy"
    done = mmdyn("view", shown, "--export", inside)
    told = f"mmdyn: {inside} lies in {shown}, in which nothing is written: name a folder elsewhere\n"
    assert (done.returncode, done.stderr, inside.exists()) == (2, told, False)


def test_a_copy_takes_the_place_of_what_a_killed_one_left(shown: Path, tmp_path: Path) -> None:
    left = tmp_path / ".pages.partial"
    left.mkdir()
    (left / "index.html").write_text("half")
    copy = _export(shown, tmp_path / "pages")
    assert [*tmp_path.iterdir()] == [copy] and "half" not in (copy / "index.html").read_text("utf-8").split()


def _export(shown: Path, folder: Path) -> Path:
    done = mmdyn("view", shown, "--export", folder, "--quiet")
    assert done.returncode == 0, done.stderr
    assert f"open {folder / 'index.html'}" in done.stdout
    return folder


def _write(folder: Path, file: Path) -> Path:
    done = mmdyn("report", folder, "-o", file)
    assert done.returncode == 0 and f"wrote {file}" in done.stderr, done.stderr
    return file
