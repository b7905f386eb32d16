"""Factors that distinguish records (conditions, contexts, fields): their values, order and names."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import nan
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.context import ALL, ELABORATE, HINT, NONE, PICTURES, SOURCES, Context
from mmdyn.data import VERSION, SampleSet, read_set_manifest
from mmdyn.errors import InputError, PluginError, UserError, did_you_mean, unreadable
from mmdyn.plugins import ALIASES, resolve
from mmdyn.record import ContextInfo, Record
from mmdyn.sample import Sample, from_json
from mmdyn.stats import Floats, Ints
from mmdyn.work import SAMPLE, Reader, RunFolder

ZERO = "0"
"""The shots of conditions without examples."""

POOLED = "all"
"""The chain of a dynamic condition that pools all its chains."""

NOT_GIVEN = "(not given)"
"""The value of a factor that a record does not have."""

FACTORS = ("variant", "chain", "context", "style", "shots")
"""The factors that distinguish the conditions of one model on one set."""


class Key(Struct, frozen=True):
    """A condition of one model on one set in one run.

    Args:
        run: Empty where a report is of one run.
        chain: Empty for the standard variant; POOLED over all chains.

    >>> key = Key("", "openai:x", "exam", "dynamic", "pad", "none", "direct")
    >>> key.pool.chain, key.factors["chain"]
    ('all', 'pad')
    """

    run: str
    model: str
    set: str
    variant: str
    chain: str
    context: str
    style: str
    shots: str = ZERO

    @classmethod
    def of(cls, run: str, record: Record) -> Key:
        """The condition of a record in the run of this name."""
        asked = record.condition
        return cls(
            run=run,
            model=record.model,
            set=record.set,
            variant=asked.variant,
            chain=asked.chain,
            context=asked.context,
            style=asked.style,
            shots=asked.shot_name,
        )

    @property
    def pool(self) -> Key | None:
        """The condition over all chains that a dynamic condition is a part of; None for the standard variant."""
        return replace(self, chain=POOLED) if self.variant == "dynamic" else None

    def members(self, keys: Iterable[Key]) -> list[Key]:
        """Those of `keys` that this condition consists of: the chains of a pooled one, else itself."""
        pooled = self.chain == POOLED
        return [key for key in keys if key.chain != POOLED and key.pool == self] if pooled else [self]

    @property
    def factors(self) -> dict[str, str]:
        """The condition's factors by name; without shots where there are none."""
        found = {name: str(getattr(self, name)) or NOT_GIVEN for name in FACTORS}
        return {name: value for name, value in found.items() if (name, value) != ("shots", ZERO)}

    @property
    def place(self) -> dict[str, str]:
        """The first factors of a row about the condition: the run (if there are several), the model, the set, and
        `factors`."""
        run = {"run": self.run} if self.run else {}
        return {**run, "model": self.model, "set": self.set, **self.factors}


def cluster_of(set: str, parent: str, group: str | None) -> tuple[str, str, str]:
    """What a sample or variant hangs together with: its group, or where it has none all that is of its parent."""
    return (set, "parent", parent) if group is None else (set, "group", group)


def sample_of(record: Record, run: RunFolder, reader: Reader) -> Sample:
    """The sample that was asked. Raises InputError where it is not in the run's store."""
    stored = reader.get(SAMPLE, record.digest)
    if stored is None:
        problem = f"the sample {record.sample} is not in the store: run the same `mmdyn eval` once more"
        raise InputError(run.folder, None, problem)
    return from_json(stored, Sample)


BASES = {"variant": "standard", "context": NONE, "style": "direct", "shots": ZERO}
"""What the other levels of a factor are compared with; some contexts, and shots, are compared with each other, too.
Models and runs are compared each with each."""

LEAK, RETRIEVAL, COUNT = "answer_leak", "retrieval", "knowledge_count"
NAMES = (LEAK, RETRIEVAL, COUNT)
MEANINGS = {
    LEAK: "whether what lies beside the question holds its answer word for word",
    RETRIEVAL: "of the question's own points all (hit), some (part) or none (miss) were looked up",
    COUNT: "how many points lie beside the question",
}

