"""How a table for people calls contrasts, and what stands above several of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mmdyn.record import Contrast
from mmdyn.tables.contrasts import BASES
from mmdyn.tables.results import POOLED


def is_main(row: Contrast) -> bool:
    """Whether a contrast answers a main question: all else is as usual, whatever the chain."""
    return all(row.held.get(name, base) == base for name, base in BASES.items())


def over_chains(row: Contrast) -> tuple[str, ...]:
    """What a contrast has in common with the same one of other chains."""
    return (row.model, row.set, row.factor, row.a, row.b, *(row.held | {"chain": POOLED}).values())


def grouped(rows: Sequence[Contrast]) -> list[dict[str, str]]:
    """The same for each; what several have in common is kept apart, to stand above them."""
    places = [(row.model, row.set, row.factor, *_above(row).values()) for row in rows]
    alike = Counter(places)
    below = any(alike[place] > 1 for row, place in zip(rows, places, strict=True) if is_main(row))
    return [
        sides_of(row) | (_in_group(row) if alike[place] > 1 else _alone(row) if below else {})
        for row, place in zip(rows, places, strict=True)
    ]


def sides_of(row: Contrast) -> dict[str, str]:
    """Model, set and contrast, for people, with what its sides share."""
    contrast = f"{_arrow(row)} ({said_of(row.held)})"
    return {"model": row.model or "between models", "set": row.set, "held": "", "contrast": contrast}


def said_of(held: dict[str, str]) -> str:
    """Factors that both sides share, for people: what is not as usual, or all where everything is."""
    held = dict(held)
    if held.get("variant") == "dynamic":
        held["variant"] = f"dynamic {held.pop('chain')}".strip()
    differing = {name: value for name, value in held.items() if (BASES | {"chain": ""}).get(name) != value}
    said = [value if name == "variant" else f"{name} {value}" for name, value in differing.items()]
    return ", ".join(said) or ", ".join(value for value in held.values() if value)


def _above(row: Contrast) -> dict[str, str]:
    """What may stand above a contrast. Of a variant's main contrasts, one a chain, nothing is said above."""
    by_chain = row.factor == "variant" and not is_main(row)
    return {name: value for name, value in row.held.items() if not (by_chain and name == "chain")}


def _in_group(row: Contrast) -> dict[str, str]:
    above = _above(row)
    below = {name: value for name, value in row.held.items() if name not in above}
    return {"held": said_of(above), "contrast": _arrow(row) + (f" ({said_of(below)})" if below else "")}


def _alone(row: Contrast) -> dict[str, str]:
    """Main contrasts stand first, under no heading; any other that no heading fits stands below them."""
    return {} if is_main(row) else {"held": "other conditions"}


def _arrow(row: Contrast) -> str:
    return f"{row.a} \N{RIGHTWARDS ARROW} {row.b}"
