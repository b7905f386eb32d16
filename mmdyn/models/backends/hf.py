"""`hf:REPOSITORY` or `hf:FOLDER`: models of transformers on this machine, of text or of pictures and text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from math import log2
from threading import Lock
from typing import Any, cast

from mmdyn.errors import UserError
from mmdyn.keys import stream
from mmdyn.models.backends._continuations import Token, read_continuations
from mmdyn.models.backends._local_backend import (
    Key,
    LocalBackend,
    LocalEngine,
    LocalOptions,
    LocalPrompt,
    LocalRequest,
    Refused,
    Wanted,
    continuation_ids,
    ends_texts,
    ids_alone,
    load_processor,
    load_weights,
    written,
)
from mmdyn.models.backends._replies import likeliest, token_reply
from mmdyn.models.checkpoint import USED, free_memory, need, ranks_here
from mmdyn.models.model import Spec, choices, read_options
from mmdyn.record import Reply, Usage
from mmdyn.text import estimate_tokens

PIXELS_A_TOKEN = 784
"""Roughly: only what is put into one batch hangs on it."""

_DRAWN = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
"""What of a checkpoint's own settings draws tokens."""


class _Options(LocalOptions, frozen=True):
    device: str | None = None
    device_map: str | None = None
    attn: str | None = None


class HuggingFace(LocalBackend):
    """A checkpoint run by transformers.

    Options, after the name, beside those of LocalOptions:
    device: A torch device; by default this rank's GPU (LOCAL_RANK), which `cuda` means, too, or the CPU where there is
        none.
    device_map: How a model is spread over several GPUs, such as `auto`.
    attn: The implementation of attention, such as `sdpa` or `flash_attention_2`.

    Requests of similar length run in one batch; the batch changes an answer only by rounding. A batch that does not fit
    into memory is halved.
    """

    name = "hf"
    batches_waiting = 8

    def __init__(self, spec: Spec) -> None:
        need("torch", "transformers", "accelerate")
        self._options = read_options(spec, _Options)
        if self._options.device_map and ranks_here() > 1:
            spreads = f"device_map={self._options.device_map} spreads a model over all GPUs"
            mend = "leave it out, or start one process"
            raise UserError(f"{spreads}, and {ranks_here()} ranks would share them: {mend}")
        super().__init__(spec, self._options, self._options.device)
        self.identity["attention"] = self._options.attn

    def _length(self, job: LocalRequest) -> int:
        tokens = sum(estimate_tokens(message.text) for message in job.messages)
        tokens += max(map(estimate_tokens, choices(job.messages)), default=0)
        pixels = sum(picture.width * picture.height for picture in job.pictures)
        return round(log2(1 + tokens + pixels / PIXELS_A_TOKEN))

    def _size(self, key: Key) -> int:
        """No more than whose keys and values fit into the memory that is free."""
        size, (engine, _) = super()._size(key), self._loaded
        if self._device.type != "cuda" or self._options.device_map:
            return size
        room = USED * free_memory(self._device) / (self._tokens(key) * cast("_Engine", engine).token_bytes)
        return max(1, min(size, int(room)))

    def _load(self) -> tuple[LocalEngine, Any]:
        import torch

        options = self._options
        if self._device.type == "cuda":
            torch.cuda.set_device(self._device)  # of this thread, which is the only one that uses it
        placed = options.device_map or (None if self._device.type == "cpu" else str(self._device))
        settings: dict[str, Any] = {"dtype": self._dtype, "trust_remote_code": options.trust_remote_code}
        settings |= {"device_map": placed} if placed else {}
        settings |= {"attn_implementation": options.attn} if options.attn else {}
        processor = load_processor(self._folder, self._vision, options.trust_remote_code)
        kind = "AutoModelForImageTextToText" if self._vision else "AutoModelForCausalLM"
        model = load_weights(self._folder, kind, **settings)
        return _Engine(processor, model, options, lambda: self._closing), processor


