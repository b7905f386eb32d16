"""Make samples from table columns, by a mapping or by the columns' names and contents."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from itertools import islice
from math import isfinite
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from mmdyn.data.formats._cells import (
    OPTION_COLUMN,
    OPTION_LETTERS,
    read_answer,
    read_language,
    read_list_cell,
    read_listed_labels,
    read_number,
    read_task_type,
)
from mmdyn.data.images import is_picture, is_picture_name
from mmdyn.data.raw_rows import RawRow, read_raw_rows
from mmdyn.data.rows import Row
from mmdyn.errors import InputError, UserError, did_you_mean
from mmdyn.keys import Json
from mmdyn.sample import Answer, ImageRef, Option, Sample
from mmdyn.task_types import kind_of
from mmdyn.text import SplitQuestion, read_labels, read_options, split_options

OR_A_VALUE = ("language", "task_type")
"""Keys that take the value itself where no column is called so."""

ANSWERS = ("answer_index", "answer_number", "answer_text", "answer_letter", "answer")
"""Keys of the answer; the first that a row fills is read."""

KEYS: tuple[str, ...] = ("question", *ANSWERS, "options", "image", "caption", "id", *OR_A_VALUE)
VERSION_OF = "version_of"
"""The key, and the name in meta, of the question that a row is a version of; versions have answers of their own."""

KEYS += ("explanation", "group", "knowledge", "ignore", VERSION_OF)
FIELD, META = "field.", "meta."

_LABEL, _WORDS = ("label", "key", "letter", "id"), ("text", "value", "content", "option")
"""What the label and the words of an option are called where it is an object."""

_LINK = re.compile(r"!\[[^\]\n]*\]\(|<img\s", re.IGNORECASE)


def _check_columns(columns: Mapping[str, str], row: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """Check a mapping against a row; `given`: what of it the user typed, and has to type again.

    Raises:
        UserError: A key of the mapping is unknown, or the mapping lacks the question or the answer.
    """
    for key in columns:
        if key not in KEYS and not key.startswith((FIELD, META)):
            known = ", ".join((*KEYS, FIELD + "NAME", META + "NAME"))
            raise UserError(f"there is no {key!r} to map{did_you_mean(key, KEYS)}: use {known}")
    there = {"question": "question" in columns, "answer": bool({*ANSWERS} & columns.keys())}
    if missing := [key for key, holds in there.items() if not holds]:
        called = [name for name in row if _plain_name(name) in GUESSED.split()]
        guess = called[0] if missing == ["answer"] and len(called) == 1 else "COLUMN"
        mapped = [f"{key}={given.get(key, guess)}" for key in there if key in (*missing, *given)]
        raise UserError(
            f"say which column is the {' and which the '.join(missing)}, by --map {','.join(mapped)}:"
            f" the columns are {', '.join(row)}"
        )


def pick_columns(columns: Mapping[str, str], row: Mapping[str, Any], where: str | Path) -> dict[str, list[Any]]:
    """Pick the values of a row for each key of a mapping.

    Args:
        columns: Column by key. `A+B+C` names several columns, `choices.text` a part of one.
        row: Values by column.
        where: The set or file, for error messages.

    Returns:
        For each key a list of values, one for each column. `language` and `task_type` may be given as values
        themselves.

    Raises:
        InputError: There is no such column.

    >>> pick_columns({"question": "q", "options": "a+b", "language": "zh"}, {"q": "?", "a": "1", "b": "2"}, "set")
    {'question': ['?'], 'options': ['1', '2'], 'language': ['zh']}
    """
    given: dict[str, list[Any]] = {}
    for key, text in columns.items():
        try:
            given[key] = [_pick(row, path) for path in ([text] if text in row else text.split("+"))]
        except KeyError as missing:
            if key not in OR_A_VALUE:
                path = missing.args[0]
                told = f"there is no column {path!r}{did_you_mean(path, row)}: there are {', '.join(row)}"
                raise InputError(where, None, told) from None
            given[key] = [text]
    return given


def sample_of_columns(
    given: Mapping[str, list[Any]], set_name: str, number: int, put: Callable[[Any], ImageRef]
) -> Sample:
    """Make a sample from the picked values of a row; without an id its id is the row's number.

    Of the answer keys `answer_index` is the number of the right option from 0, `answer_number` from 1, `answer_text`
    its text, `answer_letter` its letter or the letters of several. `answer` may be any of these, and is refused where
    it may mean two of them. Several right options make a multi_select. Without a column of options, those at the
    question's end are used if the answer names one. Without options, true and false make a true_false, a number one
    blank, a list the accepted texts of a blank (a list of lists several blanks), and a text an open_ended.

    Args:
        given: Values by key, from `pick_columns`.
        set_name: The set's name, which begins the sample's id.
        number: The row's number.
        put: Stores a picture and returns its path in the set.

    Raises:
        ValueError: The row is no sample; the sentence says why.
    """
    plain = {key: parts for key, parts in given.items() if key not in ("image", "options") and not key.startswith(META)}
    how = next((key for key in ANSWERS if any(part not in (None, "") for part in given.get(key, []))), "answer")
    value = given[how][0] if len(given.get(how, ())) == 1 else given.get(how)
    with suppress(ValueError):  # an interval such as [0, 2] is no list of texts
        value = read_listed(value)
    texts = {key: "\n\n".join(filter(None, map(_text, parts))) for key, parts in plain.items() if key != "ignore"}
    seed = texts.get(VERSION_OF, "").strip()
    if VERSION_OF in given and not seed:
        raise ValueError(f"it does not say of which question it is a version: fill the column of {VERSION_OF}")
    kind, question = read_task_type(texts["task_type"]) if texts.get("task_type") else None, texts["question"]
    options, names, mended = _options(given.get("options", []), put)
    if not options and (kind is None or kind_of(kind).form == "choice"):
        question, options, mended = _options_in(question, _text(value), kind)
        value = _text(value) if options and type(value) is int else value  # nobody says what it counts from
    if any(_LINK.search(text) for text in (question, *[option.text for option in options])):
        raise ValueError("the question links to a picture in its text: name pictures in a column, and map image=COLUMN")
    kind, answer = _answer(value, kind, options, names, how)
    images = tuple(put(value) for value in flat([*map(read_listed, flat(given.get("image", [])))]) if value)
    captions: list[Json] = [*map(_text, flat(given.get("caption", [])))]
    fields = {key.removeprefix(FIELD): _field(parts[0]) for key, parts in given.items() if key.startswith(FIELD)}
    meta: dict[str, Json] = {
        key.removeprefix(META): _json(parts[0]) for key, parts in given.items() if key.startswith(META)
    }
    meta |= {"caption": captions if any(captions) else None, "mended": [*mended], VERSION_OF: seed}
    return Sample(
        id=sample_id(set_name, texts.get("id") or str(number)),
        question=question,
        task_type=kind,
        answer=answer,
        language=read_language(texts.get("language", ""), question),
        options=options,
        images=images,
        group=texts.get("group") or seed or None,
        fields={"modality": "multimodal" if images else "text", **{k: v for k, v in fields.items() if v != ""}},
        knowledge_points=tuple(filter(None, map(_text, flat([*map(read_listed, given.get("knowledge", []))])))),
        explanation=texts.get("explanation", ""),
        meta={name: said for name, said in meta.items() if said not in (None, "", [])},
    )


def sample_id(benchmark: str, *original: str) -> str:
    """Build a sample's id from the benchmark's name and the data set's own id.

    Raises:
        ValueError: A part is empty, or contains `~`, which marks variants.

    >>> sample_id("we_math", "2steps_17", "1")
    'we-math-2steps_17-1'
    """
    if any("~" in part or not part.strip() for part in original):
        raise ValueError(f"the id {'-'.join(original)!r} is empty or holds a '~', which marks variants: rename it")
    return "-".join((benchmark.replace("_", "-"), *(part.strip() for part in original)))


def choice_type(options: tuple[Option, ...], answer: tuple[str, ...]) -> str:
    """Choose single_choice or multi_select by the number of right letters.

    Raises:
        ValueError: A wrong option has the same text as a right one.

    >>> choice_type((Option("A", "4"), Option("B", "5")), ("B",))
    'single_choice'
    """
    texts = {option.label: option.text.strip() for option in options}
    right = {texts.get(label, "") for label in answer} - {""}
    for label, text in texts.items():
        if label not in answer and text in right:
            raise ValueError(f"option {label} says the same as a right one ({text[:40]!r}): correct one of them")
    return "single_choice" if len(answer) == 1 else "multi_select"


def _pick(value: Any, path: str) -> Any:
    """What a row holds in a column or in a part of one; of a list, of each item. Raises KeyError."""
    if isinstance(value, list):
        return [_pick(item, path) for item in value]
    if value is None or (isinstance(value, dict) and path in value):
        return value and value[path]
    head, dot, rest = path.partition(".")
    if not (dot and isinstance(value, dict)):
        raise KeyError(path)
    return _pick(value[head], rest)


def flat(parts: list[Any]) -> list[Any]:
    return [item for part in parts for item in (part if isinstance(part, list) else [part])]


def read_listed(value: Any) -> Any:
    """The list that a text writes out, or the value itself."""
    return [*read_list_cell(value)] if isinstance(value, str) and value.strip().startswith("[") else value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float | Decimal | None):
        kind = type(value).__name__
        raise ValueError(f"a {kind} stands where a text is to be: write it as text, or map a part of it (COLUMN.KEY)")
    return "" if value is None else str(_plain(value))


def _field(value: Any) -> str | int | float:
    """A number, and a text that is exactly one, as a number."""
    return read_number(str(_plain(value)) if type(value) in (int, float) else _text(value))


def _json(value: Any) -> Json:
    """A value as JSON has it: a date and the like as text, a text that is exactly a number as that."""
    return _field(value) if isinstance(value, str | float) else msgspec.to_builtins(value, str_keys=True)


def _plain(value: Any) -> Any:
    """The value; of a column of numbers with gaps, which a table of text makes floats, the whole number or nothing."""
    if isinstance(value, float) and not isfinite(value):
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _options(
    parts: list[Any], put: Callable[[Any], ImageRef]
) -> tuple[tuple[Option, ...], dict[str, str], tuple[str, ...]]:
    """The options, without letters that stand before their words; the letters of those that are numbered; what was
    mended. Of several columns those up to the last that says something. Raises ValueError."""
    given = _decoded(parts[0]) if len(parts) == 1 else parts
    if isinstance(given, str):
        stem, options, mended = split_options(given, 2)
        if options and not stem:
            return options, {}, mended
        given = [line for line in given.splitlines() if line.strip()]
    labels, values = _labelled(given)
    while values and values[-1] in (None, ""):
        values.pop()
    if len(values) > len(OPTION_LETTERS):
        raise ValueError(f"{len(values)} options: at most {len(OPTION_LETTERS)} are taken")
    letters, labels = list(OPTION_LETTERS[: len(values)]), labels[: len(values)]
    numbered = labels in ([str(first + at) for at in range(len(values))] for first in (0, 1))
    pictures = [put(value) if is_picture(value) or is_picture_name(value) else None for value in values]
    texts = ["" if picture else _text(value).strip() for value, picture in zip(values, pictures, strict=True)]
    options, mended = read_options(texts, letters if numbered or not labels else labels)
    if any(pictures):
        if not numbered and labels not in ([], letters):
            raise ValueError(f"the options are labelled {', '.join(labels)}: label them A, B, C, …")
        named = zip(letters, texts, pictures, strict=True)
        options = tuple(Option(letter, text, picture) for letter, text, picture in named)
    return options, dict(zip(labels, letters, strict=True)) if numbered else {}, mended


def _options_in(question: str, answer: str, kind: str | None) -> SplitQuestion:
    """A question without the options at its end, if the answer names one of them. Raises ValueError."""
    letters = read_labels(answer, OPTION_LETTERS[:8])
    try:
        found = split_options(question, 2)
    except ValueError:
        if kind or letters:
            raise
        return SplitQuestion(question)
    labels, texts = [option.label for option in found.options], [option.text for option in found.options]
    named = kind or letters or answer.isdecimal() or answer in texts or read_labels(answer, labels, texts)
    return found if found.options and named else SplitQuestion(question)


def _decoded(value: Any) -> Any:
    """The list or object that a text writes out, as JSON or Python has it; another value itself. Raises ValueError."""
    if not isinstance(value, str) or not value.strip().startswith(("[", "{")):
        return value
    lists = [read_list_cell] if value.strip().startswith("[") else []
    readers: list[Callable[[str], Any]] = [msgspec.json.decode, *lists, ast.literal_eval]
    for read in readers:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            found = read(value.strip())
            return [*found] if isinstance(found, tuple) else found
    raise ValueError(f"the options {value[:40]!r} cannot be read: write them as JSON")


def _labelled(given: Any) -> tuple[list[str], list[Any]]:
    """The labels, if there are any, and the values of a list, of a list of objects, or of an object. Raises
    ValueError."""
    if isinstance(given, dict) and all(isinstance(part, list) for part in given.values()):
        given = [dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True)]
    if isinstance(given, list) and given and all(isinstance(one, dict) and not is_picture(one) for one in given):
        label, words = (next((name for name in names if name in given[0]), "") for names in (_LABEL, _WORDS))
        keys = {key for one in given for key, part in one.items() if part not in (None, "")}
        if all(len(one) == 1 for one in given) and keys != {words}:
            given = {key: part for one in given for key, part in one.items()}
        elif not words or keys - {label, words}:
            raise ValueError(
                f"an option is an object of {', '.join(sorted(keys))}: map options=COLUMN.{words or 'KEY'}"
            )
        else:
            return [str(one[label]) for one in given if one.get(label)], [one.get(words) for one in given]
    if isinstance(given, dict):
        return [*map(str, given)], [*given.values()]
    return [], [*given] if isinstance(given, list) else [given]


def _answer(
    value: Any, kind: str | None, options: tuple[Option, ...], names: Mapping[str, str], how: str
) -> tuple[str, Answer]:
    """The task type, where none is given, and the answer. Raises ValueError."""
    if options and (kind is None or kind_of(kind).form == "choice"):
        labels = tuple(label for item in flat([value]) for label in _labels(item, options, names, how))
        by_labels = choice_type(options, labels)
        return kind or by_labels, labels
    if isinstance(value, list) and (kind is None or kind_of(kind).form == "blank"):
        blanks = value if all(isinstance(item, list) for item in value) else [value]
        return kind or "fill_in_the_blank", tuple(tuple(map(_text, blank)) for blank in blanks)
    text = _text(value)
    if kind is None:
        usual = "open_ended" if isinstance(read_number(text), str) else "fill_in_the_blank"
        kind = "true_false" if text.lower() in ("true", "false") else usual
    return kind, read_answer(text, kind)


def _labels(value: Any, options: tuple[Option, ...], names: Mapping[str, str], how: str) -> tuple[str, ...]:
    """The labels that one answer names. Raises ValueError where it may be read in two ways."""
    labels, words, text = tuple(one.label for one in options), [one.text for one in options], _text(value).strip()
    letters: tuple[str, ...] = (names.get(text, text),)
    with suppress(ValueError):  # an interval such as [0, 2] is no list of letters
        letters = read_listed_labels(letters[0], labels)
    if not {*letters} <= {*labels}:
        letters = read_labels(text, labels, words) or letters
    number = int(text) if text.isdecimal() else -1
    ways: dict[str, list[tuple[str, ...]]] = {
        "answer_index": [labels[number : number + 1]] if 0 <= number < len(labels) else [],
        "answer_text": [(option.label,) for option in options if option.text == text],
        "answer_letter": [letters] if {*letters} <= {*labels} else [],
        "answer_number": [labels[number - 1 : number]] if 1 <= number <= len(labels) else [],
    }
    taken = [how] if how in ways else ["answer_text", "answer_letter", *["answer_index"] * (type(value) is int)]
    found = {named for way in taken for named in ways[way]}
    if len(found) > 1:
        could = " or ".join(sorted("".join(named) for named in found))
        raise ValueError(f"the answer {text[:40]!r} could be {could}: map the column as {' or '.join(ways)}")
    if not found and how not in ways and ways["answer_number"]:
        told = "does it count from 0 (map it as answer_index) or from 1 (answer_number)?"
        raise ValueError(f"the answer {text!r} is no option's letter or words: {told}")
    return found.pop() if found else (text,)


OnColumns: TypeAlias = Callable[[Mapping[str, str]], object]
"""Sees which column was taken for what."""

OnFolder: TypeAlias = Callable[[Path], object]
"""Sees in which folder the pictures were found, where that is not the file's."""

