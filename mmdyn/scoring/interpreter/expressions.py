"""What each kind of expression gives. A leaf gives its value at once, any other the work that leads to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from mmdyn.scoring.interpreter import methods, operators
from mmdyn.scoring.interpreter.bounds import Refused
from mmdyn.scoring.interpreter.machine import Machine, parameters_of
from mmdyn.scoring.interpreter.values import Function, Item, Lazy, Scope, Work, elements, iterate, show

_CONSTANTS = frozenset((int, float, bool, str, type(None)))
_INDEXED = frozenset((list, tuple, str, range))


def value(machine: Machine, node: ast.AST, scope: Scope) -> Any:
    """The value of an expression, or the work that leads to it."""
    evaluate = _EXPRESSIONS.get(type(node))
    if evaluate is None:
        raise Refused(f"{type(node).__name__} is not in the subset")
    return evaluate(machine, node, scope)


def assign(machine: Machine, target: ast.AST, given: Any, scope: Scope) -> Work:
    """Give a name, an element, or several of them a value."""
    if isinstance(target, ast.Name):
        scope.store(target.id, given)
    elif isinstance(target, ast.Subscript):
        holder = yield value(machine, target.value, scope)
        key = yield value(machine, target.slice, scope)
        put(machine, holder, key, given)
    elif isinstance(target, ast.Tuple | ast.List):
        items = list(elements(machine.meter, given))
        starred = [at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        for at in starred:
            stop = len(items) - (len(target.elts) - at - 1)
            items[at:stop] = [items[at:stop]]
        if len(items) != len(target.elts) or len(starred) > 1:
            raise Refused("not as many values as targets")
        for part, item in zip(target.elts, items, strict=True):
            yield assign(machine, part.value if isinstance(part, ast.Starred) else part, item, scope)
    else:
        raise Refused("such a target")


def put(machine: Machine, holder: Any, key: Any, given: Any) -> None:
    """`holder[key] = given`."""
    if type(holder) is dict:
        machine.meter.key(key, len(holder))
    elif type(holder) is not list or type(key) is not int:
        raise Refused("no element to assign to")
    holder[key] = given


def item_of(machine: Machine, holder: Any, key: Any) -> Any:
    """`holder[key]`; a slice comes as one."""
    if type(holder) is dict:
        return holder[machine.meter.key(key)]
    if type(holder) not in _INDEXED:
        raise Refused("no elements")
    if type(key) is slice:
        machine.meter.pay(len(range(*key.indices(len(holder)))) // (32 if type(holder) in (str, range) else 1))
    elif type(key) not in (int, bool):
        raise Refused("no index")
    return holder[key]


def targets(node: ast.AST) -> Iterator[str]:
    """The names that a target of an assignment gives a value."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Tuple | ast.List):
        for part in node.elts:
            yield from targets(part)
    elif isinstance(node, ast.Starred):
        yield from targets(node.value)


def _constant(machine: Machine, node: ast.Constant, scope: Scope) -> Any:
    if type(node.value) not in _CONSTANTS:
        raise Refused("such a constant")
    return machine.meter.number(node.value)


def _name(machine: Machine, node: ast.Name, scope: Scope) -> Any:
    return scope.look_up(node.id)


def _binary(machine: Machine, node: ast.BinOp, scope: Scope) -> Work:
    left = yield value(machine, node.left, scope)
    right = yield value(machine, node.right, scope)
    return operators.binary(machine.meter, type(node.op), left, right)


def _unary(machine: Machine, node: ast.UnaryOp, scope: Scope) -> Work:
    return operators.unary(machine.meter, type(node.op), (yield value(machine, node.operand, scope)))


def _both(machine: Machine, node: ast.BoolOp, scope: Scope) -> Work:
    given = None
    for part in node.values:
        given = yield value(machine, part, scope)
        if bool(given) == isinstance(node.op, ast.Or):
            break
    return given


def _compare(machine: Machine, node: ast.Compare, scope: Scope) -> Work:
    left = yield value(machine, node.left, scope)
    for kind, part in zip(node.ops, node.comparators, strict=True):
        right = yield value(machine, part, scope)
        if not operators.compare(machine.meter, type(kind), left, right):
            return False
        left = right
    return True


def _if(machine: Machine, node: ast.IfExp, scope: Scope) -> Work:
    holds = yield value(machine, node.test, scope)
    return (yield value(machine, node.body if holds else node.orelse, scope))


def _elements(machine: Machine, nodes: list[ast.expr], scope: Scope) -> Work:
    items: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            items += elements(machine.meter, (yield value(machine, node.value, scope)))
        else:
            items.append((yield value(machine, node, scope)))
    return items


def _list(machine: Machine, node: ast.List, scope: Scope) -> Any:
    return _elements(machine, node.elts, scope)


def _tuple(machine: Machine, node: ast.Tuple, scope: Scope) -> Work:
    return tuple((yield _elements(machine, node.elts, scope)))


def _set(machine: Machine, node: ast.Set, scope: Scope) -> Work:
    return methods.as_set(machine.meter, (yield _elements(machine, node.elts, scope)))


def _dict(machine: Machine, node: ast.Dict, scope: Scope) -> Work:
    made: dict[Any, Any] = {}
    for key, part in zip(node.keys, node.values, strict=True):
        if key is None:
            raise Refused("a dict unpacked")
        name = yield value(machine, key, scope)
        given = yield value(machine, part, scope)
        made[machine.meter.key(name, len(made))] = given
    return made


def _subscript(machine: Machine, node: ast.Subscript, scope: Scope) -> Work:
    holder = yield value(machine, node.value, scope)
    return item_of(machine, holder, (yield value(machine, node.slice, scope)))


