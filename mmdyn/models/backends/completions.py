"""`completions:NAME`: a base model behind a server that goes on with a text, as OpenAI's older API has it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from mmdyn.keys import Json
from mmdyn.models.backends._pictures import SentPicture, image_parts
from mmdyn.models.backends._replies import Weigher
from mmdyn.models.backends.openai import OpenAI
from mmdyn.models.model import Message, RejectedError, Spec, choices, is_alone
from mmdyn.record import Reply

TOKENS = 1024


class Completions(OpenAI):
    r"""A model behind POST {base_url}/completions (vLLM, SGLang, TGI, llama.cpp); base_url ends in `/v1` on most.

    Text only. The prompt is the messages' texts with a blank line between them; the text of a last assistant message
    begins the reply. Options can be weighed (`ChoicesPart`) where the server returns log-probabilities (`Weigher`).

    Options: those of OpenAI. max_tokens is 1,024 by default, because servers stop after a few tokens without it.
        extra_body={"stop":["\n\nQuestion:"]} stops a model that would go on with a question of its own.
    """

    weighs, batches = True, None
    api = replace(OpenAI.api, path="/completions", endings=("/completions",), reserved=("model", "prompt", "stream"))

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        if "max_completion_tokens" not in self._sent:
            self._sent.setdefault("max_tokens", TOKENS)
        extra = {name: value for name, value in self._sent.items() if name not in self.names}
        where = f"{self._server.model!r} at {self._server.endpoint}"
        self._weigher = Weigher(self._post, {"model": self._server.model, **extra}, where)

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Send one request, or several where options are weighed. Raises TransientError, RejectedError, ModelError."""
        begun = messages[-1].text if messages[-1].role == "assistant" else ""
        if (texts := choices(messages)) and is_alone(messages):
            return await self._weigher.weigh_alone(texts[0])
        if texts:
            return await self._weigher.weigh(self._prompt(messages), begun, texts)
        reply = await super().ask(messages)
        return replace(reply, text=(begun + reply.text).strip())

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]) -> dict[str, Json]:
        return {"model": self._server.model, "prompt": self._prompt(messages), **self._sent}

    def _prompt(self, messages: tuple[Message, ...]) -> str:
        if image_parts(messages):
            raise RejectedError("the question has a picture, and a model that completes texts reads none")
        system, turns = self._turns(messages)
        return "\n\n".join([system] * bool(system) + [turn.text for turn in turns])

    async def _post(self, body: dict[str, Json], path: str) -> bytes:
        url = self._line.url
        if path:
            root = url.path.removesuffix(self.api.path).removesuffix("/v1")
            url = url.with_path(root + path, keep_query=True)
        return await self._line.post(msgspec.json.encode(body), url)
