"""Which p-values are adjusted together: a family is a question that a reader asks (docs/statistics.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mmdyn.context import NONE
from mmdyn.stats import holm
from mmdyn.tables.labels import is_change, is_main, is_pooled, is_usual, who_of
from mmdyn.tables.rows import Row, p_digits

BASELINE = "baseline:"
"""How the label of an embedded baseline begins. It has families of its own, and never changes another model's p."""


def adjusted(rows: Sequence[Row], families: Iterable[object] | None = None) -> list[Row]:
    """Rows with p adjusted by Holm's method over all of them, or over those of one family."""
    named = [None for _ in rows] if families is None else list(families)
    found = dict[object, list[int]]()
    for place, family in enumerate(named):
        found.setdefault(family, []).append(place)
    adjusted = list(rows)
    for places in found.values():
        for place, p in zip(places, holm([rows[place].p for place in places]), strict=True):
            adjusted[place] = replace(rows[place], p_adjusted=p and p_digits(p))
    return adjusted


def adjusted_contrasts(rows: Sequence[Row]) -> list[Row]:
    """Contrasts with p adjusted within their families.

    (a) did it fall: each model on each set, over all chains or the one that there is. (b) through which chain: the
    chains of a model and set; none is told where (a) is not. (c) does context help: each context against none on
    standard questions, of a model and set. (d) which model is better, on standard questions and over all chains,
    without baselines. (e) every other factor, of a model and set. A chain's p is the larger of its own and of (a).
    """
    pooled = {who_of(row.factors) for row in rows if is_change(row.factors) and is_pooled(row.factors)}
    found = adjusted(rows, [_family(row, pooled) for row in rows])
    first = [row for row in found if row.p is not None and _family(row, pooled)[0] == "a"]
    whole = {who_of(row.factors): row.p_adjusted for row in first}
    return [_gated(row, whole) if _family(row, pooled)[0] == "b" else row for row in found]


def _gated(row: Row, whole: dict[tuple[str, ...], float | None]) -> Row:
    first = whole.get(who_of(row.factors))
    return row if row.p_adjusted is None or first is None else replace(row, p_adjusted=max(row.p_adjusted, first))


def _family(row: Row, pooled: set[tuple[str, ...]]) -> tuple[object, ...]:
    factors, who = row.factors, who_of(row.factors)
    factor, model = factors["factor"], factors.get("model", "")
    if is_change(row.factors):
        own = (model,) if model.startswith(BASELINE) else ()
        return ("a", *own) if who not in pooled or is_pooled(factors) else ("b", *who)
    if factor == "context" and factors["a"] == NONE and is_main(factors):
        return ("c", *who)
    if factor == "model" and is_usual(factors) and (factors["variant"] == "standard" or is_pooled(factors)):
        models = factors["a"], factors["b"]
        return ("d", *models) if any(one.startswith(BASELINE) for one in models) else ("d",)
    return ("e", factor, *who)
