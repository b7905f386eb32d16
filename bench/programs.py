"""What it costs to ask a program as a `cmd:` model, beside starting it by subprocess.run.

    python bench/programs.py [--asks N]

For each program, asked one at a time and as many at a time as there are cores: the median and the 90th percentile of
the milliseconds an ask takes, by itself and as a model (its fresh folder, its files, its supervisor, its end).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median, quantiles

from mmdyn.models import Message, TextPart, open_model

PROGRAMS = {"/bin/true": "/bin/true", "python -c pass": f"{sys.executable} -I -S -c pass"}
ASKED = (Message("user", (TextPart("What is 6 times 7?"),)),)


def main() -> None:
    """Print a row a program and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asks", type=int, default=100)
    asks = parser.parse_args().asks
    cores = len(os.sched_getaffinity(0))
    print("| program | at a time | subprocess.run | cmd: |\n|---|---|---|---|")
    for name, command in PROGRAMS.items():
        for at_once in (1, cores):
            cells = asyncio.run(measure(command, at_once, asks))
            print(f"| {name} | {at_once} | {cells[0]} | {cells[1]} |")


async def measure(command: str, at_once: int, asks: int) -> tuple[str, str]:
    """Both ways, in turns, so that what else the machine does meets both."""
    model = open_model(f"cmd:{command},concurrency={at_once}")

    async def run() -> None:
        await asyncio.to_thread(subprocess.run, command.split(), stdout=subprocess.PIPE, check=True)

    async def ask() -> None:
        await model.ask(ASKED)

    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(asks // at_once):
        for way, times in zip((run, ask), took, strict=True):
            times += await asyncio.gather(*(timed(way) for _ in range(at_once)))
    await model.close()
    plain, asked = (f"{median(times):.1f} (p90 {quantiles(times, n=10)[-1]:.1f})" for times in took)
    return plain, asked


async def timed(way: Callable[[], Awaitable[None]]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    await way()
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
