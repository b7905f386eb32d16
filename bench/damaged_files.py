"""Files of a lab's own columns, written anew in ways that are known, and what `mmdyn data convert` makes of them.

    python bench/damaged_files.py [--data DIR] [--files 120] [--seed 31] [--list]

A few rows of We-Math (questions, options, right option, picture, concept) are the truth. Each file holds them under
names that are drawn, its options, answers and pictures in forms that are drawn, in a format that is drawn, and has one
of the kinds of damage below. A file is `right` where every sample says what the truth does, `refused` where the
conversion ends in a sentence, or `wrong` where it is read as anything else. Files that leave no true reading must be
refused: there any reading is wrong.
"""

from __future__ import annotations

import argparse
import base64
import csv
import io
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mmdyn import plugins
from mmdyn.data import ImageFolder, SampleSet, convert
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.sample import Sample

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ROWS = 12
FORMATS = ("csv", "tsv", "json", "jsonl", "xlsx", "parquet")
TYPED = ("json", "jsonl", "parquet")
LETTERS = "ABCDEFGH"
Row = dict[str, Any]


class Truth(NamedTuple):
    """What a row says: its question, options, right letters, and its picture's bytes."""

    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    picture: bytes
    subject: str


class Case:
    """A file to be written: rows by column, and how."""

    def __init__(self, draw: random.Random, truth: list[Truth], folder: Path) -> None:
        self.draw, self.truth, self.folder = draw, truth, folder
        self.format = draw.choice(FORMATS)
        self.name = draw.choice((str.lower, str.title, str.upper))
        self.rows: list[Row] = [{} for _ in truth]
        self.columns: dict[str, str] = {}
        self.readable = True
        self.written: bytes | None = None

    def put(self, column: str, values: Sequence[Any]) -> None:
        for row, value in zip(self.rows, values, strict=True):
            row[column] = value


Damage = Callable[[Case], None]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public data")
    parser.add_argument("--files", type=int, default=120, help="how many files (120)")
    parser.add_argument("--seed", type=int, default=31, help="another seed writes other files (31)")
    parser.add_argument("--list", action="store_true", help="print each file that is refused or wrong")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        counts = count(args.data, Path(folder), KINDS, args.files, args.seed, print if args.list else None)
    print("| kind | files | right | refused | wrong |\n|---|---|---|---|---|")
    for kind in [*KINDS, "all"]:
        found = counts[kind] if kind != "all" else sum(counts.values(), Counter())
        shares = " | ".join(str(found[verdict]) for verdict in ("right", "refused", "wrong"))
        print(f"| {kind.replace('_', ' ')} | {sum(found.values())} | {shares} |")


def count(
    data: Path,
    folder: Path,
    kinds: dict[str, Damage],
    files: int,
    seed: int,
    tell: Callable[[str], object] | None = None,
) -> dict[str, Counter[str]]:
    """How many files of each kind are right, refused and wrong: as many of each kind."""
    truth = read_truth(data, folder)
    counts = {kind: Counter[str]() for kind in kinds}
    for number in range(files):
        kind = list(kinds)[number % len(kinds)]
        place = folder / str(number)
        place.mkdir()
        verdict, told = one(random.Random(f"{seed}-{number}"), truth, place, kinds[kind])
        counts[kind][verdict] += 1
        if tell and verdict != "right":
            tell(f"{verdict} {kind}: {told}")
    return counts


def one(draw: random.Random, truth: list[Truth], folder: Path, damage: Damage) -> tuple[str, str]:
    """What becomes of one file; and of which, or why."""
    case = Case(draw, truth, folder)
    fill(case)
    damage(case)
    file = write(case)
    try:
        made = convert(file, folder / "set", columns=case.columns)
    except UserError as error:
        return "refused", f"{file.name} {list(case.rows[0])}: {error}"
    differs = [] if case.readable else ["it has no true reading"]
    differs += differences(made, case.truth)
    return ("wrong", f"{file.name} {list(case.rows[0])}: {differs[0]}") if differs else ("right", "")


def differences(made: SampleSet, truth: list[Truth]) -> list[str]:
    """What samples say otherwise than the truth."""
    if len(made) != len(truth):
        return [f"{len(made)} samples for {len(truth)}"]
    found = list[str]()
    for sample, true in zip(made, truth, strict=True):
        said = (
            sample.question, tuple(option.text for option in sample.options), sample.answer,
            tuple(Path(ref).stem for ref in sample.images),
        )  # fmt: skip
        should = (true.question, true.options, true.answer, (sha256(true.picture),) if true.picture else ())
        if said != should:
            found.append(f"{said!r:.600} is not {should!r:.600}")
        if true.subject not in (*sample.fields.values(), *sample.meta.values()):
            found.append(f"{true.subject!r} is lost: {sample.fields} {sample.meta}")
    return found


