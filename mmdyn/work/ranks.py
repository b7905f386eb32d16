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
"""Seconds between two looks for what another rank writes."""
NOTE_SECONDS = 20.0
"""Seconds of waiting for a rank after which a message says so."""
LOST_SECONDS = 600.0
"""A rank that has not begun counts as lost after so many seconds without a file of the store: it may still be starting,
or fetching a model's weights."""
GONE_SECONDS = 5.0
"""The same for a rank that had begun: it has ended, unless it is started again."""
LEAVE_SECONDS = 30.0
"""Seconds that the other ranks have to close their files."""
REFUSED = "refused"
"""The store's kind for the error of rank 0, by its session, and for the ranks that have read it."""
LINGER_SECONDS = 3600.0
"""The most seconds that a rank which has stopped waits for rank 0, which other ranks still work for."""
NO_LAUNCHER = "where no launcher started this process, unset RANK and WORLD_SIZE"
"""The advice for a wait for a rank that nobody starts."""


class Ranks(Struct, frozen=True):
    """This process's rank (`number`, from 0) and the number of ranks (`size`) that a launcher started.

    >>> Ranks(1, 4).writer, Ranks(0, 4).writer
    ('rank-1', 'main')
    """

    number: int = 0
    size: int = 1

    @staticmethod
    def of_environment() -> Ranks:
        """Read RANK and WORLD_SIZE, which the launcher sets; rank 0 of 1 where they are not set.

        Raises:
            UserError: They are no numbers, or RANK is not below WORLD_SIZE.
        """
        number, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
        if not (number.isdecimal() and size.isdecimal() and int(number) < int(size)):
            raise UserError(f"RANK is {number!r} and WORLD_SIZE {size!r}: let the launcher set both, or unset both")
        return Ranks(int(number), int(size))

    @property
    def writer(self) -> str:
        """The name of this rank's file in a store."""
        return self.writer_of(self.number)

    def writer_of(self, number: int) -> str:
        """The name of a rank's file in a store; rank 0 has that of a process without a launcher."""
        return f"rank-{number}" if number else "main"

    def owner(self, key: str) -> int:
        """The rank that does a job, by the job's key: a digest in hexadecimal.

        >>> Ranks(0, 4).owner("0000000a")
        2
        """
        return int(key[:8], 16) % self.size

    def wait_for(
        self, rank: int, folder: Path, ready: Callable[[], bool], *, begun: Callable[[], bool] = lambda: False
    ) -> None:
        """Wait until another rank has made something.

        Args:
            rank: The rank that makes it.
            folder: The folder of the store that the ranks share.
            ready: Whether it is there now.
            begun: Whether the rank is known to have begun its work; asked again while waiting.

        Raises:
            UserError: The rank ended, or never started.
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
        """Wait until the rank that owns a job has saved its result; return the store's session for `find_result`.

        A rank keeps its store open until rank 0 is done, so its session tells its own unsettled results from those of
        an earlier process of the same rank.
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
        """Pass a UserError of this rank on to the other ranks, so that they end with the same message.

        The rank stays until the others have read the message, or failed themselves, or LEAVE_SECONDS have passed.
        """
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
        """Raise the UserError that rank 0 ended with, if it did; call this within `telling`."""
        session = session_of(store.folder, self.writer_of(0))
        if session and (said := store.get(REFUSED, session)) is not None:
            raise UserError(said.decode())

    def linger(self, folder: Path) -> None:
        """Wait until rank 0 has closed its file: a launcher ends every rank when one leaves with an error."""
        until = time.monotonic() + LINGER_SECONDS
        while is_held(folder, self.writer_of(0)) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)

    def wait_until_left(self, folder: Path) -> bool:
        """Wait up to LEAVE_SECONDS for the other ranks to close their files; return whether they did."""
        others = [self.writer_of(number) for number in range(self.size) if number != self.number]
        until = time.monotonic() + LEAVE_SECONDS
        while held := any(is_held(folder, writer) for writer in others):
            if time.monotonic() > until:
                break
            time.sleep(LOOK_SECONDS / 5)
        return not held
