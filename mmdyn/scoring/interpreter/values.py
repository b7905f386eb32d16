"""What a program's names may stand for besides plain values, and where they are looked up."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from mmdyn.scoring.interpreter.bounds import VIEWS, Meter, Refused, in_order

Work: TypeAlias = Generator[Any, Any, Any]
"""A piece of a run: it yields what it needs first (a value, or another piece of work) and returns its own value."""

_DEEPEST_ONCE, _DEEPEST_SCOPE = 8, 20
_SEQUENCES = frozenset((list, tuple, str, dict, range, *VIEWS))


class Builtin(Struct, frozen=True, eq=False):
    """A function of Python's that is given to programs. `run`: the machine and the arguments -> a value or work."""

    name: str
    run: Callable[..., Any]


class Method(Struct, frozen=True, eq=False):
    """`owner.name`, not called yet."""

    owner: Any
    name: str


class Module(Struct, frozen=True, eq=False):
    """A module that can be imported; None stands for one that cannot be used, whatever it holds."""

    names: Mapping[str, Any] | None


class Function(Struct, frozen=True, eq=False):
    """A function of the program's own. `run`: the scope of a call -> work or a value; `defaults` by parameter."""

    parameters: ast.arguments
    defaults: dict[str, Any]
    run: Callable[[Scope], Any]
    scope: Scope
    local: frozenset[str]
    declared: frozenset[str]


class Once:
    """What zip, map, or a generator expression gives: to be gone through once; a second time is refused.

    `eager`: its elements are made already. Python makes them as they are asked for, which is the same as long as none is
    kept under a name and nothing is changed while they are made.
    """

    def __init__(self, items: Iterator[Any], eager: bool = False, depth: int = 1) -> None:
        if depth > _DEEPEST_ONCE:
            raise Refused("iterators nested too deeply")
        self.eager, self.depth = eager, depth
        self._items: Iterator[Any] | None = items

    def take(self) -> Iterator[Any]:
        items, self._items = self._items, None
        if items is None:
            raise Refused("an iterator used twice")
        return items


class Scope:
    """Names and what they stand for. `local`: names assigned to somewhere in this scope; `declared`: those said to be global."""

    def __init__(
        self, parent: Scope | None = None, local: frozenset[str] = frozenset(), declared: frozenset[str] = frozenset()
    ) -> None:
        self.names: dict[str, Any] = {}
        self.parent, self.local, self.declared = parent, local, declared
        self.module: Scope = parent.module if parent else self
        self.depth: int = parent.depth + 1 if parent else 0
        if self.depth > _DEEPEST_SCOPE:
            raise Refused("functions defined too deeply in functions")

    def look_up(self, name: str) -> Any:
        scope: Scope | None = self
        while scope:
            scope = scope.module if name in scope.declared else scope
            if name in scope.names:
                return scope.names[name]
            if name in scope.local:
                break
            scope = scope.parent
        raise Refused(f"{name} is not defined")

    def store(self, name: str, value: Any) -> None:
        if isinstance(value, Once) and value.eager:
            raise Refused("an iterator kept for later")
        (self.module if name in self.declared else self).names[name] = value


def iterate(value: Any, any_order: bool = False) -> Iterator[Any]:
    """Go through a value as a loop does; the caller pays for each element. `any_order`: the order does not matter to it."""
    if isinstance(value, Once):
        return value.take()
    if type(value) is set:
        if not any_order:
            in_order(value)
    elif type(value) not in _SEQUENCES:
        raise Refused("not iterable")
    return iter(value)


def drain(meter: Meter, value: Any, any_order: bool = False) -> list[Any]:
    """All elements of a value, paid for one by one."""
    items = []
    for item in iterate(value, any_order):
        meter.pay()
        items.append(item)
    return items


def show(meter: Meter, value: Any, write: Callable[[Any], str] = str) -> str:
    """The text that print gives a value (`repr`: the text it has within a list)."""
    meter.weigh(value, ordered=True)
    text = write(value)
    meter.text(len(text))
    return text
