"""Runs of several machines become one that goes on like any other."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import contents, evaluated, many_samples, typed
from serving import serve
from shell import mmdyn

from making import picture, write_set
from mmdyn.errors import InputError, UserError
from mmdyn.keys import canonical
from mmdyn.record import Reply
from mmdyn.run import merge_runs
from mmdyn.scoring.scorer import SCORING_VERSION
from mmdyn.tables import report
from mmdyn.testing import write_script
from mmdyn.work import RECORD, ModelEntry, Reader, RunFolder, SetEntry, Store

ALL: dict[str, Any] = {"modes": ["standard", "kprag"], "styles": ["direct", "cot"], "draws": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sets, and two models that are one script under two names."""
    place = tmp_path_factory.mktemp("machines")
    many_samples(place / "first", 10)
    source = many_samples(place / "made", 12)
    samples = [msgspec.structs.replace(sample, question=f"Now: {sample.question}") for sample in source]
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
    merged, differing = merge_runs([one.folder for one in runs], tmp_path / "merged" / "run")
    assert contents(merged) == contents(whole) and differing == 0
    assert summary(merged) == summary(whole)
    again = run(folder, "first second", "a b", tmp_path / "merged" / "run")
    assert again.config == whole.config and contents(again) == contents(whole)


def test_conditions_come_together_and_what_is_missing_is_asked(folder: Path, tmp_path: Path) -> None:
    plain = run(folder, "first", "a", tmp_path / "plain", modes=["standard"])
    beside = run(folder, "first second", "b", tmp_path / "beside", modes=["kprag"])
    merged = merge_runs([plain.folder, beside.folder], tmp_path / "merged")[0]
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
            store.put(f"score:mdk12@{SCORING_VERSION}", key, b'{"status":"ok","value":0.25}')
    done = typed("runs", "merge", tmp_path / "one", tmp_path / "two", "-o", tmp_path / "merged")
    assert done.exit_code == 0 and done.stderr.splitlines()[0] == (
        "3 replies differ from those of an earlier run: left out"
    )
    assert contents(tmp_path / "merged") == contents(runs[0])
    typed("runs", "merge", tmp_path / "two", tmp_path / "one", "-o", tmp_path / "other")
    assert sum(record.reply.text == "Answer: D" for record in contents(tmp_path / "other").values()) == 3


def test_failures_are_mended_by_the_answers_of_another_run(folder: Path, tmp_path: Path) -> None:
    model = f"scripted:{folder}/c.jsonl,max_tries=1"
    write_script(folder / "c.jsonl", {"match": "Question 2", "error": "transient"}, "Answer: B")
    failed = evaluated(folder / "first", model, tmp_path / "failed")
    shutil.copytree(tmp_path / "failed", tmp_path / "other")
    kept = merge_runs([failed.folder, tmp_path / "other"], tmp_path / "kept")[0]
    assert contents(kept) == contents(failed) and sum(bool(one.reply.error) for one in contents(kept).values()) == 1
    (key,) = (key for key, record in contents(failed).items() if record.reply.error)
    with Store(tmp_path / "other" / "records") as store:
        answer = msgspec.structs.replace(contents(failed)[key], reply=Reply("Answer: B"), score=None)
        store.put(RECORD, key, canonical(answer))
    mended = merge_runs([failed.folder, tmp_path / "other"], tmp_path / "mended")[0]
    assert not any(record.reply.error for record in contents(mended).values())


def test_verdicts_samples_and_expansions_come_along(folder: Path, tmp_path: Path) -> None:
    with serve(reply="hashed") as server:
        model = f"openai:fake,base_url={server.url}"
        settings: dict[str, Any] = {"judges": [f"{model},label=judge"], "contexts": ["kprag:two-turn"], "modes": ()}
        whole = evaluated([folder / "first", folder / "second"], model, tmp_path / "whole" / "run", **settings)
        parts = [evaluated(folder / name, model, tmp_path / name, **settings).folder for name in ("first", "second")]
        merged = merge_runs(parts, tmp_path / "merged" / "run")[0]
    with Reader(whole.records_folder) as one, Reader(merged.records_folder) as other:
        kinds = {kind for kind in one.kinds() if kind != "failure"}
        assert kinds == {*other.kinds()} - {"failure"} and any(kind.startswith("judged:") for kind in kinds)
        assert {"sample", "expansion", "record"} < kinds
        for kind in kinds:
            assert [key for key, _ in one.items(kind)] == [key for key, _ in other.items(kind)]
    assert merged.config.judges == whole.config.judges and contents(merged).keys() == contents(whole).keys()


def test_sets_that_lie_in_a_run_are_copied(folder: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"modes": ["standard", "dynamic"], "ops": "shuffle"}
    runs = [run(folder, "first", model, tmp_path / model, **settings) for model in "ab"]
    merged = merge_runs([one.folder for one in runs], tmp_path / "merged")[0]
    for one in runs:
        shutil.rmtree(one.folder)
    assert [merged.set_folder(entry).is_dir() for entry in merged.config.sets] == [True, True]
    assert contents(run(folder, "first", "a b", merged.folder, **settings)) == contents(merged)
    assert typed("score", merged.folder, "-q").exit_code == 0


