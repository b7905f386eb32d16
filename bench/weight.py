"""How much code each room has: lines without blanks, comments and docstrings. Prints a table.

    python bench/weight.py [--files ROOM] [--root DIR]

A room is a package: `mmdyn/scoring/extract` is one, and so is `mmdyn/scoring` without those inside it; `whole` counts a
room with those inside it. `all` sums the packages; `tests` stands below it. `--files` lists the files of one room, or
of a folder of tests. Tables that lie beside the code (TSV, TOML, JSON, text) are counted by their lines, those of the
tests are not.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGES = ("mmdyn", "perturb", "kprag")
TABLES = frozenset((".toml", ".tsv", ".json", ".txt", ".jinja", ".md", ".yaml"))
_NO_CODE = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", metavar="ROOM", help="list the files of a room, such as mmdyn/scoring")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="another checkout")
    args = parser.parse_args(argv)
    files = dict(weigh(args.root))
    if args.files:
        print_files({path: lines for path, lines in files.items() if Path(args.files) in path.parents})
    else:
        rooms = {path: lines for path, lines in files.items() if path.parts[0] in PACKAGES}
        print_rooms(rooms, tables(args.root))
        print(f"| tests | {len(files) - len(rooms)} | | {sum(files.values()) - sum(rooms.values()):,} | |")


def weigh(root: Path) -> Iterator[tuple[Path, int]]:
    """Each Python file of the packages and the tests, relative to the root, with its lines of code."""
    for folder in (*PACKAGES, "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            yield path.relative_to(root), code_lines(path.read_text(encoding="utf-8"))


def code_lines(source: str) -> int:
    """The lines that hold code: a string that stands as a statement is a docstring, and no code."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def tables(root: Path) -> Counter[Path]:
    """The lines of the data files, by the folder that they lie in."""
    counted = Counter[Path]()
    for package in PACKAGES:
        for path in (root / package).rglob("*"):
            if path.suffix in TABLES:
                counted[path.relative_to(root).parent] += len(path.read_text(encoding="utf-8").splitlines())
    return counted


def print_rooms(files: dict[Path, int], data: Counter[Path]) -> None:
    """A line a room: its files, its own code, the code with the rooms inside it, and its tables."""
    own, count, whole = Counter[Path](), Counter[Path](), Counter[Path]()
    for path, lines in files.items():
        own[path.parent] += lines
        count[path.parent] += 1
        whole.update(dict.fromkeys(path.parents, lines))
    print("| room | files | code | whole | tables |\n|---|---|---|---|---|")
    for room in sorted(own):
        print(f"| {room} | {count[room]} | {own[room]:,} | {whole[room]:,} | {data[room] or ''} |")
    print(f"| all | {len(files)} | | {sum(files.values()):,} | {sum(data.values()):,} |")


def print_files(files: dict[Path, int]) -> None:
    """A line a file, the largest first."""
    print("| file | code |\n|---|---|")
    for path, lines in sorted(files.items(), key=lambda item: -item[1]):
        print(f"| {path} | {lines:,} |")
    print(f"| all | {sum(files.values()):,} |")


if __name__ == "__main__":
    main()
