"""Declarations of tables (mmdyn/table.py) and runs -> rows; the default report among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from mmdyn.data import WEAKNESS
from mmdyn.stats import Ints
from mmdyn.table import (
    Analysis,
    AnswerKeys,
    Attribution,
    Auc,
    Completions,
    Contrasts,
    Corrected,
    Curves,
    CutOffs,
    Dimensions,
    ErrorCounts,
    ErrorKinds,
    FieldTests,
    Flips,
    Gap,
    Judged,
    Ladder,
    Leaderboard,
    MaskedOptions,
    MeaningJudges,
    Membership,
    Metrics,
    NamedTable,
    Noise,
    Paired,
    ParaphrasedCompletions,
    Part,
    Pivot,
    Position,
    PublishedAnswers,
    PublishedLetters,
    QuestionOrder,
    Ranking,
    Repeats,
    Scores,
    Spread,
    Strengths,
    Trend,
    Whole,
)
from mmdyn.tables.blocks import APART, MACRO, TOTAL, Block, Key, Numbered, Row, RowWatcher, TablePart, macro_cell
from mmdyn.tables.chain_effects import attribution_rows, curve_rows
from mmdyn.tables.columns import Cell, Columns, Watcher, named_runs, read_columns, records_where, split
from mmdyn.tables.completion import completion_rows, paraphrase_rows
from mmdyn.tables.contrasts import (
    ADJUSTED,
    FlipWatcher,
    adjusted,
    by_families,
    change_families,
    contrast_families,
    contrast_rows,
    family_note,
    field_rows,
)
from mmdyn.tables.factors import LEAK, PICKED, ModelFacts, plain_model
from mmdyn.tables.guessing import guessing_notes, key_rows, letter_rows, position_rows, with_positions
from mmdyn.tables.judged import CorrectedWatcher, DimensionsWatcher, JudgedWatcher, judge_rows
from mmdyn.tables.masked_options import option_rows
from mmdyn.tables.membership import membership_rows
from mmdyn.tables.memory import PublishedAnswersWatcher, cut_off_notes, cut_off_rows
from mmdyn.tables.noise import noise_rows
from mmdyn.tables.pairing import mark_best, paired_rows
from mmdyn.tables.published import Published
from mmdyn.tables.question_order import order_rows
from mmdyn.tables.ranks import RANK, leaderboard_rows, policies_of, ranking_rows
from mmdyn.tables.repeats import RepeatsWatcher
from mmdyn.tables.results import Report
from mmdyn.tables.run_state import FOLLOWED
from mmdyn.tables.scores import AucWatcher, beside, metric_rows, score_notes, score_rows
from mmdyn.tables.trends import ASSUMED, gap_rows, ladder_rows, spread_rows, trend_rows
from mmdyn.tables.wrong_answers import CountedErrors, LabelledErrors
from mmdyn.work import ProgressBar, RunFolder


def strength_rows(block: Block, part: Strengths) -> Iterator[Numbered]:
    """The medians of each measured chain of each dynamic set over its n variants; run.json has them, wherever the set
    is."""
    for name, run in block.columns.runs.items():
        for entry in run.config.sets:
            for chain, far in entry.strength.items():
                front = ({"run": name} if name else {}) | {"set": entry.name, "chain": chain}
                medians = {"tokens": far.tokens, "ssim": far.ssim, "legibility": far.legibility, "unseen": far.unseen}
                for quantity, median in medians.items():
                    if far.n and median is not None:
                        unit, note = "share" if quantity == "tokens" else "", WEAKNESS if far.weak else ""
                        yield (
                            block._replace(front=front).row((), (), quantity, median, unit=unit, n=far.n, note=note),
                            None,
                        )


def pivot_rows(block: Block, part: Pivot) -> Iterator[Numbered]:
    """The rows of a block of a Pivot, in reading order, each with its cell. Of several factors of `macro` there is a
    mean over each and one over all combinations."""
    axes, cells = part.axes, block.cells(part.axes)
    macros = dict[Key, dict[int, Cell]]()
    for chosen in (each for size in range(len(part.macro)) for each in combinations(part.macro, size + 1)):
        values = {axes.index(factor): block.columns.fields[factor].values for factor in chosen}
        for key, cell in cells.items():
            if len(cell.values) and TOTAL not in [key[place] for place in values]:
                codes = [known.index(key[place]) for place, known in values.items()]
                code = int(np.ravel_multi_index(codes, [len(known) for known in values.values()]))
                mean = tuple(MACRO if place in values else value for place, value in enumerate(key))
                macros.setdefault(mean, {})[code] = cell
    hidden = [place for place in range(len(part.by), len(axes)) if len({key[place] for key in cells}) > 1]
    for key in sorted([*cells, *macros], key=lambda key: block.order(axes, key)):
        if not {key[place] for place in hidden} <= {TOTAL, MACRO}:
            continue
        if key in macros:
            pooled, strata = macro_cell(macros[key])
            yield block.mean_row(axes, key, part.measure, pooled, strata), pooled
        else:
            yield block.mean_row(axes, key, part.measure, cells[key]), cells[key]


KINDS: dict[type, Callable[[Block, Any], Iterator[Numbered]]] = {
    Scores: score_rows,
    Contrasts: contrast_rows,
    Pivot: pivot_rows,
    Paired: paired_rows,
    Gap: gap_rows,
    Trend: trend_rows,
    Spread: spread_rows,
    Ranking: ranking_rows,
    Leaderboard: leaderboard_rows,
    Attribution: attribution_rows,
    Noise: noise_rows,
    Ladder: ladder_rows,
    Curves: curve_rows,
    FieldTests: field_rows,
    Metrics: metric_rows,
    Strengths: strength_rows,
    MeaningJudges: judge_rows,
    Position: position_rows,
    AnswerKeys: key_rows,
    CutOffs: cut_off_rows,
    PublishedLetters: letter_rows,
    QuestionOrder: order_rows,
    Completions: completion_rows,
    ParaphrasedCompletions: paraphrase_rows,
    MaskedOptions: option_rows,
    Membership: membership_rows,
}


WATCHERS: dict[type, Callable[[Any, Mapping[str, RunFolder]], RowWatcher]] = {
    Flips: FlipWatcher,
    Repeats: RepeatsWatcher,
    PublishedAnswers: PublishedAnswersWatcher,
    Auc: AucWatcher,
    Corrected: CorrectedWatcher,
    Judged: JudgedWatcher,
    Dimensions: DimensionsWatcher,
    ErrorKinds: LabelledErrors,
    ErrorCounts: CountedErrors,
}
"""Declarations that need more of the records than the columns hold."""

SPANS: dict[type[Analysis], tuple[str, ...]] = {
    Attribution: ("variant", "chain"),
    Noise: ("variant", "chain", "draw", "epoch"),
    Ladder: ("context",),
    Curves: ("variant", "chain"),
}
"""The factors over whose values an analysis goes, which its rows do not hold apart."""

TITLES: dict[type, str] = {
    Scores: "Scores",
    Contrasts: "Contrasts: b - a over the questions that both have",
    Flips: "Flips: questions that a chain turned",
    Position: "Scores by the position of the right option",
    PublishedLetters: "Published letters of options that were moved",
    PublishedAnswers: "Published answers to changed questions",
    CutOffs: "Scores up to each model's cut-off and after it",
    QuestionOrder: "How often the published order of questions is likelier than a random one",
    Completions: "Second halves of questions, beyond those of others: the set named, and not",
    ParaphrasedCompletions: "Second halves of questions, beyond those of others: the published wording, and another",
    MaskedOptions: "Wrong options that were masked: the set named, and not",
    Membership: "Membership scores: whether published questions score above held-out ones",
    AnswerKeys: "Answer keys: how right answers are spread, and options that are never right",
    FieldTests: "Where it changed: whether the change from standard to dynamic differs by field",
    Attribution: "Attribution: what of the drop each operator takes, in points",
    Noise: "Noise floor: what chains flip beyond what asking again flips",
    Ladder: "Ability ladder: what wrong answers lack",
    Curves: "Severity curves: scores corrected for chance along doses",
    Repeats: "Repeats: tries at one question; left out counts the groups of tries with fewer than k",
    Auc: "AUC of the weighed options; cases are statements or options",
    Corrected: "Scores corrected for the scorer's errors; marks counts answers that people marked",
    Judged: "Rules and judges; left out counts answers that a judge was not asked about, failed those without verdict",
    ErrorKinds: "Kinds of error, of all wrong answers; truncated and empty ones count as incomplete without a label",
    Dimensions: "Dimensions: the mean grade on each that the judge's rubric has, 100 the best; left out counts answers"
    " without grades",
    ErrorCounts: "Answers by what is known without a judge; truncated, empty and unparsed ones are among the wrong",
    Metrics: "Metrics: the same replies scored otherwise, beside the scores in force",
    Strengths: "Strength by chain: medians of the tokens changed, the SSIM of pictures and the lines of print read"
    " alike, and the mean of unseen frames",
    MeaningJudges: "Judges of meaning: variants that they kept, and how well they reject changed questions",
}

ANALYSED = ("score", "corrected", "pass_rate")
"""What analyses measure, of which each takes what it needs (chain_effects.py)."""

WHOLE = ("score", "corrected", "unread", *FOLLOWED)
"""What the tables that cover a whole run measure: a number that `scores.py` tells beside the score is named here, too,
and its heading in `grid.py`; the HTML report's cells are those of `results.py` and its templates."""

