"""What stands behind a dot: the methods and fields of plain values, and the names of modules; nothing else can be reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from string import Formatter
from typing import TYPE_CHECKING, Any

from mmdyn.scoring.interpreter.bounds import Meter, Refused
from mmdyn.scoring.interpreter.operators import formatted
from mmdyn.scoring.interpreter.values import Lazy, Method, Module, elements, members

if TYPE_CHECKING:
    from mmdyn.scoring.interpreter.machine import Machine

_FIELDS: dict[type[Any], tuple[str, ...]] = {date: ("year", "month", "day"), timedelta: ("days",)}
_TEXT = (
    "capitalize", "count", "endswith", "find", "index", "isalpha", "isdigit", "islower", "isupper", "lower", "lstrip",
    "rstrip", "split", "startswith", "strip", "title", "upper",
)  # fmt: skip
_SET_ALGEBRA = ("union", "intersection", "difference", "issubset", "issuperset")


def attribute(owner: Any, name: str) -> Any:
    """`owner.name`."""
    if isinstance(owner, Module):
        if owner.names is None or name not in owner.names:
            raise Refused(f"no {name} in this module")
        return owner.names[name]
    if name in _FIELDS.get(type(owner), ()):
        return getattr(owner, name)
    if name not in _METHODS.get(type(owner), {}):
        raise Refused(f"no attribute {name}")
    return Method(owner, name)


def call(machine: Machine, method: Method, positional: Sequence[Any], named: dict[str, Any]) -> Any:
    """Call a method with arguments; its value, or the work that leads to it."""
    return _METHODS[type(method.owner)][method.name](machine, method, *positional, **named)


def as_set(meter: Meter, items: Iterable[Any]) -> set[Any]:
    """The set of some elements, which are checked one by one."""
    made: set[Any] = set()
    for item in items:
        made.add(meter.key(item, len(made)))
    return made


def as_dict(meter: Meter, pairs: Iterable[Any]) -> dict[Any, Any]:
    """The dict of some pairs, which are checked one by one."""
    made: dict[Any, Any] = {}
    for pair in pairs:
        key, value = elements(meter, pair)
        made[meter.key(key, len(made))] = value
    return made


def _plain(machine: Machine, method: Method, /, *arguments: Any) -> Any:
    """A method without arguments, as it is."""
    if arguments:
        raise Refused("arguments that do not fit")
    return getattr(method.owner, method.name)()


def _text(machine: Machine, method: Method, /, *arguments: Any) -> Any:
    machine.meter.text(len(method.owner))
    for argument in arguments:
        if type(argument) not in (str, int, type(None)):
            raise Refused("such an argument")
        machine.meter.search(method.owner, argument if type(argument) is str else "")
    result = getattr(method.owner, method.name)(*arguments)
    machine.meter.weigh(result)
    return result


def _replace(machine: Machine, method: Method, old: str, new: str, /) -> str:
    if type(old) is not str or type(new) is not str:
        raise Refused("such an argument")
    machine.meter.search(method.owner, old)
    machine.meter.text(len(method.owner) + method.owner.count(old) * (len(new) - len(old)))
    return str(method.owner.replace(old, new))


def _join(machine: Machine, method: Method, items: Any, /) -> str:
    parts = list(elements(machine.meter, items))
    if not all(type(part) is str for part in parts):
        raise Refused("joins what is no text")
    machine.meter.text(sum(map(len, parts)) + len(method.owner) * len(parts))
    return str(method.owner.join(parts))


def _format(machine: Machine, method: Method, /, *values: Any, **named: Any) -> str:
    """`"{} of {total:.2f}".format(…)`: fields that are numbered all or not at all, or named; nothing within one is reached for."""
    parts = list(Formatter().parse(method.owner))
    fields = [field for _, field, _, _ in parts if field is not None]
    if "" in fields and any(field.isdecimal() for field in fields):
        raise Refused("fields with and without numbers")
    text, unnumbered = "", iter(values)
    for literal, field, spec, conversion in parts:
        text += literal
        if field is not None:
            if "{" in (spec or "") or conversion:
                raise Refused("no such format")
            given = (
                named[field] if not field.isdecimal() and field else values[int(field)] if field else next(unnumbered)
            )
            text += formatted(machine.meter, given, spec or "")
        machine.meter.text(len(text))
    return text


def _append(machine: Machine, method: Method, item: Any, /) -> None:
    method.owner.append(item)


def _extend(machine: Machine, method: Method, items: Any, /) -> None:
    extend(machine.meter, method.owner, items)


def extend(meter: Meter, owner: list[Any], items: Any) -> None:
    """Put the elements behind a list's: those of a Lazy one by one, because making them may look at the list."""
    for item in items if isinstance(items, Lazy) else list(elements(meter, items)):
        owner.append(item)


