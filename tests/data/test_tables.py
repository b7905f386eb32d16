"""Tables of anybody's own columns: what is read, what is refused, and what is told of each column."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from shutil import copytree
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from benches import load_bench
from datasets import Dataset, Features, Json, Value, disable_progress_bars
from openpyxl import Workbook
from openpyxl.drawing.image import Image as SheetImage

from making import image_ref, picture
from mmdyn.data import ImageFolder, SampleSet, convert, load
from mmdyn.data.convert_set import HubSet
from mmdyn.errors import InputError, UserError
from mmdyn.sample import Option, Sample

disable_progress_bars()
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PNG = picture()
B64 = base64.b64encode(PNG).decode()
OPTIONS = (Option("A", "cat"), Option("B", "dog"), Option("C", "emu"))
Row = dict[str, Any]


def write(folder: Path, ending: str, rows: list[Row]) -> Path:
    """The rows in a file of a format, as its own library writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"lab.{ending}"
    if ending == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    elif ending == "xlsx":
        book = Workbook()
        for row in ([*rows[0]], *([row.get(name) for name in rows[0]] for row in rows)):
            book.active.append(row)
        book.save(file)
    elif ending in ("csv", "tsv"):
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, [*rows[0]], delimiter="," if ending == "csv" else "\t")
        writer.writeheader()
        writer.writerows(rows)
        file.write_bytes(text.getvalue().encode())
    else:
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        file.write_text("\n".join(lines) if ending == "jsonl" else f"[{','.join(lines)}]")
    return file


def read(folder: Path, rows: list[Row], ending: str = "json", **columns: str) -> tuple[list[Sample], dict[str, str]]:
    """The samples of rows in a file, and what its columns were taken for."""
    told = dict[str, str]()
    file = write(folder, ending, rows)
    mapped = {key.replace("__", "."): column for key, column in columns.items()}
    return [*convert(file, folder / "set", columns=mapped, on_columns=told.update)], told


def one(folder: Path, ending: str = "json", **row: Any) -> Sample:
    [sample], _ = read(folder, [row], ending)
    return sample


# Pictures, whatever their column is called.


