"""What is shipped in configs/: in a wheel it lies in this folder, in a checkout in the one at its top."""

from __future__ import annotations

from pathlib import Path

from mmdyn.errors import UserError, did_you_mean, no_such_path

FOLDERS = (Path(__file__).parent, Path(__file__).parents[2] / "configs")


def ready_runs() -> dict[str, Path]:
    """Every ready run by its name."""
    return _shipped("")


def chain_presets() -> dict[str, Path]:
    """Every list of chains for `--ops` by its name."""
    return _shipped("perturb")


def find_config(given: Path) -> Path:
    """A file as it is given, or a ready run by its name. Raises UserError where there is neither."""
    if given.is_file():
        return given
    shipped = ready_runs()
    if given.name in shipped:
        return shipped[given.name]
    hint = did_you_mean(given.name, shipped)
    if given.suffix or len(given.parts) > 1:
        raise no_such_path(given)
    raise UserError(f"there is no config {given.name!r}{hint}: give a YAML file, or one of {', '.join(shipped)}")


def _shipped(kind: str) -> dict[str, Path]:
    found = next((files for folder in FOLDERS if (files := sorted((folder / kind).glob("*.yaml")))), [])
    return {file.stem: file for file in found}
