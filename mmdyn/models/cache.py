"""The response cache: replies by request key, shared by all runs of a user."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.record import Reply
from mmdyn.work import Store, user_cache

CACHED_REPLY = "reply:1"
"""The store's kind for replies; the number goes up where an older program could not read them."""


def cache_folder() -> Path:
    """Where replies are kept."""
    return user_cache() / "replies"


def open_cache() -> Store:
    """The response cache; several processes may have it open. Raises UserError where its folder cannot be written."""
    return Store(cache_folder(), shared=True)


def recall(cache: Store, key: str) -> Reply | None:
    """The reply that was kept under a request key. Raises UserError where it cannot be read."""
    value = cache.get(CACHED_REPLY, key)
    try:
        return msgspec.json.decode(value, type=Reply) if value is not None else None
    except msgspec.DecodeError as error:
        raise UserError(f"the cache {cache.folder} holds a damaged reply ({error}): move the folder away") from None


def keep(cache: Store, key: str, reply: Reply) -> None:
    """Keep a reply; the first one kept under a key stays."""
    cache.put(CACHED_REPLY, key, canonical(reply))
