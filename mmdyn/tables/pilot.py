"""What a plan is based on: a pilot run, or prior assumptions. docs/appendix/why.md has the formulas."""

from __future__ import annotations

from statistics import fmean

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import UserError, counted
from mmdyn.record import Reply
from mmdyn.stats import Floats, PairedDesign
from mmdyn.tables.factors import cluster_of
from mmdyn.tables.run_state import has_failed
from mmdyn.work import RunFolder


class Priors(Struct, frozen=True, forbid_unknown_fields=True):
    """Assumptions of a plan without a pilot; all in [0, 1].

    Args:
        accuracy: The standard score.
        flips: How often the answers to a question and to its variant differ in being right.
        repeat: How often two answers to the same question do.
        draws: The share of the remaining variance that is between the draws of a question; the rest is between
            questions.
        icc: The intraclass correlation of differences within a group of questions.
    """

    accuracy: float = 0.6
    flips: float = 0.15
    repeat: float = 0.1
    draws: float = 0.5
    icc: float = 0.1

    def __str__(self) -> str:
        return ", ".join(f"{name}={getattr(self, name):g}" for name in self.__struct_fields__)

    def design(self, drop: float, sizes: tuple[int, ...]) -> PairedDesign:
        """The moments of a paired design with a drop in (0, 1].

        Args:
            sizes: The numbers of questions of the groups.

        Raises:
            UserError: A number is out of range; accuracy and flips are at least `drop`.

        >>> round(Priors().design(0.05, (1,)).variance(), 4)
        0.1475
        """
        for name in self.__struct_fields__:
            value, least = getattr(self, name), drop if name in ("accuracy", "flips") else 0.0
            if not least <= value <= 1:
                raise UserError(f"--prior {name}={value:g}: give a number from {least:g} to 1")
        return self.split(self.accuracy, self.flips - drop**2, sizes)

    def split(self, accuracy: float, spread: float, sizes: tuple[int, ...]) -> PairedDesign:
        """The moments where the difference of two single answers has the variance `spread`."""
        noise = min(self.repeat / 2, accuracy * (1 - accuracy), spread / 2)
        left = spread - 2 * noise
        return PairedDesign(accuracy, (1 - self.draws) * left, self.draws * left, noise, noise, self.icc, sizes)


class Pilot(Struct, frozen=True):
    """A pilot run's estimates for one model.

    Args:
        assumed: What was taken from the priors, in words.
        basis: What the estimates come from, in words.
        cost, seconds: The means of an answer; None where they are not known.
    """

    design: PairedDesign
    assumed: tuple[str, ...]
    basis: str
    cost: float | None = None
    currency: str = ""
    seconds: float | None = None


def read_pilot(run: RunFolder, model: str, sizes: tuple[int, ...], priors: Priors) -> Pilot:
    """Estimate a paired design by the method of moments, from a run's answers under its first condition, standard and
    dynamic; questions count alike.

    Args:
        model: The model's label in the run.
        sizes: The numbers of questions of the planned set's groups.
        priors: Used for what needs repeats, draws or groups that the run does not have.

    Raises:
        UserError: The model answered fewer than two questions in both variants.
    """
    first, places = run.config.conditions[0], dict[object, int]()
    rows, replies = list[tuple[float, ...]](), list[Reply]()
    for record in run.records():
        asked, score = record.condition, record.score
        alike = (asked.context, asked.style, asked.shots) == (first.context, first.style, first.shots)
        if record.model == model and alike and score is not None and not has_failed(record):
            question, dynamic = (record.set, record.parent), asked.variant == "dynamic"
            names = question, (*question, dynamic, record.sample), cluster_of(record.set, record.parent, record.group)
            rows.append((score.value or 0.0, dynamic, *(places.setdefault(name, len(places)) for name in names)))
            replies.append(record.reply)
    columns = np.array(rows or [(0.0,) * 5])
    questions = [set(columns[columns[:, 1] == side, 2]) for side in (0, 1)]
    columns = columns[np.isin(columns[:, 2], list(both := questions[0] & questions[1]))]
    if len(both) < 2:
        labels = ", ".join(entry.label for entry in run.config.models)
        why = f"holds no two questions that {model} answered as they are and varied (it asked {labels})"
        raise UserError(f"the pilot {run.folder} {why}: give another --pilot, or --pilot-model")
    costs = [reply.cost for reply in replies if reply.cost is not None]
    paid = [cost for cost in costs if cost] or costs  # replies out of the cache cost nothing
    cost, currency = fmean(paid) if paid else None, max(reply.currency for reply in replies)
    basis = f"{counted(len(both), 'question')} that {model} was asked in {run.folder}"
    design, assumed = _design(columns, sizes, priors)
    return Pilot(design, assumed, basis, cost, currency, fmean(reply.seconds for reply in replies))


