"""What of a plan is answered already: in the run, and in the models' caches."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from mmdyn.data import SampleSet
from mmdyn.models import CACHED_REPLY, Message, Model, cache_key, request_key
from mmdyn.record import Reply
from mmdyn.run.executors._executor import Job
from mmdyn.run.plan import Ask
from mmdyn.run.run_sample import record_key
from mmdyn.run.two_turn import expands
from mmdyn.sample import from_json
from mmdyn.work import EXPANSION, RECORD, Expansion, Reader

Found = Literal["", "there", "cached"]
"""Where an answer is: nowhere yet, in the run, or in the model's cache."""


class AnswerLookup:
    """Looks into both; `stores` closes them."""

    def __init__(self, job: Job, stores: ExitStack) -> None:
        self._caches, self._stores, self._opened = job.caches(), stores, dict[Path, Reader | None]()
        self._run = self._reader(job.out / "records")

    def find(self, model: Model | None, opened: SampleSet, ask: Ask, first: tuple[Message, ...]) -> Found:
        """Where the answer to an ask is that opens so."""
        if model is None:
            return ""
        request = request_key(model, first, ask.epoch)
        key = record_key(opened, ask, model.label, request)
        if self._run is not None and self._run.get(RECORD, key) is not None:
            return "there"
        return "" if expands(ask.condition.context) else self._cached(model, request)

    def find_expansion(self, model: Model | None, ask: Ask, first: tuple[Message, ...]) -> tuple[Found, str]:
        """Where the expansion is that an ask opens with, and its text."""
        if model is None:
            return "", ""
        request = request_key(model, first, ask.epoch)
        found = self._run.find(EXPANSION, f"{request}:") if self._run is not None else None
        if found is not None:
            return "there", from_json(found[1], Expansion).reply.text
        known = self._recall(model, request)
        return ("cached", from_json(known, Reply).text) if known is not None else ("", "")

    def find_second(self, model: Model | None, ask: Ask, second: tuple[Message, ...]) -> Found:
        """Whether the answer to the second prompt of an ask is in the cache."""
        return self._cached(model, request_key(model, second, ask.epoch)) if model is not None else ""

    def _cached(self, model: Model, request: str) -> Found:
        return "cached" if self._recall(model, request) is not None else ""

    def _recall(self, model: Model, request: str) -> bytes | None:
        cache = self._reader(folder) if (folder := self._caches.folder(model)) else None
        return cache.get(CACHED_REPLY, cache_key(model, request)) if cache is not None else None

    def _reader(self, folder: Path) -> Reader | None:
        if folder not in self._opened:
            self._opened[folder] = self._stores.enter_context(Reader(folder)) if folder.is_dir() else None
        return self._opened[folder]
