"""A made-up set in MDK12-Bench's form, and a server of stand-in models that err at known rates.

python tests/benchmarks/making_mdk12.py make FOLDER [EACH]         write the TSV files, EACH questions a cell (2)
python tests/benchmarks/making_mdk12.py serve PORT SET [DYNAMIC]   answer questions of these set folders as PROFILES say
"""

from __future__ import annotations

import asyncio
import base64
import csv
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from making import picture
from mmdyn.data import SampleSet
from mmdyn.keys import stream
from mmdyn.sample import Sample
from mmdyn.testing import FakeServer, fake_verdict
from mmdyn.testing.dialects import FakeRequest

COLUMNS = (
    "index", "question", "category", "subfield", "curriculum", "topic", "answer", "knowledge", "analysis", "year",
    "grade_level", "difficulty_level", "image", "A", "B", "C", "D",
)  # fmt: skip
LEVELS, YEARS = ("Easy", "Medium", "Hard"), range(2016, 2026)
KINDS = ("single_answer_choice", "fill_in_the_blank", "single_answer_choice", "calculation", "true_false")
QUESTIONS = {
    "MA": ("algebra", "Products", "A large shop (number {code}) sells {a} boxes, and each box holds {b} pencils. How many pencils does the shop sell?"),
    "PH": ("mechanics", "Newton's second law", "A small cart (number {code}) has a mass of {a} kg and accelerates at {b} m/s². How many newtons is the net force on it?"),
    "CH": ("solutions", "Concentration", "A teacher prepares solution {code}, which contains {a} g of salt in each litre. How many grams of salt do {b} litres of it contain?"),
    "BI": ("ecology", "Populations", "In region {code} every nest contains {a} eggs, and a student finds {b} nests. How many eggs does the student find?"),
    "GE": ("maps", "Scale", "On map {code} one centimetre stands for {a} kilometres, and two towns are {b} centimetres apart. How many kilometres are there between the towns?"),
    "IT": ("data", "Storage", "A computer keeps file {code} in {a} blocks, and each block holds {b} bytes. How many bytes does the file take?"),
}  # fmt: skip


class Profile(NamedTuple):
    """How often a model is right: at an easy question of 2016 as published, less what each thing costs it."""

    easy: float
    level: float
    hard_disciplines: float
    year: float
    changed: tuple[float, float]
    points: tuple[float, float, float]


JUDGE = "judge"
"""The name of the server's judge."""

PROFILES = {
    "fable-7b": Profile(0.66, 0.05, 0.10, 0.012, (0.10, 0.12), (0.08, 0.06, 0.02)),
    "fable-72b": Profile(0.76, 0.05, 0.10, 0.012, (0.08, 0.08), (0.06, 0.05, 0.02)),
    "fable-72b-thinking": Profile(0.82, 0.04, 0.08, 0.010, (0.12, 0.10), (0.05, 0.05, 0.03)),
    "saga-8b": Profile(0.56, 0.06, 0.10, 0.014, (0.12, 0.14), (0.07, 0.06, 0.02)),
}
"""`level`: a step of difficulty. `hard_disciplines`: math and physics. `year`: each year after 2016. `changed`: another
picture, other words. `points`: what knowledge points give at easy, medium and hard questions."""


def write_mdk12(folder: Path, each: int = 2, years: Iterable[int] = YEARS) -> Path:
    """Write the files: `each` questions of every discipline, difficulty and year, of both modalities and four types."""
    rows: dict[str, list[dict[str, str]]] = {}
    for code, (subject, level, year, number) in enumerate(product(QUESTIONS, LEVELS, years, range(each)), 1000):
        subfield, topic, question = QUESTIONS[subject]
        a, b = 3 + code % 17, 4 + code % 13
        kind, multi = KINDS[(code + number) % len(KINDS)], number % 2
        grade = "MS" if level == "Easy" else "HS"
        row = {
            "index": str(code), "question": question.format(code=code, a=a, b=b), "subfield": subfield, "topic": topic,
            "curriculum": f"{subfield} {grade}", "knowledge": f"{topic}; multiplication", "year": str(year),
            "grade_level": "Grade 8" if grade == "MS" else "Grade 11", "difficulty_level": level, "answer": str(a * b),
        }  # fmt: skip
        if kind == "single_answer_choice":
            place, wrong = code % 4, [a * b + a, a * b - b, a + b]
            row |= dict(zip("ABCD", map(str, [*wrong[:place], a * b, *wrong[place:]]), strict=True))
            row["answer"] = "ABCD"[place]
        elif kind == "true_false":
            said, asked = row["question"].split(" How many ")
            row |= {"question": f"{said} The answer to the question how many {asked[:-1]} is {a * b + code % 2}."}
            row["answer"] = "false" if code % 2 else "true"
        elif kind == "fill_in_the_blank":
            row["question"] += " ____"
        row["image"] = base64.b64encode(picture(160, 120, text=f"{a} x {b}")).decode() if multi else ""
        rows.setdefault(f"{grade}{subject}_{kind}_{'multi' if multi else 'single'}_modal.tsv", []).append(row)
    folder.mkdir(parents=True, exist_ok=True)
    for name, listed in rows.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="", delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(listed)
    return folder


