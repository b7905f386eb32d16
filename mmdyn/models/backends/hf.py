"""`hf:REPOSITORY` or `hf:FOLDER`: models of transformers on this machine, of text or of pictures and text."""

from __future__ import annotations

from math import log2
from typing import Any

from mmdyn.models.backends._local_backend import Engine, Job, LocalBackend
from mmdyn.models.backends._local_options import HfOptions
from mmdyn.models.device import need
from mmdyn.models.model import Spec, read_options
from mmdyn.text import estimate_tokens

PIXELS_A_TOKEN = 784
"""Roughly: only what is put into one batch hangs on it."""


class HuggingFace(LocalBackend):
    """A checkpoint run by transformers. Options: `HfOptions`.

    Requests of about one length are answered together, whatever the batch each as if it were alone (up to the rounding
    of sums in another order); a batch that does not fit into memory is halved.
    """

    name = "hf"
    batches_waiting = 4

    def __init__(self, spec: Spec) -> None:
        need("torch", "transformers", "accelerate")
        self._options = read_options(spec, HfOptions)
        super().__init__(spec, self._options, self._options.device)
        self.identity["attention"] = self._options.attn

    def _length(self, job: Job) -> int:
        """About how many tokens there are, in steps of half an octave."""
        tokens = sum(estimate_tokens(message.text) for message in job.messages)
        pixels = sum(picture.width * picture.height for picture in job.pictures)
        return round(2 * log2(1 + tokens + pixels / PIXELS_A_TOKEN))

    def _load(self) -> tuple[Engine, Any]:
        import torch

        from mmdyn.models.backends._local_loading import load_processor, load_weights
        from mmdyn.models.backends._local_model import LocalModel

        options, on_gpu = self._options, self._device.type == "cuda"
        if on_gpu:
            torch.cuda.set_device(self._device)  # of this thread, which is the only one that uses it
        placed = options.device_map or (None if self._device.type == "cpu" else str(self._device))
        settings: dict[str, Any] = {"dtype": self._dtype, "trust_remote_code": options.trust_remote_code}
        settings |= {"device_map": placed} if placed else {}
        settings |= {"attn_implementation": options.attn} if options.attn else {}
        processor = load_processor(self._folder, self._vision, options.trust_remote_code)
        model = load_weights(self._folder, self._vision, **settings)
        return LocalModel(processor, model, options, lambda: self._closing), processor
