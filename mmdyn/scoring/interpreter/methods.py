"""What stands behind a dot: the methods and fields of plain values, and the names of modules; nothing else can be reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mmdyn.scoring.interpreter.bounds import Meter, Refused
from mmdyn.scoring.interpreter.values import Method, Module, drain

if TYPE_CHECKING:
    from mmdyn.scoring.interpreter.machine import Machine

_DAY = ("year", "month", "day")
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    date: _DAY,
    datetime: (*_DAY, "hour", "minute", "second"),
    timedelta: ("days", "seconds"),
}
_WIDEST = 1_000
_TEXT = (
    "capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdecimal", "isdigit", "islower",
    "isnumeric", "isspace", "istitle", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "rstrip",
    "split", "splitlines", "startswith", "strip", "swapcase", "title", "upper",
)  # fmt: skip
_DATE = ("weekday", "isoweekday", "isoformat")
_PLAIN: dict[type[Any], tuple[str, ...]] = {
    float: ("is_integer",),
    int: ("bit_length",),
    date: _DATE,
    datetime: (*_DATE, "date"),
    timedelta: ("total_seconds",),
}
_OF_SETS = (
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "issubset",
    "issuperset",
    "isdisjoint",
    "copy",
)


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


def as_set(meter: Meter, items: Sequence[Any]) -> set[Any]:
    """The set of some elements, which are checked one by one."""
    made: set[Any] = set()
    for item in items:
        made.add(meter.key(item, len(made)))
    return made


def as_dict(meter: Meter, pairs: Sequence[Any]) -> dict[Any, Any]:
    """The dict of some pairs, which are checked one by one."""
    made: dict[Any, Any] = {}
    for pair in pairs:
        key, value = drain(meter, pair)
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
    parts = drain(machine.meter, items)
    if not all(type(part) is str for part in parts):
        raise Refused("joins what is no text")
    machine.meter.text(sum(map(len, parts)) + len(method.owner) * len(parts))
    return str(method.owner.join(parts))


def _padded(machine: Machine, method: Method, width: int, /, *fill: str) -> str:
    if type(width) is not int or width > _WIDEST:
        raise Refused("such a width")
    return str(getattr(method.owner, method.name)(width, *fill))


def _append(machine: Machine, method: Method, item: Any, /) -> None:
    machine.effects += 1
    method.owner.append(item)


def _extend(machine: Machine, method: Method, items: Any, /) -> None:
    machine.effects += 1
    method.owner.extend(drain(machine.meter, items))


def _moved(machine: Machine, method: Method, /, *arguments: Any) -> Any:
    """insert, pop, reverse, clear, copy: the list's elements are moved."""
    machine.effects += 1
    machine.meter.pay(len(method.owner) // (1 if method.name == "copy" else 32))
    return getattr(method.owner, method.name)(*arguments)


def _searched(machine: Machine, method: Method, item: Any, /) -> Any:
    """remove, index, count: the elements of a list or tuple are compared."""
    machine.effects += method.name == "remove"
    machine.meter.weigh(method.owner, item)
    return getattr(method.owner, method.name)(item)


def _sort(machine: Machine, method: Method, /, *, key: Any = None, reverse: Any = False) -> Any:
    machine.effects += 1
    items = list(method.owner)
    machine.meter.pay(len(items))
    method.owner[:] = yield sort(machine, items, key, reverse)


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
    machine.effects += 1
    return method.owner.setdefault(machine.meter.key(key, len(method.owner)), default)


def _pop_key(machine: Machine, method: Method, key: Any, /, *default: Any) -> Any:
    machine.effects += 1
    return method.owner.pop(machine.meter.key(key), *default)


def _update(machine: Machine, method: Method, given: Any = (), /, **named: Any) -> None:
    machine.effects += 1
    pairs = list(given.items()) if type(given) is dict else drain(machine.meter, given)
    for key, value in as_dict(machine.meter, [*pairs, *named.items()]).items():
        method.owner[machine.meter.key(key, len(method.owner))] = value


def _copied(machine: Machine, method: Method, /) -> Any:
    machine.meter.pay(len(method.owner))
    return method.owner.copy()


def _cleared(machine: Machine, method: Method, /) -> None:
    machine.effects += 1
    method.owner.clear()


def _add(machine: Machine, method: Method, item: Any, /) -> None:
    machine.effects += 1
    method.owner.add(machine.meter.key(item, len(method.owner)))


def _without(machine: Machine, method: Method, item: Any, /) -> None:
    machine.effects += 1
    getattr(method.owner, method.name)(machine.meter.key(item))


def _set_update(machine: Machine, method: Method, items: Any, /) -> None:
    machine.effects += 1
    for item in drain(machine.meter, items, any_order=True):
        method.owner.add(machine.meter.key(item, len(method.owner)))


def _of_sets(machine: Machine, method: Method, /, *others: Any) -> Any:
    machine.meter.weigh(method.owner)
    sets = [as_set(machine.meter, drain(machine.meter, other, any_order=True)) for other in others]
    return getattr(method.owner, method.name)(*sets)


_METHODS: dict[type[Any], dict[str, Callable[..., Any]]] = {
    str: {
        **dict.fromkeys(_TEXT, _text),
        **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _padded),
        "replace": _replace,
        "join": _join,
    },
    list: {
        **dict.fromkeys(("insert", "pop", "reverse", "clear", "copy"), _moved),
        **dict.fromkeys(("remove", "index", "count"), _searched),
        "append": _append,
        "extend": _extend,
        "sort": _sort,
    },
    tuple: dict.fromkeys(("index", "count"), _searched),
    dict: {
        **dict.fromkeys(("items", "keys", "values"), _plain),
        "get": _get, "setdefault": _set_default, "pop": _pop_key, "update": _update, "copy": _copied, "clear": _cleared,
    },
    set: {
        **dict.fromkeys(_OF_SETS, _of_sets),
        **dict.fromkeys(("remove", "discard"), _without),
        "add": _add, "update": _set_update, "clear": _cleared,
    },
    **{kind: dict.fromkeys(names, _plain) for kind, names in _PLAIN.items()},
}  # fmt: skip
