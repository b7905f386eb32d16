"""Vectors that are kept on disk by the content of the texts they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.lib import format as npy

from mmdyn.data import new_file
from mmdyn.keys import canonical, digest

if TYPE_CHECKING:
    from mmdyn.models import Embedder, Vectors

CHUNK = 2048
"""Texts that are embedded and saved together: what an interrupted command loses at most."""


class KeptVectors:
    """A folder of vectors of one model.

    Each chunk is a file `NAME.npy` of shape (texts, dimensions) and a file `NAME.json` with the texts' digests, which
    is written last: a chunk without it is no chunk. Chunks are never changed, so that several processes may share the
    folder.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.name, self.identity = embedder.name, embedder.identity
        self._embedder = embedder
        self._folder = folder / digest(self.identity)
        self._places: dict[str, tuple[Path, int]] = {}
        for listing in sorted(self._folder.glob("*.json")):
            self._places |= _listed(listing)

    def missing(self, texts: Sequence[str]) -> list[str]:
        """The texts, each once, that have no vector yet."""
        return [text for text in dict.fromkeys(texts) if digest(text) not in self._places]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The same as `encode`, and what is new is not kept on disk: for queries."""
        return self._embedder.encode(texts) if self.missing(texts) else self._gather([digest(text) for text in texts])

    def encode(self, texts: Sequence[str], on_chunk: Callable[[int], None] = lambda count: None) -> Vectors:
        """Float32 of shape (texts, dimensions), rows of length 1, for one text or more; those without a vector are
        embedded.

        `on_chunk` is told how many were, chunk by chunk. Raises UserError where the model cannot be loaded or the
        folder cannot be written.
        """
        new = self.missing(texts)
        for start in range(0, len(new), CHUNK):
            chunk = new[start : start + CHUNK]
            self._keep(chunk, self._embedder.encode(chunk))
            on_chunk(len(chunk))
        return self._gather([digest(text) for text in texts])

    def _keep(self, texts: list[str], vectors: Vectors) -> None:
        digests = [digest(text) for text in texts]
        file = self._folder / f"{digest(digests)}.npy"
        with new_file(file) as out:
            npy.write_array(out, vectors, allow_pickle=False)
        with new_file(file.with_suffix(".json")) as out:
            out.write(canonical(digests))
        self._places |= {one: (file, row) for row, one in enumerate(digests)}

    def _gather(self, digests: list[str]) -> Vectors:
        rows: dict[Path, list[tuple[int, int]]] = {}
        for place, one in enumerate(digests):
            file, row = self._places[one]
            rows.setdefault(file, []).append((place, row))
        found: Vectors | None = None
        for file, pairs in rows.items():
            vectors = np.load(file, mmap_mode="r", allow_pickle=False)
            if found is None:
                found = np.empty((len(digests), vectors.shape[1]), np.float32)
            places, at = np.array(pairs).T
            found[places] = vectors[at]
        assert found is not None
        return found


def _listed(listing: Path) -> Iterator[tuple[str, tuple[Path, int]]]:
    """Where the vectors of a chunk stand; nothing of a chunk that is damaged, which is embedded again."""
    file = listing.with_suffix(".npy")
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        digests = msgspec.json.decode(listing.read_bytes(), type=list[str])
        if len(np.load(file, mmap_mode="r", allow_pickle=False)) == len(digests):
            yield from ((one, (file, row)) for row, one in enumerate(digests))