@pytest.mark.parametrize(
    ("ending", "value"),
    [
        ("json", f"data:image/png;base64,{B64}"), ("csv", B64), ("tsv", "pics/1.png"), ("xlsx", "pics/1.png"), ("csv", "['pics/1.png']"),
        ("jsonl", ["pics/1.png"]), ("parquet", PNG), ("parquet", {"bytes": PNG, "path": None}), ("parquet", {"bytes": None, "path": "pics/1.png"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["image", "附图", "whatever"])
def test_a_column_that_holds_pictures_is_read(name: str, ending: str, value: Any, tmp_path: Path) -> None:
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "1.png").write_bytes(PNG)
    sample = one(tmp_path, ending, question="Which?", answer="This.", **{name: value})
    assert sample.images == (image_ref(PNG),) and sample.meta == {}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"x": "pics/1.png"}, "image 'pics/1.png' is missing: put the file into"), ({"x": "https://a.org/1.png"}, "is a URL: download the picture"),
        ({"x": B64, "y": B64}, "it is not clear what is the image: x, y may be; say it by --map image=…, and leave others out by ignore=…"),
        ({"image": B64, "y": B64}, "it is not clear what is the image: y may be"),
        ({"image": "fig 1A"}, "the picture's base64 is broken or cut off"),
        ({"question": "See ![](a.png)"}, "the question links to a picture in its text: name pictures in a column"),
        ({"question": 'See <img src="a.png">'}, "the question links to a picture in its text"),
    ],
)  # fmt: skip
def test_a_picture_that_would_be_lost_is_refused(row: Row, problem: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        one(tmp_path, **{"question": "Which?", "answer": "This."} | row)
    assert problem in str(refused.value) and not (tmp_path / "set").exists()


def test_pictures_of_one_family_are_one_after_the_other(tmp_path: Path) -> None:
    other = base64.b64encode(picture(text="8")).decode()
    [sample], told = read(tmp_path, [{"question": "?", "answer": "x", "pic_10": B64, "pic_2": other, "pic_3": None}])
    assert sample.images == (image_ref(picture(text="8")), image_ref(PNG)) and told["image"] == "pic_2+pic_10"


def test_options_that_are_pictures(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(PNG)
    sample = one(tmp_path, question="Which?", answer="B", A="none", B="1.png", C=f"data:image/png;base64,{B64}")
    assert sample.options == (Option("A", "none"), Option("B", "", image_ref(PNG)), Option("C", "", image_ref(PNG)))
    with pytest.raises(InputError, match=r"image '2\.png' is missing"):
        one(tmp_path / "other", question="Which?", answer="B", A="none", B="2.png")


def test_the_formats_refuse_what_they_would_lose(tmp_path: Path) -> None:
    row = {"index": "1", "question": "Which?", "answer": "B"}
    for ending, lost, problem in [
        ("tsv", {"shot": B64}, "the column 'shot' holds a picture and is not read: call it image or image_path"),
        ("parquet", {"shot": PNG}, "the column 'shot' holds a picture and is not read: call it image"),
        ("tsv", {"option_a": "cat"}, "the column 'option_a' is not read: call the options A, B, C, … and give each"),
        ("parquet", {"opt1": "cat"}, "the column 'opt1' is not read: call the options A, B, C, … and give each"),
    ]:
        with pytest.raises(InputError) as refused:
            load(write(tmp_path / ending, ending, [row | lost]), tmp_path / f"{ending}-set")
        assert problem in str(refused.value)


# Options, however they are written.


@pytest.mark.parametrize(
    "options",
    [
        {"A": "cat", "B": "dog", "C": "emu"}, {"option_a": "cat", "option_b": "dog", "option_c": "emu"}, {"opt1": "cat", "opt2": "dog", "opt3": "emu"},
        {"choice_C": "emu", "choice_A": "cat", "choice_B": "dog"}, {"选项A": "cat", "选项B": "dog", "选项C": "emu"}, {"Option A": "cat", "Option B": "dog", "Option C": "emu"},
        {"choices": ["cat", "dog", "emu"]}, {"options": ["(A)cat", "(B)dog", "(C)emu"]}, {"选项": ["A. cat", "B. dog", "C. emu"]},
        {"options": {"A": "cat", "B": "dog", "C": "emu", "D": None}}, {"options": {"B": "dog", "A": "cat", "C": "emu"}},
        {"options": [{"label": "A", "text": "cat"}, {"label": "B", "text": "dog"}, {"label": "C", "text": "emu"}]},
        {"options": [{"A": "cat"}, {"B": "dog"}, {"C": "emu"}]}, {"options": {"label": ["A", "B", "C"], "text": ["cat", "dog", "emu"]}},
        {"options": "{'A': 'cat', 'B': 'dog', 'C': 'emu'}"}, {"options": '{"A": "cat", "B": "dog", "C": "emu"}'}, {"options": "['cat', 'dog', 'emu']"},
        {"options": "A. cat\nB. dog\nC. emu"}, {"options": "(A) cat (B) dog (C) emu"}, {"options": "cat\ndog\nemu"},
    ],
)  # fmt: skip
def test_options_are_read(options: Row, tmp_path: Path) -> None:
    sample = one(tmp_path, question="Which?", answer="B", **options)
    assert (sample.options, sample.answer, sample.task_type) == (OPTIONS, ("B",), "single_choice")
    assert sample.question == "Which?" and not sample.meta.keys() - {"mended"}


def test_options_at_the_end_of_the_question(tmp_path: Path) -> None:
    text = "Which?\nA. cat\nB. dog\nC. emu"
    rows = [
        {"question": text, "answer": said} for said in ("B", "(b)", "dog", ["B"], "B. dog", "Both of them, I think.")
    ]
    samples, _ = read(tmp_path, rows)
    assert [sample.answer for sample in samples[:5]] == [("B",)] * 5
    assert all(sample.options == OPTIONS and sample.question == "Which?" for sample in samples[:5])
    assert (samples[5].task_type, samples[5].question) == ("open_ended", text)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"A": "x", "C": "y"}, "it is not clear what is the options: A, C may be"),
        ({"A": "x", "B": "y", "opt1": "u", "opt2": "v"}, "it is not clear what is the options: A, B, opt1, opt2 may be"),
        ({"options": ["(B) x", "(A) y", "(C) z", "(D) w"]}, "the letters before the options' words are not those of the options"),
        ({"options": {"A": "x", "C": "y"}}, "the options are labelled A., C.: label them A, B, C, …"),
        ({"options": {"x1": "x", "x2": "y"}}, "the options are labelled x1, x2: label them A, B, C, …"),
        ({"options": [{"label": "A", "text": "x", "image": B64}, {"label": "B", "text": "y"}]}, "an option is an object of image, label, text: map options=COLUMN.text"),
        ({"options": "{'A': x}"}, "the options \"{'A': x}\" cannot be read: write them as JSON"),
        ({"options": "Choose: A. x B. y"}, "at least two options"),
        ({"choices": ["x", "y"], "candidates": ["u", "v"]}, "it is not clear what is the options: choices, candidates may be"),
        ({"question": "Which?\nA. x\nB. y\nD. z"}, "the options do not run A, B, C, …"),
    ],
)  # fmt: skip
def test_options_that_allow_two_readings_are_refused(row: Row, problem: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        one(tmp_path, **{"question": "Which?", "answer": "A"} | row)
    assert problem in str(refused.value)


def test_numbers_never_say_alone_what_they_count_from(tmp_path: Path) -> None:
    rows = [{"q": "Which?", "options": ["cat", "dog", "emu"], "label": number} for number in (1, 2, 1)]
    told = "the answers in the column 'label' are whole numbers, and never 0: map it as answer_index (from 0) or"
    with pytest.raises(InputError) as refused:
        read(tmp_path / "0", rows, question="q")
    assert told in str(refused.value)
    for key, letters in (("answer_index", "BCB"), ("answer_number", "ABA")):
        samples, _ = read(tmp_path / key, rows, question="q", **{key: "label"})
        assert "".join(str(sample.answer[0]) for sample in samples if isinstance(sample.answer, tuple)) == letters
    counted, _ = read(tmp_path / "1", [*rows, rows[0] | {"label": 0}], question="q")
    assert [sample.answer for sample in counted] == [("B",), ("C",), ("B",), ("A",)]
    with pytest.raises(InputError, match=r"does it count from 0 \(map it as answer_index\) or from 1"):
        read(tmp_path / "2", rows[:1], "csv", question="q")


def test_an_object_of_numbered_options(tmp_path: Path) -> None:
    numbered = one(tmp_path, question="Which?", answer="2", options={"1": "cat", "2": "dog", "3": "emu"})
    assert (numbered.options, numbered.answer) == (OPTIONS, ("B",))


# The formats.

ROWS = [
    {"题目": "Which\nof them?", "option_a": "None", "option_b": "NA", "option_c": 'a "b", c', "答案": "B", "fig": "p/1.png", "学科": "art", "年份": 2017, "note": "null"},
    {"题目": "哪个？", "option_a": "x", "option_b": "007", "option_c": "1.50", "答案": "C", "fig": "p/1.png", "学科": "art", "年份": 2018, "note": "one"},
    {"题目": "2 + 2 = ?", "option_a": None, "option_b": None, "option_c": None, "答案": "4", "fig": None, "学科": "sums", "年份": 2017, "note": "two"},
]  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "xlsx", "parquet"])
def test_a_table_is_the_same_set_in_every_format(ending: str, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "1.png").write_bytes(PNG)
    samples, told = read(tmp_path, ROWS, ending)
    shared = {"modality": "multimodal", "学科": "art"}
    assert samples == [
        Sample("lab-1", "Which\nof them?", "single_choice", ("B",), options=(Option("A", "None"), Option("B", "NA"), Option("C", 'a "b", c')),
               images=(image_ref(PNG),), fields=shared | {"年份": 2017}, meta={"note": "null"}),
        Sample("lab-2", "哪个？", "single_choice", ("C",), "zh", (Option("A", "x"), Option("B", "007"), Option("C", "1.50")),
               images=(image_ref(PNG),), fields=shared | {"年份": 2018}, meta={"note": "one"}),
        Sample("lab-3", "2 + 2 = ?", "fill_in_the_blank", (("4",),), fields={"modality": "text", "学科": "sums", "年份": 2017}, meta={"note": "two"}),
    ]  # fmt: skip
    assert told == {
        "options": "option_a+option_b+option_c", "question": "题目", "answer": "答案", "image": "fig",
        "field.学科": "学科", "field.年份": "年份", "meta.note": "note",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "answer"), [("gaokao-mm", "answer"), ("scemqa", "Answer (final answer highlighted)")])