def read_truth(data: Path, folder: Path) -> list[Truth]:
    """Rows of We-Math with four options or more and a picture."""
    images = ImageFolder(folder / "truth")
    rows = plugins.load("benchmarks", "we_math")().read(data / "we-math", images)
    samples = [row.sample for row in rows if row.sample and len(row.sample.options) >= 4 and row.sample.images]
    plain = [one for one in samples if len({option.text for option in one.options}) == len(one.options)]
    return [told(sample, images) for sample in plain[:: max(1, len(plain) // ROWS)][:ROWS]]


def told(sample: Sample, images: ImageFolder) -> Truth:
    """A sample's truth; of its fields one that several share."""
    texts = tuple(option.text.strip() for option in sample.options)
    subject = ("algebra", "geometry", "measuring")[len(sample.id) % 3]
    assert isinstance(sample.answer, tuple)
    picture = images.read(sample.images[0])
    return Truth(sample.question.strip(), texts, tuple(map(str, sample.answer)), picture, subject)


def fill(case: Case) -> None:
    """Every column in a drawn form, under a drawn name."""
    draw = case.draw
    case.put(draw.choice(("id", "ID", "qid", "index", "编号")), [f"q{at}" for at in range(len(case.truth))])
    draw.choice(QUESTIONS)(case)
    draw.choice(ANSWERS)(case)
    draw.choice(PICTURES)(case)
    case.put(draw.choice(("subject", "学科", "Field of study")), [true.subject for true in case.truth])
    case.put("url", [f"https://example.org/{at}" for at in range(len(case.truth))])


def _question(case: Case, form: Callable[[Truth], str] = lambda true: true.question) -> None:
    names = ("question", "Question", "prompt", "problem", "题目", "stem", "query", "question_text")
    case.put(case.draw.choice(names), [form(true) for true in case.truth])


def _by_columns(case: Case) -> None:
    _question(case)
    before = case.draw.choice(("", "option_", "Option ", "opt", "choice_", "选项", "option"))
    style = str.upper if not before else case.draw.choice((str.upper, str.lower, lambda x: str(LETTERS.index(x) + 1)))
    for at in range(max(len(true.options) for true in case.truth)):
        texts = [true.options[at] if at < len(true.options) else None for true in case.truth]
        case.put(before + style(LETTERS[at]), texts)


def _by_one(form: Callable[[random.Random, Truth], Any], *, typed: bool = False) -> Callable[[Case], None]:
    def write_options(case: Case) -> None:
        _question(case)
        if typed:
            case.format = case.draw.choice(TYPED)
        name = case.draw.choice(("options", "choices", "Choices", "选项", "candidates"))
        way = case.draw.random()
        case.put(name, [form(random.Random(way), true) for true in case.truth])

    return write_options


def _mark(draw: random.Random) -> str:
    return draw.choice(("{}. ", "({}) ", "{}) ", "{}．", "（{}）", "{}: "))


def _with_letters(draw: random.Random, true: Truth) -> list[str]:
    mark = _mark(draw)
    return [mark.format(letter) + text for letter, text in zip(LETTERS, true.options, strict=False)]


def _as_dict(draw: random.Random, true: Truth) -> dict[str, str]:
    return dict(zip(LETTERS, true.options, strict=False))


def _as_objects(draw: random.Random, true: Truth) -> list[dict[str, str]]:
    label, text = draw.choice((("label", "text"), ("key", "value"), ("id", "content")))
    return [{label: letter, text: words} for letter, words in zip(LETTERS, true.options, strict=False)]


def _as_lists(draw: random.Random, true: Truth) -> dict[str, list[str]]:
    return {"label": list(LETTERS[: len(true.options)]), "text": list(true.options)}


def _in_question(case: Case) -> None:
    mark = _mark(random.Random(case.draw.random()))
    _question(case, lambda true: true.question + "\n" + "\n".join(
        mark.format(letter) + text for letter, text in zip(LETTERS, true.options, strict=False)))  # fmt: skip


QUESTIONS: tuple[Callable[[Case], None], ...] = (
    _by_columns, _by_columns, _by_columns, _in_question,
    _by_one(lambda draw, true: list(true.options), typed=True),
    _by_one(_with_letters, typed=True),
    _by_one(_as_dict, typed=True),
    _by_one(_as_objects, typed=True),
    _by_one(_as_lists, typed=True),
    _by_one(lambda draw, true: json.dumps(_as_dict(draw, true), ensure_ascii=False)),
    _by_one(lambda draw, true: str(_as_dict(draw, true))),
    _by_one(lambda draw, true: str(_as_objects(draw, true))),
    _by_one(lambda draw, true: json.dumps(true.options)),
    _by_one(lambda draw, true: str(list(true.options))),
    _by_one(lambda draw, true: str(_with_letters(draw, true))),
    _by_one(lambda draw, true: "\n".join(_with_letters(draw, true))),
    _by_one(lambda draw, true: "  ".join(_with_letters(draw, true))),
    _by_one(lambda draw, true: "\n".join(true.options)),
)  # fmt: skip


def _answer(form: Callable[[Truth], Any], key: str = "", *, typed: bool = False) -> Callable[[Case], None]:
    def write_answer(case: Case) -> None:
        name = case.draw.choice(("answer", "Answer", "gold", "答案", "correct_answer", "answerKey", "label", "target"))
        if typed:
            case.format = case.draw.choice(TYPED)
        case.put(name, [form(true) for true in case.truth])
        if key:
            case.columns[key] = name

    return write_answer


def _at(true: Truth) -> int:
    return LETTERS.index(true.answer[0])


ANSWERS: tuple[Callable[[Case], None], ...] = (
    _answer(lambda true: true.answer[0]), _answer(lambda true: true.answer[0]),
    _answer(lambda true: true.answer[0].lower()), _answer(lambda true: f"({true.answer[0]})"),
    _answer(lambda true: f"{true.answer[0]}."), _answer(lambda true: f"答案：{true.answer[0]}"),
    _answer(lambda true: f"{true.answer[0]}. {true.options[_at(true)]}"),
    _answer(lambda true: true.options[_at(true)], "answer_text"), _answer(lambda true: true.options[_at(true)]),
    _answer(lambda true: [*true.answer], typed=True), _answer(lambda true: str([*true.answer])),
    _answer(_at, typed=True), _answer(_at, "answer_index"), _answer(lambda true: str(_at(true))),
    _answer(lambda true: _at(true) + 1, typed=True), _answer(lambda true: _at(true) + 1, "answer_number"),
)  # fmt: skip


def _picture(form: Callable[[Case, Truth], Any], formats: Sequence[str] = FORMATS) -> Callable[[Case], None]:
    def write_pictures(case: Case) -> None:
        names = ("image", "images", "Photo", "附图", "img", "x", "pic_1", "figure", "diagram")
        if case.format not in formats:
            case.format = case.draw.choice([one for one in formats if one not in ("csv", "tsv", "xlsx")] or formats)
        case.put(case.draw.choice(names), [form(case, true) for true in case.truth])

    return write_pictures


def _path(case: Case, true: Truth, folder: str = "pics") -> str:
    name = f"{folder}/{sha256(true.picture)[:8]}.png"
    (case.folder / folder).mkdir(exist_ok=True)
    (case.folder / name).write_bytes(true.picture)
    return name


def _base64(true: Truth) -> str:
    return base64.b64encode(true.picture).decode()


LONG = ("csv", "tsv", "json", "jsonl", "parquet")
PICTURES: tuple[Callable[[Case], None], ...] = (
    _picture(_path), _picture(_path), _picture(lambda case, true: _path(case, true, "my pictures")),
    _picture(lambda case, true: [_path(case, true)], TYPED), _picture(lambda case, true: str([_path(case, true)])),
    _picture(lambda case, true: _base64(true), LONG),
    _picture(lambda case, true: f"data:image/png;base64,{_base64(true)}", LONG),
    _picture(lambda case, true: true.picture, ("parquet",)),
    _picture(lambda case, true: {"bytes": true.picture, "path": None}, ("parquet",)),
)  # fmt: skip


def write(case: Case) -> Path:
    """The file of a case, in its format."""
    import pandas
    import pyarrow
    from pyarrow import parquet

    file, rows = case.folder / f"lab.{case.format}", case.rows
    if case.written is not None:
        file.write_bytes(case.written)
    elif case.format == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    elif case.format == "json":
        file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    elif case.format == "jsonl":
        file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif case.format == "xlsx":
        pandas.DataFrame(rows).to_excel(file, index=False)
    else:
        file.write_bytes(text_table(case, {"csv": ",", "tsv": "\t"}[case.format]).encode("utf-8"))
    return file


def text_table(case: Case, delimiter: str, end: str = "\n") -> str:
    """The rows as the csv module writes them."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(case.rows[0]), delimiter=delimiter, lineterminator=end)
    writer.writeheader()
    writer.writerows(case.rows)
    return out.getvalue()


def plain(case: Case) -> None:
    """Nothing but the forms that were drawn."""


def _as_text(case: Case) -> None:
    """Another draw, until it is a table of text."""
    while case.format not in ("csv", "tsv"):
        for row in case.rows:
            row.clear()
        case.columns.clear()
        case.format = case.draw.choice(("csv", "tsv"))
        fill(case)


def encodings(case: Case) -> None:
    """A byte order mark, CRLF, semicolons; GBK and UTF-16, which must be refused unless they are read right."""
    _as_text(case)
    comma = {"csv": ",", "tsv": "\t"}[case.format]
    way = case.draw.choice(("bom", "crlf", "semicolons", "gbk", "utf-16", "both"))
    if way == "semicolons":
        case.format = "csv"
    text = text_table(case, ";" if way == "semicolons" else comma, "\r\n" if way in ("crlf", "both") else "\n")
    codec = {"bom": "utf-8-sig", "both": "utf-8-sig", "gbk": "gb18030", "utf-16": "utf-16"}.get(way, "utf-8")
    case.written = text.encode(codec)


def column_order(case: Case) -> None:
    """Columns in another order, so that option B stands before option A."""
    order = list(case.rows[0])
    case.draw.shuffle(order)
    case.rows = [{name: row[name] for name in order} for row in case.rows]


def no_answer_words(case: Case) -> None:
    """Words for nothing that are something: options that say NA, None, null, nan and N/A."""
    words = ("NA", "None", "null", "nan", "N/A", "NULL", "<NA>", "n/a")
    truth = list[Truth]()
    for true in case.truth:
        options = list(true.options)
        options[case.draw.randrange(len(options))] = case.draw.choice(words)
        truth.append(true._replace(options=tuple(options)))
    case.truth = truth
    _anew(case)


def _anew(case: Case) -> None:
    case.rows = [{} for _ in case.truth]
    case.columns.clear()
    fill(case)


def ids_given_twice(case: Case) -> None:
    """One id twice."""
    name = next(iter(case.rows[0]))
    case.rows[3][name] = case.rows[1][name]
    case.readable = False


def missing_pictures(case: Case) -> None:
    """A picture that lies nowhere, or at an address of the web."""
    gone = case.draw.choice(("pics/gone.png", "https://example.org/x.jpg", "../x.png"))
    _picture(_path)(case)
    _drop_pictures(case, gone)
    case.readable = False


def _drop_pictures(case: Case, gone: str) -> None:
    case.rows = [{} for _ in case.truth]
    case.columns.clear()
    case.draw.choice(QUESTIONS)(case)
    ANSWERS[0](case)
    _picture(_path)(case)
    name = list(case.rows[0])[-1]
    case.rows[2][name] = gone
    case.put("subject", [true.subject for true in case.truth])


def mixed_types(case: Case) -> None:
    """Options that are numbers in some rows and texts in others."""
    case.format = case.draw.choice(("json", "jsonl"))
    case.truth = [
        true._replace(options=tuple(str(7 * at + place) for at in range(len(true.options)))) if place % 2 else true
        for place, true in enumerate(case.truth)
    ]
    case.rows, case.columns = [{} for _ in case.truth], {}
    _question(case)
    case.put("choices", [[int(text) if text.isdecimal() and at % 2 else text for text in true.options]
                         for at, true in enumerate(case.truth)])  # fmt: skip
    _answer(lambda true: true.answer[0])(case)
    _picture(_path)(case)
    case.format = case.draw.choice(("json", "jsonl"))
    case.put("subject", [true.subject for true in case.truth])


def contradictions(case: Case) -> None:
    """An answer that names no option, an option that is lost from the middle, two columns that may be the question."""
    way = case.draw.choice(("answer", "gap", "question"))
    case.readable = False
    case.rows, case.columns = [{} for _ in case.truth], {}
    _by_columns(case)
    ANSWERS[0](case)
    names = list(case.rows[0])
    if way == "answer":
        case.rows[4][names[-1]] = case.draw.choice(("H", "?", "A or B", "", "none"))
    elif way == "gap":
        for row in case.rows:
            del row[names[2]]
    else:
        case.rows = [
            {("problem" if name == names[0] else name): text for name, text in row.items()} for row in case.rows
        ]
        case.put("prompt", ["Answer the question."] * len(case.rows))
    _picture(_path)(case)
    case.put("subject", [true.subject for true in case.truth])


KINDS: dict[str, Damage] = {
    "plain": plain, "encodings": encodings, "column_order": column_order, "no_answer_words": no_answer_words,
    "ids_given_twice": ids_given_twice, "missing_pictures": missing_pictures, "mixed_types": mixed_types,
    "contradictions": contradictions,
}  # fmt: skip

if __name__ == "__main__":
    main(sys.argv[1:])
