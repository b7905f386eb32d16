"""Paired contrasts: conditions that differ in one factor, changes by field, flips; p-values by family."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.context import NONE
from mmdyn.errors import PluginError
from mmdyn.keys import Json, canonical
from mmdyn.record import Record
from mmdyn.sample import Answer, Sample, from_json
from mmdyn.shots import Shots
from mmdyn.stats import Ints, equality, holm
from mmdyn.table import Contrasts, FieldTests, Flips
from mmdyn.tables.blocks import UNTESTED, Block, Numbered, Row, RowDetails, RowWatcher, p_digits
from mmdyn.tables.columns import FORM, NOT_RECORDED, PICTURES, TURNS, Columns
from mmdyn.tables.factors import (
    ARROW,
    BASES,
    LEAK,
    LEAKING,
    NOT_GIVEN,
    POOLED,
    Key,
    are_compared,
    changed,
    is_change,
    is_main,
    is_pooled,
    is_usual,
    lays_knowledge,
    place_of,
    reading_order,
    who_of,
)
from mmdyn.tables.pairing import EVEN, TOO_FEW_GROUP, Pair, over_read, read_rows
from mmdyn.tables.scores import conditions_of, laid_field, values_of
from mmdyn.work import SAMPLE, Reader, RunConfig, RunFolder

BASELINE = "baseline:"
"""How the label of an embedded baseline begins. Baselines have families of their own and never change another model's
p."""


def adjusted(rows: Sequence[Row], families: Iterable[object] | None = None) -> list[Row]:
    """Rows with p adjusted by Holm's method over all of them, or over those of one family."""
    named = [None for _ in rows] if families is None else list(families)
    found = dict[object, list[int]]()
    for place, family in enumerate(named):
        found.setdefault(family, []).append(place)
    adjusted = list(rows)
    for places in found.values():
        for place, p in zip(places, holm([rows[place].p for place in places]), strict=True):
            adjusted[place] = replace(rows[place], p_adjusted=p and p_digits(p))
    return adjusted


class Family(NamedTuple):
    """What a row is tested together with: rows of one kind and name. who: whose change over all chains bounds a
    chain's p from below."""

    kind: str
    name: tuple[str, ...]
    who: tuple[str, ...]


ADJUSTED = "p is adjusted by Holm"

FAMILIES = {
    "a": "changes over all chains",
    "b": "chains (no less than the p over all chains)",
    "f": "chains that do not count over all",
    "c": "contexts",
    "d": "pairs of models",
    "e": "values of another factor",
}
"""The kinds of families, for a note."""


def by_families(rows: Sequence[Row], families: Sequence[Family]) -> list[Row]:
    """Rows with p adjusted by Holm's method within their families: a chain's p is the larger of its own and of that of
    its change over all chains."""
    found = adjusted(rows, [family[:2] for family in families])
    pairs = list(zip(found, families, strict=True))
    whole = {family.who: row.p_adjusted for row, family in pairs if row.p is not None and family.kind == "a"}
    return [_gated(row, whole.get(family.who)) if family.kind == "b" else row for row, family in pairs]


def family_note(rows: Sequence[Row], families: Sequence[Family]) -> str:
    """Over how many tests p is adjusted, by kind of family; empty where each is the only one of its own."""
    tested = (family[:2] for row, family in zip(rows, families, strict=True) if row.p is not None)
    sizes = dict[str, set[int]]()
    for (kind, _), size in Counter(tested).items():
        sizes.setdefault(kind, set()).add(size)
    counts = {kind: "-".join(map(str, sorted({min(own), max(own)}))) for kind, own in sorted(sizes.items())}
    told = [f"{count} {FAMILIES[kind]}" for kind, count in counts.items() if max(sizes[kind]) > 1]
    return f"{ADJUSTED} over {'; '.join(told)}" if told else ""


def _gated(row: Row, first: float | None) -> Row:
    return row if row.p_adjusted is None or first is None else replace(row, p_adjusted=max(row.p_adjusted, first))