def test_real_sets_are_the_same_in_every_format(name: str, answer: str, tmp_path: Path) -> None:
    source = DATA / name / "dev"
    if not source.is_dir():
        pytest.skip(f"the data set lies not at {source}")
    rows = [json.loads(line) for line in (source / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row |= {"image": f"images/{row['image']}"} if "image" in row else {}
    names = {"question": "题干", "Question": "stem", answer: "gold", "picture": "figs", "image": "pic", "year": "年份"}
    rows = [{names.get(key, key): row.get(key) for key in {key: 0 for one in rows for key in one}} for row in rows]
    digests = dict[str, str]()
    for ending in ("csv", "tsv", "json", "xlsx", "parquet"):
        flat = [{key: str(value) if isinstance(value, list) and ending in ("csv", "tsv", "xlsx") else value for key, value in row.items()} for row in rows]  # fmt: skip
        folder = tmp_path / ending
        file = write(folder, ending, flat)
        copytree(source / "images", folder / "images")
        made = convert(file, folder / "set")
        assert len(made) == len(rows) and all(sample.images for sample in made)
        digests[ending] = made.manifest.digest
    assert len(set(digests.values())) == 1, digests


def sheet(change: Callable[[Any], object]) -> Callable[[Path], Path]:
    def save(folder: Path) -> Path:
        book = Workbook()
        for row in (["question", "answer"], ["Which?", "this"], ["Who?", "that"]):
            book.active.append(row)
        change(book)
        book.save(folder / "lab.xlsx")
        return folder / "lab.xlsx"

    return save


def put(cell: str, value: Any, shown: str = "General") -> Callable[[Path], Path]:
    def change(book: Any) -> None:
        book.active[cell] = value
        book.active[cell].number_format = shown

    return sheet(change)


def photo(book: Any) -> None:
    book.active.add_image(SheetImage(io.BytesIO(PNG)), "C2")


def second(book: Any) -> None:
    book.create_sheet("More").append(["question", "answer"])


@pytest.mark.parametrize(
    ("save", "problem"),
    [
        (put("B3", "=A2&1"), ":3: cell B3 is a formula, a date, a percentage or an error: write it as text"), (put("B3", "#N/A"), ":3: cell B3 is a formula, a date"),
        (put("B2", date(2020, 1, 2), "yyyy-mm-dd"), ":2: cell B2 is a formula, a date"), (put("B2", 0.5, "0%"), ":2: cell B2 is a formula, a date, a percentage"),
        (put("B2", "x" * 32_767), ":2: cell B2 is as long as a cell can be, and cut off: give the table as CSV"),
        (put("B1", "question"), ":1: the column 'question' is given twice: rename one of them"),
        (sheet(lambda book: book.active.merge_cells("A2:A3")), ": its cells A2:A3 are merged: unmerge them and fill each"),
        (sheet(photo), ": has pictures on its cells: save them as files, and name these in a column"),
        (sheet(second), ": has 2 sheets that are filled: save the one with the questions alone"),
        (lambda folder: folder.joinpath("lab.xlsx").write_text("no") and folder / "lab.xlsx", ": cannot be read as a spreadsheet (File is not a zip file): save it again as .xlsx"),
    ],
)  # fmt: skip
def test_a_spreadsheet_that_shows_more_than_its_cells_is_refused(
    save: Callable[[Path], Path], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        convert(save(tmp_path), tmp_path / "set")
    assert f"{tmp_path / 'lab.xlsx'}{problem}" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"\xef\xbb\xbfquestion;answer\r\nWhich, then?;this\r\n", ["Which, then?"]), (b"question\tanswer\nWhich?\tthis\n\n", ["Which?"]),
        (b'question,answer\n"a\r\nb",this\n', ["a\r\nb"]), ("question,answer\n哪个？,x\n".encode("gb18030"), ":2: line 2 is not UTF-8"),
        ("question,answer\nx,y\n".encode("utf-16"), "is UTF-16 text: save it as UTF-8"), (b"question,answer\na,b,c\n", ":2: 3 cells where the header has 2: quote a cell that holds a comma or a new line"),
        (b"question,answer,answer\n", "the column 'answer' is given twice"), (b"question,note\nx,y\n", "say which column is the answer, by --map answer=COLUMN: the columns are question, note"),
        (b"question,answer\n", "there is no sample for"), (b"id,question,answer\n1,x,y\n1,z,w\n", "the id '1' is given twice"),
    ],
)  # fmt: skip
def test_csv_as_it_is_found(text: bytes, found: list[str] | str, tmp_path: Path) -> None:
    (tmp_path / "lab.csv").write_bytes(text)
    if isinstance(found, list):
        assert [sample.question for sample in convert(tmp_path / "lab.csv", tmp_path / "set")] == found
        return
    with pytest.raises(UserError) as refused:
        convert(tmp_path / "lab.csv", tmp_path / "set")
    assert found in str(refused.value)


