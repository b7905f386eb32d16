"""The options of `mmdyn report` that ask for tables, and the declarations that they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from mmdyn.sample import split_field

if TYPE_CHECKING:
    from mmdyn.table import Part

KINDS = {
    "pivot": ("FACTOR,…", "A measure by one to three factors, the last as columns."),
    "paired": ("FACTOR=A:B", "b - a over the same questions."),
    "gap": ("FACTOR=A:B", "b - a of two groups of different questions; A and B may be first and last."),
    "trend": ("FACTOR", "The slope along a factor whose values are numbers."),
    "spread": ("FACTOR", "How far a measure varies over a factor's values, and whether all are equal."),
    "ranking": ("FACTOR", "How steady the order of models is over a factor's values."),
    "leaderboard": ("FACTOR", "Models by their mean over a factor's values, such as set; ties share a rank."),
    "table": ("NAME", "A table of a paper, such as those that `mmdyn list tables` names."),
}
MORE = {
    "measure": ("NAME", "What tables measure. [default: score]"),
    "where": ("FACTOR=X,…", "Only records with these values. Quote a name that holds an equals sign: '\"a=b\"=X'."),
    "macro": ("FACTOR", "With --pivot: a macro average over a factor's values."),
    "group": ("NAME=X,…", "With --leaderboard: a mean over these columns, of which X:2 weighs twice as much."),
    "pair": ("parent|group", "With --paired: what makes a pair. [default: parent]"),
    "models": ("FILE", "CSV of facts about models: a column model, and factors such as family, size and kind."),
    "paper": ("MODEL", "With --table: the paper's model to show beside yours."),
}
"""What goes with tables."""

ANALYSES = {
    "attribute": "For factorial sets: each operator's share of the drop (Shapley values), and that of pairs.",
    "gee": "With --attribute: a clustered logistic regression (GEE) as a second opinion (pip install 'mmdyn[why]').",
    "noise": "Flips by chains beyond those between repeated replies (eval --epochs); scores of k draws and k repeats.",
    "ladder": "What wrong answers lack (seeing, knowing or reasoning), by the contexts that mend them.",
    "curves": "For operators at several severities: the score by severity, and where half of it is lost.",
    "repeats": "pass@k, majority@k, worst@k and consistency of repeats.",
    "k": "With --repeats: values of k. [default: 1 and the number of tries]",
    "auc": "How well the options' likelihoods tell right from wrong (--style likelihood).",
    "correct": (
        "Adjust scores for the scorer's errors: as `mmdyn grade --calibrate` measured them (rogan-gladen), or by"
        " people's marks of some answers (ppi++)."
    ),
    "labels": "With ppi++: JSONL of random answers: key (or sample and mode) and human, a mark from 0 to 1.",
}
VALUES: dict[str, dict[str, Any]] = {
    "k": {"metavar": "K,…", "default": ""},
    "correct": {"type": click.Choice(["rogan-gladen", "ppi++"])},
    "labels": {"metavar": "FILE"},
}
"""Analyses that are no flags."""

ONCE = ("measure", "pair", "models", "paper")
NEEDS = {
    **{"macro": ("pivot",), "pair": ("paired",), "group": ("leaderboard",), "paper": ("table",), "gee": ("attribute",)},
    "k": ("repeats",),
    "measure": tuple(kind for kind in KINDS if kind != "table"),
    "models": (*KINDS, "memory"),
}
"""The options that an option goes with."""

BY = ("paired", "gap", "trend", "spread", "attribute", "noise", "ladder", "curves")
"""The options whose rows --by names."""


def table_groups() -> dict[str, list[click.Option]]:
    """The options under their headings."""
    tables = [
        click.Option([f"--{name}"], multiple=True, metavar=metavar, help=text)
        for name, (metavar, text) in (KINDS | MORE).items()
    ]
    analyses = [
        click.Option([f"--{name}"], help=text, **VALUES.get(name, {"is_flag": True})) for name, text in ANALYSES.items()
    ]
    return {"Tables": tables, "Analyses": analyses}


def check(given: Mapping[str, Any], by: list[str]) -> None:
    """Raise UsageError for options that do not go together."""
    asked = [name for name in (*KINDS, *ANALYSES, "flips") if given[name]]
    if given["where"] and not asked:
        raise click.UsageError("--where goes with a table or --flips: add one, such as --pivot FACTOR")
    if by and asked and not {*BY} & {*asked}:
        raise click.UsageError(f"--by goes with --{', --'.join(BY)}, or with no table: leave it out")
    if _one(given, "pair", "parent") not in ("parent", "group"):
        raise click.UsageError("--pair is parent or group: give one of these")
    for name in ONCE:
        if len(given[name]) > 1:
            raise click.UsageError(f"--{name} is given {len(given[name])} times: give it once")
    for name, kinds in NEEDS.items():
        if given[name] and not any(given[kind] for kind in kinds):
            raise click.UsageError(f"--{name} goes with --{' or --'.join(kinds)}: give one, or leave --{name} out")
    if bool(given["labels"]) != (given["correct"] == "ppi++"):
        raise click.UsageError("--labels FILE and --correct ppi++ go together: give both or none")


def parts_of(given: Mapping[str, Any], by: list[str], paper_parts: Callable[[str], list[Part]]) -> list[Part]:
    """The declarations that were asked for, in the order of the help; none where nothing was.

    paper_parts: the parts of a paper's table.
    """
    from mmdyn import table as declared

    where, measure = where_of(given), _one(given, "measure", "score")
    parts = [part for name in given["table"] for part in paper_parts(name)]  # their places are those of the paper's
    for text in given["pivot"]:
        factors = tuple(_names(text))
        if not 1 <= len(factors) <= 3:
            raise click.UsageError(f"--pivot {text!r} names {len(factors)} factors: name one to three")
        parts.append(declared.Pivot(by=factors, macro=given["macro"], measure=measure, where=where))
    for text in given["paired"]:
        factor, a, b = _ends(text)
        pair = _one(given, "pair", "parent")
        parts.append(
            declared.Paired(factor=factor, a=a, b=b, by=_rows(by, factor), pair=pair, measure=measure, where=where)
        )
    for text in given["gap"]:
        factor, a, b = _ends(text)
        parts.append(declared.Gap(factor=factor, a=a, b=b, by=_rows(by, factor), measure=measure, where=where))
    for name in given["trend"]:
        parts.append(declared.Trend(factor=name, by=_rows(by, name), measure=measure, where=where))
    for name in given["spread"]:
        parts.append(declared.Spread(factor=name, by=_rows(by, name), measure=measure, where=where))
    for name in given["ranking"]:
        parts.append(declared.Ranking(over=name, measure=measure, where=where))
    groups = _by_name(given, "group")
    for name in given["leaderboard"]:
        parts.append(declared.Leaderboard(columns=name, groups=groups, measure=measure, where=where))
    rows = _rows(by, "")
    analyses: dict[str, Part] = {
        "attribute": declared.Attribution(by=rows, where=where, gee=given["gee"]),
        "noise": declared.Noise(by=rows, where=where),
        "ladder": declared.Ladder(by=rows, where=where),
        "curves": declared.Curves(by=rows, where=where),
        "repeats": declared.Repeats(k=_tries(given["k"]), where=where),
        "auc": declared.Auc(where=where),
        "correct": declared.Corrected(method=given["correct"] or "", labels=given["labels"] or "", where=where),
        "flips": declared.Flips(where=where),
    }
    return parts + [part for name, part in analyses.items() if given[name]]


def where_of(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The values that records may have, by factor. Raises UsageError."""
    return _by_name(given, "where")