def _moved(machine: Machine, method: Method, /, *arguments: Any) -> Any:
    """insert, pop, reverse, copy: the list's elements are moved."""
    machine.meter.pay(len(method.owner) // (1 if method.name == "copy" else 32))
    return getattr(method.owner, method.name)(*arguments)


def _searched(machine: Machine, method: Method, item: Any, /) -> Any:
    """remove, index, count: the elements of a list or tuple are compared."""
    machine.meter.weigh(method.owner, item)
    return getattr(method.owner, method.name)(item)


def _sort(machine: Machine, method: Method, /, *, key: Any = None, reverse: Any = False) -> Any:
    items = list(method.owner)
    machine.meter.pay(len(items))
    method.owner.clear()  # as Python does, so that a key that looks at the list finds nothing there
    in_order = yield sort(machine, items, key, reverse)
    if method.owner:
        raise Refused("a list changed while it is sorted")
    method.owner[:] = in_order


def sort(machine: Machine, items: list[Any], key: Any, reverse: Any) -> Any:
    """Work that gives the elements in order of what `key` gives for them."""
    keys = items
    if key is not None:
        keys = []
        for item in items:
            keys.append((yield machine.call(key, [item], {})))
    machine.meter.pay(machine.meter.weigh(keys) * len(keys).bit_length() // 4)
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(reverse))
    return [items[at] for at in order]


def _get(machine: Machine, method: Method, key: Any, default: Any = None, /) -> Any:
    return method.owner.get(machine.meter.key(key), default)


def _set_default(machine: Machine, method: Method, key: Any, default: Any = None, /) -> Any:
    return method.owner.setdefault(machine.meter.key(key, len(method.owner)), default)


def _pop_key(machine: Machine, method: Method, key: Any, /, *default: Any) -> Any:
    return method.owner.pop(machine.meter.key(key), *default)


def _add(machine: Machine, method: Method, item: Any, /) -> None:
    method.owner.add(machine.meter.key(item, len(method.owner)))


def _without(machine: Machine, method: Method, item: Any, /) -> None:
    getattr(method.owner, method.name)(machine.meter.key(item))


def _of_sets(machine: Machine, method: Method, /, *others: Any) -> Any:
    machine.meter.weigh(method.owner)
    meter = machine.meter
    sets = [as_set(meter, elements(meter, members(meter, other))) for other in others]
    return getattr(method.owner, method.name)(*sets)


_METHODS: dict[type[Any], dict[str, Callable[..., Any]]] = {
    str: {**dict.fromkeys(_TEXT, _text), "replace": _replace, "join": _join, "format": _format},
    list: {
        **dict.fromkeys(("insert", "pop", "reverse", "copy"), _moved),
        **dict.fromkeys(("remove", "index", "count"), _searched),
        "append": _append,
        "extend": _extend,
        "sort": _sort,
    },
    tuple: dict.fromkeys(("index", "count"), _searched),
    dict: {
        **dict.fromkeys(("items", "keys", "values"), _plain),
        "get": _get,
        "setdefault": _set_default,
        "pop": _pop_key,
    },
    set: {**dict.fromkeys(_SET_ALGEBRA, _of_sets), **dict.fromkeys(("remove", "discard"), _without), "add": _add},
    float: {"is_integer": _plain},
}
