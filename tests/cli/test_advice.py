"""What messages advise can be typed: an option that a text names is one of the command that the text is of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
from tracked import ROOT, tracked

from mmdyn.cli import commands
from mmdyn.errors import MmdynError

NAMED = re.compile(r"(?:`mmdyn |give |or |of |`)([a-z-]+(?: [a-z-]+)?)")
"""Where a text names a command: in full, or after a word that only commands of ours follow."""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")

EVAL, MADE = ("eval",), ("eval", "perturb")
JUDGES = ("eval", "score", "grade", "compare", "errors")
WHO: dict[str, tuple[str, ...]] = {
    "mmdyn/data/columns.py": ("data convert",),
    "mmdyn/data/convert_set.py": ("data convert",),
    "mmdyn/run/": EVAL,
    "mmdyn/table.py": ("report",),
    "mmdyn/run/config.py": ("run",),
    "mmdyn/run/verdicts.py": ("compare", "errors"),
    "mmdyn/run/probe.py": ("probe order",),
    "mmdyn/run/score.py": ("score",),
    "mmdyn/run/predictions.py": ("score",),
    "mmdyn/run/settings.py": EVAL,
    "mmdyn/run/runs.py": ("runs merge",),
    "mmdyn/run/recorded.py": ("runs export",),
    "mmdyn/run/grader.py": ("eval", "score"),
    "mmdyn/run/flow.py": EVAL,
    "mmdyn/models/budget.py": JUDGES,
    "mmdyn/models/pace.py": JUDGES,
    "mmdyn/models/model.py": EVAL,
    "mmdyn/models/vendors.py": ("run",),
    "mmdyn/models/backends/_http": ("run",),
    "mmdyn/work/pool.py": MADE,
    "mmdyn/work/set_step.py": ("perturb",),
    "mmdyn/build/compose.py": ("compose",),
    "mmdyn/build/sweep.py": ("compose",),
    "mmdyn/build/build.py": ("build translate",),
    "mmdyn/sheets/": ("data audit",),
    "mmdyn/scoring/scorer.py": ("eval", "score", "grade"),
    "mmdyn/data/take.py": ("data sample",),
    "mmdyn/data/strength.py": (),
    "mmdyn/tables/": ("report",),
    "mmdyn/tables/trends.py": EVAL,
    "mmdyn/tables/pilot.py": ("plan",),
    "mmdyn/run/power.py": ("plan",),
    "mmdyn/run/memory_plan.py": ("plan",),
    "perturb/pipeline.py": ("perturb",),
    "perturb/chains.py": ("perturb",),
    "perturb/image/style.py": ("perturb", "data show"),
    "perturb/audit/judge_calibration.py": ("judge",),
    "perturb/audit/pairs.py": ("data show", "data audit"),
    "perturb/audit/side_by_side.py": ("data show",),
    "kprag/index.py": ("knowledge index",),
    "kprag/taxonomy.py": ("knowledge index", "knowledge coverage"),
}
"""Which commands say what stands in a file, where the text names none; the longest beginning of the path counts."""

NEXT = "mmdyn/tables/why_page.py"
OF_OTHERS = ("--enable-prefill-logprobs",)
"""Options of other programs, such as servers."""
PARTS = {
    ("mmdyn/tables/judged.py", "--judge"): "grade",
    ("mmdyn/data/take.py", "--take"): "perturb",
    ("mmdyn/tables/memory_page.py", "--is-random"): "probe order",
    ("mmdyn/run/memory_plan.py", "--shards"): "probe order",
    ("mmdyn/tables/memory_page.py", "--drawn-at-random"): "probe members",
    ("mmdyn/tables/memory_page.py", "--published"): "probe members",
    ("mmdyn/models/model.py", "--allow-programs"): "run",
    ("perturb/rewrite/_rewriter.py", "--rewriter"): "perturb",
    ("mmdyn/run/verdicts.py", "--models"): "compare",
    ("mmdyn/run/verdicts.py", "--reference"): "compare",
    **{
        (NEXT, option): "eval"
        for option in (
            "--epochs",
            "--mode",
            "--context",
            "--style",
            "--shots",
            "--limit",
            "--policy",
            "--prompt",
            "--prices",
        )
    },
    **{(NEXT, option): "perturb" for option in ("--factorial", "--design", "--ops", "--draws", "--rewriter")},
    **{(NEXT, option): "plan" for option in ("--detect", "--pilot")},
}
"""Options that are put into a text beside the command that they are of."""


@cache
def options_of(name: str) -> set[str]:
    """Every option of a command, such as `data show`."""
    command: click.Command = commands
    for word in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, name
        command = found
    parameters = command.get_params(click.Context(command))
    return {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}


def is_command(name: str) -> bool:
    """Whether there is a command of a name."""
    try:
        options_of(name)
    except (click.UsageError, AssertionError, MmdynError):
        return False
    return True


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Every text of a file that is no docstring, what is filled in as a letter."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "command_line":
            silent |= {id(word) for word in node.args}
            yield node.lineno, "`" + " ".join(w.value for w in node.args if isinstance(w, ast.Constant))
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in node.values}
            yield node.lineno, "".join(str(p.value) if isinstance(p, ast.Constant) else "X" for p in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.lineno, node.value


def options_in(file: Path) -> Iterator[tuple[int, str, re.Match[str]]]:
    """Every option that a text of a file names, after its line and the text."""
    for line, text in texts(file):
        for option in OPTION.finditer(text):
            yield line, text, option


def commands_of(text: str, at: int, default: tuple[str, ...]) -> tuple[str, ...]:
    """The commands that an option at a place of a text is of: the one that the text names before it, else the default.

    A command that stands in whole between two backticks may be followed by options of either.
    """
    found = [
        (name, match.start())
        for match in NAMED.finditer(text[:at])
        for name in (match[1].partition(" ")[0], match[1])
        if is_command(name)
    ]
    if not found:
        return default
    name, begin = found[-1]
    closed = text.count("`", begin, at) == 2 or not text.count("`", begin, at)
    option = OPTION.match(text, at)
    assert option is not None
    return default if closed and option[0] not in options_of(name) else (name,)


def files() -> list[Path]:
    rooms = (path.relative_to(ROOT).parts for path in tracked("mmdyn/**/*.py", "perturb/**/*.py", "kprag/**/*.py"))
    return [ROOT.joinpath(*parts) for parts in rooms if not {"cli", "testing"} & set(parts)]


def leaves(command: click.Command, name: str = "") -> Iterator[str]:
    """The names of a command, or of all in a group."""
    if not isinstance(command, click.Group):
        yield name.strip()
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        if found := command.get_command(context, word):
            yield from leaves(found, f"{name} {word}")


def test_an_option_that_a_command_tells_of_is_its_own_or_that_of_the_one_it_names() -> None:
    every = {name: options_of(name) for name in leaves(commands)}
    for file in tracked("mmdyn/cli/*.py"):
        own = file.stem.replace("_", "-")
        names = tuple(name for name in every if file.stem.startswith("_") or name.split()[0] == own)
        for line, text, option in options_in(file):
            if option[0] != text:  # else it is declared, or said to be gone
                asked = commands_of(text, option.start(), names)
                there = {one for name in asked for one in (every.get(name) or options_of(name))}
                assert option[0] in there, f"{file.name}:{line}: {asked[:3]} lacks {option[0]}"


def test_an_option_that_a_text_names_is_one_of_its_command() -> None:
    for file in files():
        place = file.relative_to(ROOT).as_posix()
        near = [begin for begin in WHO if place.startswith(begin)]
        steps = place.startswith("mmdyn/build/steps/")
        who = (f"build {file.stem.replace('_', '-')}",) if steps else WHO[max(near, key=len)] if near else ()
        for line, text, option in options_in(file):
            if option[0] in OF_OTHERS:
                continue
            part = PARTS.get((place, option[0]))
            asked = (part,) if part else commands_of(text, option.start(), who)
            assert asked, f"{place}:{line}: {option[0]} is of no command: name it, or add the file to WHO"
            for command in asked:
                assert option[0] in options_of(command), f"{place}:{line}: {command} has no {option[0]}"
