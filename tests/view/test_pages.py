"""The pages in a real Chromium: what they show, where they lead, by mouse and keys, light and dark, wide and narrow."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mmdyn import why
from mmdyn.data import SampleSet
from mmdyn.sheets import apply_marks
from mmdyn.tables import changes_of, explain_memory, memory_parts, percent, report, scores_of, tabulate
from mmdyn.view.index import Index
from mmdyn.view.samples import grid_of_answers
from mmdyn.work import RunFolder

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def index(shown: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of the small run, in a cache folder that is the user's alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MMDYN_CACHE", str(cache := tmp_path_factory.mktemp("own")))
        index = Index(RunFolder(shown / "runs" / "first"))
    index.refresh(30)
    assert (cache / "view").stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in (cache / "view").glob("*.sqlite")} == {0o600}
    return index


def test_the_ways_through_a_run(page: Page, viewer: str, shown: Path) -> None:
    from playwright.sync_api import expect

    before = _contents(shown)
    page.goto(viewer)
    assert "token" not in page.url
    page.fill("#text", "no such run")
    page.keyboard.press("Enter")
    page.get_by_text("No run fits.").wait_for()
    page.goto(page.url.partition("?")[0])
    page.get_by_role("link", name="runs/first").click()
    page.wait_for_url("**/run/*")
    first = scores_of(report(shown / "runs" / "first").parts)[0]
    assert (first.factors["model"], first.factors["variant"]) == ("python:low", "standard")
    told = page.get_by_role("region", name="Scores", exact=True).locator("td.score").first.inner_text()
    assert told == percent(first.score.value, first.score.ci95)
    titles = page.locator("main h2:not(.headline h2)").all_inner_texts()
    about = ["What to distrust", "State and cost"]
    assert (
        titles == ["Changes by chain", "Scores", "Scores by field", *about]
        and page.locator("main details[open]").count() == 0
    )
    settings = json.loads(page.get_by_label("Settings as JSON").text_content() or "")
    assert [one["label"] for one in settings["models"]] == ["python:low", "python:high"] and settings["scorer"]
    assert [one["name"] for one in settings["sets"]] and "folder" not in settings["sets"][0]
    assert str(shown) not in json.dumps(settings)
    chains = page.locator("[aria-label=Changes] tbody tr").count()
    assert chains == 2 * 3, "of each of two models each chain, and all of them"
    page.locator("summary", has_text="Flips").click()
    lost = page.get_by_role("region", name="Flips").get_by_role("row").nth(1).locator(".lostcell a")
    count = int(lost.inner_text())
    lost.click()
    page.wait_for_url("**/samples?*")
    assert page.locator("[role=status] b").first.inner_text() == str(count)
    page.locator(".questions .id").first.click()
    page.wait_for_url("**/sample/*")
    assert page.locator(".side h2").count() == 2
    page.locator(".side .katex").nth(3).wait_for()
    assert page.locator("mark.answer").first.inner_text() in ("A", "B", "C", "D")
    assert page.get_by_text("Prompt (as it was sent)").count() == 2
    first = page.locator("h1").inner_text()
    if count > 1:
        page.keyboard.press("n")
        expect(page.locator("h1")).not_to_have_text(first)
        page.wait_for_load_state()  # the script that hears the key is there
        page.keyboard.press("p")
        expect(page.locator("h1")).to_have_text(first)
    assert _contents(shown) == before


def test_pictures_are_zoomed_together_and_laid_over_each_other(page: Page, viewer: str) -> None:
    page.goto(viewer)
    page.get_by_role("link", name="runs/first").click()
    page.wait_for_url("**/run/*")
    page.goto(page.url + "/samples?chain=image.invert")
    page.locator(".questions .id").first.click()
    page.wait_for_url("**/sample/*")
    page.keyboard.press("+")
    assert page.evaluate(
        "[...document.querySelectorAll('.frame')].map(one => one.style.getPropertyValue('--zoom'))"
    ) == ["1.25", "1.25"]
    page.locator(".frame").first.click()
    assert page.locator(".zoomed").count() == 0, "a click makes them small again"
    assert page.locator(".frame").first.bounding_box()["height"] <= 280  # type: ignore[index]
    page.locator(".frame").last.press("Enter")
    assert page.locator(".zoomed").count() == 2
    page.locator(".slider input").fill("20")
    shown = page.locator(".before").evaluate("one => getComputedStyle(one).clipPath")
    assert "80%" in shown, "a fifth of the standard picture lies over the variant's"
    assert page.evaluate("[...document.images].every(one => one.complete && one.naturalWidth > 0)")


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ("which=right", "value > 0.5"), ("which=wrong,unparsed", "status = 'unparsed'"), ("which=refused", "status = 'refused'"),
        ("which=needs_judge", "needs_judge"), ("model=python:low&variant=standard", "model = 'python:low' AND variant = 'standard'"),
        ("field=subject%3Dmaths", "parent IN (SELECT parent FROM fields WHERE value = 'maths')"), ("text=第 7 题", "sample LIKE 'q7%'"),
        ("which=gained&chain=text.shuffle", "flip = 1 AND chain = 'text.shuffle'"), ("text=%25", "0"),
    ],
)  # fmt: skip
def test_filters(page: Page, viewer: str, index: Index, asked: str, holds: str) -> None:
    with index.reading() as db:
        sql = "SELECT count(DISTINCT parent), count(*) FROM answers JOIN (SELECT id AS c, model, variant, chain FROM conditions) ON c = condition"
        expected = tuple(db.execute(f"{sql} WHERE {holds}").fetchone())
    page.goto(viewer)
    page.get_by_role("link", name="runs/first").click()
    page.wait_for_url("**/run/*")
    page.goto(f"{page.url}/samples?{asked}")
    assert tuple(int(text) for text in page.locator("[role=status] b").all_inner_texts()) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1600)])
def test_every_page_is_accessible(page: Page, viewer: str, scheme: str, width: int) -> None:
    axe = (files("axe_core_python") / "axe.min.js").read_text()
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    for address in _addresses(page, viewer):
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        found = page.context.new_cdp_session(page).send(
            "Runtime.evaluate", {"expression": f"{axe}; axe.run()", "awaitPromise": True, "returnByValue": True}
        )
        trouble = [
            (one["id"], one["nodes"][0]["html"])
            for one in found["result"]["value"]["violations"]
            if one["impact"] in ("moderate", "serious", "critical")
        ]
        assert trouble == [], address


def test_what_is_rejected_on_a_set_s_page_leaves_the_set(page: Page, viewer: str, shown: Path, tmp_path: Path) -> None:
    page.goto(viewer)
    page.get_by_role("link", name="sets/varied").click()
    page.wait_for_url("**/set/*")
    assert page.locator("article").first.locator("img").count() == 2, "the picture before and after"
    for key in "j1j2":
        page.keyboard.press(key)
    page.reload()
    assert page.locator("[data-marks] [role=status]").inner_text() == "2 marked, 1 to reject"
    rejected = (
        page.locator("article", has=page.locator("button[value=reject][aria-pressed=true]")).locator("h3").inner_text()
    )
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as(tmp_path / "labels.jsonl")
    varied = SampleSet(shown / "sets" / "varied")
    left = apply_marks([tmp_path / "labels.jsonl"], varied, tmp_path / "left")
    assert {sample.id for sample in varied} - {sample.id for sample in left} == {rejected}


def test_two_runs_are_compared_with_an_interval(page: Page, viewer: str, shown: Path) -> None:
    from making_views import StandIn, make_run

    standard = SampleSet(shown / "sets" / "exam")
    with ThreadPoolExecutor(1) as threads:  # the browser's loop runs in this thread
        threads.submit(
            make_run, [standard], shown / "runs" / "other", StandIn("low", [standard], 0.4), modes="standard"
        ).result(60)
    page.goto(viewer)
    page.goto(f"{page.url}compare")
    known = {
        option.inner_text(): option.get_attribute("value") for option in page.locator("select[name=a] option").all()
    }
    asked = [known["python:low in runs/first"], known["python:low in runs/other"]]
    page.goto(page.url + page.evaluate("([a, b]) => '?' + new URLSearchParams({a, b})", asked))
    both = report(shown / "runs" / "first", shown / "runs" / "other")
    (row,) = [change.difference for change in changes_of(both.parts) if change.factors["factor"] == "run"]
    assert percent(row.value, row.ci95, "+") in page.locator("main").inner_text()


def test_what_was_said_is_text(page: Page, hostile_viewer: str) -> None:
    for address in _addresses(page, hostile_viewer):
        page.goto(address)
        assert page.evaluate(
            "window.ran === undefined && document.querySelectorAll('a[href^=javascript]').length === 0"
        ), address
    assert page.locator("script").count() <= 3


def test_a_run_that_goes_on_is_followed(page: Page, shown: Path, tmp_path: Path) -> None:
    from making_views import StandIn, make_run
    from playwright.sync_api import expect
    from view.conftest import viewed

    standard = SampleSet(shown / "sets" / "exam")

    def asked(n: int) -> None:  # in a thread: the browser's loop runs in this one
        given = partial(make_run, [standard], tmp_path / "run", StandIn("low", [standard]), modes="standard", n=n)
        with ThreadPoolExecutor(1) as threads:
            threads.submit(given).result(60)

    asked(5)
    with viewed(tmp_path, tmp_path / "cache") as address:
        page.goto(address)
        page.get_by_role("link", name="run", exact=True).click()
        page.wait_for_url("**/run/*")
        page.goto(page.url + "/samples")
        assert page.locator("[role=status] b").first.inner_text() == "5"
        asked(9)
        expect(page.locator("[role=status] b").first).to_have_text("9", timeout=20_000)
        page.goto("about:blank")  # before the viewer ends, of which the page asks again and again


def test_the_page_on_why_says_what_the_command_says(page: Page, viewer: str, shown: Path) -> None:
    page.goto(viewer)
    page.get_by_role("link", name="runs/first").click()
    page.get_by_role("link", name="Why", exact=True).click()
    page.wait_for_url("**/why")
    told, run = why(shown / "runs" / "first"), RunFolder(shown / "runs" / "first")
    known = explain_memory(tabulate([run], memory_parts()), [run])
    headings = [*(one.title for one in told.sections), known.title]
    assert [title.inner_text() for title in page.locator("main h2").all()] == headings
    items = [item.inner_text().split("\n")[0] for item in page.locator("main > ul:not(.muted) > li").all()]
    assert items == [line.text for section in (*told.sections, *known.sections) for line in section.lines]


def _addresses(page: Page, viewer: str) -> list[str]:
    """One page of every kind."""
    page.goto(viewer)
    home = page.url
    run = page.locator("a[href^='/run/']").first.evaluate("one => one.href")
    sets = page.locator("a[href^='/set/']").evaluate_all("all => all.map(one => one.href)")
    page.goto(f"{run}/samples")
    samples = page.locator(".questions .id").evaluate_all("all => all.map(one => one.href)")[-1:]
    page.goto(f"{home}compare")
    models = page.locator("select[name=a] option").evaluate_all("all => all.map(one => one.value)")
    both = page.evaluate("([a, b]) => '?' + new URLSearchParams({a, b})", [models[1], models[-1]])
    return [home, run, f"{run}/why", f"{run}/samples", *samples, *sets, f"{home}compare{both}"]


def _contents(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file with its digest and when it was changed."""
    every = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns) for file in every}


