"""What guessing could use: whether a score goes with the position of the right option, how right answers are spread,
and options that are never right."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.sample import Answer
from mmdyn.stats import Floats, Hits, Ints, equality, matched_shares, mean_score, paired_difference, uniformity, within
from mmdyn.table import AnswerKeys, Position, PublishedLetters
from mmdyn.tables.blocks import TOTAL, Block, Numbered, Row, TablePart, p_digits, rows_of
from mmdyn.tables.columns import FEW, Columns, split
from mmdyn.tables.contrasts import BASELINE
from mmdyn.tables.factors import BASES, FRONT, PICKED, Key, front_of, is_usual, reading_order, who_of
from mmdyn.tables.pairing import difference_row
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


class _Option(Struct, gc=False):
    label: str
    text: str = ""


class _Asked(Struct):
    """What is read of a stored sample."""

    options: tuple[_Option, ...] = ()
    answer: Answer = ""

    @property
    def right(self) -> str:
        """The label of the one right option, `true` or `false`; empty where there is no such thing."""
        if isinstance(self.answer, bool):
            return str(self.answer).lower()
        label = self.answer[0] if isinstance(self.answer, tuple) and len(self.answer) == 1 else ""
        return label if isinstance(label, str) else ""

    @property
    def offered(self) -> tuple[str, ...]:
        """The labels to choose from."""
        return tuple(one.label for one in self.options) or ("true", "false")


class _Answers(NamedTuple):
    """What the stored samples offer and what is right, by the samples' indexes. Option texts stand here as hashes: a
    large set's are more than what else a report holds.

    labels: The labels that are right somewhere.
    right: The index of the right label; -1 where there is no one right option.
    place: The same; -1 also where the right option speaks of all others, as its place is no accident.
    claim: Whether the answer is `true` or `false`.
    offers, offered: Labels to choose from, and the index of each sample's.
    sizes: How many options each has.
    texts, first: Hashes of all options' texts, 0 for an empty one, and the index of each sample's first.
    """

    labels: list[str]
    right: Ints
    place: Ints
    claim: NDArray[np.bool_]
    offers: list[tuple[str, ...]]
    offered: Ints
    sizes: Ints
    texts: Ints
    first: Ints

    @classmethod
    def of(cls, columns: Columns) -> _Answers:
        """Read the stored samples."""
        labels, offers, texts = dict[str, int](), dict[tuple[str, ...], int](), array("q")
        right, place, offered, sizes, first = np.full((5, len(columns.digests)), -1)
        claim = np.zeros(len(right), np.bool_)
        for index, sample in columns.stored(_Asked):
            offered[index], first[index] = offers.setdefault(sample.offered, len(offers)), len(texts)
            sizes[index], claim[index] = len(sample.options), isinstance(sample.answer, bool)
            texts.extend(hash(_plain(one)) for one in sample.options)
            if label := sample.right:
                right[index] = place[index] = labels.setdefault(label, len(labels))
                if any(one.label == label and refers_to_all(one.text) for one in sample.options):
                    place[index] = -1
        hashes = np.array(texts, np.int64)
        return cls([*labels], right, place, claim, [*offers], offered, sizes, hashes, first)


def _plain(option: _Option) -> str:
    """An option's text with single spaces."""
    return " ".join(option.text.split())


def position_rows(block: Block, part: Position) -> Iterator[Numbered]:
    """The score of each model on each set by the position of the right option of single choices, on standard questions
    and over the chains that move it in any question, where all else is as usual; the total has the p of the test that
    all positions have one score."""
    columns, answers = block.columns, block.columns.once(_Answers.of)
    usual_keys = np.array([_is_usual(key) for key in columns.keys], np.bool_)
    choices = block.records[(columns.asked_as(CHOICE) & usual_keys[columns.asked])[block.records]]
    there = np.unique(answers.place[columns.samples[choices]])
    labels = reading_order("", {answers.labels[code] for code in there[there >= 0].tolist()})
    ranks = np.array([*(labels.index(label) if label in labels else -1 for label in answers.labels), -1])
    codes, options = ranks[answers.place[columns.samples]], answers.sizes[columns.samples]
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
        if key.variant == "dynamic":
            chains.setdefault(key.set, set()).add(key.chain)
    found = dict[tuple[tuple[str, str], ...], dict[str, list[int]]]()
    for place in np.unique(asked).tolist():
        key = columns.keys[place]
        own = chains.get(key.set, set())
        if key.variant == STANDARD or (key.variant == "dynamic" and key.chain in own):
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


