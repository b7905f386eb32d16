"""Contrasts for people: what each is called, what stands above several of them, and their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict
from rich.console import Console

from mmdyn.record import Contrast
from mmdyn.tables.asked_side import FORM
from mmdyn.tables.contexts import BASES, LEAK, NO, leaks_of
from mmdyn.tables.contrasts import Sides
from mmdyn.tables.results import POOLED
from mmdyn.tables.terminal import NEEDS_JUDGE, RAW, VARIANTS_LEFT_OUT, clean, p_value, percent, print_cells, print_grid

SIGNIFICANT = 0.05


def print_contrasts(console: Console, contrasts: Sequence[Contrast], by: Sequence[str]) -> None:
    """Print contrasts, the main ones first, their breakdowns by some names, and in words what is significant."""
    rows = [row for row, _, _ in contrast_lines(contrasts)]
    title = "Contrasts in points, paired by parent sample; p adjusted by Holm over all of them"
    print_grid(console, title, [{**names, **shown} for _, names, shown in contrast_lines(contrasts)])
    cells = [(_sides(row), {name: row.by[name] for name in by}) for row in rows]
    print_cells(console, "Contrasts by {}; p adjusted by Holm over all breakdowns", cells, _delta)
    if LEAK not in by:
        _print_leaks(console, rows)
    for row in rows:
        if row.p_adjusted is not None and row.p_adjusted < SIGNIFICANT:
            console.print(clean(_sentence(row)))


def contrast_lines(contrasts: Sequence[Contrast]) -> list[tuple[Contrast, dict[str, str], dict[str, object]]]:
    """Contrasts as reports have them, the main ones first: each with what it is called and its cells by column."""
    rows = sorted(contrasts, key=lambda row: not is_main(row))
    return [(row, names, _delta(asdict(row))) for row, names in zip(rows, _grouped(rows), strict=True)]


def _print_leaks(console: Console, rows: Sequence[Contrast]) -> None:
    """The contrasts between contexts of which some hold the answer, with these questions and without them.

    Of several chains all together stand for each.
    """
    title = "Contrasts without the questions whose context holds the answer; p adjusted by Holm over all breakdowns"
    leaking = [row for row in rows if row.factor == "context" and leaks_of(row)]
    pooled = {_over_chains(row) for row in leaking if row.held["chain"] == POOLED}
    leaking = [row for row in leaking if row.held["chain"] == POOLED or _over_chains(row) not in pooled]
    if leaking:
        named = zip(_grouped(leaking), leaking, strict=True)
        print_grid(console, title, [{**names, **_without_leaks(row)} for names, row in named])


def _without_leaks(row: Contrast) -> dict[str, object]:
    cell = row.by[LEAK].get(NO)
    without = _delta(cell) if cell else dict.fromkeys(("change", "adj. p", "method"), "-") | {"n": "0"}
    every = {"all": percent(row.delta, row.ci95, sign="+"), "leaks": leaks_of(row), "without": without["change"]}
    return every | {name: without[name] for name in ("adj. p", "n", "method")}


def _delta(cell: dict[str, Any]) -> dict[str, object]:
    method = "; ".join(filter(None, (cell["method"], *remarks(cell["note"], cell.get("differs", ()), cell["scale"]))))
    left_out = {"left\nout": cell["left_out"], VARIANTS_LEFT_OUT: cell["variants_left_out"]}
    counts = left_out | {"failed": cell["failed"], NEEDS_JUDGE: cell["needs_judge"]}
    tested = {"p": p_value(cell["p"]), "adj. p": p_value(cell["p_adjusted"]), "n": cell["n"]}
    raw = f"{100 * cell['raw_delta']:+.1f}" if cell["scale"] == "corrected" and cell["n"] else ""
    change = {"change": percent(cell["delta"], cell["ci95"], sign="+"), RAW: raw}
    return {**change, **tested, **counts, "method": method}


def _sentence(row: Contrast) -> str:
    """A contrast that has a difference, in words."""
    assert row.delta is not None and row.ci95 is not None
    who = f"{row.model} on {row.set}" if row.model else row.set
    verb = "higher" if row.delta > 0 else "lower"
    low, high = (100 * bound for bound in row.ci95)
    but = "".join(f" But {remark}." for remark in remarks(row.note, row.differs, row.scale))
    return (
        f"{who}: {_level(row, row.b)} is {abs(100 * row.delta):.1f} points {verb} than {_level(row, row.a)}"
        f" ({said_of(row.held)}; 95 % interval {low:+.1f} to {high:+.1f}, adjusted p {p_value(row.p_adjusted)},"
        f" {row.n} pairs).{but}"
    )


def remarks(note: str, differs: Sequence[str], scale: str) -> list[str]:
    """What a reader must know of a contrast. The note on the corrected scale says that the form differs."""
    differs = [what for what in differs if what != FORM or scale != "corrected"]
    return [*filter(None, [note]), *([f"its sides differ in {' and '.join(differs)}, too"] if differs else [])]


def is_main(row: Contrast | Sides) -> bool:
    """Whether a contrast answers a main question: all else is as usual, whatever the chain."""
    return all(row.held.get(name, base) == base for name, base in BASES.items())


def _over_chains(row: Contrast) -> tuple[str, ...]:
    """What a contrast has in common with the same one of other chains."""
    return (row.model, row.set, row.factor, row.a, row.b, *(row.held | {"chain": POOLED}).values())


def _grouped(rows: Sequence[Contrast]) -> list[dict[str, str]]:
    """What each is called; what several have in common is kept apart, to stand above them.

    Main contrasts stand first, under no heading; any other that no heading fits stands below them.
    """
    places = [(row.model, row.set, row.factor, *_above(row).values()) for row in rows]
    alike = Counter(places)
    below = any(alike[place] > 1 for row, place in zip(rows, places, strict=True) if is_main(row))
    alone = {"held": "other conditions"} if below else {}
    return [
        _sides(row) | (_in_group(row) if alike[place] > 1 else {} if is_main(row) else alone)
        for row, place in zip(rows, places, strict=True)
    ]


def _sides(row: Contrast) -> dict[str, str]:
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


def _arrow(row: Contrast) -> str:
    return f"{_level(row, row.a)} \N{RIGHTWARDS ARROW} {row.b}"


def _level(row: Contrast, level: str) -> str:
    """A side's level; a number of examples does not speak for itself."""
    return f"{row.factor} {level}" if row.factor == "shots" else level
