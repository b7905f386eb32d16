"""Checkpoints of local models, and the device and precision that they run in."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from mmdyn.errors import MissingExtra, UserError
from mmdyn.keys import Json, digest

USED = 0.9
"""The share of the free memory that a batch may take."""

Precision = Literal["bf16", "fp16", "fp32"]


def need(*packages: str) -> None:
    """Raise MissingExtra for the first of the packages that is not installed.

    >>> need("json", "re")
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(package, "gpu")


def installed(*packages: str) -> dict[str, str]:
    """Return the versions of those packages that are installed, by name.

    >>> installed("no-such-package")
    {}
    """
    found = dict[str, str]()
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def torch_device(name: str | None) -> Any:
    """Return a torch.device by name; without a name this rank's GPU, or the CPU where there is none.

    No memory of a GPU is used yet.

    Raises:
        UserError: This machine has no such device.
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
    """Return the bytes of a GPU's memory that are free, including those that torch holds in reserve."""
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
    """Return a torch.dtype by name; without a name bf16, or fp32 on a CPU."""
    import torch

    names = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    return names[name or ("fp32" if device.type == "cpu" else "bf16")]


BLOCK, BLOCKS = 64 << 10, 64
"""Of a large file so many blocks of so many bytes are read, evenly spread: some hundredths of a second a file."""

_MOST_HEADER = 16 << 20
"""Bytes of a safetensors header that are looked at; that of a large model has some 100 thousand."""

_REPOSITORY = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


class Form(Struct, frozen=True):
    """The files of a library's checkpoints: `index` is in each one, `files` are glob patterns of what belongs to it."""

    library: str
    index: str
    files: tuple[str, ...]


class Checkpoint(Struct, frozen=True):
    """A checkpoint's folder, and its identity: the repository and commit, or a digest of the folder's small files and
    of samples of its weights."""

    folder: Path
    identity: Json


def find_checkpoint(name: str, form: Form, revision: str | None = None) -> Checkpoint:
    """Find a checkpoint in a folder, or fetch it from a repository unless it is in the hub's cache.

    Args:
        name: A folder, or `owner/name` of a repository.
        form: The files that belong to the checkpoint.
        revision: A repository's branch, tag or commit.

    Raises:
        UserError: There is no such folder or repository, no permission to read it, or no network.
        MissingExtra: The hub's client is not installed.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / form.index).is_file():
            raise UserError(f"{name} is no checkpoint in the form of {form.library}: it has no {form.index}")
        try:
            return Checkpoint(folder, {"digest": _digest(folder, form)})
        except OSError as error:
            raise UserError(
                f"{error.filename or name} cannot be read ({error.strerror}): mend the checkpoint"
            ) from None
    if not _REPOSITORY.fullmatch(name):
        raise UserError(f"there is no folder {name}: name a checkpoint's folder, or a repository as owner/name")
    return _fetched(name, form, revision)


def _fetched(name: str, form: Form, revision: str | None) -> Checkpoint:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError:
        raise MissingExtra("huggingface_hub", "gpu") from None
    page = f"https://huggingface.co/{name}"
    local = f"or name a folder that has it, such as /path/to/{name.rpartition('/')[2]}"
    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=[form.index, *form.files]))
    except GatedRepoError:
        raise UserError(
            f"{name} is gated: accept its licence at {page} and log in (`hf auth login`), {local}"
        ) from None
    except RepositoryNotFoundError:
        raise UserError(f"there is no {page}, or you may not see it: check the name, log in, {local}") from None
    except RevisionNotFoundError:
        raise UserError(f"{page} has no revision {revision!r}: name a branch, a tag or a commit") from None
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).partition(". ")[0]
        raise UserError(f"{name} is not in the cache and cannot be fetched ({reason}): go online, {local}") from None
    return Checkpoint(folder, {"repository": name, "revision": folder.name})


def _digest(folder: Path, form: Form) -> str:
    """Of all files that belong to the checkpoint."""
    belong = {file for pattern in form.files for file in folder.glob(pattern)}
    files = sorted(file for file in belong if file.is_file() and not file.relative_to(folder).parts[0].startswith("."))
    listed = [folder / form.index, *(file for file in files if file != folder / form.index)]
    return digest([[str(file.relative_to(folder)), fingerprint(file)] for file in listed])


def fingerprint(file: Path) -> str:
    """Of a file's size and bytes; of weights that are large, of the size, the header and blocks from first to last.

    Weights of another training differ nearly everywhere, so that samples tell them apart; gigabytes would take minutes.
    """
    size = file.stat().st_size
    seen = hashlib.blake2b(size.to_bytes(8, "little"), digest_size=16)
    with file.open("rb") as data:
        if file.suffix == ".json" or size <= BLOCK * BLOCKS:
            seen.update(data.read())
            return seen.hexdigest()
        if file.suffix == ".safetensors":
            header = int.from_bytes(data.read(8), "little")
            seen.update(data.read(min(header, _MOST_HEADER)))
        for number in range(BLOCKS):
            data.seek((size - BLOCK) * number // (BLOCKS - 1))
            seen.update(data.read(BLOCK))
    return seen.hexdigest()
