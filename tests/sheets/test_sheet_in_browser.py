"""Sheets in Chromium, by the keyboard alone: marked, reloaded, saved, and applied to their sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import browser, page  # noqa: F401
from making_sets import make_set
from serving import scripted
from shell import mmdyn

from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.build import build
from mmdyn.data import SampleSet
from mmdyn.plugins import load
from mmdyn.sheets import audit
from perturb import perturb

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = (
    "</pre></script><script>window.ran=1</script><img src=x onerror='window.ran=1'> javascript:window.ran=1 "
    "{data} {script} ${alert(1)} \u2028\u2029\u202e`'\"<!--<script>"
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def open_sheet(page: Page, file: Path) -> None:  # noqa: F811
    page.goto(file.resolve().as_uri())


def press(page: Page, keys: str) -> None:  # noqa: F811
    for key in keys.split():
        page.keyboard.press(key)


def marked(page: Page) -> list[str | None]:  # noqa: F811
    return [card.get_attribute("data-label") for card in page.locator("article").all()]


def current(page: Page) -> str:  # noqa: F811
    return str(page.evaluate("document.activeElement.closest('article')?.getAttribute('aria-label') ?? ''"))


def saved(page: Page, file: Path, keys: str = "s") -> list[dict[str, Any]]:  # noqa: F811
    """The lines that the sheet saves when a key is pressed."""
    with page.expect_download() as download:
        press(page, keys)
    assert download.value.suggested_filename.endswith(".jsonl")
    download.value.save_as(file)
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def says(**reply: Any) -> str:
    return json.dumps(reply, ensure_ascii=False)


def translated(folder: Path) -> SampleSet:
    """Three questions in Chinese, of which the second says what the first does."""
    rows = [open_ended(f"q{n}", question=f"What is question {n} about?", answer=f"Thing {n}") for n in range(3)]
    answers = [
        {"match": f"question {n}", "reply": says(texts=[f"第 {n} 题问的是什么？", f"事物 {n}"])} for n in range(3)
    ]
    model = scripted(folder, *answers)
    settings = load("steps", "translate").Settings(unchecked=True)
    return build("translate", write_set(folder / "en", rows), folder / "zh", settings, model=model, quiet=True)


def test_a_translated_set_is_marked_by_keys_and_applied(page: Page, tmp_path: Path) -> None:  # noqa: F811
    made = translated(tmp_path)
    done = mmdyn("data", "audit", made.folder, "-o", tmp_path / "sheet.html", "--review")
    assert done.returncode == 0, done.stderr
    open_sheet(page, tmp_path / "sheet.html")
    assert page.locator("#question").inner_text() == "Does each translation ask the same, in good language?"
    first = page.locator("article").first.locator("section")
    assert "What is question 0 about?" in first.nth(0).inner_text() and "第 0 题" in first.nth(1).inner_text()
    press(page, "1")
    assert current(page) == "1 of 3" and marked(page) == ["", "", ""], "nothing is marked that was not looked at"
    press(page, "2 a c n")
    page.keyboard.type("wrong term: 术语 1 2 j k r")
    press(page, "Escape j 1 k j j")
    assert current(page) == "3 of 3" and marked(page) == ["reject", "keep", ""]
    press(page, "u")
    assert current(page) == "3 of 3", "the first that is not marked"
    page.locator("#by").focus()
    page.keyboard.type("Li Wei")
    page.reload()
    assert marked(page) == ["reject", "keep", ""] and page.locator("#told").inner_text() == "2 of 3 marked"
    assert page.locator("#by").input_value() == "Li Wei" and page.locator("input:checked").count() == 2
    lines = saved(page, tmp_path / "labels.jsonl")
    assert [list(line) for line in lines] == [
        ["set", "parent_set", "id", "attempt", "digest", "label", "by", "failed", "note"],
        ["set", "parent_set", "id", "attempt", "digest", "label", "by"],
    ]
    assert lines[0]["failed"] == ["meaning", "names"] and lines[0]["note"] == "wrong term: 术语 1 2 j k r"
    assert lines[0]["parent_set"] == str((tmp_path / "en").resolve()) and lines[0]["by"] == "Li Wei"
    assert "saved labels-Li-Wei.jsonl" in page.locator("#told").inner_text()
    done = mmdyn("data", "apply", tmp_path / "labels.jsonl", made.folder, "-o", tmp_path / "clean")
    assert done.returncode == 0, done.stderr
    clean = SampleSet(tmp_path / "clean")
    assert [sample.id for sample in clean] == ["q1-zh", "q2-zh"]
    assert [item.reason for item in clean.dropped()] == ["people rejected it (1 of 1: meaning, names)"]


def test_a_screened_set_shows_its_funnel_and_what_was_refused(page: Page, tmp_path: Path) -> None:  # noqa: F811
    data = picture(200, 150, text="7")
    rows = [
        choice("good", images=(image_ref(data),)),
        choice("other", question="What is 3 + 1?", fields={"subfield_unsure": "yes"}),
        choice("cut", question="?"),
    ]
    made = build("screen", write_set(tmp_path / "raw", rows, images=[data]), tmp_path / "sound", quiet=True)
    assert [sample.id for sample in made] == ["good", "other"]
    assert audit(made, tmp_path / "sheet.html") == 3, "one that was refused is among them"
    open_sheet(page, tmp_path / "sheet.html")
    assert page.locator("article", has_text="cut").count() == 1 and page.locator("fieldset label").count() == 4 * 3
    funnel = page.locator("#funnel")
    assert "screen 3 → 2" in funnel.locator("summary").inner_text() and not funnel.locator("table").is_visible()
    press(page, "Tab Enter")
    assert funnel.locator("table").is_visible() and "refused" in funnel.inner_text()
    assert audit(made, tmp_path / "sheet.html", review=True) == 2, "a review sheet holds what is in the set"
    open_sheet(page, tmp_path / "sheet.html")
    page.locator("article").first.filter(has_text="other").wait_for()  # a model was unsure about it
    press(page, "j ArrowRight r ArrowLeft 1 0")
    assert marked(page) == ["", "reject"] and current(page) == "1 of 2"
    (line,) = saved(page, tmp_path / "labels.jsonl")
    assert (line["id"], line["label"], "by" in line) == ("good", "reject", False)


def test_a_dynamic_set_is_marked_by_keys(page: Page, tmp_path: Path) -> None:  # noqa: F811
    made = perturb(make_set(tmp_path / "source"), tmp_path / "out", ops="pad,shuffle", seed=1, quiet=True)
    count = audit(made, tmp_path / "sheet.html", count=6)
    open_sheet(page, tmp_path / "sheet.html")
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
    assert page.locator("fieldset").first.is_hidden(), "keep or reject alone"
    press(page, "j 2 j 1 ?")
    assert page.locator("#keys").is_visible()
    press(page, "1 Escape u")
    assert not page.locator("#keys").is_visible() and current(page) == f"3 of {count}"
    lines = saved(page, tmp_path / "labels.jsonl")
    assert [line["label"] for line in lines] == ["reject", "keep"]
    done = mmdyn("data", "apply", tmp_path / "labels.jsonl", made.folder, "-o", tmp_path / "clean")
    assert done.returncode == 0 and done.stdout.endswith(f"{len(made) - 1} samples, 1 rejected\n"), done.stderr
    done = mmdyn("judge", tmp_path / "labels.jsonl", "--calibrate", "--judge", "embedded")
    assert done.returncode == 0 and "on 2 labelled pairs" in done.stderr


def test_a_hostile_set_runs_nothing(page: Page, tmp_path: Path) -> None:  # noqa: F811
    rows = [
        choice(f"{HOSTILE}{n}", question=HOSTILE, texts=(HOSTILE, "b", "c", "d"), fields={HOSTILE: HOSTILE})
        for n in range(2)
    ]
    source = write_set(tmp_path / "source", rows, HOSTILE)
    dynamic = perturb(source, tmp_path / "out", ops="shuffle", seed=1, name=HOSTILE, quiet=True)
    for made in (source, dynamic):
        audit(made, tmp_path / "sheet.html")
        open_sheet(page, tmp_path / "sheet.html")
        assert page.evaluate("window.ran") is None and page.locator("main img, main script, a").count() == 0
        assert page.locator("h1").text_content() == f"Audit of {HOSTILE}"
        assert HOSTILE.split("\u2028")[0] in page.locator("article").first.inner_text()
        press(page, "j 1 n")
        page.evaluate("n => document.activeElement.value = n", "<b>\u2028")
        page.evaluate(
            "document.activeElement.value += '\\ud800'; document.activeElement.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        (line,) = saved(page, tmp_path / "labels.jsonl", "Escape s")
        assert line["note"] == "<b>\u2028\ufffd" and line["id"].startswith(HOSTILE)
        done = mmdyn(
            "data", "apply", tmp_path / "labels.jsonl", made.folder, "-o", tmp_path / f"clean-{len(line['id'])}"
        )
        assert done.returncode == 0, done.stderr


def test_where_storage_is_refused_the_page_says_so(page: Page, tmp_path: Path) -> None:  # noqa: F811
    audit(write_set(tmp_path / "set", [choice("q1")]), tmp_path / "sheet.html")
    body = (tmp_path / "sheet.html").read_bytes()
    policy = {"Content-Type": "text/html", "Content-Security-Policy": "sandbox allow-scripts allow-downloads"}
    page.route("http://localhost/", lambda route: route.fulfill(body=body, headers=policy))
    page.goto("http://localhost/")
    assert page.locator("#refused").is_visible()
    press(page, "j 1")
    assert marked(page) == ["keep"] and saved(page, tmp_path / "labels.jsonl")[0]["label"] == "keep"
    open_sheet(page, tmp_path / "sheet.html")
    assert page.locator("#refused").is_hidden()


@pytest.mark.slow
def test_five_hundred_samples_with_pictures(page: Page, tmp_path: Path) -> None:  # noqa: F811
    page.set_default_timeout(60_000)  # of a machine that does other things, too
    pictures = [picture(400, 300, text=str(n)) for n in range(100)]
    rows = [choice(f"q{n}", images=(image_ref(pictures[n % 100]),)) for n in range(500)]
    made = write_set(tmp_path / "set", rows, images=pictures)
    assert audit(made, tmp_path / "sheet.html", count=500) == 500
    open_sheet(page, tmp_path / "sheet.html")
    press(page, " ".join(["j 1"] * 20 + ["u"]))
    assert current(page) == "21 of 500"
    page.locator("article").nth(398).focus()
    press(page, "j 2")
    assert current(page) == "400 of 500" and page.locator("#told").inner_text() == "21 of 500 marked"
    page.wait_for_function(UNDER_THE_BAR)  # cards on the way take their heights


UNDER_THE_BAR = """() => {
  const top = document.activeElement.getBoundingClientRect().top;
  return 40 < top && top < 120;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_light_and_dark(page: Page, tmp_path: Path, scheme: Any) -> None:  # noqa: F811
    """WCAG AA: a contrast of 4.5 of every text on what is behind it."""
    audit(translated(tmp_path), tmp_path / "sheet.html")
    page.emulate_media(color_scheme=scheme)
    open_sheet(page, tmp_path / "sheet.html")
    press(page, "j 1 j 2 Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert page.evaluate(CONTRAST) >= 4.5


CONTRAST = """() => {
  const read = colour => colour.match(/[\\d.]+/g).map(Number);
  const behind = node => { for (; node; node = node.parentElement) {
    const colour = read(getComputedStyle(node).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour; } };
  const light = colour => colour.slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const least = [...document.querySelectorAll("h1, h2, p, pre, button, label, kbd, b, legend, summary, nav span")]
    .filter(node => node.checkVisibility())
    .map(node => [light(read(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a))
    .map(([high, low]) => (high + 0.05) / (low + 0.05));
  return Math.min(...least);
}"""
