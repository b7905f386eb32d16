"""The funnel of a set that was made step by step: what came into each step, what left it and why, what went on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from mmdyn.data.set_folder import SampleSet, StageCount

TOP_REASONS = 8
NO_SAMPLE = "rows that are no samples"


class Stage(Struct, frozen=True):
    """A step. `left`: how many left, by status and reason, of which quotations and numbers are left out."""

    step: str
    came_in: int
    went_on: int
    left: dict[str, dict[str, int]]


def stage_counts(made: SampleSet) -> tuple[StageCount, ...]:
    """The steps by which a set was made, the last one too."""
    manifest, before = made.manifest, made.manifest.stages or ()
    rejected = manifest.counts.get("rejected", 0)
    dropped = sum(1 for _ in made.dropped()) - sum(stage.dropped for stage in before)
    step = str(manifest.made.get("command", "made by hand")).removeprefix("mmdyn ").removeprefix("build ")
    limit, came_in = manifest.made.get("limit"), before[-1].made if before else len(made) + dropped + rejected
    came_in = min(came_in, limit) if before and isinstance(limit, int) else came_in
    return (*before, StageCount(step, came_in, len(made), dropped, rejected))


def stages(made: SampleSet) -> list[Stage]:
    """What became of the samples of a set, step by step from the first. Raises InputError."""
    dropped, found = made.dropped(), []
    for stage in stage_counts(made):
        left = {"rejected": Counter({NO_SAMPLE: stage.rejected})} if stage.rejected else {}
        for item in islice(dropped, stage.dropped):
            left.setdefault(item.status, Counter())[re.sub(r"'[^']*'|\d+", "…", item.reason)] += 1
        by_status = {status: dict(reasons.most_common()) for status, reasons in sorted(left.items())}
        found.append(Stage(stage.step, stage.came_in, stage.made, by_status))
    return found


def describe_stages(made: SampleSet) -> Iterator[str]:
    """The same in lines for people, with the commonest reasons."""
    yield f"{len(made)} samples: {made.folder}"
    for stage in stages(made):
        yield f"    {stage.step}: {stage.came_in} came in, {stage.went_on} went on"
        for status, reasons in stage.left.items():
            yield f"        {sum(reasons.values())} {status} by {stage.step}"
            yield from (f"            {count} {reason}" for reason, count in islice(reasons.items(), TOP_REASONS))
