"""What is sent for an ask: one prompt; or a first one, whose answer lies beside the question in the second."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from weakref import WeakValueDictionary

import msgspec

from mmdyn.context import Context
from mmdyn.keys import canonical, digest
from mmdyn.models import Asker, Message
from mmdyn.record import Reply
from mmdyn.run.plan import Ask
from mmdyn.run.render import Renderer, to_elaborate
from mmdyn.work import EXPANSION, Expansion, Store


class Answered(msgspec.Struct, frozen=True):
    """A reply and the key of its request; the key of the expansion that lay beside the question, and its text, None
    without one."""

    reply: Reply
    request: str
    expansion: str = ""
    notes: str | None = None


class PromptFlow:
    """Carries out what an ask's context plans. An expansion is kept in the store, so that equal ones are asked for
    once."""

    def __init__(self, renderers: Sequence[Renderer], store: Store) -> None:
        self._renderers, self._store = renderers, store
        self._one_at_a_time = WeakValueDictionary[str, asyncio.Lock]()
        self._keys = dict[str, str]()

    def opening(self, ask: Ask) -> tuple[Message, ...]:
        """What is sent first, which is all where nothing is expanded. Raises ValueError where a picture is missing."""
        return opening(self._renderers[ask.place], ask)

    async def carry_out(self, asker: Asker, ask: Ask, first: tuple[Message, ...]) -> Answered:
        """Have an ask answered that opens with `first`. Raises as `Asker.ask` does, and ValueError where a picture is
        missing."""
        request = asker.request_key(first, ask.epoch)
        if not expands(ask.condition.context):
            return Answered(await asker.ask(first, ask.epoch), request)
        async with self._one_at_a_time.setdefault(request, asyncio.Lock()):
            expansion = self._known(request) or await self._expand(asker, ask, first, request)
        if expansion.error:
            return Answered(expansion, request)
        second = self._renderers[ask.place].messages(ask.sample, ask.condition, expansion.text)
        reply = await asker.ask(second, ask.epoch)
        return Answered(reply, asker.request_key(second, ask.epoch), self._keys[request], expansion.text)

    def _known(self, request: str) -> Reply | None:
        key = self._keys.get(request)
        found = self._store.find(EXPANSION, f"{request}:") if key is None else (key, self._store.get(EXPANSION, key))
        if found is None or found[1] is None:
            return None
        self._keys[request] = found[0]
        return msgspec.json.decode(found[1], type=Expansion).reply

    async def _expand(self, asker: Asker, ask: Ask, first: tuple[Message, ...], request: str) -> Reply:
        """Ask for it. Its key says which text it is: processes that ask at one moment may get different ones."""
        reply = await asker.ask(first, ask.epoch)
        if not reply.error:
            self._keys[request] = f"{request}:{digest(reply.text, 4)}"
            self._store.put(EXPANSION, self._keys[request], canonical(Expansion(asker.model.label, reply)))
        return reply


def opening(renderer: Renderer, ask: Ask) -> tuple[Message, ...]:
    """The messages that an ask begins with."""
    beside = ask.built.text if ask.built else ""
    if expands(ask.condition.context):
        return to_elaborate(ask.sample, beside)
    return renderer.messages(ask.sample, ask.condition, beside)


@lru_cache(maxsize=256)
def expands(context: str) -> bool:
    """Whether a context, by its name, takes two turns."""
    return Context.parse(context).elaborate == "two-turn"
