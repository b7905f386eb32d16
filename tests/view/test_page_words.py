"""What the pages say where there is nothing, at the end of a list, and beside a count."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tables.making_runs import DYNAMIC, answer, answers, write_run

from mmdyn.record import Record
from mmdyn.view import compare, run, runs, sample, samples, why
from mmdyn.view._page import Filter, state_address
from mmdyn.view.index import Catalog, Index
from mmdyn.view.server import open_viewer
from mmdyn.work import RunFolder, SetEntry


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def opened(folder: Path, records: list[Record]) -> Catalog:
    write_run(folder / "run", records)
    catalog = Catalog(folder)
    catalog.index(next(iter(catalog.runs()))).refresh(None)
    return catalog


def test_nothing_fits_only_where_something_was_searched(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", answers("1"))
    assert "No sets here." in runs.page(catalog, "") and "No set fits." not in runs.page(catalog, "")
    assert "No set fits." in runs.page(catalog, "zzz") and "No run fits." in runs.page(catalog, "zzz")


def test_a_run_of_which_all_is_read_is_not_being_read(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", answers("11"))
    index = catalog.index(name := next(iter(catalog.runs())))
    with index.reading() as db:
        db.execute("DELETE FROM meta WHERE name = 'report'")
        db.commit()
    assert "2 of 2 records are read so far; scores follow." in (page := runs.page(catalog, ""))
    assert "being read" not in page and "being summed up" in page
    index.read = 1
    assert "being read" in runs.page(catalog, "")
    assert "being read" not in samples.page(catalog, name, Filter())


def test_a_page_from_before_the_records_were_read_is_out_of_date_once_they_are(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "run", answers("11"))
    unread = Index(RunFolder(tmp_path / "runs" / "run")).edition
    catalog = Catalog(tmp_path / "runs")
    catalog.index(name := next(iter(catalog.runs()))).refresh(None)
    client = TestClient(open_viewer(catalog, "token", 80), base_url="http://localhost")
    assert client.get("/?token=token").is_success

    def state(address: str) -> object:
        return client.get(address).json()

    assert state(state_address(name, unread)) == {"changed": True, "read": 2}
    for page in (run.page(catalog, name), why.page(catalog, name), samples.page(catalog, name, Filter())):
        (address,) = re.findall('data-live="([^"]*)"', page)
        assert state(address) == {"changed": False, "read": 2}
    (tmp_path / "runs" / "run" / "run.json").write_text("{")
    assert client.get(address).status_code == 404
    write_run(tmp_path / "runs" / "run", [*answers("11"), *answers("10", DYNAMIC)])
    catalog.index(name).refresh(None)
    assert state(address) == {"changed": True, "read": 4}


def test_it_is_said_of_what_a_question_was_broken(tmp_path: Path) -> None:
    lost = [*answers("11"), *answers("10", DYNAMIC)]
    catalog = opened(tmp_path / "one", lost)
    assert ">broken by 1 chain<" in samples.page(catalog, next(iter(catalog.runs())), Filter())
    others = [*answers("11", model="m2"), *answers("10", DYNAMIC, model="m2")]
    catalog = opened(tmp_path / "two", lost + others)
    for asked in (Filter(), Filter(model="m2")):
        page = samples.page(catalog, next(iter(catalog.runs())), asked)
        assert ">broken 2 times, each chain counted under each model<" in page


def test_the_last_flip_says_that_no_other_follows(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", [*answers("11"), *answers("00", DYNAMIC)])
    name = next(iter(catalog.runs()))
    with catalog.index(name).reading() as db:
        first, last = (row["token"] for row in Filter().parents(db))
    assert "next flip" in sample.page(catalog, name, first, "", Filter())
    page = sample.page(catalog, name, last, "", Filter())
    assert "no flip after this" in page and "next flip" not in page


@pytest.mark.parametrize(
    ("rule", "read", "said"),
    [("letter", ["A"], "letter, confidence 0.00"), ("no_answer", None, "no_answer"), ("no_rule_match", "x", "no_rule_match")],
)  # fmt: skip
def test_a_rule_that_read_nothing_has_no_confidence(rule: str, read: object, said: str, tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", [answer("p", 0.0, rule=rule, extracted=read)])
    name = next(iter(catalog.runs()))
    with catalog.index(name).reading() as db:
        (row,) = Filter().parents(db)
    page = sample.page(catalog, name, row["token"], "", Filter())
    assert f"<dt>Rule</dt><dd>{said}</dd>" in page


def test_only_models_that_were_asked_one_set_are_offered_for_comparison(tmp_path: Path) -> None:
    quiz = (SetEntry("quiz", "quiz", "sets/quiz", "e0"),)
    for name, more in {"one": {}, "two": {}, "other": {"sets": quiz}}.items():
        write_run(tmp_path / "runs" / name, answers("11"), **more)
    text = compare.page(Catalog(tmp_path / "runs"), "", "", "", 1)
    (pair,) = re.findall(r">(m1 in \w+ beside m1 in \w+)</a>", text)
    assert sorted(pair.split(" beside ")) == ["m1 in one", "m1 in two"]