def test_rows_of_a_json_object_keep_their_key(tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_text(
        json.dumps(
            {"art": [{"question": "x", "answer": "y"}] * 2, "sums": [{"question": "z", "answer": "w", "late": 1}]}
        )
    )
    samples = [*convert(tmp_path / "lab.json", tmp_path / "set")]
    assert [sample.fields["section"] for sample in samples] == ["art", "art", "sums"]
    assert samples[2].meta == {"late": 1}


def test_what_is_not_said_is_found_and_what_is_said_goes_first(tmp_path: Path) -> None:
    rows = [{"stem": "?", "passage": "Read.", "answer": "x", "n": n, "list": [1], "sound": b"RIFF"} for n in (1, 1, 2)]
    samples, told = read(tmp_path / "found", rows, "parquet")
    assert told == {"answer": "answer", "question": "passage+stem", "field.n": "n", "meta.list": "list", "ignore": "sound"}  # fmt: skip
    assert samples[0].question == "Read.\n\n?" and samples[0].fields["n"] == 1 and samples[0].meta == {"list": [1]}
    samples, told = read(tmp_path / "said", rows, "parquet", question="stem", ignore="n", meta__text="passage")
    assert told == {"question": "stem", "ignore": "n+sound", "meta.text": "passage", "answer": "answer", "meta.list": "list"}  # fmt: skip
    assert samples[0].question == "?" and samples[0].meta == {"text": "Read.", "list": [1]}


def test_values_that_are_no_text(tmp_path: Path) -> None:
    for value, kind in (({"a": 1}, "dict"), (b"RIFF", "bytes"), (date(2020, 1, 2), "date")):
        with pytest.raises(InputError, match=f"a {kind} stands where a text is to be: write it as text, or map a part"):
            read(tmp_path / kind, [{"question": "?", "answer": value}], "parquet", answer="answer")


# Sets of the hub.


def hub(folder: Path, **columns: str) -> list[Sample | str]:
    rows = HubSet.parse(str(folder)).read(columns, ImageFolder(folder.parent / "set"))
    return [row.sample or row.problem for row in rows]


def test_columns_of_mixed_types_are_decoded(tmp_path: Path) -> None:
    rows = [{"q": "How far?", "gold": gold} for gold in ("4 cm", 4, ["4", "four"], "007")]
    write(tmp_path / "lines", "jsonl", rows)
    features = Features({"q": Value("string"), "gold": Json()})
    (tmp_path / "parquet").mkdir()
    Dataset.from_list(rows[:3], features).to_parquet(tmp_path / "parquet" / "test.parquet")
    wanted: list[Any] = ["4 cm", (("4",),), (("4", "four"),)]
    for folder, answers in (("lines", [*wanted, "007"]), ("parquet", wanted)):
        found = hub(tmp_path / folder, question="q")
        assert [one.answer for one in found if isinstance(one, Sample)] == answers


def test_csv_of_the_hub_says_what_it_says(tmp_path: Path) -> None:
    write(
        tmp_path / "exam", "csv", [{"q": "Which?", "A": "NA", "B": "None", "C": "1.50", "right": "NA", "year": "007"}]
    )
    [sample] = hub(tmp_path / "exam", question="q", answer="right")
    assert isinstance(sample, Sample) and sample.answer == ("A",) and sample.meta == {"year": "007"}
    assert [option.text for option in sample.options] == ["NA", "None", "1.50"]


# Files damaged by a script that knows the truth.


def test_no_damaged_file_is_read_wrong(tmp_path: Path) -> None:
    if not DATA.is_dir():
        pytest.skip(f"the data sets lie not at {DATA}")
    bench = load_bench("damaged_files")
    counts = bench.count(DATA, tmp_path, bench.KINDS, 64, 7)
    assert sum(found["wrong"] for found in counts.values()) == 0
    assert all(sum(found.values()) == 8 for found in counts.values())
    for kind in ("ids_given_twice", "missing_pictures", "contradictions"):
        assert counts[kind] == {"refused": 8}
    for kind in ("plain", "column_order", "no_answer_words", "mixed_types"):
        assert counts[kind]["right"] >= 6, kind


def test_a_set_folder_says_what_a_mapping_said(tmp_path: Path) -> None:
    file = write(tmp_path, "csv", [{"q": "Which?", "a": "this"}])
    made = convert(file, tmp_path / "set", columns={"question": "q", "answer": "a"})
    assert made.manifest.made["columns"] == {"question": "q", "answer": "a"}
    assert [*SampleSet(tmp_path / "set")] == [
        Sample("lab-1", "Which?", "open_ended", "this", fields={"modality": "text"})
    ]
