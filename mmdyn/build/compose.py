"""Composes questions of statements from a bank: which of several statements are true, or false?

The options of a question are sets of statements. A set is a number whose bit k stands for statement k. All sets of a
question are drawn before one of them is drawn as the right one, so a solver that sees the sets alone earns no more than
by guessing.

Source: Encyclo-K, sections 3.1.3 and 4.1. The paper does not say what wrong options hold; drawing all sets first is our
    choice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from math import ceil, comb, sqrt
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from mmdyn.build.bank import LEVELS, Group, Statement, read_bank
from mmdyn.build.step import Draws
from mmdyn.data import OPTION_LETTERS, ImageFolder, Row, SampleSet, made, write_rows
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json
from mmdyn.prompts import filled
from mmdyn.sample import Language, Option, Sample
from mmdyn.work import ProgressBar


def draw_sets(draws: Draws, places: int, count: int, sizes: range) -> list[int]:
    """Draw `count` different sets of `sizes` statements, each with a near miss among the others (see `near_misses`).
    Where `sizes` allows it, the sets have at least two sizes."""
    while True:
        chosen = list[int]()
        while len(chosen) < count:
            base = draws.one(chosen) if chosen else 0
            if not chosen or (len(chosen) + 2 <= count and draws.below(2)):
                base = _random_set(draws, places, sizes)
                if base in chosen:
                    continue
                chosen.append(base)
            if near := [one for one in near_misses(base, places, sizes) if one not in chosen]:
                chosen.append(draws.one(near))
        if len(sizes) == 1 or len({one.bit_count() for one in chosen}) > 1:
            return chosen


def near_misses(base: int, places: int, sizes: range) -> list[int]:
    """The sets that differ from `base` in one statement: swapped, added or left out.

    >>> near_misses(0b011, places=3, sizes=range(2, 3))
    [6, 5]
    """
    inside = [1 << place for place in range(places) if base >> place & 1]
    outside = [1 << place for place in range(places) if not base >> place & 1]
    fewer, more = [base ^ bit for bit in inside], [base | bit for bit in outside]
    swapped = [one | bit for one in fewer for bit in outside]
    return [one for one in (*fewer, *more, *swapped) if one.bit_count() in sizes]


def set_count(places: int, sizes: range) -> int:
    """The number of sets of some sizes.

    >>> set_count(4, range(2, 4))
    10
    """
    return sum(comb(places, size) for size in sizes)


def places_of(chosen: int) -> list[int]:
    """The indices of a set's statements.

    >>> places_of(0b101)
    [0, 2]
    """
    return [place for place in range(chosen.bit_length()) if chosen >> place & 1]


def _random_set(draws: Draws, places: int, sizes: range) -> int:
    size = draws.one(sizes)
    return sum(1 << place for place in draws.shuffled(range(places))[:size])


def _frequencies(sets: Sequence[int]) -> dict[int, int]:
    return {place: sum(one >> place & 1 for one in sets) for place in range(max(sets).bit_length())}


def _by_sum(sets: Sequence[int]) -> list[float]:
    often = _frequencies(sets)
    return [sum(often[place] for place in places_of(one)) for one in sets]


def _by_mean(sets: Sequence[int]) -> list[float]:
    return [total / one.bit_count() for total, one in zip(_by_sum(sets), sets, strict=True)]


def _by_size(sets: Sequence[int]) -> list[float]:
    return [one.bit_count() for one in sets]


def _by_nearness(sets: Sequence[int]) -> list[float]:
    return [-sum((one ^ other).bit_count() for other in sets) for one in sets]


BLIND: dict[str, tuple[Callable[[Sequence[int]], list[float]], int]] = {
    "most frequent statements, by sum": (_by_sum, 1),
    "most frequent statements, by mean": (_by_mean, 1),
    "rarest statements": (_by_mean, -1),
    "longest": (_by_size, 1),
    "shortest": (_by_size, -1),
    "nearest to the others": (_by_nearness, 1),
}
"""Strategies of a solver that sees only which statements the options name."""


def blind_earnings(questions: Sequence[tuple[Sequence[int], int]]) -> dict[str, float]:
    """The mean score in [0, 1] of each blind strategy, of chance, and three standard errors above chance. Among equal
    options a strategy picks at random.

    Args:
        questions: The sets of each question in order, and the index of the right one.
    """
    chances = [1 / len(sets) for sets, _ in questions]
    error = sqrt(sum(chance * (1 - chance) for chance in chances)) / len(questions)
    chance = sum(chances) / len(questions)
    found = {"chance": chance, "chance and three standard errors": chance + 3 * error}
    for name, (judge, sign) in BLIND.items():
        earned = 0.0
        for sets, right in questions:
            values = [sign * value for value in judge(sets)]
            best = max(values)
            earned += (values[right] == best) / values.count(best)
        found[name] = earned / len(questions)
    return {name: round(value, 6) for name, value in found.items()}


Form: TypeAlias = Literal["choice", "claim", "statement"]
_NUMERALS = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
MOST_PLACES = 39
"""Numerals go up to xxxix."""
_COMMA = {"en": ", ", "zh": "、"}


def sample_of(
    form: Form,
    statements: Sequence[str],
    draws: Draws,
    *,
    id: str,
    language: Language,
    fields: dict[str, str | int | float],
    meta: dict[str, Json],
    correct: bool,
    sets: Sequence[int],
    right: int,
    upper: bool,
) -> Sample:
    """The sample of a composed question.

    Args:
        form: What is asked.
        statements: Their texts, in order.
        draws: Chooses the words.
        id, language, fields, meta: The sample's.
        correct: Whether the correct statements are asked for; of a single statement, whether it is correct.
        sets: What the options name; a claim is the first of them.
        right: The index of the right one.
        upper: Whether numerals are upper-case letters.
    """
    sample = partial(Sample, id=id, language=language, fields=fields, meta=meta)
    if form == "statement":
        question = filled("compose", "statement", language, statement=_in_a_line(statements[0]))
        return sample(question=question, task_type="true_false", answer=correct)
    word = draws.one(filled("compose", "correct" if correct else "incorrect", language).split("\n"))
    listed = "\n".join(f"{roman(place, upper=upper)}. {_in_a_line(text)}" for place, text in enumerate(statements, 1))
    named = [_COMMA[language].join(roman(place + 1, upper=upper) for place in places_of(one)) for one in sets]
    if form == "claim":
        question = filled("compose", "claim", language, statements=listed, word=word, places=named[0])
        return sample(question=question, task_type="true_false", answer=right == 0)
    stem = draws.one(filled_lines("stems", language)).replace("{word}", word)
    options = tuple(Option(letter, text) for letter, text in zip(OPTION_LETTERS, named, strict=False))
    answer = (OPTION_LETTERS[right],)
    return sample(question=f"{stem}\n\n{listed}", task_type="single_choice", options=options, answer=answer)


def _in_a_line(text: str) -> str:
    """A statement without line breaks, which would look like further statements."""
    return re.sub(r"\s*[\n\r]\s*", " ", text.strip()) if "\n" in text or "\r" in text else text


def filled_lines(name: str, language: Language) -> list[str]:
    """The lines of a template, each a way to ask."""
    return filled("compose", name, language, word="{word}").split("\n")


def roman(number: int, *, upper: bool) -> str:
    """A number from 1 to 39 in Roman numerals.

    >>> roman(14, upper=True)
    'XIV'
    """
    text = ""
    for value, numeral in _NUMERALS:
        text += numeral * (number // value)
        number %= value
    return text.upper() if upper else text


class Overlaps:
    """The questions of other composed sets by the statements in them, and what those of a new one share with them."""

    def __init__(self, others: Sequence[SampleSet]) -> None:
        """Raises InputError for a set that was not composed."""
        self.digests = [other.manifest.digest for other in others]
        self._questions, self._most, self._equal = dict[str, list[int]](), Counter[int](), 0
        self._sizes = list[int]()
        for other in others:
            for sample in chain(other, (item.sample for item in other.dropped() if item.sample)):
                origins = sample.meta.get("origins")
                if not isinstance(origins, list):
                    problem = f"{sample.id} does not say of which statements it was composed: compose the set again"
                    raise InputError(other.folder, None, problem)
                for origin in {str(origin) for origin in origins}:
                    self._questions.setdefault(origin, []).append(len(self._sizes))
                self._sizes.append(len({*map(str, origins)}))

    def most_shared(self, origins: Sequence[Json]) -> int:
        """The most statements that a question shares with one of the other sets'."""
        return max(self._shared(origins).values(), default=0)

    def add(self, origins: Sequence[Json]) -> None:
        """Count a question of the new set."""
        shared = self._shared(origins)
        self._most[max(shared.values(), default=0)] += 1
        self._equal += any(
            count == len({*map(str, origins)}) == self._sizes[question] for question, count in shared.items()
        )

    def told(self) -> Json:
        """How many questions share how many statements with the nearest one of the other sets, and how many share all;
        None where there is no other set."""
        by_count: dict[str, Json] = {str(count): self._most[count] for count in sorted(self._most)}
        return {"equal": self._equal, "questions_by_most_shared": by_count} if self._sizes else None

    def _shared(self, origins: Sequence[Json]) -> Counter[int]:
        return Counter(question for origin in {*map(str, origins)} for question in self._questions.get(origin, ()))


