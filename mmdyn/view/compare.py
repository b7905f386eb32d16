"""Two models, or one in two runs, answer by answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from mmdyn.errors import MmdynError
from mmdyn.tables import EVEN, POOLED, Change, changes_of, report
from mmdyn.view._page import render
from mmdyn.view.index import Catalog, Index

PAGE, MOST_PAIRS = 50, 30
MOST_READ = 50_000
"""Answers of two runs that are read while the reader waits; more are for `mmdyn report`."""

KINDS = {
    "a": f"one.value > {EVEN} AND other.value < {EVEN}",
    "b": f"one.value < {EVEN} AND other.value > {EVEN}",
    "both": f"one.value > {EVEN} AND other.value > {EVEN}",
    "neither": f"one.value < {EVEN} AND other.value < {EVEN}",
}
"""Which of the two is right, by its mean over draws and epochs, as reports have it."""


def page(catalog: Catalog, a: str, b: str, which: str, number: int) -> str:
    """The questions that both were asked under one condition; a and b are RUN/MODEL. Raises KeyError, UserError."""
    known = {f"{name}/{model}": f"{model} in {run}" for name, run, model in _models(catalog)}
    values: dict[str, Any] = {"known": known, "a": a, "b": b, "which": which, "page": number, "rows": [], "counts": {}}
    values |= {"title": "Compare", "live": "", "changes": [], "more": False}
    if a not in known or b not in known:
        configs = {one: catalog.index(one.partition("/")[0]).run.config for one in known}
        roots = {one: {entry.root for entry in config.sets} for one, config in configs.items()}
        shared = ((one, other) for one, other in combinations(known, 2) if roots[one] & roots[other])
        values["pairs"] = list(islice(shared, MOST_PAIRS))
        return render("compare.html", **values)
    (run_a, _, model_a), (run_b, _, model_b) = a.partition("/"), b.partition("/")
    index = catalog.index(run_a)
    with index.reading() as db:
        catalog.index(run_b).attach(db, "beside")
        found = f"FROM ({_sides('main')}) one JOIN ({_sides('beside')}) other USING {_SAME}"
        counted = ", ".join(f"sum({holds}) AS {name}" for name, holds in KINDS.items())
        values["counts"] = dict(db.execute(f"SELECT {counted}, count(*) AS n {found}", (model_a, model_b)).fetchone())
        where = f"WHERE {KINDS[which]}" if which in KINDS else ""
        rows = db.execute(
            f"SELECT one.*, one.value AS a_value, other.value AS b_value, other.key AS b_key {found} {where}"
            " ORDER BY abs(one.value - other.value) DESC, one.set_name, one.name LIMIT ? OFFSET ?",
            (model_a, model_b, PAGE + 1, (number - 1) * PAGE),
        ).fetchall()
    values |= {
        "rows": rows[:PAGE],
        "more": len(rows) > PAGE,
        "run_a": run_a,
        "run_b": run_b,
        "model_a": model_a,
        "model_b": model_b,
    }
    other = catalog.index(run_b)
    values["changes"] = [
        one for one in _changes(index, other) if _is_between(one, model_a, model_b, index is not other)
    ]
    return render("compare.html", **values)


def _changes(one: Index, other: Index) -> Sequence[Change]:
    """What a report says of one run, or of both. Nothing where that would take long, or where a report refuses."""
    if one is other:
        found = one.report()
        return changes_of(found.parts) if found else ()
    if one.run.config.planned + other.run.config.planned > MOST_READ:
        return ()
    return _of_both(one.run.folder, one.meta("stamp"), other.run.folder, other.meta("stamp"))


@lru_cache(maxsize=8)
def _of_both(one: Path, _: str, other: Path, __: str) -> Sequence[Change]:
    """Read anew when a run's stamp is another one."""
    try:
        return changes_of(report(one, other).parts)
    except MmdynError:
        return ()


def _is_between(change: Change, model_a: str, model_b: str, two_runs: bool) -> bool:
    factors = change.factors
    if factors["factor"] == "run":
        return two_runs and factors["model"] == model_a == model_b
    models = factors["factor"] == "model" and {factors["a"], factors["b"]} == {model_a, model_b}
    return models and two_runs == (", " in factors.get("run", ""))


_SAME = "(set_name, name, variant, chain, context, style, shots)"


def _sides(schema: str) -> str:
    """One model's mean scores of questions under conditions."""
    return f"""SELECT p.set_name, p.name, p.token, c.variant, c.chain, c.context, c.style, c.shots, x.value,
        (SELECT key FROM {schema}.answers a WHERE a.condition = c.id AND a.parent = p.id LIMIT 1) AS key
        FROM {schema}.cells x JOIN {schema}.conditions c ON c.id = x.condition
        JOIN {schema}.parents p ON p.id = x.parent
        WHERE c.model = ? AND c.chain != '{POOLED}'"""


def _models(catalog: Catalog) -> list[tuple[str, str, str]]:
    """Each model of each run: the run's name in addresses, its name, the model's."""
    runs = {name: catalog.index(name).run for name in catalog.runs()}
    return [(name, run.name, entry.label) for name, run in runs.items() for entry in run.config.models]
