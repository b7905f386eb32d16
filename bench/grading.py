"""How near scores come to people's fractional marks of short answers, and the judge's way on them. Prints tables.

    python bench/grading.py DATA [--policies mdk12,f1,rouge_l,chrf]

DATA holds `partial-credit-human` (SAF short answers; English alone is there, and the readers know no German). An answer
counts with the best of its question's golden answers. The judge is a script: it gives each answer the share of the
golden answer's words that it has, in quarters, so that its values are known beforehand. What comes out must be these
values: that says that sheet, reply, reading and measuring carry a judge's marks unharmed, and nothing of any real
judge.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.keys import stream
from mmdyn.record import Reply, Score
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer, open_judge
from mmdyn.scoring.rubrics.match import SCALE, Match
from mmdyn.stats import Estimate, Floats, Share, prediction_powered, rogan_gladen, tuned_power
from mmdyn.tables import Grading, measure
from mmdyn.text import plain_words

DRAWS, MARKS = 300, 100


class Marked(NamedTuple):
    """An answer as a sample for each golden answer, and people's mark in [0, 1]."""

    question: str
    samples: tuple[Sample, ...]
    reply: Reply
    human: float


def read(data: Path) -> list[Marked]:
    """The answers in their file's order."""
    lines = (data / "partial-credit-human" / "dev" / "saf_en.jsonl").read_text("utf-8").splitlines()
    return [_marked(json.loads(line)) for line in lines]


def score(scorer: Scorer, answer: Marked) -> Score:
    """The best over the golden answers."""
    scores = [scorer.score(sample, answer.reply) for sample in answer.samples]
    return max(scores, key=lambda found: found.value or 0.0)


def known(answer: Marked) -> float:
    """What the script gives: the share of the first golden answer's words that the reply has, in the judge's steps."""
    gold = Counter(plain_words(str(answer.samples[0].answer)))
    shared = (gold & Counter(plain_words(answer.reply.text))).total() / gold.total()
    return min(SCALE, key=lambda step: abs(step - shared))


