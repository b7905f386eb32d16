"""VLMEvalKit's prediction files become runs: rows find their samples, and what a file lost is told."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from shell import mmdyn

from making import blank, choice, multi, write_set
from mmdyn.data import SampleSet, convert, load
from mmdyn.errors import InputError, UserError
from mmdyn.run import score, score_predictions
from mmdyn.sample import Option, Sample
from mmdyn.work import FAILURE, RECORD, Reader, RunFolder, Store
from perturb import perturb

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'mmdyn[xlsx]'")

Rows = list[dict[str, Any]]


def as_tsv(file: Path, rows: Rows) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0], delimiter="\t", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)


def as_json(file: Path, rows: Rows) -> None:
    file.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")


def as_xlsx(file: Path, rows: Rows) -> None:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(file)


WRITERS: dict[str, Callable[[Path, Rows], None]] = {"tsv": as_tsv, "json": as_json, "xlsx": as_xlsx}


def exported(source: SampleSet, folder: Path) -> Rows:
    """The rows of the set's TSV, as VLMEvalKit reads them: without pictures, an integer for an index."""
    convert(source.folder, folder / f"{source.folder.name}.tsv")
    with (folder / f"{source.folder.name}.tsv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t"))
    plain = ({name: cell for name, cell in row.items() if name != "image"} for row in rows)
    return [{**row, "index": int(row["index"])} for row in plain]


def predicted(file: Path, rows: Rows, predictions: list[Any]) -> Path:
    found = [{**row, "prediction": text} for row, text in zip(rows, predictions, strict=True)]
    file.parent.mkdir(exist_ok=True)
    WRITERS[file.suffix[1:]](file, found)
    return file


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return write_set(tmp_path / "exam", [choice("a"), multi("m", "AC"), blank("k"), choice("b", answer="A")], "exam")


@pytest.mark.parametrize("kind", WRITERS)
def test_rows_become_records_as_if_we_had_asked(source: SampleSet, tmp_path: Path, kind: str) -> None:
    rows = exported(source, tmp_path)
    order = [3, 0, 2, 1]
    texts = ["A", "Answer: B", "Failed to obtain answer via API. ", "A, C"]
    file = predicted(tmp_path / f"GPT4o_exam.{kind}", [rows[place] for place in order], texts)
    run, (tally,) = score_predictions([(file, source)], tmp_path / "run")
    found = {record.sample: record for record in run.records()}
    values = {name: record.score and record.score.value for name, record in found.items()}
    assert values == {"a": 1.0, "m": 1.0, "k": None, "b": 1.0}
    assert {record.model for record in found.values()} == {"GPT4o"}
    assert found["a"].condition.style == "vlmevalkit" and found["a"].reply.text == "Answer: B"
    assert found["k"].reply.error == "VLMEvalKit had no answer (Failed to obtain answer via API.)"
    assert str(tally) == f"{file}, exam: 3 answered; 1 with VLMEvalKit's failure string in the answer's place"
    assert [change.after for change in score(run, "strict")] == []


def test_rows_without_prediction_and_rows_of_nobody_are_counted(source: SampleSet, tmp_path: Path) -> None:
    rows = exported(source, tmp_path)
    rows = [rows[0], rows[0], {**rows[1], "question": "Another one?"}, rows[2], {**rows[3], "id": "zzz", "index": 9}]
    file = predicted(tmp_path / "m_exam.json", rows, ["B", "C", "AC", None, "A"])
    run, (tally,) = score_predictions([(file, source)], tmp_path / "run")
    assert dict(tally.counts) == {"twice": 1, "answered": 1, "other": 1, "absent": 2, "empty": 1, "unknown": 1}
    errors = {record.sample: record.reply.error for record in run.records()}
    none = "no row of the prediction file is this sample's"
    assert errors == {"a": "", "m": none, "k": "no prediction in row 5", "b": none}


def without(rows: Rows, *columns: str) -> Rows:
    return [{name: cell for name, cell in row.items() if name not in columns} for row in rows]


