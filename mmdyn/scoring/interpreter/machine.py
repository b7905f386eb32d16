"""What runs a program: its pieces of work on a stack of their own, so that its depth never meets the host's."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import GeneratorType
from typing import Any

from mmdyn.scoring.interpreter import methods
from mmdyn.scoring.interpreter.bounds import DEEPEST_CALL, Meter, Refused
from mmdyn.scoring.interpreter.values import Builtin, Function, Item, Method, Scope, Work


class Machine:
    """A run of one program. `printed`: its output so far."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.printed: list[str] = []
        self._depth = 0

    def run(self, work: Any) -> Iterator[Any]:
        """Do a piece of work and all that it asks for, as far as the next element is asked for that it hands over; each piece
        begun and each value handed on is a step.
        """
        stack: list[Work] = []
        while True:
            self.meter.pay()
            if type(work) is GeneratorType:
                stack.append(work)
                work = None
            elif type(work) is Item:
                yield work.value
                work = None
            elif not stack:
                return
            try:
                work = stack[-1].send(work)
            except StopIteration as done:
                stack.pop()
                work = done.value

    def call(self, function: Any, positional: Sequence[Any], named: dict[str, Any]) -> Any:
        """Call a function with arguments; its value, or the work that leads to it."""
        if isinstance(function, Builtin):
            return function.run(self, *positional, **named)
        if isinstance(function, Method):
            return methods.call(self, function, positional, named)
        if isinstance(function, Function):
            return self._enter(function, positional, named)
        raise Refused("not a function")

    def _enter(self, function: Function, positional: Sequence[Any], named: dict[str, Any]) -> Work:
        self._depth += 1
        if self._depth > DEEPEST_CALL:
            raise Refused("calls nested too deeply")
        self.meter.pay(len(function.local))
        scope = Scope(function.scope, function.local, function.declared)
        scope.names.update(_bound(function, positional, named))
        value = yield function.run(scope)
        self._depth -= 1
        return value


def _bound(function: Function, positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    parameters = function.parameters
    names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    keywords = {parameter.arg for parameter in (*parameters.args, *parameters.kwonlyargs)}
    values = dict(zip(names, positional, strict=False))
    if len(positional) > len(names) or not keywords.issuperset(named) or values.keys() & named.keys():
        raise Refused("arguments that do not fit")
    values = {**function.defaults, **values, **named}
    if len(values) < len(names) + len(parameters.kwonlyargs):
        raise Refused("a missing argument")
    return values


def parameters_of(node: ast.arguments) -> list[str]:
    """The names of the parameters; Refused where a function takes any number of arguments, or one name twice."""
    names = [parameter.arg for parameter in (*node.posonlyargs, *node.args, *node.kwonlyargs)]
    if node.vararg or node.kwarg or len(set(names)) < len(names):
        raise Refused("such parameters")
    return names
