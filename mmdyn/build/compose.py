"""Composes questions of statements from a bank: which of several statements are true, or false?

The options of a question are sets of statements (`mmdyn/build/blind.py`). All sets of a question are drawn before one
of them is drawn as the right one, so a solver that sees the sets alone earns no more than by guessing. A secret enters
every draw, so what is published tells no key; and no statement is used so often that questions tell each other's
(`mmdyn/build/uses.py`).

Source: Encyclo-K, sections 3.1.3 and 4.1. The paper does not say what wrong options hold; drawing all sets first is our
    choice.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from math import ceil, comb, inf
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from mmdyn.build.bank import LEVELS, Group, Statement, paths_of, read_banks
from mmdyn.build.blind import blind_earnings, places_of
from mmdyn.build.step import Draws
from mmdyn.build.uses import Uses
from mmdyn.data import OPTION_LETTERS, ImageFolder, Row, SampleSet, fingerprint, is_set, made, new_file, write_rows
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json, canonical, digest, sha256
from mmdyn.prompts import filled
from mmdyn.sample import SETTING, Language, Option, Sample
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


def _random_set(draws: Draws, places: int, sizes: range) -> int:
    size = draws.one(sizes)
    return sum(1 << place for place in draws.shuffled(range(places))[:size])


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


def listed_statements(question: str) -> list[str]:
    """Read the statements of a choice that `sample_of` wrote, in order.

    >>> listed_statements("Which are true?\\n\\ni. One is odd.\\nii. Two is odd. So is 3.")
    ['One is odd.', 'Two is odd. So is 3.']
    """
    return [line.partition(". ")[2] for line in question.partition("\n\n")[2].split("\n")]


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
        self._sizes, self.origins = list[int](), list[set[str]]()
        for other in others:
            for sample in chain(other, (item.sample for item in other.dropped() if item.sample)):
                origins = sample.meta.get("origins")
                if not isinstance(origins, list):
                    problem = f"{sample.id} does not say of which statements it was composed: compose the set again"
                    raise InputError(other.folder, None, problem)
                for origin in {str(origin) for origin in origins}:
                    self._questions.setdefault(origin, []).append(len(self._sizes))
                self._sizes.append(len({*map(str, origins)}))
                self.origins.append({*map(str, origins)})

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


SECRET_BYTES, QUESTIONS = 32, "questions.jsonl"

SHARED: Literal["shared"] = "shared"
"""Why no question is found: each shares too much with another set's."""

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
    max_uses: Questions that a statement, its falsifications and near copies stand in at most, those of --avoid and of a
        sweep counted. More than 1 lets questions tell each other's answers.
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
    max_uses: int = 1


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
    banks: str | Path | Sequence[str | Path],
    out: str | Path,
    spec: ComposeSpec = ComposeSpec(),
    *,
    name: str | None = None,
    avoid: Sequence[str | Path] = (),
    secret: str | Path | None = None,
    publish: str | Path | None = None,
    uses: Uses | None = None,
    quiet: bool = True,
) -> SampleSet:
    """Compose a set of questions out of one bank or several. Equal statements (in any order), specs, secrets and sets
    to avoid give equal samples.

    set.json says under `made.summary` how many questions each subject has, the positions of the right options, how
    often statements are used, what solvers earn that know nothing, and the overlap with the sets of `avoid`.

    Args:
        banks: JSON Lines of statements (Statement), or sets of them. A statement, its falsifications and near copies
            count as one in whatever banks they stand.
        out: The new set's folder.
        name: The new set's name; that of the folder by default.
        avoid: Composed sets; no question shares more than `max_shared` statements with one of theirs, kept or dropped.
            A statement and its falsification count as the same.
        secret: A file of SECRET_BYTES or more; without one `OUT.secret` is read, or made.
        publish: A folder for `questions.jsonl`, the questions without what tells their answers.
        uses: The uses by other sets that are published together with this one; its own are added.

    Raises:
        InputError: A bank, a secret, or a set to avoid, cannot be read.
        UserError: The banks are too small, or numbers do not fit each other; no set is written.
    """
    banks, out = paths_of(banks), Path(out)
    if spec.max_shared is not None and not avoid:
        raise UserError("--max-shared bounds what is shared with other sets: name them by --avoid")
    if publish:
        check_public(Path(publish), out)
    sizes = read_sizes(spec)
    found = read_banks(banks, spec.share_by)
    groups = fitting(found, spec, sizes)
    overlaps = Overlaps([SampleSet(folder) for folder in avoid])
    if uses is None:
        uses = Uses(found, spec.max_uses)
        for origins in overlaps.origins:
            uses.add_origins(origins)
    key = draw_key(Path(secret) if secret else secret_of(out), groups, spec, overlaps)
    questions = draw_questions(groups, spec, sizes, overlaps, uses, key)
    summary = _summary(questions, spec, overlaps, uses)
    told: dict[str, Json] = {"spec": asdict(spec), "secret": digest([COMMAND, key]), "summary": summary}
    told["beside"] = [fingerprint(bank) for bank in banks[1:]]
    how = made(COMMAND, banks[0], avoid=[*overlaps.digests], published_with=[*uses.sets], name=name, **told)
    rows = (_row(banks[0], spec, key, number, question) for number, question in enumerate(questions, 1))
    with ProgressBar("composing", len(questions), quiet=quiet) as bar:
        composed = write_rows(bar.count(rows), ImageFolder(out), name, how)
    uses.sets.append(composed.manifest.digest)
    if publish:
        publish_questions(composed, Path(publish))
    return composed