NO, YES, IN_PART, VARIES = "no", "yes", "in part", "varies"
LEAKING = (YES, IN_PART)
ORDER = {
    **{LEAK: (NO, IN_PART, YES), RETRIEVAL: ("hit", "part", "miss", VARIES)},
    **{"difficulty": ("very easy", "easy", "medium", "hard", "very hard"), "grade": ("primary", "middle", "high")},
    "changed": ("nothing", "image", "text", "both"),
}
"""In what order values that are no numbers are listed."""


@cache
def known_context(name: str) -> Context | None:
    """A context by its name; None for one that this version does not know, such as one of a foreign run."""
    try:
        return Context.parse(name)
    except UserError:
        return None


def lays_knowledge(name: str) -> bool:
    """Whether points or hints may lie beside a question."""
    context = known_context(name)
    return context is None or context.family != NONE


def place_of(name: str) -> tuple[int, int, int, int]:
    """What stands first: contexts without pictures, with captions, with pictures. Of each: nothing beside the question;
    points from a source, from what should help least on; hints, all of them last. What is not known is last."""
    context = known_context(name)
    if context is None:
        return len(PICTURES), 0, 0, 0
    pictures = PICTURES.index(context.pictures)
    if context.source is None:
        return pictures, {NONE: 0, HINT: 2}[context.family], context.hint == ALL, 0
    return pictures, 1, SOURCES.index(context.source), ELABORATE.index(context.elaborate)


def are_compared(a: str, b: str) -> bool:
    """Whether b is compared with a, which stands before it: everything with none; and where one thing differs: what
    becomes of the pictures; or, with the pictures alike, everything with nothing beside it, each hint with all of them,
    and knowledge points by their source or by the elaboration."""
    if NONE in (a, b):
        return True
    one, other = known_context(a), known_context(b)
    if one is None or other is None:
        return False
    if one.pictures != other.pictures:
        return replace(one, pictures=other.pictures) == other
    if one.family != other.family:
        return one.family == NONE
    if one.family == HINT:
        return other.hint == ALL != one.hint
    return (one.source != other.source) != (one.elaborate != other.elaborate)


def beside_value(context: str, beside: ContextInfo, name: str) -> str:
    """What lay beside a question in a context, by one of NAMES."""
    known = known_context(context)
    if name == LEAK:
        return YES if beside.leaks else NO
    if name == COUNT:
        return NOT_GIVEN if known and not known.source else str(len(beside.points))
    if not (known and known.source == "retrieved" and beside.own):
        return NOT_GIVEN  # Own points that were laid there were not found; with mixed points they always lie there.
    return "hit" if beside.hits >= beside.own else "part" if beside.hits else "miss"


FRONT = ("run", "model", "set")
ARROW = "\N{RIGHTWARDS ARROW}"


def condition_name(factors: Mapping[str, str]) -> str:
    """A condition in words; context, style and shots only where they are not the usual ones.

    >>> condition_name({"variant": "dynamic", "chain": "pad", "context": "kprag", "style": "direct"})
    'dynamic pad, kprag'
    """
    chain = factors.get("chain", NOT_GIVEN)
    variant = " ".join([factors["variant"], *[chain] * (chain not in (NOT_GIVEN, factors["variant"]))])
    return ", ".join([variant, *unusual(factors)])


def contrast_name(factors: Mapping[str, str]) -> str:
    """A contrast in words; what both sides share stands in brackets where it is not usual.

    >>> contrast_name({"factor": "variant", "a": "standard", "b": "dynamic", "chain": "pad"})
    'standard → dynamic pad'
    >>> contrast_name({"factor": "context", "a": "none", "b": "kprag", "variant": "dynamic", "chain": "pad"})
    'none → kprag (dynamic pad)'
    """
    factor, a, b = (factors[name] for name in ("factor", "a", "b"))
    if factor == "variant":
        held = unusual(factors)
        return f"{a} {ARROW} {b} {factors['chain']}" + f" ({', '.join(held)})" * bool(held)
    a = f"shots {a}" if factor == "shots" else a
    shared = condition_name({"variant": "standard", **factors})
    return f"{a} {ARROW} {b}" + f" ({shared})" * (shared != "standard")


def chain_name(factors: Mapping[str, str]) -> str:
    """The chain of a contrast from standard to dynamic, with what is not as usual, such as `pad, kprag`."""
    return ", ".join([factors["chain"], *unusual(factors)])


