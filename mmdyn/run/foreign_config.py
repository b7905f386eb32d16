"""What a config that somebody else may have written does with the user's secrets: it sends no variable, no file and no
job to where the user did not say."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from mmdyn import plugins
from mmdyn.data import is_set
from mmdyn.errors import InputError
from mmdyn.models import ALLOW, PARTS, is_this_machine, without_secrets


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
