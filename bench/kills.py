"""`kill -9` at random moments of six commands, each called again until it ends; what they made is that of an
undisturbed call.

    python bench/kills.py [--kills 20] [--seed 32]

A set's folder is compared byte for byte, a run by what its store holds, the viewer's index by the pages that are
exported from it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:] = [one for one in sys.path if Path(one or ".").resolve() != HERE]  # where perturb.py would hide the package

from mmdyn.work import Reader

OUT = "OUT"
COMMANDS = {
    "perturb": f"perturb set -o {OUT} --ops pad+color,shuffle,convert,paraphrase --draws 2 --seed 1 -q",
    "build": f"build dedup set -o {OUT}",
    "compose": f"compose bank -o {OUT} --questions 300 --statements 8 --max-uses 20 --secret key -q",
    "score": f"score {OUT} --policy strict -q",
    "merge": f"runs merge run other -o {OUT}",
    "view": f"view run --export {OUT} -q",
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="how many of each command (20)")
    parser.add_argument("--seed", type=int, default=32, help="another seed kills at other moments (32)")
    parser.add_argument("--only", choices=[*COMMANDS], action="append", help="(all)")
    args = parser.parse_args(argv)
    print("| command | killed | ended before | equal |\n|---|---|---|---|")
    for name in args.only or COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            killed, before, equal = kill(name, Path(folder), args.kills, random.Random(f"{args.seed} {name}"))
        print(f"| {name} | {killed} | {before} | {'yes' if equal else 'NO'} |", flush=True)


def kill(name: str, folder: Path, kills: int, draw: random.Random) -> tuple[int, int, bool]:
    """How often a command was killed, and had ended before that, and whether what came of it is the undisturbed."""
    prepare(folder)
    look = LOOK.get(name, tree)
    out = folder / "undisturbed" / "out"
    _put(name, folder, out)
    began = time.monotonic()
    if start(name, folder, out).wait():
        raise SystemExit(f"{name} does not end well undisturbed")
    took, wanted = time.monotonic() - began, look(out)
    killed = before = 0
    out = folder / "disturbed" / "out"  # a set is named by its folder
    _put(name, folder, out)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    while killed < kills and before < 3 * kills:
        process = start(name, folder, out)
        try:
            process.wait(draw.uniform(0.2 if killed % 2 else 0.6, 1) * took)
            before += 1
            shutil.rmtree(out)  # it is done: begin anew
            _put(name, folder, out)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
    ended = 0 if name in ANEW and out.exists() else start(name, folder, out).wait()
    return killed, before, not ended and look(out) == wanted


def prepare(folder: Path) -> None:
    """A set, a bank of statements, and two runs."""
    mmdyn = [sys.executable, "-m", "mmdyn"]
    subprocess.run([*mmdyn, "demo", "-o", "demo", "-q"], cwd=folder, check=True, capture_output=True)
    for made, name in (("set", "set"), ("run", "run"), ("run", "other")):
        shutil.copytree(folder / "demo" / made, folder / name)
    rows = [
        {"id": f"s{n}", "question": f"{n} is even.", "task_type": "true_false", "answer": n % 2 == 0}
        for n in range(400)
    ]  # fmt: skip
    (folder / "key").write_bytes(bytes(range(32)))
    (folder / "bank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    subprocess.run([*mmdyn, "data", "convert", "bank.jsonl", "-o", "bank"], cwd=folder, check=True, capture_output=True)


def _put(name: str, folder: Path, out: Path) -> None:
    if name == "score":
        shutil.copytree(folder / "run", out)


def start(name: str, folder: Path, out: Path) -> subprocess.Popen[bytes]:
    """The command, in a process group of its own."""
    words = COMMANDS[name].replace(OUT, str(out)).split()
    settings: dict[str, Any] = {"env": {**os.environ, "MMDYN_CACHE": str(folder / "cache")}, "start_new_session": True}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", "mmdyn", *words], cwd=folder, **settings, **quiet)


def tree(out: Path) -> dict[str, bytes]:
    """Every file of a set, and nothing that is hidden."""
    files = (path for path in sorted(out.rglob("*")) if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def held(out: Path) -> dict[str, Any]:
    """What a run's store holds, and its settings."""
    with Reader(out / "records") as reader:
        kinds = {kind: dict(reader.items(kind)) for kind in reader.kinds()}
    return {**kinds, "run.json": (out / "run.json").read_bytes()}


def pages(out: Path) -> dict[str, bytes]:
    """Pages, without when they were written."""
    return {name: re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", b"", data) for name, data in tree(out).items()}


ANEW = {"view"}
"""Commands that refuse a folder that is there: whoever finds one finds it whole."""

LOOK: dict[str, Callable[[Path], dict[str, Any]]] = {"score": held, "merge": held, "view": pages}

if __name__ == "__main__":
    main(sys.argv[1:])
