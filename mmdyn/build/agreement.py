"""Agreement between the reviewers of a set, as set.json holds it and as it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mmdyn.data import SampleSet
from mmdyn.errors import counted
from mmdyn.keys import Json, stream
from mmdyn.sheets import Mark
from mmdyn.stats import Agreement, cohen_kappa, fleiss_kappa


def agreement_of(given: Mapping[str, Sequence[Mark]], source: SampleSet) -> list[Json]:
    """Compute agreement on rejecting questions, clustered by group.

    Args:
        given: The reviewers' marks by sample id.
        source: The reviewed set.

    Returns:
        Fleiss' kappa over all reviewers, and over each criterion that anybody found to fail; then Cohen's kappa of each
            pair of reviewers.
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
    """Yield lines that describe what a step did, from the summary in set.json."""
    summary: Any = made.manifest.made.get("summary", {})
    for name, value in summary.items():
        if isinstance(value, dict):
            value = ", ".join(f"{what or 'any'} {count}" for what, count in value.items())
        if name != "agreement" and value not in ("", None):
            yield f"    {name}: {value}"
    for row in summary.get("agreement", ()):
        ends = row["kappa_ci95"]
        kappa = f"{row['kappa']:.2f}{_spelled(ends, 2)}" if ends else "too few to tell"
        ends = row["agree_ci95"] and [100 * end for end in row["agree_ci95"]]
        alike = f"{100 * row['agree']:.1f} %{_spelled(ends, 1)} of pairs of marks are alike"
        yield f"    {row['of']}: {row['measure']} {kappa}; {alike} ({counted(row['questions'], 'question')})"


def _spelled(ends: list[float] | None, places: int) -> str:
    return f" [{ends[0]:.{places}f}, {ends[1]:.{places}f}]" if ends else ""


def _row(measure: str, of: str, found: Agreement | None) -> list[Json]:
    if found is None:
        return []
    row: dict[str, Json] = {"measure": measure, "of": of, "questions": found.n}
    for name in ("kappa", "kappa_ci95", "agree", "agree_ci95"):
        value: Any = getattr(found, name)
        row[name] = value if value is None else np.round(value, 4).tolist()
    return [row]
