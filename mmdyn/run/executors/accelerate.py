"""Processes that a launcher started (`accelerate launch`, `torchrun`), each with its share.

They meet in the store. The first rank prepares the run and announces it; each rank asks its share with a model of its
own and writes a file of its own; the first one waits until all have said that they are done. No process group is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from mmdyn.errors import MmdynError, Stopped, UserError
from mmdyn.keys import canonical, digest
from mmdyn.run.executors._executor import Engine
from mmdyn.run.partition import Partition
from mmdyn.run.share import RankShare
from mmdyn.work import Ranks, Store, session_of

LAUNCH, BEGIN, END = "launch", "begin of share", "end of share"
"""The store's kinds for what the first rank says when all may begin, a digest of what is shared, by the session of its
store, and for what each other rank says first and last, by that session and its number.
"""


class End(Struct, frozen=True):
    """How a rank's share ended; `error` is empty where all was asked."""

    error: str = ""
    stopped: bool = False


class Accelerate:
    """One rank of a launch. Its `partition` deals the asks out anew at each launch."""

    def __init__(self, ranks: Ranks, partition: Partition) -> None:
        self.ranks, self._partition = ranks, partition
        self._session = ""

    def meet(self, store: Store) -> None:
        """Wait until the first rank has prepared the run. Raises UserError where it is lost."""

        def announced() -> bool:
            self._session = session_of(store.folder, self.ranks.writer_of(0))
            return store.get(LAUNCH, self._session) is not None

        if self.ranks.number:
            self.ranks.wait_for(0, store.folder, announced)

    def run(self, engine: Engine) -> None:
        """Ask this rank's share; the first rank returns when all shares are asked. Raises UserError where one was not.

        Raises Stopped where a share's part of a limit is used up: in every rank when none is at work any more, as a
        launcher ends all when one leaves.
        """
        if self.ranks.number:
            try:
                with self._saying_so(engine):
                    self._ask(engine)
            except Stopped:
                self.ranks.linger(engine.store.folder)
                raise
            return
        self._announce(engine)
        stopped: Stopped | None = None
        try:
            self._ask(engine)
        except Stopped as reached:
            stopped = reached
        for rank in range(1, self.ranks.size):
            end = self._wait_for(rank, engine.store)
            stopped = stopped or (Stopped(end.error) if end.stopped else None)
        if stopped:
            raise stopped

    def _announce(self, engine: Engine) -> None:
        store = engine.store
        self._session = store.session
        for kind in (LAUNCH, BEGIN, END):
            store.forget(kind)
        store.put(LAUNCH, self._session, canonical(self._work(engine)))
        store.flush()

    def _ask(self, engine: Engine) -> None:
        share = RankShare(engine, self._partition, self.ranks.number, self.ranks.size, self._session)
        engine.ask(lambda: share, of_all=len(share), what=f"asking, rank {self.ranks.number}")

    @contextmanager
    def _saying_so(self, engine: Engine) -> Iterator[None]:
        """Leave word of how the share ended, whatever ended it, so that the first rank does not wait for more."""
        store, key = engine.store, f"{self._session}:{self.ranks.number}"
        store.put(BEGIN, key, b"true")
        store.flush()
        end = End("was stopped before its share was asked")
        try:
            if store.get(LAUNCH, self._session) != canonical(self._work(engine)):
                raise UserError("this rank was given another task than rank 0: start every rank with the same command")
            yield
            end = End()
        except MmdynError as error:
            end = End(str(error), isinstance(error, Stopped))
            raise
        finally:
            store.put(END, key, canonical(end))
            store.flush()

    def _wait_for(self, rank: int, store: Store) -> End:
        key = f"{self._session}:{rank}"
        self.ranks.wait_for(
            rank, store.folder, lambda: store.get(END, key) is not None, begun=lambda: store.get(BEGIN, key) is not None
        )
        end = msgspec.json.decode(store.get(END, key) or b"", type=End)
        if end.error and not end.stopped:
            raise UserError(f"rank {rank}: {end.error}")
        return end

    def _work(self, engine: Engine) -> str:
        """A digest of what the ranks share, and how."""
        job = engine.job
        sets = [[opened.name, opened.manifest.digest] for opened in engine.sets]
        models = [[model.label, model.identity] for model in engine.models]
        how = [
            [job.spec, job.knowledge, job.limits.n, job.prompt, job.conditions, job.planned],
            [engine.cascade.name, engine.cascade.mode],
            self._partition,
            self.ranks.size,
        ]
        return digest([sets, models, how])