def is_usual(factors: Mapping[str, str]) -> bool:
    """Whether all of a condition, or all that both sides of a contrast share, is as usual, whatever the variant and its
    chain."""
    held = [name for name in BASES if name not in ("variant", factors.get("factor"))]
    return all(factors.get(name, BASES[name]) == BASES[name] for name in held)


def is_main(factors: Mapping[str, str]) -> bool:
    """Whether a contrast answers a main question: all else is as usual, of standard questions or between them and
    variants."""
    return is_usual(factors) and (factors["factor"] == "variant" or factors["variant"] == BASES["variant"])


def is_change(factors: Mapping[str, str]) -> bool:
    """Whether a contrast is a change from standard to dynamic where all else is as usual."""
    return factors["factor"] == "variant" and is_usual(factors)


def is_pooled(factors: Mapping[str, str]) -> bool:
    """Whether a row is over all chains."""
    return factors.get("chain") == POOLED


def who_of(factors: Mapping[str, str]) -> tuple[str, ...]:
    """The run, the model and the set, empty where there is none."""
    return tuple(factors.get(name, "") for name in FRONT)


def front_of(factors: Mapping[str, str]) -> str:
    """The model, the set, and the run (if there are several) in words.

    >>> front_of({"model": "openai:x", "set": "exam"})
    'openai:x on exam'
    """
    model, set = factors.get("model", ""), factors.get("set", "")
    who = f"{model} on {set}" if model else set
    return ", ".join(filter(None, (who, factors.get("run", ""))))


def unusual(factors: Mapping[str, str]) -> list[str]:
    """The context, style and shots of a condition that are not the usual ones."""
    found = {name: factors.get(name, BASES[name]) for name in ("context", "style", "shots")}
    return [f"shots {value}" if name == "shots" else value for name, value in found.items() if value != BASES[name]]


REASONS = {"unchanged": "not_applicable"} | {name: name for name in ("not_applicable", "rejected", "doubtful")}
"""What rows call the reasons that a set's dropped.jsonl has. All other variants that are lacking failed."""


def dropped_variants(
    runs: Mapping[str, RunFolder], keys: Sequence[Key], parents: Iterable[tuple[str, str]]
) -> dict[tuple[str, int], Ints]:
    """By reason and condition (its index) how many variants of each parent were not made. Sets that do not lie where
    they were tell nothing."""
    places = {parent: place for place, parent in enumerate(parents)}
    found = dict[tuple[str, int], Ints]()
    asked = dict[tuple[str, str, str], list[int]]()
    for place, key in enumerate(keys):
        asked.setdefault((key.run, key.set, key.chain), []).append(place)
    for name, run in runs.items():
        for entry in (entry for entry in run.config.sets if entry.name != entry.root):
            for one in _dropped(run, entry.folder, entry.digest):
                parent, reason = places.get((entry.root, one[0])), REASONS.get(one[2])
                if parent is None or reason is None:
                    continue
                for place in asked.get((name, entry.root, one[1]), ()):
                    counts = found.setdefault((reason, place), np.zeros(len(places), np.int64))
                    counts[parent] += 1
    return found


def _dropped(run: RunFolder, folder: str, digest: str) -> list[tuple[str, str, str]]:
    """The parent, the chain and the status of each variant of a set that was not kept."""
    try:
        manifest = read_set_manifest(run.folder / folder)
        if manifest is None or manifest.digest != digest:
            return []
        return [(one.parent, one.chain, one.status) for one in SampleSet(run.folder / folder).dropped()]
    except UserError:  # what is wrong with the set spoils no report
        return []


ALWAYS = ("task_type", "language")
"""What every record can be broken down by, beside its fields."""

T = TypeVar("T")


class Breakdown:
    """The values of some factors for each record that `of` is called with; `check` finds names that no record has."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._known = {"set", *FACTORS, *ALWAYS}

    def of(self, record: Record) -> tuple[str, ...]:
        """Return a record's values, in the order of the names."""
        self._known.update(known_names(record))
        return tuple(value_of(record, name) for name in self.names)

    def check(self) -> None:
        """Raise UserError for a name that no record had."""
        check_names(self.names, self._known)


def known_names(record: Record) -> tuple[str, ...]:
    """What a record can be broken down by, beside what all can."""
    return (*record.fields, *(NAMES if record.beside else ()))


