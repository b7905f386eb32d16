"""What guessing could use: whether a score goes with the position of the right option, how right answers are spread,
and options that are never right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.sample import Answer, Option
from mmdyn.stats import Ints, equality, mean_score, uniformity, within
from mmdyn.table import AnswerKeys, Position
from mmdyn.tables.blocks import TOTAL, Block, Numbered, Row, TablePart, p_digits, rows_of
from mmdyn.tables.columns import FEW, Columns
from mmdyn.tables.contrasts import BASELINE
from mmdyn.tables.factors import BASES, FRONT, Key, front_of, is_usual, reading_order, who_of
from mmdyn.text import refers_to_all

BIASED, UNEVEN = 0.05, 0.01
"""Levels: of the tests of positions over models, and of the tests of keys."""

FEW_KEYS = 20
"""Questions of a key, or with an option of one text, that are looked at, at least."""

EXPECTED = 5.0
"""Right answers that are expected of an option text that is never right, at least."""

LONGEST = 40
"""Characters of an option that are shown."""

STANDARD = BASES["variant"]
CHOICE, CLAIM = "single_choice", "true_false"
TEXT = "option text"
ELSEWHERE, EVEN, SKIPPED = "elsewhere", "even", "guesser without it"

POSITION_MEANS = (
    f"elsewhere: questions whose right option stands elsewhere; p: whether all positions of {FEW} questions or more"
    " have one score, of moved options where there are any (Rao-Scott test of equality)"
)
KEY_MEANS = (
    "even: what each share were if every option were right as often; p: whether the key is even (Pearson's test with"
    " Rao and Scott's correction for groups)"
)
SKIPPED_MEANS = f"{SKIPPED}: what a guesser who never picks it earns, corrected for chance"


class _Asked(Struct):
    """What is read of a stored sample."""

    options: tuple[Option, ...] = ()
    answer: Answer = ""

    @property
    def right(self) -> str:
        """The label of the one right option, `true` or `false`; empty where there is no such thing."""
        if isinstance(self.answer, bool):
            return str(self.answer).lower()
        label = self.answer[0] if isinstance(self.answer, tuple) and len(self.answer) == 1 else ""
        return label if isinstance(label, str) else ""

    @property
    def position(self) -> str:
        """The label of the right option; empty where it speaks of all others, as its place is no accident."""
        right = self.right
        return "" if any(refers_to_all(one.text) for one in self.options if one.label == right) else right


def position_rows(block: Block, part: Position) -> Iterator[Numbered]:
    """The score of each model on each set by the position of the right option of single choices, on standard questions
    and over the chains that move it in any question, where all else is as usual; the total has the p of the test that
    all positions have one score."""
    columns, stored = block.columns, block.columns.stored(_Asked)
    usual_keys = np.array([_is_usual(key) for key in columns.keys], np.bool_)
    choices = block.records[(columns.asked_as(CHOICE) & usual_keys[columns.asked])[block.records]]
    samples = {place: stored[place] or _Asked() for place in np.unique(columns.samples[choices]).tolist()}
    positions = {place: sample.position for place, sample in samples.items()}
    labels = reading_order("", {*positions.values()} - {""})
    place_of = {"": -1, **{label: place for place, label in enumerate(labels)}}
    by_sample = np.full((2, len(stored)), -1)
    by_sample[:, [*samples]] = [
        [place_of[label] for label in positions.values()],
        [len(sample.options) for sample in samples.values()],
    ]
    codes, options = by_sample[:, columns.samples]
    kept = choices[codes[choices] >= 0]
    usual, many = np.full(len(columns.names), -1), np.zeros(len(columns.names), np.int64)
    standard = kept[np.array([key.variant == STANDARD for key in columns.keys], np.bool_)[columns.asked[kept]]]
    usual[columns.parents[standard]], many[columns.parents[kept]] = codes[standard], options[kept]
    before = usual[columns.parents[kept]]
    moved = columns.asked[kept[(before >= 0) & (before != codes[kept])]]
    for front, sides in _sides(columns, columns.asked[kept], moved).items():
        told = list[tuple[_Positions, float | None]]()
        for questions, places in sides.items():
            records = kept[np.isin(columns.asked[kept], places)]
            here = block._replace(records=records, front={**dict(front), "questions": questions})
            before = np.where(many > 2, usual, -1)  # of two options the right one always goes to the other place
            strata = many if questions == STANDARD else many * (len(labels) + 1) + before
            one = _Positions.of(here, labels, codes, strata)
            told.append((one, None if here.front["model"].startswith(BASELINE) else one.p))
        last = max((place for place, (_, p) in enumerate(told) if p is not None), default=-1)
        for place, (one, p) in enumerate(told):
            yield from one.rows(p if place == last else None)


def _sides(columns: Columns, asked: Ints, moved: Ints) -> dict[tuple[tuple[str, str], ...], dict[str, list[int]]]:
    """For each run, model and set the conditions of standard questions, and of the chains that move the right option of
    any of them, by the chains' names. asked, moved: the conditions of records, and of those whose right option was
    moved."""
    chains = dict[str, set[str]]()
    for key in (columns.keys[place] for place in np.unique(moved).tolist()):
        chains.setdefault(key.set, set()).add(key.chain)
    found = dict[tuple[tuple[str, str], ...], dict[str, list[int]]]()
    for place in np.unique(asked).tolist():
        key = columns.keys[place]
        own = chains.get(key.set, set())
        if key.variant == STANDARD or key.chain in own:
            front = tuple((name, key.place[name]) for name in FRONT if name in key.place)
            questions = STANDARD if key.variant == STANDARD else ", ".join(sorted(own))
            found.setdefault(front, {}).setdefault(questions, []).append(place)
    return found


class _Positions(NamedTuple):
    """A model's answers to some questions, by the position of their right option. strata: of each parent what else its
    score may go with: how many options there are, and where the right one stood before it was moved."""

    block: Block
    records: dict[str, Ints]
    strata: Ints

    @classmethod
    def of(cls, block: Block, labels: Sequence[str], codes: Ints, strata: Ints) -> _Positions:
        """The records of a block. codes: of each record the place of its position among the labels."""
        own = codes[block.records]
        return cls(block, {labels[code]: block.records[own == code] for code in np.unique(own).tolist()}, strata)

    @property
    def p(self) -> float | None:
        """Of the test that all positions of FEW questions or more have one score, within strata; None where there are
        not two."""
        large = [cell for cell in map(self.block.cell, self.records.values()) if len(cell.values) >= FEW]
        if len(large) < 2:
            return None
        values, weights = (np.concatenate([getattr(cell, name) for cell in large]) for name in ("values", "weights"))
        parents = np.concatenate([cell.parents for cell in large])
        values = within(self.strata[parents], values, weights)
        levels = np.repeat(np.arange(len(large)), [len(cell.values) for cell in large])
        return equality(values, levels, weights, self.block.columns.clusters[parents])

    def rows(self, p: float | None) -> Iterator[Numbered]:
        """The score at each position and elsewhere, and the total with the p of the test where that is told."""
        if len(self.records) < 2:
            return
        for label, records in self.records.items():
            cell, others = self.block.cell(records), self.block.cell(np.setdiff1d(self.block.records, records))
            yield self.block.mean_row(("position",), (label,), "score", cell), cell
            yield self.block.mean_row(("position",), (label,), ELSEWHERE, others), others
        whole = self.block.cell(self.block.records)
        yield self.block.mean_row(("position",), (TOTAL,), "score", whole, p=p and p_digits(p)), whole


def key_rows(block: Block, part: AnswerKeys) -> Iterator[Numbered]:
    """The share of each right answer, and what it were in an even key, by set, chain and form, of standard questions
    and the claims that they became; and of option texts that are never right. Each sample counts once, in however many
    conditions it was asked."""
    columns, stored = block.columns, block.columns.stored(_Asked)
    standard = np.array([key.variant == STANDARD for key in columns.keys], np.bool_)[columns.asked]
    types = columns.fields["task_type"]
    was_claim = types.codes == (types.values.index(CLAIM) if CLAIM in types.values else -1)
    claims, choices = columns.asked_as(CLAIM), columns.asked_as(CHOICE)
    wanted = np.where(standard, choices | claims, claims & ~was_claim)
    kept = block.records[wanted[block.records]]
    pairs = columns.asked[kept] * len(stored) + columns.samples[kept]
    found = dict[tuple[str, str, str], dict[int, int]]()
    for record in kept[np.unique(pairs, return_index=True)[1]].tolist():
        key, place = columns.keys[columns.asked[record]], int(columns.samples[record])
        sample = stored[place] or _Asked()
        form = CLAIM if isinstance(sample.answer, bool) else CHOICE
        if sample.right:
            parents = found.setdefault((key.set, key.chain or STANDARD, form), {})
            parents[place] = int(columns.parents[record])
    for (name, questions, said), parents in found.items():
        if len(parents) >= FEW_KEYS:
            here = block._replace(front={"set": name, "questions": questions, "form": said})
            clusters = columns.clusters[[*parents.values()]]
            asked_once = [stored[place] or _Asked() for place in parents]
            yield from _key_rows(here, asked_once, clusters)
            yield from _never_right(here, asked_once, clusters) if said == CHOICE else ()


def _key_rows(block: Block, samples: Sequence[_Asked], clusters: Ints) -> Iterator[Numbered]:
    offered = [[one.label for one in sample.options] or ["true", "false"] for sample in samples]
    labels = reading_order("", {label for each in offered for label in each})
    hits = np.equal.outer(np.array([sample.right for sample in samples]), np.array(labels)).astype(float)
    even = np.array([[(label in each) / len(each) for label in labels] for each in offered])
    for place, label in enumerate(labels):
        yield from _share_rows(block, label, hits[:, place], even[:, place], clusters)
    p = uniformity(hits, even, clusters)
    yield block.row(("key",), (TOTAL,), "share", 1.0, n=len(samples), p=p and p_digits(p)), None


def _never_right(block: Block, samples: Sequence[_Asked], clusters: Ints) -> Iterator[Numbered]:
    """Option texts that are right nowhere, though several right answers were expected; the most frequent first."""
    standing, right = dict[str, list[int]](), set[str]()
    for place, sample in enumerate(samples):
        texts, label = {one.label: " ".join(one.text.split()) for one in sample.options}, sample.right
        right |= {texts.pop(label)} if label in texts else set()
        for text in {*texts.values()} - {""}:
            standing.setdefault(text, []).append(place)
    sizes = np.array([len(sample.options) for sample in samples])
    block = block._replace(front=block.front | {"form": TEXT})
    found = [text for text in standing.keys() - right if len(standing[text]) >= FEW_KEYS]
    for text in sorted(found, key=lambda text: (-len(standing[text]), text)):
        places = standing[text]
        even = 1 / sizes[places]
        if even.sum() < EXPECTED:
            continue
        yield from _share_rows(block, text, np.zeros(len(places)), even, clusters[places])
        # Of k options it leaves k - 1 to guess from: (1 / (k - 1) - 1 / k) / (1 - 1 / k).
        earned = float((1.0 / (sizes[places] - 1) ** 2).sum() / len(samples))
        yield block.row(("key",), (text,), SKIPPED, round(earned, 6), n=len(samples)), None


def _share_rows(block: Block, name: str, hits: Any, even: Any, clusters: Ints) -> Iterator[Numbered]:
    share = mean_score(hits, np.ones(len(hits)), clusters)
    yield block.share_row(("key",), (name,), "share", share, n=len(hits), method=share.method), None
    yield block.row(("key",), (name,), EVEN, round(float(even.mean()), 6), n=len(hits)), None


def guessing_notes(rows: Sequence[Row]) -> Iterable[str]:
    """What the numbers of either table mean."""
    quantities = {row.quantity for row in rows}
    meanings = {ELSEWHERE: POSITION_MEANS, EVEN: KEY_MEANS, SKIPPED: SKIPPED_MEANS}
    return [means for quantity, means in meanings.items() if quantity in quantities]


def position_lines(parts: Sequence[TablePart]) -> Iterator[tuple[Row, str]]:
    """The totals of models whose scores go with the position of the right option, each with a sentence that says so."""
    rows = rows_of(parts, "position")
    for whole in rows:
        if whole.p_adjusted is None or whole.p_adjusted >= BIASED:
            continue
        own = [row for row in rows if row.factors | {"position": TOTAL} == whole.factors and row is not whole]
        others = {row.factors["position"]: row.value or 0.0 for row in own if row.quantity == ELSEWHERE}
        large = {row.factors["position"]: row.value or 0.0 for row in own if row.quantity == "score" and row.n >= FEW}
        label = max(large, key=lambda label: abs(large[label] - others[label]))
        kind = STANDARD if whole.factors["questions"] == STANDARD else "shuffled"
        yield (
            whole,
            f"{front_of(whole.factors)} is right in {_whole(large[label])} % of {kind} questions whose right option is"
            f" {label} and in {_whole(others[label])} % of the others",
        )


def with_positions(parts: Sequence[TablePart]) -> list[TablePart]:
    """The tables, in which contrasts of chains that move options note that the model's score goes with positions."""
    told = {who_of(row.factors): line for row, line in position_lines(parts)}
    moving = {
        (*who_of(row.factors), chain): told[who_of(row.factors)]
        for row in rows_of(parts, "position")
        for chain in row.factors["questions"].split(", ")
        if who_of(row.factors) in told
    }
    noted = [part for part in parts if part.kind == "contrasts" and not part.by] if moving else []
    return [replace(part, rows=[_noted(row, moving) for row in part.rows]) if part in noted else part for part in parts]


