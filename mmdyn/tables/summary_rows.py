"""What a report says, as records: its rows, without how they are found or shown."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Struct, UnsetType

from mmdyn.record import Contrast
from mmdyn.tables.auc import AucRow
from mmdyn.tables.cascades import Cascades
from mmdyn.tables.correction import CorrectionRow
from mmdyn.tables.flips import Flip
from mmdyn.tables.meaning_judges import JudgeRow
from mmdyn.tables.repeats import RepeatsRow
from mmdyn.tables.results import Bound, Interval, OfCondition
from mmdyn.tables.run_state import FailedReply, RunState
from mmdyn.tables.strengths import StrengthRow
from mmdyn.tables.wrong_answers import ErrorRow


class ScoreCell(Struct, frozen=True):
    """A score over n parents, in [0, 1]; None where there is none, and `note` says why. `failed`, `unscored` and
    `needs_judge` count records.

    bound: `lower` where the score is one. chance: what guessing earns, in [0, 1]. corrected: the score corrected for
        chance, at most 1, over the parents that have one, of which `uncorrected` have none (guessing earns all); None
        where chance is not known. unread: the share of answers that were refused or not read, which count 0 there.
    """

    n: int
    score: float | None
    ci95: Interval | None
    chance: float | None
    corrected: float | None
    corrected_ci95: Interval | None
    uncorrected: int
    unread: float | None
    failed: int
    unscored: int
    needs_judge: int
    bound: Bound
    method: str
    note: str


class ConditionRow(OfCondition, frozen=True):
    """A condition of a model on a set. `ok`, `unparsed`, `refused`, `failed`, `unscored` and `needs_judge` (and had
    none) count records, n counts parents.

    bound: `lower` where the score is one, as open answers, or blanks in words, had no judge. truncated: records whose
        answer was cut off, as the finish reason says, whatever it scores. chance, corrected, corrected_ci95,
        uncorrected, unread: as a ScoreCell has them.
    """

    n: int
    score: float | None
    ci95: Interval | None
    chance: float | None
    corrected: float | None
    corrected_ci95: Interval | None
    uncorrected: int
    unread: float | None
    ok: int
    unparsed: int
    refused: int
    truncated: int
    failed: int
    unscored: int
    needs_judge: int
    bound: Bound
    method: str
    note: str
    by: dict[str, dict[str, ScoreCell]]


class SummaryRows(Struct, frozen=True):
    """Everything a report says, rounded to six digits. `complete` is False where records are missing or not scored yet.

    `strengths` say how far the variants of each chain are from their parents, `judges` of each dynamic set who judged
    it and how well that judge is known to tell changed questions from kept ones. `failures` are the first of the failed
    records, with their reasons; `runs` count them all. `flips`, `corrections`, `repeats` and `auc` are there on
    request, `cascades` where judges scored, `errors` where one has labelled wrong answers.
    """

    schema: int
    complete: bool
    runs: list[RunState]
    conditions: list[ConditionRow]
    contrasts: list[Contrast]
    strengths: list[StrengthRow]
    judges: list[JudgeRow]
    failures: list[FailedReply]
    flips: list[Flip] | UnsetType = UNSET
    corrections: list[CorrectionRow] | UnsetType = UNSET
    repeats: list[RepeatsRow] | UnsetType = UNSET
    auc: list[AucRow] | UnsetType = UNSET
    cascades: Cascades | UnsetType = UNSET
    errors: list[ErrorRow] | UnsetType = UNSET

    @property
    def failed(self) -> int:
        """How many records failed, in all runs."""
        return sum(run.failed for run in self.runs)

    def to_json(self) -> bytes:
        """The summary as JSON text; equal runs give equal bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"
