"""How often the intervals of a board (`mmdyn compare` of several models) hold: strengths, win rates and ranks. Prints
the tables of docs/coverage.md.

    python bench/board_coverage.py [--replications 2000] [--rivals]

The truth of a design is the limit of many questions. Takes some minutes on one core; --rivals, other intervals of
strengths in the same replications, some more.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator
from scipy.special import expit, ndtr, ndtri, stdtrit

from mmdyn.keys import stream
from mmdyn.stats import Floats, bradley_terry, mean_score

MODELS, QUESTIONS = (3, 5, 10), (30, 100, 300)


@dataclass(frozen=True)
class Design:
    """Pairs of models over questions, each judged in both orders.

    spread: strengths run from minus to plus this (log odds). top: the last model's strength, where the others' run from
    -0.5 to 0.5.
    luck: the standard deviation of what a model has of its own on each question, shared by its pairs.
    agree: how often the second order repeats the first; a pair of which the orders differ is a tie.
    bias: how far the judge favours what comes first (log odds).
    size: questions of a cluster, which share their luck.
    missing: the share of pairs without a verdict; of more than three models two pairs never meet.
    rare: the share of questions that the first model has.
    reference: only pairs with the first model.
    """

    spread: float = 0.0
    top: float | None = None
    luck: float = 0.0
    agree: float = 0.0
    bias: float = 0.0
    size: int = 1
    missing: float = 0.0
    rare: float = 1.0
    reference: bool = False

    def strengths(self, k: int) -> Floats:
        """The true strengths on a question without luck."""
        if self.top is None:
            return np.linspace(-self.spread, self.spread, k)
        return np.append(np.linspace(-0.5, 0.5, k - 1), self.top)

    def met(self, k: int) -> Floats:
        """Which pairs meet at all: 1 above the diagonal."""
        met = np.triu(np.ones((k, k)), 1)
        if self.reference:
            met[1:] = 0
        if self.missing and k > 3:
            met[0, 1] = met[2, k - 1] = 0
        return met

    def shares(self, k: int) -> Floats:
        """The expected share of wins, a tie counting half: shape (k, k)."""
        points, weights = hermegauss(60)
        apart = np.subtract.outer(self.strengths(k), self.strengths(k))
        each = [apart + 2**0.5 * self.luck * point for point in points]
        won = [(expit(one + self.bias) + expit(one - self.bias)) / 2 for one in each]
        return np.average(won, axis=0, weights=weights)

    def truth(self, k: int) -> tuple[Floats, Floats]:
        """The strengths and the win rates of endless questions."""
        often, shares = self.met(k), self.shares(k)
        often[0] *= self.rare
        met = self.met(k) + self.met(k).T
        without = met.copy()
        without[:, 0] = 0
        rates = [(shares * one).sum(1) / np.maximum(one.sum(1), 1) for one in (met, without)]
        rates[1][0] = rates[0][0]  # the first model is in all of its own questions
        often = often + often.T
        limit = bradley_terry(1e6 * np.stack([often * shares] * 2), 0 if self.reference else None)
        assert limit is not None
        return limit.values, self.rare * rates[0] + (1 - self.rare) * rates[1]

    def draw(self, k: int, n: int, random: Generator) -> tuple[Floats, Floats]:
        """The wins of n questions, of shape (n, k, k), and the cluster of each."""
        labels = np.arange(n) // self.size
        luck = random.normal(0, self.luck, (labels[-1] + 1, k))[labels]
        at = self.strengths(k) + luck
        apart = at[:, :, None] - at[:, None, :]
        first, second = (random.random(apart.shape) < expit(apart + side) for side in (self.bias, -self.bias))
        second = np.where(random.random(apart.shape) < self.agree, first, second)
        there = self.met(k) * (random.random(apart.shape) >= self.missing)
        there[:, 0] *= (random.random(n) < self.rare)[:, None]
        won = (first * 0.5 + second * 0.5) * there
        return won + (there - won).swapaxes(1, 2), labels


DESIGNS = {
    "equal strengths, independent orders": Design(),
    "equal strengths, orders agree in 90 %": Design(agree=0.9),
    "strengths from -2 to 2": Design(spread=2.0),
    "luck of each question": Design(spread=1.0, luck=1.0, agree=0.5),
    "luck, a judge that favours the first place": Design(spread=1.0, luck=1.0, bias=2.0),
    "luck of three questions together": Design(spread=1.0, luck=1.0, agree=0.5, size=3),
    "30 % of the pairs missing, two never met": Design(spread=1.0, luck=0.7, agree=0.5, missing=0.3),
    "one model in 30 % of the questions": Design(spread=1.0, luck=1.0, agree=0.5, rare=0.3),
    "against a reference alone": Design(spread=1.0, luck=1.0, agree=0.5, reference=True),
    "nearly all ties, by a judge that prefers the first place": Design(spread=1.0, luck=0.5, bias=4.0),
    "one model wins 98 %": Design(top=4.5, agree=0.8),
    "one model wins 99.5 %": Design(top=5.5, agree=0.8),
}


class Held(NamedTuple):
    """In how many per cent of the replications the intervals of each model's strength and win rate hold, and all ranks
    do; the mean width of a strength's interval in Elo; and how many replications have no interval at all."""

    strengths: Floats
    rates: Floats
    ranks: float
    width: float
    none: float


