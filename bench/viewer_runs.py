"""Runs to look at with `mmdyn view`: public sets, five chains, two models, knowledge beside the question, a judge.

    python -P bench/viewer_runs.py DATA FOLDER     makes FOLDER (two minutes); DATA holds the sets' releases

The models are the stand-ins of tests/making_views.py, the judge is the fake server.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from making_views import CHAINS, StandIn, make_run

from mmdyn.data import convert
from mmdyn.testing import FakeServer
from perturb import perturb

HOW_MANY = {"gaokao_mm": 60, "we_math": 60, "scemqa": 80}


def main(data: Path, folder: Path) -> None:
    """The sets, their variants, and a run of each."""
    with FakeServer(reply="hashed") as server:
        for name, count in HOW_MANY.items():
            source = data / name.replace("_", "-")
            standard = convert(source, folder / "sets" / name, benchmark=name, name=name, skip_bad=True)
            made = perturb(
                standard, folder / "sets" / f"{name}-dynamic", ops=CHAINS, limit=count, judge="embedded", quiet=True
            )
            models = [StandIn("fable-7b", [standard, made], 0.72, 0.5), StandIn("saga-72b", [standard, made], 0.9, 0.2)]
            modes = "standard,dynamic,kprag" if name == "we_math" else "standard,dynamic"
            judge = f"openai:judge,base_url={server.url}" if name == "scemqa" else ""
            make_run([standard, made], folder / "runs" / name, *models, modes=modes, judge=judge, n=count)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
