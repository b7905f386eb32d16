"""Python's own functions, as far as they are given to programs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from mmdyn.scoring.interpreter import operators
from mmdyn.scoring.interpreter.bounds import NUMBERS, VIEWS, Refused
from mmdyn.scoring.interpreter.machine import Machine
from mmdyn.scoring.interpreter.methods import as_dict, as_set, sort
from mmdyn.scoring.interpreter.values import Builtin, Once, Work, drain, iterate, show

_LONGEST_NUMBER, _MOST_DIGITS, _MOST_KEY_BITS = 1_000, 400, 256
_SIZED = frozenset((str, list, tuple, dict, set, range, *VIEWS))
_MISSING = object()


def _print(machine: Machine, *values: Any, sep: str | None = " ", end: str | None = "\n") -> None:
    machine.effects += 1
    sep, end = " " if sep is None else sep, "\n" if end is None else end
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
    total = start
    for item in drain(machine.meter, values):
        total = operators.binary(machine.meter, operators.ADD, total, item)
    return total


def _extreme(pick: Callable[..., Any]) -> Callable[..., Any]:
    def run(machine: Machine, *values: Any, key: Any = None, default: Any = _MISSING) -> Work:
        if not values or (len(values) > 1 and default is not _MISSING):
            raise Refused("nothing to choose from")
        items = drain(machine.meter, values[0], any_order=key is None) if len(values) == 1 else list(values)
        if not items and default is not _MISSING:
            return default
        keys = items
        if key is not None:
            keys = []
            for item in items:
                keys.append((yield machine.call(key, [item], {})))
        machine.meter.weigh(keys)
        return items[pick(range(len(items)), key=keys.__getitem__)]

    return run


def _sorted(machine: Machine, values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    # a set of texts has no order of its own, but one when sorted: no two of its elements are alike
    return sort(machine, drain(machine.meter, values, any_order=key is None), key, reverse)


def _reversed(machine: Machine, values: Any, /) -> Once:
    if type(values) not in (list, tuple, str, range):
        raise Refused("cannot be reversed")
    return Once(reversed(values))


def _enumerate(machine: Machine, values: Any, /, start: int = 0) -> Once:
    return Once(enumerate(iterate(values), start), *_nature([values]))


def _zip(machine: Machine, *values: Any, strict: Any = False) -> Once:
    return Once(zip(*[iterate(part) for part in values], strict=bool(strict)), *_nature(values))


def _nature(values: Any) -> tuple[bool, int]:
    """Of an iterator over these: does it hold elements made already, and how deep is it?"""
    inner = [value for value in values if isinstance(value, Once)]
    return any(value.eager for value in inner), 1 + max((value.depth for value in inner), default=0)


def _map(machine: Machine, function: Any, /, *values: Any) -> Work:
    items: list[Any] = []

    def work() -> Work:
        for group in zip(*[iterate(part) for part in values], strict=False):
            items.append((yield machine.call(function, group, {})))

    if not values:
        raise Refused("nothing to map")
    return (yield machine.at_once(work(), items))


def _filter(machine: Machine, function: Any, values: Any, /) -> Work:
    items: list[Any] = []

    def work() -> Work:
        for item in iterate(values):
            holds = item if function is None else (yield machine.call(function, [item], {}))
            machine.meter.pay()
            if holds:
                items.append(item)

    return (yield machine.at_once(work(), items))


def _next(machine: Machine, values: Any, default: Any = _MISSING, /) -> Any:
    if not isinstance(values, Once):
        raise Refused("no iterator")
    item = next(values.take(), default)
    if item is _MISSING:
        raise Refused("nothing left")
    return item


def _any(machine: Machine, values: Any, /) -> bool:
    return any(drain(machine.meter, values, any_order=True))


def _all(machine: Machine, values: Any, /) -> bool:
    return all(drain(machine.meter, values, any_order=True))


def _abs(machine: Machine, value: Any, /) -> Any:
    return abs(value)


def _round(machine: Machine, value: Any, digits: Any = None, /) -> Any:
    if type(value) not in NUMBERS or (type(digits) is int and abs(digits) > _MOST_DIGITS):
        raise Refused("such rounding")
    return machine.meter.number(round(value, digits))


def _divmod(machine: Machine, value: Any, by: Any, /) -> Any:
    if type(value) not in NUMBERS or type(by) not in NUMBERS:
        raise Refused("no numbers")
    return divmod(machine.meter.number(value), machine.meter.number(by))


def _pow(machine: Machine, base: Any, exponent: Any, modulus: Any = None, /) -> Any:
    if modulus is None:
        return operators.binary(machine.meter, operators.POWER, base, exponent)
    if any(type(part) is not int or part.bit_length() > _MOST_KEY_BITS for part in (base, exponent, modulus)):
        raise Refused("too large a power")
    machine.meter.pay(_MOST_KEY_BITS)
    return pow(base, exponent, modulus)


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


def _repr(machine: Machine, value: Any, /) -> str:
    return show(machine.meter, value, repr)


def _list(machine: Machine, values: Any = (), /) -> list[Any]:
    return drain(machine.meter, values)


def _tuple(machine: Machine, values: Any = (), /) -> tuple[Any, ...]:
    return tuple(drain(machine.meter, values))


def _set(machine: Machine, values: Any = (), /) -> set[Any]:
    if type(values) is set:
        machine.meter.pay(len(values))
        return set(values)
    return as_set(machine.meter, drain(machine.meter, values))


def _dict(machine: Machine, values: Any = (), /, **named: Any) -> dict[Any, Any]:
    pairs = list(values.items()) if type(values) is dict else drain(machine.meter, values)
    return as_dict(machine.meter, [*pairs, *named.items()])


def _isinstance(machine: Machine, value: Any, kinds: Any, /) -> bool:
    kinds = kinds if type(kinds) is tuple else (kinds,)
    machine.meter.pay(len(kinds))
    named = [_KINDS.get(kind.name) if isinstance(kind, Builtin) else None for kind in kinds]
    if None in named or type(value) not in {*_KINDS.values(), type(None), range, *VIEWS}:
        raise Refused("no such kind")
    return isinstance(value, tuple(kind for kind in named if kind))


def _chr(machine: Machine, value: Any, /) -> str:
    return chr(value)


def _ord(machine: Machine, value: Any, /) -> int:
    if type(value) is not str:
        raise Refused("no character")
    return ord(value)


def _format(machine: Machine, value: Any, spec: Any = "", /) -> str:
    if type(spec) is not str:
        raise Refused("no format")
    return operators.formatted(machine.meter, value, spec) if spec else show(machine.meter, value)


_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (int, float, bool, str, list, tuple, dict, set, date)}
_GIVEN: dict[str, Callable[..., Any]] = {
    "print": _print, "len": _len, "range": _range, "sum": _sum, "min": _extreme(min), "max": _extreme(max),
    "sorted": _sorted, "reversed": _reversed, "enumerate": _enumerate, "zip": _zip, "map": _map, "filter": _filter,
    "next": _next, "any": _any, "all": _all, "abs": _abs, "round": _round, "divmod": _divmod, "pow": _pow,
    "int": _int, "float": _float, "bool": _bool, "str": _str, "repr": _repr, "list": _list, "tuple": _tuple,
    "set": _set, "dict": _dict, "isinstance": _isinstance, "chr": _chr, "ord": _ord, "format": _format,
}  # fmt: skip
BUILTINS = {name: Builtin(name, run) for name, run in _GIVEN.items()}
