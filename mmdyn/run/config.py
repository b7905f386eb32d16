"""A run's YAML file: sets, models, the groups of `evaluate` as sections; and what a file of somebody else may not
do.

What a config that somebody else may have written does with the user's secrets: it sends no variable, no file and no
job to where the user did not say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn import plugins
from mmdyn.data import NAMED_SETS, Given, SampleSet, convert, is_set, load
from mmdyn.errors import InputError, UserError, did_you_mean
from mmdyn.models import ALLOW, PARTS, is_this_machine, open_budget, open_model, refuse_programs, without_secrets
from mmdyn.plugins import resolve
from mmdyn.run.conditions import ConditionSpec
from mmdyn.run.dry_run import RunEstimate, estimate
from mmdyn.run.evaluate import run_request
from mmdyn.run.execution import Limits
from mmdyn.run.executors import open_executor
from mmdyn.run.request import SECTIONS, Requested, RunRequest, Sections, SetRequest
from mmdyn.run.settings import ScoringConfig, needed_judges
from mmdyn.sample import from_dict
from mmdyn.scoring import Scorer
from mmdyn.tables import check_breakdown
from mmdyn.work import Ranks, RunFolder, allows_secrets


def guarded(values: dict[str, Any], written: Collection[str], file: Path) -> dict[str, Any]:
    """The values of a config whose texts that are `written` in the file send no secret; what was typed stays as it is.

    Raises InputError for a MODEL that names a variable for somebody's server, for a Ray cluster on other machines, and
    for a path that leads out of the config's folder and the one in which the command is typed, or to a hidden file in
    them. A set folder may lie anywhere.
    """
    folders = (file.resolve().parent, Path.cwd().resolve())

    def guard(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: guard(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [guard(item, key) for item in value]
        if not isinstance(value, str) or value not in written:
            return value
        for path in _paths(value, key) if key != "out" else ():
            if _is_astray(path, folders):
                raise InputError(file, None, f"{key}: {path} is outside its folder and this one, or hidden: {ALLOW}")
        for place in re.findall(r"[^\s,=]+:\d+", value) if key == "address" or value.startswith("ray,") else ():
            if not is_this_machine(f"ray://{place}"):
                raise InputError(file, None, f"the executor would hand the run to {place}: {ALLOW}")
        return without_secrets(value, file)

    return {name: guard(value, name) for name, value in values.items()}


def _paths(text: str, key: str) -> set[str]:
    """What of a text may be a path: all of it, a set's name behind `hf:`, each value of settings; a MODEL's options are
    none."""
    first, *more = PARTS.split(text.partition(":")[2] if key == "benchmark" else text)
    values = [first] if text.partition(":")[0].strip() in plugins.names("models") else [first, *more]
    return {text, *((value.partition("=")[2] or value).strip() for value in values)}


def _is_astray(name: str, folders: Sequence[Path]) -> bool:
    path = os.path.expanduser(name)  # noqa: PTH111 - which takes any text
    if not os.path.exists(path) or is_set(Path(path)):  # noqa: PTH110
        return False
    real = Path(path).resolve()
    inside = [real.relative_to(folder).parts for folder in folders if real.is_relative_to(folder)]
    return all(any(part.startswith(".") for part in parts) for parts in inside)


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """A set that is made from a benchmark's own files on the way: its loader's name and where the files lie; or the
    name of a set (`hf:NAME` with a `map` of its columns, `vlmeval:NAME`), which needs no path.

    With `skip_bad` bad rows are listed in the set's rejected.jsonl instead of ending the run. Without a benchmark
    `path` is a set folder or a file. conditions, scoring, limits: what of these sections (OWN) is otherwise than the
    run's for this set and its variants.
    """

    benchmark: str = ""
    path: str = ""
    map: dict[str, str] = {}
    name: str | None = None
    skip_bad: bool = False
    conditions: dict[str, Any] = {}
    scoring: dict[str, Any] = {}
    limits: dict[str, Any] = {}


OWN = {"conditions": ("styles", "shots", "prompt"), "scoring": ScoringConfig.__struct_fields__, "limits": ("n",)}
"""What of a run's sections a set may have of its own."""


