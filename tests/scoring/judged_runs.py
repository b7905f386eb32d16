"""Judged runs, and what they hold: scores, those under way, and what judges said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from making_judged_runs import model, questions
from running import grouped

from mmdyn.record import Judgement, Record, Score
from mmdyn.run import ScoringConfig, evaluate
from mmdyn.work import Reader, RunFolder, judged_kind, score_kind, unjudged_kind


def run_of(folder: Path, *judges: str, name: str = "run", **settings: Any) -> RunFolder:
    """A run of the model on the set; judges are asked about what is wrong by the rules, if no mode is set."""
    if not (folder / "set").exists():
        questions(folder)
    mode = {"judge_mode": "wrong"} if judges else {}
    given = grouped(judges=judges, quiet=True, **(mode | settings))
    return evaluate(folder / "set", model(folder), folder / name, **given)


def wrong(*judges: str, policy: str = "mdk12", **more: Any) -> ScoringConfig:
    """A policy, and judges that are asked about what is wrong by it."""
    return ScoringConfig(policy, judges=judges, judge_mode="wrong", **more)


def records(run: RunFolder | Path) -> dict[str, Record]:
    """A run's records by sample."""
    opened = run if isinstance(run, RunFolder) else RunFolder(run)
    return {record.sample: record for record in RunFolder(opened.folder).records()}


def values(run: RunFolder | Path) -> dict[str, float | None]:
    """The scores in force by sample."""
    return {name: record.score.value if record.score else None for name, record in records(run).items()}


def under_way(run: RunFolder | Path) -> dict[str, float | None]:
    """The scores of judges that are not in force, as verdicts are missing, by sample."""
    opened = RunFolder(run.folder if isinstance(run, RunFolder) else run)
    assert opened.config.under_way
    return values_of(opened, opened.config.under_way.scorer)


def values_of(run: RunFolder, scorer: str) -> dict[str, float | None]:
    """The values by a scorer of this name, by sample."""
    with Reader(run.records_folder) as reader:
        found = {record.sample: reader.get(score_kind(scorer), record.key) for record in run.records()}
    return {name: score and msgspec.json.decode(score, type=Score).value for name, score in found.items()}


def scores(run: RunFolder | Path) -> dict[str, Score | None]:
    """The same whole."""
    return {name: record.score for name, record in records(run).items()}


def verdicts(run: RunFolder, place: int = 0, *, failed: bool = False) -> dict[str, Judgement]:
    """What the judge in this place said, or failed to say, by sample."""
    id = RunFolder(run.folder).config.judged[-1].judges[place].id
    samples = {record.key: record.sample for record in run.records()}
    with Reader(run.records_folder) as reader:
        items = reader.items(unjudged_kind(id) if failed else judged_kind(id))
        return {samples[key.partition(":")[0]]: msgspec.json.decode(value, type=Judgement) for key, value in items}
