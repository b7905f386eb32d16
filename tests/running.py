"""Runs of tests: their settings, a set with pictures, and what is compared, apart from times and attempts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner, Result

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.cli import commands
from mmdyn.data import SampleSet
from mmdyn.record import Record
from mmdyn.run import SECTIONS, Execution, RunEstimate, RunRequest, estimate, evaluate
from mmdyn.run.sets import several
from mmdyn.sample import Sample
from mmdyn.work import RunFolder


def many_samples(folder: Path, count: int = 60) -> SampleSet:
    """A set of every task type, some samples with a picture and some with knowledge points."""
    data = [picture(text=str(number)) for number in range(3)]
    makers: list[Any] = [choice, multi, blank, true_false, open_ended]

    def made(n: int) -> Sample:
        more = {
            "question": f"Question {n}: " + "what follows? " * (1 + n % 7),
            "images": (image_ref(data[n % 3]),) * (n % 2),
        }
        return makers[n % 5](f"s{n}", knowledge_points=("Polygons",) * (n % 4 == 0), **more)

    return write_set(folder, map(made, range(count)), "many", images=data)


def contents(run: RunFolder | Path) -> dict[str, Record]:
    """Every record by its key, with what depends on the moment taken out."""
    opened = run if isinstance(run, RunFolder) else RunFolder(run)
    return {record.key: _timeless(record) for record in opened.records()}


def _timeless(record: Record) -> Record:
    reply = msgspec.structs.replace(record.reply, seconds=0.0, attempts=1, made=0, cached=False)
    return msgspec.structs.replace(record, reply=reply)


QUIET = Execution(quiet=True)


def grouped(**settings: Any) -> dict[str, Any]:
    """Settings by their names alone, in the groups of `evaluate` that have them; a group as it is."""
    places = {name: group for group, kind in SECTIONS.items() for name in kind.__struct_fields__}
    given = {name: settings.pop(name) for name in SECTIONS if name in settings}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        groups.setdefault(places[name], {})[name] = value
    return given | {group: SECTIONS[group](**fields) for group, fields in groups.items()}


def typed(*arguments: object) -> Result:
    """What a command line does."""
    return CliRunner().invoke(commands, [str(each) for each in arguments])


def evaluated(given: Any, model: Any, out: Path, **settings: Any) -> RunFolder:
    """`evaluate` in silence, with its settings by their names alone."""
    return evaluate(given, model, out, **grouped(**{"quiet": True} | settings))


def estimated(given: Any, model: Any, out: Path, **settings: Any) -> RunEstimate:
    """`estimate` with its settings by their names alone."""
    return estimate(RunRequest(several(given), several(model), out, **grouped(**settings)))