class Config(Sections, frozen=True, forbid_unknown_fields=True):
    """A RunRequest as it is written; paths are relative to the folder in which the command is typed. `by`: fields, for
    the report."""

    sets: tuple[str | Source, ...]
    models: tuple[str, ...]
    out: str
    by: tuple[str, ...] = ()

    def request(self, sets: Sequence[Requested]) -> RunRequest:
        """What is asked for, of sets that lie where they are read."""
        return RunRequest(
            tuple(sets), self.models, Path(self.out), conditions=self.conditions, scoring=self.scoring,
            knowledge=self.knowledge, limits=self.limits, execution=self.execution,
        )  # fmt: skip


def read_config(
    file: Path, overrides: Iterable[str] = (), *, allow_programs: bool = False, allow_secrets: bool = False
) -> Config:
    """Read a YAML file, with `key=value` overrides on top (`limits.n=20`; values are YAML too).

    Raises InputError for a file that cannot be read, or that names programs or commands unless `allow_programs`, or
    that would send secrets unless `allow_secrets` or the user's settings say so; UserError for an override that is
    none.
    """
    values = _mapping(file)
    written = set(_texts(values))
    for override in overrides:
        _override(values, override)
    if not allow_programs:
        refuse_programs([text for text in _texts(values) if text in written], file)
    if not (allow_secrets or allows_secrets(file)):
        values = guarded(values, written, file)
    for section, kind in SECTIONS.items():
        if beside := next((key for key in kind.__struct_fields__ if key in values), ""):
            raise InputError(file, None, f"the key {beside!r} belongs to a section: write {section}.{beside}")
    try:
        config = from_dict(values, Config)
    except ValueError as error:
        raise InputError(file, None, str(error)) from None
    config.scoring.check()
    for number, given in enumerate(config.sets):
        if isinstance(given, Source):
            try:
                (_request(config, given, given.path).scoring or config.scoring).check()
            except ValueError as error:
                raise InputError(file, None, f"sets.{number}: {error}") from None
    setup = getattr(config.execution.cluster, "setup", "")
    if setup and not allow_programs and any(setup in text for text in written):
        raise InputError(file, None, "the executor's setup runs commands: read it, then give --allow-programs")
    return config


def run_config(config: Config) -> RunFolder:
    """Carry out a config, whose settings are checked before a set is imported. Raises what `evaluate` raises."""
    _check(config)
    return run_request(config.request(_place_sets(config, Path(config.out))))


def estimate_config(config: Config) -> RunEstimate:
    """Count what a config would ask; its sets are imported for that, and thrown away. Raises UserError."""
    with TemporaryDirectory(prefix="mmdyn-") as scratch:
        return estimate(config.request(_place_sets(config, Path(scratch))))


def _check(config: Config) -> None:
    """Raise UserError for what can be told before a set is imported."""
    for given in config.sets:
        if isinstance(given, Source) and given.benchmark and not given.benchmark.startswith(NAMED_SETS):
            resolve("benchmarks", given.benchmark)
    open_executor(config.execution)
    open_budget(config.limits.prices, config.limits.max_cost, config.limits.max_requests)
    paths = [getattr(given, "path", "") or given for given in config.sets]
    sets = [_requested(config, given, path) for given, path in zip(config.sets, paths, strict=True)]
    job, own = config.request(sets).jobs()
    for text in (*config.models, *(judge for one in own for judge in (one or job).scoring.judges)):
        open_model(text)
    for one in own:
        Scorer((one or job).scoring.policy)


def _requested(config: Config, given: str | Source, placed: Any) -> Requested:
    """A set where it lies, with what is its own. Raises ValueError."""
    return _request(config, given, placed) if isinstance(given, Source) else placed


