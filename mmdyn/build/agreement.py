"""How well reviewers of a set agree, as set.json keeps it and as it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mmdyn.data import SampleSet
from mmdyn.keys import Json, stream
from mmdyn.sheets import Mark
from mmdyn.stats import Agreement, cohen_kappa, fleiss_kappa


def agreement_of(given: Mapping[str, Sequence[Mark]], source: SampleSet) -> list[Json]:
    """A row for all reviewers, one for each criterion that somebody found to fail, and one for each two reviewers.

    Questions of one group are one cluster.
    """
    places = {id: place for place, id in enumerate(given)}
    groups = [sample.group or sample.id for sample in source if sample.id in places]
    clusters = np.unique(groups, return_inverse=True)[1]
    marks = [(places[id], mark) for id, several in given.items() for mark in several]
    items = np.array([place for place, _ in marks])
    asked = {"": [mark.label == "reject" for _, mark in marks]}
    for criterion in sorted({name for _, mark in marks for name in mark.failed}):
        asked[criterion] = [criterion in mark.failed for _, mark in marks]
    rows = list[Json]()
    for criterion, hits in asked.items():
        found = fleiss_kappa(np.array(hits, np.float64), items, clusters, stream("agreement", criterion))
        rows += _row("Fleiss' kappa", criterion or "all reviewers", found)
    said = dict[str, dict[int, bool]]()
    for place, mark in marks:
        said.setdefault(mark.by, {})[place] = mark.label == "reject"
    for one, other in combinations(sorted(said), 2):
        both = sorted(said[one].keys() & said[other].keys())
        a, b = (np.array([said[who][place] for place in both], np.float64) for who in (one, other))
        rows += _row(
            "Cohen's kappa", f"{one} and {other}", cohen_kappa(a, b, clusters[both], stream("agreement", one, other))
        )
    return rows


def tell_summary(made: SampleSet) -> Iterator[str]:
    """Lines for people of what a step says of its work."""
    summary: Any = made.manifest.made.get("summary", {})
    for name, value in summary.items():
        if name != "agreement":
            yield f"    {name}: {value}"
    for row in summary.get("agreement", ()):
        kappa, ends = row["kappa"], row["kappa_ci95"]
        told = "too few to tell" if kappa is None or ends is None else f"{kappa:.2f} [{ends[0]:.2f}, {ends[1]:.2f}]"
        low, high = (100 * end for end in row["agree_ci95"])
        alike = f"{100 * row['agree']:.1f} % [{low:.1f}, {high:.1f}] of pairs of marks are alike"
        yield f"    {row['of']}: {row['measure']} {told}; {alike} ({row['questions']} questions)"


def _row(measure: str, of: str, found: Agreement | None) -> list[Json]:
    if found is None:
        return []
    value = None if found.kappa is None else round(found.kappa, 4)
    row: dict[str, Json] = {"measure": measure, "of": of, "questions": found.n, "kappa": value}
    row |= {
        "kappa_ci95": _ends(found.kappa_ci95),
        "agree": round(found.agree, 4),
        "agree_ci95": _ends(found.agree_ci95),
    }
    return [row]


def _ends(interval: tuple[float, float] | None) -> Json:
    return [round(end, 4) for end in interval] if interval else None
