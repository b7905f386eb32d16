"""What became of the samples of a built set: how many there are, and how many were refused for which reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from mmdyn.data import SampleSet

TOP_REASONS = 8


def tell_funnel(made: SampleSet) -> Iterator[str]:
    """Lines for people: samples, those dropped by step and status, and the commonest reasons, quotations left out."""
    dropped = Counter[tuple[str, str]]()
    reasons = Counter[tuple[str, str, str]]()
    for item in made.dropped():
        dropped[item.chain, item.status] += 1
        reasons[item.chain, item.status, re.sub(r"'[^']*'|\d+", "…", item.reason)] += 1
    yield f"{len(made)} samples: {made.folder}"
    for (step, status), count in sorted(dropped.items()):
        yield f"    {count} {status} by {step}"
        of_step = Counter({reason: number for (a, b, reason), number in reasons.items() if (a, b) == (step, status)})
        for reason, number in of_step.most_common(TOP_REASONS):
            yield f"        {number} {reason}"
