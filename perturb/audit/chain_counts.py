"""What became of a dynamic set's variants, chain by chain."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from mmdyn.data import SampleSet

MADE = ("kept", "unjudged")
_MOST_REASONS = 100


class ChainOutcomes(Struct):
    """One chain: variants by outcome, and the reasons of those not kept by their first words (details are in
    dropped.jsonl)."""

    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

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
    for dropped in dynamic.dropped():
        chain = chains.setdefault(dropped.chain, ChainOutcomes())
        chain.outcomes[dropped.status] += 1
        reason = dropped.reason
        if reason.endswith(")") and dropped.status != "failed":  # what fails says in brackets why
            reason = reason.partition(" (")[0]
        known = reason in chain.reasons or len(chain.reasons) < _MOST_REASONS
        chain.reasons[reason if known else "other reasons"] += 1
    return chains
