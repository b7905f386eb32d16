"""What conditions and contrasts are called for people."""

from __future__ import annotations

from collections.abc import Mapping

from mmdyn.tables.contexts import BASES
from mmdyn.tables.keys import NOT_GIVEN, POOLED

FRONT = ("run", "model", "set")
ARROW = "\N{RIGHTWARDS ARROW}"


def condition_name(factors: Mapping[str, str]) -> str:
    """A condition by its factors, such as `dynamic pad, kprag`: of context, style and shots what is not as usual."""
    chain = factors.get("chain", NOT_GIVEN)
    variant = " ".join([factors["variant"], *[chain] * (chain != NOT_GIVEN)])
    return ", ".join([variant, *_unusual(factors, "context", "style", "shots")])


def contrast_name(factors: Mapping[str, str]) -> str:
    """A contrast by its factors, such as `standard \N{RIGHTWARDS ARROW} dynamic pad`, or `none \N{RIGHTWARDS ARROW}
    kprag (dynamic pad)`: what both sides share stands in brackets where it is not as usual."""
    factor, a, b = (factors[name] for name in ("factor", "a", "b"))
    if factor == "variant":
        held = _unusual(factors, "context", "style", "shots")
        return f"{a} {ARROW} {b} {factors['chain']}" + f" ({', '.join(held)})" * bool(held)
    a = f"shots {a}" if factor == "shots" else a
    shared = condition_name({"variant": "standard", **factors})
    return f"{a} {ARROW} {b}" + f" ({shared})" * (shared != "standard")


def chain_name(factors: Mapping[str, str]) -> str:
    """The chain of a contrast from standard to dynamic, with what is not as usual, such as `pad, kprag`."""
    return ", ".join([factors["chain"], *_unusual(factors, "context", "style", "shots")])


def is_usual(factors: Mapping[str, str]) -> bool:
    """Whether all that both sides of a contrast share is as usual, whatever the variant and its chain."""
    held = [name for name in BASES if name not in ("variant", factors["factor"])]
    return all(factors.get(name, BASES[name]) == BASES[name] for name in held)


def is_main(factors: Mapping[str, str]) -> bool:
    """Whether a contrast answers a main question: all else is as usual, of standard questions or between them and
    variants."""
    return is_usual(factors) and (factors["factor"] == "variant" or factors["variant"] == BASES["variant"])


def is_change(factors: Mapping[str, str]) -> bool:
    """Whether a contrast is a change from standard to dynamic where all else is as usual."""
    return factors["factor"] == "variant" and is_usual(factors)


def is_pooled(factors: Mapping[str, str]) -> bool:
    """Whether a row is over all chains."""
    return factors.get("chain") == POOLED


def who_of(factors: Mapping[str, str]) -> tuple[str, ...]:
    """The run, the model and the set, empty where there is none."""
    return tuple(factors.get(name, "") for name in FRONT)


def front_of(factors: Mapping[str, str]) -> str:
    """The run where there are several, the model and the set, for people."""
    model, set = factors.get("model", ""), factors.get("set", "")
    who = f"{model} on {set}" if model else set
    return ", ".join(filter(None, (who, factors.get("run", ""))))


def _unusual(factors: Mapping[str, str], *names: str) -> list[str]:
    found = {name: factors.get(name, BASES[name]) for name in names}
    return [f"shots {value}" if name == "shots" else value for name, value in found.items() if value != BASES[name]]
