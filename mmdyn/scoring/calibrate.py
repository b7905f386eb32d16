"""How well rules, a judge, and both combined give the marks that people gave to answers in a file."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing

from mmdyn.keys import Json
from mmdyn.reporting.grading import Grading, measure
from mmdyn.scoring.cascade import combined_name
from mmdyn.scoring.grade_lines import Answered, grade
from mmdyn.scoring.judge import Judge
from mmdyn.scoring.scorer import Scorer


def graders(scorer: Scorer, judge: Judge | None) -> dict[str, tuple[str, Json]]:
    """What is measured: the label and the identity of each. Those that a run's scores may be by have its scorer's name for one."""
    if judge is None:
        return {"rules": (scorer.name, scorer.name)}
    both = combined_name(scorer.name, [judge.id])
    return {"rules": (scorer.name, scorer.name), "judge": (judge.label, judge.identity), "combined": (both, both)}


async def calibrate(
    lines: Iterable[Answered], scorer: Scorer, judge: Judge | None, threshold: float, ahead: int
) -> dict[str, Grading]:
    """Each of the graders measured on the lines that have a mark; the judge is asked about all of them.

    A line without a verdict counts as failed for all of them, so that they are measured on the same lines.
    Raises UserError where no line has a mark, and as `grade` does.
    """
    marked = (line for line in lines if line.human is not None)
    values: dict[str, list[tuple[float, float | None]]] = {name: [] for name in graders(scorer, judge)}
    async with aclosing(grade(marked, scorer, judge, all_judged=True, ahead=ahead)) as all_graded:
        async for graded in all_graded:
            judged = graded.judgement.value if graded.judgement else None
            found = {"rules": graded.score.value, "judge": judged, "combined": graded.combined}
            human, left_out = graded.line.human, judge is not None and judged is None
            assert human is not None
            for name, pairs in values.items():
                pairs.append((human, None if left_out else found[name]))
    return {name: measure(*who, values[name], threshold) for name, who in graders(scorer, judge).items()}
