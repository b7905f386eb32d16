"""Digests, and random streams keyed by identity.

A stream depends on the names that it is keyed with and on nothing else: not on order, process, batch or device. So
equal keys give equal variants on every machine.
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
    """Encode a value as its one JSON text: sorted keys, no white space.

    >>> canonical({"b": 1, "a": [2, None]})
    b'{"a":[2,null],"b":1}'
    """
    return _encoder.encode(value)


def digest(value: object, size: int = 16) -> str:
    """Compute the hexadecimal BLAKE2b digest of `size` bytes over the canonical JSON of a value.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    >>> digest("text", size=4)
    '2960b075'
    """
    return hashlib.blake2b(canonical(value), digest_size=size).hexdigest()


def sha256(data: bytes) -> str:
    """Compute the hexadecimal SHA-256 of bytes, which names image files."""
    return hashlib.sha256(data).hexdigest()


def stream(*identity: str | int) -> Generator:
    """Make a numpy generator (Philox) keyed by an identity.

    The same identity gives the same numbers in every process.

    Args:
        identity: Names and numbers, such as (seed, parent id, chain, step, severity, draw, attempt).

    >>> stream(1, "q", "pad", 0).integers(100, size=4)
    array([32, 32, 70, 20])
    """
    from mmdyn._philox import keyed

    return keyed(hashlib.blake2b(canonical(identity), digest_size=16).digest())
