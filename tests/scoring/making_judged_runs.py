"""Sets, models and judges for tests of judged runs: scripts, whose judges know the code of each answer that they may be
shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from making_judges import marks

from making import choice, multi, open_ended, write_set
from mmdyn.plugins import load
from mmdyn.sample import Sample

ICE, SKY, SEA = (
    open_ended("ice", "It is less dense than water.", question="Why does ice float?"),
    open_ended("sky", "Blue light is scattered most.", question="Why is the sky blue?"),
    open_ended("sea", "Salt is washed out of rocks.", question="Why is the sea salty?"),
)
SIDES, PRIMES = choice("sides"), multi("primes")
SAID = {
    "ice": "Because its density is lower.", "sky": "Answer: Blue light is scattered most.", "sea": "Fish made it so.",
    "sides": "Answer: B", "primes": "Answer: A",
}  # fmt: skip
"""By the rules sky and sides are right, primes is half right by mdk12, and the two others are wrong."""

SAMPLES = {sample.id: sample for sample in (ICE, SKY, SEA, SIDES, PRIMES)}
RULES = {"ice": 0.0, "sky": 1.0, "sea": 0.0, "sides": 1.0, "primes": 0.5}
CHEAP = {"ice": 1.0, "sea": 0.25, "primes": 0.0}
"""What the usual judge gives to what the rules do not call right."""


def questions(folder: Path) -> Path:
    """The set of these samples."""
    write_set(folder / "set", SAMPLES.values())
    return folder / "set"


def model(folder: Path, said: Mapping[str, str] = SAID) -> str:
    """The MODEL that says these things."""
    lines = [{"match": SAMPLES[name].question, "reply": text} for name, text in said.items()]
    return scripted(folder / "model.jsonl", *lines)


def judge_lines(given: Mapping[str, float], said: Mapping[str, str] = SAID) -> list[dict[str, str]]:
    """Lines of a script that gives these marks to what the model said; whoever asks about something else gets no
    verdict."""
    return [judged_line(SAMPLES[name], said[name], mark) for name, mark in given.items()]


def judge(folder: Path, name: str, given: Mapping[str, float], *more: dict[str, str]) -> str:
    """The MODEL of a judge that gives these marks, labelled with its name; where no line fits, it cannot be asked at
    all."""
    return scripted(folder / f"{name}.jsonl", *judge_lines(given), *more)


def scripted(file: Path, *lines: dict[str, str]) -> str:
    """The MODEL that answers by these lines."""
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return f"scripted:{file},max_tries=1"


def code_of_answer(sample: Sample, text: str) -> str:
    """The code of the question that a judge is asked about an answer."""
    code: str = load("rubrics", "match")().sheet(sample, text, False).code
    return code


def lines_on(*names: str, **line: str) -> list[dict[str, str]]:
    """Lines of a judge that says this, or fails so, when asked about these."""
    return [{"match": code_of_answer(SAMPLES[name], SAID[name]), **line} for name in names]


def judged_line(sample: Sample, text: str, mark: float) -> dict[str, str]:
    """The line of a judge that gives this mark to this answer."""
    code = code_of_answer(sample, text)
    return {"match": code, "reply": marks(code, mark)}
