"""A run's records as flat files: the same rows in each, whole texts, and nothing that a spreadsheet runs."""

from __future__ import annotations

import csv
import json
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import evaluated
from serving import script

from making import choice, multi, write_set
from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.record import Condition, ContextInfo, Record, Reply, Score, Usage
from mmdyn.run import export, look
from mmdyn.run.recorded import COLUMNS
from mmdyn.run.runs import summarise_run
from mmdyn.work import Expansion, RunFolder, Store

STANDS_ELSEWHERE = {"condition", "fields", "text", "usage", "value"}
"""Fields of records that are columns of another name, or several."""


def test_every_field_of_a_record_is_a_column() -> None:
    held = (Record, Condition, Reply, Usage, Score)
    fields = {name for kind in held for name in kind.__struct_fields__}
    assert fields - STANDS_ELSEWHERE - COLUMNS.keys() - {"reply"} == set()


LONG = '=HYPERLINK("http://x")' + " and so on" * 5000 + "\nAnswer: B"


def make_run(folder: Path) -> RunFolder:
    samples = [
        choice("=1+1", question="Question 0?", fields={"year": 2020, "level": "hard", "rate": 1}),
        choice("b", question="@Question 1?", fields={"year": "none", "rate": 0.5}),
        multi("c", question="Question 2?"),
        choice("d", question="Question 3?"),
    ]
    write_set(folder / "set", samples)
    lines = (
        {"match": "Question 0?", "reply": LONG},
        {"match": "Question 1?", "reply": "Answer: B"},
        {"match": "Question 2?", "reply": "-1, perhaps"},
        {"match": "Question 3?", "error": "transient"},
    )
    model = f"scripted:{script(folder, *lines)},max_tries=1"
    return evaluated(folder / "set", model, folder / "run")


