"""`completions:NAME`: a base model behind a server that goes on with a text, as OpenAI's older API has it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from mmdyn.keys import Json
from mmdyn.models.backends._pictures import SentPicture
from mmdyn.models.backends.openai import OpenAI
from mmdyn.models.message import Message, TextPart
from mmdyn.models.model import RejectedError, Spec
from mmdyn.record import Reply

TOKENS = 1024


class Completions(OpenAI):
    """A model behind POST {base_url}/completions (vLLM, SGLang, llama.cpp); base_url ends in `/v1` on most servers.

    Text only. The prompt is the messages' texts, a blank line between them; with a last one of the assistant's the
    reply begins. Options: those of OpenAI; without max_tokens 1,024 are asked for, because servers stop after a few.
    extra_body={"stop":["\\n\\nQuestion:"]} has a server end where the model would go on with a question of its own.
    """

    api = replace(OpenAI.api, path="/completions", endings=("/completions",), reserved=("model", "prompt", "stream"))

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        if "max_completion_tokens" not in self._sent:
            self._sent.setdefault("max_tokens", TOKENS)

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One request. Raises TransientError, RejectedError, ModelError."""
        reply = await super().ask(messages)
        begun = messages[-1].text if messages[-1].role == "assistant" else ""
        return replace(reply, text=(begun + reply.text).strip())

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]) -> dict[str, Json]:
        if pictures:
            raise RejectedError("the question has a picture, and a model that completes texts reads none")
        system, turns = self._turns(messages)
        texts = ["".join(part.text for part in turn.shown if isinstance(part, TextPart)) for turn in turns]
        return {"model": self._server.model, "prompt": "\n\n".join([system] * bool(system) + texts), **self._sent}
