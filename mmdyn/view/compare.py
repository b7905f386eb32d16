"""Two models, or one in two runs, answer by answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import msgspec

from mmdyn.errors import MmdynError
from mmdyn.keys import Json
from mmdyn.tables import EVEN, POOLED, ZERO, Change, changes_of, condition_name, remarks, report
from mmdyn.view._page import render
from mmdyn.view.index import Catalog, Index
from mmdyn.view.samples import MARKS

PAGE, MOST_PAIRS = 50, 30
MOST_READ = 50_000
"""Answers of two runs that are read while the reader waits; more are for `mmdyn report`."""

SETTINGS = ("epochs", "limit", "prompt", "prompts", "instructions", "knowledge", "scorer", "judge_mode", "versions")
"""What two runs may differ in beside their models and sets; see `mmdyn.work.RunConfig`."""

KINDS = {
    "both": f"a > {EVEN} AND b > {EVEN}",
    "a": f"a > {EVEN} AND b < {EVEN}",
    "b": f"a < {EVEN} AND b > {EVEN}",
    "neither": f"a < {EVEN} AND b < {EVEN}",
    "partly": f"{EVEN} IN (a, b)",
}
"""Which of the two is right, by its mean over draws and epochs, as reports have it: one of these of each pair."""


def page(catalog: Catalog, a: str, b: str, which: str, under: str, number: int) -> str:
    """The questions that both were asked under the same conditions; a and b are RUN/MODEL.

    Args:
        which: A name of KINDS, which holds of the questions that are listed, under any condition or `under` that
            one, SET/CONDITION.

    Raises KeyError, UserError.
    """
    known = {f"{name}/{model}": f"{model} in {place}" for name, place, model in _models(catalog)}
    values: dict[str, Any] = {"known": known, "a": a, "b": b, "which": which, "under": under, "page": number}
    values |= {"title": "Compare", "live": "", "counts": [], "MARKS": MARKS}
    if a not in known or b not in known or a == b:
        values["pairs"] = list(islice(_sharing(catalog, known, {a, b} & known.keys()), MOST_PAIRS))
        return render("compare.html", **values)
    (run_a, _, model_a), (run_b, _, model_b) = a.partition("/"), b.partition("/")
    index, other = catalog.index(run_a), catalog.index(run_b)
    with index.reading() as db:
        other.attach(db, "beside")
        db.execute(f"CREATE TEMP TABLE pairs AS {_PAIRS}", (model_a, model_b))
        counted = ", ".join(f"sum({holds}) AS {name}" for name, holds in KINDS.items())
        counts = db.execute(
            f"SELECT set_name, condition, count(*) AS n, {counted} FROM pairs GROUP BY 1, 2 ORDER BY 1, min(rowid)"
        ).fetchall()
        values["questions"] = db.execute("SELECT count(DISTINCT token) FROM pairs").fetchone()[0]
        sql = f"""SELECT token FROM pairs WHERE {KINDS.get(which, "1")} AND ? IN ('', set_name || '/' || condition)
            GROUP BY token ORDER BY sum(abs(a - b)) DESC, set_name, name"""
        found = [row["token"] for row in db.execute(sql, (under,))]
        rows = {token: dict[str, sqlite3.Row]() for token in found[(number - 1) * PAGE : number * PAGE]}
        for row in db.execute(f"SELECT * FROM pairs WHERE token IN ({', '.join('?' * len(rows))})", [*rows]):
            rows[row["token"]][row["condition"]] = row
    values |= {"rows": rows.values(), "found": len(found), "more": number * PAGE < len(found)}
    values |= {"run_a": run_a, "run_b": run_b, "model_a": model_a, "model_b": model_b}
    values["settings"] = _differing(_settings(index, model_a), _settings(other, model_b))
    changes = [one for one in _changes(index, other) if _is_between(one, model_a, model_b, index is not other)]
    values["counts"] = _rows(counts, changes, model_a)
    values["notes"] = list(dict.fromkeys(note for one in changes for note in remarks(one.difference)))
    return render("compare.html", **values)


def _sharing(catalog: Catalog, known: Iterable[str], chosen: set[str]) -> Iterator[tuple[str, str]]:
    """Those of `known` in pairs that were asked a question in common, and of which one is `chosen`, if any is."""

    @cache
    def share(one: str, other: str) -> bool:
        a, b = catalog.index(one), catalog.index(other)
        roots = ({entry.root for entry in index.run.config.sets} for index in (a, b))
        if one == other or not set.intersection(*roots):
            return one == other
        if a.busy or b.busy:  # not all is known yet
            return True
        with a.reading() as db:
            b.attach(db, "beside")
            sql = "SELECT 1 FROM main.parents JOIN beside.parents USING (token) LIMIT 1"
            return db.execute(sql).fetchone() is not None

    for one, other in combinations(known, 2):
        if (not chosen or chosen & {one, other}) and share(one.partition("/")[0], other.partition("/")[0]):
            yield one, other


def _settings(index: Index, model: str) -> dict[str, Json]:
    """What decides the answers of a model of a run, and their scores."""
    config = index.run.config
    found = {name: msgspec.to_builtins(getattr(config, name)) for name in SETTINGS}
    found["model"] = next(entry.identity for entry in config.models if entry.label == model)
    return found | {"sets": {entry.name: entry.digest for entry in config.sets}}


def _differing(one: Json, other: Json, name: str = "") -> Iterator[tuple[str, str, str]]:
    """The settings that differ, with both values as JSON; a setting within others is OUTER.INNER."""
    if isinstance(one, dict) and isinstance(other, dict):
        for inner in sorted(one.keys() | other.keys()):
            yield from _differing(one.get(inner), other.get(inner), f"{name}.{inner}".lstrip("."))
    elif one != other:
        yield name, msgspec.json.encode(one).decode(), msgspec.json.encode(other).decode()


def _rows(counts: Sequence[sqlite3.Row], changes: Iterable[Change], model_a: str) -> list[dict[str, Any]]:
    """The counts of each condition with the difference in scores there, and the differences over all chains."""
    found = dict[tuple[str, str], dict[str, Any]]()
    for row in counts:
        found[row["set_name"], row["condition"]] = {"counts": row, "change": None}
    for change in changes:
        place = change.factors["set"], condition_name(change.factors)
        value, ci95 = change.difference.value, change.difference.ci95
        if value is not None and change.factors["b"] == model_a:  # the report has it the other way round
            value, ci95 = -value, ci95 and (-ci95[1], -ci95[0])
        told = found.setdefault(place, {"counts": None})
        told |= {"change": change.difference, "value": value, "ci95": ci95, "notes": remarks(change.difference)}
    return [told | {"set": name, "condition": condition} for (name, condition), told in found.items()]


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


def _sides(schema: str) -> str:
    """One model's mean scores of questions under conditions."""
    return f"""SELECT p.set_name, p.name, p.token, c.variant, c.chain, c.context, c.style, c.shots, x.value,
        (SELECT key FROM {schema}.answers a WHERE a.condition = c.id AND a.parent = p.id LIMIT 1) AS key
        FROM {schema}.cells x JOIN {schema}.conditions c ON c.id = x.condition
        JOIN {schema}.parents p ON p.id = x.parent
        WHERE c.model = ? AND c.chain != '{POOLED}'"""


_PAIRS = f"""SELECT one.set_name, one.name, one.token, trim(one.variant || ' ' || one.chain)
        || CASE one.context WHEN 'none' THEN '' ELSE ', ' || one.context END
        || CASE one.style WHEN 'direct' THEN '' ELSE ', ' || one.style END
        || CASE one.shots WHEN '{ZERO}' THEN '' ELSE ', shots ' || one.shots END AS condition,
        one.value AS a, other.value AS b, one.key AS a_key, other.key AS b_key
    FROM ({_sides("main")}) one JOIN ({_sides("beside")}) other
    USING (set_name, name, variant, chain, context, style, shots)
    ORDER BY one.variant DESC, one.context != 'none', one.chain"""
"""Pairs of answers, with conditions as `condition_name` has them."""


def _models(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """Each model of each run that can be read: the run's name in addresses, where it lies, the model's label."""
    for name in catalog.runs():
        with suppress(Exception):  # whatever lies in a folder costs this run alone
            run = catalog.index(name).run
            yield from [(name, catalog.place(run.folder), entry.label) for entry in run.config.models]
