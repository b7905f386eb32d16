"""The runs behind docs/papers/mdk12.md and opencompass.md, and these pages printed anew.

    python -P bench/mdk12_runs.py FOLDER           makes FOLDER/runs (a minute)
    python -P bench/mdk12_runs.py FOLDER --print   puts what every command of the two pages prints there into the pages

The models are the stand-ins of tests/benchmarks/making_mdk12.py and the scripts of tests/making_boards.py.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from benchmarks.making_mdk12 import StandIns, write_mdk12
from making_boards import RATES, SETS, write_boards

from mmdyn.data import SampleSet, convert
from mmdyn.testing import FakeServer
from perturb import perturb

TAKE = "difficulty=easy:35,medium:41,hard:56"
MODELS = """\
model,family,size,kind
fable-7b,fable,7,chat
fable-72b,fable,72,chat
fable-72b-thinking,fable,72,reasoning
saga-8b,saga,8,chat
"""
PORTS = 8123, 8124
"""Fixed, because a judge's prompt, out of which its verdicts are drawn, hangs on its address."""
PAGES = [ROOT / "docs" / "papers" / f"{name}.md" for name in ("mdk12", "opencompass")]


def mmdyn(folder: Path, *words: str) -> str:
    """What a command prints in a folder."""
    path = {"PYTHONPATH": str(ROOT), "MMDYN_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "mmdyn", *words, "-q"]
    done = subprocess.run(command, cwd=folder, env=os.environ | path, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: a part of a table has no number, as no run asked for it
        raise SystemExit(done.stderr)
    return done.stdout


def make_runs(folder: Path) -> None:
    """Both papers' runs, in a new folder."""
    mini = convert(write_mdk12(folder / "MDK12-Mini", 2), folder / "mini", benchmark="mdk12", name="mdk12")
    full = convert(write_mdk12(folder / "MDK12-Full", 6), folder / "full", benchmark="mdk12", name="mdk12_full")
    made = perturb(mini, folder / "made", ops="mdk12", take=TAKE, seed=1, judge="embedded", quiet=True)
    (folder / "models.csv").write_text(MODELS, encoding="utf-8")
    with StandIns([mini, SampleSet(made.folder), full], PORTS[0]) as server:
        judge = f"openai:judge,base_url={server.url}"

        def run(out: str, names: str, *changes: str) -> None:
            models = ",".join(f"'openai:{name},base_url={server.url},max_tokens=2048'" for name in names.split())
            common = [f"models=[{models}]", f"out=runs/{out}", f"scoring.judges=['{judge}']"]
            mmdyn(folder, "run", "mdk12", *common, *changes)

        alone = ("conditions.modes=standard", "conditions.ops=''")
        run("mdk12", "fable-7b fable-72b", f"conditions.take={TAKE}")
        run("more", "fable-72b-thinking saga-8b", *alone)
        run("full", "fable-7b fable-72b", "sets=[full]", *alone)
        mmdyn(folder, "errors", "runs/mdk12", "--judge", judge, "--per", "20")
    write_boards(folder / "boards")
    scripts = [word for name in RATES for word in ("-m", f"scripted:boards/{name}.jsonl")]
    sets = [convert(folder / "boards" / f"{name}.jsonl", folder / "boards" / name).folder for name in SETS]
    mmdyn(folder, "eval", *map(str, sets), *scripts, "-o", "runs/boards")
    with FakeServer(reply="hashed", port=PORTS[1]) as server:
        asked = ("boards/hle", "-m", "scripted:boards/atlas.jsonl", "-o", "runs/cascade", "--judge-mode", "wrong")
        mmdyn(folder, "eval", *asked, "--judge", f"openai:judge,base_url={server.url}")


def print_anew(page: Path, folder: Path) -> None:
    """Put what each command of a page prints now into the page; a line of … stands for what is left out before it."""

    def printed(block: re.Match[str]) -> str:
        lines = [line.rstrip() for line in mmdyn(folder, *shlex.split(block[1])).rstrip().splitlines()]
        if block[2]:
            lines = ["…", *lines[next(place for place, line in enumerate(lines) if line.startswith(block[2])) :]]
        return "\n".join((f"```\n$ mmdyn {block[1]}", *lines, "```"))

    text = page.read_text(encoding="utf-8")
    found = re.sub(r"^```\n\$ mmdyn (.*)\n(?:…\n(\w+ \w+ \w+))?(?:.*\n)*?```$", printed, text, flags=re.MULTILINE)
    page.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[1]).resolve()
    if "--print" not in sys.argv:
        place.mkdir(parents=True)
        make_runs(place)
    for page in PAGES if "--print" in sys.argv else ():
        print_anew(page, place)
