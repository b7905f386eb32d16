"""Attribution: how much of a drop each operator of a factorial set takes. docs/appendix/why.md has the formulas, and
how they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, compress, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmdyn.stats import TOO_FEW, Difference, Floats, Ints, design_forms, interaction_weights, log_odds, shapley_weights
from mmdyn.table import Attribution
from mmdyn.tables.blocks import Block, Key, Numbered
from mmdyn.tables.columns import split
from mmdyn.tables.forms import Forms, forms_of
from mmdyn.tables.pairing import ALPHA, difference_row
from mmdyn.tables.rows import TOTAL, WAITING, Row, p_digits

SPANNED, SAMPLED = ("variant", "chain"), "permutations"
NO_FACTORS = "no set here holds subsets of operators: make one with `mmdyn perturb --factorial` and evaluate it"
NO_PARENT = "no question was answered under every form"
NO_END = "the regression has no finite solution: too few clusters, or an operator leaves all answers alike"
RAW = "of right answers as they are, in which guessing is left"
AGAINST = "its sign is not that of the Shapley value"

Design: TypeAlias = tuple[tuple[str, ...], str, int]
"""The operators of a factorial set, which of their subsets there are, and the seed of those that each parent has."""

Estimates: TypeAlias = dict[tuple[str, str], Difference]
"""By quantity and operator."""


def attribution_rows(block: Block, part: Attribution) -> Iterator[Numbered]:
    """The rows of a block of an Attribution: the Shapley value of each operator, which add up to the whole drop; the
    interaction of each pair; the second opinion where it is asked for."""
    axes = (*(name for name in part.by if name not in SPANNED), "operator")
    designs, sets = _designs(block), split(block.columns, block.records, ["set"])
    if not designs:
        yield block.row(axes, (TOTAL,) * len(axes), "whole", None, note=NO_FACTORS), None
    for design, roots in designs.items():
        factors, kind, seed = design
        told = {"design": f"{kind} of {', '.join(factors)}{f', seed {seed}' * bool(seed)}"} if len(designs) > 1 else {}
        records = np.concatenate([sets[root,] for root in sorted(roots)])
        here = block._replace(records=records, front=block.front | told)
        for key, inside in here.spans(axes[:-1]).items():
            found = _Factorial.of(here, axes, key, design, inside)
            if not found.forms.n:
                yield found.row(TOTAL, "whole", None, note=NO_PARENT), None
                continue
            estimates = found.estimates()
            yield from ((row, None) for row in found.rows(estimates))
            if part.gee:
                yield from ((row, None) for row in found.second_opinion(estimates))


def _designs(block: Block) -> dict[Design, set[str]]:
    """The factorial designs of a block's runs, each with its standard sets."""
    there = {root for (root,) in split(block.columns, block.records, ["set"])}
    found = dict[Design, set[str]]()
    for name, run in block.columns.runs.items():
        if block.front.get("run", name or run.name) == (name or run.name):
            for entry in run.config.sets:
                if entry.factors and entry.root in there:
                    seed = entry.seed if entry.design.startswith(SAMPLED) else 0
                    found.setdefault((entry.factors, entry.design, seed), set()).add(entry.root)
    return found


