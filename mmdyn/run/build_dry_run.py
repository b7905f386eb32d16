"""What a step of building would ask a model, and what that may cost. Nothing is asked and nothing is written."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from mmdyn.build import Asked, Making, StepMaker
from mmdyn.data import WORK, load
from mmdyn.keys import Json
from mmdyn.models import CACHED_REPLY, Caches, Message, cache_key, read_listings, request_key, text_of
from mmdyn.plugins import resolve
from mmdyn.record import Reply
from mmdyn.run.dry_run import EstimateRow, RunEstimate, count_request, opened_model
from mmdyn.sample import from_json
from mmdyn.work import Reader, open_made, run_to_the_end

REPLY_TOKENS = 300
"""Of a reply: a JSON object with a few sentences."""
NOTE = "requests that follow on a reply are counted where that reply is known"


class _NotAskedError(Exception):
    """The step cannot go on without a reply that nobody has given yet."""


class _Counting:
    """Counts what a model would be asked, and gives the replies that are in the cache."""

    def __init__(self, making: Making, row: EstimateRow, out: Path) -> None:
        assert making.budget
        self._who, self._row = opened_model(making.model, making.budget)[0], row
        self.label, model = self._who.label, self._who.model
        folder = Caches(out=out / WORK).folder(model) if model is not None else None
        stores = ExitStack()
        self._cache = stores.enter_context(Reader(folder)) if folder is not None and folder.is_dir() else None
        self.close = stores.close
        run_to_the_end(read_listings([model] if model is not None else []))
        self.identity: dict[str, Json] = {}

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The reply out of the cache. Raises _NotAskedError where there is none."""
        model, known = self._who.model, None
        if model is not None and self._cache is not None:
            key = cache_key(model, request_key(model, messages, nonce if model.varies else 0))
            known = self._cache.get(CACHED_REPLY, key)
        count_request(self._row, self._who, messages, REPLY_TOKENS, "cached" if known else "")
        if known is None:
            raise _NotAskedError
        return text_of(self.label, from_json(known, Reply))

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is to be kept."""
        return ()


def estimate_build(making: Making, source: str | Path, out: Path, limit: int | None) -> RunEstimate:
    """Count what a step would ask about the samples of a set that have no outcome in `out` yet."""
    opened = load(source)
    row = EstimateRow("", opened.name, resolve("steps", making.name))
    client = _Counting(making, row, out)
    row.model = client.label
    with TemporaryDirectory(prefix="mmdyn-") as scratch, open_made(out) as is_made:
        step = StepMaker(opened.folder, Path(scratch), making, Asked(client, opened.images, making.kind))
        for sample in islice(opened, limit):
            if is_made(sample):
                row.planned, row.there = row.planned + 1, row.there + 1
                continue
            try:
                for _ in step(sample):
                    pass
            except _NotAskedError:
                continue
    client.close()
    return RunEstimate([row], [], {}, [NOTE])
