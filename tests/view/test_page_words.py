"""What the pages say where there is nothing, at the end of a list, and beside a count."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient
from tables.making_runs import DYNAMIC, answer, answers, write_run

from making import blank, choice, image_ref, picture, write_set
from mmdyn import evaluate, perturb
from mmdyn.data import Dropped
from mmdyn.keys import canonical, digest, sha256
from mmdyn.record import Record, Reply
from mmdyn.view import compare, run, runs, sample, samples, set as set_page, why
from mmdyn.view._page import Filter, state_address
from mmdyn.view.index import Catalog, Index
from mmdyn.view.server import open_viewer
from mmdyn.work import FAILURE, RunFolder, SetEntry, Store


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
    text = compare.page(Catalog(tmp_path / "runs"), "", "", "", "", 1)
    (pair,) = re.findall(r">(m1 in \w+ beside m1 in \w+)</a>", text)
    assert sorted(pair.split(" beside ")) == ["m1 in one", "m1 in two"]


@pytest.mark.parametrize(
    ("address", "back"),
    [("nothing", 1), ("run/none", 1), ("run/{run}/sample/none", 2), ("run/{run}/nothing", 2), ("set/none", 1), ("static/none.js", 1)],
)  # fmt: skip
def test_what_is_not_there_leads_back(address: str, back: int, tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", answers("1"))
    client = TestClient(open_viewer(catalog, "token", 80), base_url="http://localhost")
    client.get("/?token=token")
    page = client.get(address.format(run=next(iter(catalog.runs()))))
    assert page.status_code == 404 and "<h1>There is no such page</h1>" in page.text
    main = page.text.partition("<main")[2]
    links = re.findall('href="([^"]+)">([^<]+)', main)
    assert links[-1] == ("/", "Runs and sets") and len(links) == back
    assert all(client.get(link).status_code == 200 for link, _ in links)
    assert back == 1 or links[0][1] == "The run run"


def test_a_request_and_its_reply_are_shown_as_json(tmp_path: Path) -> None:
    standard = write_set(
        tmp_path / "exam", [choice("q", question='中文 "quoted"?', images=(image_ref(picture()),))], images=[picture()]
    )
    (tmp_path / "said").write_text('{"reply": "<b>Answer: B</b>"}\n')
    made = evaluate([standard], f"scripted:{tmp_path / 'said'}", tmp_path / "runs" / "run")
    catalog = Catalog(tmp_path / "runs")
    catalog.index(name := next(iter(catalog.runs()))).refresh(None)
    with catalog.index(name).reading() as db:
        (row,) = Filter().parents(db)
    text = sample.page(catalog, name, row["token"], "", Filter())
    shown = {
        title: json.loads(unescape(found))
        for title, found in re.findall(r'aria-label="([^"]+) as JSON">(.*?)</pre>', text, re.DOTALL)
    }
    assert set(shown) == {"Request", "Reply"}
    request, (record,) = shown["Request"], made.records()
    asked = [[one["role"], one["content"]] for one in request["messages"]]
    assert request["request"] == record.request == digest([request["model"], asked, request["epoch"]])
    assert {"image": sha256(picture())} in request["messages"][-1]["content"]
    assert "base64" not in text and '中文 \\"quoted\\"?' in unescape(text) and "it was sent so" in text
    assert shown["Reply"]["text"] == "<b>Answer: B</b>" == record.reply.text


def test_a_try_that_failed_is_shown_beside_the_reply_that_came_later(tmp_path: Path) -> None:
    records = answers("1")
    catalog = opened(tmp_path / "runs", records)
    name = next(iter(catalog.runs()))
    failed = replace(records[0], reply=Reply(error="the server said 503"))
    with Store(tmp_path / "runs" / "run" / "records") as store:
        store.put(FAILURE, f"{failed.key}:1", canonical(failed))
    with catalog.index(name).reading() as db:
        (row,) = Filter().parents(db)
    text = sample.page(catalog, name, row["token"], "", Filter())
    assert "A try that failed" in text and "the server said 503" in text


def test_what_the_judge_refused_and_what_does_not_apply_stand_apart(tmp_path: Path) -> None:
    samples = [choice("q"), blank("b", question="____ and ____ are prime.", answer=(("2",), ("3",)))]
    standard = write_set(tmp_path / "exam", samples, "exam")
    made = perturb(standard, tmp_path / "varied", ops="shuffle,pad", seed=1, judge="embedded", quiet=True)
    file = made.folder / "dropped.jsonl"
    refused = Dropped("q~shuffle~9", "q", "shuffle", 9, 1, "rejected", "the answer changed (B)")
    again = Dropped("q~shuffle~8", "q", "shuffle", 8, 1, "redrawn", "the answer changed (C)")
    file.write_bytes(file.read_bytes() + b"".join(canonical(one) + b"\n" for one in (refused, again)))
    catalog = Catalog(tmp_path)
    name = next(name for name, folder in catalog.sets().items() if folder.name == "varied")
    text = set_page.page(catalog, name, 1, "")
    heads = re.findall(r'<th class="num">([^<]+)</th>', text)
    assert heads == ["In the set", "Not applicable", "Refused by the judge", "Refused, then drawn again", "Accepted of those judged"]  # fmt: skip
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr><td><a.*?</tr>", text, re.DOTALL)]
    assert [row[:7] for row in rows] == [["shuffle", "1", "1", "1", "1", "50", "%"], ["pad", "0", "2", "0", "0", "-"]]
    sections = dict(re.findall(r"<details><summary>([^<:]+):[^<]*</summary>(.*?)</details>", text, re.DOTALL))
    assert "the answer changed" in sections["Refused by the judge"]
    assert "the answer changed" not in sections["Not applicable"]
    assert "there are no options to shuffle" in sections["Not applicable"]
    targets = re.findall(r'href="#([^"]+)"', text.partition("<main")[2])
    assert targets and all(f'id="{target}"' in text for target in targets)


@pytest.mark.parametrize(("finish", "told"), [("likelihood", True), ("stop", False)])
def test_what_options_weighed_and_how_a_reply_came_are_told(finish: str, told: bool, tmp_path: Path) -> None:
    reply = Reply(
        "A", finish, logprobs=(-0.25, -1.5, -2, -3), made=1_700_000_000, cached=True, attempts=3, changed="JPEG"
    )
    catalog = opened(tmp_path / "runs", [replace(answer("p", 1.0), reply=reply)])
    name = next(iter(catalog.runs()))
    with catalog.index(name).reading() as db:
        (row,) = Filter().parents(db)
    text = sample.page(catalog, name, row["token"], "", Filter())
    assert "2023-11-14 22:13 UTC, from the cache · 3 attempts · sent otherwise: JPEG" in text
    assert ("Log-probabilities: A -0.25, B -1.50, C -2.00, D -3.00" in text) == told