def coverage(design: Design, k: int, n: int, count: int) -> Held:
    """What `count` replications come to."""
    strengths, rates = design.truth(k)
    reference = 0 if design.reference else None
    others = slice(1, None) if design.reference else slice(None)
    places = np.array([[(strengths > one).sum() + 1, k - (strengths < one).sum()] for one in strengths.round(9)])
    held, won, ranked, widths = [], [], [], []
    for wins, labels in _drawn(design, k, n, count):
        won.append([_holds(wins, labels, model, rates[model], design) for model in range(k)[others]])
        found = bradley_terry(_by_cluster(wins, labels), reference)
        if found is None or found.covariance is None:
            continue
        ends = np.array([found.ci95(model) or (np.nan, np.nan) for model in range(k)[others]])
        inside = (ends[:, 0] <= strengths[others]) & (strengths[others] <= ends[:, 1])
        held.append(np.where(np.isnan(ends[:, 0]), np.nan, inside))
        widths.append(ends[:, 1] - ends[:, 0])
        ranges = np.array(found.ranks())
        ranked.append(bool(((ranges[:, 0] <= places[:, 0]) & (places[:, 1] <= ranges[:, 1])).all()))
    none = 100 * (1 - len(held) / count)
    means = [100 * np.nanmean(each, axis=0) for each in (held, won)]
    width = float(np.nanmean(widths)) * 400 / np.log(10)
    return Held(means[0], means[1], 100 * float(np.mean(ranked)), width, none)


def _drawn(design: Design, k: int, n: int, count: int) -> Iterator[tuple[Floats, Floats]]:
    random = stream("boards", repr(design), str(k), str(n))
    for _ in range(count):
        yield design.draw(k, n, random)


def _by_cluster(wins: Floats, labels: Floats) -> Floats:
    found = np.zeros((labels[-1] + 1, *wins.shape[1:]))
    np.add.at(found, labels, wins)
    return found


def _holds(wins: Floats, labels: Floats, model: int, rate: float, design: Design) -> bool:
    met = wins[:, model] + wins[:, :, model]
    there = met.sum(1) > 0
    if not there.any():
        return False
    shares = wins[there, model].sum(1) / met[there].sum(1)
    found = mean_score(shares, np.ones(len(shares)), labels[there])
    return bool(found.low <= rate <= found.high)


RESAMPLES = 500


