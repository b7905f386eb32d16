"""What a config that somebody else may have written does with the user's secrets: it sends no variable, no file and no
job to where the user did not say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from mmdyn import plugins
from mmdyn.data import NAMED_SETS, is_set
from mmdyn.errors import InputError
from mmdyn.models import ALLOW, is_this_machine, without_secrets
from mmdyn.work import RayConfig

_SETTING = re.compile(r",(?=\s*[\w.-]+\s*=)")


def guarded(values: dict[str, Any], written: Collection[str], file: Path) -> dict[str, Any]:
    """The values of a config whose texts that are `written` in the file send no secret; what was typed stays as it is.

    Raises InputError for a MODEL that names a variable for somebody's server, and for a path that leads out of the
    config's folder and the one in which the command is typed, or to a hidden file in them. A set folder may lie
    anywhere.
    """
    told, folders = dict[str, None](), (file.resolve().parent, Path.cwd().resolve())

    def guard(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: guard(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [guard(item, key) for item in value]
        if not isinstance(value, str) or value not in written:
            return value
        for name in _paths(value, key) if key != "out" else ():
            if _is_astray(name, folders):
                where = "out of its folder and the one that you are in, or to a hidden file"
                raise InputError(file, None, f"{key}: {name} leads {where}: {ALLOW}")
        text, why = without_secrets(value, file)
        told.update({why: None} if why else {})
        return text

    values = guard(values, "")
    for why in told:
        print(f"{file}: {why}", file=sys.stderr)
    return values


def refuse_cluster(cluster: object, written: Collection[str], file: Path) -> None:
    """Raise InputError where a file names a Ray cluster on other machines, which would get the run's MODELs."""
    address = cluster.address if isinstance(cluster, RayConfig) else ""
    host = address.rpartition(":")[0]
    if address not in ("", "auto", "local") and not is_this_machine(host) and any(address in text for text in written):
        raise InputError(file, None, f"the executor would hand the run to {address}: {ALLOW}")


def _paths(text: str, key: str) -> set[str]:
    """What of a text may be the path of a file: all of it; without what stands before a colon in the name of a set; in
    settings each value."""
    backend, _, rest = text.partition(":")
    if key == "benchmark" and text.startswith(NAMED_SETS):
        return {text, _SETTING.split(rest)[0]}
    if backend.strip() in plugins.names("models"):
        return {text}
    return {text, *(part.partition("=")[2] or part for part in _SETTING.split(text))}


def _is_astray(name: str, folders: Sequence[Path]) -> bool:
    path = os.path.expanduser(name)  # noqa: PTH111 - which takes any text
    if not os.path.exists(path) or is_set(Path(path)):  # noqa: PTH110
        return False
    real = Path(path).resolve()
    inside = [real.relative_to(folder).parts for folder in folders if real.is_relative_to(folder)]
    return all(any(part.startswith(".") for part in parts) for parts in inside)
