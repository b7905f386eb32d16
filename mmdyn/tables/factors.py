"""What tables go by: a record's value of each factor, and the order of values."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import nan
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mmdyn.errors import InputError, unreadable
from mmdyn.plugins import ALIASES, resolve
from mmdyn.record import Record
from mmdyn.sample import CHOICE_TYPES, Sample
from mmdyn.stats import Floats, Ints
from mmdyn.tables.breakdown import reading_order
from mmdyn.tables.contexts import BASES, place_of
from mmdyn.tables.keys import NOT_GIVEN
from mmdyn.work import RunFolder

MAX_VALUES = 1000
"""Values of a factor, at most."""

ModelFacts: TypeAlias = Mapping[str, Mapping[str, str]]
"""Factors of models that no record has: for each, the value by the model's plain name."""


@cache
def changed(chain: str) -> str:
    """What a chain of operators changes: image, text or both; nothing where there is none. Raises PluginError for an
    operator that is not installed."""
    short = [re.split("[@:]", name)[0].strip() for name in chain.split("+") if name]
    full = [resolve("operators", one) for name in short for one in ALIASES.get(name, (name,))]
    kinds = {name.partition(".")[0] for name in full}
    return "both" if len(kinds) > 1 else "".join(kinds) or "nothing"


PICKED = "picked"
"""The factor that says what was read in the reply."""

RUNG = "rung"
"""The field that says what of a triplet a question is: origin, perception or knowledge (MMEvalPro)."""


class Field(NamedTuple):
    """The values of a factor, and each record's (or parent's) index among them."""

    values: list[str]
    codes: Ints


def _picked(record: Record) -> object:
    read = record.score.extracted if record.score else None
    return NOT_GIVEN if read is None else "".join(map(str, read)) if isinstance(read, list | tuple) else read


OF_RECORD: dict[str, Callable[[Record], object]] = {
    "draw": lambda record: record.draw,
    "epoch": lambda record: record.epoch,
    "mode": lambda record: record.condition.mode,
    "changed": lambda record: changed(record.condition.chain),
    PICKED: _picked,
}
"""Factors of a record beside those of its condition and its fields. `changed`: what its chain changes."""

OF_SAMPLE: dict[str, Callable[[Sample], object]] = {
    "options": lambda sample: len(sample.options) or NOT_GIVEN,
    "answer_position": lambda sample: (
        "".join(map(str, sample.answer))
        if sample.task_type in CHOICE_TYPES and isinstance(sample.answer, tuple)
        else NOT_GIVEN
    ),
}
"""Factors of the sample that was asked: how many options it has, and the labels of those that are right."""

BINNED: dict[str, Callable[[Record], float]] = {
    "response_tokens": lambda record: float(record.reply.usage.completion_tokens or nan),
    "reasoning_tokens": lambda record: (
        float(record.reply.usage.reasoning_tokens) if record.reply.usage.completion_tokens else nan
    ),
}
"""Numbers of a reply that are factors by their quartiles over all records."""


def plain_model(label: str) -> str:
    """A model's name without its backend, its owner, and signs."""
    return re.sub(r"[^\w.]|_", "", re.sub(r"^[^:]*:", "", label).rpartition("/")[2].lower())


def read_model_facts(file: Path, known: ModelFacts = MappingProxyType({})) -> ModelFacts:
    """What a user says of models: a CSV file with the column `model`, and a factor in each other one.

    Args:
        file: the file.
        known: what is said of models elsewhere; what the file says of the same ones goes before it.

    Raises:
        InputError: for a file that cannot be read, names no models, or names one twice.
    """
    try:
        rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines(), restval=""))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise unreadable(file, error, "give a CSV file") from None
    names = [name for name in (rows[0] if rows else ()) if name]
    if "model" not in names:
        raise InputError(file, 1, "names no models: begin with a line such as model,family,size,kind")
    if len({plain_model(row["model"]) for row in rows}) < len(rows):
        raise InputError(file, None, "names a model twice, or two whose names differ in signs alone: give each once")
    told = {name: {plain_model(row["model"]): row[name].strip() for row in rows} for name in names if name != "model"}
    return {name: {**known.get(name, {}), **told.get(name, {})} for name in [*known, *told]}


def quartiles(numbers: Floats) -> Field:
    """Numbers by their quarter of all; NaN is not given. Equal numbers are in one quarter."""
    told = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(told, (0.25, 0.5, 0.75, 1), method="inverted_cdf")) if len(told) else told
    lows = [told.min(), *(told[told > edge].min() for edge in edges[:-1])] if len(told) else []
    names = [f"{low:g} to {high:g}" for low, high in zip(lows, edges, strict=True)]
    return Field([*names, NOT_GIVEN], np.where(np.isnan(numbers), len(names), np.searchsorted(edges, numbers)))


def in_order(name: str, field: Field, runs: dict[str, RunFolder]) -> Field:
    """The same with its values in order: models and runs as they were given, contexts by what should help."""
    if len(field.values) > MAX_VALUES:
        return field
    asked = [condition.context for run in runs.values() for condition in run.config.conditions]
    given: dict[str, Sequence[str]] = {
        "model": [entry.label for run in runs.values() for entry in run.config.models],
        "run": list(runs),
        "context": sorted(asked, key=lambda context: (place_of(context), asked.index(context))),
        "mode": [BASES["variant"]],
        **{factor: [base] for factor, base in BASES.items() if factor != "context"},
    }
    first = [value for value in dict.fromkeys(given.get(name, ())) if value in field.values]
    values = [*first, *reading_order(name, set(field.values) - {*first, NOT_GIVEN})]
    values += [NOT_GIVEN] * (NOT_GIVEN in field.values)
    places = {value: place for place, value in enumerate(values)}
    codes: Any = np.array([places[value] for value in field.values], np.int32)[field.codes]
    return Field(values, codes)
