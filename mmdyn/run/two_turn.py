"""Contexts of two turns: the model first elaborates on the knowledge, and what it wrote lies beside the question."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

import msgspec

from mmdyn.context import Context
from mmdyn.keys import canonical, digest
from mmdyn.models import Asker, Message
from mmdyn.record import Reply
from mmdyn.run.plan import Ask
from mmdyn.run.render import Renderer, to_elaborate
from mmdyn.work import EXPANSION, Expansion, Store


class Expansions:
    """What models wrote in the first turn. It is kept in the store, so that equal ones are asked for once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._one_at_a_time = WeakValueDictionary[str, asyncio.Lock]()
        self._keys = dict[str, str]()

    async def fetch(self, asker: Asker, first: tuple[Message, ...], epoch: int, request: str) -> tuple[Reply, str]:
        """The reply to the first turn and the key that it is kept under, empty where it failed. Raises as `Asker.ask`
        does."""
        async with self._one_at_a_time.setdefault(request, asyncio.Lock()):
            reply = self._known(request)
            if reply is None:
                reply = await asker.ask(first, epoch, key=request)
                if not reply.error:  # the key says which text: processes that ask at one moment may get different ones
                    self._keys[request] = f"{request}:{digest(reply.text, 4)}"
                    self._store.put(EXPANSION, self._keys[request], canonical(Expansion(asker.model.label, reply)))
        return reply, self._keys.get(request, "")

    def _known(self, request: str) -> Reply | None:
        key = self._keys.get(request)
        found = self._store.find(EXPANSION, f"{request}:") if key is None else (key, self._store.get(EXPANSION, key))
        if found is None or found[1] is None:
            return None
        self._keys[request] = found[0]
        return msgspec.json.decode(found[1], type=Expansion).reply


def opening(renderer: Renderer, ask: Ask) -> tuple[Message, ...]:
    """The messages that an ask begins with. Raises ValueError where a picture is missing."""
    beside = ask.built.text if ask.built else ""
    if expands(ask.condition.context):
        return to_elaborate(ask.sample, beside)
    return renderer.messages(ask.sample, ask.condition, beside, ask.examples)


def expands(context: str) -> bool:
    """Whether a context, by its name, takes two turns."""
    return Context.parse(context).elaborate == "two-turn"