def draw_key(secret: Path, groups: Sequence[Group], spec: ComposeSpec, overlaps: Overlaps) -> str:
    """What enters every draw: a secret, and all that tells one set from another, so that two sets of one secret have
    nothing in common. Raises InputError where the file cannot be a secret."""
    bank = [[one.id, one.text, one.label] for group in groups for one in (*group.true, *group.false)]
    return digest([COMMAND, read_secret(secret), digest(bank), asdict(spec), overlaps.digests])


def secret_of(out: Path) -> Path:
    """The file beside a new folder that holds its secret; made where it is not there.

    Raises UserError where it cannot be written.
    """
    file = out.resolve().with_name(f"{out.resolve().name}.secret")
    if not file.exists():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(secrets.token_hex(SECRET_BYTES))
        except OSError as error:
            raise UserError(f"cannot write {file} ({error.strerror}): give a file by --secret") from None
    return file


def read_secret(file: Path) -> str:
    """The digest of a secret. Raises InputError where the file cannot be one."""
    try:
        held = file.read_bytes()
    except OSError as error:
        raise InputError(file, None, f"cannot be read ({error.strerror}): give a file of random bytes") from None
    if len(held) < SECRET_BYTES:
        raise InputError(file, None, f"holds {len(held)} bytes: a secret has {SECRET_BYTES} or more, drawn at random")
    return digest([COMMAND, sha256(held)])


def check_public(folder: Path, out: Path) -> None:
    """Raise UserError where questions cannot be published: in a set, and where others stand."""
    if folder.resolve() == out.resolve() or is_set(folder):
        raise UserError(f"{folder} holds a set, whose answers would lie beside the questions: choose another --publish")
    if (folder / QUESTIONS).exists():
        raise UserError(f"{folder} holds a {QUESTIONS} already: choose another --publish")


def publish_questions(composed: SampleSet, folder: Path) -> None:
    """Write what may be published of a composed set into `questions.jsonl`: no answer, and nothing that tells one.

    Raises UserError where it cannot be written.
    """
    with new_file(folder / QUESTIONS) as handle:
        for sample in composed:
            options = [{"label": option.label, "text": option.text} for option in sample.options]
            subject = {level: sample.fields[level] for level in LEVELS if level in sample.fields}
            asked: dict[str, Json] = {"id": sample.id, "question": sample.question, "task_type": sample.task_type}
            told = {**asked, "language": sample.language, **subject, **({"options": options} if options else {})}
            handle.write(canonical(told) + b"\n")


def read_sizes(spec: ComposeSpec) -> Sizes:
    """The ranges of a spec. Raises UserError for one that is none, or where they do not fit each other."""
    statements, options, combination = (
        read_range(getattr(spec, name), f"--{name}") for name in ("statements", "options", "combination")
    )
    for name in ("questions", "max_uses"):
        if (given := getattr(spec, name)) < 1:
            raise UserError(f"--{name.replace('_', '-')} {given}: give 1 or more")
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


