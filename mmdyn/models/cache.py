"""Response caches: replies by request key, in a folder that all commands share or in one of a command's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self, get_args

import msgspec
from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import canonical
from mmdyn.models.model import Model
from mmdyn.record import Reply
from mmdyn.work import Reader, Store, cache_to_write, user_cache

CACHED_REPLY = "reply:2"
"""The store's kind for replies."""
REPLIES = "replies"
"""The folder of a cache."""

CacheChoice = Literal["shared", "own", "none"]


def cache_folder() -> Path:
    """The folder of the replies that all commands of a user share."""
    return user_cache() / REPLIES


class Caches:
    """The caches of one command; each is opened when a model first needs it. Several processes may open the same cache.

    A model's name identifies its weights only where a vendor serves it, or where a digest of the weights is in its
    identity. Another server may serve a different checkpoint under the same name the next day. So replies of a model
    that has a `listing` go into the output folder, unless `choice` says otherwise.

    Args:
        choice: `shared` (by all commands), `own` (in the output folder) or `none`, for all models; None: by the model.
        out: The output folder; without one, replies that belong there are not cached.
        read_only: Whether nothing is kept and no folder is made.

    Raises:
        UserError: There is no such choice, or a folder cannot be written.
    """

    def __init__(self, choice: str | None = None, out: Path | None = None, *, read_only: bool = False) -> None:
        known = get_args(CacheChoice)
        if choice is not None and choice not in known:
            raise UserError(f"there is no cache {choice!r}{did_you_mean(choice, known)}: use {', '.join(known)}")
        self._choice, self._own, self._read_only = choice, out and out / REPLIES, read_only
        self._opened = dict[Path, Store | Reader]()

    def folder(self, model: Model) -> Path | None:
        """The folder of a model's replies; None where they are not cached."""
        if not model.cached or self._choice == "none":
            return None
        own = self._choice == "own" or (self._choice is None and getattr(model, "listing", None) is not None)
        return self._own if own else cache_folder()

    def of(self, model: Model) -> Store | Reader | None:
        """The opened cache of a model; None where its replies are not cached."""
        if (folder := self.folder(model)) is not None and folder not in self._opened:
            self._opened[folder] = Reader(folder) if self._read_only else self._open(folder)
        return self._opened[folder] if folder else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def flush(self) -> None:
        """Save what is pending.

        Raises:
            UserError: The disk is full or read-only.
        """
        for store in self._opened.values():
            if isinstance(store, Store):
                store.flush()

    def close(self) -> None:
        """Save and close the opened caches."""
        for store in self._opened.values():
            store.close()

    def _open(self, folder: Path) -> Store:
        return Store(folder if folder == self._own else cache_to_write(REPLIES), shared=True)


async def read_listings(models: Iterable[Model]) -> None:
    """Read what each model's server lists of it, for the models that have a `listing`."""
    listings = [listing for model in models if (listing := getattr(model, "listing", None)) is not None]
    await asyncio.gather(*(listing.read() for listing in listings))


def cache_key(model: Model, request: str) -> str:
    """The key that a reply is cached under: the request's key, and what the server lists of the model, if anything."""
    listing = getattr(model, "listing", None)
    return f"{request}{listing.digest}" if listing is not None else request


def recall(cache: Store | Reader, key: str) -> Reply | None:
    """The reply that was kept under such a key. Raises UserError where it cannot be read."""
    value = cache.get(CACHED_REPLY, key)
    try:
        return replace(msgspec.json.decode(value, type=Reply), cached=True) if value is not None else None
    except msgspec.DecodeError as error:
        raise UserError(f"the cache {cache.folder} holds a damaged reply ({error}): move the folder away") from None


def keep(cache: Store | Reader, key: str, reply: Reply) -> None:
    """Keep a reply, unless the cache is only read; the first one kept under a key stays."""
    if isinstance(cache, Store):
        cache.put(CACHED_REPLY, key, canonical(reply))
