"""Composes a set for each combination of some settings, in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from msgspec.structs import fields, replace

from mmdyn.build.bank import read_banks
from mmdyn.build.compose import (
    ComposeSpec,
    Overlaps,
    compose,
    draw_key,
    draw_questions,
    fitting,
    read_range,
    read_sizes,
    secret_of,
)
from mmdyn.build.uses import Uses
from mmdyn.data import SampleSet
from mmdyn.errors import UserError, did_you_mean

SWEPT = ("questions", "statements", "options", "combination", "seed")


def compose_sweep(
    banks: str | Path | Sequence[str | Path],
    out: str | Path,
    spec: ComposeSpec,
    sweep: Sequence[str] = (),
    *,
    name: str | None = None,
    avoid: Sequence[str | Path] = (),
    secret: str | Path | None = None,
    publish: str | Path | None = None,
    quiet: bool = True,
) -> Iterator[SampleSet]:
    """Compose a set for each combination of values, in `out/NAME-VALUE`; without `sweep` one set, in `out`.

    The sets of a sweep are one collection: what was used in one counts in the next.

    Args:
        banks: As `compose` takes them.
        spec: The settings that all sets share.
        sweep: `name=range`, such as options=4-10.
        name: The set's name, or the beginning of the sets' names.
        avoid, secret: Composed sets and a secret, as `compose` takes them.
        publish: A folder for the questions without their answers, with a folder for each set of a sweep.

    Raises:
        InputError, UserError: As `compose` does; where the bank is too small for any of the sets, nothing is written.
            Also for a setting that cannot be swept, or is swept twice.
    """
    axes = dict[str, range]()
    for text in sweep:
        axis, swept = _axis(text)
        if axis in axes:
            raise UserError(f"--sweep {text}: {axis} is swept twice: give one range")
        axes[axis] = swept
    numbers = {field.name for field in fields(ComposeSpec) if field.type is int}
    specs = dict[str, ComposeSpec]()
    for values in product(*axes.values()):
        given = dict(zip(axes, values, strict=True))
        ending = "-".join(f"{axis}-{value}" for axis, value in given.items())
        specs[ending] = replace(
            spec, **{axis: value if axis in numbers else str(value) for axis, value in given.items()}
        )
    uses, place = None, Path(secret) if secret else None
    if axes:
        groups, others = read_banks(banks, spec.share_by), [SampleSet(other) for other in avoid]
        for one in specs.values():
            fitting(groups, one, read_sizes(one))
        uses, place = Uses(groups, spec.max_uses), place or secret_of(Path(out))
        for origins in Overlaps(others).origins:
            uses.add_origins(origins)
        drawn = uses.copy()
        for one in specs.values():  # so that nothing is written where the bank bears fewer
            sizes, overlaps = read_sizes(one), Overlaps(others)
            fit = fitting(groups, one, sizes)
            draw_questions(fit, one, sizes, overlaps, drawn, draw_key(place, fit, one, overlaps))
    for ending, one in specs.items():
        folder = Path(out) / ending if ending else Path(out)
        begins = name or (Path(out).resolve().name if ending else None)
        yield compose(
            banks,
            folder,
            one,
            name=f"{begins}-{ending}" if ending else begins,
            avoid=avoid,
            secret=place,
            publish=publish and Path(publish) / ending,
            uses=uses,
            quiet=quiet,
        )


def _axis(text: str) -> tuple[str, range]:
    axis, _, values = text.partition("=")
    if axis not in SWEPT:
        raise UserError(f"--sweep {text}: {axis!r} is not swept{did_you_mean(axis, SWEPT)}: {', '.join(SWEPT)} are")
    return axis, read_range(values, f"--sweep {axis}", least=int(axis != "seed"))
