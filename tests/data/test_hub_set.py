"""Any set of the Hugging Face hub by a mapping, out of folders that lie here."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from datasets import ClassLabel, Dataset, Features, Image, List, Value, disable_progress_bars

from making import image_ref, picture
from mmdyn.data import ImageFolder, Row, SampleSet, convert
from mmdyn.data.columns import pick_columns, sample_of_columns
from mmdyn.data.convert_set import HubSet
from mmdyn.errors import InputError, UserError
from mmdyn.run import read_config, run_config
from mmdyn.sample import Option, Sample

disable_progress_bars()
PNG, JPG = picture(), picture(format="JPEG")
FEATURES = Features({
    "stem": Value("string"), "passage": Value("string"), "choices": {"text": List(Value("string")), "label": List(Value("string"))},
    "label": ClassLabel(names=["A", "B", "C"]), "photo": Image(), "more": List(Image()), "year": Value("int64"), "skills": List(Value("string")),
})  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet files with class labels, pictures and a struct; the last row's label is hidden."""
    folder = tmp_path_factory.mktemp("hub") / "exam"
    row = {"stem": "Which?", "passage": "Read this.", "choices": {"text": ["4", "3", "9"], "label": ["A", "B", "C"]}, "year": 2021, "skills": ["logic", "sums"]}  # fmt: skip
    shown = {"photo": {"bytes": PNG, "path": None}, "more": [{"bytes": JPG, "path": "x.jpg"}]}
    rows = [
        row | shown | {"label": 1},
        row | {"photo": None, "more": [], "label": 2},
        row | {"photo": None, "more": [], "label": -1},
    ]
    (folder / "data").mkdir(parents=True)
    for split in ("train", "test"):
        Dataset.from_list(rows, FEATURES).to_parquet(folder / f"data/{split}-00000-of-00001.parquet")
    return folder


def read(folder: Path | str, tmp_path: Path, **columns: str) -> list[Row]:
    mapped = {key.replace("__", "."): column for key, column in columns.items()}
    return list(HubSet.parse(str(folder)).read(mapped, ImageFolder(tmp_path / "set")))


def test_a_mapping_reads_a_set(folder: Path, tmp_path: Path) -> None:
    rows = read(
        folder, tmp_path, question="passage+stem", options="choices.text", answer="label", image="photo+more", language="en",
        knowledge="skills", field__year="year", field__split="choices.label",
    )  # fmt: skip
    assert [(row.file, row.line) for row in rows] == [(f"hf:{folder}", 1), (f"hf:{folder}", 2), (f"hf:{folder}", 3)]
    assert rows[0].sample == Sample(
        id="exam-1", question="Read this.\n\nWhich?", task_type="single_choice", answer=("B",),
        options=(Option("A", "4"), Option("B", "3"), Option("C", "9")), images=(image_ref(PNG), image_ref(JPG, "jpg")),
        fields={"modality": "multimodal", "year": 2021, "split": "A, B, C"}, knowledge_points=("logic", "sums"),
    )  # fmt: skip
    assert rows[1].sample and rows[1].sample.answer == ("C",) and rows[1].sample.fields["modality"] == "text"
    assert rows[2].problem == "the answer '-1' is no option: the options are A, B, C"


@pytest.mark.parametrize(
    ("column", "meta"),
    [("passage", {"caption": ["Read this."]}), ("skills", {"caption": ["logic", "sums"]}), ("passage+stem", {"caption": ["Read this.", "Which?"]}), ("photo", {})],
)  # fmt: skip
def test_captions_come_from_a_column(folder: Path, tmp_path: Path, column: str, meta: dict[str, Any]) -> None:
    row = read(folder, tmp_path, question="stem", options="choices.text", answer="label", caption=column, image="photo+more")[1]  # fmt: skip
    assert row.sample and row.sample.meta.get("caption") == meta.get("caption")


