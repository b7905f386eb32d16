"""How many samples a set has, and how long and of how many parts they are, by discipline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from typing import TypeAlias

from mmdyn.sample import Sample

Row: TypeAlias = dict[str, str | int | float]
ALL, NOT_GIVEN = "all", "(not given)"
ENCODING = "cl100k_base"


def set_statistics(samples: Iterable[Sample]) -> tuple[list[Row], str]:
    """Count a set by discipline: samples, languages, true and false claims, fields and subfields; and as max, min and
    mean its tokens (or characters), options, statements, and statements in the right option.

    Source: Encyclo-K, tables 1 and 2.

    Returns:
        A row for each discipline, the most frequent first, and one of all samples; and why no tokens are counted, ""
        where they are.

    >>> ones = [Sample(id=name, question="Is 2 even?", task_type="true_false", answer=True) for name in "ab"]
    >>> rows, _ = set_statistics(ones)
    >>> [rows[-1][name] for name in ("discipline", "samples", "en", "true")]
    ['all', 2, 2, 2]
    """
    unit, length, why = _length()
    groups = dict[str, list[tuple[Sample, int]]]()
    for sample in samples:
        text = "\n".join([sample.question, *(f"{option.label}. {option.text}" for option in sample.options)])
        groups.setdefault(str(sample.fields.get("discipline", NOT_GIVEN)), []).append((sample, length(text)))
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    every = [both for group in groups.values() for both in group]
    return [_counts(value, group, unit) for value, group in [*ordered, (ALL, every)]], why


def describe_statistics(rows: Sequence[Row]) -> Iterator[str]:
    """Write the rows of `set_statistics` as a table in lines of text."""
    heads = [*rows[-1]]
    cells = [[row.get(head, "-") for head in heads] for row in rows]
    lines = [heads, *([f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in line] for line in cells)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        aligned = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        yield "  ".join([line[0].ljust(widths[0]), *aligned[1:]])


def _counts(discipline: str, group: Sequence[tuple[Sample, int]], unit: str) -> Row:
    samples = [sample for sample, _ in group]
    told = Counter(str(sample.language) for sample in samples)
    told.update(str(sample.answer).lower() for sample in samples if isinstance(sample.answer, bool))
    for name in ("field", "subfield"):
        told[f"{name}s"] = len({sample.fields[name] for sample in samples if name in sample.fields})
    numbers = {unit: [size for _, size in group], "options": [len(one.options) for one in samples if one.options]}
    for name in ("statements", "combination"):
        numbers[name] = [number for one in samples if isinstance(number := one.fields.get(name), int)]
    kinds = ("en", "zh", "true", "false", "fields", "subfields")
    found: Row = {"discipline": discipline, "samples": len(samples)}
    found |= {name: told[name] for name in kinds if told[name]}
    for name, some in numbers.items():
        found |= {f"{name} max": max(some), f"{name} min": min(some), f"{name} mean": fmean(some)} if some else {}
    return found


def _length() -> tuple[str, Callable[[str], int], str]:
    """What lengths are counted in, how, and why not in tokens."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding(ENCODING)
    except (ImportError, OSError):  # the second where tiktoken has no network, and not loaded it before
        return "characters", len, f"no tokens are counted: pip install 'mmdyn[tokens]' and have it load {ENCODING} once"
    return "tokens", lambda text: len(encoding.encode_ordinary(text)), ""