STANDARD = {"variant": ("standard",)}


def tabulate(
    runs: Sequence[str | Path | RunFolder],
    table: NamedTable | Sequence[Part],
    *,
    published: Published | None = None,
    facts: ModelFacts = MappingProxyType({}),
    progress: ProgressBar | None = None,
) -> Report:
    """Compute tables from the records of runs, which are read once.

    Args:
        table: A named table, or declarations (mmdyn/table.py).
        published: The paper's own numbers.
        facts: Factors of models, as `read_model_facts` reads them.
        progress: Counts the records.

    Raises:
        InputError: A folder holds no run.
        UserError: A factor or measure does not exist, a factor has more than 1000 values, or a declaration does not fit
            the records.

    >>> from mmdyn import Execution, evaluate
    >>> from mmdyn.table import Pivot
    >>> hexagon = {"id": "hexagon", "question": "How many sides does a hexagon have?", "task_type": "single_choice"}
    >>> hexagon |= {"answer": ["B"], "options": [{"label": "A", "text": "five"}, {"label": "B", "text": "six"}]}
    >>> run = evaluate([[hexagon]], lambda messages: "Answer: B", "run", execution=Execution(quiet=True))
    >>> tabulate([run], [Pivot(by=("set", "task_type"))])
    Score by set and task type
    <BLANKLINE>
     set      single_choice  n
     ─────────────────────────
     samples  100 [21, 100]  1
    ...
    """
    folders = [run if isinstance(run, RunFolder) else RunFolder(run) for run in runs]
    parts = table.parts if isinstance(table, NamedTable) else table
    columns, watched = read_for(folders, parts, facts=facts, progress=progress)
    return tabulate_columns(columns, table, watched, published)


