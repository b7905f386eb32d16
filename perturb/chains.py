"""`--ops` as chains: a comma separates chains, a plus chains operators into one, a short name stands for a full one."""

from __future__ import annotations

from msgspec import Struct

from mmdyn import plugins
from mmdyn.errors import PluginError, UserError, did_you_mean
from perturb._operator import Operator

ALIASES: dict[str, tuple[str, ...]] = {"color": ("image.invert", "image.salt_pepper")}
"""Names that stand for several operators in a row."""


class Chain(Struct, frozen=True):
    """A chain as it was typed, which is how variants are named, and the full names of its operators."""

    name: str
    operators: tuple[str, ...]

    @property
    def key(self) -> str:
        """The full names chained: what draws hang on, so that `pad` and `image.pad` draw alike."""
        return "+".join(self.operators)

    def load(self) -> tuple[Operator, ...]:
        """The operators, ready to use."""
        return tuple(plugins.load("operators", name)() for name in self.operators)


def parse_chains(ops: str) -> tuple[Chain, ...]:
    """Read `pad,color,pad+color`. Raises PluginError for an unknown name, UserError for an empty or repeated chain."""
    chains = tuple(_parse_chain(text) for text in ops.split(","))
    keys = [chain.key for chain in chains]
    for number, chain in enumerate(chains):
        if chain.key in keys[:number]:
            twin = chains[keys.index(chain.key)].name
            raise UserError(f"--ops names one chain twice ({twin} and {chain.name}): leave one out")
    return chains


def _parse_chain(text: str) -> Chain:
    links = [link.strip() for link in text.split("+")]
    if not all(links):
        raise UserError(f"--ops has an empty name in {text.strip()!r}: write chains such as pad,color,pad+color")
    return Chain("+".join(links), tuple(name for link in links for name in _operators(link)))


def _operators(link: str) -> tuple[str, ...]:
    if link not in ALIASES:
        try:
            return (plugins.resolve("operators", link),)
        except PluginError as error:
            hint = did_you_mean(link, ALIASES)
            raise PluginError(f"{error}{hint}") from None
    taken = [name for name in plugins.names("operators") if link in (name, name.rpartition(".")[2])]
    if taken:
        raise PluginError(f"{link!r} could be {'+'.join(ALIASES[link])} or {taken[0]}: write the full names")
    return ALIASES[link]