KEPT, OTHER_LETTER = "published letter", "same letters elsewhere"


def letter_rows(block: Block, part: PublishedLetters) -> Iterator[Numbered]:
    """For each model on each set, over the chains that move the right option of single choices of three options or
    more, where all else is as usual: the share of answers that name the letter that was right before, and the share
    that name the same letters where they are neither that nor right (`matched_shares`, by letter and number of
    options); and their difference. A question counts once, with the mean of its variants."""
    columns, answers = block.columns, block.columns.once(_Answers.of)
    usual = np.array([_is_usual(key) for key in columns.keys], np.bool_)[columns.asked]
    choices = block.records[(columns.asked_as(CHOICE) & usual & ~columns.flags["failed"])[block.records]]
    variants = np.array([key.variant for key in columns.keys])[columns.asked]
    right, sizes, read = answers.place[columns.samples], answers.sizes[columns.samples], columns.fields[PICKED]
    standard = choices[variants[choices] == STANDARD]
    before = np.full(len(columns.names), -1)
    before[columns.parents[standard]] = right[standard]
    was = before[columns.parents]
    moved = (variants == "dynamic") & (was >= 0) & (right >= 0) & (was != right) & (sizes > 2)
    kept = choices[moved[choices]]
    named = np.array([answers.labels.index(one) if one in answers.labels else -1 for one in read.values])
    places = np.arange(len(answers.labels))
    offered = np.array([[one in labels for one in answers.labels] for labels in answers.offers], np.bool_)
    for values, records in split(columns, kept, FRONT[1:]).items():
        says, strata = named[read.codes[records]], sizes[records] * len(places)
        ids, questions = np.unique(columns.parents[records], return_inverse=True)
        others = offered[answers.offered[columns.samples[records]]]
        others = others & (places != right[records, None]) & (places != was[records, None])
        where, letters = np.nonzero(others)
        cases = Hits(questions, strata + was[records], (says == was[records]).astype(np.float64))
        controls = Hits(questions[where], strata[where] + letters, (says[where] == letters).astype(np.float64))
        yield from matched_rows(
            block._replace(front=dict(zip(FRONT[1:], values, strict=True))),
            matched_shares(cases, controls, len(ids)),
            columns.clusters[ids],
            (KEPT, OTHER_LETTER),
        )


def matched_rows(block: Block, shares: Floats, clusters: Ints, names: tuple[str, str]) -> Iterator[Numbered]:
    """The means of shares of shape (questions, 2), as `matched_shares` computes them, and their difference; nothing
    where no question has both."""
    told = ~np.isnan(shares).any(1)
    if not told.any():
        return
    shares, clusters, ones = shares[told], clusters[told], np.ones(told.sum())
    for name, values in zip(names, shares.T, strict=True):
        share = mean_score(values, ones, clusters, 0.0)
        yield block.share_row((), (), name, share, n=len(ones), method=share.method), None
    beyond = shares[:, 0] - shares[:, 1]
    found = paired_difference(beyond, ones, clusters, max(1.0, float(np.abs(beyond).max())))
    yield difference_row(block, (), (), found, (), n=len(ones), left_out=int((~told).sum())), None


def key_rows(block: Block, part: AnswerKeys) -> Iterator[Numbered]:
    """The share of each right answer, and what it were in an even key, by set, chain and form, of standard questions
    and the claims that they became; and of option texts that are never right. Each sample counts once, in however many
    conditions it was asked."""
    columns, answers = block.columns, block.columns.once(_Answers.of)
    standard = np.array([key.variant == STANDARD for key in columns.keys], np.bool_)[columns.asked]
    types = columns.fields["task_type"]
    was_claim = types.codes == (types.values.index(CLAIM) if CLAIM in types.values else -1)
    claims, choices = columns.asked_as(CLAIM), columns.asked_as(CHOICE)
    wanted = np.where(standard, choices | claims, claims & ~was_claim)
    kept = block.records[wanted[block.records] & (answers.right[columns.samples[block.records]] >= 0)]
    pairs = columns.asked[kept] * len(answers.right) + columns.samples[kept]
    records = kept[np.unique(pairs, return_index=True)[1]]
    found = dict[tuple[str, str, str], list[Ints]]()
    for place in np.unique(columns.asked[records]).tolist():
        key, here = columns.keys[place], records[columns.asked[records] == place]
        is_claim = answers.claim[columns.samples[here]]
        for form, own in ((CHOICE, here[~is_claim]), (CLAIM, here[is_claim])):
            found.setdefault((key.set, key.chain or STANDARD, form), []).append(own)
    for (name, questions, form), parts in found.items():
        once = np.sort(np.unique(columns.samples[np.concatenate(parts)], return_index=True)[1])
        asked = np.concatenate(parts)[once]
        if len(asked) >= FEW_KEYS:
            one = block._replace(front={"set": name, "questions": questions, "form": form})
            samples, clusters = columns.samples[asked], columns.clusters[columns.parents[asked]]
            yield from _key_rows(one, answers, samples, clusters)
            yield from _never_right(one, answers, samples, clusters) if form == CHOICE else ()


