"""The strength of a dynamic set's chains, as medians over their variants, and each chain's role."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from statistics import fmean, median
from typing import Literal

from msgspec import Struct

from mmdyn.sample import Variant

Role = Literal["treatment", "null", "dose", "subset", "counterfactual"]
"""The role of a chain in a set. `all` of a table runs over the chains that are treatment. A `null` chain changes what
nobody would call a change; a `dose` is one severity of several; a `subset` has some operators of a factorial; a
`counterfactual` chain changes the answer."""

WEAK = 0.03
"""A chain whose median variant has less than this share of its tokens changed is called weak."""

ALIKE = 0.95
"""Pictures of this structural similarity or more hardly changed."""

WEAKNESS = (
    "under 3 % of the tokens change in the median, and pictures hardly, so a small drop tells little; where a chain"
    " rewords, a rewriter model (`mmdyn perturb --rewriter MODEL`) changes more"
)
"""The warning about a weak chain."""


class ChainStrength(Struct, frozen=True, forbid_unknown_fields=True):
    """The distance of the `n` measured variants of a chain from their parents, as medians; and the chain's role.

    tokens: the share of tokens that changed, in [0, 1]; 0 where `n` is 0.
    ssim: the structural similarity of the changed pictures, in [-1, 1]; None where no picture changed.
    legibility: the share of lines of print that read the same, in [0, 1]; None where none was read.
    unseen: the mean share of frames that cannot be distinguished from the picture, in [0, 1]; None without frames.

    >>> ChainStrength(n=20, tokens=0.01).weak, ChainStrength(n=20, tokens=0.01, ssim=0.6).weak
    (True, False)
    """

    n: int
    tokens: float
    ssim: float | None = None
    legibility: float | None = None
    role: Role = "treatment"
    unseen: float | None = None

    @property
    def weak(self) -> bool:
        """Whether less than 3 % of the tokens change in the median, and pictures hardly or not at all.

        A null or counterfactual chain is never weak, because it is meant to change little.
        """
        return (
            self.role not in ("null", "counterfactual")
            and self.tokens < WEAK
            and (self.ssim is None or self.ssim >= ALIKE)
        )

    def __str__(self) -> str:
        measures = {"SSIM of pictures": self.ssim, "legibility": self.legibility, "unseen frames": self.unseen}
        if not self.n:
            return "not measured"
        said = [f"{name} {measure:.2f}" for name, measure in measures.items() if measure is not None]
        return ", ".join([f"{100 * self.tokens:.1f} % of the tokens changed", *said])


class StrengthTally:
    """Strengths by chain, collected variant by variant."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[array[float], ...]] = {}

    def add(self, variant: Variant) -> None:
        """Count a variant, if it was measured."""
        found = self._found.setdefault(variant.chain, tuple(array("d") for _ in range(4)))
        if variant.strength is None:
            return
        far, verdict = variant.strength, variant.verdict
        measures = (far.tokens, far.ssim, verdict.legibility, far.unseen)
        for values, measure in zip(found, measures, strict=True):
            if measure is not None:
                values.append(measure)

    def medians(self, roles: Mapping[str, Role]) -> dict[str, ChainStrength]:
        """Compute each chain's strength, in the order of first variants; chains without a role are `treatment`, and
        left out where nothing was measured."""
        return {
            chain: ChainStrength(
                len(tokens),
                round(median(tokens), 4) if tokens else 0.0,
                _median(ssim),
                _median(legibility),
                roles.get(chain, "treatment"),
                round(fmean(unseen), 4) if unseen else None,
            )
            for chain, (tokens, ssim, legibility, unseen) in self._found.items()
            if tokens or chain in roles
        }


def _median(values: array[float]) -> float | None:
    return round(median(values), 4) if values else None
