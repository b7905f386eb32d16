"""The supervisor of one program: starts it, watches it and all that comes of it, and ends everything.

    python -I -S _cmd_supervisor.py PARENT SECONDS MEMORY DISK PROCESSES PROGRAM [ARGUMENT]...

It imports no package, so that it starts soon: psutil alone takes 30 ms to import, and the numbers needed here are a
line of /proc each. Its environment, its folder, its standard output and error are the program's; its standard input is
a socket to who asks. Anything that comes there, or its end, or another parent process than PARENT, means that nobody
waits any more. At the end `HOW CODE LEFT` goes there. HOW is `ended` (CODE is the program's exit status, or minus the
signal that ended it), or the limit that was passed; LEFT counts processes that were there still. Sizes are bytes.

On Linux it is a subreaper: whatever the program starts stays below it, also what called setsid or forked twice, and is
counted and ended. Elsewhere it ends the program's process group, and counts neither memory nor processes.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress

LINUX = sys.platform == "linux"
LOOK_SECONDS = 0.1
END_SECONDS = 10.0
"""For how long processes are waited for that were killed: one may hang in the kernel."""
_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36


def main(argv: list[str]) -> None:
    """Supervise one program, and say what became of it where anybody waits."""
    sys.setrecursionlimit(9000)  # os.walk takes one for each of the folders in a path
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    _prctl(_SET_SUBREAPER, 1)
    watch = Watch([int(number) for number in argv[:5]], argv[5:])
    how = ""
    try:
        how = watch.until_it_ends()
    finally:
        left = watch.end_all()
        if not how:
            remove(".")
    how = "disk" if disk_size([]) > watch.disk else how
    os.write(0, f"{how} {watch.code or 0} {left}".encode())


class Watch:
    """A program that was started, and its exit `code` once it has ended."""

    def __init__(self, numbers: list[int], command: list[str]) -> None:
        self.parent, self._seconds, self._memory, self.disk, self._processes = numbers
        self.code: int | None = None
        self._began = time.monotonic()
        self._next_look = self._next_size = self._began + LOOK_SECONDS
        self._main = os.fork()
        if not self._main:
            _become(command)

    def until_it_ends(self) -> str:
        """`ended`, or the limit that was passed. Raises SystemExit where nobody waits any more."""
        line = select.poll()
        line.register(0, select.POLLIN)
        wait = 0.0
        while not line.poll(1000 * wait) and os.getppid() == self.parent:
            self._reap()
            if how := "ended" if self.code is not None else self._limit_passed():
                return how
            wait = min(LOOK_SECONDS, max(0.001, (time.monotonic() - self._began) / 20))
        sys.exit(1)

    def end_all(self) -> int:
        """Kill whatever is left; how many processes that were."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # who ends this process may not cut that short
        left, until = 0, time.monotonic() + END_SECONDS
        with suppress(OSError):
            os.killpg(self._main, signal.SIGKILL)
        while self._reap() and time.monotonic() < until:
            found = descendants(os.getpid())
            left = left or len(found)
            for pid in found:
                with suppress(OSError):  # it is gone, or somebody else's
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)
        return left

    def _limit_passed(self) -> str:
        """The more a look costs, the longer it is until the next, so that looking takes a tenth of the time at most."""
        now = time.monotonic()
        if now - self._began > self._seconds:
            return "timeout"
        if now < self._next_look:
            return ""
        tree = descendants(os.getpid())
        if len(tree) > self._processes:
            return "processes"
        # Resident pages count in each process that shares them; to count them once costs more.
        if memory(tree, "status", b"VmRSS:") > self._memory and memory(tree, "smaps_rollup", b"Pss:") > self._memory:
            return "memory"
        self._next_look = now + max(LOOK_SECONDS, 10 * (time.monotonic() - now))
        if now > self._next_size:
            if disk_size(tree) > self.disk:
                return "disk"
            self._next_size = now + max(2 * LOOK_SECONDS, 10 * (time.monotonic() - now))
        return ""

    def _reap(self) -> bool:
        """Collect who has ended; whether anybody is left."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._main:
                    self.code = os.waitstatus_to_exitcode(found[1])
            return True
        return False


def descendants(pid: int) -> list[int]:
    """All processes below one; none where there is no /proc."""
    below = dict[int, list[int]]()
    for name in filter(str.isdigit, os.listdir("/proc") if LINUX else []):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:
            below.setdefault(int(stat.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    found = below.get(pid, [])
    for one in found:
        found += below.get(one, [])
    return found


def begun_in(folder: str) -> list[int]:
    """All processes whose environment, as it was when they began, names a folder as their home."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc") if LINUX else []):
        with suppress(OSError), open(f"/proc/{name}/environ", "rb") as variables:
            if f"HOME={folder}/home".encode() in variables.read().split(b"\0"):
                found.append(int(name))
    return found


def memory(pids: list[int], file: str, field: bytes) -> int:
    """Bytes that processes hold in memory, by a field of a file that each has in /proc."""
    total = 0
    for pid in pids:
        with suppress(OSError), open(f"/proc/{pid}/{file}", "rb") as lines:
            total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith(field))
    return total


def disk_size(pids: list[int]) -> int:
    """Bytes on disk of what lies in this folder, and of files that processes hold open though they are in no folder."""
    sizes = dict[tuple[int, int], int]()
    for root in (".", *[f"/proc/{pid}/fd" for pid in pids]):
        for here, _, files in os.walk(root):
            for name in files:
                with suppress(OSError):
                    file = os.stat(os.path.join(here, name), follow_symlinks=root != ".")
                    if root == "." or not file.st_nlink:
                        sizes[file.st_dev, file.st_ino] = 512 * file.st_blocks
    return sum(sizes.values())


def remove(folder: str) -> None:
    """Remove a folder, whatever rights those in it have and however deep they are. No process may be left that changes
    it."""
    import shutil
    import subprocess

    try:
        for here, folders, _ in os.walk(folder):
            for path in [os.path.join(here, name) for name in folders]:
                with suppress(OSError):  # it is somebody else's
                    if not os.path.islink(path):
                        os.chmod(path, 0o700)
        shutil.rmtree(os.path.abspath(folder), ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", os.path.abspath(folder)], stderr=subprocess.DEVNULL)


def _become(command: list[str]) -> None:
    """Turn this process, forked for it, into the program, in a session of its own."""
    try:
        os.setsid()
        _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if LINUX:
            with open("/proc/self/oom_score_adj", "w") as score:
                score.write("1000")  # where memory runs out it is the program that goes, not who asks
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"it cannot be started ({error.strerror})".encode())
    finally:
        os._exit(127)


def _prctl(option: int, value: int) -> None:
    if LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
