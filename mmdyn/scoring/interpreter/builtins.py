"""Python's own functions, as far as they are given to programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmdyn.scoring.interpreter import operators
from mmdyn.scoring.interpreter.bounds import NUMBERS, VIEWS, Refused
from mmdyn.scoring.interpreter.machine import Machine
from mmdyn.scoring.interpreter.methods import as_dict, as_set, sort
from mmdyn.scoring.interpreter.values import Builtin, Item, Lazy, Work, elements, iterate, members, show

_LONGEST_NUMBER, _MOST_DIGITS = 1_000, 400
_SIZED = frozenset((str, list, tuple, dict, set, range, *VIEWS))
_MISSING = object()


def _print(machine: Machine, *values: Any, sep: str = " ", end: str = "\n", flush: Any = False) -> None:
    if type(sep) is not str or type(end) is not str:
        raise Refused("such a separator")
    machine.meter.text(len(end) + len(sep) * len(values))
    machine.printed.append(sep.join([show(machine.meter, value) for value in values]) + end)


def _len(machine: Machine, value: Any, /) -> int:
    if type(value) not in _SIZED:
        raise Refused("no length")
    return len(value)


def _range(machine: Machine, *ends: int) -> range:
    if not all(type(end) in (int, bool) for end in ends):
        raise Refused("no range")
    return range(*ends)


def _sum(machine: Machine, values: Any, /, start: Any = 0) -> Any:
    """From the left to the right: what a newer Python's more exact sum of floats gives differs from an older one's."""
    if type(start) is str:
        raise Refused("a sum of texts")
    if type(values) is set and all(type(value) is int for value in values):
        values = members(machine.meter, values)
    total = start
    for item in elements(machine.meter, values):
        total = operators.binary(machine.meter, operators.ADD, total, item)
    return total


def _extreme(pick: Callable[..., Any]) -> Callable[..., Any]:
    def run(machine: Machine, *values: Any, key: Any = None, default: Any = _MISSING) -> Work:
        if not values or (len(values) > 1 and default is not _MISSING):
            raise Refused("nothing to choose from")
        given = values if len(values) > 1 else values[0]
        items, keys = [], []
        for item in elements(machine.meter, members(machine.meter, given) if key is None else given):
            items.append(item)
            keys.append(item if key is None else (yield machine.call(key, [item], {})))
        if not items and default is not _MISSING:
            return default
        machine.meter.weigh(keys)
        return items[pick(range(len(items)), key=keys.__getitem__)]

    return run


def _sorted(machine: Machine, values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    # no two elements of a set are alike, but what a key gives for them may be
    given = members(machine.meter, values) if key is None else values
    return sort(machine, list(elements(machine.meter, given)), key, reverse)


def _reversed(machine: Machine, values: Any, /) -> Lazy:
    if type(values) not in (list, tuple, str, range):
        raise Refused("cannot be reversed")
    return Lazy(machine.meter, reversed(values))


def _enumerate(machine: Machine, values: Any, /, start: int = 0) -> Lazy:
    return Lazy(machine.meter, enumerate(iterate(values), start))


def _zip(machine: Machine, *values: Any, strict: Any = False) -> Lazy:
    return Lazy(machine.meter, zip(*map(iterate, values), strict=bool(strict)), 1 + len(values))


def _map(machine: Machine, function: Any, values: Any, /, *more: Any) -> Lazy:
    groups = _zip(machine, values, *more)

    def work() -> Work:
        for group in groups:
            yield Item((yield machine.call(function, group, {})))

    return Lazy(machine.meter, machine.run(work()))


def _filter(machine: Machine, function: Any, values: Any, /) -> Lazy:
    items = iterate(values)

    def work() -> Work:
        for item in items:
            machine.meter.pay()
            if item if function is None else (yield machine.call(function, [item], {})):
                yield Item(item)

    return Lazy(machine.meter, machine.run(work()))


def _any(machine: Machine, values: Any, /) -> bool:
    return any(elements(machine.meter, members(machine.meter, values)))


def _all(machine: Machine, values: Any, /) -> bool:
    return all(elements(machine.meter, members(machine.meter, values)))


def _abs(machine: Machine, value: Any, /) -> Any:
    return abs(value)


def _round(machine: Machine, value: Any, /, ndigits: Any = None) -> Any:
    if type(value) not in NUMBERS or (type(ndigits) is int and abs(ndigits) > _MOST_DIGITS):
        raise Refused("such rounding")
    return machine.meter.number(round(value, ndigits))


def _divmod(machine: Machine, value: Any, by: Any, /) -> Any:
    if type(value) not in NUMBERS or type(by) not in NUMBERS:
        raise Refused("no numbers")
    return divmod(machine.meter.number(value), machine.meter.number(by))


def _pow(machine: Machine, base: Any, exponent: Any, /) -> Any:
    return operators.binary(machine.meter, operators.POWER, base, exponent)


def _int(machine: Machine, value: Any = 0, /, *base: int) -> Any:
    if type(value) not in NUMBERS and (type(value) is not str or len(value) > _LONGEST_NUMBER):
        raise Refused("no integer")
    return machine.meter.number(int(value, *base))


def _float(machine: Machine, value: Any = 0.0, /) -> float:
    if type(value) not in NUMBERS and (type(value) is not str or len(value) > _LONGEST_NUMBER):
        raise Refused("no number")
    return float(value)


def _bool(machine: Machine, value: Any = False, /) -> bool:
    return bool(value)


def _str(machine: Machine, value: Any = "", /) -> str:
    return show(machine.meter, value)


def _list(machine: Machine, values: Any = (), /) -> list[Any]:
    return list(elements(machine.meter, values))


def _tuple(machine: Machine, values: Any = (), /) -> tuple[Any, ...]:
    return tuple(elements(machine.meter, values))


def _set(machine: Machine, values: Any = (), /) -> set[Any]:
    if type(values) is set:
        machine.meter.pay(len(values))
        return set(values)
    return as_set(machine.meter, elements(machine.meter, values))


def _dict(machine: Machine, values: Any = (), /, **named: Any) -> dict[Any, Any]:
    pairs = values.items() if type(values) is dict else values
    return as_dict(machine.meter, [*elements(machine.meter, pairs), *named.items()])


_GIVEN: dict[str, Callable[..., Any]] = {
    "print": _print, "len": _len, "range": _range, "sum": _sum, "min": _extreme(min), "max": _extreme(max),
    "sorted": _sorted, "reversed": _reversed, "enumerate": _enumerate, "zip": _zip, "map": _map, "filter": _filter,
    "any": _any, "all": _all, "abs": _abs, "round": _round, "divmod": _divmod, "pow": _pow, "int": _int, "float": _float,
    "bool": _bool, "str": _str, "list": _list, "tuple": _tuple, "set": _set, "dict": _dict,
}  # fmt: skip
BUILTINS = {name: Builtin(name, run) for name, run in _GIVEN.items()}
