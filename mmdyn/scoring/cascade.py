"""Rules first, then judges: who is asked about a reply, and what counts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Judgement, Reply, Score
from mmdyn.sample import Sample
from mmdyn.scoring.judge import Judge
from mmdyn.scoring.scorer import Scorer, declined

MODES = {
    "unsure": "unsure asks about the answers that need a judge",
    "wrong": "wrong asks about whatever the rules do not call right",
    "all": "all asks about everything",
}
"""What judges are asked about, by the mode's name."""


class Cascade:
    """Scores by rules, and by judges in a row, a cheap one before a strong one; without judges by rules alone.

    By the mode `unsure` the rules' score stands, right or wrong, unless it needs a judge; by `wrong` and `all` what
    they call right is right. Of all else the first judge decides that calls the reply right; where none does, the last.
    name: of the combined scores. It holds the judges' ids and the mode; that of `all` is `wrong`, as both give the same
        scores. Raises UserError for an unknown mode, a judge that is given twice, two judges that reports could not
        tell apart, and where no score would ever need one.
    """

    def __init__(self, scorer: Scorer, judges: Sequence[Judge] = (), mode: str = "unsure") -> None:
        check_mode(mode)
        if judges and mode == "unsure" and scorer.compares:
            raise UserError(
                f"no score of {scorer.name} needs a judge: give the judge mode wrong, or all, to have one asked"
            )
        labels = [judge.label for judge in judges]
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise UserError(f"two judges are called {twice[0]}: give one of them once, or tell them apart with label=")
        for place, judge in enumerate(judges):
            if same := [other.label for other in judges[:place] if other.id == judge.id]:
                raise UserError(f"{same[0]} and {judge.label} are one judge, which would say all twice: give it once")
        self.scorer, self.judges, self.mode = scorer, tuple(judges), mode
        self.name = combined_name(scorer.name, [judge.id for judge in judges], mode)

    def pending(self, reply: Reply, score: Score, judgements: Sequence[Judgement | None]) -> tuple[int, ...]:
        """The places of the judges to ask next, by what the rules and the judges (None: not asked) said so far.

        A reply that was withheld, as its finish reason says, is no judge's matter.
        """
        if declined(reply):
            return ()
        if self.mode == "all":
            return tuple(place for place, judgement in enumerate(judgements) if judgement is None)
        if not judgements or self._stands(score):
            return ()
        place = _deciding(judgements)
        return (place,) if judgements[place] is None else ()

    def combined(self, reply: Reply, score: Score, judgements: Sequence[Judgement | None]) -> Score | None:
        """The score of both, which needs no judge any more; None where the judge that decides was not asked or gave no
        verdict.

        The rules' score with the judge's value and name, when a judge decides. What the rules could not read and a
        judge gives something for is `ok`.
        """
        if not judgements:
            return score
        settled = replace(score, needs_judge=False, lower_bound=False)
        if self._stands(score) or declined(reply):
            return settled
        place = _deciding(judgements)
        judgement = judgements[place]
        if judgement is None or judgement.value is None:
            return None
        status = "ok" if judgement.value else score.status
        return replace(settled, status=status, value=judgement.value, rule=f"judge:{self.judges[place].label}")

    def check(self, sample: Sample) -> None:
        """Raise UserError for a sample that the rules, or a judge's rubric, cannot be used for."""
        self.scorer.check(sample)
        for judge in self.judges if self.mode != "unsure" or not sample.instructions else ():
            judge.check(sample)

    def _stands(self, score: Score) -> bool:
        """Whether the rules' score counts, whatever judges say."""
        if self.mode == "unsure":
            return not score.needs_judge
        return score.value is not None and score.value >= 1

    async def close(self) -> None:
        """Close the judges."""
        for judge in self.judges:
            await judge.close()


def check_mode(mode: str) -> None:
    """Raise UserError for an unknown mode."""
    if mode not in MODES:
        raise UserError(f"there is no judge mode {mode!r}{did_you_mean(mode, MODES)}: {', '.join(MODES.values())}")


def combined_name(rules: str, ids: Sequence[str], mode: str) -> str:
    """What the scores of rules and of the judges with these ids are called, such as mdk12@10+unsure(0123abcd)."""
    return f"{rules}+{'unsure' if mode == 'unsure' else 'wrong'}({','.join(ids)})" if ids else rules


def _deciding(judgements: Sequence[Judgement | None]) -> int:
    """The place of the judge that decides: of the first one that was not asked or calls the reply right, else of the
    last."""
    for place, judgement in enumerate(judgements):
        if judgement is None or judgement.value == 1:
            return place
    return len(judgements) - 1