def draw_questions(
    groups: Sequence[Group], spec: ComposeSpec, sizes: Sizes, overlaps: Overlaps, uses: Uses, key: str
) -> list[Question]:
    """All questions. Raises UserError where the bank bears fewer of them, or none is found that shares few enough
    statements; with `skip_small` a subject that bears fewer has fewer."""
    total, questions = sum(group.size for group in groups), list[Question]()
    for group in groups:
        count = ceil(spec.questions * group.size / total)
        if spec.form == "statement":
            questions += _single(group, spec, count, overlaps, uses, key)
            continue
        bears = _bears(group, spec, sizes, uses) * total / group.size
        left = Group(group.name, group.language, [*group.true], [*group.false])
        for number in range(count):
            question = _draw(left, spec, sizes, number, overlaps, uses, key)
            if isinstance(question, Question):
                overlaps.add(question.origins)
                uses.add(question.statements)
                if spec.form == "choice":
                    uses.link(question.statements, question.sets, question.right, correct=question.correct)
                questions.append(question)
            elif spec.skip_small and (questions or group is not groups[-1]):
                break
            else:
                raise UserError(_too_few(group, spec, question, int(bears), len(questions)))
    return questions


def _bears(group: Group, spec: ComposeSpec, sizes: Sizes, uses: Uses) -> float:
    """About how many questions the statements of a group suffice for, by how many of either polarity one has."""
    places, chosen = (sum(one) / len(one) for one in (sizes.statements, sizes.combination))
    asked = {"correct": chosen, "incorrect": places - chosen}.get(spec.asked, places / 2)
    rooms = (uses.room([*group.true, *group.false]) / places, uses.room(group.true) / asked)
    return min(*rooms, uses.room(group.false) / (places - asked) if places > asked else inf)


def _too_few(group: Group, spec: ComposeSpec, lacking: str, bears: int, made: int) -> str:
    """Why no further question was found after those that were made."""
    if lacking == SHARED:
        limit = f" that shares at most {spec.max_shared} statements with another set's"
        return f"no further question{limit} was found in {TRIES} draws ({_told(group, spec)}): ask for fewer"
    times = "once" if spec.max_uses == 1 else f"{spec.max_uses} times"
    return (
        f"the bank bears about {bears} questions in which no statement or near copy stands more than {times}, those of"
        f" --avoid and of a sweep counted; with this secret the draw ends after {made}"
        f" ({_told(group, spec)}): ask for fewer by --questions, let subjects have fewer by --skip-small, or allow more"
        " by --max-uses, with which questions tell each other's answers"
    )


def _draw(
    group: Group, spec: ComposeSpec, sizes: Sizes, number: int, overlaps: Overlaps, uses: Uses, key: str
) -> Question | Literal["shared", "uses"]:
    """A question of statements that may still be used; where none was found, what it shares too much of, or that there
    are too few.

    Only statements are drawn anew: were the sets, too, those that are easy to fill would be right more often. For the
    same reason a subject ends with the first question that cannot be filled.
    """
    identity = (COMMAND, key, spec.seed, group.name, group.language, number)
    draws = Draws(*identity)
    places, count = draws.one(sizes.statements), draws.one(sizes.options)
    correct = spec.asked == "correct" or (spec.asked == "both" and draws.below(2) == 0)
    sets = draws.shuffled(draw_sets(draws, places, 2 if spec.form == "claim" else count, sizes.combination))
    right = draws.below(len(sets))
    filled_any = False
    for attempt in range(TRIES):
        statements = _fill(Draws(*identity, attempt), group, spec, sets[right], places, uses, correct=correct)
        question = Question(group, statements, correct, sets, right)
        if statements and (spec.max_shared is None or overlaps.most_shared(question.origins) <= spec.max_shared):
            return question
        filled_any = filled_any or bool(statements)
    return SHARED if filled_any else "uses"


