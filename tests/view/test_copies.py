"""What leaves the viewer: the pages as files (`mmdyn view --export`), and the report as one file (`mmdyn report -o`)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from shell import mmdyn

from making import picture
from mmdyn.data import ImageFolder
from mmdyn.table import Flips
from mmdyn.tables import (
    changes_of,
    main_changes,
    percent,
    report,
    score_text,
    scores_of,
    tabulate,
    verdict_of,
    why_parts,
)
from mmdyn.view import html_report
from mmdyn.view.index import Catalog
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
    assert cells == [score_text(one.score) for one in scores_of(found.parts)]
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
    told = first.locator("[data-flips] > summary").all_inner_texts()
    assert all(re.search(r"\d of \d (wrong|right)$", one) for one in told)
    names = [one.split()[0] for one in cards.locator("> summary").all_inner_texts()]
    assert len(names) == len(set(names)), "a block for each question"
    assert first.locator(".pair > div").first.locator(".stem").count() == 1, "the standard question once"
    assert first.locator(".pair > div").nth(1).locator(".stem").count() == len(told), "each variant once"


def test_words_find_questions_without_a_server(page: Page, written: Path) -> None:
    page.goto(written.as_uri())
    cards = page.locator("details.card")
    name = cards.first.locator("summary").first.inner_text().split()[0]
    page.fill("[data-find]", name.upper())
    assert page.locator("[data-found]").inner_text().endswith(f" of {cards.count()} questions")
    assert 0 < cards.locator("visible=true").count() < cards.count()
    page.fill("[data-find]", "nothing has these words")
    assert page.locator("[data-found]").inner_text().startswith("0 of ")


def test_flips_are_filtered_by_model_chain_and_outcome_without_a_server(page: Page, written: Path) -> None:
    page.goto(written.as_uri())
    cards, (model, chain, outcome) = page.locator("details.card"), page.locator("select[data-filter]").all()
    flips = page.evaluate(
        "[...document.querySelectorAll('[data-flips]')].flatMap((one) => JSON.parse(one.dataset.flips))"
    )
    shown = [one.inner_text().split("\n") for one in (model, chain, outcome)]
    assert [len(set(each)) for each in zip(*flips, strict=True)] == [len(one) - 1 for one in shown]
    assert not any(re.search(r"\(0\)$", name) for one in shown for name in one)
    assert all(
        re.fullmatch(r"right → (wrong|unparsed|refused)|(wrong|unparsed|refused) → right", one[2]) for one in flips
    )
    chain.focus()
    page.keyboard.press("ArrowDown")
    one = chain.input_value()
    assert one and re.search(rf"^{re.escape(one)} \((\d+)\)$", shown[1][1])
    count = cards.locator("visible=true").count()
    assert shown[1][1] == f"{one} ({count})" and 0 < count < cards.count()
    assert page.locator("[data-found]").inner_text() == f"{count} of {cards.count()} questions"
    models = {who for who, made_by, _ in flips if made_by == one}
    assert {name.rpartition(" ")[0] for name in model.inner_text().split("\n")[1:]} == models
    first = cards.locator("visible=true").first
    first.locator("> summary").click()
    opened = first.locator("[data-flips]:visible")
    assert opened.count() == 1 and opened.locator(".side").first.is_visible()
    assert opened.locator("> summary").inner_text().startswith(f"{one} ")


def test_previews_are_small_and_called_so(page: Page, shown: Path, written: Path, tmp_path: Path) -> None:
    done = mmdyn("report", shown / "runs" / "first", "-o", tmp_path / "small.html", "--previews")
    assert done.returncode == 0, done.stderr
    said = "preview, not as it was sent"
    page.goto((tmp_path / "small.html").as_uri())
    images = page.locator("img[data-picture]")
    assert images.count() == page.locator(".preview", has_text=said).count() > 0
    page.locator("details.card > summary").first.click()
    assert page.locator(".preview").first.is_visible()
    assert page.evaluate("[...document.images].every((one) => one.src.startsWith('data:image/webp'))")
    longest = "Math.max(...[...document.images].map((one) => Math.max(one.naturalWidth, one.naturalHeight)))"
    assert 0 < page.evaluate(longest) <= html_report.PREVIEW
    assert "Pictures are previews, not as they were sent." in (tmp_path / "small.html").read_text("utf-8")
    assert said not in written.read_text("utf-8")
    for ending in ([], ["-o", tmp_path / "small.md"]):
        refused = mmdyn("report", shown / "runs" / "first", "--previews", *ending)
        assert refused.returncode == 2
        assert refused.stderr.endswith("Error: --previews goes with a page of HTML: add -o FILE.html\n")


def test_pictures_without_room_are_counted(shown: Path, tmp_path: Path) -> None:
    images, catalog = ImageFolder(tmp_path), Catalog(shown)
    addresses = [catalog.picture(images, images.put(picture(width=width))) for width in (40, 41)]
    pictures = html_report._Pictures(small=False, room=10_000)
    assert [pictures.put(catalog, one) for one in [*addresses, addresses[0], ""]] == ["#0", "#1", "#0", ""]
    assert not pictures.left_out
    tight = html_report._Pictures(small=False, room=len(json.loads(pictures.json())[0]))
    assert [tight.put(catalog, one) for one in [*addresses, addresses[0]]] == ["#0", "", "#0"]
    assert tight.left_out == {addresses[1]} and len(json.loads(tight.json())) == 1


def test_a_report_says_that_pictures_are_left_out(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(shown / "runs" / "first")
    found = tabulate([run], [*why_parts(), Flips()])
    monkeypatch.setattr(html_report._Pictures, "_spelt", lambda self, data, media: "x" * (html_report.ROOM + 1))
    text = html_report.report_page([run], found)
    told = re.search(r"(\d+) pictures are left out, because all of them would take more than 5 MB.", text)
    assert told and int(told[1]) > 0 and 'id="pictures">[]<' in text
    assert "<code>mmdyn report … --previews</code> shows small ones" in text


def test_no_table_is_wider_than_a_printed_page(page: Page, written: Path) -> None:
    page.goto(written.as_uri())
    page.emulate_media(media="print")
    page.set_viewport_size({"width": round((210 - 2 * 12) / 25.4 * 96), "height": 1000})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    wide = (
        "[...document.querySelectorAll('table, svg, pre, .frame')].filter((one) => one.scrollWidth > innerWidth).length"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") and page.evaluate(wide) == 0
    assert page.evaluate("[...document.querySelectorAll('pre')].every((one) => one.scrollHeight <= one.clientHeight)")
    assert page.locator(".filters").is_hidden() and page.locator(".contents").is_hidden()


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
    found = re.search(r"(\d+) of (\d+) are shown: those of the questions that most variants broke", text)
    assert ways and found and int(ways[1]) + int(ways[2]) == int(found[2])
    flips = [json.loads(unescape(one)) for one in re.findall(r"data-flips='(.*?)'", text)]
    assert sum(map(len, flips)) == int(found[1])
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
            one["id"]
            for one in found["result"]["value"]["violations"]
            if one["impact"] in ("moderate", "serious", "critical")
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


def test_a_killed_copy_can_be_looked_at_and_goes_on(shown: Path, exported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    killed = subprocess.Popen([sys.executable, "-m", "mmdyn", "view", str(shown), "--export", str(folder), "-q"])
    while killed.poll() is None and not [*folder.glob("run-*-sample-*.html")]:
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    left = {file: file.stat().st_mtime_ns for file in folder.glob("*.html")}
    assert folder / "index.html" in left and len(left) < len([*exported.glob("*.html")])
    with (folder / ".unfinished").open("a") as journal:
        journal.write('["/run/')
    other = mmdyn("view", shown / "sets", "--export", folder)
    assert (other.returncode, other.stderr) == (2, f"mmdyn: {folder} is there already: name a new folder\n")
    done = mmdyn("view", shown, "--export", folder)
    assert done.returncode == 0 and done.stderr.startswith("more than 120 pages: each answer has one\n"), done.stderr
    assert {file.relative_to(folder) for file in folder.rglob("*")} == {
        file.relative_to(exported) for file in exported.rglob("*")
    }
    assert {file: file.stat().st_mtime_ns for file in left} == left


def _export(shown: Path, folder: Path) -> Path:
    done = mmdyn("view", shown, "--export", folder, "--quiet")
    assert done.returncode == 0, done.stderr
    assert f"open {folder / 'index.html'}" in done.stdout
    return folder


def _write(folder: Path, file: Path) -> Path:
    done = mmdyn("report", folder, "-o", file)
    assert done.returncode == 0 and f"wrote {file}" in done.stderr, done.stderr
    return file