def check_names(names: Iterable[str], known: Collection[str], more: str = "") -> None:
    """Raise UserError for a name that is not known; `more` says what else there could be."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            raise UserError(f"no record has a field {name!r}{hint}: break down by {', '.join(sorted(known))}{more}")


def value_of(record: Record, name: str) -> str:
    """What a record has under a name: what lay beside it, a part of its condition, or as `field_of` has it."""
    if name == "set":
        return record.set
    if name in NAMES and record.beside:
        return beside_value(record.condition.context, record.beside, name)
    return (getattr(Key.of("", record), name) or NOT_GIVEN) if name in FACTORS else field_of(record, name)


def field_of(record: Record, name: str) -> str:
    """A field of a record (or `task_type`, that of its parent, or `language`); NOT_GIVEN where it has none."""
    if name == "task_type":
        return record.parent_type
    return record.language if name == "language" else str(record.fields.get(name, NOT_GIVEN))


def break_down(names: Sequence[str], items: Iterable[tuple[T, Sequence[str]]]) -> dict[str, dict[str, list[T]]]:
    """Items, each with its values of the names, by name and value; the values in reading order."""
    cells: dict[str, dict[str, list[T]]] = {name: {} for name in names}
    for item, values in items:
        for name, value in zip(names, values, strict=True):
            cells[name].setdefault(value, []).append(item)
    return {name: {value: found[value] for value in reading_order(name, found)} for name, found in cells.items()}


def reading_order(name: str, values: Iterable[str]) -> list[str]:
    """Sort the values of a factor: numbers by size, then words that have an order of their own, then all others, by
    the numbers in them.

    >>> reading_order("difficulty", ["hard", "easy", "10", "9"])
    ['9', '10', 'easy', 'hard']
    >>> reading_order("level", ["level 10", "level 9", "basic"])
    ['basic', 'level 9', 'level 10']
    """
    words = ORDER.get(name, ())

    def order(value: str) -> tuple[bool, float, int, list[str]]:
        number = re.fullmatch(r"-?\d{1,300}(\.\d+)?", value)
        rank = words.index(value.lower()) if value.lower() in words else len(words)
        parts = [part.zfill(20) if part.isdecimal() else part for part in re.split(r"(\d+)", value)]
        return number is None, float(number[0]) if number else 0.0, rank, parts

    return sorted(values, key=order)


MAX_VALUES = 1000
"""Values of a factor, at most."""

ModelFacts: TypeAlias = Mapping[str, Mapping[str, str]]
"""Factors of models that no record has: for each, the value by the model's plain name."""


@cache
def changed(chain: str) -> str:
    """What a chain of operators changes: image, text or both; nothing where there is none; `version` where it is a
    version that a file had. Raises PluginError for an operator that is not installed."""
    if chain == VERSION:
        return VERSION
    short = [re.split("[@:]", name)[0].strip() for name in chain.split("+") if name]
    full = [resolve("operators", one) for name in short for one in ALIASES.get(name, (name,))]
    kinds = {name.partition(".")[0] for name in full}
    return "both" if len(kinds) > 1 else "".join(kinds) or "nothing"


def of_pictures(factors: Mapping[str, str]) -> bool:
    """Whether the sides of a contrast differ in pictures and in nothing else.

    >>> of_pictures({"factor": "variant", "chain": "invert+pad"})
    True
    >>> of_pictures({"factor": "context", "a": "none", "b": "no-picture"})
    True
    """
    if factors["factor"] == "context":
        return {factors["a"], factors["b"]} == {NONE, Context(pictures="withheld").name}
    with suppress(PluginError):  # of an operator that is not installed here nothing is known
        return factors["factor"] == "variant" and changed(factors["chain"]) == "image"
    return False


PICKED = "picked"
"""The factor that says what was read in the reply."""

RUNG = "rung"
"""The field that says what of a triplet a question is: origin, perception or knowledge (MMEvalPro)."""


class Field(NamedTuple):
    """The values of a factor, and each record's (or parent's) index among them."""

    values: list[str]
    codes: Ints


def _picked(record: Record) -> object:
    read = record.score.extracted if record.score else None
    return NOT_GIVEN if read is None else "".join(map(str, read)) if isinstance(read, list | tuple) else read


