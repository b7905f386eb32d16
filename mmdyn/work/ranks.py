"""Several processes that a launcher started for one command (`accelerate launch`, `torchrun`): each does its share.

They meet in the store alone: every rank writes a file of its own, rank 0 waits for the others' results and writes what
comes of them. No process group is made, so that a rank that is lost leaves nothing hanging but those who wait for it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.work.pool import find_result
from mmdyn.work.store import Store, is_held, session_of

LOOK_SECONDS = 0.5
"""Between two looks for what another rank makes."""
NOTE_SECONDS = 20.0
"""How long a rank is waited for before this is said."""
LOST_SECONDS = 600.0
"""How long a rank that has not begun, and may be starting or fetching a model's weights, may hold no file of the store
before it counts as lost."""
GONE_SECONDS = 5.0
"""The same of one that had begun, and so has ended, unless it is started again."""
LEAVE_SECONDS = 30.0
"""How long the others are given to let go of their files."""
REFUSED = "refused"
"""The store's kind for why the first rank was refused, by its session, and for who has read that."""
LINGER_SECONDS = 3600.0
"""How long a rank that has stopped stays for the first one, which others still work for."""
NO_LAUNCHER = "where no launcher started this process, unset RANK and WORLD_SIZE"
"""What to do where a rank is waited for that nobody starts."""


class Ranks(Struct, frozen=True):
    """This process's number, from 0, and how many there are."""

    number: int = 0
    size: int = 1

    @staticmethod
    def of_environment() -> Ranks:
        """What the launcher said in RANK and WORLD_SIZE; one process where it said nothing. Raises UserError."""
        number, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
        if not (number.isdecimal() and size.isdecimal() and int(number) < int(size)):
            raise UserError(f"RANK is {number!r} and WORLD_SIZE {size!r}: let the launcher set both, or unset both")
        return Ranks(int(number), int(size))

    @property
    def writer(self) -> str:
        """The name of this rank's file in a store."""
        return self.writer_of(self.number)

    def writer_of(self, number: int) -> str:
        """The name of a rank's file in a store: the first one's is that of a process on its own."""
        return f"rank-{number}" if number else "main"

    def owner(self, key: str) -> int:
        """The rank that does a job, by its hexadecimal key."""
        return int(key[:8], 16) % self.size

    def wait_for(
        self, rank: int, folder: Path, ready: Callable[[], bool], *, begun: Callable[[], bool] = lambda: False
    ) -> None:
        """Wait until something is there that another rank makes; say so where that rank is not there after a while.

        `begun`: whether it is known to have begun, as it may turn out while it is waited for. Raises UserError where it
            is lost.
        """
        began = seen = time.monotonic()
        noted, told, there = False, False, False
        while not ready():
            if is_held(folder, self.writer_of(rank)):
                seen, there = time.monotonic(), True
                if not told and seen - began > NOTE_SECONDS:
                    print(f"waiting for rank {rank}, which is at work", file=sys.stderr)
                    told = True
            elif time.monotonic() - seen > (min(GONE_SECONDS, LOST_SECONDS) if there or begun() else LOST_SECONDS):
                raise UserError(f"rank {rank} ended before its work was done: run the same command again, it goes on")
            elif not noted and time.monotonic() - seen > NOTE_SECONDS:
                print(f"waiting for rank {rank} of {self.size}; {NO_LAUNCHER}", file=sys.stderr)
                noted = True
            time.sleep(LOOK_SECONDS)

    def wait_for_result(self, store: Store, kind: str, key: str) -> str:
        """Wait until the rank that does a job has saved its result; the session of its store by which `find_result`
        finds it.

        A rank keeps its store open until rank 0 is done, so that what an earlier process of its number left unsettled
        is told from what this one did.
        """
        owner, session = self.owner(key), store.session
        if owner == self.number:
            return session

        def ready() -> bool:
            nonlocal session
            session = session_of(store.folder, self.writer_of(owner))
            return find_result(store, kind, key, session) is not None

        self.wait_for(owner, store.folder, ready)
        return session

    @contextmanager
    def telling(self, store: Store) -> Iterator[None]:
        """Where the first rank is refused, let the others end with its sentence: it stays until they have read it, or
        were refused themselves, or for a while."""
        try:
            yield
        except UserError as error:
            if self.size > 1:
                self._tell(store, str(error))
            raise

    def _tell(self, store: Store, sentence: str) -> None:
        until = time.monotonic() + LEAVE_SECONDS
        while not (first := session_of(store.folder, self.writer_of(0))) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS / 5)
        store.put(REFUSED, f"{first} {self.number}" if self.number else first, sentence.encode())
        store.flush()
        deaf = [] if self.number else [f"{first} {rank}" for rank in range(1, self.size)]
        while (deaf := [key for key in deaf if store.get(REFUSED, key) is None]) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS / 5)

    def heed(self, store: Store) -> None:
        """Raise UserError with the first rank's sentence where it was refused; to be called within `telling`."""
        session = session_of(store.folder, self.writer_of(0))
        if session and (said := store.get(REFUSED, session)) is not None:
            raise UserError(said.decode())

    def linger(self, folder: Path) -> None:
        """Wait until the first rank has let go of its file: a launcher ends every rank when one leaves with an
        error."""
        until = time.monotonic() + LINGER_SECONDS
        while is_held(folder, self.writer_of(0)) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)

    def wait_until_left(self, folder: Path) -> bool:
        """Wait a while for the other ranks to let go of their files; whether they did."""
        others = [self.writer_of(number) for number in range(self.size) if number != self.number]
        until = time.monotonic() + LEAVE_SECONDS
        while held := any(is_held(folder, writer) for writer in others):
            if time.monotonic() > until:
                break
            time.sleep(LOOK_SECONDS / 5)
        return not held