def _noted(row: Row, lines: Mapping[tuple[str, ...], str]) -> Row:
    factors = row.factors
    is_drop = row.quantity == "difference" and factors["factor"] == "variant" and is_usual(factors)
    line = lines.get((*who_of(factors), factors.get("chain", ""))) if is_drop else None
    return replace(row, note="; ".join(filter(None, (row.note, line)))) if line else row


def key_lines(parts: Sequence[TablePart]) -> Iterator[str]:
    """Sentences on keys that are not even, and on option texts that are never right."""
    found = dict[tuple[str, str, str], dict[str, dict[str, Row]]]()
    for row in rows_of(parts, "answerkeys"):
        set, questions, form, key = row.factors.values()
        found.setdefault((set, questions, form), {}).setdefault(key, {})[row.quantity] = row
    for (set, questions, form), keys in found.items():
        where = set if questions == STANDARD else f"{set}, {questions}"
        shares = {
            key: (rows["share"].value or 0.0, rows[EVEN].value or 0.0) for key, rows in keys.items() if EVEN in rows
        }
        if form == TEXT:
            for key, rows in keys.items():
                earned, n = 100 * (rows[SKIPPED].value or 0.0), rows[EVEN].n
                yield (
                    f'{where}: the option "{key[:LONGEST]}" stands in {n} questions and is never right, where'
                    f" {shares[key][1] * n:.0f} right answers were expected: a guesser who never picks it earns"
                    f" {earned:.1f} points corrected for chance"
                )
            continue
        p, key = keys[TOTAL]["share"].p_adjusted, max(shares, key=lambda key: abs(shares[key][0] - shares[key][1]))
        if p is not None and p < UNEVEN:
            what = "right options are" if form == CHOICE else "claims are"
            share, even = map(_whole, shares[key])
            yield f"{where}: {share} % of the {what} {key}, where an even key has {even} %"


def _whole(share: float) -> str:
    return f"{100 * share:.0f}"


def _is_usual(key: Key) -> bool:
    return all(getattr(key, name) == base for name, base in BASES.items() if name != "variant")
