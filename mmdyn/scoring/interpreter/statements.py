"""What each kind of statement does. Each is work that gives None, or how the block it stands in is left."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from mmdyn.scoring.interpreter import operators
from mmdyn.scoring.interpreter.bounds import Meter, Refused
from mmdyn.scoring.interpreter.builtins import BUILTINS
from mmdyn.scoring.interpreter.expressions import assign, defaults_of, item_of, put, targets, value
from mmdyn.scoring.interpreter.machine import Machine, parameters_of
from mmdyn.scoring.interpreter.methods import extend
from mmdyn.scoring.interpreter.modules import MODULES
from mmdyn.scoring.interpreter.values import Function, Module, Scope, Work, iterate

_UNUSABLE = Module(None)


class _Left(Struct, frozen=True):
    """How a block is left before its end."""

    by: type[ast.stmt]
    value: Any = None


_BREAK, _CONTINUE = _Left(ast.Break), _Left(ast.Continue)


def output(tree: ast.Module, meter: Meter) -> str | None:
    """All that a program prints; None where it cannot be run within the subset and the bounds, or fails."""
    machine, builtins = Machine(meter), Scope()
    builtins.names.update(BUILTINS)
    scope = Scope(builtins)
    scope.module = scope
    scope.names["__name__"] = "__main__"
    try:
        deque(machine.run(_block(machine, tree.body, scope)), maxlen=0)
    except Exception:  # whatever goes wrong in a program, it has no output
        return None
    return "".join(machine.printed)


def _block(machine: Machine, nodes: list[ast.stmt], scope: Scope) -> Work:
    for node in nodes:
        execute = _STATEMENTS.get(type(node))
        if execute is None:
            raise Refused(f"{type(node).__name__} is not in the subset")
        left = yield execute(machine, node, scope)
        if left:
            return left
    return None


def _expression(machine: Machine, node: ast.Expr, scope: Scope) -> Work:
    yield value(machine, node.value, scope)


def _assign(machine: Machine, node: ast.Assign, scope: Scope) -> Work:
    given = yield value(machine, node.value, scope)
    for target in node.targets:
        yield assign(machine, target, given, scope)


def _annotated(machine: Machine, node: ast.AnnAssign, scope: Scope) -> Work:
    if node.value:
        yield assign(machine, node.target, (yield value(machine, node.value, scope)), scope)


def _augmented(machine: Machine, node: ast.AugAssign, scope: Scope) -> Work:
    if isinstance(node.target, ast.Name):
        before = scope.look_up(node.target.id)
        after = yield _changed(machine, node, before, scope)
        yield assign(machine, node.target, after, scope)
    elif isinstance(node.target, ast.Subscript):
        holder = yield value(machine, node.target.value, scope)
        key = yield value(machine, node.target.slice, scope)
        put(machine, holder, key, (yield _changed(machine, node, item_of(machine, holder, key), scope)))
    else:
        raise Refused("such a target")


def _changed(machine: Machine, node: ast.AugAssign, before: Any, scope: Scope) -> Work:
    by = yield value(machine, node.value, scope)
    if type(before) is list and isinstance(node.op, ast.Add):
        extend(machine.meter, before, by)
        return before
    if type(before) in (list, set, dict):
        raise Refused("changed in place")
    return operators.binary(machine.meter, type(node.op), before, by)


def _if(machine: Machine, node: ast.If, scope: Scope) -> Work:
    holds = yield value(machine, node.test, scope)
    return (yield _block(machine, node.body if holds else node.orelse, scope))


def _while(machine: Machine, node: ast.While, scope: Scope) -> Work:
    while (yield value(machine, node.test, scope)):
        left = yield _block(machine, node.body, scope)
        if left is _BREAK:
            return None
        if left and left is not _CONTINUE:
            return left
    return (yield _block(machine, node.orelse, scope))


def _for(machine: Machine, node: ast.For, scope: Scope) -> Work:
    iterable = yield value(machine, node.iter, scope)
    for item in iterate(iterable):
        yield assign(machine, node.target, item, scope)
        left = yield _block(machine, node.body, scope)
        if left is _BREAK:
            return None
        if left and left is not _CONTINUE:
            return left
    return (yield _block(machine, node.orelse, scope))


def _jump(machine: Machine, node: ast.stmt, scope: Scope) -> Any:
    return _BREAK if isinstance(node, ast.Break) else _CONTINUE


def _nothing(machine: Machine, node: ast.stmt, scope: Scope) -> Any:
    return None


def _return(machine: Machine, node: ast.Return, scope: Scope) -> Work:
    return _Left(ast.Return, (yield value(machine, node.value, scope)) if node.value else None)


def _assert(machine: Machine, node: ast.Assert, scope: Scope) -> Work:
    if not (yield value(machine, node.test, scope)):
        raise Refused("an assertion failed")


def _define(machine: Machine, node: ast.FunctionDef, scope: Scope) -> Work:
    if node.decorator_list:
        raise Refused("a decorator")
    machine.meter.pay(sum(1 for _ in ast.walk(node)))
    declared = {name: scope.module for part in _own(node) if isinstance(part, ast.Global) for name in part.names}
    for part in _own(node):
        declared |= {name: scope.around(name) for name in part.names} if isinstance(part, ast.Nonlocal) else {}
    assigned = frozenset(name for part in _own(node) for name in _names(part)).difference(declared)
    local = assigned | frozenset(parameters_of(node.args))
    for name in _annotations(node):
        scope.look_up(name)
    defaults = yield defaults_of(machine, node.args, scope)

    def run(inner: Scope) -> Work:
        left = yield _block(machine, node.body, inner)
        if left and left.by is not ast.Return:
            raise Refused("a jump out of a function")
        return left.value if left else None

    scope.store(node.name, Function(node.args, defaults, run, scope, local, declared))


def _annotations(function: ast.FunctionDef) -> Iterator[str]:
    """The names in a function's annotations, which Python reads when it is defined."""
    parameters = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    for annotation in (function.returns, *(parameter.annotation for parameter in parameters)):
        for part in ast.walk(annotation) if annotation else ():
            if isinstance(part, ast.Name):
                yield part.id