def _fill(
    draws: Draws, group: Group, spec: ComposeSpec, right: int, places: int, uses: Uses, *, correct: bool
) -> list[Statement]:
    """A statement for every place, those of the right set of the asked polarity; none where too few are left.

    The polarity that has fewer statements comes first, as those of the other one may be their falsifications. What may
    not be used any more is taken out of the group.
    """
    candidates = [group.true if bool(right >> place & 1) == correct else group.false for place in range(places)]
    found, origins = dict[int, Statement](), set[str]()
    for place in sorted(range(places), key=lambda place: len(candidates[place])):
        left, tries = candidates[place], 0
        while place not in found:
            if not left or tries == TRIES:
                return []
            at = draws.below(len(left))
            statement = left[at]
            if not uses.is_free(statement):
                left[at] = left[-1]
                left.pop()
                continue
            origin = statement.id if spec.allow_pairs else uses.origin(statement)
            if origin not in origins:
                origins.add(origin)
                found[place] = statement
            tries += 1
    return [found[place] for place in range(places)]


def _single(
    group: Group, spec: ComposeSpec, count: int, overlaps: Overlaps, uses: Uses, key: str
) -> Iterator[Question]:
    """Statements on their own, no one twice. Raises UserError where there are fewer."""
    statements = [
        one
        for one in (*group.true, *group.false)
        if spec.max_shared is None or overlaps.most_shared([one.origin]) <= spec.max_shared
    ]
    draws, given = Draws(COMMAND, key, spec.seed, group.name, group.language, "statement"), 0
    for statement in draws.shuffled(statements):
        if given < count and uses.is_free(statement):
            overlaps.add([statement.origin])
            uses.add([statement])
            given += 1
            yield Question(group, [statement], True, [1], 0)
    if given < count and not spec.skip_small:
        left = "" if spec.max_shared is None else " and share as few with another set"
        times = "once" if spec.max_uses == 1 else f"{spec.max_uses} times"
        raise UserError(
            f"{group.name or 'the bank'} has {given} statements that stand {times} at most with their falsifications"
            f" and near copies{left}: ask for fewer, or allow more by --max-uses"
        )


def _row(bank: Path, spec: ComposeSpec, key: str, number: int, question: Question) -> Row:
    statements = question.statements
    shared = {level: {getattr(one, level) for one in statements} for level in LEVELS}
    fields: dict[str, str | int | float] = {name: values.pop() for name, values in shared.items() if len(values) == 1}
    fields = {name: value for name, value in fields.items() if value}
    fields |= {"statements": len(statements), SETTING: "multi" if spec.form == "choice" else spec.form}
    if spec.form != "statement":
        fields |= {"asked": "correct" if question.correct else "incorrect"}
        fields |= {"combination": question.sets[question.right].bit_count()}
    meta: dict[str, Json] = {"statements": list(question.ids), "origins": question.origins}
    meta["true"] = [one.label for one in statements]
    meta["sets"] = [[*places_of(one)] for one in question.sets]
    draws = Draws(COMMAND, key, "wording", spec.seed, number)
    texts = [one.text for one in statements]
    return Row.build(
        bank,
        None,
        sample_of,
        spec.form,
        texts,
        draws,
        id=f"composed-{digest([COMMAND, key, spec.seed, number], size=6)}",
        language=question.group.language,
        fields=fields | {"seed": spec.seed},
        meta=meta,
        correct=statements[0].label if spec.form == "statement" else question.correct,
        sets=question.sets,
        right=question.right,
        upper=spec.numerals == "upper",
    )


def _summary(questions: Sequence[Question], spec: ComposeSpec, overlaps: Overlaps, uses: Uses) -> dict[str, Json]:
    subjects = Counter(f"{one.group.name or '(not given)'} ({one.group.language})" for one in questions)
    used = Counter(chain.from_iterable(one.ids for one in questions))
    found: dict[str, Json] = {
        "questions": len(questions),
        "subjects": dict(subjects),
        "statements_used": len(used),
        "most_uses_of_a_statement": max(used.values()),
        "uses_of_an_origin": {"most": uses.highest, "mean": round(uses.mean, 3)},
        "overlap": overlaps.told(),
    }
    if spec.form == "choice":
        choices = [(one.sets, one.right) for one in questions]
        found["right_options"] = {
            OPTION_LETTERS[place]: count for place, count in sorted(Counter(right for _, right in choices).items())
        }
        found["blind_solvers"] = {**blind_earnings(choices), **uses.joint_solvers()}
    return found


def _told(group: Group, spec: ComposeSpec) -> str:
    name = group.name or f"no {spec.share_by}"
    return f"{name} ({group.language}) has {len(group.true)} true and {len(group.false)} false ones"