class _Factorial(NamedTuple):
    """Answers under subsets of operators.

    on: shape (forms, operators), which operators a form has. conditions: its records, by its chain.
    """

    block: Block
    axes: tuple[str, ...]
    key: Key
    factors: tuple[str, ...]
    on: NDArray[np.bool_]
    conditions: Mapping[str, Ints]
    forms: Forms

    @classmethod
    def of(cls, block: Block, axes: tuple[str, ...], key: Key, of: Design, records: Ints) -> _Factorial:
        """Of the parents that have every form that their design has for them."""
        factors, design, seed = of
        chains = {chain: own for (chain,), own in split(block.columns, records, ["chain"]).items()}
        chains[""] = block.at(records, "variant", "standard")
        sampled, ids = design.startswith(SAMPLED), block.columns.fields["sample"]
        parents, first = np.unique(block.columns.parents[records], return_index=True)
        named = zip(parents.tolist(), ids.codes[records[first]].tolist(), strict=True) if sampled else [(0, 0)]
        designs = {parent: design_forms(design, len(factors), seed, ids.values[code]) for parent, code in named}
        on = np.unique(np.concatenate([*designs.values()]), axis=0)
        names = ["+".join(compress(factors, form)) for form in on.tolist()]
        conditions = {name: chains.get(name, records[:0]) for name in names}
        forms = forms_of(block, conditions, every=not sampled)
        return cls(block, axes, key, factors, on, conditions, _own_forms(forms, on, designs) if sampled else forms)

    def estimates(self) -> Estimates:
        """The Shapley values, the whole drop and the interactions; of too few parents without interval and test."""
        found = {name: self.forms.combined(weights) for name, weights in self._weights().items()}
        few = self.forms.n < TOO_FEW
        return {name: one._replace(ci95=None, p=None) if few else one for name, one in found.items()}

    def _weights(self) -> dict[tuple[str, str], Floats]:
        """What the forms of each parent weigh, shape (parents, forms)."""
        patterns, own = np.unique(~np.isnan(self.forms.values), axis=0, return_inverse=True)
        found = np.zeros((len(patterns), len(self.factors) * (len(self.factors) + 1) // 2 + 1, len(self.on)))
        for there, weights in zip(patterns, found, strict=True):
            on = self.on[there]
            whole = on.all(1).astype(np.float64) - ~on.any(1)
            rows = np.concatenate((shapley_weights(on), whole[None], interaction_weights(on)))
            weights[: len(rows), there] = rows
        pairs = [f"{one} x {other}" for one, other in combinations(self.factors, 2)]
        names = [*product(["shapley"], self.factors), ("whole", TOTAL), *product(["interaction"], pairs)]
        return {name: found[own.ravel(), place] for place, name in enumerate(names[: len(rows)])}

    def rows(self, estimates: Estimates) -> Iterator[Row]:
        """Those of the estimates, and what share of the whole drop each operator takes where there is one."""
        notes = [*filter(None, [self.forms.note]), *[WAITING] * self.forms.waits]
        whole = estimates["whole", TOTAL]
        for (quantity, operator), found in estimates.items():
            key, more = (*self.key, operator), {**self.counts, "quantity": quantity}
            yield difference_row(self.block, self.axes, key, found, notes, **more)
            if quantity == "shapley" and whole.p is not None and whole.p <= ALPHA:
                yield self.row(operator, "share of the drop", round(found.value / whole.value, 6))

    def second_opinion(self, estimates: Estimates) -> Iterator[Row]:
        """What each operator does to the log odds that an answer is right."""
        cells = [self.block._replace(measured="pass_rate").cell(own) for own in self.conditions.values()]
        kept = [np.isin(cell.parents, self.forms.parents) for cell in cells]
        right = np.concatenate([cell.values[keep] for cell, keep in zip(cells, kept, strict=True)])
        labels = np.concatenate([self.block.labels(cell)[keep] for cell, keep in zip(cells, kept, strict=True)])
        found = log_odds(right, np.repeat(self.on, [keep.sum() for keep in kept], axis=0), labels)
        for place, operator in enumerate(self.factors):
            if found is None:
                yield self.row(operator, "log odds", None, unit="log odds", note=NO_END)
                continue
            value, (low, high), p = found[place]
            shapley = estimates["shapley", operator]
            against = shapley.p is not None and shapley.p <= ALPHA and shapley.value * value < 0
            note = "; ".join([f"p {p_digits(p):.3g}"] + [AGAINST] * against + [RAW] * (self.forms.scale == "corrected"))
            ends = (round(low, 6), round(high, 6))
            told = {"unit": "log odds", "ci95": ends, "note": note, "method": "GEE, exchangeable, Mancl-DeRouen"}
            yield self.row(operator, "log odds", round(value, 6), **told)

    @property
    def counts(self) -> dict[str, int]:
        """Of parents, and of records that did not count."""
        return {**self.forms.counts, "n": self.forms.n, "left_out": self.forms.left_out}

    def row(self, operator: str, quantity: str, value: float | None, **more: Any) -> Row:
        """A row of an operator."""
        return self.block.row(self.axes, (*self.key, operator), quantity, value, **self.counts, **more)


def _own_forms(forms: Forms, on: NDArray[np.bool_], designs: Mapping[int, NDArray[np.bool_]]) -> Forms:
    """The parents that have every form of their own design, and of these forms alone."""
    bits = 1 << np.arange(on.shape[1])
    found = [np.isin(on @ bits, designs[parent] @ bits) for parent in forms.parents.tolist()]
    own = np.array(found, np.bool_).reshape(-1, len(on))
    values = np.where(own, forms.values, np.nan)
    lacking = np.isnan(values) & own
    return forms._replace(values=values).only(lacking.sum(1) == 0)