OF_RECORD: dict[str, Callable[[Record], object]] = {
    "draw": lambda record: record.draw,
    "epoch": lambda record: record.epoch,
    "mode": lambda record: record.condition.mode,
    "changed": lambda record: changed(record.condition.chain),
    PICKED: _picked,
}
"""Factors of a record beside those of its condition and its fields. `changed`: what its chain changes."""

OF_SAMPLE: dict[str, Callable[[Sample], object]] = {
    "options": lambda sample: len(sample.options) or NOT_GIVEN,
    "answer_position": lambda sample: (
        "".join(map(str, sample.answer))
        if sample.kind.form == "choice" and isinstance(sample.answer, tuple)
        else NOT_GIVEN
    ),
}
"""Factors of the sample that was asked: how many options it has, and the labels of those that are right."""

BINNED: dict[str, Callable[[Record], float]] = {
    "response_tokens": lambda record: float(record.reply.usage.completion_tokens or nan),
    "reasoning_tokens": lambda record: (
        float(record.reply.usage.reasoning_tokens) if record.reply.usage.completion_tokens else nan
    ),
}
"""Numbers of a reply that are factors by their quartiles over all records."""


def plain_model(label: str) -> str:
    """A model's name without its backend, its owner, and punctuation; compares names of models.

    >>> plain_model("openai:Qwen/Qwen2.5-VL-7B-Instruct")
    'qwen2.5vl7binstruct'
    """
    return re.sub(r"[^\w.]|_", "", re.sub(r"^[^:]*:", "", label).rpartition("/")[2].lower())


def read_model_facts(file: Path, known: ModelFacts = MappingProxyType({})) -> ModelFacts:
    """Read a CSV file of facts on models: the column `model`, and one column for each factor.

    Args:
        known: Facts from elsewhere; for a model in both, the file's facts win.

    Raises:
        InputError: The file cannot be read, has no column `model`, or names a model twice.
    """
    try:
        rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines(), restval=""))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise unreadable(file, error, "give a CSV file") from None
    names = [name for name in (rows[0] if rows else ()) if name]
    if "model" not in names:
        raise InputError(file, 1, "names no models: begin with a line such as model,family,size,kind")
    if len({plain_model(row["model"]) for row in rows}) < len(rows):
        raise InputError(file, None, "names a model twice, or two whose names differ in signs alone: give each once")
    told = {name: {plain_model(row["model"]): row[name].strip() for row in rows} for name in names if name != "model"}
    return {name: {**known.get(name, {}), **told.get(name, {})} for name in [*known, *told]}


def quartiles(numbers: Floats) -> Field:
    """Bin numbers by quartile; NaN becomes NOT_GIVEN. Equal numbers fall into one bin."""
    told = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(told, (0.25, 0.5, 0.75, 1), method="inverted_cdf")) if len(told) else told
    lows = [told.min(), *(told[told > edge].min() for edge in edges[:-1])] if len(told) else []
    names = [f"{low:g} to {high:g}" for low, high in zip(lows, edges, strict=True)]
    return Field([*names, NOT_GIVEN], np.where(np.isnan(numbers), len(names), np.searchsorted(edges, numbers)))


def in_order(name: str, field: Field, runs: dict[str, RunFolder]) -> Field:
    """The same with its values in order: models and runs as they were given, contexts by what should help."""
    if len(field.values) > MAX_VALUES:
        return field
    asked = [condition.context for run in runs.values() for condition in run.config.conditions]
    given: dict[str, Sequence[str]] = {
        "model": [entry.label for run in runs.values() for entry in run.config.models],
        "run": list(runs),
        "context": sorted(asked, key=lambda context: (place_of(context), asked.index(context))),
        "mode": [BASES["variant"]],
        **{factor: [base] for factor, base in BASES.items() if factor != "context"},
    }
    first = [value for value in dict.fromkeys(given.get(name, ())) if value in field.values]
    values = [*first, *reading_order(name, set(field.values) - {*first, NOT_GIVEN})]
    values += [NOT_GIVEN] * (NOT_GIVEN in field.values)
    places = {value: place for place, value in enumerate(values)}
    codes: Any = np.array([places[value] for value in field.values], np.int32)[field.codes]
    return Field(values, codes)
