"""Perturb a set, killed at every n-th thing it does with a file; then go on and compare. Run by test_resume.py.

Each try is a forked process that kills itself, by an audit hook, when it is about to open, rename, remove or make the
n-th file or folder. So every moment between two such steps is met, in the same place each time.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from making_sets import make_set, tree

import perturb.pipeline  # imported before the hook counts
from mmdyn.data import SampleSet

EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree", "sqlite3.connect"}
OPS = "pad+color,shuffle,convert"


def run(source: Path, out: Path) -> None:
    """One undisturbed run, or the rest of one."""
    perturb.pipeline.perturb(SampleSet(source), out, ops=OPS, draws=2, seed=1, quiet=True)


def run_killed_at(moment: int, source: Path, out: Path) -> bool:
    """Whether the run was killed (or was over before)."""
    child = os.fork()
    if child == 0:
        left = moment

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in EVENTS and str(out) in str(arguments):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        run(source, out)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main(folder: Path, step: int) -> None:
    """Print how many moments were tried, and those after which the result differed."""
    source, out = folder / "source", folder / "out"
    make_set(source)
    run(source, folder / "undisturbed")
    wanted = tree(folder / "undisturbed")
    tried, differing, moment = 0, [], 1
    while run_killed_at(moment, source, out):
        run_killed_at(moment + 2, source, out)
        run(source, out)
        if tree(out) != wanted or list(out.glob(".*")):
            differing.append(moment)
        shutil.rmtree(out)
        tried += 1
        moment += step
    print(json.dumps({"tried": tried, "differing": differing, "over": tree(out) == wanted}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