class _Engine:
    """processor, model: as transformers loads them. stopped: asked at every token; true ends what is being written."""

    def __init__(self, processor: Any, model: Any, options: _Options, stopped: Callable[[], bool]) -> None:
        self.processor, self.model = processor, model
        self.tokenizer = getattr(processor, "tokenizer", processor)
        self._decoder, self._encoding = deepcopy(self.tokenizer), Lock()  # a tokenizer does one thing at a time
        self._vision, self._options, self._stopped = processor is not self.tokenizer, options, stopped
        self._ends_texts = ends_texts(self.tokenizer)
        model.generation_config = self._generation_config()
        self.context: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)

    @property
    def token_bytes(self) -> int:
        """Memory that a token's keys and values take in all layers; 1 where the config does not say it in numbers."""
        config = self.model.config.get_text_config()
        try:
            heads = config.num_attention_heads
            kept = getattr(config, "num_key_value_heads", None) or heads
            width = getattr(config, "head_dim", None) or config.hidden_size // heads
            return int(2 * config.num_hidden_layers * kept * width * self.model.dtype.itemsize)
        except (AttributeError, RuntimeError, TypeError, ValueError):  # none of them, or another one in each layer
            return 1

    def encode(self, wanted: Wanted, prompts: Sequence[LocalPrompt]) -> Any:
        """Inputs to write after; to weigh, the choices' tokens too. Raises ValueError for what cannot be read."""
        with self._encoding:
            if wanted == "read":
                return self._alone(prompts)
            inputs = self._inputs(prompts)
            if wanted == "write":
                return inputs
            return [
                [continuation_ids(self.tokenizer, prompt.text, text) for text in prompt.choices] for prompt in prompts
            ], inputs

    def _inputs(self, prompts: Sequence[LocalPrompt]) -> Any:
        """The model's inputs, padded on the left."""
        self.tokenizer.padding_side = "left"
        special = prompts[0].special
        settings = {"padding": True, "padding_side": "left", "return_tensors": "pt", "add_special_tokens": special}
        texts = [prompt.text for prompt in prompts]
        if prompts[0].pictures:
            inputs = self.processor(text=texts, images=[prompt.pictures for prompt in prompts], **settings)
        else:
            inputs = self.processor(text=texts, **settings)
        if special and self._ends_texts:
            _take_ends_off(inputs)
        return inputs

    def _alone(self, prompts: Sequence[LocalPrompt]) -> Any:
        """Texts by themselves: the first token of each, and what goes on behind it."""
        import torch
        from transformers import BatchFeature

        whole = [ids_alone(self.tokenizer, prompt.choices[0]) for prompt in prompts]
        first = torch.tensor([ids[:1] for ids in whole])
        inputs = BatchFeature({"input_ids": first, "attention_mask": torch.ones_like(first)})
        return [[ids[1:]] for ids in whole], inputs

    def _put(self, inputs: Any) -> Any:
        """Inputs on the model's device."""
        return inputs.to(self.model.device, dtype=self.model.dtype) if self._vision else inputs.to(self.model.device)

    def _check_length(self, tokens: int, more: int) -> None:
        """Raises Refused for a prompt that leaves no room for so many tokens more."""
        if self.context is not None and tokens + more > self.context:
            raise Refused(
                f"the prompt has {tokens} tokens, which with {more} more is beyond the {self.context} that the model "
                "takes: lower max_new_tokens or max_pixels"
            )

    def write(self, prompts: Sequence[LocalPrompt], encoded: Any) -> list[Reply | ValueError]:
        """An answer for each prompt; prompts have equally many pictures. Raises ValueError where one is too long."""
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        lengths = [int(count) for count in encoded["attention_mask"].sum(-1)]
        options = self._options
        self._check_length(max(lengths), options.max_new_tokens)
        inputs = self._put(encoded)
        seeds = [prompt.seed for prompt in prompts]
        draws = [_Draws(seeds, options.temperature, options.top_p)] if options.temperature else []
        with torch.inference_mode():
            made = self.model.generate(
                **inputs,
                tokenizer=self._decoder,  # for a checkpoint that ends answers at some texts
                logits_processor=LogitsProcessorList(draws),
                stopping_criteria=StoppingCriteriaList([self._stop]),
            )
        rows = made[:, inputs["input_ids"].shape[1] :].tolist()
        return [
            self._reply(prompt, length, tokens) for prompt, length, tokens in zip(prompts, lengths, rows, strict=True)
        ]

    def weigh(self, prompts: Sequence[LocalPrompt], encoded: Any) -> list[Reply | ValueError]:
        """The likeliest of each prompt's choices, or what is told of the tokens of texts that stand alone; prompts have
        equally many pictures. Raises ValueError where one is too long."""
        import torch

        found, inputs = encoded
        lengths = [int(length) for length in inputs["attention_mask"].sum(-1)]
        most = max(len(ids) for each in found for ids in each)
        self._check_length(max(lengths), most)
        with torch.inference_mode():
            told = self.model.generate(
                **self._put(inputs), custom_generate=read_continuations, continuations=found, use_cache=most > 1
            )
        return [
            self._weighed(prompt, each, length) for prompt, each, length in zip(prompts, told, lengths, strict=True)
        ]

    def _weighed(self, prompt: LocalPrompt, told: list[list[Token]], length: int) -> Reply:
        if prompt.alone:
            logprobs, *vocabulary = zip(*told[0], strict=True)
            pairs = list(zip(*vocabulary, strict=True))
            return token_reply(logprobs, Usage(length + len(logprobs)), pairs, prompt.changed)
        sums = [sum(token.logprob for token in each) for each in told]
        return likeliest(prompt.lead, prompt.choices, sums, [*map(len, told)], Usage(length), prompt.changed)

    def _reply(self, prompt: LocalPrompt, length: int, tokens: list[int]) -> Reply:
        ends = next((number for number, token in enumerate(tokens) if token in self._ends), None)
        kept = tokens if ends is None else tokens[:ends]
        if ends is None and self.model.generation_config.stop_strings:
            while kept[-1:] == [self.tokenizer.pad_token_id]:  # the others of its batch are longer
                kept = kept[:-1]
        finish = "length" if ends is None and len(kept) == self._options.max_new_tokens else "stop"
        text = self._decoder.decode(kept, skip_special_tokens=True)
        return written(prompt, text, finish, length, len(kept) + (ends is not None))

    def _generation_config(self) -> Any:
        """The checkpoint's own, without what draws: that is done by `_Draws`."""
        config = self.model.generation_config
        ends = config.eos_token_id if config.eos_token_id is not None else self.tokenizer.eos_token_id
        self._ends = frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])
        one = {"do_sample": False, "num_beams": 1, "num_return_sequences": 1, "return_dict_in_generate": False}
        length = {"max_length": None, "max_new_tokens": self._options.max_new_tokens}
        tokens = {"eos_token_id": sorted(self._ends) or None, "pad_token_id": self.tokenizer.pad_token_id}
        config.update(**one, **length, **tokens, **dict.fromkeys(_DRAWN))
        return config

    def _stop(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        import torch

        return torch.full((input_ids.shape[0],), self._stopped(), device=input_ids.device, dtype=torch.bool)


def _take_ends_off(inputs: Any) -> None:
    """Take the EOS off that the tokenizer put behind each text, in place."""
    shape = inputs["input_ids"].shape
    for name, old in list(inputs.items()):
        if getattr(old, "shape", None) == shape:
            inputs[name] = old[:, :-1]


class _Draws:
    """A step of transformers' generation: leaves of each row's scores the one token that was drawn.

    A row has a stream of its own, of which each step takes one number u in [0, 1). Tokens stand in the order of their
    probabilities, and the one whose share holds u is taken; those beyond the likeliest that make up `top_p` have no
    share (nucleus sampling, Holtzman et al. 2020, section 3.1).
    """

    def __init__(self, seeds: Sequence[tuple[str | int, ...]], temperature: float, top_p: float) -> None:
        self._streams = [stream(*seed) for seed in seeds]
        self._temperature, self._top_p = temperature, top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores of shape (rows, tokens) with all but one of each row at minus infinity."""
        import torch

        shares = torch.softmax(scores.float() / self._temperature, -1)
        probabilities, tokens = torch.sort(shares, dim=-1, descending=True, stable=True)
        ends = probabilities.cumsum(-1)
        kept = ends - probabilities < self._top_p
        ends = torch.where(kept, ends, torch.inf)
        total = torch.where(kept, probabilities, 0).sum(-1, keepdim=True)
        numbers = torch.tensor([[each.random()] for each in self._streams], device=scores.device, dtype=torch.float32)
        places = torch.minimum((ends <= numbers * total).sum(-1, keepdim=True), kept.sum(-1, keepdim=True) - 1)
        return torch.full_like(scores, -torch.inf).scatter(-1, tokens.gather(-1, places), 0.0)