def lines(folder: Path, *rows: dict[str, Any], file: str = "test.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_pictures_by_path_and_in_base64(tmp_path: Path) -> None:
    folder = lines(
        tmp_path / "exam",
        *[
            {"q": "x", "a": "y", "i": name}
            for name in ("p/1.png", base64.b64encode(PNG * 20).decode(), "../x.png", "no.png")
        ],
    )
    (folder / "p").mkdir()
    (folder / "p" / "1.png").write_bytes(PNG)
    (tmp_path / "x.png").write_bytes(PNG)
    first, coded, outside, missing = read(folder, tmp_path, question="q", answer="a", image="i")
    assert first.sample and first.sample.images == (image_ref(PNG),)
    assert coded.sample and coded.sample.images == (image_ref(PNG * 20),)
    assert "leaves the folder" in outside.problem and "'no.png' is missing" in missing.problem


def test_a_table_of_text_and_a_folder_that_is_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "exam").mkdir()
    (tmp_path / "exam" / "test.csv").write_text("q,a,A,B,n\nWhich?,B,3,,1\nWhy?,B,,4,2\nWho?,A,3,4,\n")
    monkeypatch.chdir(tmp_path / "exam")
    rows = read(".", tmp_path, question="q", answer="a", options="A+B", field__n="n")
    assert [row.problem for row in rows] == [
        "a single_choice needs at least two options, 1 given",
        "option A is empty: give it a text or an image, or set options_in_image",
        "",
    ]
    assert rows[2].sample and (rows[2].sample.id, rows[2].sample.options[0].text, rows[2].sample.fields) == (
        "exam-3",
        "3",
        {"modality": "text"},
    )


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    folder = lines(
        tmp_path / "exam" / "test", {"file_name": "a.png", "q": "Which?", "a": "this"}, file="metadata.jsonl"
    ).parent
    (folder / "test" / "a.png").write_bytes(PNG)
    [row] = read(folder, tmp_path, question="q", answer="a", image="image")
    assert row.sample and row.sample.images == (image_ref(PNG),)


ABC = ["cat", "dog", "A"]


@pytest.mark.parametrize(
    ("options", "answer", "kind", "expected"),
    [
        (ABC, "B", "single_choice", ("B",)), (ABC, "dog", "single_choice", ("B",)), (ABC, 0, "single_choice", ("A",)), (ABC, 2, "single_choice", ("C",)),
        (ABC, ["cat", "dog"], "multi_select", ("A", "B")), (ABC, [0, 1], "multi_select", ("A", "B")), (ABC, ["B"], "single_choice", ("B",)), (ABC, "AB", "multi_select", ("A", "B")),
        ("['cat', 'dog']", "B", "single_choice", ("B",)), (["3", "2", "1"], "2", "single_choice", ("B",)), (["True", "False"], False, "single_choice", ("B",)), (["true", "false"], False, "single_choice", ("B",)),
        (["B", "A", "C"], "C", "single_choice", ("C",)), (None, True, "true_false", True), (None, 4, "fill_in_the_blank", (("4",),)), (None, "Because.", "open_ended", "Because."), (None, "4", "fill_in_the_blank", (("4",),)), (None, "007", "open_ended", "007"), (None, "True", "true_false", True),
        (None, ["4", "four"], "fill_in_the_blank", (("4", "four"),)), (None, [["4", "four"], ["5"]], "fill_in_the_blank", (("4", "four"), ("5",))),
        # What contradicts itself, or can be read in two ways, is refused.
        (ABC, "A", None, "the answer 'A' could be A or C: map the column as answer_index or answer_text or answer_letter"), (["B", "A", "C"], "A", None, "could be A or B"), (ABC, 3, None, "no option"), (ABC, -1, None, "no option"),
        (["5", "6", "7"], "1", None, "the answer '1' is no option's letter or words: does it count from 0 (map it as answer_index) or from 1 (answer_number)?"), (["x", "x"], "x", None, "could be A or B"), (ABC, None, None, "no option"), (["cat", "", "dog"], "A", None, "option B is empty"),
        (["2", "3", "4"], 2, None, "the answer '2' could be A or C"),
        (["(0, 2)", "[0, 2]"], "[0, 2]", "single_choice", ("B",)), (ABC, "['A', 'B']", None, "the answer 'A' could be A or C"), (["x", "y", "z"], "['A', 'B']", "multi_select", ("A", "B")), (ABC, "[0, 2]", None, "no option"),
        (["AB", "B", "C"], "AB", None, "could be A or AB"), (["2", "3", "4"], 4, "single_choice", ("C",)), ([2, 1, 0], 1, "single_choice", ("B",)), (["x", "x", "y"], "A", None, "option B says the same as a right one"),
        (None, None, None, "the answer is empty"), (None, "", None, "the answer is empty"), (ABC, True, None, "no option"), ([str(n) for n in range(27)], 0, None, "27 options: at most 26"), ("cat; dog", "A", None, "at least two options"),
    ],
)  # fmt: skip
def test_answers(options: Any, answer: Any, kind: str | None, expected: Any) -> None:
    given = pick_columns(
        {"question": "q", "options": "o", "answer": "a"}, {"q": "Which?", "o": options, "a": answer}, "x"
    )
    row = Row.build("x", 1, sample_of_columns, given, "x", 1, lambda value: str(value))
    if kind is None:
        assert row.sample is None and expected in row.problem
    else:
        assert row.sample and (row.sample.task_type, row.sample.answer) == (kind, expected)