def contrast_families(rows: Sequence[Row]) -> list[Family]:
    """The families of contrasts.

    (a) did the score fall: each model on each set, over all chains (or the only one). (b) through which chain: the
    chains of a model and set that count over all; none is significant where (a) is not. (f) its other chains: doses,
    null chains, parts of a factorial. (c) does context help: each context against none on standard questions, of a
    model and set. (d) which model is better, on standard questions and over all chains,
    without baselines. (e) every other factor, of a model and set.
    """
    pooled = {who_of(row.factors) for row in rows if is_change(row.factors) and is_pooled(row.factors)}
    return [_family(row, pooled) for row in rows]


def change_families(rows: Sequence[Row]) -> list[Family]:
    """Those of a table of changes by chain, as of contrasts: (a) over all chains, or the only one; (b), (f) the chains,
    grouped by the other factors of the rows."""
    whos = [tuple(value for name, value in row.factors.items() if name != "chain") for row in rows]
    pooled = {who for row, who in zip(rows, whos, strict=True) if is_pooled(row.factors)}
    return [_of_change(row, who, pooled) for row, who in zip(rows, whos, strict=True)]


def _of_change(row: Row, who: tuple[str, ...], pooled: set[tuple[str, ...]]) -> Family:
    """The family of a change from standard to dynamic."""
    if is_pooled(row.factors):
        return Family("a", _apart(row), who)
    if not row.chains:
        return Family("f", who, who)
    return Family("b", who, who) if who in pooled else Family("a", _apart(row), who)


def _apart(row: Row) -> tuple[str, ...]:
    """The name of a baseline's own family; nothing for models."""
    model = row.factors.get("model", "")
    return (model,) if model.startswith(BASELINE) else ()


def _family(row: Row, pooled: set[tuple[str, ...]]) -> Family:
    factors, who = row.factors, who_of(row.factors)
    factor = factors["factor"]
    if is_change(factors):
        return _of_change(row, who, pooled)
    if factor == "context" and factors["a"] == NONE and is_main(factors):
        return Family("c", who, who)
    if factor == "model" and is_usual(factors) and (factors["variant"] == "standard" or is_pooled(factors)):
        models = factors["a"], factors["b"]
        return Family("d", models if any(one.startswith(BASELINE) for one in models) else (), who)
    return Family("e", (factor, *who), who)


COMPARED = (*BASES, "model", "run")
"""The factors of which values are compared, in the order of a report."""

CHANGES = {"image": {PICTURES}, "text": {FORM}, "both": {PICTURES, FORM}, "nothing": set[str]()}
"""What operators of each kind are meant to change."""

INSTRUCTION, INSTRUCTION_UNKNOWN = "instruction", "instruction (not recorded)"


class Sides(NamedTuple):
    """Two conditions that differ in a factor: b is compared with a."""

    factor: str
    a: Key
    b: Key

    def factors(self) -> dict[str, str]:
        """The factors of a row: the shared ones, the compared factor and its two values; with several runs also the
        runs' names."""
        held = {name: value for name, value in self.b.factors.items() if name != self.factor}
        run = {}
        if self.a.run and self.factor != "run":
            run = {"run": self.a.run if self.a.run == self.b.run else f"{self.a.run}, {self.b.run}"}
        model = {} if self.factor == "model" else {"model": self.a.model}
        values = {side: str(getattr(key, self.factor)) for side, key in (("a", self.a), ("b", self.b))}
        return {**run, **model, "set": self.a.set, "factor": self.factor, **values, **held}


