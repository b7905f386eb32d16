"""What rules, judges and metrics say beside the score in force, in a row of an exported run."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from mmdyn.keys import canonical
from mmdyn.record import Judgement, Record, Score
from mmdyn.work import Reader, RunConfig, judged_kind, score_kind

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Cell]

BY_RULES: dict[str, type] = {"score": float, "status": str, "rule": str, "needs_judge": bool}
BY_JUDGE: dict[str, type] = {
    "value": float,
    **dict.fromkeys(("votes", "parts", "items"), str),
    "agreement": float,
    "reason": str,
    "requests": int,
    "cost": float,
}
"""A Judgement's fields; those that are lists are JSON texts, empty where there is nothing."""


def judged_columns(config: RunConfig) -> dict[str, type]:
    """The columns metric.NAME of metrics beside the scores in force; rules.NAME and judge.LABEL.NAME of a run that has
    judges."""
    metrics: dict[str, type] = {scorer.partition("@")[0]: float for scorer in config.beside or ()}
    if not config.all_judges:
        return metrics
    judges = {f"judge.{who}.{name}": kind for who in _judges(config) for name, kind in BY_JUDGE.items()}
    return metrics | {f"rules.{name}": kind for name, kind in BY_RULES.items()} | judges


def judged_cells(config: RunConfig, reader: Reader, record: Record) -> Row:
    """A record's cells of these columns."""
    row: Row = {}
    key, judged = record.key, config.evaluator(record.set).judged
    for scorer in config.beside or ():
        if (value := reader.get(score_kind(scorer), key)) is not None:
            row[scorer.partition("@")[0]] = msgspec.json.decode(value, type=Score).value
    if judged and (value := reader.get(score_kind(judged[-1].rules), key)) is not None:
        score = msgspec.json.decode(value, type=Score)
        row |= {"rules.score": score.value, "rules.status": score.status, "rules.rule": score.rule}
        row["rules.needs_judge"] = score.needs_judge
    for who, id in _judges(config).items():
        if (value := reader.get(judged_kind(id), key)) is not None:
            judgement = msgspec.json.decode(value, type=Judgement)
            for name in BY_JUDGE:
                cell = getattr(judgement, name)
                row[f"judge.{who}.{name}"] = as_json(cell) if isinstance(cell, tuple) else cell
    return row


def _judges(config: RunConfig) -> dict[str, str]:
    """The judges' ids by label, or by name where two have one label."""
    labels = [entry.label for entry in config.all_judges]
    return {entry.label if labels.count(entry.label) == 1 else entry.name: entry.id for entry in config.all_judges}


def as_json(value: object) -> str | None:
    """A list's cell; None where there is nothing."""
    return None if value is None or value == () else canonical(value).decode()
