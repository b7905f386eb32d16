"""What decides a set's variants, whoever makes them."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from perturb.chains import Chain, parse_chains
from perturb.operator import Operator
from perturb.services import Services, Tools


class Recipe(Struct, frozen=True):
    """Chains, draws, seed and tools. `redraws`: how often at most a variant that the judge rejected is drawn again;
    `factorial`: whether the chains are the subsets of some, which share their draws and so are not drawn again.
    """

    chains: tuple[Chain, ...]
    draws: int
    seed: int
    redraws: int
    tools: Tools
    factorial: bool = False

    @staticmethod
    def read(ops: str, draws: int, seed: int, *, factorial: bool, redraws: int, tools: Tools) -> Recipe:
        """Raises UserError for numbers that do not fit, and what `parse_chains` raises."""
        numbers = {"draws": (draws, 1), "concurrency": (tools.concurrency, 1), "redraws": (redraws, 0)}
        for what, (number, least) in numbers.items():
            if number < least:
                raise UserError(f"{what} is {number}: give {least} or more")
        if not 0 <= seed < 1 << 63:
            raise UserError(f"seed is {seed}: give a number from 0 to 2^63 - 1")
        tools.check()
        chains = parse_chains(ops, factorial=factorial)
        return Recipe(chains, draws, seed, 0 if factorial else redraws, tools, factorial)

    def describe(self) -> tuple[dict[str, Json], bool]:
        """What it says in a set's manifest, and whether one of its tools waits for a server or a device.

        Opens the tools that are used, to learn what they are. Raises UserError where one cannot be had.
        """
        ops = ",".join(chain.name for chain in self.chains)
        made: dict[str, Json] = {"command": "perturb", "ops": ops, "draws": self.draws, "seed": self.seed}
        if self.factorial:
            made["factorial"] = True
        services = Services(self.tools)
        try:
            used = sorted(self.uses & {"rewriter", "styler"}) + (["judge"] if self.tools.judge else [])
            tools = {name: getattr(services, name) for name in used}
        finally:
            services.close()
        if "judge" in tools:
            made |= {"votes": self.tools.votes, "redraws": self.redraws}
        return made | {name: tool.identity for name, tool in tools.items()}, any(tool.waits for tool in tools.values())

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
