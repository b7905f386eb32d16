"""A page on why scores changed, with open questions and the run that answers each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.data import KNOWLEDGE_FILE, SAMPLES_FILE
from mmdyn.errors import PluginError, command_line, counted
from mmdyn.html import html_table
from mmdyn.plugins import ALIASES, load, resolve
from mmdyn.table import Attribution, Curves, FieldTests, Ladder, Noise, Part
from mmdyn.tables.blocks import TOTAL, Row, TablePart
from mmdyn.tables.contrasts import EQUAL
from mmdyn.tables.factors import BASES, front_of, is_change, is_pooled, who_of
from mmdyn.tables.grid import digits_of, p_value, percent, points
from mmdyn.tables.guessing import position_lines
from mmdyn.tables.noise import NULL_NEVER, STILL
from mmdyn.tables.results import Change, Report, chains_of, changes_of, doubts, main_changes, unread_of
from mmdyn.tables.tabulation import summary_parts, tabulate
from mmdyn.tables.terminal import clean
from mmdyn.tables.trends import NET
from mmdyn.work import PICTURES_UNREAD, ModelEntry, ProgressBar, RunFolder

FULL, MOST = 5, 10
"""Of up to FULL operators all subsets are made; of more, some orders of the first MOST."""

LEVELS = "12345"
CAPTIONED = "captioned"
CAPTIONER = "VISION_MODEL"
"""What stands for a model that sees, where a run asked none but baselines."""


WEIGHING = ("hf:", "vllm:", "completions:")
"""How the labels of models begin that tell log-probabilities of texts."""

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
        strengths = [named for _, one in entries for named in one.strength.items()]
        self.has_null = any(strength.role == "null" for _, strength in strengths)
        self.has_repetitions = any(run.config.epochs > 1 for run in runs)
        chains = (name for name, strength in strengths if strength.role not in ("null", "counterfactual"))
        self._operators = list(_each_once(operator for name in chains for operator in name.split("+")))

    def noise(self) -> list[str]:
        """Ask variants that nobody would call changed; that tells of models that repeat their replies, too. None where
        these are among the sets."""
        return [] if self.has_null else self._made("null", "image.null,text.null")

    def seeing(self) -> list[str]:
        """Ask with the pictures and without; none where that was done."""
        if any(one.context == "no-picture" for run in self._runs for one in run.config.conditions):
            return []
        return self._eval("pictures", self._standard, "--mode", "standard", "--context", "none,no-picture")

    def counterfactual(self) -> list[str]:
        """Ask variants that have other answers; a model, best another one than those that are asked, makes them."""
        return self._made("changed", "counterfactual", "--draws", "3", "--rewriter", "MODEL")

    def reworded(self) -> list[str]:
        """Ask variants in other words, which a model makes, and have models go on with these and with the published
        ones."""
        if not (made := self._made("reworded", "paraphrase@strong", "--rewriter", "MODEL")):
            return []
        models, run = _asked(self._models[label][0] for label in self._asked), _beside(self._run.folder, "reworded")
        return [*made, *[command_line("mmdyn", "probe", "completion", run, *models)] * bool(models)]

    def probe(self, kind: str, *options: str, weighing: bool = False) -> list[str]:
        """Ask for a kind of evidence, for each run; none where it takes a model that tells log-probabilities
        (`weighing`), and there is none."""
        begins = WEIGHING if weighing else ""
        models = _asked(self._models[label][0] for label in self._asked if label.startswith(begins))
        runs = self._runs if models else ()
        return [command_line("mmdyn", "probe", kind, run.folder, *models, *options) for run in runs]

    def factorial(self, chains: Iterable[str]) -> list[str]:
        """Make every subset of the chains' operators (of many, some orders of the first MOST), and ask them; none for a
        single operator."""
        operators = list(_each_once(operator for name in chains for operator in name.split("+")))
        if len(operators) < 2:
            return []
        more = ["--design", "permutations:4"] if len(operators) > FULL else []
        return self._made("factorial", ",".join(operators[:MOST]), "--factorial", *more)

    def doses(self) -> list[str]:
        """Make an operator's doses, and ask them; none where no operator has any."""
        plain = (one for name in map(_plain, self._operators) for one in ALIASES.get(name, (name,)))
        graded = next(filter(_is_graded, plain), "")
        return self._made("doses", ",".join(f"{graded}@{level}" for level in LEVELS)) if graded else []

    def ladder(self) -> list[str]:
        """Ask without the picture, with a caption in its place, and with knowledge, as far as the sets have pictures
        and knowledge; captions are made for sets whose names do not end in -captioned."""
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
        """How many questions would show a drop of so many points; none where no run was asked standard and dynamic."""
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


