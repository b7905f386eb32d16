"""Which run would tell what a report cannot, as commands that can be typed as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from mmdyn.data import KNOWLEDGE_FILE, SAMPLES_FILE
from mmdyn.errors import PluginError, command_line
from mmdyn.plugins import ALIASES, load, resolve
from mmdyn.work import ModelEntry, RunFolder

FULL, MOST = 5, 10
"""Operators of which all subsets are made, and of which some orders are."""

LEVELS = "12345"
CAPTIONED = "captioned"
CAPTIONER = "VISION_MODEL"
"""What stands for a model that sees, where a run asked none but baselines."""


USUAL = {"--style": "direct", "--shots": "0", "--policy": "mdk12"}
"""What `mmdyn eval` takes unless it is told otherwise."""


class NextRuns:
    """The commands that go on from some runs, with those of their sets that are still there and their models; new sets
    and runs lie beside the old ones."""

    def __init__(self, runs: Sequence[RunFolder]) -> None:
        self._run, self._runs = runs[0], runs
        entries = [(run.set_folder(one), one) for run in runs for one in run.config.sets]
        roots = [(folder, one.name) for folder, one in entries if one.name == one.root]
        there = dict[str, Path]()  # `mmdyn eval` takes one set of a name
        for folder, name in roots:
            if (folder / SAMPLES_FILE).is_file():
                there.setdefault(name, folder)
        self._standard = list(there.values())
        self._gone = {str(folder): None for folder, name in roots if name not in there}
        self._models = {one.label: _typed(one) for run in runs for one in run.config.models}
        self._asked = {one.label: one for run in runs for one in run.config.models if not _is_baseline(one)}
        chains = (name for _, one in entries for name in one.strength)
        self._operators = list(_each_once(operator for name in chains for operator in name.split("+")))

    def noise(self) -> list[str]:
        """Ask variants that nobody would call changed; that tells of models that repeat their replies, too."""
        return self._made("null", "image.null,text.null")

    def factorial(self) -> list[str]:
        """Make every subset of the operators (of many, some orders of the first MOST), and ask them; none for a single
        operator."""
        if len(self._operators) < 2:
            return []
        more = ["--design", "permutations:4"] if len(self._operators) > FULL else []
        return self._made("factorial", ",".join(self._operators[:MOST]), "--factorial", *more)

    def doses(self) -> list[str]:
        """Make an operator's doses, and ask them; none where no operator has any."""
        plain = (one for name in map(_plain, self._operators) for one in ALIASES.get(name, (name,)))
        graded = next(filter(_is_graded, plain), "")
        return self._made("doses", ",".join(f"{graded}@{level}" for level in LEVELS)) if graded else []

    def ladder(self) -> list[str]:
        """Ask without the picture, with a caption in its place, and with knowledge, as far as the sets have pictures
        and knowledge; captions are made for sets that are not called so."""
        pictures = [folder for folder in self._standard if any((folder / "images").glob("*"))]
        knowledge = any((folder / KNOWLEDGE_FILE).is_file() for folder in self._standard)
        contexts = [*["no-picture", "caption"] * bool(pictures), "none", *["kprag"] * knowledge]
        contexts += ["caption+kprag"] * bool(pictures and knowledge)
        if len(contexts) == 1:
            return []
        bare = [folder for folder in pictures if not folder.name.endswith(f"-{CAPTIONED}")]
        asked = [_beside(folder, CAPTIONED) if folder in bare else folder for folder in self._standard]
        written = [
            command_line("mmdyn", "build", "caption", folder, "-o", _beside(folder, CAPTIONED), "-m", self.captioner)
            for folder in bare
        ]
        return [*written, *self._eval("ladder", asked, "--mode", "standard", "--context", ",".join(contexts))]

    def larger(self, detect: float) -> list[str]:
        """How many questions would show a drop of so many points; none where no run was asked both."""
        both = {"standard", "dynamic"}
        pilots = [run for run in self._runs if both <= {one.variant for one in run.config.conditions}]
        if not pilots or not self._standard:
            return []
        models = [self._models[one.label][0] for one in pilots[0].config.models]
        more = "--detect", f"{detect:.1f}", "--pilot", pilots[0].folder
        return [command_line("mmdyn", "plan", *self._standard, *_asked(models), *more)]

    @property
    def captioner(self) -> str:
        """Who writes captions: the first of the models that is no baseline."""
        return next((self._models[label][0] for label in self._asked), CAPTIONER)

    def remarks(self) -> Iterator[str]:
        """What is to be known of the commands before they are typed."""
        yield from (f"The set {folder} is gone: the commands leave it out." for folder in self._gone)
        if parts := [text for text, whole in self._models.values() if not whole]:
            yield f"run.json does not keep all of {', '.join(parts)} (a file, a folder or a header): add the rest."
        if self._run.config.prompt:
            yield "The prompt was a template of your own: add --prompt FILE."
        if self._asked:
            yield "run.json keeps no keys, limits and prices: add api_key_env=, timeout=, --prices where you gave them."

    def _made(self, what: str, ops: str, *more: str) -> list[str]:
        made = [_beside(folder, what) for folder in self._standard]
        perturbed = [
            command_line("mmdyn", "perturb", folder, "-o", out, "--ops", ops, *more)
            for folder, out in zip(self._standard, made, strict=True)
        ]
        return [*perturbed, *self._eval(what, [*self._standard, *made])]

    def _eval(self, what: str, sets: Sequence[Path], *more: str) -> list[str]:
        """The command that asks sets as the first run asked its own; none without sets."""
        if not sets:
            return []
        config = self._run.config
        options = {
            "--style": "" if config.prompt else ",".join(dict.fromkeys(one.style for one in config.conditions)),
            "--shots": ",".join(dict.fromkeys(one.shot_name for one in config.conditions)),
            "--limit": str(config.limit or ""),
            "--policy": config.active_scores.policy,
        }
        own = ((name, value) for name, value in options.items() if value not in ("", USUAL.get(name)))
        models = _asked(text for text, _ in self._models.values())
        out = _beside(self._run.folder, what)
        return [command_line("mmdyn", "eval", *sets, *models, "-o", out, *chain.from_iterable(own), *more)]