@pytest.mark.parametrize("name", ["samples.jsonl", "dropped.jsonl"])
def test_a_damaged_set_is_not_copied(folder: Path, tmp_path: Path, name: str) -> None:
    settings: dict[str, Any] = {"modes": ["standard", "dynamic"], "ops": "shuffle"}
    runs = [run(folder, "first", model, tmp_path / model, **settings) for model in "ab"]
    [made] = [entry for entry in runs[0].config.sets if not Path(entry.folder).is_absolute()]
    file = runs[0].set_folder(made) / name
    with file.open("wb") as out:
        out.truncate(1 << 32)  # a hole, which copying would fill
    done = mmdyn("runs", "merge", *(one.folder for one in runs), "-o", tmp_path / "merged")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and str(file) in done.stderr
    assert not [*(tmp_path / "merged").rglob(name)]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"epochs": 2}, "two has other epochs than ONE: merge runs that were asked and scored alike"),
        ({"scorer": "exam@1", "limit": 4}, "two has other limit and scorer than ONE: merge runs"),
        (
            {"sets": (SetEntry("many", "many", "/x", "another"),)},
            "two has another many among its sets than a run before",
        ),
        ({"models": (ModelEntry("scripted:a.jsonl", {}),)}, "two has another scripted:a.jsonl among its models than a"),
        ({"knowledge": {"layout": {"k": 9}}}, "the runs laid other knowledge beside their questions: merge those that"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(
    folder: Path, tmp_path: Path, fields: dict[str, Any], problem: str
) -> None:
    first = run(folder, "first", "a", tmp_path / "one")
    shutil.copytree(first.folder, tmp_path / "two")
    second = RunFolder(tmp_path / "two")
    first.write_config(msgspec.structs.replace(first.config, knowledge={"layout": {"k": 3}}))
    same = {"knowledge": first.config.knowledge}
    second.write_config(msgspec.structs.replace(second.config, **{**same, **fields}))
    done = mmdyn("runs", "merge", first.folder, second.folder, "-o", tmp_path / "out")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert problem.replace("ONE", str(first.folder)) in done.stderr
    assert not (tmp_path / "out").exists()


def test_where_it_goes_and_what_it_is_made_of(folder: Path, tmp_path: Path) -> None:
    one = run(folder, "first", "a", tmp_path / "one")
    with pytest.raises(UserError, match="one run alone cannot be merged: name two or more"):
        merge_runs([one.folder], tmp_path / "out")
    with pytest.raises(UserError, match="one holds a run already: choose another -o"):
        merge_runs([one.folder, one.folder], one.folder)
    with pytest.raises(InputError, match=r"no run.json in it, so it is no run"):
        merge_runs([one.folder, folder / "first"], tmp_path / "out")


def test_the_same_command_goes_on_and_takes_what_is_new(folder: Path, tmp_path: Path) -> None:
    runs = [run(folder, "first", model, tmp_path / model, n=6) for model in "ab"]
    words = ("runs", "merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "out")
    assert mmdyn(*words).returncode == 0
    written, held = (tmp_path / "out" / "run.json").read_bytes(), contents(tmp_path / "out")
    with Reader(tmp_path / "out" / "records") as reader:
        first, _ = next(reader.items(RECORD))
    with sqlite3.connect(tmp_path / "out" / "records" / "main.sqlite") as store:
        store.execute("DELETE FROM records WHERE key = ?", (first,))  # as if it had been killed before
    assert mmdyn(*words).returncode == 0
    assert (tmp_path / "out" / "run.json").read_bytes() == written and contents(tmp_path / "out") == held
    other = mmdyn("runs", "merge", tmp_path / "b", tmp_path / "a", "-o", tmp_path / "out")
    assert (other.returncode, "holds a run already: choose another -o" in other.stderr) == (2, True)
    runs[0].write_config(msgspec.structs.replace(runs[0].config, planned=2 * runs[0].config.planned))
    changed = mmdyn(*words)
    assert (changed.returncode, "holds a run that was changed since these were merged" in changed.stderr) == (2, True)


def test_a_set_that_claims_to_lie_outside_of_its_run_is_not_copied(folder: Path, tmp_path: Path) -> None:
    runs = [run(folder, "first", model, tmp_path / model) for model in "ab"]
    (tmp_path / "secret").mkdir()
    for one in runs:
        entry = msgspec.structs.replace(one.config.sets[0], folder="../secret")
        one.write_config(msgspec.structs.replace(one.config, sets=(entry,)))
    merge_runs([one.folder for one in runs], tmp_path / "deep" / "merged")
    assert [place.name for place in (tmp_path / "deep").iterdir()] == ["merged"]
