"""Processes that a launcher started (`accelerate launch`, `torchrun`), each with its share.

They meet in the store. The first rank prepares the run and announces it; each rank asks its share with a model of its
own and writes a file of its own; the first one waits until all have said that they are done. No process group is made.
"""

from __future__ import annotations

from mmdyn.errors import Stopped, UserError
from mmdyn.run.executors._executor import End, Engine, Launch
from mmdyn.run.plan import Partition
from mmdyn.run.share import RankShare
from mmdyn.work import Ranks, Store, session_of


class Accelerate:
    """One rank of a launch. Its `partition` deals the asks out anew at each launch."""

    def __init__(self, ranks: Ranks, partition: Partition) -> None:
        self.ranks, self._launch = ranks, Launch("", partition, ranks.size)

    def meet(self, store: Store) -> None:
        """Wait until the first rank has prepared the run. Raises UserError where it is lost or was refused."""

        def announced() -> bool:
            self.ranks.heed(store)
            self._join(session_of(store.folder, self.ranks.writer_of(0)))
            return self._launch.is_announced(store)

        if self.ranks.number:
            self.ranks.wait_for(0, store.folder, announced)

    def run(self, engine: Engine) -> None:
        """Ask this rank's share; the first rank returns when all shares are asked. Raises UserError where one was not.

        Raises Stopped where a share's part of a limit is used up: in every rank when none is at work any more, as a
        launcher ends all when one leaves.
        """
        if self.ranks.number:
            try:
                broken_off = End("was stopped before its share was asked")
                with self._launch.saying_so(engine.store, str(self.ranks.number), broken_off):
                    self._launch.check(engine)
                    self._ask(engine)
            except Stopped:
                self.ranks.linger(engine.store.folder)
                raise
            return
        self._join(engine.store.session)
        self._launch.announce(engine)
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

    def _join(self, session: str) -> None:
        self._launch = Launch(session, self._launch.partition, self.ranks.size)

    def _ask(self, engine: Engine) -> None:
        share = RankShare(engine, self._launch.partition, self.ranks.number, self.ranks.size, self._launch.session)
        engine.ask(share.of, len(share), what=f"asking, rank {self.ranks.number}")

    def _wait_for(self, rank: int, store: Store) -> End:
        found, has_begun = self._launch.end_of, self._launch.has_begun
        self.ranks.wait_for(
            rank, store.folder, lambda: found(store, str(rank)) is not None, begun=lambda: has_begun(store, str(rank))
        )
        end = found(store, str(rank)) or End()
        if end.error and not end.stopped:
            raise UserError(f"rank {rank}: {end.error}")
        return end
