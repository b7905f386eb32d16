"""What one sample costs in code: the calls, functions and files of the house between its plan and its record.

    python bench/one_sample.py [--root DIR] [--list]

A set of single choices is asked of a model that answers at once (a script of replies) by the command `mmdyn eval` of a
checkout, once with 10 and once with 110 samples; the difference by 100 is one sample's. Only Python functions of the
packages are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

FEW, MORE = 10, 110
PROFILED = """
import collections, json, sys
from pathlib import Path
root = Path(sys.argv.pop(1))
count = collections.Counter()
def note(frame, event, _):
    if event == "call":
        code = frame.f_code
        if code.co_filename.startswith((f"{root}/mmdyn/", f"{root}/perturb/", f"{root}/kprag/")):
            count[f"{code.co_filename.removeprefix(str(root) + '/')}:{code.co_qualname}"] += 1
from mmdyn.cli import main
import threading
threading.setprofile(note); sys.setprofile(note)
try:
    main()
finally:
    sys.setprofile(None)
    json.dump(count, open("calls.json", "w"))
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures, and each function's calls with `--list`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="another checkout")
    parser.add_argument("--list", action="store_true", help="every function with its calls a sample")
    args = parser.parse_args(argv)
    few, more = calls(args.root.resolve(), FEW), calls(args.root.resolve(), MORE)
    each = {name: (more[name] - few[name]) / (MORE - FEW) for name in more}
    each = {name: count for name, count in each.items() if count >= 0.5}
    files = {name.partition(":")[0] for name in each}
    print(f"one choice: {sum(each.values()):.0f} calls of {len(each)} functions in {len(files)} files")
    for name, count in sorted(each.items()) if args.list else ():
        print(f"{count:6.1f}  {name}")


def calls(root: Path, samples: int) -> Counter[str]:
    """The calls of each function of the house while so many samples are evaluated."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "s.jsonl").write_text(json.dumps({"match": "", "reply": "So we are there.\n\nAnswer: B"}) + "\n")
        options = [{"label": label, "text": f"{number} units"} for number, label in enumerate("ABCD")]
        made = {"task_type": "single_choice", "options": options, "answer": ["B"]}
        lines = [json.dumps({"id": f"q{n}", "question": f"How many are {n}?", **made}) for n in range(samples)]
        (place / "set.jsonl").write_text("\n".join(lines) + "\n")
        command = ["eval", "set.jsonl", "-m", "scripted:s.jsonl", "-o", "run", "--cache", "none"]
        environment = {**os.environ, "PYTHONPATH": str(root), "MMDYN_CACHE": str(place / "cache")}
        done = [sys.executable, "-c", PROFILED, str(root), *command]
        subprocess.run(done, cwd=place, env=environment, check=True, capture_output=True)
        return Counter(json.loads((place / "calls.json").read_text()))


if __name__ == "__main__":
    main()
