"""The answers of a run without full marks, counted by what is known of them without a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from mmdyn.record import Record
from mmdyn.tables.breakdown import Breakdown
from mmdyn.tables.context_columns import ORDER
from mmdyn.tables.error_kinds import decided
from mmdyn.tables.results import by_value
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


class CountsRow(Counts, frozen=True):
    """The answers of one model, and broken down by fields."""

    model: str
    by: dict[str, dict[str, Counts]]

    @property
    def to_label(self) -> int:
        """How many wrong answers only a judge can tell the kind of."""
        return self.wrong - self.truncated - self.empty


def count_errors(run: RunFolder, by: Sequence[str] = ()) -> list[CountsRow]:
    """A row for each model. Raises UserError for an unknown name in `by`."""
    breakdown, models = Breakdown(by), dict[str, Counter[str]]()
    cells = dict[tuple[str, int, str], Counter[str]]()
    for record in run.records():
        found = [*_kinds(record)]
        models.setdefault(record.model, Counter()).update(found)
        for place, value in enumerate(breakdown.of(record)):
            cells.setdefault((record.model, place, value), Counter()).update(found)
    breakdown.check()
    return [
        CountsRow(
            model=model,
            by={
                name: _by_value(name, {cell[2]: counts for cell, counts in cells.items() if cell[:2] == (model, place)})
                for place, name in enumerate(breakdown.names)
            },
            **asdict(_counts(counts)),
        )
        for model in dict.fromkeys(entry.label for entry in run.config.models)
        if (counts := models.get(model)) is not None
    ]


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


def _counts(found: Counter[str]) -> Counts:
    return Counts(**{name: found[name] for name in Counts.__struct_fields__})


def _by_value(name: str, found: dict[str, Counter[str]]) -> dict[str, Counts]:
    known = list(found)
    return {known[at]: _counts(found[known[at]]) for at in by_value(known, ORDER.get(name, ()))}
