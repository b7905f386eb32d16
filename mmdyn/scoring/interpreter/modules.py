"""The modules that programs may use: parts of math, statistics, and datetime (nothing that tells today's date)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from datetime import date
from typing import Any

from mmdyn.scoring.interpreter.bounds import NUMBERS, Refused
from mmdyn.scoring.interpreter.machine import Machine
from mmdyn.scoring.interpreter.values import Builtin, Module, elements

_OF_NUMBERS = "acos asin atan atan2 ceil cos degrees exp fabs floor fmod gcd hypot isclose isqrt log log10 log2 pow radians sin sqrt tan"
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
        items = list(elements(machine.meter, values))
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


def _date(machine: Machine, year: Any, month: Any, day: Any) -> date:
    return date(year, month, day)


def _module(names: dict[str, Any]) -> Module:
    return Module({name: Builtin(name, given) if callable(given) else given for name, given in names.items()})


MODULES = {
    "math": _module(
        {
            **{name: _of_numbers(getattr(math, name)) for name in _OF_NUMBERS.split()},
            **{name: getattr(math, name) for name in ("pi", "e", "inf", "nan")},
            "factorial": _factorial,
        }
    ),
    "statistics": _module({"mean": _of_many(statistics.mean), "median": _of_many(statistics.median)}),
    "datetime": _module({"date": _date}),
}
