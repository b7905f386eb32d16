"""Where and how exactly a local model computes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Literal

from mmdyn.errors import MissingExtra, UserError

USED = 0.9
"""How much of the free memory a batch may take."""

Precision = Literal["bf16", "fp16", "fp32"]


def need(*packages: str) -> None:
    """Raises MissingExtra for the first package that is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(package, "gpu")


def installed(*packages: str) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found = dict[str, str]()
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def torch_device(name: str | None) -> Any:
    """The torch.device of that name, or this rank's GPU, or the CPU where there is none.

    A GPU is not touched yet. Raises UserError for a device that there is not.
    """
    import torch

    name = name or ("cuda" if torch.cuda.device_count() else "cpu")
    if name == "cuda":
        name += f":{own_card(torch.cuda.device_count())}"
    try:
        device = torch.device(name)
        if device.type != "cuda":
            torch.empty(0, device=device)
        elif device.index >= torch.cuda.device_count():
            raise RuntimeError(f"there are {torch.cuda.device_count()} GPUs")
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise UserError(f"the device {name!r} cannot be used ({reason}): give another one, such as cpu") from None
    return device


def free_memory(device: Any) -> int:
    """Bytes of a GPU that nobody holds, or that torch holds in reserve."""
    import torch

    reserved = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + reserved)


def own_card(visible: int) -> int:
    """The number of this rank's GPU among those that it sees: LOCAL_RANK, or the one that its launcher shows it alone
    (CUDA_VISIBLE_DEVICES). Raises UserError."""
    return 0 if visible == 1 and os.environ.get("CUDA_VISIBLE_DEVICES") else _number("LOCAL_RANK", 0)


def ranks_here() -> int:
    """How many ranks a launcher started on this machine (LOCAL_WORLD_SIZE); one where none did. Raises UserError."""
    return _number("LOCAL_WORLD_SIZE", 1)


@cache
def visible_cards() -> tuple[str, ...]:
    """The names of the GPUs that this process saw first, whatever it is narrowed to later."""
    import torch

    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return tuple(named.split(",")) if named else tuple(map(str, range(torch.cuda.device_count())))


def own_cards(visible: Sequence[str], count: int) -> Sequence[str]:
    """The names of this rank's `count` GPUs among those that it sees: all where its launcher shows it no more.

    Raises UserError where there are too few for all ranks.
    """
    ranks, rank = ranks_here(), _number("LOCAL_RANK", 0)
    if ranks == 1 or (len(visible) <= count and os.environ.get("CUDA_VISIBLE_DEVICES")):
        return visible
    if len(visible) < ranks * count:
        raise UserError(f"{ranks} ranks with {count} GPUs each need {ranks * count}, and {len(visible)} are there")
    return visible[rank * count : (rank + 1) * count]


def _number(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not value.isdecimal():
        raise UserError(f"{name} is {value!r}: let the launcher set a number, or unset it")
    return int(value)


def torch_dtype(name: Precision | None, device: Any) -> Any:
    """The torch.dtype of that name; bf16 on a GPU and fp32 on a CPU where none is given."""
    import torch

    names = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    return names[name or ("fp32" if device.type == "cpu" else "bf16")]