def read_for(
    runs: Sequence[RunFolder],
    parts: Sequence[Part],
    *,
    facts: ModelFacts = MappingProxyType({}),
    progress: ProgressBar | None = None,
    watchers: Sequence[Watcher] = (),
) -> tuple[Columns, dict[int, RowWatcher]]:
    """Read every record once, for all that declarations need.

    Args:
        facts: Factors of models, as `read_model_facts` reads them.
        progress: Counts the records.
        watchers: See each record as it is read.

    Returns:
        The columns, and by index the watchers of those declarations that need more than columns.

    Raises:
        InputError, UserError: As `read_columns` does.
    """
    by_name, kept = named_runs(runs), enumerate(parts)
    watched = {place: WATCHERS[type(part)](part, by_name) for place, part in kept if type(part) in WATCHERS}
    factors = [name for part in parts for name in (*_named(part), *part.where, *_needed(part))]
    measures = [name for part in parts for name in _measured(part, by_name)]
    every = [*watched.values(), *watchers]
    return read_columns(runs, (*factors, *APART, "set"), measures, progress, facts, every), watched


def tabulate_columns(
    columns: Columns,
    table: NamedTable | Sequence[Part],
    watched: Mapping[int, RowWatcher] = MappingProxyType({}),
    published: Published | None = None,
) -> Report:
    """Compute tables from records that `read_for` read for these declarations, and perhaps for others.

    Args:
        table: A named table, or declarations.
        watched: The watchers of the declarations, by index.
        published: The paper's own numbers.

    Raises:
        UserError: A declaration does not fit the records.
    """
    named = table if isinstance(table, NamedTable) else NamedTable(name="", title="", parts=tuple(table))
    parts = with_positions([_part(columns, part, watched.get(place)) for place, part in enumerate(named.parts)])
    parts = [published.beside(part, place) for place, part in enumerate(parts)] if published else parts
    return Report.of(columns, parts, named.title)


