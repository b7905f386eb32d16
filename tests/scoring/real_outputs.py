"""Real model outputs out of the public data: what was asked, what the key says, and what the makers' extraction read.

`DATA` is the folder `shared/data` beside the checkout; every reader takes another in its place.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmdyn.equal import same
from mmdyn.sample import Language
from mmdyn.scoring.extract import extract

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True)
class Output:
    """One reply. `gold` and `theirs` are the letters of a choice, the letters of the sub-questions in order, or a free
    answer.

    `theirs` is None where the makers' extraction names nothing; `right` is their mark; `options` are texts, "" where
    unknown.
    """

    id: str
    task: str
    reply: str
    gold: tuple[str, ...]
    theirs: tuple[str, ...] | None
    right: bool
    options: tuple[str, ...] = ()
    language: Language = "en"
    question: str = ""

    def read(self) -> tuple[str, ...] | None:
        """What our readers find, None where they find nothing."""
        labels = tuple(LETTERS[: len(self.options)])
        texts = self.options if any(self.options) else ()
        more = {"question": self.question, "blanks": len(self.gold), "language": self.language}
        found = extract(self.task, self.reply, labels=labels, option_texts=texts, **more).found  # type: ignore[arg-type]
        return tuple(map(str, found)) if isinstance(found, tuple) else None

    def equal(self, found: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> bool:
        """Whether two readings are one answer: the same letters, or the same free answer."""
        if found is None or wanted is None:
            return found is wanted
        if self.options or len(wanted) > 1:
            return found == wanted
        return same(found[0], wanted[0])


def rows(name: str, data: Path = DATA) -> list[dict[str, Any]]:
    """The rows of a file. Raises FileNotFoundError where it is not there."""
    return [json.loads(line) for line in (data / name).read_text(encoding="utf-8").split("\n") if line]


def maintainer_pairs(data: Path = DATA) -> list[tuple[str, str, bool, bool]]:
    """Gold, prediction, whether the maintainers call them equal, and whether both are letters of a choice: the cases
    that say so."""
    cases = rows("answer-extraction/dev/maintainer_cases.jsonl", data)
    return [
        (row["gold"], row["pred"], bool(row.get("result", row.get("expected"))), "abc" in row["test"])
        for row in cases
        if "gold" in row
    ]


def maintainer_readings(data: Path = DATA) -> list[tuple[str, str]]:
    """Reply and what is to be read in it, a letter or a word: the cases that have no gold answer."""
    cases = rows("answer-extraction/dev/maintainer_cases.jsonl", data)
    alone = [row for row in cases if "gold" not in row]
    return [(row.get("pred", row.get("model_output")), row.get("target") or row["expected"][1]) for row in alone]


def equal_as_read(gold: str, given: str, letters: bool) -> bool:
    """Whether what is read in a reply is what is read in the gold answer: letters of a choice among five, or open
    answers."""
    task: str = "single_choice" if letters else "open_ended"
    read = [extract(task, text, labels=tuple("ABCDE") if letters else ()).found for text in (given, gold)]
    if letters:
        return read[0] is not None and read[0] == read[1]
    return None not in read and same(str(read[0]), str(read[1]))


def read_as(given: str, wanted: str) -> bool:
    """Whether a reply is read as a letter of a choice among 26, as the yes or no, or as the word that is wanted."""
    if len(wanted) == 1 and wanted.isascii():
        return extract("single_choice", given, labels=tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")).found == (wanted,)
    if wanted in ("Yes", "No"):
        return extract("true_false", given).found is (wanted == "Yes")
    return same(str(extract("open_ended", given).found), wanted)


def gaokao_questions(data: Path = DATA) -> Iterator[Output]:
    """Questions with one answer each, of which physics may have several letters."""
    for row in rows("gaokao-bench/dev/gpt4_0314_objective_outputs.jsonl", data):
        if len(row["standard_answer"]) == 1:
            task: str = "multi_select" if "Physics" in row["keyword"] else "single_choice"
            yield _gaokao(row, task, tuple(row["standard_answer"][0]), tuple("".join(row["model_answer"])), 7)


def gaokao_passages(data: Path = DATA) -> Iterator[Output]:
    """Passages with a letter for each of several questions."""
    for row in rows("gaokao-bench/dev/gpt4_0314_objective_outputs.jsonl", data):
        if len(row["standard_answer"]) > 1:
            yield _gaokao(row, "fill_in_the_blank", tuple(row["standard_answer"]), tuple(row["model_answer"]), 0)


def _gaokao(row: dict[str, Any], task: str, gold: tuple[str, ...], theirs: tuple[str, ...], options: int) -> Output:
    right = theirs == gold
    return Output(str(row["id"]), task, row["model_output"], gold, theirs or None, right, ("",) * options, "zh")


def gaokao_blanks(data: Path = DATA) -> Iterator[Output]:
    """Blanks of mathematics; no extraction is stored, `right` is the mark that a model gave."""
    for row in rows("gaokao-bench/dev/gpt4_0314_subjective_marked_by_gpt4_1106.jsonl", data):
        if "Fill-in-the-Blank" in row["keyword"]:
            right = row["model_correction_score"][0] > 0
            gold = (row["standard_answer"].strip(),)
            yield Output(row["keyword"], "fill_in_the_blank", row["model_output"], gold, None, right, (), "zh")


def mmlu_pro(data: Path = DATA) -> Iterator[Output]:
    """Five models' choices among up to ten options."""
    for row in rows("answer-extraction/dev/mmlu_pro_outputs.jsonl", data):
        right = row["pred"] == row["answer"]
        yield _choice(
            row["question_id"], row["response"], row["answer"], row["pred"], right, row["options"], row["question"]
        )


