"""What stands after `vlmeval:NAME`: options of the worker, and keywords of the model's class."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from urllib.parse import parse_qsl

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.models.backends._secrets import HEADERS, SECRET, USERINFO
from mmdyn.models.checkpoint import Form, find_checkpoint
from mmdyn.models.model import Spec, json_or_text, read_options

PYTHON = "MMDYN_VLMEVAL_PYTHON"

FORM = Form("transformers", "config.json", ("**/*",))

_QUERY = re.compile(r"(://[^\s?]{1,2000})\?(\S*)")


class VlmevalOptions(Struct, frozen=True):
    """The worker's options; `Vlmeval` says what they mean."""

    python: str = ""
    path: str = ""
    workers: int | None = None
    devices: str = ""
    concurrency: int | None = None
    timeout: float = 600
    load_timeout: float = 3600
    max_tries: int | None = None
    label: str | None = None
    system: str | None = None

    @property
    def interpreter(self) -> str:
        """The one that is named, or $MMDYN_VLMEVAL_PYTHON, or the one that runs this."""
        return str(Path(self.python or os.environ.get(PYTHON) or sys.executable).expanduser())

    @property
    def folders(self) -> list[Json]:
        """Folders that go before the interpreter's packages."""
        return [str(Path(self.path).expanduser().resolve())] if self.path else []

    @property
    def environments(self) -> list[dict[str, str]]:
        """What is set in the environment of each worker."""
        devices = [device.strip() for device in self.devices.split(";") if device.strip()]
        count = self.workers or max(1, len(devices))
        return [{"CUDA_VISIBLE_DEVICES": devices[n % len(devices)]} if devices else {} for n in range(count)]


def parse(spec: Spec) -> tuple[VlmevalOptions, dict[str, Json]]:
    """The worker's options, and the rest as typed keywords. Raises UserError, also for a key in plain sight."""
    own = {key: value for key, value in spec.options.items() if key in VlmevalOptions.__struct_fields__}
    options = read_options(spec, VlmevalOptions, own)
    for name in ("workers", "concurrency", "timeout", "load_timeout", "max_tries"):
        if (value := getattr(options, name)) is not None and not value > 0:
            raise UserError(f"the option {name} of vlmeval:{spec.name} is {value}: give more than 0")
    keywords = dict[str, Json]()
    for key in [key for key in spec.options if key not in own]:
        name, value = key.removeprefix("init."), json_or_text(spec.options[key])
        if _in_sight(name, value):
            nested = isinstance(value, dict | list)
            told = f"the option {key} {'has' if nested else 'is'} a secret: put it into a variable of the environment"
            write = "'$VARIABLE' in its place" if nested else f"'{key}=$VARIABLE'"
            raise UserError(f"{told} and write {write}")
        keywords[name] = value
    return options, keywords


def resolve(value: Json, option: str) -> Json:
    """An option's value with `$NAME` read from the environment. Raises UserError where a variable is not set."""
    if isinstance(value, dict):
        return {name: resolve(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, option) for item in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if value[1:] not in os.environ:
        raise UserError(f"the environment has no variable {value[1:]}, which the option {option} names: set it")
    return os.environ[value[1:]]


def identified(keywords: dict[str, Json]) -> dict[str, Json]:
    """Keywords as an identity holds them: without those that are secrets by their name, and with what a variable holds
    for `$NAME`.

    Where one names a checkpoint's folder, its digest stands for the path. Addresses are without credentials; digests
    stand for their queries, without what is a secret by its name, and for headers.
    """
    found = dict[str, Json]()
    for name, value in keywords.items():
        if HEADERS.search(name) and isinstance(value, dict):
            found |= {name: digest(headers)} if (headers := identified(value)) else {}
        elif not SECRET.search(name):
            found[name] = _identified(value)
    return found


def _identified(value: Json) -> Json:
    if isinstance(value, dict):
        return identified(value)
    if isinstance(value, list):
        return [_identified(item) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$") and not SECRET.search(value[1:]):
        value = os.environ.get(value[1:], value)
    return _checkpoint(value)


def _in_sight(name: str, value: Json) -> bool:
    """Whether a keyword is a secret, or holds one, that is no `$NAME`."""
    if isinstance(value, dict):
        return any(_in_sight(name if SECRET.search(name) else key, item) for key, item in value.items())
    if isinstance(value, list):
        return any(_in_sight(name, item) for item in value)
    return bool(SECRET.search(name)) and not (isinstance(value, str) and value.startswith("$"))


def _checkpoint(value: str) -> Json:
    folder = Path(value)
    try:
        there = (folder / FORM.index).is_file()
    except (OSError, ValueError):  # a text that can be no path
        there = False
    return find_checkpoint(value, FORM).identity if there else _QUERY.sub(_digested, USERINFO.sub("://***@", value))


def _digested(address: re.Match[str]) -> str:
    pairs = parse_qsl(address[2], keep_blank_values=True)
    kept = sorted(pair for pair in pairs if not SECRET.search(pair[0]))
    return f"{address[1]}?{digest(kept)}" if kept else address[1]
