"""Reprint the README's part of the demo's report out of what `mmdyn demo` prints now: python bench/readme.py"""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

README = Path(__file__).parents[1] / "README.md"
MARK = re.compile(r"(<!-- `mmdyn demo` prints this of (?P<model>\S+): bench/readme\.py -->\n\n)(?:(?:    .*)?\n)+")
TITLES = ("Scores (", "Changes from standard to dynamic (")


def main() -> None:
    """Run the demo and rewrite the block."""
    README.write_text(reprinted(README.read_text("utf-8"), demo_output()), "utf-8")


def demo_output() -> str:
    """What the demo prints on standard output."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mmdyn", "demo", "-q", "-o", "demo"]
        return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True).stdout


def reprinted(readme: str, output: str) -> str:
    """The README with its marked block as the output has it. Raises ValueError where there is none."""
    found = MARK.search(readme)
    if not found:
        raise ValueError("README.md has no block that bench/readme.py prints")
    tables = [line for title in TITLES for line in (*table_of(output, title, found["model"]), "")]
    block = "".join(f"    {line}".rstrip() + "\n" for line in tables)
    return readme[: found.start()] + found[1] + block + readme[found.end() :]


def table_of(output: str, title: str, model: str) -> list[str]:
    """A table's title, its head and the rows of one model, as far as they stand side by side."""
    lines = [line.rstrip() for line in output[output.index(f"\n{title}") + 1 :].splitlines()]
    rule = next(place for place, line in enumerate(lines) if "───" in line)
    rows = takewhile(bool, lines[rule + 1 :])
    return [*lines[: rule + 1], *(row for row in rows if row.startswith(f" {model} "))]


if __name__ == "__main__":
    main()
