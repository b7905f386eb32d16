"""Lists of chains under one name: presets that come with the package, and YAML files of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from mmdyn.errors import InputError, UserError


def presets() -> dict[str, str]:
    """Every preset's name with its YAML text."""
    folder = files("mmdyn.configs").joinpath("perturb")
    return {file.name.removesuffix(".yaml"): file.read_text(encoding="utf-8") for file in folder.iterdir()}


def expand(ops: str) -> Iterator[str]:
    """The chains of `--ops`, a preset or a YAML file replaced by what it lists. Raises InputError for a bad file."""
    known = presets()
    for name in (part.strip() for part in ops.split(",")):
        if name in known:
            yield from _read(known[name], f"the preset {name}")
        elif name.endswith((".yaml", ".yml")):
            yield from _read(_text(Path(name)), name)
        else:
            yield name


def _text(file: Path) -> str:
    try:
        return file.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(file, None, "cannot be read: --ops takes chains, a preset or a YAML file of chains") from None


def _read(text: str, where: str) -> list[str]:
    import yaml

    try:
        chains = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(where, None, f"is no YAML ({str(error).splitlines()[0]}): list one chain a line") from None
    if not isinstance(chains, list) or not all(isinstance(chain, str) and "," not in chain for chain in chains):
        raise InputError(where, None, "lists no chains: write one a line, such as `- pad+color`")
    if not chains:
        raise UserError(f"{where} lists no chain: write one a line, such as `- pad+color`")
    return chains
