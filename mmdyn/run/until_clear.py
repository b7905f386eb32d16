"""A run that ends when it is clear: questions are asked in a keyed random order, and after each batch it is looked
whether every difference between standard and dynamic is told. docs/appendix/why.md says how that keeps its error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError, printable
from mmdyn.keys import canonical
from mmdyn.record import Contrast
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.executors._executor import Job
from mmdyn.run.samples import groups_of
from mmdyn.scoring import Scorer
from mmdyn.tables import POOLED, percent, summarise
from mmdyn.work import Ranks, RunFolder, UntilClear

LOOKS = "looks.jsonl"
"""What a run's folder keeps of its looks, a line each."""
SEEN = ("model", "set", "held", "n", "delta", "ci95", "p")
"""What is kept of a difference: the names of a Contrast."""
FIRST, GROWTH = 40, (13, 10)
"""Groups of questions at the first look, and how many times as many there are at each further one."""


class Look(Struct, frozen=True):
    """What was seen when `groups` groups of questions had been asked of each set, of `most` that the largest has; by
    difference the names of a Contrast."""

    groups: int
    most: int
    clear: bool
    seen: list[dict[str, Any]]

    def __str__(self) -> str:
        told = (f"{one['model']} on {one['set']} {percent(one['delta'], one['ci95'])}" for one in self.seen)
        then = "that is clear" if self.clear else "all is asked" if self.groups == self.most else "not clear yet"
        return f"look at {self.groups} of {self.most} groups of questions: {'; '.join(told)}: {then}"

    @property
    def next(self) -> int:
        """How many groups are to be asked now."""
        return self.groups if self.clear else grown(self.groups, self.most)


def until_clear(job: Job, ask: Callable[[int], RunFolder]) -> RunFolder:
    """Ask more and more groups of questions, and look, until all is clear or asked. What an earlier call looked at is
    not looked at again. It ends, too, where judges owe verdicts.

    Raises InputError for a file of looks that cannot be read, and what `ask` raises.
    """
    looks = _looks(job.out)
    while True:
        run = ask(looks[-1].next if looks else FIRST)
        rule, groups = run.config.until_clear, run.config.limit
        if run.config.under_way or rule is None or groups is None:
            return run
        if not looks or looks[-1].groups < groups:
            watched = _watched(run)
            clear = bool(watched) and all(_is_clear(one, rule.points) for one in watched)
            looks.append(
                Look(groups, rule.groups, clear, [{name: getattr(one, name) for name in SEEN} for one in watched])
            )
            part = job.out / f"{LOOKS}.part"
            part.write_bytes(b"".join(canonical(look) + b"\n" for look in looks))
            part.replace(job.out / LOOKS)
            if not job.execution.quiet:
                print(printable(str(looks[-1])), file=sys.stderr)
        if looks[-1].next == groups:
            return run


def rule_of(job: Job, sets: Sequence[SampleSet]) -> UntilClear:
    """How a run ends over these sets. Raises UserError where it does not ask standard and dynamic questions."""
    if {condition.variant for condition in job.conditions} != {"standard", "dynamic"}:
        raise UserError("--until-clear looks at dynamic against standard: ask both, of a set and its variants")
    points, scorer, largest, most = job.limits.until_clear or 0.0, Scorer(job.scoring.policy), dict[str, float](), 1
    for opened in (one for one in sets if not one.manifest.parent):
        groups = groups_of(opened).values()
        largest[opened.root] = max((sum(map(scorer.weight, group.values())) for group in groups), default=1.0)
        most = max(most, len(groups))
    return UntilClear(points, job.spec.seed, most, largest)


def check_until_clear(limits: Limits, execution: Execution) -> None:
    """Raise UserError for what does not go together."""
    if limits.until_clear is None:
        return
    if not 0 < limits.until_clear < 100:
        raise UserError(f"--until-clear is {limits.until_clear:g}: give points above 0 and below 100")
    if limits.n is not None:
        raise UserError("--until-clear decides how many questions are asked: leave --limit out")
    if execution.cluster or Ranks.of_environment().size > 1:
        raise UserError("--until-clear has one process ask and look: leave --executor and the launcher out")


def grown(groups: int, most: int) -> int:
    """How many groups there are at the look after the one at so many."""
    times, of = GROWTH
    return min(-(-groups * times // of), most)


def _is_clear(found: Contrast, points: float) -> bool:
    """Whether the interval leaves 0 out, or lies within so many points of it."""
    low, high = found.ci95 or (-1.0, 1.0)
    return low > 0 or high < 0 or 100 * max(-low, high) < points


def _watched(run: RunFolder) -> list[Contrast]:
    """The differences between standard and dynamic, over all chains where there are several."""
    found = [one for one in summarise([run]).contrasts if one.factor == "variant"]
    pooled = [(one.model, one.set) for one in found if one.held["chain"] == POOLED]
    return [one for one in found if one.held["chain"] == POOLED or (one.model, one.set) not in pooled]


def _looks(out: Path) -> list[Look]:
    file = out / LOOKS
    try:
        return msgspec.json.Decoder(Look).decode_lines(file.read_bytes()) if file.is_file() else []
    except msgspec.DecodeError as error:
        raise InputError(file, None, f"cannot be read ({error}): choose another -o") from None
