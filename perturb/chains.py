"""What decides a set's variants: the recipe, and in it `--ops` as chains.

A comma separates chains, a plus chains operators into one, `@` asks for a severity and `:` for a form, a short name
stands for a full one, and a preset, which comes with the package, or a YAML file of the user's for a list of chains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn import plugins
from mmdyn.configs import chain_presets
from mmdyn.data import Role
from mmdyn.errors import InputError, PluginError, UserError, did_you_mean, unreadable
from mmdyn.keys import Json
from mmdyn.plugins import ALIASES
from mmdyn.stats import GENERATORS, Forms, design_error, design_forms, shapley_weights
from perturb.item import LEVELS
from perturb.services import Operator, Services, Tool, ToolNames

MOST_FACTORS, MOST_ORDERED = 6, 10
"""A factorial of so many chains has 63 subsets; prefixes of sampled orders are few whatever the number of chains."""

FULL = "full"
_PROBED = 32
"""Questions whose orders are drawn to say beforehand what error orders leave."""


class Link(Struct, frozen=True):
    """An operator's place in a chain: its full name, how strong it is, the number that its draws hang on, and the form
    that was asked for."""

    operator: str
    severity: str
    step: int
    form: str = ""

    @property
    def drawn_as(self) -> str:
        """What draws hang on of the severity: levels share theirs."""
        return "level" if self.severity in LEVELS else self.severity

    def load(self, services: Services | None = None) -> Operator:
        """The operator, ready to use. One of another package need not know of forms where none is asked for."""
        made = load_operator(self.operator)
        return made(services, self.severity, self.form) if self.form else made(services, self.severity)


class Chain(Struct, frozen=True):
    """A chain as it was typed, which is how variants are named, and its operators.

    `key` is what draws hang on beside the link: the full names chained, so that `pad` and `image.pad` draw alike; the
    subsets of a factorial share one key, so that an operator draws the same in all of them.
    """

    name: str
    links: tuple[Link, ...]
    key: str

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators' full names."""
        return tuple(link.operator for link in self.links)

    def load(self, services: Services | None = None) -> tuple[Operator, ...]:
        """The operators, ready to use."""
        return tuple(link.load(services) for link in self.links)

    @property
    def is_null(self) -> bool:
        """Whether nobody would call what it does a change."""
        return all(load_operator(operator).role == "null" for operator in self.operators)

    @property
    def ungraded(self) -> tuple[tuple[str, str], ...]:
        """Its operators with their forms, in which chains that differ in severities alone are alike."""
        return tuple((link.operator, link.form) for link in self.links)

    @property
    def uses(self) -> frozenset[str]:
        """What its operators take from the services."""
        return frozenset(name for operator in self.operators for name in load_operator(operator).uses)