def _rows(by: list[str], factor: str) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(("model", *by)) if name != factor)


def _tries(text: str) -> tuple[int, ...]:
    """The numbers of tries; empty for those that a report takes by itself."""
    ks = _names(text)
    if wrong := [k for k in ks if not re.fullmatch(r"[1-9]\d{0,5}", k)]:
        raise click.UsageError(f"--k {wrong[0]} is no number of tries: give whole numbers from 1, such as 1,4")
    return tuple(sorted({int(k) for k in ks}))


def _one(given: Mapping[str, Any], name: str, default: str) -> str:
    return str(given[name][-1]) if given[name] else default


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _by_name(given: Mapping[str, Any], option: str) -> dict[str, tuple[str, ...]]:
    """NAME=VALUE,… options by their names. Raises UsageError for one that is named twice."""
    found = dict(map(_values, given[option]))
    if len(found) < len(given[option]):
        raise click.UsageError(f"--{option} names one thing twice: write all its values at once, NAME=X,Y")
    return found


def _values(text: str) -> tuple[str, tuple[str, ...]]:
    name, values = split_field(text)
    if not name or not _names(values):
        raise click.UsageError(f"{text!r} is no NAME=VALUE,…: write it like difficulty=easy,hard")
    return name, tuple(_names(values))


def _ends(text: str) -> tuple[str, str, str]:
    """A factor and two of its values. One that holds a colon, as a model's name does, is quoted."""
    value, (factor, both) = r'"([^"]+)"|([^:"]+)', split_field(text)
    if factor and (found := re.fullmatch(rf"\s*(?:{value})\s*:\s*(?:{value})\s*", both)):
        a, b = (value.strip() for value in found.groups() if value)
        return factor, a, b
    raise click.UsageError(
        f"{text!r} is no FACTOR=A:B: write it like difficulty=easy:hard; quote values that hold a colon:"
        ' model="openai:a":"openai:b"'
    )
