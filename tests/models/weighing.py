"""Servers that complete texts with a checkpoint and tell log-probabilities, each as one kind of server does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

KINDS = ("vllm", "sglang", "llama.cpp", "llama-cpp-python", "tgi")


BOS = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [257], "tokens": ["<s>"]}},
}


def with_tokenizer(folder: Path, **changes: object) -> Path:
    file = folder / "tokenizer.json"
    whole = json.loads(file.read_text())
    file.write_text(json.dumps({**whole, **changes}))
    return folder


class Weights:
    """What a checkpoint makes of texts: tokens with the special ones around them, log-probabilities, the next token."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text)["input_ids"])

    def rows(self, ids: list[int]) -> Any:
        """Log-probabilities of what comes after each token."""
        import torch

        with torch.inference_mode():
            return torch.log_softmax(self.model(torch.tensor([ids])).logits[0].float(), -1)

    def scores(self, ids: list[int]) -> list[float | None]:
        """How likely each token was after those before it."""
        rows = self.rows(ids)
        return [None, *(float(rows[place - 1, ids[place]]) for place in range(1, len(ids)))]

    def written(self, ids: list[int], tokens: int) -> list[int]:
        """The likeliest tokens, one after the other."""
        made = list[int]()
        while len(made) < tokens and self.tokenizer.eos_token_id not in made:
            made.append(int(self.rows([*ids, *made])[-1].argmax()))
        return made

    def texts(self, ids: list[int]) -> list[str]:
        """Each token alone; the empty string for a part of a letter."""
        return ["" if "\ufffd" in (text := self.tokenizer.decode([token])) else text for token in ids]


class Refused(Exception):
    """An error answer: status and body."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.status, self.body = status, body


class WeighingServer:
    """Answers as a kind of server does. told: whether it is set up so that it tells log-probabilities."""

    def __init__(self, folder: Path, kind: str, *, told: bool = True) -> None:
        self.weights, self.kind, self.told = Weights(folder), kind, told
        self.asked = list[tuple[str, Any]]()

    def answer(self, path: str, body: Any) -> Any:
        self.asked.append((path, body))
        if path == "/v1/completions":
            return self._complete(body)
        if path == "/tokenize" and self.kind == "llama.cpp":
            return {"tokens": self.weights.ids(body["content"])}
        if path == "/tokenize" and self.kind == "tgi":
            raise Refused(422, b"Failed to deserialize the JSON body into the target type: missing field `inputs`")
        if path == "/generate" and self.kind == "tgi":
            return self._generate(body)
        raise Refused(404, {"detail": "Not Found"})

    def _complete(self, body: Any) -> Any:
        weights, prompt = self.weights, body["prompt"]
        if self.kind == "tgi" and not body.get("temperature", 1) > 0:
            says = "Input validation error: `temperature` must be strictly positive"
            raise Refused(422, {"error": says, "error_type": "validation"})
        if self.kind == "llama.cpp" and body.get("echo"):
            error = {"code": 500, "message": "Only no echo is supported", "type": "server_error"}
            raise Refused(500, {"error": error})
        if self.kind == "llama-cpp-python" and body.get("logprobs") is not None and not self.told:
            says = "logprobs is not supported for models created with logits_all=False"
            raise Refused(
                500, {"error": {"message": says, "type": "internal_server_error", "param": None, "code": None}}
            )
        if self.kind == "openai" and body.get("echo") and body.get("logprobs") is not None:
            says = "Setting 'echo' and 'logprobs' at the same time is not supported for this model."
            raise Refused(
                400, {"error": {"message": says, "type": "invalid_request_error", "param": None, "code": None}}
            )
        ids = weights.ids(prompt) if isinstance(prompt, str) else prompt
        forced = [token for token, bias in body.get("logit_bias", []) if bias > 1000]
        made = forced or weights.written(ids, body.get("max_tokens", 16))
        text = weights.tokenizer.decode(made, skip_special_tokens=True)
        choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": "length", "logprobs": None}
        if body.get("echo") and self.kind not in ("tgi", "deaf"):
            choice["text"] = prompt + text
        if body.get("logprobs") is not None and self.kind != "tgi":
            choice["logprobs"] = self._logprobs(ids, made, bool(body.get("echo")))
        usage = {"prompt_tokens": len(ids), "completion_tokens": len(made), "total_tokens": len(ids) + len(made)}
        return {"object": "text_completion", "model": body["model"], "choices": [choice], "usage": usage}

    def _logprobs(self, ids: list[int], made: list[int], echo: bool) -> Any:
        weights = self.weights
        if self.kind == "llama.cpp":
            rows = weights.rows(ids)
            return {"content": [{"id": made[0], "token": "?", "logprob": float(rows[-1, made[0]]), "top_logprobs": []}]}
        shown, scores = [*ids, *made], weights.scores([*ids, *made])
        if self.kind == "llama-cpp-python" and echo:
            # It has a row for each token of the prompt, in order, and puts the tokens behind the BOS beside them.
            rows = weights.rows(ids)
            shown = shown[1:] if shown[0] == weights.tokenizer.bos_token_id else shown
            pairs = list(zip(shown, rows, strict=False))
            shown = [token for token, _ in pairs]
            scores = [None, *(float(row[token]) for token, row in pairs[1:])]
        if not echo or self.kind == "deaf":
            shown, scores = shown[-len(made) :], scores[-len(made) :]
        texts = weights.texts(shown)
        offsets = [-1] * len(texts) if self.kind == "sglang" else [sum(map(len, texts[:n])) for n in range(len(texts))]
        return {"tokens": texts, "token_logprobs": scores, "text_offset": offsets, "top_logprobs": [None] * len(texts)}

    def _generate(self, body: Any) -> Any:
        ids, wanted = self.weights.ids(body["inputs"]), body["parameters"]
        pairs = zip(ids, self.weights.texts(ids), self.weights.scores(ids), strict=True)
        prefill = [{"id": token, "text": text, "logprob": score} for token, text, score in pairs]
        made = self.weights.written(ids, wanted["max_new_tokens"])
        details = {"finish_reason": "length", "generated_tokens": len(made), "seed": None, "tokens": []}
        shown = prefill if wanted.get("decoder_input_details") and self.told else []
        return {"generated_text": self.weights.tokenizer.decode(made), "details": {**details, "prefill": shown}}


@asynccontextmanager
async def weighing(folder: Path, kind: str, *, told: bool = True) -> AsyncIterator[tuple[str, WeighingServer]]:
    """A base_url, and the server behind it."""
    server = WeighingServer(folder, kind, told=told)

    async def handle(request: web.BaseRequest) -> web.Response:
        status: int = 200
        try:
            answer = server.answer(request.path, await request.json())
        except Refused as refusal:
            status, answer = refusal.status, refusal.body
        body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
        return web.Response(body=body, status=status, content_type="application/json")

    runner = web.ServerRunner(web.Server(handle, access_log=None))  # type: ignore[arg-type]
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1", server
    finally:
        await runner.cleanup()