def _key_rows(block: Block, answers: _Answers, samples: Ints, clusters: Ints) -> Iterator[Numbered]:
    offered = {code: answers.offers[code] for code in np.unique(answers.offered[samples]).tolist()}
    labels = reading_order("", {label for each in offered.values() for label in each})
    codes = np.array([answers.labels.index(label) if label in answers.labels else -1 for label in labels])
    hits = np.equal.outer(answers.right[samples], codes).astype(float)
    shares = np.zeros((len(answers.offers), len(labels)))
    for code, each in offered.items():
        shares[code] = [(label in each) / len(each) for label in labels]
    even = shares[answers.offered[samples]]
    for place, label in enumerate(labels):
        yield from _share_rows(block, label, hits[:, place], even[:, place], clusters)
    p = uniformity(hits, even, clusters)
    yield block.row(("key",), (TOTAL,), "share", 1.0, n=len(samples), p=p and p_digits(p)), None


def _never_right(block: Block, answers: _Answers, samples: Ints, clusters: Ints) -> Iterator[Numbered]:
    """Option texts that are right nowhere, though several right answers were expected; the most frequent first."""
    sizes = answers.sizes[samples]
    standing = _wrong_texts(answers, samples)
    block = block._replace(front=block.front | {"form": TEXT})
    found = {text: places for text, places in standing.items() if (1 / sizes[places]).sum() >= EXPECTED}
    texts = _spelt(block.columns, answers, {text: int(samples[places[0]]) for text, places in found.items()})
    for text in sorted(found, key=lambda text: (-len(found[text]), texts[text])):
        places = found[text]
        yield from _share_rows(block, texts[text], np.zeros(len(places)), 1 / sizes[places], clusters[places])
        # Of k options it leaves k - 1 to guess from: (1 / (k - 1) - 1 / k) / (1 - 1 / k).
        earned = float((1.0 / (sizes[places] - 1) ** 2).sum() / len(samples))
        yield block.row(("key",), (texts[text],), SKIPPED, round(earned, 6), n=len(samples)), None


def _wrong_texts(answers: _Answers, samples: Ints) -> dict[int, Ints]:
    """The texts, as hashes, that stand in FEW_KEYS of some samples or more and are right in none, with the indexes of
    these samples."""
    sizes = answers.sizes[samples]
    ends = np.cumsum(sizes)
    texts = answers.texts[np.repeat(answers.first[samples] - (ends - sizes), sizes) + np.arange(sizes.sum())]
    values, counts = np.unique(texts, return_counts=True)
    frequent = np.setdiff1d(values[counts >= FEW_KEYS], [0])
    places = {code: {label: place for place, label in enumerate(each)} for code, each in enumerate(answers.offers)}
    right = [
        places[offered].get(answers.labels[code], -1)
        for offered, code in zip(answers.offered[samples].tolist(), answers.right[samples].tolist(), strict=True)
    ]
    offers_right = np.array(right) >= 0
    frequent = np.setdiff1d(frequent, texts[(ends - sizes + np.array(right))[offers_right]])
    standing = np.flatnonzero(np.isin(texts, frequent))
    asked = np.searchsorted(ends, standing, side="right")
    found = {text: np.unique(asked[texts[standing] == text]) for text in frequent.tolist()}
    return {text: questions for text, questions in found.items() if len(questions) >= FEW_KEYS}


def _spelt(columns: Columns, answers: _Answers, samples: Mapping[int, int]) -> dict[int, str]:
    """The texts of hashes. samples: the index of a sample that has each."""
    wanted = dict(columns.stored(_Asked, {*samples.values()}))
    return {
        text: next(said for said in map(_plain, wanted[sample].options) if hash(said) == text)
        for text, sample in samples.items()
    }


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