def test_without_ids_the_index_of_our_own_file_is_the_place_where_a_question_can_tell(tmp_path: Path) -> None:
    samples = [choice("a"), multi("m", "AC"), blank("k"), choice("b", question="What else?", answer="A")]
    source = write_set(tmp_path / "exam", samples, "exam")
    rows, answers = exported(source, tmp_path)[::-1], ["A", "4", "AC", "B"]
    ours, theirs = without(rows, "id"), without(rows, "id", "mmdyn")
    run, _ = score_predictions([(predicted(tmp_path / "m_exam.tsv", ours, answers), source)], tmp_path / "run")
    assert {record.sample: record.reply.text for record in run.records()} == {"a": "B", "m": "AC", "k": "4", "b": "A"}
    for rows in (theirs, without(ours, "question")):
        with pytest.raises(UserError, match=r"no row of .*m_exam.json is of a sample of .*exam: give the set that"):
            score_predictions([(predicted(tmp_path / "m_exam.json", rows, answers), source)], tmp_path / "other")
    alike = write_set(tmp_path / "alike", [choice("a"), multi("m", "AC"), choice("c")], "alike")
    rows = without(exported(alike, tmp_path), "id")
    file = predicted(tmp_path / "m_alike.tsv", rows, ["B", "AC", "B"])
    run, (tally,) = score_predictions([(file, alike)], tmp_path / "alike-run")
    assert +tally.counts == {"answered": 1, "unknown": 2, "absent": 2}, "two ask the same, so that neither is believed"


ALIKE = "Which one is shown?"


def benchmark(folder: Path, indexes: list[str], questions: list[str], **more: str) -> SampleSet:
    """A set of a TSV as VLMEvalKit has it, in which the right answers go round."""
    cells = {"A": "one", "B": "two", "C": "three", "D": "four", **more}
    rows = [
        {"index": index, "question": question, **cells, "answer": "ABCD"[place % 4]}
        for place, (index, question) in enumerate(zip(indexes, questions, strict=True))
    ]
    as_tsv(folder / "MMBench.tsv", rows)
    return convert(folder / "MMBench.tsv", folder / "MMBench")


def told_by(source: SampleSet, folder: Path, indexes: list[Any], kind: str, **more: str) -> Path:
    """What VLMEvalKit writes of it, all right, in another order."""
    rows = [
        {"index": index, "question": sample.question.removeprefix(more.get("hint", "")).strip(), **more,
         "prediction": str(sample.answer[0])}
        for index, sample in zip(indexes, source, strict=True)
    ]  # fmt: skip
    WRITERS[kind](folder / f"m_MMBench.{kind}", rows[::-1])
    return folder / f"m_MMBench.{kind}"


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("first", [0, 1, 241])
@pytest.mark.parametrize("alike", [True, False])
def test_a_benchmarks_own_index_is_no_place(tmp_path: Path, kind: str, first: int, alike: bool) -> None:
    indexes = [*range(first, first + 10)]
    questions = [ALIKE if alike else f"Which is number {number}?" for number in indexes]
    source = benchmark(tmp_path, [*map(str, indexes)], questions)
    run, (tally,) = score_predictions([(told_by(source, tmp_path, indexes, kind), source)], tmp_path / "run")
    assert [record.score and record.score.value for record in run.records()] == [1.0] * 10
    assert +tally.counts == {"answered": 10}


def test_a_benchmarks_hint_is_part_of_its_question_and_no_knowledge(tmp_path: Path) -> None:
    source = benchmark(tmp_path, ["0", "1"], [ALIKE, ALIKE], hint="Look at the left.")
    assert source[0].question == f"Look at the left.\n{ALIKE}"
    file = told_by(source, tmp_path, [0, 1], "xlsx", hint="Look at the left.")
    run, (tally,) = score_predictions([(file, source)], tmp_path / "run")
    assert {record.condition.mode for record in run.records()} == {"standard"} and tally.counts["answered"] == 2


