"""How well a judge tells changed questions from kept ones, on pairs that people have labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.sample import Verdict
from mmdyn.stats import Share, kappa_interval, weighted_kappa
from mmdyn.tables import Calibration


def measure(judge: str, identity: Json, judged: Iterable[tuple[bool, Verdict]]) -> Calibration:
    """Compare verdicts with labels; a label is True where people say that the meaning was kept.

    Raises UserError where there is no pair.
    """
    counts = Counter((keep, verdict.status) for keep, verdict in judged)
    if not counts:
        raise UserError("there is no labelled pair: give a file of lines with a label")
    failed = counts.pop((True, "failed"), 0) + counts.pop((False, "failed"), 0)
    caught, missed = counts[False, "rejected"], counts[False, "kept"]
    wronged, spared = counts[True, "rejected"], counts[True, "kept"]
    recall = Share.of(caught, caught + missed)
    precision, specificity = Share.of(caught, caught + wronged), Share.of(spared, spared + wronged)
    n = counts.total()
    people, verdicts = np.repeat(
        [[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]], [caught, missed, wronged, spared], axis=1
    )
    return Calibration(
        judge,
        identity,
        n,
        failed,
        precision,
        recall,
        recall,
        specificity,
        agreement=Share.of(caught + spared, n),
        kappa=weighted_kappa(people, verdicts),
        kappa_ci95=kappa_interval(people, verdicts),
    )
