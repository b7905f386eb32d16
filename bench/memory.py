"""Peak memory of converting, perturbing and evaluating generated text samples, at three sizes.

    python bench/memory.py [--sizes 1000,10000,100000]

Each stage is a process of its own, run by the command line as a user would, and measured by the operating system
(ru_maxrss of the finished process; children of a stage are counted by their largest). The baseline beside it is the
same Python with the same imports and no samples.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BASELINE = "import mmdyn.run.evaluate, mmdyn.tables.tabulation, perturb.pipeline, mmdyn.data.convert_set, scipy.stats"


def main() -> None:
    """Print a table of peak megabytes and seconds a stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    sizes = [int(size) for size in parser.parse_args().sizes.split(",")]
    print(f"{'samples':>9}  {'stage':<10}{'peak MB':>9}{'seconds':>9}")
    print(f"{0:>9}  {'imports':<10}" + "{:>9.0f}{:>9.1f}".format(*measure([sys.executable, "-c", BASELINE], {})))
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for stage, peak, seconds in stages(Path(folder), size):
                print(f"{size:>9}  {stage:<10}{peak:>9.0f}{seconds:>9.1f}", flush=True)


def stages(folder: Path, size: int) -> list[tuple[str, float, float]]:
    """Convert, perturb, evaluate and report `size` samples; the peak in MB and the seconds of each."""
    write_samples(folder / "made.jsonl", size)
    mmdyn = [sys.executable, "-m", "mmdyn"]
    commands = {
        "convert": [*mmdyn, "data", "convert", "made.jsonl", "-o", "set"],
        "perturb": [*mmdyn, "perturb", "set", "-o", "dynamic", "--ops", "shuffle", "--seed", "1"],
        "eval": [*mmdyn, "eval", "set", "dynamic", "-m", "baseline:majority", "-o", "run"],
        "report": [*mmdyn, "report", "run", "--json"],
    }
    env = {"MMDYN_CACHE": str(folder / "cache")}
    return [(stage, *measure(command, env, folder)) for stage, command in commands.items()]


def write_samples(file: Path, size: int) -> None:
    """Single-choice samples of about 300 characters."""
    with file.open("w") as lines:
        for number in range(size):
            options = [{"label": label, "text": f"{number * 7 + offset} units"} for offset, label in enumerate("ABCD")]
            question = (
                f"Question {number}: a tank holds {number} units and gains seven times as much. "
                + "How many units? " * 8
            )
            sample = {
                "id": f"q{number}",
                "question": question,
                "task_type": "single_choice",
                "options": options,
                "answer": ["ABCD"[number % 4]],
            }
            lines.write(json.dumps(sample) + "\n")


def measure(command: list[str], env: dict[str, str], folder: Path | None = None) -> tuple[float, float]:
    """Peak megabytes and seconds of a command. Raises SystemExit with its errors where it fails."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            shutil.copyfileobj(errors, sys.stderr.buffer)
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_maxrss / 1024, time.monotonic() - started


if __name__ == "__main__":
    main()
