"""The recipe of a set of variants, and `--ops`, which names its chains.

Commas separate chains, `+` joins operators to a chain, `@` gives a severity and `:` a form. A short name stands for a
full one. A preset (part of the package), or a YAML file, stands for a list of chains.
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
"""A factorial of six chains has 63 subsets; sampled orders make few forms for any number of chains."""

FULL = "full"
_PROBED = 32
"""The questions whose orders are drawn to estimate the standard error of a design of orders."""


class Link(Struct, frozen=True):
    """An operator in a chain.

    Args:
        operator: Its full name.
        step: The number that keys its draws.
    """

    operator: str
    severity: str
    step: int
    form: str = ""

    @property
    def drawn_as(self) -> str:
        """The severity as a part of the key of draws: all levels share their draws."""
        return "level" if self.severity in LEVELS else self.severity

    def load(self, services: Services | None = None) -> Operator:
        """Make the operator. An operator without forms need not take the argument `form`."""
        made = load_operator(self.operator)
        return made(services, self.severity, self.form) if self.form else made(services, self.severity)


class Chain(Struct, frozen=True):
    """A chain of operators.

    Args:
        name: The chain as typed; variants are named by it.
        key: A part of the key of draws: the full names, so that `pad` and `image.pad` draw alike. The subsets of a
            factorial share one key, so that an operator draws the same in each.

    >>> chain, = parse_chains("pad@strong+color")
    >>> chain.operators  # color is an alias of two operators
    ('image.pad', 'image.invert', 'image.salt_pepper')
    """

    name: str
    links: tuple[Link, ...]
    key: str

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators' full names."""
        return tuple(link.operator for link in self.links)

    def load(self, services: Services | None = None) -> tuple[Operator, ...]:
        """Make the operators."""
        return tuple(link.load(services) for link in self.links)

    @property
    def is_null(self) -> bool:
        """Whether all its operators are null operators."""
        return all(load_operator(operator).role == "null" for operator in self.operators)

    @property
    def keeps_answer(self) -> bool:
        """Whether its variants ask what their parents ask."""
        return all(load_operator(operator).keeps_answer for operator in self.operators)

    @property
    def ungraded(self) -> tuple[tuple[str, str], ...]:
        """Its operators and forms, which chains that differ only in severity share."""
        return tuple((link.operator, link.form) for link in self.links)

    @property
    def uses(self) -> frozenset[str]:
        """The services that its operators use."""
        return frozenset(name for operator in self.operators for name in load_operator(operator).uses)


