"""The answers of a run without full marks, counted by what is known of them without a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TextIO

from msgspec import Struct
from msgspec.structs import asdict

from mmdyn.record import Record
from mmdyn.tables.breakdown import Breakdown, break_down
from mmdyn.tables.error_survey import decided
from mmdyn.tables.results import pick
from mmdyn.tables.text_table import CUT_OFF, open_console, print_breakdowns, print_grid
from mmdyn.work import RunFolder


class Counts(Struct, frozen=True):
    """Of `asked` answers: `wrong` ones, scored below 1, among them `truncated` ones (cut off, by the finish reason),
    `empty` ones and those in which no answer was found (`unparsed`), which may be truncated or empty, too. Beside them
    `refused` ones, those that never came (`failed`), and those that have no score.
    """

    asked: int
    wrong: int
    truncated: int
    empty: int
    unparsed: int
    refused: int
    failed: int
    unscored: int


COUNTS = Counts.__struct_fields__


class CountsRow(Counts, frozen=True):
    """The answers of one model, and broken down by fields."""

    model: str
    by: dict[str, dict[str, Counts]]

    @property
    def to_label(self) -> int:
        """How many wrong answers only a judge can tell the kind of."""
        return self.wrong - self.truncated - self.empty


def count_errors(run: RunFolder, by: Sequence[str] = ()) -> list[CountsRow]:
    """A row for each model.

    Raises:
        UserError: for a name in `by` that no record has.
    """
    breakdown, models = Breakdown(by), dict[str, dict[tuple[str, ...], Counter[str]]]()
    for record in run.records():
        found = models.setdefault(record.model, {}).setdefault(breakdown.of(record), Counter())
        found.update(_kinds(record))
    breakdown.check()
    return [
        CountsRow(model=label, by=_cells(breakdown.names, models[label]), **asdict(_counts(models[label].values())))
        for label in dict.fromkeys(entry.label for entry in run.config.models)
        if label in models
    ]


def print_counts(rows: Sequence[CountsRow], file: TextIO | None = None) -> None:
    """Print what is known of wrong answers without a judge to `file` or standard output: a line a model, then the
    breakdowns."""
    console = open_console(file)
    title = "Answers by what is known without a judge; cut off, empty and unparsed ones are among the wrong"
    print_grid(console, title, [{"answers of": row.model, **_shown(row)} for row in rows])
    print_breakdowns(console, "The same by {}", [({"model": row.model}, row.by) for row in rows], _shown)


def _kinds(record: Record) -> Iterable[str]:
    """Where an answer counts."""
    score = record.score
    yield "asked"
    if record.reply.error:
        yield "failed"
    elif score is None or score.value is None:
        yield "unscored"
    elif score.status == "refused":
        yield "refused"
    elif score.value < 1:
        yield "wrong"
        yield decided(record)
        yield "unparsed" if score.status == "unparsed" else ""


def _cells(names: Sequence[str], found: dict[tuple[str, ...], Counter[str]]) -> dict[str, dict[str, Counts]]:
    cells = break_down(names, ((counts, values) for values, counts in found.items()))
    return {name: {value: _counts(parts) for value, parts in of.items()} for name, of in cells.items()}


def _counts(parts: Iterable[Counter[str]]) -> Counts:
    found = sum(parts, Counter[str]())
    return Counts(**{name: found[name] for name in COUNTS})


def _shown(counts: Counts) -> dict[str, object]:
    return {CUT_OFF if name == "truncated" else name: count for name, count in pick(counts, *COUNTS).items()}