def read(file: Path) -> list[dict[str, Any]]:
    if file.suffix == ".jsonl":
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    elif file.suffix == ".parquet":
        rows = pytest.importorskip("pyarrow.parquet").read_table(file).to_pylist()
    else:
        with file.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
    return sorted(rows, key=lambda row: row["sample"].lstrip("'"))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_every_record_is_a_row_with_its_types(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"out.{ending}"
    assert export(make_run(tmp_path), file, samples=True) == 4
    first, second, third, fourth = read(file)
    assert (first["sample"], first["reply"], first["score"], first["mode"]) == ("=1+1", LONG, 1.0, "standard")
    assert (first["field.year"], second["field.year"], second["field.rate"]) == ("2020", "none", 0.5)
    assert isinstance(first["field.rate"], float) and third.get("field.rate") is None
    assert json.loads(third.get("extracted") or "null") in (None, [])
    assert (fourth["status"], fourth["error"], fourth.get("score")) == ("failed", "a failure scripted in replies.jsonl", None)  # fmt: skip
    assert json.loads(first["answer"]) == ["B"] and first["question"] == "Question 0?"
    assert [option["label"] for option in json.loads(first["options"])] == ["A", "B", "C", "D"]


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_nothing_of_a_record_is_left_out(tmp_path: Path, ending: str) -> None:
    run, file = make_run(tmp_path), tmp_path / f"out.{ending}"
    usage = Usage(prompt_tokens=9, completion_tokens=4, reasoning_tokens=2, cached_tokens=1)
    reply = Reply(
        "B", "stop", usage, 2, 0.5, "late", True, "aloud", (-0.5, -1.25), (1, 3), ((-9.0, 2.0),), "smaller", 0.25, "EUR"
    )
    score = Score("ok", 0.75, ["B"], "declared", (1.0, 0.5), 0.5, chance=0.25)
    made = {"key": "zz", "reply": reply, "group": "g", "points": 2.0, "draw": 3, "epoch": 4, "expansion": "ee"}
    made |= {"beside": ContextInfo(("Ice", "Water"), 2, 1, True), "examples": ("b", "c")}
    made |= {"condition": Condition(shots="2:random")}
    record = msgspec.structs.replace(next(run.records()), score=score, **made)
    with Store(run.records_folder) as store:
        store.put("record", "zz", canonical(record))
        store.put("expansion", "ee", canonical(Expansion("m", Reply("Ice floats."))))
    export(run, file)
    (row,) = (row for row in read(file) if row["key"] == "zz")
    whole: dict[str, Any] = {"mode": record.condition.mode, "reply": reply.text, "score": score.value}
    for part in (record, record.condition, reply, usage, score):
        whole |= {name: getattr(part, name) for name in part.__struct_fields__ if name not in whole}
    for name in ("condition", "usage", "fields", "text", "value"):  # those that are columns of their own, or renamed
        del whole[name]
    whole["expansion"] = "Ice floats."
    beside = '{"cut":false,"hits":1,"leaks":true,"own":2,"points":["Ice","Water"]}'
    as_json = {"beside": beside, "extracted": '["B"]', "parts": "[1.0,0.5]", "logprobs": "[-0.5,-1.25]", "option_tokens": "[1,3]", "vocabulary": "[[-9.0,2.0]]", "examples": '["b","c"]'}  # fmt: skip
    assert list(COLUMNS) == [name for name in row if not name.startswith("field.")] and set(COLUMNS) == set(whole)
    for name, value in (whole | as_json).items():
        assert row[name] == (str(value) if ending == "csv" else value), name


def test_a_csv_is_safe_for_spreadsheets_and_cuts_nothing(tmp_path: Path) -> None:
    export(make_run(tmp_path), tmp_path / "out.csv", samples=True)
    first, second, third, _ = read(tmp_path / "out.csv")
    assert first["sample"] == "'=1+1" and first["reply"] == f"'{LONG}"
    assert second["question"] == "'@Question 1?" and third["reply"] == "'-1, perhaps"
    export(RunFolder(tmp_path / "run"), tmp_path / "bare.csv")
    assert list(read(tmp_path / "bare.csv")[0]) == [*COLUMNS, "field.level", "field.rate", "field.year"]


def test_an_unknown_ending_or_place_is_explained_and_an_older_file_stays(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with pytest.raises(UserError, match=r"out\.xlsx ends in none of \.jsonl, \.parquet, \.csv"):
        export(run, tmp_path / "out.xlsx")
    with pytest.raises(UserError, match=r"cannot write .*: choose another place"):
        export(run, tmp_path / "replies.jsonl" / "out.csv")
    (tmp_path / "out.csv").write_text("older")
    with Store(run.records_folder) as store:
        store.put("record", "zz", b'{"key":"zz"}')
    with pytest.raises(UserError, match="holds a record that this version of mmdyn cannot read"):
        export(run, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "older" and not list(tmp_path.glob(".out*"))


@pytest.mark.slow
def test_memory_stays_flat(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    kept = msgspec.json.encode(next(record for record in run.records() if record.sample == "b"))
    peaks = list[int]()
    for count in (1500, 4000):
        with Store(run.records_folder) as store:
            for number in range(count):
                store.put("record", f"{number:08}", kept)
        tracemalloc.start()
        export(run, tmp_path / "out.csv")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_glance_counts_what_was_answered_and_what_failed(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    found = summarise_run(run.folder)
    assert (found.state, found.planned, found.answered, found.failed) == ("not finished", 4, 3, 1)
    assert (found.models, found.sets, found.modes) == (["scripted:replies.jsonl"], ["small"], ["standard"])
    with Store(run.records_folder):
        assert summarise_run(run.folder).state == "going on"
    script(tmp_path, "Answer: B")
    evaluated(tmp_path / "set", "baseline:majority", tmp_path / "deep" / "er" / "whole")
    assert summarise_run(tmp_path / "deep" / "er" / "whole").state == "finished"
    assert [one.folder for one in look(tmp_path)] == [str(tmp_path / "deep" / "er" / "whole"), str(run.folder)]
    assert [one.folder for one in look(run.folder)] == [str(run.folder)]


def test_what_cannot_be_read_is_listed_beside_the_rest(tmp_path: Path) -> None:
    evaluated(make_run(tmp_path).folder.parent / "set", "baseline:majority", tmp_path / "whole")
    for name, text in (("foreign", '{"job": 1}'), ("broken", "{"), ("store", (tmp_path / "run/run.json").read_text())):
        (tmp_path / name / "records").mkdir(parents=True)
        (tmp_path / name / "run.json").write_text(text)
    (tmp_path / "store" / "records" / "main.sqlite").write_text("no store " * 200)
    (tmp_path / "mute").mkdir()
    (tmp_path / "mute" / "run.json").symlink_to("/proc/self/mem")  # there, and an error of the system's to read
    found = {one.name: one for one in look(tmp_path)}
    assert {name: one.state for name, one in found.items()} == {
        **dict.fromkeys(("broken", "foreign", "mute", "store"), "unreadable"),
        "run": "not finished",
        "whole": "finished",
    }
    for name, problem in (
        ("broken", "run.json: not valid JSON"),
        ("foreign", "run.json: "),
        ("mute", "run.json: cannot be read (Input/output error)"),
        ("store", "main.sqlite: is no store, or a damaged one"),
    ):
        assert problem in found[name].problem
    assert found["whole"].problem == ""
