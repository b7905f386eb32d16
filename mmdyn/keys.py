"""Digests, and the random streams that are keyed by identity.

A stream depends on the names it is keyed with and on nothing else: not on order, process, batch or device. So equal
keys give equal variants, whoever computes them.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from numpy.random import Generator

    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec reads annotations at run time and takes no recursive alias

_encoder = msgspec.json.Encoder(order="sorted")


def canonical(value: object) -> bytes:
    """The one JSON text of a value: sorted keys, no white space."""
    return _encoder.encode(value)


def digest(value: object, size: int = 16) -> str:
    """Hexadecimal BLAKE2b digest of `size` bytes over the canonical JSON of a value."""
    return hashlib.blake2b(canonical(value), digest_size=size).hexdigest()


def sha256(data: bytes) -> str:
    """Hexadecimal SHA-256 of bytes: what image files are named by."""
    return hashlib.sha256(data).hexdigest()


def stream(*identity: str | int) -> Generator:
    """A numpy generator (Philox) keyed by an identity, such as (seed, parent id, chain, step, severity, draw,
    attempt)."""
    from mmdyn._philox import keyed

    return keyed(hashlib.blake2b(canonical(identity), digest_size=16).digest())
