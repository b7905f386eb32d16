"""Local text models: sentence embeddings, and entailment between two texts."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from math import log2
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from numpy.typing import NDArray

from mmdyn.errors import MissingExtra, UserError
from mmdyn.keys import digest
from mmdyn.models.backends._local_backend import FORM, load_processor, load_weights, read_json
from mmdyn.models.checkpoint import find_checkpoint, need, torch_device
from mmdyn.text import estimate_tokens
from mmdyn.work import Batches, give_memory_back

Vectors = NDArray[np.float32]

BATCH = 64
_WEIGHTS = (".safetensors", ".bin", ".json", ".txt", ".model")
_OWNER = "sentence-transformers"
"""Whose model a name without an owner is."""
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_NOT_LOADED = (OSError, ValueError, RuntimeError)


class Embedder:
    """A sentence-embedding model, loaded at its first use. Several threads may use it.

    Args:
        model: A name on the Hugging Face hub, or a folder with the model's files.
        keep: The number of vectors that are cached (least recently used goes first), so that a repeated text, such as
            the parent of many variants, is encoded once.
        threads: The number of torch's threads; 1 where many processes run side by side.
        device: A torch device such as cuda; empty for a GPU where there is one.

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
        """The model's name on the hub, or a digest of the files in its folder."""
        folder = Path(self.name).expanduser()
        if not folder.is_dir():
            return self.name
        files = sorted(file for file in folder.rglob("*") if file.suffix in _WEIGHTS and file.is_file())
        return digest([[str(file.relative_to(folder)), _digest(file)] for file in files])

    def check(self) -> None:
        """Raise UserError where the model is not on this machine and cannot be fetched; loads nothing."""
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
        """Encode one text or more.

        Returns:
            Float32 of shape (texts, dimensions); each row has length 1, so that a dot product is a cosine.

        Raises:
            UserError: The model cannot be loaded.
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
        why = str(error).strip().partition("\n")[0]
        if "third-party code" in why:
            return UserError(
                f"the embedding model {self.name} brings code of its own, which is not run: choose another"
            )
        return UserError(
            f"the embedding model {self.name} cannot be loaded ({why[:160].rstrip('.')}): give a folder that holds it,"
            " or connect to the hub"
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


DEFAULT_CROSS_ENCODER = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
"""279 million parameters, MIT licence; trained on XNLI and on 2.7 million pairs of its authors in 27 languages, English
and Chinese among them."""

ENTAILMENT = "entailment"
MOST_PAIRS, PATIENCE_S = 32, 0.005
"""A batch takes what gathered in so long, or while the one before it ran."""

_NO_LIMIT = 1 << 20
"""Tokenizers that know no limit give a far larger one."""

Pair = tuple[str, str]


class TooLong(ValueError):
    """A pair of texts has more tokens than the model reads."""


class CrossEncoder:
    """A model of natural language inference that reads two texts together; loaded at its first use. Several threads may
    use it.

    Pairs of similar length run in one batch, in float32 on every device. The batch changes a result only by rounding.

    Args:
        name: A folder, or `owner/name` of a repository.
        device: A torch device; by default this rank's GPU, or the CPU where there is none.
        revision: A repository's branch, tag or commit.

    Raises:
        UserError: There is no such checkpoint or device, or none of its labels is `entailment`.
        MissingExtra: torch or transformers is not installed.
    """

    def __init__(self, name: str, device: str | None = None, revision: str | None = None) -> None:
        need("torch", "transformers")
        checkpoint = find_checkpoint(name, FORM, revision)
        self.name, self.identity, self._folder = name, checkpoint.identity, checkpoint.folder
        self._entailed = _place_of_entailment(name, read_json(self._folder / FORM.index))
        self._device = torch_device(device)
        self._batches = Batches[int, Pair, float](self._run, lambda _: MOST_PAIRS, give_memory_back, PATIENCE_S)

    def entails(self, pairs: Sequence[Pair]) -> list[float]:
        """Return, for each pair, the probability (0 to 1) that the second text follows from the first.

        Raises:
            TooLong: The model cannot read a pair whole.
            ModelError: The model cannot be loaded, or was closed.
        """
        asked = [self._batches.submit(round(log2(1 + estimate_tokens("".join(pair)))), pair) for pair in pairs]
        return [future.result() for future in asked]

    def close(self) -> None:
        """Finish the running batch; pairs that still wait fail with ModelError."""
        self._batches.close()

    @cached_property
    def _loaded(self) -> tuple[Any, Any, int]:
        """Tokenizer, model, and how many tokens it reads. Only the batches' own thread asks for it."""
        import torch

        tokenizer = load_processor(self._folder, vision=False, trust_remote_code=False)
        kind = "AutoModelForSequenceClassification"
        model = load_weights(self._folder, kind, dtype=torch.float32).to(self._device)
        limits = tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", _NO_LIMIT)
        return tokenizer, model, min(limits)

    def _run(self, _: int, pairs: list[Pair]) -> list[float | ValueError]:
        import torch

        tokenizer, model, limit = self._loaded
        coded = [tokenizer(first, second) for first, second in pairs]
        lengths = [len(one["input_ids"]) for one in coded]
        short = [one for one, length in zip(coded, lengths, strict=True) if length <= limit]
        found = list[float]()
        if short:
            inputs = tokenizer.pad(short, return_tensors="pt").to(self._device)
            with torch.inference_mode():
                found = model(**inputs).logits.softmax(-1)[:, self._entailed].tolist()
        problem = "both texts have {} tokens together, and {} reads {}: ask a language model, which reads more"
        left = iter(found)
        return [
            next(left) if length <= limit else TooLong(problem.format(length, self.name, limit)) for length in lengths
        ]


def _place_of_entailment(name: str, config: dict[str, Any]) -> int:
    """Which of a checkpoint's outputs says that the second text follows. Raises UserError where none does."""
    labels = {int(place): str(label) for place, label in (config.get("id2label") or {}).items()}
    for place, label in labels.items():
        if label.strip().lower() == ENTAILMENT:
            return place
    has = f"its labels are {', '.join(labels.values())}" if labels else "its config.json names no labels"
    mend = f"name a cross-encoder of natural language inference, such as {DEFAULT_CROSS_ENCODER}"
    raise UserError(f"{name} does not tell what follows, for {has} and none is {ENTAILMENT!r}: {mend}")
