"""Answers with the prompt's length and what it was asked with; a token of code i has a log-probability of -i / 100."""

from types import SimpleNamespace

made, asked = [], []


class SamplingParams:
    def __init__(
        self, *, temperature=1.0, top_p=1.0, max_tokens=16, seed=None, prompt_logprobs=None, repetition_penalty=1.0
    ):
        self.temperature, self.top_p, self.max_tokens, self.seed = temperature, top_p, max_tokens, seed
        self.prompt_logprobs, self.repetition_penalty = prompt_logprobs, repetition_penalty
        asked.append(self)


class LLM:
    def __init__(self, model, **settings):
        if settings["tensor_parallel_size"] > 1:
            raise ValueError("World size (2) is larger than the number of available GPUs (0)")
        self.settings = settings
        made.append(self)

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True):
        several = isinstance(sampling_params, list)
        assert not several or len(sampling_params) == len(prompts)
        each = sampling_params if several else [sampling_params] * len(prompts)
        return [self._output(*one) for one in zip(prompts, each)]

    def _output(self, prompt, params):
        ids, images = prompt["prompt_token_ids"], prompt.get("multi_modal_data", {}).get("image", [])
        if len(ids) > 500:
            raise ValueError(f"The decoder prompt (length {len(ids)}) is longer than the maximum model length of 500.")
        text = f"<think>hm</think>Answer: {len(ids)} {[image.size for image in images]} {params.seed}"
        tables = None
        if params.prompt_logprobs is not None:
            tables = [None, *({token: SimpleNamespace(logprob=-token / 100)} for token in ids[1:])]
        completion = SimpleNamespace(
            text=text, token_ids=[1, 2], finish_reason="length" if params.max_tokens < 5 else "stop"
        )
        return SimpleNamespace(prompt_token_ids=ids, prompt_logprobs=tables, outputs=[completion])