class Recipe(Struct, frozen=True):
    """All that decides a set's variants: chains, draws, seed and tools.

    Args:
        draws: The variants of a sample by each random chain.
        redraws: How often a variant that the judge rejected is drawn again, at most; 0 for a factorial, whose subsets
            share their draws.
        design: The factorial design, which says which subsets of the chains are made; empty for none.
    """

    chains: tuple[Chain, ...]
    draws: int
    seed: int
    redraws: int
    tools: ToolNames
    design: str = ""

    @staticmethod
    def read(ops: str | Sequence[str], draws: int, seed: int, *, design: str, redraws: int, tools: ToolNames) -> Recipe:
        """Make a recipe of a command's settings; `ops` as `parse_chains` takes it.

        Raises:
            UserError: A number is out of range, or a tool or design does not fit. Errors of `parse_chains` pass
                through.
        """
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
        """The chains of a parent's variants."""
        if not self.design:
            return self.chains
        return tuple(subsets(self.chains, design_forms(self.design, len(self.chains), self.seed, parent)))

    def roles(self) -> dict[str, Role]:
        """The role of each chain in the set.

        In a factorial the chain of all operators is the treatment. Of chains that differ only in severity, the one
        without a severity is the treatment, because its strength is that of its source; the others are doses.
        """
        chains = tuple(subsets(self.chains, design_forms(FULL, len(self.chains)))) if self.design else self.chains
        alike = Counter(chain.ungraded for chain in chains)

        def role(chain: Chain) -> Role:
            if chain.is_null:
                return "null"
            if not chain.keeps_answer:
                return "counterfactual"
            if self.design:
                return "treatment" if chain is chains[-1] else "subset"
            graded = any(link.severity for link in chain.links)
            return "dose" if graded and alike[chain.ungraded] > 1 else "treatment"

        return {chain.name: role(chain) for chain in chains}

    def announced(self, n: int) -> str:
        """A sentence on a design that is cheaper than the full one: its number of forms, and the standard error of an
        operator's share over n questions beside that of the full design; empty for the full design and for none."""
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
        """Describe the recipe for a set's manifest.

        Returns:
            The description, with the identities of the tools that are used; and how many variants should be under way
                at once, because a tool waits for a server or a batch (0 where none does).

        Raises:
            UserError: A tool cannot be opened.
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
        """The services that its chains use."""
        return frozenset(name for chain in self.chains for name in chain.uses)

    def draws_of(self, operators: tuple[Operator, ...]) -> tuple[int, int]:
        """The number of variants of a sample by a chain, and of attempts at each; 1 and 1 for a chain without a random
        operator."""
        return (self.draws, 1 + self.redraws) if any(operator.random for operator in operators) else (1, 1)


def load_operator(name: str) -> type[Operator]:
    """Load an operator's class by name.

    Raises:
        PluginError: There is no such operator, or it breaks the contract of Operator.

    >>> load_operator("text.convert").forms
    ('blank', 'open', 'choice', 'claim')
    """
    found = plugins.load("operators", name)
    if not issubclass(found, Operator):
        raise PluginError(f"the operator {name!r} is no perturb.Operator: make its class a subclass of that")
    if unknown := set(found.uses) - set(get_args(Tool)):
        raise PluginError(f"the operator {name!r} uses {min(unknown)!r}: services are {', '.join(get_args(Tool))}")
    return found


def parse_chains(ops: str | Sequence[str]) -> tuple[Chain, ...]:
    """Read chains, such as `pad,color,pad@strong+color` or a list; the name of a preset or of a YAML file stands for
    its chains.

    Raises:
        PluginError: There is no such operator.
        UserError: A chain is empty or named twice, or has a severity or form that its operators do not take.
        InputError: A YAML file cannot be read.

    >>> [chain.name for chain in parse_chains("pad,color+pad")]
    ['pad', 'color+pad']
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
    if other := next((factor.name for factor in factors if not factor.keeps_answer), None):
        raise UserError(f"--factorial cannot take {other}, which changes the answer: leave it out of --ops")
    names = [subset.name for subset in subsets(factors, design_forms(FULL, count))]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"--factorial would make {twice} twice: take the chain that is made of others out of --ops")


def subsets(factors: Sequence[Chain], forms: Forms) -> Iterator[Chain]:
    """Yield a chain for each form (a row of 0 and 1 for each factor) but the empty one. Steps are numbered over all
    factors' links."""
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
    chain = Chain("+".join(names), links, "+".join(link.operator for link in links))
    if len(links) > 1 and not chain.keeps_answer:
        raise UserError(f"--ops has {text.strip()!r}: an operator that changes the answer must be alone in its chain")
    return chain


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
    links = list[Link]()
    for full in operators:
        taken = asked if asked in known[full] else ""
        links.append(Link(full, "", 0, form=taken) if kind == "form" else Link(full, taken, 0))
    return links


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
    """The YAML text of each preset, by name."""
    return {name: file.read_text(encoding="utf-8") for name, file in chain_presets().items()}


def expand(ops: str) -> Iterator[str]:
    """Split `--ops` into chains, with presets and YAML files replaced by the chains that they list.

    Raises:
        InputError: A YAML file cannot be read, or lists no chains.

    >>> list(expand("pad, color+pad"))
    ['pad', 'color+pad']
    """
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