def contrast_rows(block: Block, part: Contrasts) -> Iterator[Numbered]:
    """The rows of every pair of conditions, for each value of a field if `by` names one."""
    columns, conditions = block.columns, conditions_of(block)
    for sides in find_sides(list(conditions)):
        if part.factors and sides.factor not in part.factors:
            continue
        a, b = (conditions[key] for key in sides[1:])
        pair = Pair.of(block._replace(front=sides.factors()), a, b)
        if sides.factor not in ("variant", "run"):
            pair = pair._replace(note="")  # other factors ask the same questions
        note, comparable = _comparable(columns, sides, conditions)
        names, notes, front = ("a", "b"), [note] * bool(note), block._replace(front=sides.factors())
        if not part.by:
            differs = _differing(columns, sides, a, b)
            read = [*read_rows(front, pair)] if comparable else []
            yield from over_read(pair.rows((), (), names, notes, differs, comparable=comparable), read)
            yield from read
            continue
        field = laid_field(columns, part.by, a, b)
        asked = np.union1d(columns.parents[a], columns.parents[b])
        values = values_of(part.by, field, asked)
        if part.by == LEAK and not {*LEAKING} & {value for value, _ in values}:
            continue
        for value, code in values:
            own = pair.only(field.codes == code)
            rows = own.rows((part.by,), (value,), names, notes, comparable=comparable)
            yield from over_read(rows, [*read_rows(front, own)] if comparable else [])


def find_sides(keys: Sequence[Key]) -> list[Sides]:
    """The pairs of conditions that are compared, of keys in reporting order: two that differ in one factor, of which
    the first has its reference value; models and runs each with each; contexts and shots by rules of their own.

    A pair crosses runs where runs are compared, or no run has both conditions. Counterfactual variants ask something
    else, and are compared with nothing.
    """
    pairs, keys = list[Sides](), [key for key in keys if key.variant != "counterfactual"]
    for factor in COMPARED:
        alike = dict[Key, list[Key]]()
        for key in keys:
            alike.setdefault(_without(key, factor), []).append(key)
        for group in alike.values():
            pairs.extend(_pairs_of(factor, group))
    return pairs


def _without(key: Key, factor: str) -> Key:
    blank = dict.fromkeys(("run", factor, "chain") if factor == "variant" else ("run", factor), "")
    return replace(key, **blank)


def _pairs_of(factor: str, group: Sequence[Key]) -> Iterator[Sides]:
    levels = dict[tuple[str, str], list[Key]]()
    for key in group:
        levels.setdefault((getattr(key, factor), key.chain), []).append(key)
    for first, second in combinations(sorted(levels, key=lambda level: _place(factor, level[0])), 2):
        a, b = first[0], second[0]
        if _are_compared(factor, a, b):
            pairs = [Sides(factor, one, other) for one in levels[first] for other in levels[second]]
            yield from [pair for pair in pairs if pair.a.run == pair.b.run] or pairs


def _are_compared(factor: str, a: str, b: str) -> bool:
    """Whether b is compared with a, which stands before it."""
    if factor == "shots":
        return Shots.parse(a).is_compared(Shots.parse(b))
    return are_compared(a, b) if factor == "context" else a == BASES.get(factor, a)


def _place(factor: str, level: str) -> tuple[int, ...]:
    """Sort key: a factor's reference value comes first, whatever the order of the runs."""
    return place_of(level) if factor == "context" else (level != BASES.get(factor, level),)


def _comparable(columns: Columns, sides: Sides, keys: Sequence[Key] | dict[Key, Ints]) -> tuple[str, bool]:
    """A note on two conditions, and whether they are comparable."""
    a, b = (columns.runs[key.run].config for key in sides[1:])
    how = [config.evaluator(key.set) for config, key in zip((a, b), sides[1:], strict=True)]
    scorers = [one.scorer for one in how]
    if scorers[0] != scorers[1]:
        return f"scored by different policies ({' and '.join(scorers)}): run `mmdyn score` so that they agree", False
    dynamic = "dynamic" in (sides.a.variant, sides.b.variant)
    one, other = (_versions(run, sides.a.set, dynamic=dynamic) for run in (a, b))
    asked = {
        "versions of the set": one and other and one != other,
        "prompts": how[0].prompts != how[1].prompts,
        "numbers of epochs": a.epochs != b.epochs,
    }
    differing = " and ".join(name for name, differs in asked.items() if differs)
    knowledge = all(lays_knowledge(key.context) for key in sides[1:]) and a.knowledge != b.knowledge
    weak = _weakness(b, sides.b, list(keys)) if sides.factor == "variant" else ""
    notes = {
        "the runs laid other knowledge beside the questions": knowledge,
        "the runs showed other examples": BASES["shots"] not in (sides.a.shots, sides.b.shots)
        and a.examples != b.examples,
        f"the runs asked different {differing}": differing,
        weak: weak,
    }
    return "; ".join(note for note, holds in notes.items() if holds), True