def mapped(row: dict[str, Any], **columns: str) -> Sample:
    given = pick_columns({"question": "q", "answer": "a"} | columns, row, "x")
    return sample_of_columns(given, "x", 1, lambda value: str(value))


@pytest.mark.parametrize(
    ("index", "expected"), [(1, ("B",)), ("1", ("B",)), (0, ("A",)), ([0, 2], ("A", "C")), (None, ("C",)), (3, "the answer '3' is no option"), (-1, "the answer '-1' is no option")]
)  # fmt: skip
def test_an_index_counts_from_0_whatever_the_options_say(index: Any, expected: Any) -> None:
    columns = {"question": "q", "options": "o", "answer": "a", "answer_index": "i"}
    given = pick_columns(columns, {"q": "Which?", "o": ["2", "0", "1"], "a": "C", "i": index}, "x")
    row = Row.build("x", 1, sample_of_columns, given, "x", 1, lambda value: str(value))
    assert row.sample.answer == expected if row.sample else expected in row.problem
    if index is None:
        del given["answer"]
        row = Row.build("x", 1, sample_of_columns, given, "x", 1, lambda value: str(value))
        assert row.problem == "the answer '' is no option: the options are A, B, C"


@pytest.mark.parametrize(
    ("key", "answer", "expected"),
    [("answer_letter", "A", ("A",)), ("answer_text", "A", ("C",)), ("answer_index", 0, ("A",)), ("answer_letter", "0", "no option"), ("answer_text", "cat", "no option"), ("answer_letter", "AC", ("A", "C"))],
)  # fmt: skip
def test_how_an_answer_is_meant_can_be_told(key: str, answer: Any, expected: Any) -> None:
    given = pick_columns(
        {"question": "q", "options": "o", key: "a"}, {"q": "Which?", "o": ["B", "0", "A"], "a": answer}, "x"
    )
    row = Row.build("x", 1, sample_of_columns, given, "x", 1, lambda value: str(value))
    assert row.sample.answer == expected if row.sample else expected in row.problem


def test_an_answer_is_read_right_or_refused() -> None:
    random, texts = Random(7), ["A", "B", "C", "D", "0", "1", "2", "3", "AB", "cat", "dog", "True", "a"]
    read = 0
    for number in range(3000):
        options = random.sample(texts, random.randint(2, 5))
        places = sorted(random.sample(range(len(options)), random.choice([1, 1, 1, 2])))
        labels = tuple("ABCDE"[place] for place in places)
        several: list[Any] = [[*labels], "".join(labels), [options[place] for place in places], places]
        answer = random.choice(several if len(places) > 1 else [labels[0], options[places[0]], places[0], [labels[0]]])
        given = pick_columns(
            {"question": "q", "options": "o", "answer": "a"}, {"q": "Which?", "o": options, "a": answer}, "x"
        )
        row = Row.build("x", number, sample_of_columns, given, "x", number, str)
        assert row.sample is None or row.sample.answer == labels, (options, answer, labels)
        read += row.sample is not None
    assert read > 1500