PutFrom: TypeAlias = Callable[[Any, Path], ImageRef]
"""Stores a picture of a folder, and returns its path in the set."""

NAMES = {
    "passage": "context material article hint 材料 阅读材料",
    "question": "prompt query problem stem questiontext 题目 问题 题干",
    "answer": "answers answerkey correctanswer rightanswer goldenanswer groundtruth gold target label 答案 正确答案",
    "options": "option choices candidates optionlist 选项",
    "image": "images picture pictures img imgs figure figures photo imagepath imagefile 图片 图像 配图",
    "id": "index idx qid uid questionid sampleid 编号 序号 题号",
    "explanation": "analysis solution rationale 解析 分析",
    "knowledge": "knowledgepoint knowledgepoints 知识点",
    "language": "lang 语言",
}
"""What other tables call a key, in lower case and without spaces and the like."""

GUESSED = (
    "correct right key ans letter solution solutionletter correctoption correctchoice correctletter correctkey"
    " rightoption rightchoice rightletter answeroption answerletter answerchoice answerlabel answertext truth"
    " modelanswer 答 正解 标准答案 参考答案 正确选项 正确项 答案选项 答案字母"
)
"""What other tables call the answer, and other things, too: taken where it names one of the options in every row."""

FEW, SHORT = 20, 100
"""A column of so many values at most, each of so many characters at most, becomes a field to break reports down by."""


