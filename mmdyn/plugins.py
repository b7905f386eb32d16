"""A name -> its file, or another package's entry point.

A kind of plug-in has folders of ours, in which a name is a file (`image.invert` is perturb/image/invert.py), and an
entry-point group in which other packages bring more. Plug-ins are listed without importing them and loaded when asked
for. Files that begin with an underscore are no plug-ins.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, cast

from mmdyn.errors import PluginError, did_you_mean

Kind = Literal["operators", "models", "formats", "scorers", "rubrics", "benchmarks", "steps", "task_types"]

FOLDERS: dict[Kind, dict[str, str]] = {
    "operators": {"image.": "perturb.image", "text.": "perturb.text"},
    "models": {"": "mmdyn.models.backends"},
    "formats": {"": "mmdyn.data.formats"},
    "scorers": {"": "mmdyn.scoring.policies", "metric.": "mmdyn.scoring.metrics"},
    "rubrics": {"": "mmdyn.scoring.rubrics"},
    "benchmarks": {"": "mmdyn.benchmarks"},
    "steps": {"": "mmdyn.build.steps"},
    "task_types": {},
}
"""Task types of ours are rows of a table (mmdyn/task_types.py)."""

ALIASES: dict[str, tuple[str, ...]] = {"color": ("image.invert", "image.salt_pepper")}
"""Names that stand for several operators in a row."""


@cache
def names(kind: Kind) -> dict[str, str]:
    """Every plug-in of a kind, by name, with what it is loaded from (`package.module` or `package:attribute`).

    Raises PluginError where two plug-ins claim one name.
    """
    found: dict[str, str] = {}
    for prefix, package in FOLDERS[kind].items():
        found |= {prefix + stem: f"{package}.{stem}" for stem in _stems(package)}
    for point in _entry_points(kind):
        if point.name in found:
            raise PluginError(
                f"two {kind} are named {point.name!r} ({found[point.name]} and {point.value}): uninstall one of them"
            )
        found[point.name] = point.value
    return dict(sorted(found.items()))


def resolve(kind: Kind, name: str) -> str:
    """The full name for a full or short one (`pad` for `image.pad`); hyphens stand for underscores.

    Raises PluginError for an unknown name, with a suggestion, and for a short name that fits several.
    """
    known, name = names(kind), name.replace("-", "_")
    fits = [full for full in known if name in (full, full.rpartition(".")[2])]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise PluginError(f"{name!r} could be {' or '.join(fits)}: write the full name")
    hint = did_you_mean(name, [*known, *(full.rpartition(".")[2] for full in known)])
    raise PluginError(f"there is no {kind[:-1]} {name!r}{hint}; `mmdyn list {kind}` names them all")


def summary(kind: Kind, name: str) -> str:
    """What a plug-in of ours is: the first paragraph of its file, which is read and not imported."""
    spec = find_spec(names(kind)[name])
    assert spec and spec.origin
    first = (ast.get_docstring(ast.parse(Path(spec.origin).read_text("utf-8"))) or "").partition("\n\n")[0]
    return " ".join(first.split()).removeprefix(f"{name}: ").removesuffix(".")


def load(kind: Kind, name: str) -> type[Any]:
    """The class of a plug-in, by its full or short name: the one public class of its file. Raises PluginError."""
    target = names(kind)[resolve(kind, name)]
    if ":" in target:
        return cast("type[Any]", attribute(target, f"the {kind[:-1]} {name!r}"))
    module = import_module(target)
    public = [
        value
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and not key.startswith("_")
    ]
    if len(public) != 1:
        raise PluginError(f"{target} must define one public class, it defines {len(public)}")
    return public[0]


@cache
def attribute(target: str, what: str) -> Any:
    """What `package.module:name` names. Raises PluginError, which calls it `what`."""
    module, _, name = target.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PluginError(
            f"{what} cannot be loaded from {target} ({error}): reinstall the package that brings it, or remove it"
        ) from None


def _stems(package: str) -> list[str]:
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec and spec.submodule_search_locations else []
    return sorted(
        path.stem for folder in folders for path in Path(folder).glob("*.py") if not path.stem.startswith("_")
    )


def _entry_points(kind: Kind) -> list[EntryPoint]:
    return sorted(entry_points(group=f"mmdyn.{kind}"), key=lambda point: point.name)
