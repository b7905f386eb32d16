"""Which run would tell what a report cannot, as a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mmdyn.errors import PluginError, command_line
from mmdyn.plugins import ALIASES, load, resolve
from mmdyn.work import RunFolder

FULL = 5
"""Operators of which all subsets are made; of more, orders are drawn."""

LEVELS = "12345"
CAPTIONED = "captioned"


class NextRuns:
    """The commands that go on from some runs, with their sets and models; new sets and runs lie beside the old ones."""

    def __init__(self, runs: Sequence[RunFolder]) -> None:
        self._run = runs[0]
        entries = [(run, entry) for run in runs for entry in run.config.sets]
        self._standard = list(dict.fromkeys(run.set_folder(one) for run, one in entries if one.name == one.root))
        self._dynamic = list(dict.fromkeys(run.set_folder(one) for run, one in entries if one.name != one.root))
        self._models = list(dict.fromkeys(entry.label for run in runs for entry in run.config.models))
        chains = (chain for _, entry in entries for chain in entry.strength)
        names = (re.split("[@:]", name)[0] for chain in chains for name in chain.split("+"))
        self._operators = list(dict.fromkeys(one for name in names for one in ALIASES.get(name, (name,))))

    def noise(self) -> list[str]:
        """Ask variants that nobody would call changed; that tells of models that repeat their replies, too."""
        return self._made("null", "image.null,text.null")

    def factorial(self) -> list[str]:
        """Make every subset of the operators (of many, some orders), and ask them; none for a single operator."""
        if len(self._operators) < 2 or not self._standard:
            return []
        more = ["--design", "permutations:4"] if len(self._operators) > FULL else []
        return self._made("factorial", ",".join(self._operators), "--factorial", *more)

    def doses(self) -> list[str]:
        """Make an operator's doses, and ask them; none where no operator has any."""
        graded = next(filter(_is_graded, self._operators), "")
        ops = ",".join(f"{graded}@{level}" for level in LEVELS)
        return self._made("doses", ops) if graded and self._standard else []

    def ladder(self) -> list[str]:
        """Ask without the picture, with a caption in its place, and with knowledge; captions are made for sets that
        are not called so."""
        captioned = [
            folder if folder.name.endswith(f"-{CAPTIONED}") else _beside(folder, CAPTIONED) for folder in self._standard
        ]
        made = [
            command_line("mmdyn", "build", "caption", folder, "-o", out, "-m", "VISION_MODEL")
            for folder, out in zip(self._standard, captioned, strict=True)
            if folder != out
        ]
        contexts = "no-picture,caption,none,kprag,caption+kprag"
        return [*made, self._eval("ladder", captioned, "--mode", "standard", "--context", contexts)]

    def larger(self, detect: float) -> str:
        """How many questions would show a drop of so many points."""
        more = "--detect", f"{detect:.1f}", "--pilot", self._run.folder
        return command_line("mmdyn", "plan", *self._standard, *self._asked, *more)

    @property
    def _asked(self) -> list[str]:
        return [word for label in self._models for word in ("-m", label)]

    def _made(self, what: str, ops: str, *more: str) -> list[str]:
        made = [_beside(folder, what) for folder in self._standard]
        perturbed = [
            command_line("mmdyn", "perturb", folder, "-o", out, "--ops", ops, *more)
            for folder, out in zip(self._standard, made, strict=True)
        ]
        return [*perturbed, self._eval(what, [*self._standard, *made])]

    def _eval(self, what: str, sets: Sequence[Path], *more: str) -> str:
        return command_line("mmdyn", "eval", *sets, *self._asked, "-o", _beside(self._run.folder, what), *more)


def _is_graded(operator: str) -> bool:
    try:
        severities = load("operators", resolve("operators", operator)).severities
    except PluginError:  # it is of a package that is not installed here
        return False
    return LEVELS[-1] in severities


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f"{folder.name}-{what}")