def test_answers_to_a_question_are_a_grid_of_models_and_chains() -> None:
    def told(model: str, chain: str = "", context: str = "none", draw: int = 0, epoch: int = 0) -> dict[str, object]:
        factors = {"variant": "dynamic" if chain else "standard", "chain": chain, "context": context}
        usual = {"style": "direct", "shots": "0", "gold": "ABC"[draw]}
        return {"model": model, **factors, **usual, "draw": draw, "epoch": epoch}

    again = [told("a", "pad", draw=1), told("a", "pad"), told("b", "shuffle", epoch=1), told("b", "shuffle", draw=2)]
    rows = [*again, told("a", context="kprag"), told("a"), told("b", "shuffle"), told("c")]
    grid = grid_of_answers(rows, 2)
    assert grid.columns == [("standard", 1), ("standard · kprag", 1), ("pad", 2), ("shuffle", 3)]
    assert grid.tries == [
        [], [], ["draw 1"], ["draw 2"], ["draw 1", "try 1"], ["draw 1", "try 2"], ["draw 3", "try 1"],
    ]  # fmt: skip
    assert grid.expected == ["A", "A", "A", "B", "A", "A", "C"]
    assert [(model, [len(cell) for cell in cells]) for model, cells in grid.rows] == [
        ("a", [1, 1, 1, 1, 0, 0, 0]),
        ("b", [0, 0, 0, 0, 1, 1, 1]),
    ]
    assert grid.more == 1 and grid_of_answers(rows).more == 0