def _request(config: Config, given: Source, placed: Given) -> SetRequest:
    for section, names in OWN.items():
        for name in getattr(given, section):
            if name not in names:
                hint = did_you_mean(name, names)
                raise ValueError(f"{section} of a set has no key {name!r}{hint}: {', '.join(names)} are")
    spec = from_dict(msgspec.to_builtins(config.conditions) | given.conditions, ConditionSpec)
    limits = from_dict(msgspec.to_builtins(config.limits) | given.limits, Limits)
    scoring = from_dict(msgspec.to_builtins(config.scoring) | given.scoring, ScoringConfig)
    if "judges" not in given.scoring:
        scoring = needed_judges(scoring)
    return SetRequest(placed, spec.styles, spec.shots, spec.prompt, scoring, limits.n)


def _override(values: dict[str, Any], override: str) -> None:
    """Set what `key=value` or `section.key=value` says."""
    path, equals, value = override.partition("=")
    if not equals:
        raise UserError(f"{override!r} is not key=value, such as limits.n=20 or models=[baseline:lexical]")
    *sections, key = path.split(".")
    inside: Any = values
    for section in sections:
        place = _place_in(inside, section, override)
        inside = inside.setdefault(place, {}) if isinstance(inside, dict) else inside[place]
    from mmdyn.data import read_yaml_text

    try:
        inside[_place_in(inside, key, override)] = read_yaml_text(value, override)
    except InputError:
        raise UserError(f"the value of {override[:80]!r} is not YAML: put it in quotes") from None


def _place_in(inside: Any, key: str, override: str) -> str | int:
    """A key of a mapping, or the number of an entry of a list, from 0."""
    if isinstance(inside, list):
        if not key.isdecimal() or int(key) >= len(inside):
            raise UserError(f"{override!r}: {key!r} is no entry of the list: give a number from 0 to {len(inside) - 1}")
        return int(key)
    if not isinstance(inside, dict):
        raise UserError(
            f"{override!r}: {override.partition(f'.{key}')[0]} is no section of keys in the file: give it as a whole"
        )
    return key


def _texts(value: object) -> Iterator[str]:
    """Every text in a value of YAML, however deep."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _place_sets(config: Config, out: Path) -> list[Requested]:
    """The sets where they lie. Raises UserError for a name in `by` that none of their questions has."""
    placed = [_requested(config, given, _place(given, out)) for given in config.sets]
    if config.by:
        check_breakdown(
            config.by,
            {name for one in config.request(placed).plain_sets for sample in load(one) for name in sample.fields},
        )
    return placed


def _place(given: str | Source, out: Path) -> str | Path:
    if isinstance(given, str):
        return given
    if not given.benchmark:
        return given.path
    name = given.name or re.split("[:/]", given.benchmark.partition(",")[0])[-1]
    folder = out / "sets" / re.sub(r"[^\w.-]", "_", name)
    path = Path(given.path) if given.path else None
    ranks = Ranks.of_environment()
    with TemporaryDirectory(prefix="mmdyn-") as scratch:  # other ranks than the first read it, too, to know its digest
        into = Path(scratch) / folder.name if ranks.number else folder
        skip_bad, columns = given.skip_bad, given.map
        made = convert(path, into, benchmark=given.benchmark, columns=columns, name=name, skip_bad=skip_bad)
        digest = made.manifest.digest
    if ranks.number:
        ranks.wait_for(0, out / "records", lambda: is_set(folder) and SampleSet(folder).manifest.digest == digest)
    return folder


def _mapping(file: Path) -> dict[str, Any]:
    from mmdyn.data import read_yaml

    values = read_yaml(file, "give a YAML file")
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise InputError(file, None, f"must be a mapping with the keys {', '.join(Config.__struct_fields__)}")
    return dict(values)
