"""Reprint the README's part of the demo's report out of what `mmdyn demo` prints now: python bench/readme.py"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

README = Path(__file__).parents[1] / "README.md"
MARK = re.compile(r"(<!-- `mmdyn demo` prints this of (?P<model>\S+): bench/readme\.py -->\n\n)(?:(?:    .*)?\n)+")
WIDTH = 76
"""Columns of the block, without its indent."""


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
    said = next(line for line in output[output.index("In short:") :].splitlines() if line.startswith(found["model"]))
    lines = [*table_of(output, "Scores (", found["model"]), "", *textwrap.wrap(said, WIDTH)]
    block = "".join(f"    {line}".rstrip() + "\n" for line in lines)
    return f"{readme[: found.start()]}{found[1]}{block}\n{readme[found.end() :]}"


def table_of(output: str, title: str, model: str) -> list[str]:
    """A table's title, its head and the rows of one model, of the columns that fit."""
    lines = [line.rstrip() for line in output[output.index(title) :].splitlines()]
    rule = next(place for place, line in enumerate(lines) if "───" in line)
    end = next(place for place, line in enumerate(lines) if place > rule and not line)
    rows = [*lines[2:rule], *(line for line in lines[rule:end] if line.startswith(f" {model} "))]
    width = max(at for at in range(WIDTH) if all(row[at : at + 2].isspace() for row in rows))
    cut = [row[:width].rstrip() for row in rows]
    return [*lines[:2], *cut[: rule - 2], lines[rule][:width], *cut[rule - 2 :]]


if __name__ == "__main__":
    main()