def _own(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements of a function's body, not those of functions defined in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
            if not isinstance(node, ast.FunctionDef):
                waiting.extend(ast.iter_child_nodes(node))


def _names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement itself gives a value."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from targets(target)
        case ast.AugAssign() | ast.AnnAssign() | ast.For():
            yield from targets(node.target)
        case ast.FunctionDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]


def _import(machine: Machine, node: ast.Import, scope: Scope) -> Any:
    machine.meter.pay(len(node.names))
    for alias in node.names:
        scope.store(alias.asname or alias.name.partition(".")[0], MODULES.get(alias.name, _UNUSABLE))


def _import_from(machine: Machine, node: ast.ImportFrom, scope: Scope) -> Any:
    machine.meter.pay(len(node.names))
    module = MODULES.get(node.module or "", _UNUSABLE) if not node.level else _UNUSABLE
    for alias in node.names:
        if alias.name == "*":
            if module.names is None:
                raise Refused("all names of a module that is not given")
            machine.meter.pay(len(module.names))
            scope.names.update(module.names)
        elif module.names is None:
            scope.store(alias.asname or alias.name, _UNUSABLE)
        else:
            scope.store(alias.asname or alias.name, module.names.get(alias.name, _UNUSABLE))


_STATEMENTS: dict[type[ast.stmt], Callable[[Machine, Any, Scope], Any]] = {
    ast.Expr: _expression, ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.If: _if,
    ast.While: _while, ast.For: _for, ast.Break: _jump, ast.Continue: _jump, ast.Pass: _nothing, ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.FunctionDef: _define, ast.Return: _return, ast.Assert: _assert, ast.Import: _import,
    ast.ImportFrom: _import_from,
}  # fmt: skip
