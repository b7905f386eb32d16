"""The user's folders: the cache of what outlives a run (replies, encoded prompts, calibrations of judges), and settings
for all runs."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.errors import UserError, unreadable


class UserSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """settings.toml in the user's folder of settings.

    Args:
        allow_secrets: Configs, and folders of configs, that need no --allow-secrets.
    """

    allow_secrets: list[str] = []


def allows_secrets(config: Path) -> bool:
    """Tell whether the user's settings allow a config to send secrets, by the config's real path.

    Raises:
        InputError: settings.toml cannot be read.
    """
    from platformdirs import user_config_path

    file = user_config_path("mmdyn", appauthor=False) / "settings.toml"
    try:
        settings = msgspec.toml.decode(file.read_bytes(), type=UserSettings) if file.exists() else UserSettings()
        places = [(Path.home() / Path(place).expanduser()).resolve() for place in settings.allow_secrets]
    except (OSError, ValueError, RuntimeError) as error:
        raise unreadable(file, error, 'write allow_secrets = ["FOLDER"]') from None
    return any(config.resolve().is_relative_to(place) for place in places)


def user_cache() -> Path:
    """The folder that MMDYN_CACHE names, or the user's cache folder."""
    from platformdirs import user_cache_path

    given = os.environ.get("MMDYN_CACHE")
    return Path(given).expanduser() if given else user_cache_path("mmdyn", appauthor=False)


def cache_to_write(name: str) -> Path:
    """Return the folder `name` in the user's cache; a new one is readable by its owner alone.

    Raises:
        UserError: The folder cannot be written.
    """
    folder = user_cache() / name
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UserError(f"cannot write {folder} ({error.strerror}): set MMDYN_CACHE to a folder of yours") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"{folder} may not be written: set MMDYN_CACHE to a folder of yours")
    return folder
