"""`vllm:REPOSITORY` or `vllm:FOLDER`: models on this machine's GPUs, run by vLLM's offline engine."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from mmdyn.errors import UserError
from mmdyn.models.backends._local_backend import Engine, LocalBackend
from mmdyn.models.backends._local_options import VllmOptions
from mmdyn.models.model import Spec, read_options


class VLLM(LocalBackend):
    """A checkpoint run by vLLM, which must be installed. Options: `VllmOptions`.

    The engine makes its own batches out of the requests that it is handed; prompts are the same as `hf` writes.
    """

    name = "vllm"
    batches_waiting = 2

    def __init__(self, spec: Spec) -> None:
        if find_spec("vllm") is None:
            raise UserError("vllm is needed for this and is not installed: pip install vllm")
        self._options = read_options(spec, VllmOptions)
        super().__init__(spec, self._options)

    def _load(self) -> tuple[Engine, Any]:
        from mmdyn.models.backends._local_loading import load_processor
        from mmdyn.models.backends._vllm_engine import VllmEngine

        processor = load_processor(self._folder, self._vision, self._options.trust_remote_code)
        tokenizer = processor.tokenizer if self._vision else processor
        dtype = str(self._dtype).removeprefix("torch.")
        return VllmEngine(self._folder, tokenizer, dtype, self._options, self._vision), processor