def test_an_index_that_pandas_read_as_a_number_is_the_one_id_that_it_can_mean(tmp_path: Path) -> None:
    source = benchmark(tmp_path, ["001", "010", "100"], [ALIKE] * 3)
    run, _ = score_predictions([(told_by(source, tmp_path, [1, 10, 100], "xlsx"), source)], tmp_path / "run")
    assert [record.score and record.score.value for record in run.records()] == [1.0] * 3
    two = write_set(tmp_path / "two", [choice("01"), choice("1", answer="A"), choice("001")], "two")
    file = predicted(tmp_path / "m_two.json", [{"index": 1}, {"index": "001"}], ["A", "B"])
    run, _ = score_predictions([(file, two)], tmp_path / "second")
    assert {record.sample: record.reply.text for record in run.records()} == {"01": "", "1": "A", "001": "B"}


def test_rows_of_another_order_are_refused_though_some_fit_by_chance(tmp_path: Path) -> None:
    questions = [ALIKE if number % 5 == 0 else f"Which is number {number}?" for number in range(20)]
    source = benchmark(tmp_path, [*map(str, range(20))], questions)
    file = told_by(source, tmp_path, [*range(5, 20), *range(5)], "json")
    with pytest.raises(UserError, match=r"16 of 20 rows of .*json have another question than their sample of .*MMB"):
        score_predictions([(file, source)], tmp_path / "run")


def test_a_set_may_come_back_in_several_files(source: SampleSet, tmp_path: Path) -> None:
    rows = exported(source, tmp_path)
    files = [predicted(tmp_path / "one" / "m_exam.json", rows[:3], ["B", "AC", "4"]), predicted(tmp_path / "two" / "m_exam.json", rows[3:], ["A"])]  # fmt: skip
    run, tallies = score_predictions([(file, source) for file in files], tmp_path / "run")
    assert [record.reply.text for record in sorted(run.records(), key=lambda record: record.sample)] == ["B", "A", "4", "AC"]  # fmt: skip
    assert run.config.planned == 4 and [tally.counts["absent"] for tally in tallies] == [1, 3]


def test_what_a_spreadsheet_did_is_told(source: SampleSet, tmp_path: Path) -> None:
    file = predicted(tmp_path / "m_exam.xlsx", exported(source, tmp_path), ["=1+1", "A" * 40_000, 4.0, "None"])
    run, (tally,) = score_predictions([(file, source)], tmp_path / "run")
    found = {record.sample: record.reply for record in run.records()}
    assert (found["a"].text, found["k"].text, found["b"].text) == ("=1+1", "4", "None")
    assert (len(found["m"].text), found["m"].finish_reason) == (32_767, "length")
    assert "1 predictions that the spreadsheet holds as formulas, read as they were written" in str(tally)
    assert "1 predictions that the spreadsheet holds as numbers" in str(tally)
    assert "1 predictions of 32,767 characters, cut off there by the spreadsheet" in str(tally)


def test_options_are_named_by_the_letters_of_the_tsv(tmp_path: Path) -> None:
    options = (Option("1", "one"), Option("2", "two"))
    sample = Sample("a", "Which is even?", "single_choice", ("2",), options=options)
    source = write_set(tmp_path / "exam", [sample], "exam")
    file = predicted(tmp_path / "m_exam.tsv", exported(source, tmp_path), ["B"])
    run, _ = score_predictions([(file, source)], tmp_path / "run")
    assert [record.score and record.score.value for record in run.records()] == [1.0]
    assert score(run, "strict") == []


def test_a_standard_and_a_dynamic_set_make_one_run_with_a_contrast(tmp_path: Path) -> None:
    source = write_set(tmp_path / "exam", [choice(name) for name in "abc"], "exam")
    dynamic = perturb(source, tmp_path / "dynamic", ops="shuffle", quiet=True)
    files = [
        predicted(tmp_path / name / f"m_{opened.name}.json", exported(opened, tmp_path), ["B"] * len(opened))
        for name, opened in (("one", source), ("two", dynamic))
    ]
    words = [("--predictions", file, "--set", one.folder) for file, one in zip(files, (source, dynamic), strict=True)]
    done = mmdyn("score", *words[0], *words[1], "-o", tmp_path / "run")
    assert done.returncode == 0 and "3 answered" in done.stderr
    told = json.loads(mmdyn("report", tmp_path / "run", "--json").stdout)
    changes = [row for part in told["parts"] if part["kind"] == "contrasts" for row in part["rows"]]
    assert {row["factors"]["a"]: row["factors"]["b"] for row in changes} and told["complete"]