def test_columns_that_are_options_or_parts_of_one() -> None:
    row = {
        "q": "Which?",
        "a": "B",
        "A": "cat",
        "B": "dog",
        "C": None,
        "D": "",
        "list": [{"text": "cat"}, {"text": "dog"}],
        "a+b": "one",
        "s.t": "dotted",
    }
    by_columns = mapped(row, options="A+B+C+D")
    assert by_columns.options == (Option("A", "cat"), Option("B", "dog"))
    assert mapped(row, options="list.text") == by_columns
    assert mapped(row, question="a+b", options="A+B").question == "one", "a column of that name goes first"
    assert mapped(row, question="s.t", options="A+B").question == "dotted"
    for missing in ("list.txt", "E", "A+E", "A.text"):
        with pytest.raises(
            InputError,
            match=r"there is no column '(txt|E|A\.text|text)'.*: there are q, a, A, B, C, D, list, a\+b, s\.t",
        ):
            mapped(row, options=missing)


def test_language_and_task_type_are_columns_or_values() -> None:
    row = {"q": "2 + 2 = ?", "a": "4 m", "lang": "Chinese", "kind": "fill-in-the-blank"}
    plain = mapped(row)
    assert (plain.language, plain.task_type) == ("en", "open_ended")
    named = mapped(row, language="lang", task_type="kind")
    assert (named.language, named.task_type, named.answer) == ("zh", "fill_in_the_blank", (("4 m",),))
    assert mapped(row, language="zh", task_type="fill_in_the_blank") == named
    with pytest.raises(ValueError, match="the task type 'essay' is unknown"):
        mapped(row, task_type="essay")


def test_fields_are_numbers_and_texts() -> None:
    row = {
        "q": "x",
        "a": "y",
        "n": 3,
        "x": 2.5,
        "b": True,
        "l": ["u", "v"],
        "e": "",
        "z": None,
        "f": 4.0,
        "h": float("nan"),
        "g": 7,
        "i": "q/7",
    }
    sample = mapped(row, **{f"field.{name}": name for name in "nxblezfh"}, group="g", id="i", explanation="l")
    assert sample.fields == {"modality": "text", "n": 3, "x": 2.5, "b": "true", "l": "u, v", "f": 4}
    assert (sample.id, sample.group, sample.explanation) == ("x-q/7", "7", "u, v")
    with pytest.raises(ValueError, match="holds a '~', which marks variants"):
        mapped(row | {"i": "a~b"}, id="i")