def _weakness(run: RunConfig, key: Key, keys: Sequence[Key]) -> str:
    """Which chains of a dynamic condition are weak, for a note; empty where none is."""
    chains = {one.chain for one in key.members(keys)}
    entries = [entry.strength for entry in run.sets if entry.root == key.set]
    weak = {chain for strength in entries for chain, far in strength.items() if far.weak and chain in chains}
    return f"weak variants ({', '.join(sorted(weak))})" if weak else ""


def _versions(run: RunConfig, root: str, *, dynamic: bool) -> set[str]:
    """The digests of a set and, if `dynamic`, of the sets that were made of it."""
    entries = [entry for entry in run.sets if entry.root == root and (dynamic or entry.name == root)]
    return {entry.answers or entry.digest for entry in entries}


def _differing(columns: Columns, sides: Sides, a: Ints, b: Ints) -> tuple[str, ...]:
    """What else differs between two sides beside the factor: the instruction, the form (task type), the number of
    turns, the pictures. Leaves out what a chain is meant to change, and what a record does not say."""
    told = "" if sides.factor == "style" else _instruction(columns, sides.a, sides.b)
    variant = sides.factor == "variant"
    declared = _declared(columns, b) if variant else set()
    differ = _has_others if variant else _share_none
    kinds = [kind for kind in (FORM, TURNS, PICTURES) if kind not in declared]
    found = [kind for kind in kinds if differ(_codes(columns, kind, a), _codes(columns, kind, b))]
    return (*filter(None, (told,)), *found)


def _declared(columns: Columns, records: Ints) -> set[str]:
    """What the records' chains are meant to change: picture operators change pictures, text operators the form."""
    chains = {columns.keys[place].chain for place in np.unique(columns.asked[records]).tolist()}
    found = set[str]()
    for chain in chains:
        with suppress(PluginError):  # of an operator that is not installed here nothing is known
            found |= CHANGES[changed(chain)]
    return found


def _codes(columns: Columns, kind: str, records: Ints) -> Ints:
    """The pairs (parent, code) of answered records, each packed into one integer."""
    codes = columns.sides[kind][records]
    kept = ~(columns.flags["failed"] | columns.flags["unscored"])[records] & (codes != NOT_RECORDED)
    return np.unique((columns.parents[records[kept]] << 32) | codes[kept])


def _has_others(a: Ints, b: Ints) -> bool:
    """Whether b has a code that a lacks, for a parent that both have."""
    return bool(np.isin(np.setdiff1d(b, a) >> 32, a >> 32).any())


def _share_none(a: Ints, b: Ints) -> bool:
    """Whether some parent that both have shares no code between them. Missing variants alone are no difference."""
    both = np.intersect1d(a >> 32, b >> 32)
    return len(np.setdiff1d(both, np.intersect1d(a, b) >> 32)) > 0


def _instruction(columns: Columns, a: Key, b: Key) -> str:
    """What differs where the reply instructions of a and b, of one style, differ or are unknown; else nothing. The base
    form has none."""
    if Shots.parse(a.shots).base != Shots.parse(b.shots).base:
        return INSTRUCTION
    one, other = (columns.runs[key.run].config.instruction(key.context, key.style) for key in (a, b))
    if one == other and (one is not None or a.context == b.context):
        return ""
    return INSTRUCTION_UNKNOWN if None in (one, other) else INSTRUCTION


