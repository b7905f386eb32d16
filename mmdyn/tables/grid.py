"""Rows as lines and columns of words, for terminal, Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mmdyn.tables.blocks import MACRO, MOSTLY_UNREAD, SHARE_OF_DROP, TOTAL, WAITING, Row, TablePart
from mmdyn.tables.factors import FACTORS, FRONT, chain_name, condition_name, contrast_name, is_pooled, plain_model
from mmdyn.tables.pairing import RAW, READ
from mmdyn.tables.run_state import FOLLOWED

WIDE = 0.05
"""A share with a wider half-interval is written in whole points."""


def digits_of(ends: Sequence[float] | None) -> int:
    """The digits after the point of a share in percent: 1, or 0 where half of its interval is above WIDE."""
    return 0 if ends is not None and (ends[1] - ends[0]) / 2 > WIDE else 1


def points(share: float, digits: int = 1, sign: str = "") -> str:
    """A share, or a difference of two, in percent. What rounds to zero has no minus."""
    return f"{100 * share:{sign}z.{digits}f}"


def percent(share: float | None, ends: Sequence[float] | None, sign: str = "") -> str:
    """Write a share in percent, with its interval.

    Args:
        share: A share; None where only a range is known.
        ends: The ends of its interval, or of the range; None where there is none.
        sign: `+` writes a sign before positive numbers.

    >>> percent(0.5, (0.48, 0.52)), percent(-0.1, (-0.3, 0.1), "+"), percent(None, None)
    ('50.0 [48.0, 52.0]', '-10 [-30, +10]', '-')
    """
    digits = digits_of(ends)
    low, high = (points(end, digits, "" if share is None else sign) for end in ends) if ends else ("", "")
    if share is None:
        return f"{low} to {high}" if ends else "-"
    return points(share, digits, sign) + (f" [{low}, {high}]" if ends else "")


def p_value(p: float | None) -> str:
    """Write a p-value; a dash for None.

    >>> p_value(0.00001), p_value(0.01234), p_value(0.5)
    ('<0.0001', '0.0123', '0.50')
    """
    if p is None:
        return "-"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


COUNTS = {
    "truncated": "cut off",
    "unparsed": "unparsed",
    "refused": "refused",
    "failed": "failed",
    "unscored": "unscored",
    "needs_judge": "needs a judge",
    "left_out": "left out",
    "not_applicable": "not applicable",
    "rejected": "refused by judge",
    "doubtful": "doubtful, not judged",
    "variants_left_out": "variants failed",
}
OF_SCORES = ("truncated", "unparsed", "refused")
OF_CONTRASTS = ("not_applicable", "rejected", "doubtful", "variants_left_out")
"""Counts that are shown only for scores; only for contrasts and paired tables."""

HEADS = {
    **{"corrected": "corrected for chance", "unread": "not read", "difference": "change", "raw difference": "raw"},
    **{"unread a": "a unread", "unread b": "b unread"},
    **{name: name.replace("_", " ") for name in FOLLOWED},
}
"""What quantities of scores and contrasts are called."""

COUNTED = {
    "errorkinds": "wrong answers",
    "strengths": "variants",
    "meaningjudges": "labelled pairs, of recall where that is told",
}
"""What n is, by kind of table, where it is not questions."""

SHARED = (*FRONT, "scorer", "correction")
"""What is said in the title where all lines of conditions have it in common."""

OF_CONDITIONS = ("scores", "contrasts", "flips")
"""Tables above which is said what run, model and set all their rows have in common."""

SIDES, FIRST = ("a", "b"), ("difference", "raw difference")
BARE = (*SIDES, RAW)
"""Numbers of contrasts that stand without an interval."""

SIGNED = ("difference", RAW, READ, "slope", "shapley", "whole", "interaction", "log odds", "elo")
SHOWN = 3

UNREAD_SCORES = "no interval or p allows for a judge of replies that were not read; with it, scores are at most"
UNREAD_MARK = "?"
"""What stands behind a change that is mostly unread."""

OF_PAIRS = "both sides, and their change, are scores {} of the n questions that both have"
OF_RAW = "raw: the change of the scores as they were given"
OF_BOTH = "needs a judge: answers, unread ones among them, those of both sides together"
"""What numbers of contrasts are of, and so why they are not those of the table of scores."""

OF_ONE = (
    f"{TOTAL}: one chain counts; chains that lack an operator of the set, change nothing, or have few questions or no"
    " scores do not"
)
"""What is over all chains where only one is a part of it."""

UNITS = "in percent, with 95 % intervals"
BEYOND = (
    f"{SHARE_OF_DROP}: they add up to 100; an operator that acts against the whole change has less than 0, so another"
    " may have more than 100"
)
BEST = "best and second best are marked where a paired test tells them apart from the next (Holm, 5 %)"


class Word(NamedTuple):
    """A cell's text, and `best`, `second` or nothing."""

    text: str
    mark: str = ""


