"""The response caches: replies by request key, those that all commands of a user share and those of one output."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self, get_args

import msgspec
from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import canonical, digest
from mmdyn.models.model import Model
from mmdyn.record import Reply
from mmdyn.work import Store, cache_to_write, user_cache

CACHED_REPLY = "reply:2"
"""The store's kind for replies."""
REPLIES = "replies"
"""The folder of a cache."""

CacheChoice = Literal["shared", "own", "none"]


def cache_folder() -> Path:
    """Where the replies are kept that all commands share."""
    return user_cache() / REPLIES


class Caches:
    """The caches of one command, each opened when a model first needs it; several processes may have them open.

    A name tells which model answers only where a vendor keeps it or a digest of the weights goes with it: whoever
    starts a server of one's own may have another checkpoint behind the same name the next day. So replies of a model
    that has a `listing` stay in the command's output folder, unless `choice` says otherwise.

    choice: `shared` by all commands, the output folder's `own`, or `none`, for all models alike; None: by the model.
    out: the output folder; without one no replies are kept there.

    Raises UserError for another choice, and where a folder cannot be written.
    """

    def __init__(self, choice: str | None = None, out: Path | None = None) -> None:
        known = get_args(CacheChoice)
        if choice is not None and choice not in known:
            raise UserError(f"there is no cache {choice!r}{did_you_mean(choice, known)}: use {', '.join(known)}")
        self._choice, self._own = choice, out and out / REPLIES
        self._opened = dict[Path, Store]()

    def folder(self, model: Model) -> Path | None:
        """Where the replies of a model are kept; None where they are not."""
        if not model.cached or self._choice == "none":
            return None
        own = self._choice == "own" or (self._choice is None and getattr(model, "listing", None) is not None)
        return self._own if own else cache_folder()

    def of(self, model: Model) -> Store | None:
        """The cache of a model; None where it has none."""
        if (folder := self.folder(model)) is not None and folder not in self._opened:
            self._opened[folder] = Store(folder if folder == self._own else cache_to_write(REPLIES), shared=True)
        return self._opened[folder] if folder else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def flush(self) -> None:
        """Save what is pending. Raises UserError where the disk is full or read-only."""
        for store in self._opened.values():
            store.flush()

    def close(self) -> None:
        """Save and close what was opened."""
        for store in self._opened.values():
            store.close()


async def read_listings(models: Iterable[Model]) -> None:
    """Learn what servers of one's own list of models."""
    listings = [listing for model in models if (listing := getattr(model, "listing", None)) is not None]
    await asyncio.gather(*(listing.read() for listing in listings))


def cache_key(model: Model, request: str) -> str:
    """What the reply to a request of this key is kept under: what the server lists of the model counts, too."""
    listing = getattr(model, "listing", None)
    return digest([request, listing.entry]) if listing is not None and listing.entry else request


def recall(cache: Store, key: str) -> Reply | None:
    """The reply that was kept under such a key. Raises UserError where it cannot be read."""
    value = cache.get(CACHED_REPLY, key)
    try:
        return replace(msgspec.json.decode(value, type=Reply), cached=True) if value is not None else None
    except msgspec.DecodeError as error:
        raise UserError(f"the cache {cache.folder} holds a damaged reply ({error}): move the folder away") from None


def keep(cache: Store, key: str, reply: Reply) -> None:
    """Keep a reply; the first one kept under a key stays."""
    cache.put(CACHED_REPLY, key, canonical(reply))
