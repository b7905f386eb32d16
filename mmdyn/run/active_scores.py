"""Which scores of a run are in force: those of judges only when no verdict is missing, since without the answers that
wait for one the mean would be of those that the rules call right."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from msgspec.structs import replace

from mmdyn.run.scoring_config import entries_of
from mmdyn.scoring import Cascade
from mmdyn.tables import Waiting, find_waiting
from mmdyn.work import (
    FAILURE,
    RECORD,
    Evaluator,
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


def begun(config: RunConfig, cascade: Callable[[str], Cascade], before: RunFolder | None) -> RunConfig:
    """The run.json with which the asking begins. `cascade`: how each standard set is scored; `before`: the run that
    goes on.

    Scores by rules are in force at once. Those of judges are under way: the scores of `before` stay where all that is
    asked has one, else it is those by the rules alone. Metrics beside them stay, too.
    """
    config = replace(config, beside=before.config.beside) if before else config

    def begin(root: str, evaluator: Evaluator) -> Evaluator:
        asked = scoring_of(cascade(root))
        if not asked.judges:
            return _in_force(evaluator, asked)
        stay = Scoring(asked.rules)
        if before and _is_asked(before, config.planned):
            known = before.config.evaluator(root).active_scores
            stay = known if _is_whole(before, config.sets, known.scorer, root) else stay
        return _under_way(evaluator, stay, asked)

    return config.with_evaluators(begin)


def begun_again(run: RunFolder, asked: Scoring, root: str) -> Callable[[str, Evaluator], Evaluator]:
    """How the evaluator of a standard set begins to score the answers of a run again: as in `begun`, but that scores by
    rules, too, come into force at the end, where all answers have those of before."""

    def begin(name: str, evaluator: Evaluator) -> Evaluator:
        if name != root:
            return evaluator
        whole = _is_whole(run, run.config.sets, evaluator.scorer, root)
        stay = evaluator.active_scores if whole else Scoring(asked.rules)
        return _under_way(evaluator, stay, asked) if asked.judges else _in_force(evaluator, stay)

    return begin


def settle(
    run: RunFolder, store: Store, cascade: Cascade, root: str = "", *, else_rules: bool = False
) -> Waiting | None:
    """Bring a cascade's scores of a standard set and its variants into force; what is waited for where a verdict is
    missing, and then those of before stay.

    else_rules: where no verdict could be had the rules' score counts, under a name of its own.
    """
    store.flush()
    asked = scoring_of(cascade)
    waiting = find_waiting(run, asked, root)
    if waiting.missing and else_rules and cascade.judges:
        asked = replace(asked, scorer=_keep_else_rules(run, store, asked))
    elif waiting.missing:
        run.write_config(run.config.with_evaluators(begun_again(run, asked, root)))
        return replace(waiting, active=run.config.by_root[root].scorer)
    run.write_config(run.config.with_evaluators(lambda name, one: _in_force(one, asked) if name == root else one))
    return None


def _in_force(evaluator: Evaluator, scoring: Scoring) -> Evaluator:
    names = {name: getattr(scoring, name) for name in Scoring.__struct_fields__}
    return replace(evaluator, **names, under_way=None)


def _under_way(evaluator: Evaluator, stay: Scoring, asked: Scoring) -> Evaluator:
    """The same where scores are under way and others stay in force; these themselves, where they are."""
    if stay.scorer == asked.scorer:
        return _in_force(evaluator, asked)
    return replace(_in_force(evaluator, stay), under_way=asked)


def _is_asked(run: RunFolder, planned: int) -> bool:
    """Whether so many asks have an answer, or never had one."""
    with Reader(run.records_folder) as reader:
        answered = sum(1 for _ in reader.items(RECORD))
        failed = groupby(reader.items(FAILURE), lambda item: item[0].partition(":")[0])
        return answered + sum(reader.get(RECORD, key) is None for key, _ in failed) >= planned


def _is_whole(run: RunFolder, sets: tuple[SetEntry, ...], scorer: str, root: str) -> bool:
    """Whether every answer has a score of this scorer, against the golden answers of these sets."""
    kind = score_kind(scorer)
    with Reader(run.records_folder) as reader:
        return all(reader.get(kind, key) is not None for key, _ in scored_records(reader, sets, root))


def _keep_else_rules(run: RunFolder, store: Store, asked: Scoring) -> str:
    """Keep each answer's score of these, else the rules', anew; what they are called."""
    name = f"{asked.scorer}{ELSE_RULES}"
    kinds = score_kind(asked.scorer), score_kind(asked.rules)
    store.forget(score_kind(name))
    with Reader(run.records_folder) as reader:
        for key, _ in scored_records(reader, run.config.sets):
            value = reader.get(kinds[0], key) or reader.get(kinds[1], key)
            if value is not None:  # the answers to a set of another evaluator have none
                store.put(score_kind(name), key, value)
    store.flush()
    return name