class Grid(NamedTuple):
    """A table of words: the first `labels` columns are labels, and every line has a cell for each head."""

    title: str
    labels: int
    heads: list[str]
    lines: list[list[Word]]
    notes: list[str]


def grid_of(part: TablePart) -> Grid:
    """Arrange the rows of a part: its values side by side, by the factor `across` or by quantity."""
    figure = () if part.across else ("figure",)
    named = [(_labels(part, row.factors, part.across) | dict.fromkeys(figure, row.quantity), row) for row in part.rows]
    labels = list(dict.fromkeys(name for label, _ in named for name in label))
    title, shared = part.title, [name for name in SHARED if len({label.get(name) for label, _ in named} - {None}) == 1]
    shared = [name for name in shared if all(name in label for label, _ in named)]
    if part.kind in OF_CONDITIONS or {"condition", "contrast"} & {*labels}:
        title += f" ({', '.join(named[0][0][name] for name in shared)})" * bool(shared)
        labels = [name for name in labels if name not in shared]
    lines = dict[tuple[str, ...], dict[str, Row]]()
    for label, row in named:
        across = row.factors.get(part.across, row.quantity if part.across else "value")
        lines.setdefault(tuple(label.get(name, "") for name in labels), {})[across] = row
    columns = [] if part.kind == "flips" else [*_values(part, lines), *_counted(part, [*lines.values()])]
    words = [[*map(Word, key), *(cells[place] for _, cells in columns)] for place, key in enumerate(lines)]
    heads = [*labels, *(head for head, _ in columns)]
    return Grid(title, len(labels), heads, words, [*part.notes, *_notes(part)])


def _labels(part: TablePart, factors: Mapping[str, str], across: str = "") -> dict[str, str]:
    """What a row is called: the parts of a condition, or of a contrast, are one word."""
    found = {name: value for name, value in factors.items() if name != across}
    if part.kind == "flips":
        whole = {"chain": chain_name(factors)}
    elif {"factor", *SIDES} <= found.keys():
        whole = {"contrast": contrast_name(factors)}
    elif {"variant", "context", "style"} <= found.keys():
        whole = {"condition": condition_name(factors)}
    else:
        return found
    front = {name: found[name] for name in FRONT if name in found}
    return front | whole | {n: v for n, v in found.items() if n not in (*FRONT, "factor", *SIDES, *FACTORS)}


def _values(part: TablePart, lines: Mapping[tuple[str, ...], Mapping[str, Row]]) -> Iterator[tuple[str, list[Word]]]:
    """The columns of numbers, each with the paper's beside it where it has any."""
    there = dict.fromkeys(name for line in lines.values() for name in line)
    known = [name for name in part.columns or FIRST if name in there]
    hidden = () if part.kind != "contrasts" else (READ,)
    for name in [*known, *(name for name in there if name not in known and name not in hidden)]:
        rows = [line.get(name) for line in lines.values()]
        head = HEADS.get(name, name) if part.kind in ("scores", "contrasts") else name
        if part.kind == "contrasts" and name in BARE:
            yield head, [_bare(row, line.get("difference")) for row, line in zip(rows, lines.values(), strict=True)]
        else:
            yield head, [_word(row) for row in rows]
        if papers := {row.paper_model: row for row in rows if row and row.paper is not None}:
            own = all(
                plain_model(name) in ("", plain_model(row.factors.get("model", ""))) for name, row in papers.items()
            )
            shown = [Word(number(row.paper, row.unit, sign=_is_signed(row)) if row else "-") for row in rows]
            yield ("paper" if own else f"paper: {', '.join(papers)}"), shown


def _counted(part: TablePart, lines: Sequence[Mapping[str, Row]]) -> Iterator[tuple[str, list[Word]]]:
    """The columns of counts and p; those without any are left out."""
    every = [[*line.values()] for line in lines]
    cells = {"n": [_asked(part, line) for line in lines]}
    cells["p (Holm)"] = [
        next((p_value(row.p_adjusted) for row in rows if row.p_adjusted is not None), "-") for rows in every
    ]
    hidden = {*([] if part.kind == "scores" else OF_SCORES)}
    hidden |= {*([] if part.kind in ("contrasts", "paired") else OF_CONTRASTS)}
    for name, head in COUNTS.items():
        if name not in hidden:
            cells[head] = [str(_count(part, line, name)) for line in lines]
    yield from ((head, [*map(Word, words)]) for head, words in cells.items() if {*words} - {"0", "-"})


def _asked(part: TablePart, line: Mapping[str, Row]) -> str:
    """The n of a line's leading number; across a factor the total's n, or from the smallest n to the largest."""
    if part.across in ("", "quantity"):
        return f"{_leading(line).n:,}"
    counts = [line[TOTAL].n] if TOTAL in line else sorted(row.n for row in line.values())
    return "\N{EN DASH}".join(dict.fromkeys(f"{count:,}" for count in (counts[0], counts[-1])))


def _leading(line: Mapping[str, Row]) -> Row:
    """A line's difference, or its first quantity."""
    return line.get("difference") or next(iter(line.values()))