class _Column(Struct):
    """What a column holds; `values` are the first that differ. `counts`: it has whole numbers. `raw`: it has bytes."""

    filled: int = 0
    values: set[str] = set()
    short: bool = True
    pictures: bool = False
    counts: bool = False
    raw: bool = False


def read_table(
    rows: Callable[[], Iterable[RawRow]],
    columns: Mapping[str, str],
    where: str | Path,
    name: str,
    put: PutFrom,
    folder: Path,
    on_columns: OnColumns,
    on_folder: OnFolder,
    most: int | None = None,
) -> Iterator[Row]:
    """The rows of a table by a mapping of columns; what it does not say is found in the first `most` rows, or in all.
    An id that a column has stays as it is. Pictures lie in `folder`, or where they do not in the one folder inside it
    that has all. Raises what `find_columns` and `pick_columns` raise."""
    survey = _survey(_values(raw) for raw in islice(rows(), most))

    def picked(found: Mapping[str, str], raw: RawRow) -> dict[str, list[Any]]:
        return pick_columns(found, dict.fromkeys(survey) | _values(raw), where)

    def names_options(name: str, options: str) -> bool:
        read = (picked({"options": options, "answer": name}, raw) for raw in islice(rows(), most) if not raw.problem)
        return all(_is_label(given) for given in read)

    found = find_columns(columns, survey, where, names_options) if survey else {}
    named = list[Any]()
    pictured = "+".join(name for name, column in survey.items() if column.pictures and name in _columns_of(found))
    for raw in islice(rows(), most) if pictured else ():
        named += picked({"image": pictured}, raw)["image"]
    lie_in = _folder_of(named, folder)
    on_columns(found)
    if lie_in != folder:
        on_folder(lie_in)

    def build(given: Mapping[str, list[Any]], number: int) -> Sample:
        made = sample_of_columns(given, name, number, lambda value: put(value, lie_in))
        own = any(part not in (None, "") for part in given.get("id", ()))
        return msgspec.structs.replace(made, id=made.id.removeprefix(f"{name.replace('_', '-')}-")) if own else made

    for number, raw in enumerate(rows(), 1):
        if raw.problem:
            yield Row(str(where), raw.line, problem=raw.problem)
        else:
            yield Row.build(where, raw.line, build, picked(found, raw), number)