class Recipe(Struct, frozen=True):
    """Chains, draws, seed and tools. `redraws`: how often at most a variant that the judge rejected is drawn again.

    `design`: which subsets of the chains are made, chained, in a factorial; empty where it is none. Subsets share their
    draws and so are not drawn again.
    """

    chains: tuple[Chain, ...]
    draws: int
    seed: int
    redraws: int
    tools: ToolNames
    design: str = ""

    @staticmethod
    def read(ops: str | Sequence[str], draws: int, seed: int, *, design: str, redraws: int, tools: ToolNames) -> Recipe:
        """Raises UserError for numbers that do not fit, and what `parse_chains` raises."""
        numbers = {"draws": (draws, 1), "concurrency": (tools.concurrency, 1), "redraws": (redraws, 0)}
        for what, (number, least) in numbers.items():
            if number < least:
                raise UserError(f"{what} is {number}: give {least} or more")
        if not 0 <= seed < 1 << 63:
            raise UserError(f"seed is {seed}: give a number from 0 to 2^63 - 1")
        tools.check()
        chains = parse_chains(ops)
        if design:
            _check_design(chains, design)
        return Recipe(chains, draws, seed, 0 if design else redraws, tools, design)

    def forms(self, parent: str) -> tuple[Chain, ...]:
        """The chains by which variants of a parent are made."""
        if not self.design:
            return self.chains
        return tuple(subsets(self.chains, design_forms(self.design, len(self.chains), self.seed, parent)))

    def roles(self) -> dict[str, Role]:
        """What each chain is in the set for.

        Of a factorial the chain of all operators is the treatment. Of chains that differ in severities alone the one
        without a severity is, as its source says how strong it is; the others are doses.
        """
        chains = tuple(subsets(self.chains, design_forms(FULL, len(self.chains)))) if self.design else self.chains
        alike = Counter(chain.ungraded for chain in chains)

        def role(chain: Chain) -> Role:
            if chain.is_null:
                return "null"
            if self.design:
                return "treatment" if chain is chains[-1] else "subset"
            graded = any(link.severity for link in chain.links)
            return "dose" if graded and alike[chain.ungraded] > 1 else "treatment"

        return {chain.name: role(chain) for chain in chains}

    def announced(self, n: int) -> str:
        """What a cheaper design costs and how well it tells operators' shares over n questions, beside the full one;
        nothing of another."""
        if self.design in ("", FULL):
            return ""
        factors, full = len(self.chains), design_forms(FULL, len(self.chains))
        drawn = [design_forms(self.design, factors, self.seed, str(number)) for number in range(_PROBED)]
        squares = [design_error(shapley_weights(forms), n) ** 2 for forms in drawn]
        error, least = np.sqrt(np.mean(squares)), design_error(shapley_weights(full), n).mean()
        counts = sorted({len(forms) for forms in drawn})
        many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        known = "if no three operators interact" if self.design == "fraction" else "and more where operators interact"
        return (
            f"design {self.design}: {many} forms a question in place of {len(full)}; standard error of an operator's"
            f" share {100 * error:.1f} points over {n} questions (full {100 * least:.1f}), {known}"
        )

    def describe(self) -> tuple[dict[str, Json], int]:
        """What it says in a set's manifest, and how many variants should be under way because one of its tools waits
        for a server or a batch; 0 where none does.

        Opens the tools that are used, to learn what they are. Raises UserError where one cannot be had.
        """
        same = self.design in (FULL, "fraction")
        ops = ",".join(chain.name for chain in (self.forms("") if same else self.chains))
        made: dict[str, Json] = {"command": "perturb", "ops": ops, "draws": self.draws, "seed": self.seed}
        if self.design:
            made["factorial"] = True
        if self.design not in ("", FULL):
            made |= {"design": self.design, "factors": [chain.name for chain in self.chains]}
        services = Services(self.tools)
        try:
            used = sorted(self.uses & {"rewriter", "styler"}) + (["judge"] if self.tools.judge else [])
            tools = {name: getattr(services, name) for name in used}
        finally:
            services.close()
        if "judge" in tools:
            made |= {"votes": self.tools.votes, "redraws": self.redraws}
        waits = max((tool.waits for tool in tools.values()), default=0)
        return made | {name: tool.identity for name, tool in tools.items()}, waits

    @property
    def uses(self) -> frozenset[str]:
        """What the chains take from the services."""
        return frozenset(name for chain in self.chains for name in chain.uses)

    def draws_of(self, operators: tuple[Operator, ...]) -> tuple[int, int]:
        """Variants of a sample by a chain, and how often one is made at most: one and once where nothing is random."""
        return (self.draws, 1 + self.redraws) if any(operator.random for operator in operators) else (1, 1)


def load_operator(name: str) -> type[Operator]:
    """An operator's class. Raises PluginError for one of another package that does not keep to the contract."""
    found = plugins.load("operators", name)
    if not issubclass(found, Operator):
        raise PluginError(f"the operator {name!r} is no perturb.Operator: make its class a subclass of that")
    if unknown := set(found.uses) - set(get_args(Tool)):
        raise PluginError(f"the operator {name!r} uses {min(unknown)!r}: services are {', '.join(get_args(Tool))}")
    return found


def parse_chains(ops: str | Sequence[str]) -> tuple[Chain, ...]:
    """Read `pad,color,pad@strong+color`, or a list of such; a preset's name or a YAML file's stands for the chains in
    it.

    Raises PluginError for an unknown name, UserError for an empty or repeated chain, InputError for a bad file.
    """
    chains = tuple(_parse_chain(text) for text in expand(ops if isinstance(ops, str) else ",".join(ops)))
    keys = [[(link.operator, link.severity, link.form) for link in chain.links] for chain in chains]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            twin = chains[keys.index(key)].name
            raise UserError(f"--ops names one chain twice ({twin} and {chains[number].name}): leave one out")
    return chains


