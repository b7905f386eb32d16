"""What guessing earns under a policy of credit: the chance level of a sample.

The guesser is the one of `baseline:random`. Of a single choice it takes any option; in a multi-select it tosses a coin
for each option, and takes any one where no coin falls for one; of True and False it takes either. A blank or an open
answer it does not hit.
"""

from __future__ import annotations

from functools import cache
from math import comb
from statistics import fmean

from mmdyn.sample import CHOICE_TYPES, Sample
from mmdyn.scoring.policies._policy import Policy


def chance_of(policy: Policy, sample: Sample) -> float:
    """The expected credit of a guess at the sample, in [0, 1]. Options that stand in a picture count by their
    labels."""
    if sample.task_type in CHOICE_TYPES:
        assert isinstance(sample.answer, tuple)
        several = sample.task_type == "multi_select"
        return _credit(type(policy), len(sample.labels), len(sample.answer), several=several)
    return 0.5 if sample.task_type == "true_false" else 0.0


@cache
def _credit(policy: type[Policy], options: int, right: int, *, several: bool) -> float:
    """The mean over all guesses at so many options; with `several` picks, summed by how many of them are right and
    wrong."""
    labels, choice = [str(number) for number in range(options)], policy().choice
    hits, misses, gold = labels[:right], labels[right:], frozenset(labels[:right])
    one = fmean(choice(frozenset([label]), gold) for label in labels)
    if not several:
        return one
    some = sum(
        comb(len(hits), hit) * comb(len(misses), miss) * choice(frozenset(hits[:hit] + misses[:miss]), gold)
        for hit in range(len(hits) + 1)
        for miss in range(len(misses) + 1)
        if hit or miss
    )
    return (some + one) / float(2**options)
