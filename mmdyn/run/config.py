"""A run's YAML file: the arguments of `evaluate`, by name, and what its report is broken down by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import fields

from mmdyn.data import convert
from mmdyn.errors import InputError, UserError
from mmdyn.run.evaluate import evaluate
from mmdyn.run.knowledge_config import KnowledgeConfig
from mmdyn.sample import from_dict
from mmdyn.work import Ranks, RunFolder


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """A set that is made from a benchmark's own files on the way: its loader's name and where the files lie.

    With `skip_bad` bad rows are listed in the set's rejected.jsonl instead of ending the run.
    """

    benchmark: str
    path: str
    name: str | None = None
    skip_bad: bool = False


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `evaluate`; paths are relative to the folder in which the command is typed. `by`: fields, for the
    report."""

    sets: tuple[str | Source, ...]
    models: tuple[str, ...]
    out: str
    modes: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ("direct",)
    knowledge: tuple[str, ...] = ()
    elaborate: tuple[str, ...] = ()
    library: KnowledgeConfig = KnowledgeConfig()
    policy: str = "mdk12"
    judges: tuple[str, ...] = ()
    judge_mode: str = "unsure"
    votes: int = 1
    rubric: str = "auto"
    judge_pictures: bool = False
    else_rules: bool = False
    prompt: str | None = None
    ops: str = ""
    draws: int = 1
    seed: int = 0
    rewriter: str = "embedded"
    style_backend: str = "embedded"
    workers: int = 1
    epochs: int = 1
    limit: int | None = None
    concurrency: int = 32
    use_cache: bool = True
    prices: str | None = None
    max_cost: float | None = None
    max_requests: int | None = None
    executor: str = "local"
    address: str = ""
    replicas: int = 1
    gpus: float | None = None
    partition: str = "cost"
    by: tuple[str, ...] = ()


OF_JUDGES = ("judge_mode", "votes", "rubric", "judge_pictures", "else_rules")
"""Keys that mean nothing without judges."""


def read_config(file: Path, overrides: Iterable[str] = ()) -> Config:
    """Read a YAML file, with `key=value` overrides on top (values are YAML too).

    Raises InputError for a file that cannot be read, UserError for an override that is none.
    """
    values = _mapping(file)
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise UserError(f"{override!r} is not key=value, such as limit=20 or models=[baseline:lexical]")
        try:
            values[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise UserError(f"the value of {override!r} is not YAML: put it in quotes") from None
    try:
        config = from_dict(values, Config)
    except ValueError as error:
        raise InputError(file, None, str(error)) from None
    if not config.judges:
        defaults = {field.name: field.default for field in fields(Config)}
        if idle := [name for name in OF_JUDGES if getattr(config, name) != defaults[name]]:
            raise InputError(
                file, None, f"the key {idle[0]!r} says how judges score: name some under judges, or take it out"
            )
    return config


def run_config(config: Config, *, quiet: bool = False) -> RunFolder:
    """Carry out a config. Raises what `evaluate` raises, and UserError where several ranks are to import a set."""
    arguments: dict[str, Any] = {name: getattr(config, name) for name in config.__struct_fields__ if name != "by"}
    if Ranks.of_environment().size > 1 and (loose := [given for given in config.sets if isinstance(given, Source)]):
        raise UserError(
            f"{loose[0].path} is to be imported, and several processes need a set folder: `mmdyn data convert`"
            " makes one"
        )
    arguments["sets"] = [_place(given, Path(config.out)) for given in config.sets]
    return evaluate(**arguments, quiet=quiet)


def _place(given: str | Source, out: Path) -> str | Path:
    if isinstance(given, str):
        return given
    name = given.name or given.benchmark
    folder = out / "sets" / re.sub(r"[^\w.-]", "_", name)
    return convert(Path(given.path), folder, benchmark=given.benchmark, name=name, skip_bad=given.skip_bad).folder


def _mapping(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(file, None, f"cannot be read ({error}): give a YAML file") from None
    except RecursionError:
        raise InputError(file, None, "is nested too deeply: write a plain mapping") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError(file, mark.line + 1 if mark else None, "is not YAML: mend the line") from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise InputError(file, None, f"must be a mapping with the keys {', '.join(Config.__struct_fields__)}")
    return dict(values)