def _needed(part: Part) -> list[str]:
    """Factors that a declaration needs beside those that it names."""
    grouped = isinstance(part, Paired) and part.pair == "group"
    return [PICKED] * (isinstance(part, Ladder | PublishedLetters) or grouped)


def _measured(part: Part, runs: Mapping[str, RunFolder]) -> Sequence[str]:
    if isinstance(part, Analysis):
        return ANALYSED
    if isinstance(part, Whole):
        return (*WHOLE, *(beside(runs) if isinstance(part, Metrics) else ()))
    return [part.measure, *(["corrected"] if part.measure == "score" else [])]


def _of_changed(part: Part) -> tuple[str, ...]:
    """What of `where` is about the changed questions of a table that pairs them with the standard ones."""
    if isinstance(part, Flips):
        return "chain", "variant", "mode"
    return ("chain",) if isinstance(part, Paired) and part.factor == "variant" else ()


def _part(columns: Columns, part: Part, watcher: RowWatcher | None) -> TablePart:
    axes, measured = _named(part), "score" if isinstance(part, Analysis | Whole) else part.measure
    records, missing = records_where(columns, part.where)
    if of_changed := {*_of_changed(part)} & part.where.keys():
        # Standard questions have no chain, and stand beside each.
        beside, _ = records_where(columns, {n: v for n, v in part.where.items() if n not in of_changed} | STANDARD)
        records, missing = np.union1d(records, beside), ""
    if isinstance(part, Paired):
        sides = split(columns, records, [part.factor])
        lacking = [side for side in (part.a, part.b) if (side,) not in sides]
        missing = missing or (records_where(columns, {part.factor: (lacking[0],)})[1] if lacking else "")
        records = np.concatenate([sides[side,] for side in (part.a, part.b)]) if not lacking else records[:0]
    if not isinstance(part, Analysis | Whole) and "chain" not in (*axes, *part.where):
        records = columns.over_chains(records)
    # A declaration that has rows by models unless it says otherwise averages over them where it does.
    candidates = () if isinstance(part, Whole) else APART if isinstance(part, Pivot) else APART[1:]
    apart = _apart(columns, records, axes, candidates)
    blocks = split(columns, records, apart).items() if len(records) else ()
    numbered = (
        (block, row, cell)
        for values, inside in blocks
        for block in [Block(columns, measured, inside, dict(zip(apart, values, strict=True)))]
        for row, cell in (watcher.rows(block) if watcher else KINDS[type(part)](block, part))
    )
    rows = [row for _, row, _ in numbered] if isinstance(part, Whole) else mark_best([*numbered])
    rows, families = _adjusted(part, rows)
    notes = [] if isinstance(part, Whole) else [*_notes(columns, records, apart, axes)]
    notes += [
        *[missing] * bool(missing),
        *[ASSUMED] * isinstance(part, Ladder),
        *[families] * bool(families),
        *(watcher.notes(rows) if watcher else ()),
        *(guessing_notes(rows) if isinstance(part, Position | AnswerKeys) else ()),
        *(cut_off_notes(columns, rows) if isinstance(part, CutOffs) else ()),
        *(score_notes(Block(columns, measured, records, {}), part) if isinstance(part, Scores) else ()),
    ]
    kind, title = type(part).__name__.lower(), part.title or _title(part, axes)
    if isinstance(part, Leaderboard):
        known = columns.fields[part.columns].values
        if len(policies := policies_of(columns, records)) > 1:
            notes += [f"{policy} scores {', '.join(sets)}" for policy, sets in policies.items()]
            notes += ["the columns measure different things, so that there is no mean and no rank over them"]
        notes += [
            f"no record has {part.columns} = {' or '.join(chosen)}, of which the group {name} is"
            for name, chosen in part.groups.items()
            if not {*chosen} & {*known}
        ]
        return TablePart(kind, title, part.columns, rows, notes, [RANK, MACRO, TOTAL, *part.groups, *known])
    if isinstance(part, Pivot) and len(axes) > 1:
        return TablePart(kind, title, axes[-1], rows, notes, [*columns.fields[axes[-1]].values, TOTAL, MACRO])
    by = part.by if isinstance(part, Scores | Contrasts) else ""
    return TablePart(kind, title, "" if isinstance(part, Repeats) else "quantity", rows, notes, by=by)


