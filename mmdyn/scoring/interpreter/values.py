"""What a program's names may stand for besides plain values, and where they are looked up."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from mmdyn.scoring.interpreter.bounds import DEEPEST_LAZY, VIEWS, Meter, Refused

Work: TypeAlias = Generator[Any, Any, Any]
"""A piece of a run: it yields what it needs first (a value, or another piece of work) and returns its own value."""

_DEEPEST_SCOPE = 20
_ITERABLE = frozenset((list, tuple, str, dict, range, *VIEWS))
_NOWHERE: Mapping[str, Scope] = {}


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
    declared: Mapping[str, Scope]


class Item(Struct, frozen=True, eq=False):
    """What work yields where it hands over an element of a Lazy."""

    value: Any


class Lazy:
    """What zip, map, or a generator expression gives: elements that are made when they are asked for, and only once.

    `width`: the steps that each one costs.
    """

    def __init__(self, meter: Meter, items: Iterator[Any], width: int = 1) -> None:
        self._meter, self._items, self._width = meter, items, width

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._meter.pay(self._width)
        if self._meter.lazy == DEEPEST_LAZY:
            raise Refused("iterators nested too deeply")
        self._meter.lazy += 1
        try:
            return next(self._items)
        finally:
            self._meter.lazy -= 1


class Scope:
    """Names and what they stand for. `local`: names assigned to somewhere in this scope; `declared`: where those said to be global
    or nonlocal live.
    """

    def __init__(
        self,
        parent: Scope | None = None,
        local: frozenset[str] = frozenset(),
        declared: Mapping[str, Scope] = _NOWHERE,
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
            scope = scope.declared.get(name, scope)
            if name in scope.names:
                return scope.names[name]
            if name in scope.local:
                break
            scope = scope.parent
        raise Refused(f"{name} is not defined")

    def store(self, name: str, value: Any) -> None:
        self.declared.get(name, self).names[name] = value

    def around(self, name: str) -> Scope:
        """The scope of the innermost function, from here outwards, that has this name."""
        scope: Scope | None = self
        while scope and scope is not self.module:
            if name in scope.declared or name in scope.local:
                return scope.declared.get(name, scope)
            scope = scope.parent
        raise Refused(f"{name} is in no function around")


def iterate(value: Any) -> Iterator[Any]:
    """Go through a value as a loop does; the caller pays for each element."""
    if type(value) is set and len(value) <= 1:
        return iter(value)
    if isinstance(value, Lazy):
        return value
    if type(value) not in _ITERABLE:
        raise Refused("not iterable, or a set, whose order is nobody's to rely on")
    return iter(value)


def elements(meter: Meter, value: Any) -> Iterator[Any]:
    """The elements of a value, each paid for as it is asked for."""
    for item in iterate(value):
        meter.pay()
        yield item


def members(meter: Meter, value: Any) -> Any:
    """The value, a set as a list: for what does not depend on the order of its elements."""
    if type(value) is not set:
        return value
    meter.pay(len(value))
    return list(value)


def show(meter: Meter, value: Any, write: Callable[[Any], str] = str) -> str:
    """The text that print gives a value (`repr`: the text it has within a list)."""
    meter.weigh([value])
    text = write(value)
    meter.text(len(text))
    return text