def test_the_command_beside_the_old_one(source: SampleSet, tmp_path: Path) -> None:
    file = predicted(tmp_path / "m_exam.tsv", exported(source, tmp_path), ["B", "AC", "4", ""])
    done = mmdyn("score", "--predictions", file, "--set", source.folder, "--model", "mine")
    assert done.returncode == 1, "one has no prediction"
    assert "3 answered; 1 without a prediction" in done.stderr and "(mine, exam)" in done.stdout
    again = mmdyn("score", tmp_path / "m_exam-run", "--policy", "strict")
    assert again.returncode == 0 and "0 scores changed" in again.stderr
    for wrong in ([], ["--predictions", file], ["x", "--model", "y"], ["x", "--predictions", file, "--set", "y"]):
        assert mmdyn("score", *wrong).returncode == 2


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("m.xlsx", b"no zip", "is no spreadsheet, or a damaged one"),
        ("m.json", b'{"a": 1}', "is no list of rows"),
        ("m.json", b"[{", "is no JSON"),
        ("m.json", b'[{"index": 1}]', "it has no column 'prediction'"),
        ("m.tsv", b"prediction\nA\n", "it has no column 'index'"),
        ("m.tsv", b"index\tprediction\n1\t\xff\n", "is no table of UTF-8 text"),
        ("m.pkl", b"", r"the ending is none of \.xlsx, \.tsv, \.json"),
        ("m.tsv", b"index\tprediction\n99\tA\n", "no row of .* is of a sample of"),
    ],
)
def test_files_that_do_not_fit(source: SampleSet, tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=message):
        score_predictions([(tmp_path / name, source)], tmp_path / "run")
    with pytest.raises(InputError, match="no such file"):
        score_predictions([(tmp_path / "nothing.tsv", source)], tmp_path / "run")


def test_another_run_is_not_written_into(source: SampleSet, tmp_path: Path) -> None:
    rows = exported(source, tmp_path)
    first = predicted(tmp_path / "m_exam.tsv", rows, ["B", "AC", "4", "A"])
    score_predictions([(first, source)], tmp_path / "run")
    run, _ = score_predictions([(first, source)], tmp_path / "run")
    assert len([*run.records()]) == 4
    second = predicted(tmp_path / "n_exam.tsv", rows, ["A", "AC", "4", "A"])
    with pytest.raises(UserError, match="holds a run of m: choose another -o"):
        score_predictions([(second, source)], tmp_path / "run")


def test_the_knowledge_beside_a_question_goes_as_its_hint_and_comes_back_as_the_mode(tmp_path: Path) -> None:
    known: Any = {"knowledge_points": ("Even numbers",)}
    source = write_set(tmp_path / "exam", [choice("a", **known), choice("b"), choice("c", **known)], "exam")
    plain = predicted(tmp_path / "m_exam.tsv", exported(source, tmp_path), ["B", "B", "A"])
    done = mmdyn("data", "convert", source.folder, "-o", tmp_path / "k.tsv", "--kprag")
    assert (done.returncode, done.stderr) == (0, f"{tmp_path / 'k.tsv'}: 2 samples\n")
    with (tmp_path / "k.tsv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t"))
    assert [(row["index"], row["id"], row["hint"]) for row in rows] == [("1", "a", "- Even numbers"), ("3", "c", "- Even numbers")]  # fmt: skip
    hinted = predicted(tmp_path / "m_exam.json", rows, ["B", "B"])
    run, tallies = score_predictions([(plain, source), (hinted, source)], tmp_path / "run")
    asked = sorted((record.condition.mode, record.sample) for record in run.records())
    assert asked == [*(("kprag", id) for id in "ac"), *(("standard", id) for id in "abc")]
    assert (run.config.planned, run.config.skipped) == (5, {"kprag": 1})
    assert str(tallies[1]).endswith("exam: 2 answered; 1 samples without knowledge points, and so without a row")
    kept = [sample for sample in source if sample.id != "b"]
    assert [*load(tmp_path / "k.tsv")] == kept, "a hint is no part of a sample"