class StandIns(FakeServer):
    """Answers as the model of a profile would: rightly or wrongly, drawn by model, sample and what lies beside it."""

    def __init__(self, sets: Iterable[SampleSet], port: int = 0) -> None:
        super().__init__(port=port, models=(*PROFILES, JUDGE))
        self._samples: dict[str, list[Sample]] = {}
        for sample in (sample for one in sets for sample in one):
            self._samples.setdefault(_code(sample.question), []).append(sample)

    def _say(self, asked: FakeRequest) -> str:
        prompt = "\n".join(message.text for message in asked.messages)
        if asked.model == JUDGE:
            return self._judge(prompt, bool(asked.pictures))
        sample = next(_fitting(self._samples.get(_code(prompt), ()), prompt, asked.pictures), None)
        if sample is None:
            return "I do not know this question."
        helped = "multiplication" in prompt
        right = float(stream("stand-in", asked.model, sample.id, helped).random()) < _rate(asked.model, sample, helped)
        return f"I multiply.\nAnswer: {_answer(sample, right)}"

    def _judge(self, prompt: str, pictures: bool) -> str:
        """A true mark; a kind of error that the prompt's text draws."""
        verdict = fake_verdict(prompt, hashed=True, pictures=pictures)
        said = re.search(r"^Answer: (.*)$", prompt, re.MULTILINE)
        right = said and any(said[1].strip() == _answer(one, True) for one in self._samples.get(_code(prompt), ()))
        return re.sub(r'(?<="a fake verdict", )[\d.]+', str(int(bool(right))), verdict)


def _code(text: str) -> str:
    found = re.search(r"(?:number|solution|region|map|file) (\d{4,})", text)
    return found[1] if found else ""


def _fitting(samples: Iterable[Sample], prompt: str, pictures: Iterable[str]) -> Iterator[Sample]:
    shown = set(pictures)
    for sample in sorted(samples, key=lambda one: -len(one.options)):
        texts = [sample.question, *(option.text for option in sample.options)]
        known = {Path(image).stem for image in sample.images}
        if known == shown and all(text in prompt for text in texts):
            yield sample


def _rate(model: str, sample: Sample, helped: bool) -> float:
    profile, fields = PROFILES[model], sample.fields
    level = [name.lower() for name in LEVELS].index(str(fields["difficulty"]))
    rate = profile.easy - level * profile.level - (int(fields["year"]) - 2016) * profile.year
    rate -= profile.hard_disciplines * (fields["discipline"] in ("math", "physics"))
    operators = {step.operator.partition(".")[0] for step in sample.variant.steps} if sample.variant else set()
    rate -= sum(cost for kind, cost in zip(("image", "text"), profile.changed, strict=True) if kind in operators)
    return rate + profile.points[level] * helped


def _answer(sample: Sample, right: bool) -> str:
    answer = sample.answer
    if isinstance(answer, bool):
        return str(answer if right else not answer)
    if sample.options:
        assert isinstance(answer, tuple)
        label = answer[0]
        return str(label if right else next(one for one in sample.labels if one != label))
    part = answer if isinstance(answer, str) else answer[0]
    told = part if isinstance(part, str) else part[0]
    return told if right else f"{told}1"


async def _serve(port: str, *folders: str) -> None:
    async with StandIns(map(SampleSet, folders), int(port)) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.argv[1] == "make":
        write_mdk12(Path(sys.argv[2]), *map(int, sys.argv[3:]))
    else:
        asyncio.run(_serve(*sys.argv[2:]))
