"""The modules that programs may use: parts of math, statistics, and datetime (nothing that tells today's date)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from mmdyn.scoring.interpreter import operators
from mmdyn.scoring.interpreter.bounds import MOST_BITS, NUMBERS, Refused
from mmdyn.scoring.interpreter.machine import Machine
from mmdyn.scoring.interpreter.values import Builtin, Module, drain

_OF_NUMBERS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees exp exp2 expm1 fabs floor fmod gcd hypot isclose"
    " isfinite isinf isnan isqrt ldexp log log10 log1p log2 pow radians sin sinh sqrt tan tanh trunc"
)
_LARGEST_FACTORIAL = 1_000
_A_MEAN = 20


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(machine: Machine, *values: Any, **named: Any) -> Any:
        if not all(type(value) in NUMBERS for value in (*values, *named.values())):
            raise Refused("no numbers")
        machine.meter.weigh(*values)
        for value in values:
            machine.meter.product(values[0], value)
        return machine.meter.number(function(*values, **named))

    return run


def _of_many(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the numbers that its only argument holds."""

    def run(machine: Machine, values: Any, /) -> Any:
        items = drain(machine.meter, values)
        if not all(type(item) in NUMBERS for item in items):
            raise Refused("no numbers")
        machine.meter.pay(_A_MEAN * machine.meter.weigh(items))
        return machine.meter.number(function(items))

    return run


def _factorial(machine: Machine, value: Any, /) -> Any:
    if type(value) is not int or value > _LARGEST_FACTORIAL:
        raise Refused("such a factorial")
    machine.meter.pay(abs(value))
    return machine.meter.number(math.factorial(value))


def _choices(function: Callable[..., int]) -> Callable[..., Any]:
    """comb and perm: the result has at most as many bits as the larger number has, for each of the smaller."""

    def run(machine: Machine, of: Any, many: Any, /) -> Any:
        if type(of) is not int or type(many) is not int or many * of.bit_length() > MOST_BITS:
            raise Refused("such a number of choices")
        machine.meter.pay(abs(many))
        return machine.meter.number(function(of, many))

    return run


def _prod(machine: Machine, values: Any, /, *, start: Any = 1) -> Any:
    for item in drain(machine.meter, values):
        start = operators.binary(machine.meter, operators.TIMES, start, item)
    return start


def _lcm(machine: Machine, *values: Any) -> Any:
    total = 1
    for value in values:
        if type(value) is not int:
            raise Refused("no integer")
        total = machine.meter.number(math.lcm(total, value))
    return total


def _dist(machine: Machine, one: Any, other: Any, /) -> Any:
    return math.dist(drain(machine.meter, one), drain(machine.meter, other))


def _time(kind: type[Any]) -> Callable[..., Any]:
    def run(machine: Machine, *values: Any, **named: Any) -> Any:
        if not all(type(value) in NUMBERS for value in (*values, *named.values())):
            raise Refused("no numbers")
        return kind(*values, **named)

    return run


def _module(names: dict[str, Any]) -> Module:
    return Module({name: Builtin(name, given) if callable(given) else given for name, given in names.items()})


MODULES = {
    "math": _module(
        {
            **{name: _of_numbers(getattr(math, name)) for name in _OF_NUMBERS.split()},
            **{name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")},
            "factorial": _factorial, "comb": _choices(math.comb), "perm": _choices(math.perm), "prod": _prod,
            "lcm": _lcm, "dist": _dist, "fsum": _of_many(math.fsum),
        }
    ),
    "statistics": _module(
        {
            name: _of_many(getattr(statistics, name))
            for name in ("mean", "fmean", "median", "median_low", "median_high", "mode", "stdev", "pstdev", "variance")
        }
    ),
    "datetime": _module({"date": _time(date), "datetime": _time(datetime), "timedelta": _time(timedelta)}),
}  # fmt: skip
