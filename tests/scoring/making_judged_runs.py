"""Sets, models and judges for tests of judged runs: scripts, whose judges know the code of each answer that they may be
shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
from making_judges import marks

from making import choice, multi, open_ended, write_set
from mmdyn.plugins import load
from mmdyn.record import Judgement, Record, Score
from mmdyn.sample import Sample
from mmdyn.work import Reader, RunFolder, judged_kind, score_kind, unjudged_kind

ICE, SKY, SEA = (
    open_ended("ice", "It is less dense than water.", question="Why does ice float?"),
    open_ended("sky", "Blue light is scattered most.", question="Why is the sky blue?"),
    open_ended("sea", "Salt is washed out of rocks.", question="Why is the sea salty?"),
)
SIDES, PRIMES = choice("sides"), multi("primes")
SAID = {
    "ice": "Because its density is lower.",
    "sky": "Answer: Blue light is scattered most.",
    "sea": "Fish made it so.",
    "sides": "Answer: B",
    "primes": "Answer: A",
}
"""By the rules sky and sides are right, primes is half right by mdk12, and the two others are wrong."""

SAMPLES = {sample.id: sample for sample in (ICE, SKY, SEA, SIDES, PRIMES)}
RULES = {"ice": 0.0, "sky": 1.0, "sea": 0.0, "sides": 1.0, "primes": 0.5}


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
    codes = {name: code_of_answer(SAMPLES[name], said[name]) for name in given}
    return [{"match": code, "reply": marks(code, given[name])} for name, code in codes.items()]


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


def records(run: RunFolder | Path) -> dict[str, Record]:
    """A run's records by sample."""
    opened = run if isinstance(run, RunFolder) else RunFolder(run)
    return {record.sample: record for record in RunFolder(opened.folder).records()}


def values(run: RunFolder | Path) -> dict[str, float | None]:
    """The scores in force by sample."""
    return {name: record.score.value if record.score else None for name, record in records(run).items()}


def under_way(run: RunFolder | Path) -> dict[str, float | None]:
    """The scores of judges that are not in force, as verdicts are missing, by sample."""
    opened = RunFolder(run.folder if isinstance(run, RunFolder) else run)
    assert opened.config.under_way
    return values_of(opened, opened.config.under_way.scorer)


def values_of(run: RunFolder, scorer: str) -> dict[str, float | None]:
    """The values by a scorer of this name, by sample."""
    with Reader(run.records_folder) as reader:
        found = {record.sample: reader.get(score_kind(scorer), record.key) for record in run.records()}
    return {name: score and msgspec.json.decode(score, type=Score).value for name, score in found.items()}


def scores(run: RunFolder | Path) -> dict[str, Score | None]:
    """The same whole."""
    return {name: record.score for name, record in records(run).items()}


def verdicts(run: RunFolder, place: int = 0, *, failed: bool = False) -> dict[str, Judgement]:
    """What the judge in this place said, or failed to say, by sample."""
    id = RunFolder(run.folder).config.judged[-1].judges[place].id
    samples = {record.key: record.sample for record in run.records()}
    with Reader(run.records_folder) as reader:
        items = reader.items(unjudged_kind(id) if failed else judged_kind(id))
        return {samples[key.partition(":")[0]]: msgspec.json.decode(value, type=Judgement) for key, value in items}
