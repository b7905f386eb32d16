"""Whether texts look learned by heart to a model, and whether their words alone tell which of them were published."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from math import ceil, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmdyn.stats.agreement import share_below
from mmdyn.stats.intervals import Estimate, Floats, Ints

if TYPE_CHECKING:
    from numpy.random import Generator

SHARE = 0.2
"""The share of a text's tokens, the least likely ones, that its score is the mean of (Shi et al. 2023)."""
Z_LEVEL, Z_POWER = 1.6449, 0.8416
"""The normal quantiles of 95 and 80 %."""
Z_TWO_SIDED = 1.96
"""That of 97.5 %."""
FOLDS, LABELLINGS = 10, 200
LIKENESS = 0.6
"""Texts that have so large a share of their features in common are in one group."""


def min_k(values: Floats, share: float = SHARE) -> float:
    """The mean of the lowest values of a text's tokens (Min-K%): higher for texts that a model has learned.

    Args:
        values: The log-probability of each token, of shape (tokens,); or what `standardized` makes of it.
        share: The share of the tokens that count, in (0, 1]; at least one does.

    Source: Shi et al. 2023 (arXiv:2310.16789).

    >>> min_k(np.array([-1.0, -9.0, -2.0, -7.0, -3.0]), 0.4)
    -8.0
    """
    count = max(1, int(len(values) * share))
    return float(np.sort(values)[:count].mean())


def standardized(logprobs: Floats, means: Floats, deviations: Floats) -> Floats:
    """How much likelier each token is than tokens that the model would draw at its place, in standard deviations; the
    mean of the lowest is Min-K%++.

    Args:
        logprobs: The log-probability of each token, of shape (tokens,).
        means, deviations: Mean and standard deviation of the log-probabilities of all tokens at each place, under the
            model's own distribution. Where the deviation is 0, all tokens that can come are equally likely, and the
            value is 0.

    Source: Zhang et al. 2024 (arXiv:2404.02936).

    >>> standardized(np.array([-1.0, -3.0]), np.array([-2.0, -3.0]), np.array([0.5, 0.0])).tolist()
    [2.0, 0.0]
    """
    known = deviations > 0
    found: Floats = np.where(known, (logprobs - means) / np.where(known, deviations, 1.0), 0.0)
    return found


def greater_p(high: Floats, low: Floats) -> float:
    """The one-sided p of Mann and Whitney's test that the first numbers tend to be larger.

    Where the two parts were drawn at random from one set, labels are exchangeable whatever the numbers depend on.

    >>> round(greater_p(np.array([3.0, 4.0, 5.0]), np.array([0.0, 1.0, 2.0])), 3)
    0.05
    """
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(high, low, alternative="greater").pvalue)


def detectable_auc(one: int, other: int) -> float | None:
    """The AUC that a one-sided test at 5 % of so many cases on either side shows in four of five cases.

    The spread is taken to be that of equal distributions.

    Args:
        one, other: The numbers of cases, 1 or more.

    Returns:
        An AUC in (0.5, 1]; None where not even 1 would show.

    >>> round(detectable_auc(100, 100) or 0, 2), detectable_auc(2, 2) is None
    (0.6, True)
    """
    found = 0.5 + (Z_LEVEL + Z_POWER) * _spread(one, other)
    return found if found <= 1 else None


def _spread(one: int, other: int) -> float:
    """The standard deviation of an AUC over so many cases of equal distributions."""
    return sqrt((one + other + 1) / (12 * one * other))


def near_groups(features: Sequence[frozenset[str]], labels: Ints) -> Ints:
    """Join groups of texts that have texts in common which are nearly the same.

    Args:
        features: What each text has, such as its words.
        labels: The group that each is in beforehand, of shape (texts,), any numbers.

    Returns:
        The group of each text, from 0, of shape (texts,).

    Source: Bayardo, Ma and Srikant 2007 ("Scaling Up All Pairs Similarity Search"): two sets that are alike
    share one of their rarest members.

    >>> near_groups([frozenset("abcd"), frozenset("wxyz"), frozenset("abc")], np.arange(3)).tolist()
    [0, 1, 0]
    """
    often, seen = Counter(chain.from_iterable(features)), defaultdict[str, list[int]](list)
    leaders = {int(label): int(label) for label in labels}

    def leader(label: int) -> int:
        while leaders[label] != label:
            label = leaders[label]
        return label

    for place, own in enumerate(features):
        rare = sorted(own, key=lambda feature: (often[feature], feature))[: len(own) - ceil(LIKENESS * len(own)) + 1]
        for other in {other for feature in rare for other in seen[feature]}:
            if len(own & features[other]) >= LIKENESS * len(own | features[other]):
                leaders[leader(int(labels[place]))] = leader(int(labels[other]))
        for feature in rare:
            seen[feature].append(place)
    return np.unique([leader(int(label)) for label in labels], return_inverse=True)[1].reshape(-1)


