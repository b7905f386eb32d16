"""A model of transformers on its device: prompts in batches, answers out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mmdyn.models.backends._likelihood import weigh
from mmdyn.models.backends._local_draws import Draws
from mmdyn.models.backends._local_options import LocalOptions
from mmdyn.models.backends._local_prompt import Prompt, Refused, ends_texts
from mmdyn.models.backends._thinking import split_thinking
from mmdyn.record import Reply, Usage

_DRAWN = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")


class LocalModel:
    """processor, model: as transformers loads them. stopped: asked at every token; true ends what is being written."""

    def __init__(self, processor: Any, model: Any, options: LocalOptions, stopped: Callable[[], bool]) -> None:
        self.processor, self.model = processor, model
        self.tokenizer = getattr(processor, "tokenizer", processor)
        self._vision, self._options, self._stopped = processor is not self.tokenizer, options, stopped
        self._ends_texts = ends_texts(self.tokenizer)
        model.generation_config = self._generation_config()
        self.context: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self.keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters

    def encode(self, prompts: Sequence[Prompt], side: str) -> Any:
        """The model's inputs on its device, padded on the `left` or the `right`. Raises ValueError for what cannot be
        read."""
        self.tokenizer.padding_side = side
        settings = {"padding": True, "return_tensors": "pt", "add_special_tokens": prompts[0].special}
        texts = [prompt.text for prompt in prompts]
        if prompts[0].pictures:
            inputs = self.processor(text=texts, images=[prompt.pictures for prompt in prompts], **settings)
        else:
            inputs = self.processor(text=texts, **settings)
        if prompts[0].special and self._ends_texts:
            _take_ends_off(inputs, side)
        return inputs.to(self.model.device, dtype=self.model.dtype) if self._vision else inputs.to(self.model.device)

    def check_length(self, tokens: int, more: int) -> None:
        """Raises Refused for a prompt that leaves no room for so many tokens more."""
        if self.context is not None and tokens + more > self.context:
            raise Refused(
                f"the prompt has {tokens} tokens, which with {more} more is beyond the {self.context} that the model "
                "takes: lower max_new_tokens or max_pixels"
            )

    def write(self, prompts: Sequence[Prompt]) -> list[Reply | ValueError]:
        """An answer for each prompt; prompts have equally many pictures. Raises ValueError where one cannot be
        taken."""
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        inputs = self.encode(prompts, "left")
        lengths = [int(count) for count in inputs["attention_mask"].sum(-1)]
        options = self._options
        self.check_length(max(lengths), options.max_new_tokens)
        seeds = [prompt.seed for prompt in prompts]
        draws = [Draws(seeds, options.temperature, options.top_p)] if options.temperature else []
        with torch.inference_mode():
            made = self.model.generate(
                **inputs,
                tokenizer=self.tokenizer,  # for a checkpoint that ends answers at some texts
                logits_processor=LogitsProcessorList(draws),
                stopping_criteria=StoppingCriteriaList([self._stop]),
            )
        rows = made[:, inputs["input_ids"].shape[1] :].tolist()
        return [self._reply(*each) for each in zip(prompts, lengths, rows, strict=True)]

    def weigh(self, prompts: Sequence[Prompt]) -> list[Reply | ValueError]:
        """The likeliest of each prompt's choices, in the same way."""
        return weigh(self, prompts)

    def _reply(self, prompt: Prompt, length: int, tokens: list[int]) -> Reply:
        ends = next((number for number, token in enumerate(tokens) if token in self._ends), None)
        written = tokens if ends is None else tokens[:ends]
        if ends is None and self.model.generation_config.stop_strings:
            while written[-1:] == [self.tokenizer.pad_token_id]:  # the others of its batch are longer
                written = written[:-1]
        reasoning, text = split_thinking(self.tokenizer.decode(written, skip_special_tokens=True))
        return Reply(
            text=(prompt.lead + text).strip(),
            finish_reason="length" if ends is None and len(written) == self._options.max_new_tokens else "stop",
            usage=Usage(prompt_tokens=length, completion_tokens=len(written) + (ends is not None)),
            reasoning=reasoning,
            changed=prompt.changed,
        )

    def _generation_config(self) -> Any:
        """The checkpoint's own, without what draws: that is done by `Draws`."""
        config = self.model.generation_config
        ends = config.eos_token_id if config.eos_token_id is not None else self.tokenizer.eos_token_id
        self._ends = frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])
        config.update(
            do_sample=False,
            num_beams=1,
            num_return_sequences=1,
            return_dict_in_generate=False,
            max_length=None,
            max_new_tokens=self._options.max_new_tokens,
            eos_token_id=sorted(self._ends) or None,
            pad_token_id=self.tokenizer.pad_token_id,
            **dict.fromkeys(_DRAWN),
        )
        return config

    def _stop(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        import torch

        return torch.full((input_ids.shape[0],), self._stopped(), device=input_ids.device, dtype=torch.bool)


def _take_ends_off(inputs: Any, side: str) -> None:
    """Take the EOS off that the tokenizer put behind each text, in place."""
    shape, mask = inputs["input_ids"].shape, inputs["attention_mask"]
    if side == "right":
        mask.scatter_(1, mask.sum(-1, keepdim=True) - 1, 0)
    for name, old in list(inputs.items()):
        if getattr(old, "shape", None) == shape:
            inputs[name] = old[:, :-1]