SHOWN = 6
"""Names in a sentence; the others are counted."""

FLOORS = {"repetitions": "asking the same again", "null chain": "a change that nobody would call one"}
"""What flips where nothing changed, and how that is told."""

WIDE = 1.0
"""A share of wrong answers whose interval is as wide as this is not told."""

TOLD = {"attribution": "shapley", "noise": "difference", "ladder": "of wrong answers", "curves": "area"}
"""The quantity whose value shows that an analysis has a result."""


SURE = "How sure"
"""The section that says what to distrust."""


class Line(Struct, frozen=True):
    """A sentence, and the commands that it advises."""

    text: str
    commands: list[str] = []


class Section(Struct, frozen=True):
    """A question of the reader, and the lines that answer it."""

    title: str
    lines: list[Line]


class Why(Struct, frozen=True):
    """The page, and the report that it is based on."""

    title: str
    sections: list[Section]
    report: Report

    @property
    def tables(self) -> list[TablePart]:
        """The analyses that have a result, and the tests of fields."""
        return [part for part in self.report.parts if _tells(part)]

    def to_json(self) -> bytes:
        """The page as JSON; equal runs give equal bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def __repr__(self) -> str:
        return "\n".join(why_lines(self))

    def _repr_html_(self) -> str:
        rows = (
            (section.title, line.text, "; ".join(line.commands)) for section in self.sections for line in section.lines
        )
        return html_table(("", "", "commands"), rows, self.title)


def why(*runs: str | Path | RunFolder, progress: ProgressBar | None = None) -> Why:
    """Explain why the scores of runs changed (docs/howto/why.md).

    Args:
        progress: Counts the records.

    Raises:
        InputError: A folder holds no run.

    >>> from mmdyn import Execution, evaluate, perturb
    >>> hexagon = {"id": "hexagon", "question": "How many sides does a hexagon have?", "task_type": "single_choice"}
    >>> hexagon |= {"answer": ["B"], "options": [{"label": "A", "text": "five"}, {"label": "B", "text": "six"}]}
    >>> varied = perturb([hexagon], "varied", ops="shuffle", quiet=True)
    >>> why(evaluate([[hexagon], varied], lambda messages: "Answer: B", "run-varied", execution=Execution(quiet=True)))
    Why the scores changed: ...
    <BLANKLINE>
    What fell, and by how much
      ... on samples: -100 [-100, +59] points, adjusted p 0.50, 1 question. ...
    """
    folders = [run if isinstance(run, RunFolder) else RunFolder(run) for run in runs]
    return explain(tabulate(folders, why_parts(), progress=progress), folders)


def why_parts(by: Sequence[str] = ()) -> list[Part]:
    """The declarations that the page needs, broken down by fields."""
    return [*summary_parts(by), FieldTests(), Attribution(), Noise(), Ladder(), Curves()]


def explain(report: Report, runs: Sequence[RunFolder]) -> Why:
    """Make the page of a report that was made of `why_parts`."""
    found = {part.kind: part.rows for part in report.parts if part.kind in TOLD and _tells(part)}
    names = ", ".join(run.name for run in runs)
    return Why(f"Why the scores changed: {names}", _sections(report, found, NextRuns(runs)), report)


def _tells(part: TablePart) -> bool:
    if part.kind == "fieldtests":
        return bool(part.rows)
    return any(row.quantity == TOLD.get(part.kind) and row.value is not None for row in part.rows)


def why_lines(page: Why) -> Iterator[str]:
    """Yield the page as lines of text."""
    yield clean(page.title).plain
    for section in page.sections:
        yield from ("", section.title)
        for line in section.lines:
            yield f"  {clean(line.text).plain}"
            yield from (f"    $ {clean(command).plain}" for command in line.commands)


def _sections(report: Report, rows: dict[str, list[Row]], further: NextRuns) -> list[Section]:
    """The answers, in the order of a reader's questions; a question without one is left out."""
    answers: dict[str, Iterator[Line]] = {
        "What fell, and by how much": _fell(report),
        "Through which change": _through(report, rows.get("attribution", [])),
        "Above what noise": _above_noise(rows.get("noise", [])),
        "What wrong answers lack": _lacking(rows.get("ladder", [])),
        "How much change it bears": _bearing(rows.get("curves", [])),
        "Where": _where(report),
        SURE: _sure(report),
        "Open questions, and the run that answers each": _open(report, rows, further),
    }
    found = [Section(title, list(lines)) for title, lines in answers.items()]
    return [section for section in found if section.lines]


