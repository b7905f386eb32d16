"""What the processes of one launch tell each other in the run's store: that all may begin, and how each share ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from mmdyn.errors import MmdynError, Stopped, UserError
from mmdyn.keys import canonical, digest
from mmdyn.run.executors._executor import Engine
from mmdyn.run.partition import Partition
from mmdyn.work import Store

LAUNCH, BEGIN, END = "launch", "begin of share", "end of share"
"""The store's kinds for what the first process says when all may begin, a digest of what is shared, by the session of
its store, and for what each other one says first and last, by that session and its share.
"""


class End(Struct, frozen=True):
    """How a share ended; `error` is empty where all was asked."""

    error: str = ""
    stopped: bool = False


class Launch(Struct, frozen=True):
    """A launch: the session of the first process's store, and how many shares there are."""

    session: str
    partition: Partition
    shares: int

    def announce(self, engine: Engine) -> None:
        """Let the others begin."""
        store = engine.store
        for kind in (LAUNCH, BEGIN, END):
            store.forget(kind)
        store.put(LAUNCH, self.session, canonical(self._work(engine)))
        store.flush()

    def is_announced(self, store: Store) -> bool:
        """Whether all may begin."""
        return store.get(LAUNCH, self.session) is not None

    def check(self, engine: Engine) -> None:
        """Raise UserError where this process would not do a share of what was announced."""
        if engine.store.get(LAUNCH, self.session) != canonical(self._work(engine)):
            raise UserError("this rank was given another task than rank 0: start every rank with the same command")

    @contextmanager
    def saying_so(self, store: Store, share: str, otherwise: End | None = None) -> Iterator[None]:
        """Leave word of how a share ended, so that the first process does not wait for more; `otherwise` where it was
        broken off."""
        store.put(BEGIN, self._key(share), b"true")
        store.flush()
        end = otherwise
        try:
            yield
            end = End()
        except MmdynError as error:
            end = End(str(error), isinstance(error, Stopped))
            raise
        finally:
            if end:
                store.put(END, self._key(share), canonical(end))
                store.flush()

    def has_begun(self, store: Store, share: str) -> bool:
        """Whether somebody is at a share, or was."""
        return store.get(BEGIN, self._key(share)) is not None

    def end_of(self, store: Store, share: str) -> End | None:
        """How a share ended, once it has."""
        found = store.get(END, self._key(share))
        return None if found is None else msgspec.json.decode(found, type=End)

    def _key(self, share: str) -> str:
        return f"{self.session}:{share}"

    def _work(self, engine: Engine) -> str:
        """A digest of what is shared, and how."""
        job = engine.job
        sets = [[opened.name, opened.manifest.digest] for opened in engine.sets]
        models = [[model.label, model.identity] for model in engine.models]
        how = [
            [job.spec, job.knowledge, job.limits.n, job.prompt, job.conditions, job.planned],
            [[root, one.limits.n, one.prompt, one.conditions] for root, one in job.own.items()],
            [[cascade.name, cascade.mode] for cascade in engine.cascades.values()],
            self.partition,
            self.shares,
        ]
        return digest([sets, models, how])