def _slice(machine: Machine, node: ast.Slice, scope: Scope) -> Work:
    ends = []
    for part in (node.lower, node.upper, node.step):
        ends.append((yield value(machine, part, scope)) if part else None)
    return slice(*ends)


def _attribute(machine: Machine, node: ast.Attribute, scope: Scope) -> Work:
    return methods.attribute((yield value(machine, node.value, scope)), node.attr)


def _call(machine: Machine, node: ast.Call, scope: Scope) -> Work:
    function = yield value(machine, node.func, scope)
    positional = yield _elements(machine, node.args, scope)
    named: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in named:
            raise Refused("such arguments")
        named[keyword.arg] = yield value(machine, keyword.value, scope)
    return (yield machine.call(function, positional, named))


def _lambda(machine: Machine, node: ast.Lambda, scope: Scope) -> Work:
    defaults = yield defaults_of(machine, node.args, scope)
    names = frozenset(parameters_of(node.args))
    machine.meter.pay(len(names))
    return Function(node.args, defaults, lambda inner: value(machine, node.body, inner), scope, names, {})


def defaults_of(machine: Machine, parameters: ast.arguments, scope: Scope) -> Work:
    """The defaults of a function's parameters, by name, as they are where it is defined."""
    named = [*parameters.posonlyargs, *parameters.args]
    nodes = dict(zip([parameter.arg for parameter in named[::-1]], parameters.defaults[::-1], strict=False))
    keywords = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
    nodes |= {parameter.arg: node for parameter, node in keywords if node}
    values = {}
    for name, node in nodes.items():
        values[name] = yield value(machine, node, scope)
    return values


def _f_string(machine: Machine, node: ast.JoinedStr, scope: Scope) -> Work:
    text = ""
    for part in node.values:
        text += yield value(machine, part, scope)
        machine.meter.text(len(text))
    return text


def _formatted(machine: Machine, node: ast.FormattedValue, scope: Scope) -> Work:
    given = yield value(machine, node.value, scope)
    if node.conversion == ord("r"):
        given = show(machine.meter, given, repr)
    elif node.conversion == ord("s"):
        given = show(machine.meter, given)
    elif node.conversion != -1:
        raise Refused("such a conversion")
    spec = (yield value(machine, node.format_spec, scope)) if node.format_spec else ""
    return operators.formatted(machine.meter, given, spec)


def _loops(
    machine: Machine, generators: list[ast.comprehension], outermost: Any, scope: Scope, make: Callable[[Scope], Work]
) -> Work:
    """Work that runs `make` for each turn of a comprehension's loops. `outermost`: the first one's iterable, which is read in
    the scope around.
    """
    local = [name for generator in generators for name in targets(generator.target)]
    machine.meter.pay(len(local))
    return _turns(machine, generators, iterate(outermost), Scope(scope, frozenset(local)), make)


def _turns(
    machine: Machine,
    generators: list[ast.comprehension],
    items: Iterator[Any],
    scope: Scope,
    make: Callable[[Scope], Work],
) -> Work:
    first, rest = generators[0], generators[1:]
    if first.is_async:
        raise Refused("an asynchronous comprehension")
    for item in items:
        yield assign(machine, first.target, item, scope)
        for test in first.ifs:
            if not (yield value(machine, test, scope)):
                break
        else:
            if rest:
                yield _turns(machine, rest, iterate((yield value(machine, rest[0].iter, scope))), scope, make)
            else:
                yield make(scope)


def _made_list(machine: Machine, node: ast.ListComp | ast.SetComp, scope: Scope) -> Work:
    items: list[Any] = []

    def make(inner: Scope) -> Work:
        items.append((yield value(machine, node.elt, inner)))

    outermost = yield value(machine, node.generators[0].iter, scope)
    yield _loops(machine, node.generators, outermost, scope, make)
    return methods.as_set(machine.meter, items) if isinstance(node, ast.SetComp) else items


def _made_dict(machine: Machine, node: ast.DictComp, scope: Scope) -> Work:
    made: dict[Any, Any] = {}

    def make(inner: Scope) -> Work:
        key = yield value(machine, node.key, inner)
        given = yield value(machine, node.value, inner)
        made[machine.meter.key(key, len(made))] = given

    outermost = yield value(machine, node.generators[0].iter, scope)
    yield _loops(machine, node.generators, outermost, scope, make)
    return made


def _generator(machine: Machine, node: ast.GeneratorExp, scope: Scope) -> Work:
    def make(inner: Scope) -> Work:
        yield Item((yield value(machine, node.elt, inner)))

    outermost = yield value(machine, node.generators[0].iter, scope)
    return Lazy(machine.meter, machine.run(_loops(machine, node.generators, outermost, scope, make)))


_EXPRESSIONS: dict[type[ast.AST], Callable[[Machine, Any, Scope], Any]] = {
    ast.Constant: _constant, ast.Name: _name, ast.BinOp: _binary, ast.UnaryOp: _unary, ast.BoolOp: _both,
    ast.Compare: _compare, ast.IfExp: _if, ast.List: _list, ast.Tuple: _tuple, ast.Set: _set, ast.Dict: _dict,
    ast.Subscript: _subscript, ast.Slice: _slice, ast.Attribute: _attribute, ast.Call: _call, ast.Lambda: _lambda,
    ast.JoinedStr: _f_string, ast.FormattedValue: _formatted, ast.ListComp: _made_list, ast.SetComp: _made_list,
    ast.GeneratorExp: _generator, ast.DictComp: _made_dict,
}  # fmt: skip
