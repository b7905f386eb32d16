"""`vllm:REPOSITORY` or `vllm:FOLDER`: models on this machine's GPUs, run by vLLM's offline engine (`LLM.generate`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from mmdyn.errors import ModelError, UserError
from mmdyn.keys import digest
from mmdyn.models.backends._local_backend import (
    Count,
    LocalBackend,
    LocalEngine,
    LocalOptions,
    LocalPrompt,
    Wanted,
    continuation_ids,
    ends_texts,
    ids_alone,
    load_processor,
    read_json,
    written,
)
from mmdyn.models.backends._replies import likeliest, token_reply
from mmdyn.models.checkpoint import own_cards, ranks_here, visible_cards
from mmdyn.models.model import Spec, read_options
from mmdyn.record import Reply, Usage


class _Options(LocalOptions, frozen=True):
    batch: Count = 256
    tensor_parallel_size: Count = 1
    gpu_memory_utilization: Annotated[float, Meta(gt=0, le=1)] = 0.9
    max_model_len: Count | None = None
    max_images: Count = 16


_PASSED_ON = ("trust_remote_code", "tensor_parallel_size", "gpu_memory_utilization", "max_model_len")


class VLLM(LocalBackend):
    """A checkpoint run by vLLM, which must be installed.

    Options, after the name, beside those of LocalOptions:
    tensor_parallel_size: The number of GPUs that the model is spread over.
    gpu_memory_utilization: The share of a GPU's memory that the engine takes.
    max_model_len: The most tokens of prompt and answer together; by default the model's own limit.
    max_images: The most pictures in a request.

    The engine batches the requests itself; prompts are the same as those of `hf`.
    """

    name = "vllm"
    batches_waiting = 2

    def __init__(self, spec: Spec) -> None:
        if find_spec("vllm") is None:
            raise UserError("vllm is needed for this and is not installed: pip install vllm")
        self._options = read_options(spec, _Options)
        super().__init__(spec, self._options)

    def _load(self) -> tuple[LocalEngine, Any]:
        _see_own_cards(self._options.tensor_parallel_size)
        processor = load_processor(self._folder, self._vision, self._options.trust_remote_code)
        tokenizer = processor.tokenizer if self._vision else processor
        dtype = str(self._dtype).removeprefix("torch.")
        return _Engine(self._folder, tokenizer, dtype, self._options, self._vision), processor


def _see_own_cards(count: int) -> None:
    """The engine takes the first GPUs that it sees, so it is shown this rank's alone. Raises UserError for too few."""
    if ranks_here() > 1:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(own_cards(visible_cards(), count))


class _Engine:
    """An engine on the GPUs that it finds. Raises ModelError where it cannot be started."""

    def __init__(self, folder: Path, tokenizer: Any, dtype: str, options: _Options, vision: bool) -> None:
        from vllm import LLM

        self._tokenizer, self._options, self._ends_texts = tokenizer, options, ends_texts(tokenizer)
        self._penalty = read_json(folder / "generation_config.json").get("repetition_penalty") or 1.0
        settings: dict[str, Any] = {name: getattr(options, name) for name in _PASSED_ON}
        settings |= {"limit_mm_per_prompt": {"image": options.max_images}} if vision else {}
        try:
            self._llm = LLM(model=str(folder), dtype=dtype, **settings)
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ModelError(f"vLLM cannot start {folder} ({reason}): mend the options, or ask it as hf:") from None

    def encode(self, wanted: Wanted, prompts: Sequence[LocalPrompt]) -> Any:
        """What the engine is handed; to weigh, the choices' tokens too."""
        if wanted == "write":
            return [self._put(prompt) for prompt in prompts]
        tokenizer = self._tokenizer
        if wanted == "read":
            whole = [ids_alone(tokenizer, prompt.choices[0]) for prompt in prompts]
            return [[ids[1:]] for ids in whole], [{"prompt_token_ids": [*ids]} for ids in whole]
        found = [[continuation_ids(tokenizer, prompt.text, text) for text in prompt.choices] for prompt in prompts]
        return found, [self._put(prompt, ids) for prompt, each in zip(prompts, found, strict=True) for ids in each]

    def write(self, prompts: Sequence[LocalPrompt], encoded: Any) -> list[Reply | ValueError]:
        """An answer for each prompt. Raises ValueError where one is too long for the engine."""
        from vllm import SamplingParams

        options = self._options
        how = {"temperature": options.temperature, "top_p": options.top_p, "repetition_penalty": self._penalty}
        seeds = [int(digest(prompt.seed)[:12], 16) for prompt in prompts]
        parameters = [SamplingParams(**how, max_tokens=options.max_new_tokens, seed=seed) for seed in seeds]
        made = self._llm.generate(encoded, parameters, use_tqdm=False)
        replies = list[Reply | ValueError]()
        for prompt, output in zip(prompts, made, strict=True):
            said, read = output.outputs[0], len(output.prompt_token_ids)
            replies.append(written(prompt, said.text, said.finish_reason or "", read, len(said.token_ids)))
        return replies

    def weigh(self, prompts: Sequence[LocalPrompt], encoded: Any) -> list[Reply | ValueError]:
        """The likeliest continuation of each prompt: each is put behind it, and the engine says how likely every token
        was."""
        from vllm import SamplingParams

        found, asked = encoded
        parameters = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0)
        made = iter(self._llm.generate(asked, parameters, use_tqdm=False))
        replies = list[Reply | ValueError]()
        for prompt, each in zip(prompts, found, strict=True):
            outputs = [next(made) for _ in each]
            lengths = [len(ids) for ids in each]
            values = [_values(output, ids) for output, ids in zip(outputs, each, strict=True)]
            read = Usage(len(outputs[0].prompt_token_ids) - (0 if prompt.alone else lengths[0]))
            if prompt.alone:
                replies.append(token_reply(values[0], read, changed=prompt.changed))
            else:
                sums = [*map(sum, values)]
                replies.append(likeliest(prompt.lead, prompt.choices, sums, lengths, read, prompt.changed))
        return replies

    def _put(self, prompt: LocalPrompt, more: tuple[int, ...] = ()) -> dict[str, Any]:
        ids = self._tokenizer(prompt.text, add_special_tokens=prompt.special)["input_ids"]
        if prompt.special and self._ends_texts:
            ids = ids[:-1]
        pictures = {"multi_modal_data": {"image": prompt.pictures}} if prompt.pictures else {}
        return {"prompt_token_ids": [*ids, *more], **pictures}


def _values(output: Any, ids: tuple[int, ...]) -> list[float]:
    """The log-probabilities of the prompt's last tokens."""
    last = output.prompt_logprobs[-len(ids) :]
    return [float(table[token].logprob) for table, token in zip(last, ids, strict=True)]