SETTINGS: dict[Form, str] = {"choice": "multi", "claim": "question", "statement": "statement"}
"""What questions of a form are called in the field `setting` (Encyclo-K, figure 6)."""

TRIES = 200
"""Draws of a question's statements until there are enough, and no more are shared with another set than may be."""

COMMAND = "mmdyn compose"


class ComposeSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """What questions are composed.

    questions: So many; each subject's share is rounded up, so that there are a few more.
    statements: In a question: a number or a range.
    options: In a question: a number or a range.
    combination: Statements in an option: a number or a range.
    asked: Whether the correct statements are asked for, the incorrect ones, or both in turn.
    form: choice: which option names them all; claim: whether a claim does; statement: whether one statement is correct.
    share_by: Questions are in proportion to the bank by discipline, field or subfield; a question keeps to one.
    seed: Another seed composes other questions.
    numerals: Before statements: lower (i, ii) or upper (I, II).
    allow_pairs: Let a statement stand beside its own falsification.
    skip_small: Leave out subjects that have too few statements.
    max_shared: With --avoid: statements that a question has in common with any of those sets at most.
    """

    questions: int = 5000
    statements: str = "8-10"
    options: str = "4-8"
    combination: str = "2-4"
    asked: Literal["both", "correct", "incorrect"] = "both"
    form: Form = "choice"
    share_by: Literal["discipline", "field", "subfield"] = "discipline"
    seed: int = 0
    numerals: Literal["lower", "upper"] = "lower"
    allow_pairs: bool = False
    skip_small: bool = False
    max_shared: int | None = None


