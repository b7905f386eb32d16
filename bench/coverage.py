"""How often the report's 95 % intervals hold, and how often its tests cry wolf. Prints the tables of
docs/appendix/statistics.md.

    python bench/coverage.py [--replications 4000]

Every replication goes through the functions that the report uses. Cells of independent 0/1 scores are not simulated but
summed over all outcomes. Takes some minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from drawn_designs import Design, score_designs, scores as replicated_scores
from scipy.special import betaincinv, stdtrit
from scipy.stats import binom, multinomial

from mmdyn.keys import stream
from mmdyn.stats import Floats, Ints, mcnemar, mean_score, tango, wilson

SIZES = (20, 100, 500)
SHARES = (0.05, 0.5, 0.95)
AGREEMENT = 0.5
"""How often the second condition of a pair repeats the luck of the first."""


def labels_of(n: int, cluster: int | str) -> Ints:
    """Cluster labels of n samples: clusters of one size, or `mixed`: sizes 1, 2, 5, 1, 3, 8 in turn."""
    sizes = [1, 2, 5, 1, 3, 8] if cluster == "mixed" else [int(cluster)]
    repeated = np.repeat(np.arange(n), np.resize(sizes, n))
    return repeated[:n]


def scores(n: int, share: float, labels: Ints, icc: float, draws: int, key: str, count: int) -> Iterator[Floats]:
    """`count` sets of n scores of mean `share`: beta-binomial in clusters, each the mean of `draws` 0/1 draws."""
    random = stream("scores", key)
    for _ in range(count):
        chances = _chances(random.random(labels.max() + 1), share, icc)[labels]
        yield random.binomial(draws, chances) / draws


def score_coverage(
    share: float, labels: Ints, icc: float, count: int, draws: int = 1, weights: Floats | None = None
) -> float:
    """In how many per cent of `count` replications the interval of a score holds its true share."""
    n, weights = len(labels), np.ones(len(labels)) if weights is None else weights
    key = f"{n} {share} {icc} {draws} {labels.max()}"
    found = [mean_score(values, weights, labels) for values in scores(n, share, labels, icc, draws, key, count)]
    return 100 * float(np.mean([one.low <= share <= one.high for one in found]))


def exact_score_coverage(n: int, share: float) -> float:
    """The coverage of Wilson's interval for n independent 0/1 scores, in per cent, summed over all outcomes."""
    right = np.arange(n + 1)
    holds = np.array([low <= share <= high for low, high in (wilson(k / n, n) for k in right)])
    return 100 * float(binom.pmf(right, n, share)[holds].sum())


def smoothed_score_coverage(n: int, share: float) -> float:
    """The mean of that over true shares from half to one and a half times the nearer distance to 0 or 1."""
    room = min(share, 1 - share) / 2
    return float(np.mean([exact_score_coverage(n, at) for at in np.linspace(share - room, share + room, 101)]))


def exact_delta_coverage(n: int, shares: tuple[float, float]) -> tuple[float, float]:
    """The same for Tango's interval of n independent 0/1 pairs, of which AGREEMENT share their luck, and the mid-p
    McNemar test's rejections in per cent."""
    both = AGREEMENT * min(shares) + (1 - AGREEMENT) * shares[0] * shares[1]
    gain, loss = shares[1] - both, shares[0] - both
    holds = rejects = 0.0
    for gained in range(n + 1):
        lost = np.arange(n + 1 - gained)
        chances = multinomial.pmf(
            np.stack((np.full_like(lost, gained), lost, n - gained - lost), -1), n, [gain, loss, 1 - gain - loss]
        )
        for count, chance in zip(lost.tolist(), chances.tolist(), strict=True):
            if chance < 1e-9:
                continue
            low, high = tango(gained / n, count / n, n)
            holds += chance * (low - 1e-9 <= gain - loss <= high + 1e-9)
            rejects += chance * (mcnemar(gained, count) <= 0.05)
    return 100 * holds, 100 * rejects


def rivals(share: float, labels: Ints, icc: float, count: int) -> tuple[float, float, float]:
    """What three usual intervals cover in the same replications: Wilson over samples, t over clusters, percentile
    bootstrap."""
    n, groups = len(labels), int(labels.max()) + 1
    sizes, key = np.bincount(labels), f"{n} {share} {icc} 1 {labels.max()}"
    random, quantile = stream("bootstrap"), stdtrit(groups - 1, 0.975)
    holds = []
    for values in scores(n, share, labels, icc, 1, key, count):
        mean, sums = values.mean(), np.bincount(labels, values)
        error = np.sqrt(groups / (groups - 1) * ((sums - sizes * mean) ** 2).sum()) / n
        chosen = random.integers(0, groups, (1000, groups))
        low, high = np.quantile(sums[chosen].sum(1) / sizes[chosen].sum(1), (0.025, 0.975))
        plain = wilson(float(mean), n)
        holds.append((plain[0] <= share <= plain[1], abs(mean - share) <= quantile * error, low <= share <= high))
    plain_holds, t_holds, bootstrap_holds = 100 * np.mean(holds, axis=0)
    return float(plain_holds), float(t_holds), float(bootstrap_holds)