def _fell(report: Report) -> Iterator[Line]:
    """The main change of each model on each set."""
    for change in _main(report):
        row = change.difference
        told = f"{_told(row)}{chains_of(row)}, {counted(row.n, 'question')}{unread_of(change)}"
        verdict = verdict_of(row, chains_that_show(change, changes_of(report.parts)))
        yield Line(f"{front_of(change.factors)}: {told}. {verdict}")


def _main(report: Report) -> list[Change]:
    """The main changes that have a number."""
    return [change for change in main_changes(report.parts) if change.value is not None]


def verdict_of(row: Row, chains: Sequence[str] = ()) -> str:
    """Say in a sentence what a contrast tells: a fall, a rise, or what is ruled out.

    chains: those that moved the score the same way over the answers that were read (`chains_that_show`).
    """
    if row.p_adjusted is None or row.ci95 is None or row.value is None:
        return "Too few questions to tell."
    if row.is_significant:
        moved, way = ("fell", "fall") if row.value < 0 else ("rose", "rise")
        but = f", but by {_listed([*chains])} alone" * bool(chains)
        unread = f"; over the answers that were read there is no significant {way}{but}" * bool(row.over_read)
        return f"The score {moved}{', mostly with unread replies' * (not row.is_clear)}{unread}."
    if row.ci95[0] <= -1:
        return "No significant change; there are too few questions to rule any out."
    ruled_out = f"a fall of more than {points(max(-row.ci95[0], 0.0), digits_of(row.ci95))} points is ruled out"
    return f"No significant change; {ruled_out}."


def _through(report: Report, rows: list[Row]) -> Iterator[Line]:
    """Operators where a factorial set tells of them, else chains, the one that takes most first."""
    if rows:
        yield from _operators(rows)
        return
    silent, every = dict[str, list[str]](), changes_of(report.parts)
    for whole in _main(report):
        chains = [change for change in every if _is_chain_of(change, whole) and change.value is not None]
        significant = [change for change in chains if change.difference.is_significant]
        for change in sorted(significant, key=lambda change: (not change.difference.is_clear, change.value or 0.0)):
            told = f"{_told(change.difference)}{unread_of(change)}"
            told += ": mostly unread" * (not change.difference.is_clear)
            yield Line(f"{front_of(change.factors)}: {change.factors['chain']} {told}.")
        others = [change.factors["chain"] for change in chains if not change.difference.is_significant]
        if others:
            silent.setdefault(_listed(others), []).append(front_of(whole.factors))
    yield from (Line(f"{chains}: no significant change ({_listed(who)}).") for chains, who in silent.items())


def chains_that_show(whole: Change, every: Sequence[Change]) -> list[str]:
    """The chains of a change over all that moved the score the same way, significantly and over what was read."""
    way = whole.value or 0.0
    return [
        one.factors["chain"]
        for one in every
        if _is_chain_of(one, whole)
        and one.difference.is_significant
        and not one.difference.over_read
        and (one.value or 0.0) * way > 0
    ]


