"""Whether one text follows from another, by any cross-encoder of natural language inference in the form of
transformers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import log2
from typing import Any

from mmdyn.errors import UserError
from mmdyn.models.backends._local_checkpoint import FORM, load_processor, load_weights, read_json
from mmdyn.models.checkpoint import find_checkpoint
from mmdyn.models.device import need, torch_device
from mmdyn.text import estimate_tokens
from mmdyn.work import Batches, give_memory_back

DEFAULT_CROSS_ENCODER = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
"""279 million weights under the MIT licence, trained on XNLI and on its authors' 2.7 million pairs of 27 languages,
English and Chinese among them."""

ENTAILMENT = "entailment"
MOST_PAIRS, PATIENCE_S = 32, 0.005
"""A batch takes what gathered in so long, or while the one before it ran."""

_NO_LIMIT = 1 << 20
"""Tokenizers that know no limit give a far larger one."""

Pair = tuple[str, str]


class TooLong(ValueError):
    """Two texts that the model cannot read whole."""


class CrossEncoder:
    """A model that reads two texts together; it is loaded when it is first asked. Used from several threads.

    Pairs of about one length are read in one batch, in 32 bits on any device, each as if it were alone up to the
    rounding of sums in another order.

    Args:
        name: A folder, or `owner/name` of a repository.
        device: A torch device; this rank's GPU, or the CPU where there is none, unless given.
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
        """How probable it is, from 0 to 1, that each pair's second text follows from its first.

        Raises TooLong where a pair cannot be read whole, ModelError where the model cannot be loaded.
        """
        asked = [self._batches.submit(round(log2(1 + estimate_tokens("".join(pair)))), pair) for pair in pairs]
        return [future.result() for future in asked]

    def close(self) -> None:
        """Finish the batch that is running; who waits gets a ModelError."""
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
