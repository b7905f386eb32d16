"""How fast models are asked, beside a bare client; what a whole command costs; and what faults and kills do to a run.

    python bench/asking.py [--rounds 5] [--full] [--faults] [--small]

Speed: `mmdyn eval` and a bare aiohttp client, each in a process of its own, take turns against a fake server in a
    third, which counts the seconds from the first request to the last reply. The bare client sends the same texts and
    pictures and keeps nothing. The largest cell is asked of a plain aiohttp server that is not the project's. Shares
    are of the same round; all figures are medians, with the least and the most in brackets. CPU a sample is the whole
    command's beyond that of the same command for one sample, so scoring, storing and the report are in it. Where the
    bare client does not reach 4,000 a second at 10 ms and 64 in flight, the server is the bound, and the bench fails.

The whole command, by the clock, in CPU time and in memory, at several sizes; the largest with `--full` only.

Faults (`--faults`, instead of the rest): a tenth of all requests meets a fault of one kind, then of all kinds; retries
that run out; and a run that is killed at random moments and goes on. Records are compared with those of an undisturbed
run.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:] = [
    entry for entry in sys.path if Path(entry).resolve() != HERE
]  # where this file's neighbours hide packages

import msgspec
import numpy as np
from PIL import Image

import mmdyn
from mmdyn.data import SetWriter
from mmdyn.record import Record
from mmdyn.sample import Option, Sample
from mmdyn.work import RECORD, Reader, RunFolder

MMDYN = [sys.executable, "-m", "mmdyn"]
LEAST_BARE, TIMEOUT = 4000, 2.0
KINDS = ("429", "429@0.5", "500", "503", "drop", "hang", "truncate", "cut", "empty", "blank", "html")


@dataclass(frozen=True)
class Cell:
    """What is asked: milliseconds of latency, requests in flight, and the share of the bare client's rate to reach."""

    latency: int
    concurrency: int
    bar: float
    pictures: bool = False
    count: int = 2000
    plain: bool = False

    def __str__(self) -> str:
        what = "a 60 KB picture each" if self.pictures else "text"
        return f"{what}, {self.latency} ms, {self.concurrency} in flight{', a plain server' if self.plain else ''}"


CELLS = (
    Cell(10, 64, 0.40),
    Cell(100, 64, 0.95),
    Cell(100, 256, 0.85),
    Cell(100, 64, 0.95, pictures=True),
    Cell(100, 256, 0.85, count=10_000, plain=True),
)