class Sizes(NamedTuple):
    """The ranges of a spec as numbers."""

    statements: range
    options: range
    combination: range


class Question(NamedTuple):
    """A composed question: its statements in order, whether the correct ones are asked for, the options' sets of
    places, and the index of the right one."""

    group: Group
    statements: list[Statement]
    correct: bool
    sets: list[int]
    right: int

    @property
    def ids(self) -> list[str]:
        """The statements' ids."""
        return [statement.id for statement in self.statements]

    @property
    def origins(self) -> list[Json]:
        """What each statement shares with its falsifications."""
        return [statement.origin for statement in self.statements]


def compose(
    bank: str | Path,
    out: str | Path,
    spec: ComposeSpec = ComposeSpec(),
    *,
    name: str | None = None,
    avoid: Sequence[str | Path] = (),
    quiet: bool = True,
) -> SampleSet:
    """Compose a set of questions. Equal statements (in any order), specs and sets to avoid give equal samples.

    set.json says under `made.summary` how many questions each subject has, the positions of the right options, the
    scores of blind strategies, and the overlap with the sets of `avoid`.

    Args:
        bank: JSON Lines of statements (Statement).
        out: The new set's folder.
        name: The new set's name; that of the folder by default.
        avoid: Composed sets; no question shares more than `max_shared` statements with one of theirs, kept or dropped.
            A statement and its falsification count as the same.

    Raises:
        InputError: The bank, or a set to avoid, cannot be read.
        UserError: The bank is too small, or numbers do not fit each other; nothing is written.
    """
    bank, out = Path(bank), Path(out)
    if spec.max_shared is not None and not avoid:
        raise UserError("--max-shared bounds what is shared with other sets: name them by --avoid")
    sizes = read_sizes(spec)
    groups = fitting(read_bank(bank, spec.share_by), spec, sizes)
    overlaps = Overlaps([SampleSet(folder) for folder in avoid])
    questions = draw_questions(groups, spec, sizes, overlaps)
    summary = _summary(questions, overlaps)
    how = made(COMMAND, bank, spec=asdict(spec), avoid=[*overlaps.digests], summary=summary, name=name)
    rows = (_row(bank, spec, number, question) for number, question in enumerate(questions, 1))
    with ProgressBar("composing", len(questions), quiet=quiet) as bar:
        return write_rows(bar.count(rows), ImageFolder(out), name, how)