def _each_once(names: Iterable[str]) -> Iterator[str]:
    """Each operator once, by the name and with the severity that it was first made with; those of an alias apart where
    one of them has a name of its own. An operator of a package that is not installed is left out."""
    seen = set[str]()
    for name in names:
        plain = _plain(name)
        try:
            full = [resolve("operators", one) for one in ALIASES.get(plain, (plain,))]
        except PluginError:
            continue
        new = [one for one in full if one not in seen]
        seen.update(new)
        yield from [name] if len(new) == len(full) else new


def _plain(name: str) -> str:
    """An operator's name without a severity or a form."""
    return re.split("[@:]", name)[0]


def _typed(entry: ModelEntry) -> tuple[str, bool]:
    """The MODEL as it is typed, and whether that is all of it; where run.json does not say more the label, if it names
    no other model."""
    backend = str(entry.identity.get("backend"))
    try:
        typed = getattr(load("models", backend), "typed", None)
    except PluginError:  # it is of a package that is not installed here
        typed = None
    label = entry.label if re.fullmatch(rf"{re.escape(backend)}:[^,]*|[^,:]*", entry.label) else f"{backend}:NAME"
    found: tuple[str, bool] = typed(entry.label, entry.identity) if typed else (label, False)
    return found


def _is_baseline(entry: ModelEntry) -> bool:
    return entry.identity.get("backend") == "baseline"


def _is_graded(operator: str) -> bool:
    return LEVELS[-1] in load("operators", operator).severities


def _asked(models: Iterable[str]) -> list[str]:
    return [word for model in models for word in ("-m", model)]


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f"{folder.name}-{what}")