class Blind(NamedTuple):
    """How well texts alone tell which part each is of.

    auc: out of fold, with a 95 % interval. spread: the AUC's standard deviation where the parts do not differ.
    """

    auc: Estimate
    spread: float


def blind_auc(features: Sequence[frozenset[str]], positive: Ints, groups: Ints, draws: Generator) -> Blind:
    """Classify texts by their words alone, each by naive Bayes that has seen no text of its group.

    What a text has and what it lacks counts, and a feature's share in a part is drawn towards its share in both. Groups
    are dealt out to ten folds, either part alike, and a text's score is its rank in its fold, because classifiers of
    different folds are not on one scale. The spread is that of LABELLINGS random labellings, because scores out of fold
    depend on each other, but no less than that of groups' independent scores.

    Args:
        features: What each text has, such as its words.
        positive: 1 for the texts of one part, 0 for those of the other, of shape (texts,).
        groups: The group of each, from 0; random labellings keep groups together.
        draws: Deals groups out, and draws labellings.

    Source: Das, Zhang and Tramèr 2024 (arXiv:2406.16201) for blind classifiers.
    """
    names = {feature: place for place, feature in enumerate(sorted(set(chain.from_iterable(features))))}
    rows = np.repeat(np.arange(len(features)), [len(own) for own in features])
    columns = np.array([names[feature] for own in features for feature in sorted(own)], np.int64)
    together, count = np.argsort(groups, kind="stable"), int(groups.max()) + 1

    def auc(labels: Ints) -> float:
        scores = _out_of_fold(rows, columns, labels, groups, draws.random(count))
        return float(share_below(scores[labels == 1], scores[labels == 0]).mean())

    drawn, labels = list[float](), positive.copy()
    for _ in range(LABELLINGS):
        labels[np.argsort(draws.permutation(count)[groups], kind="stable")] = positive[together]
        drawn.append(auc(labels))
    least = _spread(len(np.unique(groups[positive == 1])), len(np.unique(groups[positive == 0])))
    value, spread = auc(positive), max(float(np.sqrt(np.square(np.array(drawn) - 0.5).mean())), least)
    low, high = max(value - Z_TWO_SIDED * spread, 0.0), min(value + Z_TWO_SIDED * spread, 1.0)
    return Blind(Estimate(value, low, high, "spread of random labellings"), spread)


def _out_of_fold(rows: Ints, columns: Ints, positive: Ints, groups: Ints, order: Floats) -> Floats:
    """The rank of each text in its fold, in (0, 1); text `rows[i]` has feature `columns[i]`, and groups are dealt out
    by `order`."""
    shares = np.bincount(groups, positive) / np.bincount(groups)
    fold, found, width = np.empty(len(shares), np.int64), np.empty(len(positive)), int(columns.max()) + 1
    fold[np.lexsort((order, shares))] = np.arange(len(shares)) % FOLDS
    folds = fold[groups]
    every = [np.bincount(columns[positive[rows] == kind], minlength=width) for kind in (1, 0)]
    for number in np.unique(folds):
        own = folds == number
        inside, size = own[rows], len(own) - int(own.sum())
        here = [np.bincount(columns[inside & (positive[rows] == kind)], minlength=width) for kind in (1, 0)]
        first, second = every[0] - here[0], every[1] - here[1]
        one = int(positive[~own].sum())
        common = (first + second + 0.5) / (size + 1)
        likely, unlikely = (first + common) / (one + 1), (second + common) / (size - one + 1)
        weights = np.log(likely / unlikely) - np.log((1 - likely) / (1 - unlikely))
        scores = np.bincount(rows[inside], weights[columns[inside]], minlength=len(own))[own]
        found[own] = share_below(scores, scores)
    return found
