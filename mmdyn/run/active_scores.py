"""Which scores of a run are in force: those of judges only when no verdict is missing, since without the answers that
wait for one the mean would be of those that the rules call right."""

from __future__ import annotations

from itertools import groupby

from msgspec.structs import replace

from mmdyn.run.scoring_config import entries_of
from mmdyn.scoring import Cascade
from mmdyn.tables import Waiting, find_waiting
from mmdyn.work import (
    FAILURE,
    RECORD,
    Reader,
    RunConfig,
    RunFolder,
    Scoring,
    SetEntry,
    Store,
    score_kind,
    scored_records,
)

ELSE_RULES = "+else-rules"
"""The end of a scorer's name by which the rules' score counts where no verdict could be had."""


def scoring_of(cascade: Cascade) -> Scoring:
    """The scores of a cascade, for run.json."""
    return Scoring(cascade.name, entries_of(cascade), cascade.mode if cascade.judges else "")


def begun(config: RunConfig, asked: Scoring, before: RunFolder | None) -> RunConfig:
    """The run.json with which the asking begins. `before`: the run that goes on.

    Scores by rules are in force at once. Those of judges are under way: the scores of `before` stay where all that is
    asked has one, else it is those by the rules alone.
    """
    if not asked.judges:
        return _in_force(config, asked)
    stay = Scoring(asked.rules)
    if before and _is_asked(before, config.planned) and _is_whole(before, config.sets, before.config.scorer):
        stay = before.config.active_scores
    return _under_way(config, stay, asked)


def begun_again(run: RunFolder, asked: Scoring) -> RunConfig:
    """The run.json with which the answers of a run begin to be scored again: as in `begun`, but that scores by rules,
    too, come into force at the end, where all answers have those of before."""
    stay = run.config.active_scores if _is_whole(run, run.config.sets, run.config.scorer) else Scoring(asked.rules)
    return _under_way(run.config, stay, asked) if asked.judges else _in_force(run.config, stay)


def settle(run: RunFolder, store: Store, cascade: Cascade, *, else_rules: bool = False) -> Waiting | None:
    """Bring a cascade's scores into force; what is waited for where a verdict is missing, and then those of before
    stay.

    else_rules: where no verdict could be had the rules' score counts, under a name of its own.
    """
    store.flush()
    asked = scoring_of(cascade)
    waiting = find_waiting(run, asked)
    if waiting.missing and else_rules and cascade.judges:
        asked = replace(asked, scorer=_keep_else_rules(run, store, asked))
    elif waiting.missing:
        run.write_config(begun_again(run, asked))
        return replace(waiting, active=run.config.scorer)
    run.write_config(_in_force(run.config, asked))
    return None


def _in_force(config: RunConfig, scoring: Scoring) -> RunConfig:
    names = {name: getattr(scoring, name) for name in Scoring.__struct_fields__}
    return replace(config, **names, under_way=None)


def _under_way(config: RunConfig, stay: Scoring, asked: Scoring) -> RunConfig:
    """The same where scores are under way and others stay in force; these themselves, where they are."""
    if stay.scorer == asked.scorer:
        return _in_force(config, asked)
    return replace(_in_force(config, stay), under_way=asked)


def _is_asked(run: RunFolder, planned: int) -> bool:
    """Whether so many asks have an answer, or never had one."""
    with Reader(run.records_folder) as reader:
        answered = sum(1 for _ in reader.items(RECORD))
        failed = groupby(reader.items(FAILURE), lambda item: item[0].partition(":")[0])
        return answered + sum(reader.get(RECORD, key) is None for key, _ in failed) >= planned


def _is_whole(run: RunFolder, sets: tuple[SetEntry, ...], scorer: str) -> bool:
    """Whether every answer has a score of this scorer, against the golden answers of these sets."""
    kind = score_kind(scorer)
    with Reader(run.records_folder) as reader:
        return all(reader.get(kind, key) is not None for key, _ in scored_records(reader, sets))


def _keep_else_rules(run: RunFolder, store: Store, asked: Scoring) -> str:
    """Keep each answer's score of these, else the rules', anew; what they are called."""
    name = f"{asked.scorer}{ELSE_RULES}"
    kinds = score_kind(asked.scorer), score_kind(asked.rules)
    store.forget(score_kind(name))
    with Reader(run.records_folder) as reader:
        for key, _ in scored_records(reader, run.config.sets):
            value = reader.get(kinds[0], key) or reader.get(kinds[1], key)
            assert value is not None, "the rules have scored every answer"
            store.put(score_kind(name), key, value)
    store.flush()
    return name