def _columns_of(found: Mapping[str, str]) -> set[str]:
    """The columns of pictures, among the question's or the options'."""
    return {name for key in ("image", "options") for name in found.get(key, "").split("+")}


def _is_label(given: Mapping[str, list[Any]]) -> bool:
    """Whether what may be a row's answer names some of its options."""
    try:
        options, names, _ = _options(given["options"], lambda value: "picture")
        labels = {label for item in flat(given["answer"]) for label in _labels(item, options, names, "answer")}
    except ValueError:
        return False
    return bool(labels) and labels <= {option.label for option in options}


def _folder_of(values: Iterable[Any], folder: Path) -> Path:
    """The folder of named pictures, or the only one inside it that has all of them where it has not."""
    listed = list[Any]()
    for value in flat([*values]):
        with suppress(ValueError):
            listed += flat([read_listed(value)])
    names = {value.strip() for value in listed if is_picture_name(value) and "://" not in value}
    if not names or all((folder / name).is_file() for name in names):
        return folder
    inside = [one for one in folder.iterdir() if one.is_dir() and not one.is_symlink()] if folder.is_dir() else []
    having = [one for one in inside if all((one / name).is_file() for name in names)]
    return having[0] if len(having) == 1 else folder


def find_columns(
    given: Mapping[str, str],
    survey: Mapping[str, _Column],
    where: str | Path,
    names_options: Callable[[str, str], bool],
) -> dict[str, str]:
    """What is given, and what each other column that is not empty is: a key or an option by its name, pictures by its
    values, else a field (few values) or meta; bytes that are no picture are ignored.

    Raises InputError where two may be the question, the answer, the options or the pictures, and where numbers may
    count options from 0 or from 1; UserError where the question or the answer is missing, or a
    key is unknown.
    """
    pick_columns(given, dict.fromkeys(survey), where)
    found = dict(given)
    taken = {name for path in given.values() for part in path.split("+") for name in (path, part, part.split(".")[0])}
    free = {name: column for name, column in survey.items() if column.filled and name not in taken}

    def claim(key: str, names: list[str]) -> None:
        if names and key not in found:
            found[key] = "+".join(names)
            for name in names:
                del free[name]

    for key in (*KEYS, "passage"):
        claim(key, [name for name in free if name == key])
    claim("options", _lettered(free, where))
    for key in NAMES:
        if key == "image" and "options" in found and not found.keys() & {*ANSWERS}:
            fits = [
                name for name in free if _plain_name(name) in GUESSED.split() and names_options(name, found["options"])
            ]
            if len(fits) > 1:
                raise _unclear("answer", fits, where)
            claim("answer", fits)
        called = [name for name in free if _is_called(name, key)] if key != "image" else []
        if key in found or (key == "answer" and found.keys() & {*ANSWERS}):
            continue
        if len(called) > 1 and key in ("question", "answer", "options"):
            raise _unclear(key, called, where)
        claim(key, called[: len(called) == 1])
    pictures = [name for name, column in free.items() if column.pictures]
    if "image" not in found:
        pictures = pictures or [name for name in free if _is_called(name, "image")]
    if pictures and ("image" in found or len({_split(name)[0] for name in pictures}) > 1):
        raise _unclear("image", pictures, where)
    claim("image", sorted(pictures, key=_split))
    if "passage" in found:
        before = found.pop("passage")
        found |= {META + before: before} if "question" in given else {"question": f"{before}+{found.get('question')}"}
    _check_columns(found, survey, given)
    answer = survey.get(found.get("answer", ""), _Column())
    if "options" in found and answer.counts and answer.values <= {*map(str, range(1, 11))}:
        told = "are whole numbers, and never 0: map it as answer_index (from 0) or answer_number (from 1)"
        raise InputError(where, None, f"the answers in the column {found['answer']!r} {told}")
    for name, column in free.items():
        few = column.short and len(column.values) <= min(FEW, column.filled - 1)
        if column.raw:
            found["ignore"] = "+".join(filter(None, (found.get("ignore"), name)))
        else:
            found.setdefault((FIELD if few else META) + name, name)
    return found