def _adjusted(part: Part, rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Rows with p adjusted within their families, one a table where not said otherwise; and a note on that."""
    families = None
    if isinstance(part, Contrasts) and not part.by:
        families = contrast_families(rows)
    elif isinstance(part, Paired) and part.factor == "variant" and "chain" in part.by:
        families = change_families(rows)
    if families is not None:
        return by_families(rows, families), family_note(rows, families)
    found = adjusted(rows, [row.quantity for row in rows] if isinstance(part, Attribution) else None)
    tests = sum(row.p_adjusted is not None for row in found)
    return found, f"{ADJUSTED} over {tests} tests" if tests > 1 and not isinstance(part, Attribution) else ""


def _title(part: Part, axes: Sequence[str]) -> str:
    """What a declaration is called that has no title."""
    if isinstance(part, Analysis | Whole):
        return TITLES[type(part)] + (f" by {part.by}" if isinstance(part, Scores | Contrasts) and part.by else "")
    over = "" if isinstance(part, Pivot) or "model" in axes else ", mean over the models"
    measure = part.measure.replace("_", " ")
    what, by = measure.capitalize(), axes if isinstance(part, Pivot) else ()
    if isinstance(part, Paired | Gap | Trend | Spread):
        by = part.by
    if isinstance(part, Paired | Gap):
        what = f"{what} of {part.b} - {part.a}"
    elif isinstance(part, Trend | Spread):
        what = f"{type(part).__name__} of the {measure} over {_listed([part.factor])}"
    elif isinstance(part, Ranking):
        what = f"Order of the models by {measure}, over {_listed([part.over])}"
    elif isinstance(part, Leaderboard):
        what = f"Models by their mean {measure} over {_listed([part.columns])}"
    return what + (f" by {_listed(by)}" if by else "") + over


def _listed(names: Sequence[str]) -> str:
    """Factors in words, the last with an `and`."""
    *first, last = (name.replace("_", " ") for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def _named(part: Part) -> list[str]:
    """The factors that a declaration names beside those of `where`."""
    if isinstance(part, Pivot):
        return list(part.axes)
    if isinstance(part, Scores | Contrasts):
        return [part.by] * bool(part.by)
    if isinstance(part, ErrorKinds | ErrorCounts):
        return [*part.by]
    if isinstance(part, Whole):
        return []
    if isinstance(part, Analysis):
        return [*part.by, *(name for name in SPANS[type(part)] if name not in part.by)]
    if isinstance(part, Ranking | Leaderboard):
        return ["model", part.over if isinstance(part, Ranking) else part.columns]
    return [*part.by, part.factor]


def _apart(columns: Columns, records: Ints, axes: Sequence[str], candidates: Sequence[str]) -> list[str]:
    """What else must be kept apart, as a cell would average over it: models and conditions, and runs where a question
    is in several. Where chains are named, so are variants: a mean over chains is of no standard question."""
    forced = ["variant"] * ("chain" in axes and "variant" in candidates and "variant" not in axes)
    found = [name for name in forced if len(split(columns, records, [name])) > 1]
    for name in (name for name in candidates if name not in (*axes, *found) and len(records)):
        codes = [columns.fields[axis].codes[records] for axis in (*axes, *found)]
        codes += [columns.parents[records]] if name == "run" else []
        if _distinct([*codes, columns.fields[name].codes[records]]) > _distinct(codes):
            found.append(name)
    return found


def _distinct(codes: Sequence[Ints]) -> int:
    """How many combinations of codes there are."""
    flat = np.zeros(1, np.int64)
    for code in codes:
        _, flat = np.unique(flat * (int(code.max()) + 1) + code, return_inverse=True)
    return int(flat.max()) + 1


def _notes(columns: Columns, records: Ints, apart: Sequence[str], axes: Sequence[str]) -> Iterator[str]:
    labels = columns.fields["model"].values if {*axes} & {*columns.facts} else []
    if unknown := [label for label in labels if not any(plain_model(label) in of for of in columns.facts.values())]:
        line = f"a CSV file that begins with the line model,{','.join(columns.facts)}"
        yield f"nothing is known of {', '.join(unknown)}: say it with --models FILE, {line}"
    if others := [name for name in apart if name != "model"]:
        yield f"kept apart by {', '.join(others)}: name values of it, such as with --where, for one of them"
    sets = [name for (name,) in split(columns, records, ["set"])] if len(records) else []
    if len(sets) > 1 and "set" not in axes:
        yield f"over the sets {', '.join(sets)} together"
    if lacking := sum(columns.unjudged.get(place, 0) for place in np.unique(columns.asked[records]).tolist()):
        yield f"{lacking} statements of questions were not judged alone: a question has the mean of its others"
    scorers = dict[str, set[str]]()
    for key in (columns.keys[place] for place in np.unique(columns.asked[records]).tolist()):
        scorers.setdefault(key.set, set()).add(columns.runs[key.run].config.evaluator(key.set).scorer)
    every = sorted(set().union(*scorers.values()))
    if any(len(of_a_set) > 1 for of_a_set in scorers.values()):
        yield f"scored by different policies ({', '.join(every)}): run `mmdyn score` so that they agree"
    elif len(every) > 1 and "set" not in axes:
        yield f"the sets are scored by different policies ({', '.join(every)}), which measure different things"


def summary_parts(
    by: Sequence[str] = (),
    *,
    repeats: Sequence[int] | None = None,
    auc: bool = False,
    correct: str = "",
    labels: str | Path | None = None,
) -> list[Part]:
    """The declarations of a report, with the arguments of `report`; a table with nothing to tell is left out later."""
    return [
        Scores(),
        *(Scores(by=name) for name in by),
        Contrasts(),
        *(Contrasts(by=name) for name in by),
        *([] if LEAK in by else [Contrasts(by=LEAK, factors=("context",))]),
        *([Corrected(method=correct, labels=str(labels or ""))] if correct else []),
        *([] if repeats is None else [Repeats(k=tuple(repeats))]),
        *([Auc()] if auc else []),
        Metrics(),
        Judged(),
        Dimensions(),
        ErrorKinds(by=tuple(by), silent=True),
        Position(),
        AnswerKeys(),
        Strengths(),
        MeaningJudges(),
    ]


def report(
    *runs: str | Path | RunFolder,
    by: Sequence[str] = (),
    repeats: Sequence[int] | None = None,
    auc: bool = False,
    correct: str = "",
    labels: str | Path | None = None,
    progress: ProgressBar | None = None,
) -> Report:
    """Summarise run folders: scores with intervals, and contrasts with adjusted p-values.

    Args:
        by: Fields of questions, or facts on contexts (`answer_leak`, `retrieval`, `knowledge_count`), to break scores
            and contrasts down by.
        repeats: Adds metrics of k tries at a question; empty for 1 and all.
        auc: Adds how well weighed options tell right from wrong.
        correct: Adds scores corrected for the scorer's errors, by `rogan-gladen` or `ppi++`.
        labels: The file of people's marks that `ppi++` needs.
        progress: Counts the records.

    Raises:
        InputError: A folder holds no run.
        UserError: A field does not exist, or scores cannot be corrected this way.

    >>> from mmdyn import Execution, evaluate
    >>> hexagon = {"id": "hexagon", "question": "How many sides does a hexagon have?", "task_type": "single_choice"}
    >>> hexagon |= {"answer": ["B"], "options": [{"label": "A", "text": "five"}, {"label": "B", "text": "six"}]}
    >>> run = evaluate([[hexagon]], lambda messages: "Answer: B", "run", execution=Execution(quiet=True))
    >>> [(row.quantity, row.value, row.n) for row in report(run).rows("scores", "score")]
    [('score', 1.0, 1)]
    """
    parts = summary_parts(by, repeats=repeats, auc=auc, correct=correct, labels=labels)
    return tabulate(runs, parts, progress=progress)
