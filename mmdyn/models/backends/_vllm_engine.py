"""vLLM's offline engine, `LLM.generate`, which takes prompts as tokens with the pictures beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mmdyn.errors import ModelError
from mmdyn.keys import digest
from mmdyn.models.backends._likelihood import likeliest
from mmdyn.models.backends._local_options import VllmOptions
from mmdyn.models.backends._local_prompt import Prompt, continuation_ids, ends_texts, read_json
from mmdyn.models.backends._thinking import split_thinking
from mmdyn.record import Reply, Usage


class VllmEngine:
    """An engine on the GPUs that it finds. Raises ModelError where it cannot be started."""

    def __init__(self, folder: Path, tokenizer: Any, dtype: str, options: VllmOptions, vision: bool) -> None:
        from vllm import LLM

        self._tokenizer, self._options, self._ends_texts = tokenizer, options, ends_texts(tokenizer)
        self._penalty = read_json(folder / "generation_config.json").get("repetition_penalty") or 1.0
        pictures: dict[str, Any] = {"limit_mm_per_prompt": {"image": options.max_images}} if vision else {}
        try:
            self._llm = LLM(
                model=str(folder),
                dtype=dtype,
                trust_remote_code=options.trust_remote_code,
                tensor_parallel_size=options.tensor_parallel_size,
                gpu_memory_utilization=options.gpu_memory_utilization,
                max_model_len=options.max_model_len,
                **pictures,
            )
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ModelError(f"vLLM cannot start {folder} ({reason}): mend the options, or ask it as hf:") from None

    def write(self, prompts: Sequence[Prompt]) -> list[Reply | ValueError]:
        """An answer for each prompt. Raises ValueError where one is too long for the engine."""
        from vllm import SamplingParams

        options = self._options
        parameters = [
            SamplingParams(
                temperature=options.temperature,
                top_p=options.top_p,
                max_tokens=options.max_new_tokens,
                seed=int(digest(prompt.seed)[:12], 16),
                repetition_penalty=self._penalty,
            )
            for prompt in prompts
        ]
        made = self._llm.generate([self._put(prompt) for prompt in prompts], parameters, use_tqdm=False)
        return [_reply(prompt, output) for prompt, output in zip(prompts, made, strict=True)]

    def weigh(self, prompts: Sequence[Prompt]) -> list[Reply | ValueError]:
        """The likeliest continuation of each prompt: each is put behind it, and the engine says how likely every token
        was."""
        from vllm import SamplingParams

        found = [
            [continuation_ids(self._tokenizer, prompt.text, text) for text in prompt.choices] for prompt in prompts
        ]
        asked = [self._put(prompt, ids) for prompt, each in zip(prompts, found, strict=True) for ids in each]
        parameters = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0)
        made = iter(self._llm.generate(asked, parameters, use_tqdm=False))
        replies = list[Reply | ValueError]()
        for prompt, each in zip(prompts, found, strict=True):
            outputs = [next(made) for _ in each]
            lengths = [len(ids) for ids in each]
            sums = [_sum(output, ids) for output, ids in zip(outputs, each, strict=True)]
            replies.append(likeliest(prompt, sums, lengths, len(outputs[0].prompt_token_ids) - lengths[0]))
        return replies

    def _put(self, prompt: Prompt, more: tuple[int, ...] = ()) -> dict[str, Any]:
        ids = self._tokenizer(prompt.text, add_special_tokens=prompt.special)["input_ids"]
        if prompt.special and self._ends_texts:
            ids = ids[:-1]
        pictures = {"multi_modal_data": {"image": prompt.pictures}} if prompt.pictures else {}
        return {"prompt_token_ids": [*ids, *more], **pictures}


def _reply(prompt: Prompt, output: Any) -> Reply:
    written = output.outputs[0]
    reasoning, text = split_thinking(written.text)
    return Reply(
        text=(prompt.lead + text).strip(),
        finish_reason=written.finish_reason or "",
        usage=Usage(prompt_tokens=len(output.prompt_token_ids), completion_tokens=len(written.token_ids)),
        reasoning=reasoning,
        changed=prompt.changed,
    )


def _sum(output: Any, ids: tuple[int, ...]) -> float:
    """The log-probability of the prompt's last tokens."""
    last = output.prompt_logprobs[-len(ids) :]
    return sum(float(table[token].logprob) for table, token in zip(last, ids, strict=True))