def is_foreign(file: Path) -> bool:
    """Whether a file is a table of columns of its own, which no format reads. Raises InputError."""
    ending = file.suffix.lower()
    if not file.is_file() or ending in (".csv", ".json", ".xlsx"):
        return file.is_file()
    rows = read_raw_rows(file) if ending in (".jsonl", ".ndjson", ".tsv", ".parquet") else iter(())
    first = next((raw for raw in rows if not raw.problem), None)
    if first is None:
        return False
    names = first.values.keys()
    if "question" in names and names & {"task_type", "options_in_image", "fields", "meta", "variant", "mmdyn"}:
        return False
    lettered = any(OPTION_COLUMN.fullmatch(name) and len(name) > 1 for name in names) or any(
        _is_called(name, "options") for name in names
    )
    usual = {"question", "answer"} <= names and names & {"index", "id"} and ending in (".tsv", ".parquet")
    return bool(lettered or not usual)


def _survey(rows: Iterable[Mapping[str, Any]]) -> dict[str, _Column]:
    columns: dict[str, _Column] = {}
    for row in rows:
        for name, value in row.items():
            column = columns.setdefault(name, _Column())
            if value in (None, "", []) or value != value:
                continue
            listed = [value]
            with suppress(ValueError):
                listed = flat([read_listed(value)])
            column.filled += 1
            column.short = column.short and type(value) in (str, int, float, bool) and len(str(value)) <= SHORT
            column.counts = column.counts or any(type(one) is int for one in listed)
            column.raw = column.raw or isinstance(value, bytes) or (isinstance(value, dict) and "bytes" in value)
            column.pictures = column.pictures or any(is_picture(one) or is_picture_name(one) for one in listed)
            if len(column.values) <= FEW:
                column.values |= {str(one) for one in listed if len(str(one)) <= SHORT}
    return columns