def mmmu_pro(data: Path = DATA) -> Iterator[Output]:
    """GPT-4o's choices among up to ten options, some of them pictures."""
    for row in rows("answer-extraction/dev/mmmu_pro_gpt4o_outputs.jsonl", data):
        options = ast.literal_eval(row["options"])
        yield _choice(row["id"], row["response"], row["answer"], row["pred_indexs"], row["if_right"], options)


def mathvision(data: Path = DATA) -> Iterator[Output]:
    """Choices and free answers of many models; a stored choice is read where it is a letter, a free answer where it is
    not a whole reply of several words, which their extraction hands back where it finds nothing."""
    for row in rows("answer-extraction/dev/mathvision_outputs.jsonl", data):
        theirs = row["model_answer"].strip()
        if row["options"]:
            letter = theirs.upper() if theirs.upper() in LETTERS[: len(row["options"])] else None
            yield _choice(
                row["id"], row["response"], row["answer"], letter, row["correct"], row["options"], row["question"]
            )
        else:
            squeezed = "".join(row["response"].lower().split())
            named = "" if len(row["response"].split()) > 5 and theirs[:30] == squeezed[:30] else theirs
            yield _free(row["id"], row["response"], row["answer"], named, row["correct"], row["question"])


def mathvista(data: Path = DATA) -> Iterator[Output]:
    """Choices and free answers; a stored choice is read where it names a letter or an option, not where the nearest was
    taken or it is N/A."""
    for row in rows("answer-extraction/dev/mathvista_outputs_gpt4_extraction.jsonl", data):
        options, theirs = row["choices"], str(row["extraction"] or "").strip()
        if options:
            named = theirs.strip("().").upper()
            at = LETTERS.find(named) if len(named) == 1 else options.index(theirs) if theirs in options else -1
            letter = LETTERS[at] if 0 <= at < len(options) else None
            gold = LETTERS[options.index(row["answer"])]
            yield _choice(row["id"], row["response"], gold, letter, row["true_false"], options, row["question"])
        else:
            named = theirs if row["prediction"] is not None and theirs != "N/A" else ""
            yield _free(row["id"], row["response"], row["answer"], named, row["true_false"], row["question"])


def _choice(
    name: str, reply: str, gold: str, theirs: str | None, right: bool, options: list[Any], question: str = ""
) -> Output:
    texts, read = tuple(map(str, options)), (theirs,) if theirs else None
    return Output(str(name), "single_choice", reply, (gold,), read, bool(right), texts, question=question)


def _free(name: str, reply: str, gold: str, theirs: str, right: bool, question: str) -> Output:
    read = (theirs,) if theirs else None
    return Output(str(name), "fill_in_the_blank", reply, (str(gold),), read, bool(right), question=question)


OUTPUTS: dict[str, Callable[[Path], Iterator[Output]]] = {
    "GAOKAO-Bench questions": gaokao_questions, "GAOKAO-Bench passages": gaokao_passages,
    "GAOKAO-Bench blanks": gaokao_blanks, "MMLU-Pro": mmlu_pro, "MMMU-Pro": mmmu_pro, "MATH-Vision": mathvision,
    "MathVista": mathvista,
}  # fmt: skip
"""The replies by the name of their benchmark."""
