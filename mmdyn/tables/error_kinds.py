"""Kinds of error as a table: the shares that `mmdyn errors` labelled, weighted by what each label stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mmdyn.table import ErrorKinds
from mmdyn.tables.rows import ERRORS, TOTAL, Row, TablePart
from mmdyn.tables.wrong_answers import KINDS, find_errors
from mmdyn.work import RunFolder

UNLABELLED = "no wrong answer has a label: `mmdyn errors RUN --judge MODEL` gives some"


def error_part(runs: Mapping[str, RunFolder], part: ErrorKinds) -> TablePart:
    """The shares of each model's wrong answers, by each judge; n counts wrong answers.

    Raises UserError for a name in `by` that no record has.
    """
    rows = list(_rows(runs, part))
    return TablePart(ERRORS, part.title, "quantity", rows, [] if rows else [UNLABELLED])


def _rows(runs: Mapping[str, RunFolder], part: ErrorKinds) -> Iterator[Row]:
    for found in find_errors(runs, part.by):
        front = {"run": found.run} if len(runs) > 1 else {}
        front |= {"model": found.model, "judge": found.judge}
        more: dict[str, Any] = {"unit": "share"}
        parts = ((f"{name} {value}", one) for name, of in found.by.items() for value, one in of.items())
        for value, one in ((TOTAL, found), *parts):
            for kind in KINDS:
                rate = one.kinds[kind] if one.kinds else None
                more |= {"value": rate and rate.share, "ci95": rate and rate.ci95, "n": one.wrong}
                more |= {"method": one.method, "note": one.note}
                yield Row(factors=front | {"answers": value}, quantity=kind, **more)