async def judged(answers: list[Marked]) -> list[float | None]:
    """The scripted judge's values."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "judge.jsonl"
        script.write_text(
            "\n".join(json.dumps(_line(answer)) for answer in answers if answer.reply.text.strip()), "utf-8"
        )
        judge = open_judge(f"scripted:{script}", "match")
        found = await asyncio.gather(*(judge.judge(answer.samples[0], answer.reply) for answer in answers))
        await judge.close()
    return [one.value for one in found]


def table(rows: dict[str, tuple[list[Marked], list[float | None]]]) -> None:
    """A line for each grader, and below it the calibration tables."""
    print(
        "| grader | n | tau-b | rho | tau-b within a question | weighted kappa | mean error | mean size | sensitivity |"
        " specificity |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    found = dict[str, Grading]()
    for name, (answers, values) in rows.items():
        pairs = zip((answer.human for answer in answers), values, strict=True)
        found[name] = each = measure(name, name, pairs, about=[answer.question for answer in answers])
        numbers = (each.kendall, each.spearman, _within(answers, values), each.weighted_kappa)
        errors = f"{each.mean_error:+.3f} | {each.mean_absolute_error:.3f}"
        shares = " | ".join(map(_spell, (each.sensitivity, each.specificity)))
        print(f"| {name} | {each.n} | {' | '.join(map(_number, numbers))} | {errors} | {shares} |")
    print("\n| grader | value in | answers | mean value | people's mean mark |\n|---|---|---|---|---|")
    for name, each in found.items():
        for part in each.bins:
            bounds = f"[{part.low:.1f}, {part.high:.1f}{']' if part.high == 1 else ')'}"
            print(f"| {name} | {bounds} | {part.n} | {part.value:.3f} | {part.human:.3f} |")


def corrections(name: str, answers: list[Marked], values: list[float | None]) -> None:
    """How far corrected means are from what people's marks of all answers come to, and how often intervals hold it.

    ppi++: DRAWS times, MARKS answers drawn at random have their marks. Rogan-Gladen: right is a value, or a mark, of
        0.5 or more; sensitivity and specificity are of a random half of the answers, or of half of the questions, and
        the other half's share is corrected.
    """
    human, value = (np.array(side, dtype=np.float64) for side in ([answer.human for answer in answers], values))
    rows = dict[str, list[tuple[Estimate, float]]]()
    for method, power in (("marks alone", 0.0), ("ppi++", None)):
        rows[method] = [(_powered(value, human, number, power), float(human.mean())) for number in range(DRAWS)]
    questions = sorted({answer.question for answer in answers})
    asked = np.array([answer.question for answer in answers])
    random = [stream("half", number).permutation(len(value)) % 2 == 0 for number in range(DRAWS)]
    whole = [np.isin(asked, half) for half in itertools.combinations(questions, len(questions) // 2)]
    rows["Rogan-Gladen, other answers"] = _calibrated(value, human, asked, random)
    rows["Rogan-Gladen, other questions"] = _calibrated(value, human, asked, whole)
    for method, found in rows.items():
        if found:
            bias = fmean(estimate.value - truth for estimate, truth in found)
            held = fmean(estimate.low <= truth <= estimate.high for estimate, truth in found)
            width = fmean(estimate.high - estimate.low for estimate, _ in found)
            print(f"| {name} | {method} | {len(found)} | {bias:+.3f} | {width:.3f} | {held:.3f} |")


def _powered(value: Floats, human: Floats, number: int, power: float | None) -> Estimate:
    marks, ones = np.full(len(value), np.nan), np.ones(len(value))
    places = stream("marks", number).permutation(len(value))[:MARKS]
    marks[places] = human[places]
    power = tuned_power(value, ones, marks) if power is None else power
    return prediction_powered(value, ones, np.arange(len(value)), marks, power)


def _calibrated(
    value: Floats, human: Floats, asked: NDArray[np.str_], halves: Iterable[NDArray[np.bool_]]
) -> list[tuple[Estimate, float]]:
    """The corrected share of each half by the other one, and the share that people's marks say; useless halves are left
    out."""
    found = list[tuple[Estimate, float]]()
    for half in halves:
        pairs = zip(human[half].tolist(), value[half].tolist(), strict=True)
        measured = measure("", "", pairs, about=asked[half].tolist())
        se, sp = measured.sensitivity, measured.specificity
        if se and sp and se.value + sp.value > 1:
            called = (value[~half] >= 0.5).astype(np.float64)
            corrected = rogan_gladen(called, np.ones(len(called)), np.arange(len(called)), se, sp)
            found.append((corrected, float((human[~half] >= 0.5).mean())))
    return found


def _marked(row: dict[str, Any]) -> Marked:
    samples = tuple(Sample(row["id"], row["question"], "open_ended", gold) for gold in row["reference_answers"])
    return Marked(row["file"], samples, Reply(row["response"]), float(row["score"]))


def _line(answer: Marked) -> dict[str, str]:
    code = Match().sheet(answer.samples[0], answer.reply.text, False).code
    return {"match": code, "reply": json.dumps({"code": code, "grades": [[1, "words", known(answer)]]})}


def _within(answers: list[Marked], values: list[float | None]) -> float | None:
    """The mean over the questions, of those where it is defined."""
    pairs = defaultdict[str, list[tuple[float, float | None]]](list)
    for answer, value in zip(answers, values, strict=True):
        pairs[answer.question].append((answer.human, value))
    taus = [tau for each in pairs.values() if (tau := measure("", "", each).kendall) is not None]
    return fmean(taus) if taus else None


def _number(number: float | None) -> str:
    return "not defined" if number is None else f"{number:.3f}"


def _spell(share: Share | None) -> str:
    return f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}]" if share else "no such answer"


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--policies", default="mdk12,f1,rouge_l,chrf")
    options = parser.parse_args()
    answers, rows = read(options.data), dict[str, tuple[list[Marked], list[float | None]]]()
    print(f"{len(answers)} answers to {len({answer.question for answer in answers})} questions\n")
    for policy in options.policies.split(","):
        scorer, began = Scorer(policy), time.process_time()
        scores = [score(scorer, answer) for answer in answers]
        rules = Counter(found.rule for found in scores).most_common()
        print(f"{scorer.name}: {time.process_time() - began:.2f} s; " + ", ".join(f"{rule} {n}" for rule, n in rules))
        rows[scorer.name] = answers, [found.value for found in scores]
    values = asyncio.run(judged(answers))
    differing = sum(value != known(answer) for answer, value in zip(answers, values, strict=True))
    print(f"scripted judge: {differing} of {len(answers)} values are not what the script gave\n")
    rows["scripted judge"] = answers, values
    table(rows)
    print("\n| grader | correction | times | mean error | mean width | holds |\n|---|---|---|---|---|---|")
    for name, row in rows.items():
        corrections(name, *row)


if __name__ == "__main__":
    main()
