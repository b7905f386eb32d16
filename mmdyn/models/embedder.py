"""Sentences as vectors, by any model of sentence-transformers."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from numpy.typing import NDArray

from mmdyn.errors import MissingExtra, UserError
from mmdyn.keys import digest

Vectors = NDArray[np.float32]

BATCH = 64
_WEIGHTS = (".safetensors", ".bin", ".json", ".txt", ".model")
_OWNER = "sentence-transformers"
"""Whose model a name without an owner is."""
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_NOT_LOADED = (OSError, ValueError, RuntimeError)


class Embedder:
    """A model that turns sentences into vectors of length 1, loaded when it is first asked. Used from several threads.

    Args:
        model: A name on the Hugging Face hub, or a folder with the model's files.
        keep: How many vectors are kept, the last used ones, so that a text that comes again (a parent beside each of
            its variants) is encoded once.
        threads: How many torch uses; 1 where many processes work side by side.
        device: A name of torch's, such as cuda; empty for a GPU where there is one.

    Raises:
        MissingExtra: sentence-transformers is not installed.
    """

    def __init__(self, model: str, keep: int = 1024, threads: int = 1, device: str = "cpu") -> None:
        if not find_spec("sentence_transformers"):
            raise MissingExtra("sentence-transformers", "embed")
        self.name, self._keep, self._threads, self._device = model, keep, threads, device
        self._kept = OrderedDict[str, Vectors]()
        self._lock = threading.Lock()

    @cached_property
    def identity(self) -> str:
        """The hub's name, or a digest of the files in a folder: what of the model decides its vectors."""
        folder = Path(self.name).expanduser()
        if not folder.is_dir():
            return self.name
        files = sorted(file for file in folder.rglob("*") if file.suffix in _WEIGHTS and file.is_file())
        return digest([[str(file.relative_to(folder)), _digest(file)] for file in files])

    def check(self) -> None:
        """Raise UserError where the model is neither on this machine nor to be had from the hub; nothing is loaded."""
        if Path(self.name).expanduser().exists():
            return
        from huggingface_hub import try_to_load_from_cache

        name = self.name if "/" in self.name else f"{_OWNER}/{self.name}"
        if not _HUB_NAME.fullmatch(name):
            raise self._problem(OSError("there is no such folder"))
        try:
            if not isinstance(try_to_load_from_cache(name, "config.json"), str):
                _check_hub()
        except _NOT_LOADED as error:
            raise self._problem(error) from None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Float32 of shape (texts, dimensions) for one text or more, each row of length 1, so that a dot product is a
        cosine.

        Raises UserError where the model cannot be loaded.
        """
        with self._lock:
            known = {text: self._kept[text] for text in texts if text in self._kept}
            new = [text for text in dict.fromkeys(texts) if text not in known]
            if new:
                known |= zip(new, self._encode(new), strict=True)
            for text in known:
                self._kept[text] = known[text]
                self._kept.move_to_end(text)
            while len(self._kept) > self._keep:
                self._kept.popitem(last=False)
        return np.stack([known[text] for text in texts])

    def _encode(self, texts: list[str]) -> Vectors:
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(self._threads)
        try:
            found = self._model.encode(
                texts, batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
        finally:
            torch.set_num_threads(before)
        return np.asarray(found, np.float32)

    @cached_property
    def _model(self) -> Any:
        """The model from its folder or from what the hub's client has kept; asked from the hub only where that can be
        reached."""
        from transformers.utils import logging

        logging.disable_progress_bar()  # of reading the weights, which takes a second
        try:
            return self._load(local_files_only=True)
        except _NOT_LOADED as error:
            if Path(self.name).expanduser().exists():
                raise self._problem(error) from None
        try:
            _check_hub()  # whose client would try again for a minute
            return self._load(local_files_only=False)
        except _NOT_LOADED as error:
            raise self._problem(error) from None

    def _load(self, local_files_only: bool) -> Any:
        from sentence_transformers import SentenceTransformer

        folder = Path(self.name).expanduser()
        name = str(folder) if folder.exists() else self.name
        return SentenceTransformer(name, device=self._device or None, local_files_only=local_files_only)

    def _problem(self, error: Exception) -> UserError:
        why = str(error).strip().partition("\n")[0][:160].rstrip(".")
        return UserError(
            f"the embedding model {self.name} cannot be loaded ({why}): give a folder that holds it, or connect to"
            " the hub"
        )


def _check_hub() -> None:
    """Raise OSError where the hub cannot be reached."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        raise OSError("it is not on this machine and the hub's client is told to be offline")
    try:
        urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=10).close()
    except HTTPError:
        pass  # it answers
    except OSError as error:
        raise OSError(f"it is not on this machine and {constants.ENDPOINT} does not answer: {error}") from None


def _digest(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
