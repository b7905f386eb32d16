"""What a sample's parts look like as the text of a cell, and back: lists, answers, task types."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping

import msgspec

from mmdyn.errors import did_you_mean
from mmdyn.keys import canonical
from mmdyn.sample import CHOICE_TYPES, TASK_TYPES, Answer, Language, Option, TaskType
from mmdyn.text import read_labels

OPTION_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

OPTION_COLUMN = re.compile(r"([A-J])|(?i:options?|opt|choices?|candidate|选项)[\W_]*([A-Ja-j]|\d{1,2})")
"""What a column that holds one option is called."""

ALIASES: dict[str, TaskType] = {
    "single_answer_choice": "single_choice",
    "multiple_choice": "multi_select",
    "multiple_answer_choice": "multi_select",
    "calculation": "open_ended",
}
"""Names of MDK12-Bench for our task types."""

_ITEM = re.compile(r"""\s*('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")\s*(,|\])""", re.DOTALL)
_CLOSE = re.compile(r"\s*\]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")


def read_list_cell(text: str) -> tuple[str, ...]:
    """A cell that may hold several strings: a list in JSON's or Python's writing, or one bare string; empty for none.

    Raises ValueError for a list that is not closed or holds anything but strings.
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        if text.startswith("["):
            raise ValueError(f"the list {text[:40]!r}… is not closed: write ['…', '…']")
        return (text,) if text else ()
    try:
        return tuple(msgspec.json.decode(text, type=list[str]))
    except msgspec.DecodeError:
        return _python_list(text)


def _python_list(text: str) -> tuple[str, ...]:
    items, at, closing = list[str](), 1, ","
    while closing == "," and not _CLOSE.fullmatch(text, at):
        found = _ITEM.match(text, at)
        if not found:
            raise ValueError(f"the list {text[:40]!r}… cannot be read: write ['…', '…'], strings in quotes")
        items.append(_python_text(found[1]))
        at, closing = found.end(), found[2]
    if closing == "]" and at < len(text):
        raise ValueError(f"the list {text[:40]!r}… goes on after its end: write ['…', '…']")
    return tuple(items)


def _python_text(quoted: str) -> str:
    """The text that a Python literal means. Raises ValueError for an escape that means nothing, such as `\\x` alone."""
    if "\\" not in quoted:
        return quoted[1:-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is no escape, such as \s of a formula, stays as it is
            return str(ast.literal_eval(quoted.replace("\n", "\\n")))
    except SyntaxError:
        raise ValueError(f"the text {quoted[:40]} of a list cannot be read: double its backslashes") from None


def read_task_type(text: str) -> TaskType:
    """A task type by our name or MDK12-Bench's, hyphens and spaces allowed. Raises ValueError."""
    name = re.sub(r"[\s-]+", "_", text.strip().lower())
    for known in TASK_TYPES:
        if name == known:
            return known
    if name in ALIASES:
        return ALIASES[name]
    hint = did_you_mean(name, [*TASK_TYPES, *ALIASES])
    raise ValueError(f"the task type {text.strip()[:40]!r} is unknown{hint}: use one of {', '.join(TASK_TYPES)}")


def guess_task_type(answer: str, labels: tuple[str, ...]) -> TaskType:
    """By options and answer: no options is open_ended, several letters multi_select, else single_choice."""
    if not labels:
        return "open_ended"
    return "multi_select" if len(read_listed_labels(answer, labels)) > 1 else "single_choice"


def read_language(name: str, text: str) -> Language:
    """A language's name; without one, zh where a text has more Chinese characters than Latin words, else en.

    Raises ValueError.
    """
    if not name.strip():
        text = text[:10_000]
        return "zh" if len(_HAN.findall(text)) > len(_LATIN.findall(text)) else "en"
    word = name.strip().lower()
    if word in ("en", "english"):
        return "en"
    if word in ("zh", "cn", "chinese", "中文"):
        return "zh"
    raise ValueError(f"the language {name[:40]!r} is unknown: use en or zh")


def read_answer(text: str, kind: TaskType, labels: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Answer:
    """A cell's answer for a task type, as `write_answer` and other people write it.

    Raises ValueError for none, and for a true_false of other words.
    """
    if not text.strip():
        raise ValueError("the answer is empty: fill it in")
    if kind in CHOICE_TYPES:
        return read_listed_labels(text, labels, texts)
    if kind == "fill_in_the_blank":
        return _read_blanks(text)
    if kind == "open_ended":
        return text
    word = text.strip().rstrip(".。").lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(f"the answer of a true_false must be true or false; {text.strip()[:40]!r} given")
    return word in _TRUE


_TRUE = {"true", "t", "yes", "y", "1", "对", "正确", "是", "√", "✓"}
_FALSE = {"false", "f", "no", "n", "0", "错", "错误", "否", "×", "✗"}


def read_listed_labels(text: str, labels: tuple[str, ...], texts: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The options that an answer names, also as a list ["A", "C"]; whatever names none comes back as it is."""
    if text.strip().startswith("[") and text not in labels:
        listed = read_list_cell(text)
        return listed if all(item in labels for item in listed) else tuple(item.strip() for item in listed)
    return read_labels(text, labels, texts) or (text.strip(),)


def _read_blanks(text: str) -> Answer:
    if not text.strip().startswith("["):
        return ((text,),)
    try:
        blanks = msgspec.json.decode(text, type=list[str | list[str]])
    except msgspec.DecodeError:
        return ((text,),)
    return tuple((blank,) if isinstance(blank, str) else tuple(blank) for blank in blanks)


def write_answer(answer: Answer, kind: TaskType, labels: tuple[str, ...] = ()) -> str:
    """An answer as readable text that `read_answer` takes back: AC, true, the words themselves, or else a JSON list."""
    if isinstance(answer, bool):
        return "true" if answer else "false"
    if isinstance(answer, str):
        return answer
    if kind in CHOICE_TYPES:
        plain = "".join(text for text in answer if isinstance(text, str))
        unlisted = not plain.strip().startswith("[") and read_listed_labels(plain, labels) == answer
        return plain if unlisted else canonical(answer).decode()
    if _read_blanks(plain := answer[0][0]) == answer:
        return plain
    return canonical([blank[0] if len(blank) == 1 else blank for blank in answer]).decode()


def read_option_cells(cells: Mapping[str, str]) -> tuple[Option, ...]:
    """The options in the columns A, B, C, … that are not empty. Raises ValueError where one between two others is
    empty."""
    given = [letter for letter in OPTION_LETTERS if cells.get(letter, "").strip()]
    for letter, expected in zip(given, OPTION_LETTERS, strict=False):
        if letter != expected:
            raise ValueError(f"option {letter} is given but {expected} is empty: fill {expected} or close the gap")
    return tuple(Option(letter, cells[letter]) for letter in given)


def read_number(text: str) -> str | int | float:
    """A number where the text is exactly one (2021, 2.5, 4.0; not 007, not 2.50), else the text."""
    if re.fullmatch(r"0|-?[1-9]\d{0,14}", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text) and repr(number := float(text)) == text:
        return int(number) if number.is_integer() else number
    return text