@dataclass(frozen=True)
class Run:
    """A command that has ended: status, output, seconds by the clock and of CPU, and its peak in MB."""

    status: int
    output: str
    errors: str
    seconds: float
    cpu: float
    peak: float


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often what is compared takes turns")
    parser.add_argument("--full", action="store_true", help="memory with 100,000 samples, too")
    parser.add_argument("--faults", action="store_true", help="faults and kills instead of speed and memory")
    parser.add_argument("--small", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--plain", type=int, metavar="LATENCY", help=argparse.SUPPRESS)
    parser.add_argument("--bare", nargs=3, metavar=("URL", "SET", "CONCURRENCY"), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.bare:
        url, set_folder, concurrency = args.bare
        asyncio.run(ask_barely(url, Path(set_folder), int(concurrency)))
        return
    if args.plain is not None:
        asyncio.run(serve_plainly(args.plain / 1000))
        return
    with tempfile.TemporaryDirectory() as folder:
        if args.faults:
            make_set(Path(folder) / "set", 120 if args.small else 2000)
            print_faults(Path(folder), ("429", "hang") if args.small else KINDS, 0.5 if args.small else TIMEOUT)
            print_exhausted(Path(folder))
            print_kills(Path(folder), 3 if args.small else 20)
        else:
            print_cells(Path(folder), 1 if args.small else args.rounds, args.small)
            sizes = (50,) if args.small else (1000, 10_000, 100_000) if args.full else (1000, 10_000)
            commands = [(sizes[0], 100), *((size, 10) for size in sizes)]
            print_commands(Path(folder), 1 if args.small else args.rounds, commands)


def print_cells(folder: Path, rounds: int, small: bool) -> None:
    """Our rate beside the bare client's, cell by cell, without the response cache and with it."""
    start = statistics.median(start_cpu(folder) for _ in range(1 if small else 3))
    print(f"`mmdyn eval` beside a bare client; CPU beyond the start's {start:.2f} s\n")
    print_row("cell", "n", "bare/s", "cache", "ours/s", "of the bare client's", "bar", "", "CPU ms a sample", "peak MB")
    print_row(*["---"] * 10)
    for cell in CELLS[-2:] if small else CELLS:
        count = 40 if small else cell.count
        samples = folder / f"{'pictures' if cell.pictures else 'texts'}-{count}"
        make_set(samples, count, pictures=cell.pictures)
        bare, ours = list[float](), {False: list[tuple[float, Run]](), True: list[tuple[float, Run]]()}
        for _ in range(rounds):
            bare.append(bare_rate(cell, samples, count))
            for cache, turns in ours.items():
                turns.append(our_rate(folder, cell, samples, count, cache))
        if cell == CELLS[0] and not small and (reached := statistics.median(bare)) < LEAST_BARE:
            raise SystemExit(f"the server is the bound: {reached:.0f} a second by the bare client, not {LEAST_BARE:,}")
        for cache, turns in ours.items():
            shares = [rate / other for (rate, _), other in zip(turns, bare, strict=True)]
            met = "met" if statistics.median(shares) >= cell.bar else "missed"
            cpu = [1000 * (run.cpu - start) / (count - 1) for _, run in turns]
            cells = spread(bare), "with" if cache else "without", spread([rate for rate, _ in turns])
            costs = spread(cpu, ".2f"), spread([run.peak for _, run in turns])
            print_row(cell, count, *cells, spread(shares, ".0%"), f"{cell.bar:.0%}", met, *costs)


def start_cpu(folder: Path) -> float:
    """CPU seconds of the command for one sample."""
    make_set(folder / "one", 1)
    with serve(0) as url, cleared(folder, "out", "cache"):
        return mmdyn_eval(folder, "one", url).cpu


def bare_rate(cell: Cell, samples: Path, count: int) -> float:
    """Replies a second that the bare client gets."""
    with serve(cell.latency, plain=cell.plain) as url:
        command = [sys.executable, __file__, "--bare", url, str(samples), str(cell.concurrency)]
        subprocess.run(command, check=True, env=environment(samples.parent))
        return count / float(stats(url)["seconds"])


def our_rate(folder: Path, cell: Cell, samples: Path, count: int, cache: bool) -> tuple[float, Run]:
    """Replies a second that `mmdyn eval` gets, and the run. Raises SystemExit where a picture came otherwise than
    once."""
    with serve(cell.latency, plain=cell.plain) as url, cleared(folder, "out", "cache"):
        more = [] if cache else ["--cache", "none"]
        run = mmdyn_eval(folder, samples.name, url, "--concurrency", str(cell.concurrency), *more)
        counted = stats(url)
    if run.status or counted["total"] != count:
        raise SystemExit(f"{cell}: status {run.status}, {counted['total']} requests for {count} samples: {run.errors}")
    if cell.pictures and counted["images"] != {file.stem: 1 for file in samples.rglob("*.jpg")}:
        raise SystemExit(f"{cell}: the pictures did not come as their files hold them, each once")
    return count / float(counted["seconds"]), run


def print_commands(folder: Path, rounds: int, runs: Sequence[tuple[int, int]]) -> None:
    """The whole command from start to report, for so many texts at such a latency (in ms), 64 in flight."""
    print("\nThe whole command, 64 in flight, with the cache (bars: 3 s for 1,000 texts at 100 ms; 200 MB, flat)\n")
    print_row("texts", "latency ms", "seconds", "CPU s", "peak MB")
    print_row(*["---"] * 5)
    for count, latency in runs:
        make_set(folder / f"texts-{count}", count)
        done = []
        for _ in range(rounds if count <= 1000 else 1):
            with serve(latency) as url, cleared(folder, "out", "cache"):
                done.append(mmdyn_eval(folder, f"texts-{count}", url, "--concurrency", "64"))
        times = [spread([getattr(run, what) for run in done], ".2f") for what in ("seconds", "cpu")]
        print_row(f"{count:,}", latency, *times, spread([run.peak for run in done]))


def print_faults(folder: Path, kinds: Sequence[str], timeout: float) -> None:
    """A tenth of the requests meets a fault, kind by kind and all kinds at once."""
    expected, bar = dict[str, bytes](), math.inf
    print(f"A tenth of the requests meets a fault; 100 ms, 64 in flight, a time-out of {timeout:g} s\n")
    print_row("fault", "status", "samples", "answered", "scored otherwise", "requests", "seconds", "bar", "")
    print_row(*["---"] * 9)
    mixed = ",".join(f"{kind}={0.1 / len(KINDS):.5f}" for kind in KINDS)
    faults = {"none": "", **{kind: f"{kind}=0.1" for kind in kinds}, "all kinds": mixed}
    for name, fault in faults.items():
        with serve(100, fault, "hashed") as url, cleared(folder, "out", "cache"):
            run = mmdyn_eval(folder, "set", url, "--concurrency", "64", options=f",timeout={timeout:g}")
            kept, requests = records(folder / "out"), stats(url)["total"]
        if not expected:
            expected, bar = kept, 1.3 * run.seconds + 2 * timeout
        wrong = sum(value != expected[key] for key, value in kept.items())
        met = "met" if run.seconds <= bar else "missed"
        counts = len(expected), len(kept), wrong, requests
        print_row(name, run.status, *counts, f"{run.seconds:.1f}", f"{bar:.1f}", met)
        if run.status or kept != expected:
            raise SystemExit(f"{name}: status {run.status}, and answers are missing or others than without faults")


def print_exhausted(folder: Path) -> None:
    """Two tries against faults that most requests meet; then the same command when the server is well again."""
    print("\nTwo tries at most while 60 % of the requests meet a fault; then the same run without faults\n")
    make_set(folder / "few", 100)
    port = "0"
    with cleared(folder, "out", "cache"):
        for faults in ("500=0.3,drop=0.3", ""):
            with serve(10, faults, "hashed", port) as url:
                run = mmdyn_eval(folder, "few", url, options=",max_tries=2")
            port = url.rpartition(":")[2].partition("/")[0]
            listed = run.errors.count("failed: ")
            print(f"status {run.status}, {len(records(folder / 'out'))} answered, {listed} lines of failures")
            print("\n".join(f"    {line}" for line in run.output.splitlines()[:8]))


def print_kills(folder: Path, kills: int) -> None:
    """Kill -9 at random moments of a run, which goes on each time. Raises SystemExit where an answer was paid for
    twice."""
    concurrency, drawn = 32, random.Random(1)
    names, calm = undisturbed(folder)
    span = len(names) / (concurrency / 0.1) / kills  # seconds of asking for each kill
    lost, committed, moments = list[int](), 0, list[int]()
    with serve(100, reply="hashed") as url, cleared(folder, "out", "cache"):
        more = "--cache", "none", "--concurrency", str(concurrency)
        while len(lost) < kills:
            before, asked = held(folder / "out"), stats(url)["requests"]
            process = start(folder, "set", url, *more)
            while process.poll() is None and stats(url)["requests"] == asked:
                time.sleep(0.02)
            time.sleep(drawn.random() * 1.6 * span)
            process.kill()
            if process.wait() >= 0:
                raise SystemExit(f"the run was over after {len(lost)} kills")
            after, now = held(folder / "out"), stats(url)["requests"]
            put = {sample for sample, name in names.items() if now.get(name, 0) > asked.get(name, 0)}
            committed += len(before & put) + len(before - after)
            lost.append(len(put - after))
            moments.append(len(after))
        final = mmdyn_eval(folder, "set", url, *more)
        counted, kept = stats(url), records(folder / "out")
    print(
        f"\nKilled {kills} times, {concurrency} in flight, {len(names):,} samples\n\nanswers held at the kills:"
        f" {', '.join(map(str, moments))}"
    )
    print(f"asked, not held at a kill: {', '.join(map(str, lost))} (bar: {concurrency})")
    print(f"requests: {counted['total']} for {len(names)} samples, {counted['asked_again']} had been answered before")
    print(f"held answers asked again or lost: {committed}; status at the end {final.status}")
    print(f"answered: {len(kept)}; otherwise than undisturbed: {sum(kept[key] != calm[key] for key in kept)}")
    if committed or final.status or kept != calm or max(lost) > concurrency:
        raise SystemExit("an answer was lost, changed, or paid for twice")


def undisturbed(folder: Path) -> tuple[dict[str, str], dict[str, bytes]]:
    """What the server calls each sample's request (asked one by one they come in the set's order), and the records."""
    with serve(0, reply="hashed") as url, cleared(folder, "out", "cache"):
        mmdyn_eval(folder, "set", url, "--cache", "none", "--concurrency", "1")
        names = list(stats(url)["requests"])
        kept = records(folder / "out")
    return dict(zip((sample.id for sample in mmdyn.load(folder / "set")), names, strict=True)), kept


def held(out: Path) -> set[str]:
    """The samples whose answers a run holds, in its store or beside it."""
    store = out / "records"
    if not store.is_dir():
        return set()
    with Reader(store) as reader:
        return {msgspec.json.decode(value, type=Record).sample for _, value in reader.items(RECORD)}


def records(out: Path) -> dict[str, bytes]:
    """The answered records by sample, without what the clock decides."""
    kept = {}
    for record in RunFolder(out).records():
        if not record.reply.error:
            reply = msgspec.structs.replace(record.reply, seconds=0.0, attempts=1, made=0, cached=False)
            plain = msgspec.structs.replace(record, reply=reply, key="", request="")
            kept[record.sample] = msgspec.json.encode(plain)
    return kept


def mmdyn_eval(folder: Path, samples: str, url: str, *more: str, options: str = "") -> Run:
    """Run `mmdyn eval` to its end."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = start(folder, samples, url, *more, options=options, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        said, problems = ((file.seek(0), file.read().decode())[1] for file in (output, errors))
    if process.returncode not in (0, 1) or "Traceback" in problems:
        raise SystemExit(f"mmdyn eval ended with {process.returncode}: {problems}")
    cpu = usage.ru_utime + usage.ru_stime
    return Run(process.returncode, said, problems, seconds, cpu, usage.ru_maxrss / 1024)


def start(folder: Path, samples: str, url: str, *more: str, options: str = "", **files: Any) -> subprocess.Popen[bytes]:
    """Start `mmdyn eval` from a set of the folder to its `out`."""
    command = [*MMDYN, "eval", samples, "-m", f"openai:fake,base_url={url}{options}", "-o", "out", *more]
    files = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **files}
    return subprocess.Popen(command, cwd=folder, env=environment(folder), **files)


def environment(folder: Path) -> dict[str, str]:
    """The user's, without proxies and keys, and with a cache of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith(("_PROXY", "_KEY"))}
    return {**kept, "MMDYN_CACHE": str(folder / "cache"), "COLUMNS": "160"}


@contextmanager
def serve(
    latency: int, faults: str = "", reply: str = "first", port: str = "0", *, plain: bool = False
) -> Iterator[str]:
    """The project's fake server, or a plain one, in a process of its own; its base_url."""
    options = {"--reply": reply, "--latency": str(latency), "--faults": faults, "--port": port}
    command = [*MMDYN, "fake-server", *(text for option in options.items() for text in option)]
    command = [sys.executable, __file__, "--plain", str(latency)] if plain else command
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def serve_plainly(latency: float) -> None:
    """A server of a few lines that answers every completion alike after so many seconds, and counts them."""
    from aiohttp import web

    message = {"role": "assistant", "content": "Let us see.\n\nAnswer: A"}
    usage = {"prompt_tokens": 120, "completion_tokens": 12}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})
    began, ended = list[float](), list[float]()

    async def complete(request: web.Request) -> web.Response:
        began.append(time.perf_counter())
        await request.read()
        await asyncio.sleep(latency)
        ended.append(time.perf_counter())
        return web.Response(text=body, content_type="application/json")

    async def counted(_: web.Request) -> web.Response:
        return web.json_response({"total": len(ended), "seconds": max(ended, default=0.0) - min(began, default=0.0)})

    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", complete), web.get("/stats", counted)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await (site := web.TCPSite(runner, "127.0.0.1", 0)).start()
    assert site._server is not None
    print(f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.Event().wait()


def stats(url: str) -> dict[str, Any]:
    """What the server has counted."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return dict(json.load(reply))


@contextmanager
def cleared(folder: Path, *names: str) -> Iterator[None]:
    """Remove what a run leaves behind."""
    try:
        yield
    finally:
        for name in names:
            shutil.rmtree(folder / name, ignore_errors=True)


def make_set(folder: Path, count: int, *, pictures: bool = False) -> None:
    """Single-choice questions of about 300 characters, with a JPEG of 60 KB each if wanted; nothing where they are
    there."""
    if folder.exists():
        return
    picture = jpeg() if pictures else b""
    with SetWriter(folder, folder.name) as writer:
        for number in range(count):
            comment = b"\xff\xfe\x00\x06" + number.to_bytes(4, "big")  # makes each another file
            refs = (writer.images.put(picture[:2] + comment + picture[2:]),) if picture else ()
            text = f"Question {number}: a tank holds {number} units and gains {number % 7} every day. " * 3
            options = tuple(Option(label, f"{7 * number + place} units") for place, label in enumerate("ABCD"))
            writer.add(Sample(f"q{number}", text, "single_choice", ("ABCD"[number % 4],), options=options, images=refs))


def jpeg() -> bytes:
    """Noise of 60 KB."""
    pixels = np.random.default_rng(1).integers(0, 256, (240, 262, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=80)
    return file.getvalue()


async def ask_barely(url: str, folder: Path, concurrency: int) -> None:
    """Send every sample's text and picture, so many at a time, and keep nothing."""
    import aiohttp

    samples = iter(list(mmdyn.load(folder)))

    async def client(session: aiohttp.ClientSession) -> None:
        for sample in samples:
            lines = [sample.question, "", *(f"{option.label}. {option.text}" for option in sample.options)]
            content: Any = "\n".join([*lines, "", 'Put its letter on a last line of the form "Answer: X".'])
            for ref in sample.images:
                data = base64.b64encode((folder / ref).read_bytes()).decode()
                picture = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}}
                content = [picture, {"type": "text", "text": content}]
            body = {"model": "fake", "temperature": 0, "messages": [{"role": "user", "content": content}]}
            async with session.post(f"{url}/chat/completions", json=body) as reply:
                assert (await reply.json())["choices"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(client(session) for _ in range(concurrency)))


def spread(values: Sequence[float], form: str = ".0f") -> str:
    """The median, with the least and the most."""
    low, middle, high = (format(value, form) for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})" if low != high else middle


def print_row(*cells: object) -> None:
    """A line of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
