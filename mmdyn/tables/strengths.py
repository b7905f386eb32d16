"""How strong the chains of a run's dynamic sets are, and which are too weak to tell much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from rich.console import Console

from mmdyn.data import WEAKNESS
from mmdyn.tables.results import Key, pick
from mmdyn.tables.terminal import print_grid, say
from mmdyn.work import RunFolder

TITLE = "Strength: how far variants are from their parents, medians by chain; n counts variants"


class StrengthRow(Struct, frozen=True):
    """A chain of a dynamic set: the medians that ChainStrength has over its `n` variants, and whether it is `weak`."""

    run: str
    set: str
    chain: str
    n: int
    tokens: float
    ssim: float | None
    distance: float | None
    legibility: float | None
    weak: bool


def find_strengths(runs: Mapping[str, RunFolder]) -> list[StrengthRow]:
    """A row for each chain of each dynamic set of each run that was measured; run.json has it, wherever the set is."""
    return [
        StrengthRow(name, entry.name, chain, **pick(far, "n", "tokens", "ssim", "distance", "legibility", "weak"))
        for name, run in runs.items()
        for entry in run.config.sets
        for chain, far in entry.strength.items()
    ]


def weakness(run: RunFolder, key: Key, keys: Sequence[Key]) -> str:
    """Which chains of a dynamic condition are weak, for a note; empty where none is."""
    chains = {one.chain for one in key.members(keys)}
    entries = [entry.strength for entry in run.config.sets if entry.root == key.set]
    weak = {chain for strength in entries for chain, far in strength.items() if far.weak and chain in chains}
    return f"weak variants ({', '.join(sorted(weak))})" if weak else ""


def print_strengths(console: Console, rows: Sequence[StrengthRow]) -> None:
    """Print a table, and what to do about weak chains."""
    if rows:
        print_grid(console, TITLE, [{**pick(row, "run", "set"), **_shown(row)} for row in rows])
    if any(row.weak for row in rows):
        say(console, f"weak: {WEAKNESS}.")


def _shown(row: StrengthRow) -> dict[str, object]:
    pictures = (row.ssim, row.distance, row.legibility)
    alike, far, legible = ("-" if measure is None else f"{measure:.2f}" for measure in pictures)
    measures = {
        "tokens\nchanged": f"{100 * row.tokens:.1f} %",
        "SSIM of\npictures": alike,
        "distance of\nembeddings": far,
        "legibility": legible,
    }
    return {"chain": row.chain + " (weak)" * row.weak, **measures, "n": row.n}