def _values(raw: RawRow) -> dict[str, Any]:
    """A row's values, with the key that it lies under in a JSON object."""
    return {"section": raw.section, **raw.values} if raw.section else raw.values


def _is_called(name: str, key: str) -> bool:
    return _plain_name(name) in (key, *NAMES[key].split())


def _plain_name(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _split(name: str) -> tuple[str, int]:
    """A name without the number at its end, and the number."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _lettered(names: Iterable[str], where: str | Path) -> list[str]:
    """The columns that hold an option each, in order. Raises InputError where they run neither A, B, … nor 1, 2, …"""
    families: dict[str, dict[str, str]] = {}
    for name in names:
        if found := OPTION_COLUMN.fullmatch(name):
            letter = next(filter(None, found.groups()))
            families.setdefault(name[: -len(letter)], {})[letter.upper()] = name
    several = [family for family in families.values() if len(family) > 1]
    if not several:
        return []
    family = dict(sorted(several[0].items(), key=lambda item: (len(item[0]), item[0])))
    runs = ([*ascii_uppercase], [*map(str, range(1, 100))], [*map(str, range(100))])
    if len(several) > 1 or not any([*family] == run[: len(family)] for run in runs):
        raise _unclear("options", [name for family in several for name in family.values()], where)
    return [*family.values()]


def _unclear(key: str, names: list[str], where: str | Path) -> InputError:
    told = f"it is not clear what is the {key}: {', '.join(names)} may be"
    return InputError(where, None, f"{told}; say it by --map {key}=…, and leave others out by ignore=…")
