"""How well rules, judges, and all combined give the marks that people gave to answers in a file."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing

from mmdyn.keys import Json
from mmdyn.scoring.cascade import Cascade
from mmdyn.scoring.grade_lines import grade
from mmdyn.scoring.lines import Answered
from mmdyn.scoring.scorer import declined
from mmdyn.tables import Grading, measure


def graders(cascade: Cascade) -> dict[str, tuple[str, Json]]:
    """What is measured: the label and the identity of each. Those that a run's scores may be by have its scorer's name
    for one.

    A judge among several is called judge.LABEL; all together are combined.MODE.
    """
    rules, judges = cascade.scorer.name, cascade.judges
    if not judges:
        return {"rules": (rules, rules)}
    names = [f"judge.{judge.label}" if len(judges) > 1 else "judge" for judge in judges]
    by_name = {name: (judge.label, judge.identity) for name, judge in zip(names, judges, strict=True)}
    both = {f"combined.{one.mode}": (one.name, one.name) for one in _combined(cascade)}
    return {"rules": (rules, rules), **by_name, **both}


def _combined(cascade: Cascade) -> list[Cascade]:
    """The same judges in the modes that give other scores than each other."""
    modes = ("wrong",) if cascade.scorer.compares else ("unsure", "wrong")
    return [Cascade(cascade.scorer, cascade.judges, mode) for mode in modes]


async def calibrate(lines: Iterable[Answered], cascade: Cascade, threshold: float, ahead: int) -> dict[str, Grading]:
    """Each of the graders measured on the lines that have a mark, about all of which a cascade in the mode `all` asks
    every judge.

    A line without a verdict of each counts as failed for all of them, so that they are measured on the same lines. One
    that was withheld, as its finish reason says, is worth what it is to the rules, 0, to a judge, too. Raises UserError
    where no line has a mark, and as `grade` does.
    """
    marked = (line for line in lines if line.human is not None)
    who, together = graders(cascade), _combined(cascade)
    values: dict[str, list[tuple[float, float | None]]] = {name: [] for name in who}
    about = list[str]()
    async with aclosing(grade(marked, cascade, ahead=ahead)) as all_graded:
        async for graded in all_graded:
            rules, human = graded.score.value, graded.line.human
            assert human is not None
            about.append(graded.line.about)
            if declined(graded.line.reply):
                found = [rules] * len(who)
            elif cascade.judges:
                scores = [one.combined(graded.line.reply, graded.score, graded.judgements) for one in together]
                found = [rules, *(judged.value if judged else None for judged in (*graded.judgements, *scores))]
            else:
                found = [rules]
            for pairs, value in zip(values.values(), found, strict=True):
                pairs.append((human, None if None in found else value))
    return {name: measure(*who[name], values[name], threshold, about) for name in who}