def read_sizes(spec: ComposeSpec) -> Sizes:
    """The ranges of a spec. Raises UserError for one that is none, or where they do not fit each other."""
    statements, options, combination = (
        read_range(getattr(spec, name), f"--{name}") for name in ("statements", "options", "combination")
    )
    if spec.questions < 1:
        raise UserError(f"--questions {spec.questions}: give 1 or more")
    if statements.stop - 1 > MOST_PLACES:
        raise UserError(f"--statements {spec.statements}: numerals go up to {MOST_PLACES}")
    if options.stop - 1 > len(OPTION_LETTERS) or options.start < 2:
        raise UserError(f"--options {spec.options}: give 2 to {len(OPTION_LETTERS)}")
    if combination.stop - 1 > statements.start:
        raise UserError(f"--combination {spec.combination}: an option holds no more statements than a question has")
    if set_count(statements.start, combination) < options.stop - 1:
        raise UserError(f"{statements.start} statements make fewer than {options.stop - 1} options: ask for fewer")
    return Sizes(statements, options, combination)


def read_range(text: str, what: str, least: int = 1) -> range:
    """Read a number or a range such as `8-10`.

    Raises:
        UserError: The text is neither, or begins below `least`.

    >>> read_range("8-10", "--options")
    range(8, 11)
    """
    low, _, high = text.strip().partition("-")
    if not (low.isdecimal() and (high or low).isdecimal() and least <= int(low) <= int(high or low)):
        raise UserError(f"{what} {text} is no number or range, such as 9 or 8-10")
    return range(int(low), int(high or low) + 1)


def fitting(groups: Sequence[Group], spec: ComposeSpec, sizes: Sizes) -> list[Group]:
    """The groups that have enough statements.

    Raises UserError where some have not, with what would fit; with `skip_small` only where none has.
    """
    if spec.form == "statement":
        return list(groups)
    most = sizes.statements.stop - 1
    small = [group for group in groups if room(group, spec, sizes.combination, most) < most]
    if not small or (spec.skip_small and len(small) < len(groups)):
        return [group for group in groups if group not in small]
    told = "; ".join(_told(group, spec) for group in small[:3])
    fits = min(room(group, spec, sizes.combination, most) for group in groups)
    if fits:
        mend = f"--statements {fits} fits all, --skip-small leaves them out"
    else:
        mend = "add statements, share by a wider level, or leave them out by --skip-small"
    few = f"{len(small)} of {len(groups)} subjects have too few statements for questions of {most}"
    raise UserError(f"{few} ({told}{', …' if len(small) > 3 else ''}): {mend}")


def room(group: Group, spec: ComposeSpec, combination: range, most: int) -> int:
    """The largest number of statements, `most` at most, that every question of a group can have; 0 for none."""
    true, false = (
        {one.origin if not spec.allow_pairs else one.id for one in part} for part in (group.true, group.false)
    )
    asked = {"correct": (True,), "incorrect": (False,)}.get(spec.asked, (True, False))
    for count in range(most, combination.stop - 2, -1):
        parts = [(size, count - size) if correct else (count - size, size) for size in combination for correct in asked]
        if len(true | false) >= count and all(len(true) >= t and len(false) >= f for t, f in parts):
            return count
    return 0


def draw_questions(groups: Sequence[Group], spec: ComposeSpec, sizes: Sizes, overlaps: Overlaps) -> list[Question]:
    """All questions. Raises UserError where no question is found that shares few enough statements."""
    total, questions, positions = sum(group.size for group in groups), list[Question](), Positions(spec.seed)
    for group in groups:
        count = ceil(spec.questions * group.size / total)
        if spec.form == "statement":
            questions += _single(group, spec, count, overlaps)
            continue
        for number in range(count):
            question = _draw(group, spec, sizes, number, overlaps)
            overlaps.add(question.origins)
            questions.append(positions.placed(question))
    return questions


class Positions:
    """Where the right options stand: of questions with as many options each place is taken as often, in an order of the
    seed's."""

    def __init__(self, seed: int) -> None:
        self._seed, self._left, self._rounds = seed, dict[int, list[int]](), Counter[int]()

    def placed(self, question: Question) -> Question:
        """The question with its right option moved to the next place."""
        count = len(question.sets)
        if not self._left.get(count):
            self._left[count] = Draws("positions", self._seed, count, self._rounds[count]).shuffled(range(count))
            self._rounds[count] += 1
        right, sets = self._left[count].pop(), list(question.sets)
        sets.insert(right, sets.pop(question.right))
        return question._replace(sets=sets, right=right)


