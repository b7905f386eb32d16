"""What decides a set's variants, whoever makes them."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.errors import UserError
from perturb._operator import Operator
from perturb.chains import Chain, parse_chains
from perturb.services import Tools


class Recipe(Struct, frozen=True):
    """Chains, draws, seed and tools. `redraws`: how often at most a variant that the judge rejected is drawn again;
    `factorial`: whether the chains are the subsets of some.
    """

    chains: tuple[Chain, ...]
    draws: int
    seed: int
    redraws: int
    tools: Tools
    factorial: bool = False

    @staticmethod
    def read(
        ops: str,
        draws: int = 1,
        seed: int = 0,
        *,
        factorial: bool = False,
        redraws: int = 3,
        tools: Tools | None = None,
    ) -> Recipe:
        """Raises UserError for numbers that do not fit, and what `parse_chains` raises.

        The subsets of a factorial are not drawn again, because they share their draws.
        """
        tools = tools or Tools()
        for what, number in (("draws", draws), ("concurrency", tools.concurrency)):
            if number < 1:
                raise UserError(f"{what} is {number}: give 1 or more")
        if redraws < 0:
            raise UserError(f"redraws is {redraws}: give 0 or more")
        if not 0 <= seed < 1 << 63:
            raise UserError(f"seed is {seed}: give a number from 0 to 2^63 - 1")
        return Recipe(
            parse_chains(ops, factorial=factorial), draws, seed, 0 if factorial else redraws, tools, factorial
        )

    @property
    def ops(self) -> str:
        """The chains as `--ops` would name them."""
        return ",".join(chain.name for chain in self.chains)

    @property
    def uses(self) -> frozenset[str]:
        """What the chains take from the services."""
        return frozenset(name for chain in self.chains for name in chain.uses)

    def draws_of(self, operators: tuple[Operator, ...]) -> int:
        """Variants of a sample by a chain: one where nothing in it is random."""
        return self.draws if any(operator.random for operator in operators) else 1

    def attempts_of(self, operators: tuple[Operator, ...]) -> int:
        """How often one of them is made at most; drawing again changes nothing where nothing is random."""
        return 1 + self.redraws if any(operator.random for operator in operators) else 1