def test_a_file_that_was_corrected_after_a_call_that_failed_is_scored(source: SampleSet, tmp_path: Path) -> None:
    rows = exported(source, tmp_path)
    file = predicted(tmp_path / "m_exam.json", rows, ["A", "A", "A", "A"])
    other = predicted(tmp_path / "m_none.json", [{**row, "question": "?"} for row in rows], ["A"] * 4)
    with pytest.raises(UserError, match=r"no row of .*m_none.json is of a sample of"):
        score_predictions([(file, source), (other, source)], tmp_path / "run")
    with Store(tmp_path / "run" / "records") as store:
        assert [*store_items(tmp_path / "run")] == [], "all files are looked at before anything is written"
        store.put(RECORD, "left by a call that was killed", b"{}")
    predicted(file, rows, ["B", "AC", "4", "A"])
    run, _ = score_predictions([(file, source)], tmp_path / "run")
    assert {record.sample: record.reply.text for record in run.records()} == {"a": "B", "m": "AC", "k": "4", "b": "A"}
    predicted(file, rows, ["C", "AC", "4", "A"])
    again, _ = score_predictions([(file, source)], tmp_path / "again")
    assert {record.request for record in run.records()}.isdisjoint(record.request for record in again.records())


def test_predictions_are_scored_by_answers_that_changed_and_recorded_once(source: SampleSet, tmp_path: Path) -> None:
    options = Option("1", "one"), Option("2", "two")
    lettered = Sample("l", "Which is even?", "single_choice", ("2",), options=options)
    old = write_set(tmp_path / "old", [lettered], "exam")
    file = predicted(tmp_path / "m_exam.json", exported(old, tmp_path), ["A"])
    run, _ = score_predictions([(file, old)], tmp_path / "run")
    new = write_set(tmp_path / "new", [replace(lettered, answer=("1",))], "exam")
    with pytest.raises(UserError, match=r"holds these predictions for other sets: `mmdyn score .*run --set SET` sc"):
        score_predictions([(file, new)], run.folder)
    (change,) = score(run, sets=new)
    assert (change.before, change.after) == (0.0, 1.0), "by the letter that the sheet gives the option"
    assert len([*RunFolder(run.folder).records()]) == 1


def store_items(run: Path) -> list[tuple[str, bytes]]:
    with Reader(run / "records") as reader:
        return [*reader.items(RECORD), *reader.items(FAILURE)]


def test_files_of_two_models_for_one_set_are_planned_twice(tmp_path: Path) -> None:
    known: Any = {"knowledge_points": ("Even numbers",)}
    source = write_set(tmp_path / "exam", [choice("a", **known), choice("b"), choice("c", **known)], "exam")
    rows = [{**row, "hint": "- Even numbers"} for row in exported(source, tmp_path) if row["id"] != "b"]
    files = [predicted(tmp_path / f"{name}_exam.json", rows, ["B", "B"]) for name in ("one", "two")]
    run, _ = score_predictions([(file, source) for file in files], tmp_path / "run")
    assert (run.config.planned, run.config.skipped, len([*run.records()])) == (4, {"kprag": 2}, 4)


@pytest.mark.parametrize("kind", ["json", "tsv"])
def test_ids_that_pandas_read_as_numbers_are_found_by_their_index(tmp_path: Path, kind: str) -> None:
    names = ["002", "001", "100", "003"]
    source = write_set(tmp_path / "exam", [choice(name, question=f"Is {name} odd?") for name in names], "exam")
    rows = [{**row, "id": int(row["id"])} for row in exported(source, tmp_path)]
    rows[3]["question"] = "Another one?"
    file = predicted(tmp_path / f"m_exam.{kind}", rows[::-1], ["A", "B", "C", "D"])
    run, (tally,) = score_predictions([(file, source)], tmp_path / "run")
    found = {record.sample: record.reply.text for record in run.records()}
    assert found == {"002": "D", "001": "C", "100": "B", "003": ""}
    assert +tally.counts == {"answered": 3, "other": 1, "absent": 1}
