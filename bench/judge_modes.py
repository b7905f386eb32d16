"""What each judge mode asks, and what comes out, over stored replies of GPT-4 to GAOKAO-Bench. Prints a table.

    python bench/judge_modes.py [--data DATA]

DATA holds `gaokao-bench`. The judge is a script that says what lies with the data: of a choice, and of each question of
a passage, what the makers' own extraction is worth by the key; of blanks and open answers the mark that a model gave,
in quarters. So the requests and the differences between the modes are real ones, and the judge is as good as those
marks. `rules` and `both` are means over all replies (mdk12), `judge` over those that it was asked about; `missed`
counts replies on which the rules' score stands though the judge's mark is another one, by a half or more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path.insert(0, str(HERE.parent / "tests" / "scoring"))

import real_outputs
from making_judges import marks
from real_outputs import Output

from mmdyn.scoring import Answered, Cascade, Scorer, answered_lines, grade, open_judge
from mmdyn.scoring.cascade import MODES
from mmdyn.scoring.grade_lines import Graded
from mmdyn.scoring.rubrics.match import SCALE, Match

SUBJECTIVE = "gaokao-bench/dev/gpt4_0314_subjective_marked_by_gpt4_1106.jsonl"


class Stored(NamedTuple):
    """A reply as a line of `mmdyn grade`, and the mark of each of its parts, on the judge's scale."""

    line: dict[str, Any]
    marks: tuple[float, ...]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=real_outputs.DATA, help="the folder of the public data")
    data = parser.parse_args(argv).data
    kinds = {
        "single questions": [_of_letters(output) for output in real_outputs.gaokao_questions(data)],
        "passages": [_of_letters(output) for output in real_outputs.gaokao_passages(data)],
        "blanks": [_blank(output) for output in real_outputs.gaokao_blanks(data)],
        "open answers": [*_open_answers(data)],
    }
    kinds["all"] = [stored for kind in kinds.values() for stored in kind]
    print("| replies | mode | n | requests | rules | judge | both | missed |\n|---|---|---|---|---|---|---|---|")
    for name, kind in kinds.items():
        truth = [fmean(stored.marks) for stored in kind]
        for mode in MODES:
            print_row(name, mode, asyncio.run(judged(kind, mode)), truth)


async def judged(kind: Sequence[Stored], mode: str) -> list[Graded]:
    """Every reply, scored and judged in a mode."""
    lines = [*answered_lines([json.dumps(stored.line).encode() for stored in kind], "replies")]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "judge.jsonl"
        replies = map(_said, lines, kind)
        script.write_text("".join(f"{json.dumps(reply)}\n" for reply in replies), "utf-8")
        judge = open_judge(f"scripted:{script}")
        graded = [each async for each in grade(lines, Cascade(Scorer(), [judge], mode))]
        await judge.close()
    return graded


def print_row(name: str, mode: str, graded: Sequence[Graded], truth: Sequence[float]) -> None:
    """Print what one mode asked and what came out."""
    said = [each.judgements[0] for each in graded]
    asked = [judgement for judgement in said if judgement is not None]
    values = [judgement.value for judgement in asked if judgement.value is not None]
    assert len(values) == len(asked), "the script has a verdict on every reply"
    rules, both = [_value(each.score.value) for each in graded], [_value(each.combined) for each in graded]
    missed = sum(
        abs(rule - mark) >= 0.5 and rule == found for rule, mark, found in zip(rules, truth, both, strict=True)
    )
    requests = sum(judgement.requests for judgement in asked)
    judge = f"{100 * fmean(values):.1f} (n = {len(values)})" if values else "-"
    print(
        f"| {name} | {mode} | {len(graded)} | {requests} | {100 * fmean(rules):.1f} | {judge} | {100 * fmean(both):.1f}"
        f" | {missed} |"
    )


def _value(score: float | None) -> float:
    assert score is not None
    return score


def _said(line: Answered, stored: Stored) -> dict[str, str]:
    code = Match().sheet(line.sample, line.reply.text, False).code
    return {"match": code, "reply": marks(code, *stored.marks)}


def _line(name: str, task: str, answer: object, reply: str, **more: object) -> dict[str, Any]:
    return {"question": name, "task_type": task, "answer": answer, "response": reply, "language": "zh", **more}


def _of_letters(output: Output) -> Stored:
    """A question with a letter, or letters, of options whose texts are not stored, or a passage with a letter for each
    question."""
    theirs = output.theirs or ()
    if output.options:
        options = [{"label": letter} for letter in real_outputs.LETTERS[: len(output.options)]]
        share = len(set(theirs)) / len(output.gold) if set(theirs) <= set(output.gold) else 0.0
        return Stored(_line(output.id, output.task, output.gold, output.reply, options=options), (_nearest(share),))
    given = (*theirs, *[""] * len(output.gold))
    each = tuple(float(letter == gold) for letter, gold in zip(given, output.gold, strict=False))
    return Stored(_line(output.id, output.task, [[gold] for gold in output.gold], output.reply), each)


def _blank(output: Output) -> Stored:
    return Stored(_line(output.id, output.task, [list(output.gold)], output.reply), (float(output.right),))


def _open_answers(data: Path) -> Iterator[Stored]:
    for row in real_outputs.rows(SUBJECTIVE, data):
        if "Fill-in-the-Blank" not in row["keyword"]:
            share = min(sum(row["model_correction_score"]) / row["score"], 1.0)
            line = _line(row["question"], "open_ended", row["standard_answer"], row["model_output"])
            yield Stored(line, (_nearest(share),))


def _nearest(share: float) -> float:
    return min(SCALE, key=lambda step: abs(step - share))


if __name__ == "__main__":
    main()
