"""The constant prompts of diffusion models: encoded once and kept on disk, so that text encoders are not loaded
again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from filelock import FileLock

from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.models import cache_folder

TOKENS = 128
"""What prompts are padded to. They are shorter; the models' usual 512 would make each step at 1024x1024 a tenth
longer."""

_FORMAT = 1


@cache
def styles() -> tuple[str, ...]:
    """The names of the styles."""
    return tuple(_file()["styles"])


@cache
def prompts(backend: str) -> dict[str, str]:
    """A backend's prompts, by the style's name; where they hang on the severity, by name@severity too."""
    return {
        f"{name}@{severity}" if severity else name: text.format(style=look)
        for severity, text in _file()[backend].items()
        for name, look in _file()["styles"].items()
    }


def encoded(texts: dict[str, str], what: Json, encode: Callable[[list[str]], dict[str, Any]]) -> dict[str, Any]:
    """Tensors whose first axis goes through `texts`, out of the cache or, the first time, by `encode`.

    `what` (checkpoint and dtype) tells encoders apart. Of several processes one encodes while the others wait for it.
    Raises UserError where the cache cannot be written or read.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file, save_file

    folder = cache_folder().with_name("prompts")
    file = folder / f"{digest([_FORMAT, TOKENS, list(texts.values()), what])}.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):
            if not file.is_file():
                part = file.with_suffix(".part")
                save_file({name: tensor.contiguous() for name, tensor in encode(list(texts.values())).items()}, part)
                part.replace(file)
            tensors: dict[str, Any] = load_file(file)
    except OSError as error:
        reason = f"cannot use the cache {folder} ({error.strerror})"
        raise UserError(f"{reason}: set MMDYN_CACHE to a writable folder") from None
    except SafetensorError as error:
        raise UserError(f"the cached prompts {file} are damaged ({error}): delete the file") from None
    return tensors


@cache
def _file() -> dict[str, dict[str, str]]:
    text = files("perturb.style").joinpath("prompts.yaml").read_text(encoding="utf-8")
    read: dict[str, dict[str, str]] = yaml.safe_load(text)
    return read
