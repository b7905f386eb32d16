"""What became of a dynamic set's variants, chain by chain."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from perturb.audit.pairs import find_parent, pairs
from perturb.rewrite._lexicon import swaps

MADE = ("kept", "unjudged")
_MOST_REASONS = 100
_SWAPPED = [("text.substitute", "embedded")]


class ChainOutcomes(Struct):
    """One chain: variants by outcome, the reasons of those not kept by their first words (details are in
    dropped.jsonl), and how many claims that questions became are true and false."""

    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    claims: Counter[bool] = field(default_factory=Counter)

    @property
    def made(self) -> int:
        """Variants that are in the set."""
        return sum(self.outcomes[status] for status in MADE)


def summarize(dynamic: SampleSet) -> dict[str, ChainOutcomes]:
    """Count a dynamic set's variants by chain, in the order of `--ops`."""
    chains = {name: ChainOutcomes() for name in str(dynamic.manifest.made.get("ops", "")).split(",") if name}
    for sample in dynamic:
        if sample.variant:
            chain = chains.setdefault(sample.variant.chain, ChainOutcomes())
            chain.outcomes[sample.variant.verdict.status] += 1
            if sample.variant.hidden:
                chain.claims[sample.answer is True] += 1
    for dropped in dynamic.dropped():
        chain = chains.setdefault(dropped.chain, ChainOutcomes())
        chain.outcomes[dropped.status] += 1
        reason = dropped.reason
        if reason.endswith(")") and dropped.status != "failed":  # what fails says in brackets why
            reason = reason.partition(" (")[0]
        known = reason in chain.reasons or len(chain.reasons) < _MOST_REASONS
        chain.reasons[reason if known else "other reasons"] += 1
    return chains


def scaffolding_share(dynamic: SampleSet, parent: str | Path | None = None) -> float | None:
    """Of the words that the embedded rewriter replaced, the share that asks, points or joins (find, shown, if) and says
    nothing of the subject.

    Args:
        dynamic: a set of variants; those count whose words nothing else changed.
        parent: the set that it was made of; looked for beside it where it is not given.

    Returns:
        The share; None where no word was replaced so, or the parents are not at hand.
    """
    found = Counter[bool]()
    with suppress(UserError):
        for pair in pairs(dynamic, find_parent(dynamic, parent)):
            worded = [step for step in pair.trail.steps if step.operator.startswith("text.")]
            if pair.outcome in MADE and [(step.operator, step.params.get("by")) for step in worded] == _SWAPPED:
                found.update(hit.scaffolding for _, _, hit in swaps(pair.before, pair.after))
    return found[True] / found.total() if found else None