def _design(columns: Floats, sizes: tuple[int, ...], priors: Priors) -> tuple[PairedDesign, tuple[str, ...]]:
    """The moments, and which of them are believed: each is what is seen, less what the smaller parts add to it. The
    columns are values, whether dynamic, and the numbers of questions, wordings and groups."""
    standard, dynamic = columns[columns[:, 1] == 0], columns[columns[:, 1] == 1]
    wordings, e = _means(dynamic, 3)
    before, (after, k) = _means(standard, 2), _means(wordings, 2)
    difference, assumed = after[:, 0] - before[0][:, 0], list[str]()
    accuracy, seen = float(before[0][:, 0].mean()), float(difference.var(ddof=1))
    believed = priors.split(accuracy, seen, sizes)

    def known(found: float | None, otherwise: float, what: str) -> float:
        assumed.extend([what] * (found is None and what not in assumed))
        return otherwise if found is None else max(found, 0.0)

    no_repeats = f"repeat={priors.repeat:g} (nothing was asked twice)"
    noise_s = known(_within(standard, 3), believed.noise_s, no_repeats)
    noise_d = known(_within(dynamic, 3), believed.noise_d, no_repeats)
    again, draws = float((1 / e).mean()), float((1 / k).mean())
    rest = max(seen - noise_s * float((1 / before[1]).mean()) - noise_d * again * draws, 0.0)
    between = _within(wordings, 2)
    split = f"draws={priors.draws:g} (no question has two draws)"
    omega2 = known(between and between - noise_d * again, priors.draws * rest, split)
    binary = bool(np.isin(columns[:, 0], (0.0, 1.0)).all())
    found = PairedDesign(accuracy, max(rest - omega2 * draws, 0.0), omega2, noise_s, noise_d, 0.0, sizes, binary)
    _, groups, counts = np.unique(after[:, 4], return_inverse=True, return_counts=True)
    off, pairs = difference - difference.mean(), int((counts * (counts - 1)).sum())
    alike = float((np.bincount(groups, off) ** 2).sum() - (off**2).sum()) / (pairs * found.variance() or 1)
    icc = known(min(alike, 1.0) if pairs or max(sizes) == 1 else None, priors.icc, f"icc={priors.icc:g} (no groups)")
    return replace(found, icc=icc), tuple(assumed)


def _means(columns: Floats, by: int) -> tuple[Floats, Floats]:
    """A row for each number in a column: the means of all columns, and of how many rows they are."""
    _, places, counts = np.unique(columns[:, by], return_inverse=True, return_counts=True)
    return np.stack([np.bincount(places, column) / counts for column in columns.T], 1), counts.astype(np.float64)


def _within(columns: Floats, by: int) -> float | None:
    """The variance of the values around their means by a column; None where none has two."""
    (means, counts), free = _means(columns, by), len(columns) - len(np.unique(columns[:, by]))
    squares = np.bincount(np.unique(columns[:, by], return_inverse=True)[1], columns[:, 0] ** 2)
    return float((squares - counts * means[:, 0] ** 2).sum()) / free if free else None
