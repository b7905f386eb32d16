"""Win rates for people, in percent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from mmdyn.tables.table import clean, open_console, p_value, percent, print_grid
from mmdyn.tables.win_rates import WinRate

TITLE = (
    "Pairs in percent with 95 % intervals; n counts parent samples, position bias the pairs in which the same place won"
    " in both orders, which are ties"
)


def print_win_rates(
    a: str, b: str, whole: WinRate | None, by: Mapping[str, Mapping[str, WinRate]], file: TextIO | None = None
) -> None:
    """Print how often a is preferred to b to `file` or standard output."""
    console = open_console(file)
    if whole is None:
        console.print(clean("No pair has a verdict."), soft_wrap=True)
        return
    for name, who in (("a", a), ("b", b)):
        console.print(clean(f"{name}: {who}"), soft_wrap=True)
    print_grid(console, TITLE, [_cells("all", whole)])
    for name, rates in by.items():
        title = f"Pairs by {name}; p adjusted by Holm over all breakdowns"
        print_grid(console, title, [_cells(value, rate) for value, rate in rates.items()])


def _cells(name: str, rate: WinRate) -> dict[str, str]:
    return {
        "pairs of": name,
        "a wins": percent(rate.win.share, rate.win.ci95),
        "ties": percent(rate.tie.share, rate.tie.ci95),
        "b wins": percent(rate.loss.share, rate.loss.ci95),
        "a - b": percent(rate.net, rate.net_ci95, sign="+"),
        "p": p_value(rate.p_adjusted),
        "n": str(rate.n),
        "pairs": str(rate.pairs),
        "position\nbias": percent(rate.bias.share, rate.bias.ci95) if rate.bias else "-",
        "first,\nsecond": f"{rate.first}, {rate.second}",
        "method": rate.method,
    }