def _listed(names: list[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _is_chain_of(change: Change, whole: Change) -> bool:
    chain = is_change(change.factors) and not is_pooled(change.factors)
    return chain and who_of(change.factors) == who_of(whole.factors)


def _where(report: Report) -> Iterator[Line]:
    """The models whose scores go with the position of the right option; the fields whose values differ in their change,
    and the fields whose values do not."""
    for row, line in position_lines(report.parts):
        yield Line(f"{line} (adjusted p {p_value(row.p_adjusted)}).")
    rows, alike = report.rows("fieldtests"), dict[str, list[str]]()
    for row in (row for row in rows if row.quantity == EQUAL and row.p_adjusted is not None):
        field, who = row.factors["field"], front_of(row.factors)
        if not row.is_significant:
            alike.setdefault(who, []).append(field)
            continue
        own = [one for one in rows if one.quantity == "difference" and one.factors["field"] == field]
        order = sorted((one for one in own if front_of(one.factors) == who), key=lambda one: one.value or 0.0)
        ends = " and ".join(f"{one.factors['value']} {percent(one.value, None, '+')}" for one in (order[0], order[-1]))
        where = f"{who}: the change differs by {field}, between {ends} points"
        yield Line(f"{where} (adjusted p {p_value(row.p_adjusted)}).")
    for who, fields in alike.items():
        yield Line(f"{who}: no significant difference by {_listed(sorted(fields))} (values of ten questions or more).")


def _sure(report: Report) -> Iterator[Line]:
    """How the numbers were made, and what to distrust."""
    yield Line("Intervals are at 95 %, over questions and their groups; p is adjusted by Holm within each family.")
    yield from (Line(f"Distrust: {doubt}.") for doubt in dict.fromkeys(doubts(report)))


def _open(report: Report, rows: dict[str, list[Row]], further: NextRuns) -> Iterator[Line]:
    """What these records cannot say, each with the run that would."""
    main = _main(report)
    unsure = [change.difference for change in main if not change.difference.is_significant and change.difference.ci95]
    if unsure:
        widest = min((row.ci95 for row in unsure if row.ci95), key=lambda ends: ends[0])
        seen = min(max(-widest[0], 0.01), 1.0)
        text = (
            f"Whether there is a smaller fall than {points(seen, digits_of(widest))} points: that takes more questions."
        )
        yield Line(text, further.larger(50 * seen))
    if "noise" not in rows and main:
        sampled = f": {STILL if further.has_repetitions else NULL_NEVER}" * further.has_null
        yield Line(f"Whether it is more than the model's own noise{sampled}.", further.noise())
    unread = any(said.endswith(PICTURES_UNREAD) for state in report.runs for said in state.servers)
    if unread and (commands := further.seeing()):
        yield Line("Whether the models see the pictures.", commands)
    if "attribution" not in rows and (commands := further.factorial(_harmful(report))):
        yield Line("Which operator takes what where several act together: the set is not factorial.", commands)
    if "ladder" not in rows and (commands := further.ladder()):
        yield Line("Whether wrong answers lack seeing, knowing or reasoning.", commands)
    if "curves" not in rows and (commands := further.doses()):
        yield Line("How much change it bears: no operator has several doses.", commands)
    yield from map(Line, further.remarks())


def _harmful(report: Report) -> list[str]:
    """The chains under which a score clearly falls, of those that count over all, the one that takes most first."""
    clear = [one for one in changes_of(report.parts) if is_change(one.factors) and one.difference.is_clear]
    clear = [one for one in clear if one.difference.chains and not is_pooled(one.factors) and (one.value or 0.0) < 0]
    return list(dict.fromkeys(one.factors["chain"] for one in sorted(clear, key=lambda one: one.value or 0.0)))


def _operators(rows: list[Row]) -> Iterator[Line]:
    """What each operator takes, beside what all take together, and the pairs that act otherwise than each alone."""
    silent = dict[str, list[str]]()
    for who, own in _by_who(rows, "operator").items():
        whole = next((row for row in own if row.quantity == "whole"), None)
        taking = sorted((row for row in own if row.quantity == "shapley"), key=lambda row: row.value or 0)
        if whole is None or not taking:
            continue
        told = [f"{row.factors['operator']} {_told(row)}" for row in taking if row.is_significant]
        others = [row.factors["operator"] for row in taking if not row.is_significant]
        said = [f"all operators together {_told(whole)}, over {counted(whole.n, 'question')} in every form", *told]
        yield Line(f"{who}: {'; '.join(said)}.")
        if others:
            silent.setdefault(_listed(sorted(others)), []).append(who)
        for row in own:
            if row.quantity == "interaction" and row.is_significant:
                yield Line(f"{who}: {row.factors['operator']} together take {_told(row)} beyond what each takes.")
    yield from (Line(f"{names}: no significant change ({_listed(who)}).") for names, who in silent.items())


def _above_noise(rows: list[Row]) -> Iterator[Line]:
    """What all chains flip to wrong beyond what flips where nothing changed."""
    untold = [row for row in rows if row.factors["figure"] == "flips"]
    yield from (Line(f"{who}: {own[0].note}.") for who, own in _by_who(untold, "chain", "figure").items())
    rows = [row for row in rows if row.factors["figure"] == "right to wrong" and _is_whole(row, rows)]
    for who, own in _by_who(rows, "chain", "figure").items():
        flips = {row.quantity: row for row in own}
        beyond = flips.get("difference")
        if beyond is None or beyond.value is None:
            continue
        floor, told = next((flips[name], told) for name, told in FLOORS.items() if name in flips)
        variants, still = (percent(row.value, row.ci95) for row in (flips["variants"], floor))
        more = "more than noise" if beyond.is_significant and beyond.value > 0 else "not significantly more than noise"
        verdict = beyond.note if beyond.p_adjusted is None else more
        sides = f"of answers, variants turn {variants} % from right to wrong, {told} {still} %"
        yield Line(f"{who}: {sides}; beyond that {_told(beyond)}, {counted(beyond.n, 'question')}: {verdict}.")


def _of(rows: list[Row], quantity: str) -> list[Row]:
    return [row for row in rows if row.quantity == quantity]


def _is_whole(row: Row, rows: list[Row]) -> bool:
    """Whether a row is over all chains, or over the one that there is."""
    chains = {one.factors["chain"] for one in rows}
    return row.factors["chain"] == TOTAL if TOTAL in chains else len(chains) == 1


def _lacking(rows: list[Row]) -> Iterator[Line]:
    """The shares of wrong answers by what they lack, and how many questions need no picture."""
    for who, own in _by_who(rows, "rung").items():
        shares = [row for row in own if row.quantity == "of wrong answers" and row.value is not None]
        narrow = [row for row in shares if _is_narrow(row)]
        told = [f"{row.factors['rung']} {percent(row.value, row.ci95)} %" for row in narrow]
        net = f"; {NET}" if any(row.ci95 and (row.ci95[0] < 0 or row.ci95[1] > 1) for row in narrow) else ""
        if told:
            yield Line(f"{who}, of wrong answers: {'; '.join(told)} ({counted(shares[0].n, 'question')}{net}).")
        if others := [row.factors["rung"] for row in shares if not _is_narrow(row)]:
            yield Line(f"{who}: the intervals are too wide to tell the shares of {', '.join(others)}.")
        for row in own:
            if row.quantity == "needed no picture" and row.value:
                yield Line(f"{who}: {row.value:.0f} of {row.n} questions need no picture ({row.note}).")


def _is_narrow(row: Row) -> bool:
    return bool(row.ci95 and row.ci95[1] is not None and row.ci95[1] - row.ci95[0] < WIDE)


def _by_who(rows: list[Row], *inner: str) -> dict[str, list[Row]]:
    """Rows by the model and what else they are kept apart by, in their order."""
    found = dict[str, list[Row]]()
    for row in rows:
        who = ", ".join(
            value for name, value in row.factors.items() if name not in inner and value not in BASES.values()
        )
        found.setdefault(who, []).append(row)
    return found


def _told(row: Row) -> str:
    p = "" if row.p_adjusted is None else f", adjusted p {p_value(row.p_adjusted)}"
    return f"{percent(row.value, row.ci95, sign='+')} points{p}"


def _bearing(rows: list[Row]) -> Iterator[Line]:
    """Of each operator whether the score falls along doses, and the dose at which half of it is lost."""
    silent, slopes = dict[str, list[str]](), [row for row in rows if row.quantity.startswith("slope")]
    halves = {tuple(row.factors.items()): row for row in _of(rows, "half dose")}
    for trend in slopes:
        half, operator = halves[tuple(trend.factors.items())], trend.factors["operator"]
        who = next(iter(_by_who([trend], "operator", "level", "dose")))
        if not trend.is_significant:
            silent.setdefault(operator, []).append(who)
            continue
        lost = f"half of it is lost at dose {half.value:g}" if half.value is not None else f"half of it: {half.note}"
        between = (
            f", between {half.ci95[0]:g} and {half.ci95[1]:g}" if half.value and half.ci95 and half.ci95[1] else ""
        )
        yield Line(f"{who}, {operator}: {trend.quantity} {_told(trend)}; {lost}{between} ({trend.note}).")
    yield from (
        Line(f"{name}: no significant change along its doses ({_listed(who)}).") for name, who in silent.items()
    )
