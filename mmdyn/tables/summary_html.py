"""A report as a notebook shows it: the ten lines, scores, contrasts, and the first questions that flipped."""

from __future__ import annotations

from mmdyn.html import Html, html_table
from mmdyn.tables.brief import brief_lines
from mmdyn.tables.contrast_table import said_of
from mmdyn.tables.summary_rows import SummaryRows
from mmdyn.tables.terminal import names_of, p_value, percent

SHOWN = 20
"""Flips."""


def summary_html(summary: SummaryRows) -> Html:
    """The same numbers as in the terminal; the methods and breakdowns stand there, and in `to_pandas()`."""
    lines = [
        [*list(names_of(row).values())[1:], percent(row.score, row.ci95), row.n, row.needs_judge, row.failed]
        for row in summary.conditions
    ]
    heads = ("model", "set", "condition", "score, percent", "n", "needs judge", "failed")
    tables = [html_table(heads, lines, "\n".join(brief_lines(summary)))]
    contrasts = [
        (f"{row.a} → {row.b} ({said_of(row.held)})", percent(row.delta, row.ci95, "+"), row)
        for row in summary.contrasts
    ]
    pairs = [
        (row.model, row.set, name, change, p_value(row.p_adjusted), row.n, row.note) for name, change, row in contrasts
    ]
    tables.append(html_table(("model", "set", "contrast", "change, points", "adj. p", "n", "note"), pairs, "Contrasts"))
    if flips := summary.flips or []:
        told = [(one.parent, one.direction, said_of(one.held), one.model) for one in flips[:SHOWN]]
        title = f"Flips: {len(flips)} in all contrasts, of which the first {SHOWN} are:"
        tables.append(html_table(("question", "direction", "contrast", "model"), told, title))
    return Html("".join(tables))
