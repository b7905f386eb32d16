"""A diffusion model's weights, and whether a backend can paint with them."""

from __future__ import annotations

import json
from pathlib import Path

from mmdyn.errors import UserError
from mmdyn.models import Checkpoint, Form, find_checkpoint as find

INDEX = "model_index.json"

DIFFUSERS = Form("diffusers", INDEX, ("*/*",))
"""Weights lie in folders by component; files beside them are the same weights once more, in one piece."""


def find_checkpoint(name: str, revision: str | None = None) -> Checkpoint:
    """The checkpoint of a folder or repository. Raises UserError, MissingExtra."""
    return find(name, DIFFUSERS, revision)


def check_kind(folder: Path, kinds: tuple[str, ...], backend: str) -> None:
    """Raises UserError where the folder is not of a pipeline class that the backend can load, or a model that is not
    distilled where the class has both: that one would need many steps and guidance.
    """
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        kind, distilled = index["_class_name"], index.get("is_distilled", True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / INDEX} cannot be read ({error}): fetch the checkpoint again") from None
    if kind not in kinds:
        raise UserError(f"{folder} holds a {kind}, and {backend} paints with a {kinds[0]}: name another one")
    if not distilled:
        raise UserError(f"{folder} holds a base model, and {backend} needs a distilled one: name another one")
