"""Rules, judges and both together for people, in percent."""

from __future__ import annotations

from typing import TextIO

from mmdyn.tables.cascades import Accuracy, Cascades, JudgeFigures, lines_of
from mmdyn.tables.table import clean, names_of, open_console, percent, print_grid

TITLE = (
    "Rules and judges: mean scores in percent with 95 % intervals; n counts parent samples, answers those that each one"
    " scored, saved those that a judge was not asked about"
)
SELDOM = ("no verdict", "as rules", "votes\nagree", "items met")
"""What gets a column only where a judge has it."""


def print_cascades(cascades: Cascades, file: TextIO | None = None) -> None:
    """Print what rules and judges make of each condition to `file` or standard output, a line each, and what judges
    took."""
    console = open_console(file)
    if not cascades.rows:
        return
    lines = [
        {**names_of(row), "scored by": who, **_cells(accuracy, judge)}
        for row in cascades.rows
        for who, accuracy, judge in lines_of(row)
    ]
    empty = [name for name in SELDOM if not any(line[name] for line in lines)]
    shown = [{name: cell for name, cell in line.items() if name not in empty} for line in lines]
    print_grid(console, TITLE, shown, "scored by")
    for spent in cascades.spending:
        name, total = f"{spent.run}: " if spent.run else "", spent.spending
        cached = f" {spent.cached} replies out of the cache cost nothing." if spent.cached else ""
        if total.replies or cached:
            said = f"{name}judge {spent.name}: {total.tokens}, cost {total.money}.{cached}"
            console.print(clean(said), soft_wrap=True)
    if cascades.else_rules:
        said = f"On {cascades.else_rules} answers no judge gave a verdict, and the rules' score counts (else-rules)."
        console.print(clean(said), soft_wrap=True)


def _cells(accuracy: Accuracy, judge: JudgeFigures | None) -> dict[str, str]:
    score, method = percent(accuracy.score, accuracy.ci95), accuracy.method or "no answer has such a score"
    if accuracy.bounds:
        low, high = (f"{100 * bound:.1f}" for bound in accuracy.bounds)
        score, method = f"{low} to {high}", "answers without a verdict as 0 and as 1"
    return {
        "score": score,
        "n": str(accuracy.n),
        "answers": str(accuracy.answers),
        "saved": str(judge.saved) if judge else "",
        "no verdict": str(judge.failed) if judge and judge.failed else "",
        "requests": str(judge.requests) if judge else "",
        "as rules": _share(judge.agreement) if judge else "",
        "votes\nagree": _share(judge.consistency) if judge else "",
        "items met": f"{judge.met} of {judge.items}" if judge and judge.items else "",
        "method": method,
    }


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