def _chances(luck: Floats, share: float, icc: float) -> Floats:
    """Clusters' chances of a right answer: beta with this mean and intraclass correlation, at these quantiles."""
    if icc == 0:
        return np.full(len(luck), share)
    spread = (1 - icc) / icc
    return np.asarray(betaincinv(share * spread, (1 - share) * spread, luck))


def print_table(title: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Print a Markdown table; numbers are per cent with one digit."""
    print(f"\n{title}\n")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(f'{cell:.1f}' if isinstance(cell, float) else str(cell) for cell in row)} |", flush=True)


def print_scores(count: int) -> None:
    """Scores: independent and in clusters of four."""
    rows = list[tuple[object, ...]]()
    for n in SIZES:
        rows.append((n, "independent, exact", *(exact_score_coverage(n, share) for share in SHARES)))
        rows.append((n, "independent, mean over nearby p", *(smoothed_score_coverage(n, share) for share in SHARES)))
        for icc in (0.3, 0.5):
            cells = (score_coverage(share, labels_of(n, 4), icc, count) for share in SHARES)
            rows.append((n, f"clusters of 4, ICC {icc}", *cells))
    print_table("Coverage of scores", ("n", "samples", *(f"p {share}" for share in SHARES)), rows)


def print_deltas() -> None:
    """Differences of independent 0/1 pairs, and the test's errors of the first kind where there is none. Of all others:
    pooled_coverage.py."""
    changes = (*((share, share) for share in SHARES), (0.05, 0.15), (0.5, 0.4), (0.95, 0.85))
    found = {n: [exact_delta_coverage(n, shares) for shares in changes] for n in SIZES}
    rows = [(n, *(holds for holds, _ in cells)) for n, cells in found.items()]
    errors = [(n, *(rejects for _, rejects in cells[: len(SHARES)])) for n, cells in found.items()]
    print_table("Coverage of differences", ("n", *(f"{a} to {b}" for a, b in changes)), rows)
    print_table("Errors of the first kind at 5 %", ("n", *(f"p {share}" for share in SHARES)), errors)


def print_others(count: int) -> None:
    """Other cells, and harder ones."""
    points = np.resize(np.array([1.0, 2.0, 2.0, 4.0, 6.0, 12.0]), max(SIZES))
    cases: dict[str, tuple[int | str, float, int]] = {
        "clusters of 3, ICC 0.2": (3, 0.2, 1),
        "clusters of 6, ICC 0.4": (6, 0.4, 1),
        "clusters of 10, ICC 0.3": (10, 0.3, 1),
        "clusters of 1 to 8, ICC 0.4": ("mixed", 0.4, 1),
        "graded: mean of 2 draws": (1, 0.5, 2),
        "graded: mean of 5 draws": (1, 0.5, 5),
        "graded, clusters of 4, ICC 0.3": (4, 0.3, 3),
    }
    rows = list[tuple[object, ...]]()
    for n in SIZES:
        for name, (cluster, icc, draws) in cases.items():
            labels = labels_of(n, cluster)
            rows.append((n, name, *(score_coverage(share, labels, icc, count, draws) for share in (0.05, 0.5))))
        weighted = [score_coverage(share, labels_of(n, 1), 0.0, count, weights=points[:n]) for share in (0.05, 0.5)]
        rows.append((n, "independent, weights 1 to 12", *weighted))
    print_table("Coverage of other scores", ("n", "samples", "p 0.05", "p 0.5"), rows)


def print_rivals(count: int) -> None:
    """Usual intervals on the clustered cells."""
    rows = list[tuple[object, ...]]()
    for n in SIZES:
        for share in (0.05, 0.5):
            labels = labels_of(n, 4)
            rows.append((n, str(share), score_coverage(share, labels, 0.4, count), *rivals(share, labels, 0.4, count)))
    head = ("n", "p", "the report's", "Wilson, clusters ignored", "t over clusters", "cluster bootstrap, percentile")
    print_table("Coverage of scores in clusters of 4, ICC 0.4, by method", head, rows)


def drawn_coverage(design: Design, count: int) -> float:
    """In how many per cent of `count` replications the interval of a score of drawn_designs.py holds its truth."""
    found = (mean_score(one.b, one.weights, one.labels, one.lowest) for one in replicated_scores(design, count))
    return 100 * float(np.mean([one.low <= design.known <= one.high for one in found]))


def print_drawn(count: int) -> None:
    """Scores near the ceiling, by how many are right."""
    found, rows = [(design, drawn_coverage(design, count)) for design in score_designs()], list[tuple[object, ...]]()
    for low, high in ((0.5, 0.9), (0.9, 0.97), (0.97, 0.985), (0.985, 1.0)):
        for kind, grouped in (("alone", False), ("in groups", True)):
            cells = [cell for design, cell in found if low <= design.known < high and grouped == (design.size > 1)]
            rows.append((f"{low} to {high}", kind, len(cells), min(cells), float(np.mean(cells))))
    print_table("Coverage of drawn scores", ("right", "parents", "designs", "least", "mean"), rows)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=4000, help="replications of each simulated cell")
    count = parser.parse_args().replications
    print_scores(count)
    print_deltas()
    print_others(count)
    print_rivals(count)
    print_drawn(count)


if __name__ == "__main__":
    main()