def _count(part: TablePart, line: Mapping[str, Row], name: str) -> int:
    """A count of a line's leading number; over the values of a factor that of their total, or their sum."""
    if part.across in ("", "quantity"):
        row = _leading(line)
        told = row.not_applicable + row.rejected + row.doubtful if name == "variants_left_out" else 0
        return max(int(getattr(row, name)) - told, 0)
    rows = [line[TOTAL]] if TOTAL in line else [row for value, row in line.items() if value != MACRO]
    return sum(int(getattr(row, name)) for row in rows)


def number(value: float | None, unit: str, ends: Sequence[Any] | None = None, *, sign: bool = False) -> str:
    """A number with its interval, of which the upper end may be open, or the ends between which it lies where there is
    no number; in percent where it is a share."""
    if unit in ("share", "points"):
        return percent(value, ends, "+" if sign else "")
    if value is None and not ends:
        return "-"
    if unit == "rank" and ends:
        return "\N{EN DASH}".join(dict.fromkeys(f"{end:.0f}" for end in ends))
    units = {"count": ",.0f", "tokens": ",.1f", "characters": ",.1f", "cost": ".6g", "elo": ",.0f"}
    form = units.get(unit, ".2f")
    form = f"{'+' if sign else ''}z{form}"
    shown = ["\N{EN DASH}" if one is None else f"{one:{form}}" for one in (value, *(ends or ()))]
    if value is None and ends:
        return f"over {shown[1]}" if ends[1] is None else f"{shown[1]} to {shown[2]}"
    return shown[0] + (f" [{', '.join(shown[1:])}]" if ends else "")


def _is_signed(row: Row) -> bool:
    return row.quantity in SIGNED or row.quantity.startswith("slope per ")


def _word(row: Row | None) -> Word:
    if row is None:
        return Word("-")
    shown = number(row.value, row.unit, row.ci95, sign=_is_signed(row))
    return Word(shown + UNREAD_MARK * (row.over_read == "mostly unread"), row.mark)


def _bare(row: Row | None, difference: Row | None) -> Word:
    """A number of a contrast without its interval, in as many digits as that or the difference's deserves."""
    if row is None or row.value is None:
        return Word("-")
    ends = row.ci95 or (difference.ci95 if difference else None)
    return Word(points(row.value, digits_of(ends), "+" if _is_signed(row) else ""), row.mark)


def _notes(part: TablePart) -> Iterator[str]:
    """What numbers mean, why some are missing, and how intervals are made."""
    if part.kind != "flips" and {row.unit for row in part.rows} & {"share", "points"}:
        yield f"{UNITS}; n counts {COUNTED.get(part.kind, 'questions')}"
    scales = {row.scale for row in part.rows if row.quantity == "difference" and row.scale}
    if "corrected" in scales or (scales and part.kind == "contrasts"):
        yield OF_PAIRS.format("corrected for chance" if "corrected" in scales else "not corrected for chance")
        yield from [OF_RAW] * any(row.quantity == RAW for row in part.rows)
        yield from [OF_BOTH] * any(row.needs_judge for row in part.rows)
    if any(row.judged for row in part.rows):
        yield WAITING
    if gains := sorted((row for row in part.rows if row.gain), key=lambda row: -row.gain):
        told = [f"{', '.join(_labels(part, row.factors).values())} {percent(row.at_most, None)}" for row in gains]
        yield f"{UNREAD_SCORES}: {'; '.join(told[:SHOWN])}" + f" and {len(told) - SHOWN} more" * (len(told) > SHOWN)
    pooled = (row for row in part.rows if is_pooled(row.factors) and row.factors.get("factor", "variant") == "variant")
    chains = {row.chains: row.quantity in ("score", "difference") for row in pooled if row.value is not None}
    if several := sorted(count for count in chains if count > 1):
        yield f"{TOTAL}: mean over {' or '.join(map(str, several))} chains"
    elif chains.get(1) and part.kind in ("scores", "contrasts"):
        yield OF_ONE
    if any(row.quantity == SHARE_OF_DROP and not 0 <= (row.value or 0) <= 1 for row in part.rows):
        yield BEYOND
    if any(row.mark for row in part.rows):
        yield BEST
    said = dict[str, dict[str, None]]()
    for row in part.rows:
        where = ", ".join(_labels(part, row.factors).values()) or row.quantity
        differs = f"also differs in: {', '.join(row.differs)}" if row.differs else ""
        unread = f"({UNREAD_MARK}) {MOSTLY_UNREAD}" * (row.over_read == "mostly unread")
        for note in filter(None, (row.note, differs, unread)):
            said.setdefault(note, {})[where] = None
    for note, named in said.items():
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        yield f"{'; '.join([*named][:SHOWN])}{more}: {note}"
    if methods := dict.fromkeys(method for row in part.rows for method in row.method.split("; ") if method):
        yield f"methods: {'; '.join(methods)}"
