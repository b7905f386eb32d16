"""The house keeps its shape: floors, sizes, imports, what is public, and no benchmark or model named in the core."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest
from tracked import ROOT, tracked

import mmdyn
from mmdyn.plugins import names

SOURCES = tracked(*(f"{package}/**/*.py" for package in ("mmdyn", "perturb", "kprag")))
ROOMS = [
    ".".join(stub.parent.relative_to(ROOT).parts)
    for stub in tracked("*/**/__init__.pyi")
    if stub.parent.name != "mmdyn"
]
MODULES = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in SOURCES if file.stem != "__init__"}
HEAVY = (
    "torch",
    "transformers",
    "diffusers",
    "vlmeval",
    "ray",
    "submitit",
    "matplotlib",
    "datasets",
    "pandas",
    "mlflow",
    "wandb",
)


def test_imports_point_downwards_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_functions_are_short() -> None:
    lengths = {
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for file in SOURCES
        for node in nodes(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert [name for name, lines in lengths.items() if lines > 100] == [] and median(lengths.values()) < 10


def test_a_room_has_what_its_door_lists() -> None:
    rooms = map(import_module, ROOMS)
    assert [(room, name) for room in rooms for name in room.__all__ if not hasattr(room, name)] == []


def test_rooms_are_entered_by_their_doors() -> None:
    for file in SOURCES:
        own = room_of(".".join(file.relative_to(ROOT).with_suffix("").parts))
        for node in nodes(file):
            room = room_of(node.module or "") if isinstance(node, ast.ImportFrom) else None
            if room and room != own and isinstance(node, ast.ImportFrom):
                unlisted = {alias.name for alias in node.names} - {*import_module(room).__all__}
                assert (node.module, unlisted) == (room, set()), file


def room_of(module: str) -> str | None:
    """The room that a module lies in: None for those above all rooms."""
    return next((room for room in ROOMS if f"{module}.".startswith(f"{room}.")), None)


def test_no_room_has_a_circle_of_files() -> None:
    """Imports inside functions, and those for types alone, count too: they only hide a circle."""
    for room in (*ROOMS, "mmdyn.cli"):
        files = {name: file for name, file in MODULES.items() if f"{name}.".startswith(f"{room}.")}
        imports = {name: imported(file) & files.keys() - {name} for name, file in files.items()}
        while free := {name for name, found in imports.items() if not found & imports.keys()}:
            imports = {name: found for name, found in imports.items() if name not in free}
        assert sorted(imports) == [], "these files import each other, or what does"


def test_files_that_comments_and_docstrings_name_are_there() -> None:
    there = {path.name for path in tracked("**/*.py")}
    named = re.compile(r"(?<![\w.*<{])(?:[\w-]+/)*([a-z_]+\.py)\b")
    gone = [
        f"{file.relative_to(ROOT)}:{number}: {found[1]}"
        for file in SOURCES
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for found in named.finditer(line)
        if found[1] not in there
    ]
    assert gone == []


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """All of a file's syntax."""
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def imported(file: Path) -> set[str]:
    """The names of modules that a file imports anywhere in it, and names that may be some."""
    found = set[str]()
    for node in nodes(file):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_the_public_names() -> None:
    assert sorted(mmdyn.__all__) == [
        "BaseConfig", "ConditionSpec", "ExamplesConfig", "Execution", "KnowledgeConfig", "Layout", "Limits", "MmdynError",
        "RayConfig", "RetrieverConfig", "RubricConfig", "RunFolder", "Sample", "SampleSet", "ScoringConfig",
        "SetRequest", "SlurmConfig", "beside", "evaluate", "load", "perturb", "records", "report", "score", "tabulate", "why",
    ]  # fmt: skip
    for name in mmdyn.__all__:
        assert getattr(mmdyn, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = mmdyn.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "modules", ["mmdyn.cli", "mmdyn.run.evaluate, mmdyn.run.score, mmdyn.tables.tabulation, mmdyn.data.convert_set"]
)
def test_nothing_heavy_is_imported(modules: str) -> None:
    script = f"import sys, {modules}; print(sorted(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_help_imports_no_numerics() -> None:
    script = (
        "import sys; from mmdyn.cli import commands; commands.main(['--help'], standalone_mode=False);print(sorted(m"
        " for m in ('numpy', 'scipy', 'PIL', 'aiohttp', 'pyarrow', 'rich', 'yaml') if m in sys.modules),"
        " file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert "perturb" in done.stdout and "eval" in done.stdout


def test_the_core_names_no_benchmark_and_no_vendor() -> None:
    policy_by_default = {"mdk12"}
    banned = {*names("benchmarks"), "gpt-", "qwen", "gemini", "claude", "internvl"} - policy_by_default
    core = [
        file for file in SOURCES if not {"benchmarks", "configs", "cli", "backends"} & set(file.relative_to(ROOT).parts)
    ]
    for file in core:
        for node in ast.walk(_without_docstrings(file)):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            assert not [name for name in banned if name in text.lower()], f"{file}: {text}"


def _without_docstrings(file: Path) -> ast.AST:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [
                part for part in body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]  # type: ignore[attr-defined]
    return tree