def _draw(group: Group, spec: ComposeSpec, sizes: Sizes, number: int, overlaps: Overlaps) -> Question:
    """Only statements are drawn anew: were the sets, too, those that are easy to fill would be right more often."""
    identity = (COMMAND, spec.seed, group.name, group.language, number)
    draws = Draws(*identity)
    places, count = draws.one(sizes.statements), draws.one(sizes.options)
    correct = spec.asked == "correct" or (spec.asked == "both" and draws.below(2) == 0)
    sets = draws.shuffled(draw_sets(draws, places, 2 if spec.form == "claim" else count, sizes.combination))
    right = draws.below(len(sets))
    for attempt in range(TRIES):
        statements = _fill(Draws(*identity, attempt), group, spec, sets[right], places, correct=correct)
        question = Question(group, statements, correct, sets, right)
        if statements and (spec.max_shared is None or overlaps.most_shared(question.origins) <= spec.max_shared):
            return question
    limit = "" if spec.max_shared is None else f" that shares at most {spec.max_shared} statements with another set's"
    raise UserError(f"no further question{limit} was found in {TRIES} draws ({_told(group, spec)}): ask for fewer")


def _fill(draws: Draws, group: Group, spec: ComposeSpec, right: int, places: int, *, correct: bool) -> list[Statement]:
    """A statement for every place, those of the right set of the asked polarity; none where too few are left.

    The polarity that has fewer statements comes first, as those of the other one may be their falsifications.
    """
    candidates = [group.true if bool(right >> place & 1) == correct else group.false for place in range(places)]
    found, origins = dict[int, Statement](), set[str]()
    for place in sorted(range(places), key=lambda place: len(candidates[place])):
        for _ in range(TRIES):
            statement = draws.one(candidates[place])
            origin = statement.id if spec.allow_pairs else statement.origin
            if origin not in origins:
                origins.add(origin)
                found[place] = statement
                break
        else:
            return []
    return [found[place] for place in range(places)]


def _single(group: Group, spec: ComposeSpec, count: int, overlaps: Overlaps) -> Iterator[Question]:
    """Statements on their own, no one twice. Raises UserError where there are fewer."""
    statements = [
        one
        for one in (*group.true, *group.false)
        if spec.max_shared is None or overlaps.most_shared([one.origin]) <= spec.max_shared
    ]
    if count > len(statements):
        left = "" if spec.max_shared is None else " that share as few with another set"
        raise UserError(f"there are {len(statements)} statements{left} of {group.name or 'the bank'}: ask for fewer")
    for statement in Draws(COMMAND, spec.seed, group.name, group.language, "statement").shuffled(statements)[:count]:
        overlaps.add([statement.origin])
        yield Question(group, [statement], True, [1], 0)


def _row(bank: Path, spec: ComposeSpec, number: int, question: Question) -> Row:
    statements = question.statements
    shared = {level: {getattr(one, level) for one in statements} for level in LEVELS}
    fields: dict[str, str | int | float] = {name: values.pop() for name, values in shared.items() if len(values) == 1}
    fields = {name: value for name, value in fields.items() if value}
    fields |= {"statements": len(statements), "setting": SETTINGS[spec.form]}
    if spec.form != "statement":
        fields |= {"asked": "correct" if question.correct else "incorrect"}
        fields |= {"combination": question.sets[question.right].bit_count()}
    meta: dict[str, Json] = {"statements": list(question.ids), "origins": question.origins}
    meta["true"] = [one.label for one in statements]
    meta["sets"] = [[*places_of(one)] for one in question.sets]
    draws = Draws(COMMAND, "wording", spec.seed, number)
    texts = [one.text for one in statements]
    return Row.build(
        bank,
        None,
        sample_of,
        spec.form,
        texts,
        draws,
        id=f"composed-{spec.seed}-{number}",
        language=question.group.language,
        fields=fields | {"seed": spec.seed},
        meta=meta,
        correct=statements[0].label if spec.form == "statement" else question.correct,
        sets=question.sets,
        right=question.right,
        upper=spec.numerals == "upper",
    )


def _summary(questions: Sequence[Question], overlaps: Overlaps) -> dict[str, Json]:
    subjects = Counter(f"{one.group.name or '(not given)'} ({one.group.language})" for one in questions)
    used = Counter(chain.from_iterable(one.ids for one in questions))
    found: dict[str, Json] = {
        "questions": len(questions),
        "subjects": dict(subjects),
        "statements_used": len(used),
        "most_uses_of_a_statement": max(used.values()),
        "overlap": overlaps.told(),
    }
    if choices := [(one.sets, one.right) for one in questions if len(one.sets) > 2]:
        found["right_options"] = {
            OPTION_LETTERS[place]: count for place, count in sorted(Counter(right for _, right in choices).items())
        }
        found["blind_solvers"] = dict(blind_earnings(choices))
    return found


def _told(group: Group, spec: ComposeSpec) -> str:
    name = group.name or f"no {spec.share_by}"
    return f"{name} ({group.language}) has {len(group.true)} true and {len(group.false)} false ones"