def rivals(design: Design, k: int, n: int, count: int) -> dict[str, tuple[float, float]]:
    """What other intervals of strengths cover in the same replications: in the mean over models, and at least."""
    from mmdyn.stats.pair_strengths import _expected, _strengths

    truth, _ = design.truth(k)
    random, held = stream("resamples", repr(design), str(k), str(n)), dict[str, list[Floats]]()
    for one, labels in _drawn(design, k, n, count):
        wins = _by_cluster(one, labels)
        clusters, total = len(wins), wins.sum(0)
        values = _strengths(total[None], np.zeros(k))[0]
        chosen = random.multinomial(clusters, np.full(clusters, 1 / clusters), RESAMPLES).astype(float)
        drawn = np.tensordot(chosen, wins, 1)
        again = _strengths(drawn, values)
        low, high = np.quantile(again, (0.025, 0.975), axis=0)
        left = _strengths(total - wins, values)
        pulls = left.mean(0) - left
        jackknife = ((clusters - 1) / clusters * (pulls**2).sum(0)) ** 0.5
        quantile = float(stdtrit(clusters - 1, 0.975))
        shift = ndtri(np.clip((again < values).mean(0), 0.001, 0.999))
        skew = (pulls**3).sum(0) / np.maximum(6 * (pulls**2).sum(0) ** 1.5, 1e-300)
        ends = [shift + (shift + z) / (1 - skew * (shift + z)) for z in (ndtri(0.025), ndtri(0.975))]
        bca = [np.array([np.quantile(again[:, i], ndtr(end[i])) for i in range(k)]) for end in ends]
        studentised = np.quantile((again - values) / _errors(drawn, again, wins, chosen, _expected), (0.025, 0.975), 0)
        error = _errors(total[None], values[None], wins, np.ones((1, clusters)), _expected)[0]
        found = bradley_terry(wins)
        assert found is not None and found.covariance is not None
        ours = quantile * np.diag(found.covariance) ** 0.5
        intervals = {
            "percentile": (low, high),
            "basic": (2 * values - high, 2 * values - low),
            "BCa": (bca[0], bca[1]),
            "bootstrap t": (values - studentised[1] * error, values - studentised[0] * error),
            "sandwich, normal": (values - 1.96 * error, values + 1.96 * error),
            "jackknife, t": (values - quantile * jackknife, values + quantile * jackknife),
            "the board's": (values - ours, values + ours),
        }
        for name, (least, most) in intervals.items():
            held.setdefault(name, []).append((least - 1e-12 <= truth) & (truth <= most + 1e-12))
    found_by = {name: 100 * np.mean(each, axis=0) for name, each in held.items()}
    return {name: (float(each.mean()), float(each.min())) for name, each in found_by.items()}


def _errors(totals: Floats, values: Floats, wins: Floats, chosen: Floats, expected) -> Floats:  # type: ignore[no-untyped-def]
    """The sandwich's standard errors of several resamples, which chose each cluster so often."""
    (_, chances, inverse, _), games = expected(totals, values), wins + wins.swapaxes(1, 2)
    scores = wins.sum(2)[None] - np.einsum("gij,rij->rgi", games, chances)
    pulls = np.einsum("rgi,rij->rgj", scores, inverse)
    return np.maximum(np.einsum("rg,rgj->rj", chosen, pulls**2), 1e-300) ** 0.5


RIVALLED = {
    "equal strengths, independent orders": 5,
    "strengths from -2 to 2": 5,
    "luck, a judge that favours the first place": 5,
    "luck of three questions together": 5,
    "one model wins 98 %": 3,
}
"""Where each model is in every question: else a resample may lack one, and has no strengths."""


def print_rivals(count: int) -> None:
    """Other intervals of strengths."""
    head = False
    for name, k in RIVALLED.items():
        for n in QUESTIONS[:2]:
            found = rivals(DESIGNS[name], k, n, count)
            if not head:
                print(f"| design | models | questions | {' | '.join(found)} |\n|{'---|' * (3 + len(found))}")
                head = True
            cells = (f"{mean:.1f} ({least:.1f})" for mean, least in found.values())
            print(f"| {name} | {k} | {n} | {' | '.join(cells)} |", flush=True)


def print_boards(count: int) -> None:
    """All designs."""
    heads = ("design", "models", "questions", "Elo", "least", "win rate", "least", "ranks", "width (Elo)")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name, design in DESIGNS.items():
        for k in MODELS:
            for n in QUESTIONS:
                found = coverage(design, k, n, count)
                strengths, rates = found.strengths, found.rates
                shares = strengths.mean(), strengths.min(), rates.mean(), rates.min(), found.ranks
                told = " | ".join(f"{share:.1f}" for share in shares)
                none = f" ({found.none:.1f} % have none)" * bool(found.none)
                print(f"| {name} | {k} | {n} | {told} | {found.width:.0f}{none} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000, help="replications of each design")
    parser.add_argument("--rivals", action="store_true", help="other intervals of strengths instead")
    arguments = parser.parse_args()
    (print_rivals if arguments.rivals else print_boards)(arguments.replications)


if __name__ == "__main__":
    main()
