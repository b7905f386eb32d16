"""Runs of several machines become one that goes on like any other."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import contents, evaluated, many_samples, typed
from serving import script, serve
from shell import mmdyn

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.run import merge_runs
from mmdyn.tables import report
from mmdyn.testing import write_script
from mmdyn.work import FAILURE, RECORD, Reader, RunConfig, RunFolder, Store

ALL: dict[str, Any] = {"modes": ["standard", "kprag"], "styles": ["direct", "cot"], "draws": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sets, and two models that are one script under two names."""
    place = tmp_path_factory.mktemp("machines")
    many_samples(place / "first", 10)
    source = many_samples(place / "made", 12)
    samples = [msgspec.structs.replace(sample, question=f"Now: {sample.question}") for sample in source]
    from making import picture, write_set

    write_set(place / "second", samples, "second", images=[picture(text=str(number)) for number in range(3)])
    write_script(place / "a.jsonl", {"match": "Question 3", "reply": "Answer: C"}, "Answer: B")
    write_script(place / "b.jsonl", "Answer: A")
    return place


def run(folder: Path, sets: str, models: str, out: Path, **settings: Any) -> RunFolder:
    given = [folder / name for name in sets.split()]
    return evaluated(given, [f"scripted:{folder}/{name}.jsonl" for name in models.split()], out, **{**ALL, **settings})


def summary(run: RunFolder) -> bytes:
    return msgspec.json.encode(report(run))


@pytest.mark.parametrize(
    "parts",
    [
        [("first second", "a"), ("first second", "b")],
        [("first", "a b"), ("second", "a b")],
        [("first second", "a"), ("first", "b"), ("second", "b")],
        [("first second", "a b"), ("first second", "b")],
    ],
)
def test_parts_of_a_matrix_become_the_whole_of_it(folder: Path, tmp_path: Path, parts: list[tuple[str, str]]) -> None:
    whole = run(folder, "first second", "a b", tmp_path / "whole" / "run")
    runs = [run(folder, *part, tmp_path / f"machine{number}") for number, part in enumerate(parts)]
    merged = merge_runs([one.folder for one in runs], tmp_path / "merged" / "run")
    assert contents(merged.run) == contents(whole) and (merged.records, merged.differing) == (len(contents(whole)), 0)
    assert summary(merged.run) == summary(whole)
    again = run(folder, "first second", "a b", tmp_path / "merged" / "run")
    assert again.config == whole.config and contents(again) == contents(whole)


def test_conditions_come_together_and_what_is_missing_is_asked(folder: Path, tmp_path: Path) -> None:
    plain = run(folder, "first", "a", tmp_path / "plain", modes=["standard"])
    beside = run(folder, "first second", "b", tmp_path / "beside", modes=["kprag"])
    merged = merge_runs([plain.folder, beside.folder], tmp_path / "merged").run
    assert [condition.mode for condition in merged.config.conditions] == ["standard"] * 2 + ["kprag"] * 2
    assert merged.config.planned == plain.config.planned + beside.config.planned == len(contents(merged))
    whole = run(folder, "first second", "a b", tmp_path / "whole")
    assert contents(run(folder, "first second", "a b", merged.folder)) == contents(whole)


def test_the_reply_of_the_run_named_first_stays_with_its_score(folder: Path, tmp_path: Path) -> None:
    runs = [run(folder, "first", "a", tmp_path / name) for name in ("one", "two")]
    with Reader(runs[1].records_folder) as reader:
        stored = dict(reader.items(RECORD))
    shutil.rmtree(runs[1].records_folder)
    with Store(runs[1].records_folder) as store:  # the same model answered otherwise, or was only slower, elsewhere
        for number, (key, value) in enumerate(sorted(stored.items())):
            record = msgspec.json.decode(value)
            record["reply"] |= {"text": "Answer: D"} if number < 3 else {"seconds": 99.0}
            store.put(RECORD, key, msgspec.json.encode(record))
            store.put("score:mdk12@6", key, b'{"status":"ok","value":0.25}')
    done = typed("runs", "merge", tmp_path / "one", tmp_path / "two", "-o", tmp_path / "merged")
    assert done.exit_code == 0 and done.stderr.splitlines()[0] == (
        "3 replies differ from those of a run named before, and were left out"
    )
    assert contents(tmp_path / "merged") == contents(runs[0])
    typed("runs", "merge", tmp_path / "two", tmp_path / "one", "-o", tmp_path / "other")
    assert sum(record.reply.text == "Answer: D" for record in contents(tmp_path / "other").values()) == 3


def test_failures_are_mended_by_the_answers_of_another_run(folder: Path, tmp_path: Path) -> None:
    write_script(folder / "c.jsonl", {"match": "Question 2", "error": "transient"}, "Answer: B")
    failed = evaluated(folder / "first", f"scripted:{folder}/c.jsonl,max_tries=1", tmp_path / "failed")
    assert sum(bool(record.reply.error) for record in contents(failed).values()) == 1
    merged = merge_runs([failed.folder, failed.folder], tmp_path / "merged").run
    assert contents(merged) == contents(failed)
    with Reader(merged.records_folder) as reader:
        assert len([*reader.items(FAILURE)]) == 1


def test_verdicts_of_judges_come_along(folder: Path, tmp_path: Path) -> None:
    judge = f"scripted:{script(tmp_path, 'judge.jsonl')}" if False else f"scripted:{folder}/judge.jsonl"
    write_script(folder / "judge.jsonl", '{"verdict": "right"}')