FEW = 10
"""The least number of questions for which a value is tested."""

EQUAL = "equal changes"
TESTED = "Rao-Scott test of equality"


def field_rows(block: Block, part: FieldTests) -> Iterator[Numbered]:
    """For each model on each set and each field a row with the test that all its values of FEW questions or more have
    one mean change from standard to dynamic, and a row for each of these values."""
    conditions = conditions_of(block)
    for sides in _main(find_sides(list(conditions))):
        pair = Pair.of(block, conditions[sides.a], conditions[sides.b])
        front = {name: value for name, value in sides.factors().items() if name in ("run", "model", "set")}
        for name in block.columns.question_fields:
            yield from _rows(pair, front, name)


def _main(every: list[Sides]) -> list[Sides]:
    """The change of each model on each set, over all chains (or the only one)."""
    found = dict[tuple[str, ...], Sides]()
    for sides in every:
        who = (sides.a.run, sides.b.run, sides.a.model, sides.a.set)
        if is_change(sides.factors()) and (who not in found or sides.b.chain == POOLED):
            found[who] = sides
    return list(found.values())


def _rows(pair: Pair, front: dict[str, str], name: str) -> Iterator[Numbered]:
    field = pair.block.columns.parent_field(name)
    codes, block = field.codes[pair.a.parents], pair.block._replace(front=front)
    counts = {value: int((codes == code).sum()) for code, value in enumerate(field.values) if value != NOT_GIVEN}
    large = [value for value in reading_order(name, counts) if counts[value] >= FEW]
    inside: NDArray[np.bool_] = np.isin(codes, [field.values.index(value) for value in large])
    if len(large) < 2:
        return
    change, weights = pair.b.values - pair.a.values, pair.weights
    waits = pair.a.waits or pair.b.waits
    labels = block.columns.clusters[pair.a.parents[inside]]
    p = None if waits else equality(change[inside], codes[inside], weights[inside], labels)
    tested: RowDetails = {
        "n": int(inside.sum()),
        "left_out": int((~inside).sum()),
        "unit": "points",
        "scale": pair.scale,
        "p": p and p_digits(p),
        "method": TESTED,
        "note": UNTESTED if waits else TOO_FEW_GROUP if p is None else "",
    }
    yield block.row(("field",), (name,), EQUAL, None, **tested), None
    for value in large:
        own = codes == field.values.index(value)
        mean = round(float(np.average(change[own], weights=weights[own])), 6) + 0.0
        key, n = (name, value), counts[value]
        row = block.row(("field", "value"), key, "difference", mean, n=n, unit="points", scale=pair.scale)
        yield row, None


TO_WRONG, TO_RIGHT = "right to wrong", "wrong to right"
LONGEST_QUESTION, LONGEST_ANSWER = 40, 24
"""Characters that are shown."""

NOTHING = "nothing"


class _Flip(NamedTuple):
    """A question that a chain flipped: its index, both mean scores, and the records of both sides."""

    sides: Sides
    parent: int
    scores: tuple[float, float]
    records: tuple[Ints, Ints]


