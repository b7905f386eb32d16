"""The same replies by other metrics than the one that is in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from mmdyn.table import Metrics
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.scores import conditions_of
from mmdyn.work import RunFolder


def beside(runs: Mapping[str, RunFolder]) -> list[str]:
    """The metrics that stand beside the scores in force of some runs."""
    scorers = (scorer for run in runs.values() for scorer in run.config.beside or ())
    return [*dict.fromkeys(scorer.partition("@")[0] for scorer in scorers)]


def metric_rows(block: Block, part: Metrics) -> Iterator[Numbered]:
    """The score in force of each condition, under its policy's name, and that of each metric beside it, over what a
    metric scored."""
    columns, metrics = block.columns, beside(block.columns.runs)
    for key, records in conditions_of(block).items() if metrics else ():
        policy = columns.runs[key.run].config.evaluator(key.set).active_scores.policy
        others = [name for name in metrics if name != policy]
        scored = [~np.isnan(columns.worth[name][0][records]) for name in others]
        kept = records[np.any(scored, axis=0)] if scored else records[:0]
        if not len(kept):
            continue
        here, left = block._replace(front=key.place), len(records) - len(kept)
        for name, measured in {policy: "score", **{name: name for name in others}}.items():
            cell = here._replace(measured=measured).cell(kept)
            yield here._replace(measured=measured).mean_row((), (), name, cell, left_out=left), cell
