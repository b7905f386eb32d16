"""The judge's plumbing on answers that people marked with fractions, where the public data lie beside the checkout."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from statistics import fmean

import pytest
from making_judges import judged_by, marks

from making import open_ended
from mmdyn.record import Reply
from mmdyn.scoring.rubrics._rubric import Sheet
from mmdyn.scoring.rubrics.match import SCALE, Match

FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "partial-credit-human" / "dev" / "saf_en.jsonl"


def nearest(mark: float, scale: tuple[float, ...]) -> float:
    return min(scale, key=lambda step: abs(step - mark))


@pytest.mark.skipif(not FILE.exists(), reason="the public data are not there")
async def test_the_marks_of_people_pass_through_and_the_scale_costs_little() -> None:
    from scipy.stats import spearmanr

    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    people = [float(row["score"]) for row in rows]
    golds = ["\n".join(row["reference_answers"]) for row in rows]
    samples = [open_ended(row["id"], gold, question=row["question"]) for row, gold in zip(rows, golds, strict=True)]
    pairs = [(sample, Reply(text=row["response"])) for sample, row in zip(samples, rows, strict=True)]
    sheets: list[Sheet] = [Match().sheet(sample, reply.text, False) for sample, reply in pairs]
    verdicts = {sheet.text: marks(sheet.code, nearest(mark, SCALE)) for sheet, mark in zip(sheets, people, strict=True)}
    judge, _ = judged_by(lambda prompt, number: verdicts[prompt])
    values = [one.value for one in await asyncio.gather(*(judge.judge(*pair) for pair in pairs))]
    await judge.close()
    empty = {number for number, (_, reply) in enumerate(pairs) if not reply.text.strip()}
    assert (len(rows), len(empty)) == (768, 2), "people gave 1 to one that is empty in the data"
    assert values == [0.0 if number in empty else nearest(mark, SCALE) for number, mark in enumerate(people)]
    errors = {scale: fmean(abs(nearest(mark, scale) - mark) for mark in people) for scale in ((0.0, 0.5, 1.0), SCALE)}
    assert [round(error, 3) for error in errors.values()] == [0.049, 0.011], "what docs/appendix/judging.md says"
    assert round(spearmanr([nearest(mark, SCALE) for mark in people], people).statistic, 3) == 0.993