@pytest.mark.parametrize(
    ("text", "columns", "problem"),
    [
        ("{exam}", {"question": "stem", "answer": "labl"}, "hf:{exam}: there is no column 'labl' (did you mean 'label'?): there are stem, passage, choices, "),
        ("{configs},config=en", {"question": "q"}, "say which column is the answer, by --map question=q,answer=COLUMN: the columns are q"),
        ("{exam}", {"question": "stem", "answer": "label", "pictures": "photo"}, "there is no 'pictures' to map: use question, answer_index, answer_number, answer_text, answer_letter, answer, "),
        ("{exam}", {"question": "stem", "answer": "label"}, "hf:{exam}: it is not clear what is the image: photo, more may be; say it by --map image=…, and leave others out by ignore=…"),
        ("{exam},split=dev", {"question": "stem", "answer": "label"}, "its splits are train, test: name one, hf:{exam},split=…"),
        ("{exam},part=1", {"question": "stem", "answer": "label"}, "cannot be read (unknown key 'part'): write hf:NAME,config=…,split=…"),
        (",split=test", {"question": "stem", "answer": "label"}, "hf: names no set: write hf:NAME, or hf: and a folder"),
        ("{exam},test", {"question": "stem", "answer": "label"}, "cannot be read ("),
        ("{exam}/nothing/here", {"question": "stem", "answer": "label"}, "cannot be read: Couldn't find any data file at "),
        ("{configs}", {"question": "q", "answer": "q"}, "cannot be read: Config name is missing. Please pick one among the available configs: ['en', 'zh']"),
        ("{script}", {"question": "q", "answer": "q"}, "cannot be read: Dataset scripts are no longer supported, but found script.py"),
        ("{broken}", {"question": "q", "answer": "q"}, "hf:{broken}: cannot be read: "),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_in_a_sentence(
    text: str, columns: dict[str, str], problem: str, folder: Path, tmp_path: Path
) -> None:
    places = {"exam": folder} | {name: tmp_path / name for name in ("configs", "script", "broken")}
    lines(places["configs"], {"q": "x"}, file="a.jsonl")
    (places["configs"] / "README.md").write_text(
        "---\nconfigs:\n- config_name: en\n  data_files: a.jsonl\n- config_name: zh\n  data_files: a.jsonl\n---\n"
    )
    lines(places["script"], {"q": "x"}, file="script.py").joinpath("script.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    )
    lines(places["broken"], file="a.parquet").joinpath("a.parquet").write_text("no")
    with pytest.raises(UserError) as refused:
        list(HubSet.parse(text.format(**places)).read(columns, ImageFolder(tmp_path / "set")))
    assert problem.format(**places) in str(refused.value) and "\n" not in str(refused.value)
    assert not (tmp_path / "ran").exists()


def test_a_split_and_a_config_are_named(folder: Path, tmp_path: Path) -> None:
    assert len(read(f"{folder},split=train", tmp_path, question="stem", answer="passage", ignore="photo+more")) == 3
    configs = lines(tmp_path / "exam", {"q": "one", "a": "x"}, file="en.jsonl")
    lines(configs, {"q": "二", "a": "x"}, file="zh.jsonl")
    (configs / "README.md").write_text(
        "---\nconfigs:\n- config_name: en\n  data_files: en.jsonl\n- config_name: zh\n  data_files: zh.jsonl\n---\n"
    )
    [row] = read(f"{configs},config=zh", tmp_path, question="q", answer="a")
    assert row.sample and (row.sample.question, row.sample.language) == ("二", "zh")


def test_it_converts_and_is_found_done(folder: Path, tmp_path: Path) -> None:
    columns = {"question": "stem", "options": "choices.text", "answer": "label", "ignore": "photo+more"}
    seen = list[Row]()
    made = convert(None, tmp_path / "out", benchmark=f"hf:{folder},split=test", columns=columns, skip_bad=True, limit=2)
    assert (
        len(made) == 2
        and made.manifest.made["benchmark"] == "hf:exam,split=test"
        and made.manifest.made["columns"] == columns
    )
    convert(
        None,
        tmp_path / "out",
        benchmark=f"hf:{folder},split=test",
        columns=columns,
        limit=2,
        skip_bad=True,
        on_row=seen.append,
    )
    assert seen == []
    with pytest.raises(UserError, match="already holds another set"):
        convert(None, tmp_path / "out", benchmark=f"hf:{folder}", columns=columns, limit=2)
    with pytest.raises(UserError, match="a mapping of columns is for hf:NAME or a table of columns of its own"):
        convert(folder, tmp_path / "other", columns=columns)
    with pytest.raises(InputError, match="no such file or folder"):
        convert(None, tmp_path / "other")


def test_a_config_names_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        f"sets:\n  - {{benchmark: 'hf:{folder}', map: {{question: stem, options: choices.text, answer: label, image: photo+more}}, skip_bad: true}}\n"
        f"models: [baseline:majority]\nout: {tmp_path}/run\nexecution: {{quiet: true}}\n"
    )
    run = run_config(read_config(tmp_path / "c.yaml", allow_secrets=True))
    assert [entry.name for entry in run.config.sets] == ["exam"] and len(list(run.records())) == 2
    assert len(SampleSet(tmp_path / "run/sets/exam")) == 2