class FlipWatcher(RowWatcher):
    """Collects the answer that was read in each record."""

    def __init__(self, part: Flips, runs: Mapping[str, RunFolder]) -> None:
        self._answers, self._read = dict[str, int](), array("i")

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Note the record."""
        read = NOTHING if record.score is None or record.score.extracted is None else _spelt(record.score.extracted)
        self._read.append(self._answers.setdefault(_line(read, LONGEST_ANSWER), len(self._answers)))

    def rows(self, block: Block) -> Iterator[Numbered]:
        """Two rows for each question and chain: the mean score of the standard question, and that of its `n` answered
        variants. Losses come first within a chain."""
        found = list(_flips(block))
        columns, samples = block.columns, dict[int, Sample]()
        wanted = {place for flip in found for side in flip.records for place in columns.samples[side].tolist()}
        for run in columns.runs.values():
            with Reader(run.records_folder) as reader:
                for place in wanted - samples.keys():
                    if stored := reader.get(SAMPLE, columns.digests[place]):
                        samples[place] = from_json(stored, Sample)
        for flip in found:
            yield from self._rows(block, flip, samples)

    def notes(self, rows: Sequence[Row]) -> Sequence[str]:
        """How many there are of each kind."""
        ways = Counter(row.factors["direction"] for row in rows if row.quantity == "a score")
        return [", ".join(f"{number} {way}" for way, number in ways.items()) or "no question was turned"]

    def _rows(self, block: Block, flip: _Flip, samples: dict[int, Sample]) -> Iterator[Numbered]:
        columns, answers = block.columns, [*self._answers]
        known = [[samples.get(place) for place in columns.samples[side].tolist()] for side in flip.records]
        expected = [", ".join(dict.fromkeys(_expected(one) for one in side if one)) for side in known]
        read = [
            ", ".join(dict.fromkeys(answers[self._read[place]] for place in side.tolist())) for side in flip.records
        ]
        scores = columns.worth["score"][0][flip.records[1]]
        lost = flip.scores[0] > flip.scores[1]
        turned = int((scores < EVEN).sum() if lost else (scores > EVEN).sum())
        told = {
            "direction": TO_WRONG if lost else TO_RIGHT,
            "question": columns.names[flip.parent],
            "variants": f"{turned} of {len(scores)} {'wrong' if lost else 'right'}",
            "expected": f" {ARROW} ".join(dict.fromkeys(expected)),
            "read": f" {ARROW} ".join(read),
            "asked": next((_line(one.question, LONGEST_QUESTION) for one in known[0] if one), ""),
        }
        here = block._replace(front={**flip.sides.factors(), **told})
        for quantity, score, records in zip(("a score", "b score"), flip.scores, flip.records, strict=True):
            yield here.row((), (), quantity, round(score, 6), n=len(records)), None


def _flips(block: Block) -> Iterator[_Flip]:
    """The flips of each chain, from standard to dynamic."""
    conditions, columns = conditions_of(block), block.columns
    answered = ~(columns.flags["failed"] | columns.flags["unscored"])
    for sides in find_sides(list(conditions)):
        if sides.factor != "variant" or sides.b.chain == POOLED:
            continue
        records = [conditions[key][answered[conditions[key]]] for key in sides[1:]]
        a, b = (block.cell(side) for side in records)
        shared, in_a, in_b = np.intersect1d(a.ids, b.ids, assume_unique=True, return_indices=True)
        before, after = a.values[in_a], b.values[in_b]
        places = np.flatnonzero((before - EVEN) * (after - EVEN) < 0).tolist()
        for place in sorted(
            places, key=lambda place: (before[place] < after[place], columns.names[int(shared[place])])
        ):
            own = [side[columns.parents[side] == shared[place]] for side in records]
            scores = float(before[place]), float(after[place])
            yield _Flip(sides, int(shared[place]), scores, (own[0], own[1]))


def _expected(sample: Sample) -> str:
    """The right answer, with the text of its option."""
    right = sample.answer if isinstance(sample.answer, tuple) else ()
    meant = "; ".join(option.text for option in sample.options if option.label in right and option.text)
    spelt = _line(_spelt(sample.answer), LONGEST_ANSWER)
    return f"{spelt} ({_line(meant, LONGEST_ANSWER)})" if meant else spelt


def _spelt(value: Json | Answer, between: str = ", ") -> str:
    """An answer as text: commas between labels or blanks, `or` between the spellings of one blank."""
    if isinstance(value, list | tuple):
        return between.join(_spelt(part, " or ") for part in value)
    return value if isinstance(value, str) else canonical(value).decode()


def _line(text: str, most: int) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
