"""A set that was moved is found by its digest; where it is not, the page says why and how to mend it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from making_views import StandIn, make_run

from making import choice, image_ref, picture, write_set
from mmdyn.view._page import Filter
from mmdyn.view.index import Catalog
from mmdyn.view.sample import page
from mmdyn.view.set import page as set_page
from perturb import perturb


@pytest.fixture
def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run in runs/, whose sets lie elsewhere than its run.json says: nowhere yet."""
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    standard = write_set(
        tmp_path / "first" / "exam", [choice("q", images=(image_ref(picture()),))], "exam", images=[picture()]
    )
    made = perturb(standard, tmp_path / "first" / "varied", ops="invert", seed=1, quiet=True)
    make_run([standard, made], tmp_path / "now" / "runs" / "run", StandIn("m", [standard, made]))
    file = tmp_path / "now" / "runs" / "run" / "run.json"
    told = json.loads(file.read_text())
    for entry in told["sets"]:
        entry["folder"] = str(tmp_path / "gone" / entry["name"])
    file.write_text(json.dumps(told))
    return tmp_path


def shown(root: Path) -> str:
    catalog = Catalog(root)
    index = catalog.index(name := next(iter(catalog.runs())))
    index.refresh(None)
    with index.reading() as db:
        (token,) = (row["token"] for row in db.execute("SELECT token FROM parents"))
    return page(catalog, name, token, "", Filter())


def in_runs(moved: Path, folder: str) -> None:
    shutil.move(moved / "first" / folder, moved / "now" / "runs" / f"renamed-{folder}")


def beside_runs(moved: Path, folder: str) -> None:
    shutil.move(moved / "first" / folder, moved / "now" / f"renamed-{folder}")


def deep(moved: Path, folder: str) -> None:
    (moved / "now" / "runs" / "a" / "b").mkdir(parents=True, exist_ok=True)
    shutil.move(moved / "first" / folder, moved / "now" / "runs" / "a" / "b" / folder)


@pytest.mark.parametrize(
    ("put", "path"), [(in_runs, "now/runs/run"), (in_runs, "now"), (beside_runs, "now/runs/run"), (deep, "now/runs")]
)
def test_a_set_is_found_by_its_digest(put: Callable[[Path, str], None], path: str, moved: Path) -> None:
    for folder in ("exam", "varied"):
        put(moved, folder)
    text = shown(moved / path)
    assert len(re.findall(r'<div class="frame"', text)) == 2 and "are not shown" not in text
    assert text.count("Prompt (as it was sent)") == 2


def test_no_wide_search_is_made_and_the_page_says_what_to_do(moved: Path) -> None:
    for folder in ("exam", "varied"):
        deep(moved, folder)
    text = shown(moved / "now" / "runs" / "run")
    (note,) = re.findall(r'<p class="note">(Pictures are not shown: .*?)</p>', text)
    assert re.fullmatch(
        r"Pictures are not shown: the set exam \(digest \w{12}…\) is no longer where run\.json says, the set"
        r" exam-dynamic \(digest \w{12}…\) is no longer where run\.json says; put what was asked beside the run or under"
        r" the folder that is shown, where it is found by its digest\.",
        note,
    )
    assert str(moved) not in note and '<div class="frame"' not in text


def test_a_set_that_was_changed_is_another_cause_than_one_that_is_gone(moved: Path) -> None:
    write_set(moved / "gone" / "exam", [choice("other")], "exam")
    beside_runs(moved, "varied")
    note = shown(moved / "now")
    assert "the set exam (digest" in note and "was changed since it was asked; put" in note
    assert "exam-dynamic (digest" not in note


def test_a_question_without_pictures_has_no_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    standard = write_set(tmp_path / "away" / "exam", [choice("q")], "exam")
    make_run([standard], tmp_path / "runs" / "deep" / "er" / "run", StandIn("m", [standard]), modes="standard")
    shutil.rmtree(tmp_path / "away")
    text = shown(tmp_path / "runs" / "deep" / "er" / "run")
    assert "are not shown" not in text and "Prompt (as it was sent)" in text


def test_what_a_set_was_made_of_is_found_beside_it(moved: Path) -> None:
    text = set_page(catalog := Catalog(moved / "first" / "varied"), next(iter(catalog.sets())), 1, "")
    assert text.count("<img class=") == 2 and "stand alone" not in text
    shutil.move(moved / "first" / "exam", moved / "far")
    shutil.rmtree(moved / "now")
    (moved / "cut").mkdir()
    shutil.move(moved / "far", moved / "cut" / "exam")
    text = set_page(catalog := Catalog(moved / "first" / "varied"), next(iter(catalog.sets())), 1, "")
    assert "The set exam that it was made of is not under the folder that is shown, nor beside this set" in text
