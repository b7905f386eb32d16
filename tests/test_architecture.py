"""The house keeps its shape: floors, sizes, imports, what is public, and no benchmark or model named in the core."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mmdyn
from mmdyn.plugins import names

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(file for package in ("mmdyn", "perturb", "kprag") for file in (ROOT / package).rglob("*.py"))
HEAVY = ("torch", "transformers", "diffusers", "vlmeval", "ray", "matplotlib")


def test_imports_point_downwards_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_files_and_functions_fit_a_screen_or_two(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 60, f"{node.name} is too long"


def test_the_public_names() -> None:
    assert sorted(mmdyn.__all__) == [
        "KnowledgeConfig", "Layout", "MmdynError", "RunFolder", "Sample", "SampleSet", "evaluate", "load", "perturb", "report", "score",
    ]  # fmt: skip
    for name in mmdyn.__all__:
        assert getattr(mmdyn, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = mmdyn.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "modules", ["mmdyn.cli", "mmdyn.run.evaluate, mmdyn.run.score, mmdyn.tables.table, mmdyn.data.convert"]
)
def test_nothing_heavy_is_imported(modules: str) -> None:
    script = f"import sys, {modules}; print(sorted(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_help_imports_no_numerics() -> None:
    script = (
        "import sys; from mmdyn.cli import commands; commands.main(['--help'], standalone_mode=False);"
        "print(sorted(m for m in ('numpy', 'scipy', 'PIL', 'aiohttp', 'pyarrow', 'rich', 'yaml') if m in sys.modules), file=sys.stderr)"
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