def _check_design(factors: tuple[Chain, ...], design: str) -> None:
    """Raises UserError where there is no such design, or not of so many chains, or it would make a chain twice."""
    count, (kind, _, orders) = len(factors), design.partition(":")
    if not (design in (FULL, "fraction") or (kind == "permutations" and orders.isdecimal() and int(orders))):
        raise UserError(f"there is no design {design!r}: use full, fraction or permutations:K with K of 1 or more")
    sizes = {FULL: (2, MOST_FACTORS), "fraction": (min(GENERATORS), max(GENERATORS)), "permutations": (2, MOST_ORDERED)}
    least, most = sizes[kind]
    if design == "fraction" and count < least:
        raise UserError(f"a fraction of {count} chains is hardly smaller than all their subsets: take --design full")
    if not least <= count <= most:
        more = f", or take --design permutations:4 for up to {MOST_ORDERED}" if most < count <= MOST_ORDERED else ""
        raise UserError(f"--factorial takes {least} to {most} chains, --ops names {count}: change --ops{more}")
    names = [subset.name for subset in subsets(factors, design_forms(FULL, count))]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"--factorial would make {twice} twice: take the chain that is made of others out of --ops")


def subsets(factors: Sequence[Chain], forms: Forms) -> Iterator[Chain]:
    """A chain for each form but the empty one. A link's number is its place among all factors' links."""
    key, begins = "factorial:" + "+".join(factor.key for factor in factors), [0]
    for factor in factors:
        begins.append(begins[-1] + len(factor.links))
    for form in forms[forms.any(axis=1)]:
        chosen = [(factors[place], begins[place]) for place in np.flatnonzero(form).tolist()]
        links = tuple(replace(link, step=begin + link.step) for factor, begin in chosen for link in factor.links)
        yield Chain("+".join(factor.name for factor, _ in chosen), links, key)


def _parse_chain(text: str) -> Chain:
    names = [name.strip() for name in text.split("+")]
    if not all(names):
        raise UserError(f"--ops has an empty name in {text.strip()!r}: write chains such as pad,color,pad+color")
    found = [link for name in names for link in _links(name)]
    links = tuple(replace(link, step=step) for step, link in enumerate(found))
    return Chain("+".join(names), links, "+".join(link.operator for link in links))


def _links(text: str) -> list[Link]:
    """The operators that a name stands for. An alias hands what is asked of it to those that know it."""
    name, mark, asked = (*re.split("([@:])", text, maxsplit=1), "", "")[:3]
    operators, kind = _full_names(name), "form" if mark == ":" else "severity"
    if not mark:
        return [Link(full, "", 0) for full in operators]
    loaded = {full: load_operator(full) for full in operators}
    known = {full: made.forms if kind == "form" else made.severities for full, made in loaded.items()}
    levels = sorted({level for taken in known.values() for level in taken})
    if asked not in levels:
        other = (
            sorted({f"{name}:{form}" for made in loaded.values() for form in made.forms}) if kind == "severity" else []
        )
        takes = f"it takes {', '.join(levels or other)}" if levels or other else "it takes none"
        raise UserError(f"{name} has no {kind} {asked!r}{did_you_mean(asked, levels)}: {takes}")
    return [replace(Link(full, "", 0), **({kind: asked} if asked in known[full] else {})) for full in operators]


def _full_names(name: str) -> tuple[str, ...]:
    if name in presets():
        raise UserError(f"the preset {name} stands for several chains: give it alone between commas")
    if name not in ALIASES:
        try:
            return (plugins.resolve("operators", name),)
        except PluginError as error:
            hint = did_you_mean(name, [*ALIASES, *presets()])
            raise PluginError(f"{error}{hint}") from None
    taken = [full for full in plugins.names("operators") if name in (full, full.rpartition(".")[2])]
    if taken:
        raise PluginError(f"{name!r} could be {'+'.join(ALIASES[name])} or {taken[0]}: write the full names")
    return ALIASES[name]


def presets() -> dict[str, str]:
    """Every preset's name with its YAML text."""
    return {name: file.read_text(encoding="utf-8") for name, file in chain_presets().items()}


def expand(ops: str) -> Iterator[str]:
    """The chains of `--ops`, a preset or a YAML file replaced by what it lists. Raises InputError for a bad file."""
    known = presets()
    for name in (part.strip() for part in ops.split(",")):
        if name in known:
            yield from _listed(known[name], f"the preset {name}")
        elif name.endswith((".yaml", ".yml")):
            yield from _listed(_text(Path(name)), name)
        else:
            yield name


def _text(file: Path) -> str:
    try:
        return file.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error, "--ops takes chains, a preset or a YAML file of chains") from None


def _listed(text: str, where: str) -> list[str]:
    import yaml

    try:
        chains = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(where, None, f"is no YAML ({str(error).splitlines()[0]}): list one chain a line") from None
    if not isinstance(chains, list) or not all(isinstance(chain, str) and "," not in chain for chain in chains):
        raise InputError(where, None, "lists no chains: write one a line, such as `- pad+color`")
    if not chains:
        raise UserError(f"{where} lists no chain: write one a line, such as `- pad+color`")
    return chains
