"""A page on what a model may have known before: each kind of evidence with what it assumes and could have shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import counted
from mmdyn.stats import holm
from mmdyn.table import (
    Completions,
    CutOffs,
    Ladder,
    MaskedOptions,
    Membership,
    ParaphrasedCompletions,
    Part,
    PublishedAnswers,
    PublishedLetters,
    QuestionOrder,
)
from mmdyn.tables.blocks import Row, TablePart, p_digits
from mmdyn.tables.completion import PUBLISHED as PUBLISHED_WORDING, REWORDED, word_for_word
from mmdyn.tables.contrasts import ADJUSTED
from mmdyn.tables.factors import RUNG, front_of, unusual
from mmdyn.tables.grid import number, p_value, percent
from mmdyn.tables.guessing import KEPT, OTHER_LETTER, STANDARD
from mmdyn.tables.membership import AUC, AUC_WOULD_SHOW, BLIND, BLIND_WOULD_SHOW, MEANS
from mmdyn.tables.memory import BETWEEN, BEYOND, BREAK, LOST, OTHER, PLACEBO, PUBLISHED
from mmdyn.tables.question_order import BEATEN, BEYOND_OLDER, WOULD_SHOW
from mmdyn.tables.recall import DIFFERENCE, NAMED, NOT_NAMED
from mmdyn.tables.results import Report
from mmdyn.tables.trends import NEEDLESS, NO_PICTURE
from mmdyn.tables.why_page import Line, NextRuns, Section, Why
from mmdyn.work import RunFolder

FEWEST = 8
"""If only so many questions differ, each wholly and through memory, every test here is significant at 5 %: of 0/1 pairs
5 suffice (McNemar), of shares of words 8 (empirical likelihood)."""

MOSTLY = 0.8
"""The power of what a test "would mostly show"."""

PER_HALF = 2.8 / 1.96
"""The effect that is seen in four of five cases, in halves of the interval's width (the normal quantiles of 97.5 and
80 %)."""

NOT_ASKED: dict[str, tuple[str, Callable[[NextRuns], list[str]]]] = {
    "questionorder": (
        "No order of questions was weighed. That works for a set whose maker says that its order is random"
        " (`--is-random SET`), and for models that give log-probabilities (hf:, vllm:, completions:).",
        lambda further: further.probe("order", weighing=True),
    ),
    "completions": (
        "No model was asked to go on with the first half of a question. Any model can be.",
        lambda further: further.probe("completion"),
    ),
    "paraphrasedcompletions": (
        "No reworded question was completed. That takes a run with paraphrases by a model.",
        lambda further: further.reworded(),
    ),
    "maskedoptions": (
        "No model was asked for a wrong option that was masked. Any model can be, where ten questions or more have one"
        " that is hard to guess.",
        lambda further: further.probe("options"),
    ),
    "membership": (
        "No question was scored by its tokens. That works for a set of which a part was held out at random"
        " (`--drawn-at-random`), and for models that give log-probabilities (hf:, vllm:, completions:).",
        lambda further: further.probe("members", "--published", "FIELD=VALUE", weighing=True),
    ),
}
"""What is said of a kind that models were not asked for, and the commands that ask for it."""

SEEN = "having seen these questions, in this set or elsewhere"
SERVER = "a server that looks questions up or answers from a cache"
TOO_FEW, FOUND = "Too few questions to test.", "would be found in four of five cases"
FULL = "the other side has nearly all already, so that no difference could show"
BASE_RATES = (OTHER, OTHER_LETTER, NOT_NAMED, REWORDED)
"""The quantities that a share is compared with."""

NO_PLACEBO = "no other year could stand for a placebo"

WHAT = "None of this is proof of what a model was trained on: it is what models said, or found likely."
NOTHING = "Nothing here was tested; each section says why."


class Kind(Struct, frozen=True):
    """A kind of evidence: its title and name, the quantity that is tested (p is adjusted by Holm over the page), what
    but chance gives a positive one, memory first, and what it assumes."""

    title: str
    name: str
    tested: str
    causes: tuple[str, ...]
    assumes: str


EVIDENCE = {
    "publishedanswers": Kind(
        "Published answers to changed questions",
        "changed questions",
        BEYOND,
        (
            SEEN,
            "inattention to the change",
            "pictures that still show the published question",
            "keys of changed questions that are wrong",
            "answers that anybody would expect or that draw the model",
            SERVER,
        ),
        "Assumes that the new answers are right, and that nothing but memory sets the published version apart from the"
        " changed ones: its answer is neither easier, nor in the picture, nor what anybody would expect. Each letter of"
        " options counts alike. Memory and inattention to what was changed give the same answers, and a model that"
        " remembers but reads with care shows nothing: the interval's upper end bounds the memory that shows, where"
        " these assumptions hold.",
    ),
    "publishedletters": Kind(
        "Published letters of options that were moved",
        "moved options",
        BEYOND,
        (SEEN, "a habit of letters that goes with the source of a question", SERVER),
        "Assumes that without memory a wrong letter is named as often where it was right before as where it was not: a"
        " favourite letter does no harm, but a model that favours an author's letter in this author's questions alone"
        " would seem to remember. It tells of letters that were learned, not where from, and nothing of answers that"
        " were learned in words.",
    ),
    "cutoffs": Kind(
        "Scores up to a cut-off, and after it",
        "the cut-offs",
        BETWEEN,
        (SEEN, "what makes newer questions harder for some models more than for others"),
        "Assumes that what makes newer questions harder costs all models equally many points, apart from a trend of"
        " each; that years and cut-offs are right; and that nothing of later questions was known. Where questions get"
        " much harder at a cut-off and models differ much in their scores, it cannot tell.",
    ),
    "questionorder": Kind(
        "Order of the questions",
        "orders of the questions",
        BEATEN,
        ("having seen these questions in this order", "an order that is not random"),
        "Assumes that the set has the order of the published file, and that its maker made this order random"
        " (`--is-random` declares it): a model that never saw the file then has 50 % but for chance. p is exact and"
        " one-sided; the interval is rougher, and may hold 50 %. Copies in another order leave no such trace, so that a"
        " model that shows nothing may know every question.",
    ),
    "completions": Kind(
        "Second halves of questions, with the set named and not",
        "completions with the set named",
        DIFFERENCE,
        (SEEN, "how such a set words its questions", SERVER),
        "Each reply counts beyond what it shares with other questions of the set, which takes off much of style and"
        " common endings. Assumes that a set's name helps with a question no more than with others, unless the question"
        " is known. A model that goes on word for word without the name, too, shows nothing here: completions of"
        " reworded questions may tell more.",
    ),
    "paraphrasedcompletions": Kind(
        "Second halves of questions, in the published words and in others",
        "completions of the published words",
        DIFFERENCE,
        (SEEN, "published words that come more easily than their rewording", "passages that stand elsewhere", SERVER),
        "Assumes that without memory the published words are as easy to go on with as those that the rewriter found for"
        " the same question. Passages that stand elsewhere, such as poems and laws, may be known from there. Questions"
        " that are known otherwise than word for word show nothing.",
    ),
    "maskedoptions": Kind(
        "Wrong options that were masked",
        "masked options with the set named",
        DIFFERENCE,
        (SEEN, "which wrong options such a set tends to have", SERVER),
        "Assumes that a set's name does not help to guess its wrong options, unless they are known. What is named"
        " without it has no base rate: many wrong options are what anybody would think of.",
    ),
    "membership": Kind(
        "Membership scores",
        "scores of tokens",
        AUC,
        (SEEN, "a held-out part that was not drawn at random"),
        "Assumes that the held-out questions were drawn at random, one by one, from the same set, and were never"
        " published (`--drawn-at-random` declares it). A score is the mean over the least likely fifth of a question's"
        " tokens; the question is weighed by itself, without a chat template. Most text that was read once or twice"
        " leaves no trace in such scores, so that a model that shows nothing may have read every question.",
    ),
}


class Memory(Why, frozen=True):
    """The page, and the report that it is based on, with p adjusted over the page."""

    @property
    def tables(self) -> list[TablePart]:
        """The tables that have rows."""
        return [part for part in self.report.parts if part.rows]


def evidence_parts() -> list[Part]:
    """The declarations that the page needs beside those of the page on why (`why_parts`)."""
    asked = Completions(), ParaphrasedCompletions(), MaskedOptions(), Membership()
    return [PublishedAnswers(), PublishedLetters(), CutOffs(), QuestionOrder(), *asked]


def memory_parts() -> list[Part]:
    """All declarations that the page needs."""
    return [*evidence_parts(), Ladder()]


def explain_memory(report: Report, runs: Sequence[RunFolder]) -> Memory:
    """Make the page of a report that was made of `memory_parts`.

    Source: the kinds of evidence and their critics stand in docs/appendix/memory.md.
    """
    parts = _adjusted([part for part in report.parts if part.kind in EVIDENCE])
    sections = [Section("In short", [*_lead(parts)])]
    for part in parts:
        lines = [*_lines(part, NextRuns(runs))]
        assumed = [Line(EVIDENCE[part.kind].assumes)] * bool(part.rows)
        sections += [Section(EVIDENCE[part.kind].title, [*lines, *assumed])] * bool(lines)
    rungs = [row for row in report.rows("ladder") if row.factors.get("variant", STANDARD) == STANDARD]
    blind = [row for row in rungs if row.factors.get(RUNG) == NO_PICTURE]
    if seen := [*_needless(blind)]:
        sections.append(Section("Right without the picture", seen))
    names = ", ".join(run.name for run in runs)
    return Memory(f"What models may have known before: {names}", sections, report.of_parts(parts))


def _adjusted(parts: Sequence[TablePart]) -> list[TablePart]:
    """The tables with p adjusted over all that is tested on the page, and no adjusted p of anything else."""
    tested = [(part.kind, place) for part in parts for place, row in enumerate(part.rows) if _is_tested(part, row)]
    by_kind = {part.kind: part.rows for part in parts}
    found = dict(zip(tested, holm([by_kind[kind][place].p for kind, place in tested]), strict=True))
    return [
        replace(
            part,
            rows=[_with_p(row, found.get((part.kind, place))) for place, row in enumerate(part.rows)],
            notes=[note for note in part.notes if not note.startswith(ADJUSTED)],
        )
        for part in parts
    ]


def _with_p(row: Row, p: float | None) -> Row:
    return replace(row, p_adjusted=None if p is None else p_digits(p))


def _is_tested(part: TablePart, row: Row) -> bool:
    """Whether a row is tested; baselines have learned nothing and take no part in the family."""
    return row.quantity == EVIDENCE[part.kind].tested and not _is_baseline(row)


def _is_baseline(row: Row) -> bool:
    return row.factors.get("model", "").startswith("baseline:")


class Evidence(NamedTuple):
    """What one kind of evidence says of a model on a set.

    how: what of the condition is not as usual. row: what is tested. seen: what would mostly show, in words.
    """

    kind: Kind
    how: str
    row: Row
    seen: str

    def named(self, more: str = "") -> str:
        """The kind, and its p."""
        name = ", ".join(filter(None, (self.kind.name, self.how)))
        return f"{name} (p {p_value(self.row.p_adjusted)}{more})"


def _groups(part: TablePart) -> dict[tuple[str, str], dict[str, Row]]:
    """The rows by quantity of each model and set (of several models together for cut-offs), and of each condition by
    what of it is not as usual; with its chain where there are several."""
    found, chains = dict[tuple[str, str], dict[str, Row]](), {row.factors.get("chain", "") for row in part.rows}
    for row in part.rows:
        how = ", ".join([*[row.factors.get("chain", "")] * (len(chains) > 1), *unusual(row.factors)])
        found.setdefault((front_of(row.factors), how), {})[row.quantity] = row
    return found


def _lead(parts: Sequence[TablePart]) -> Iterator[Line]:
    """What the evidence says together of each model, hedged."""
    found = dict[str, list[Evidence]]()
    for part in parts:
        kind = EVIDENCE[part.kind]
        for (who, how), rows in _groups(part).items():
            if not any(map(_is_baseline, rows.values())):
                row, own = rows.get(kind.tested), found.setdefault(who, [])
                own += [Evidence(kind, how, row, _would_show(rows, row))] if row and row.p_adjusted is not None else []
    tests = sum(map(len, found.values()))
    if not tests:
        yield Line(NOTHING)
    told = dict[str, list[str]]()
    for who, own in found.items() if tests else ():
        told.setdefault(_verdict(own), []).append(who)
    yield from (Line(f"{'; '.join(who)}: {verdict}.") for verdict, who in told.items())
    if tests > 1:
        adjusted = f"{ADJUSTED[:1].upper()}{ADJUSTED[1:]} over the {tests} tests of this page"
        yield Line(f"{adjusted}; intervals, and what would mostly show, are those of a test alone.")
    yield Line(WHAT)


def _verdict(own: Sequence[Evidence]) -> str:
    """What is said of a model: each kind that shows something with all that gives it, and every other kind."""
    if not own:
        return "nothing was tested"
    told = [
        f"{one.named()} speak for {', for '.join(one.kind.causes)}, or for chance" for one in own if _shows(one.row)
    ]
    silent = [one.named(f"; {one.seen}") for one in own if not one.row.is_significant]
    below = [one.named() for one in own if one.row.is_significant and not _shows(one.row)]
    against = [f"no significant sign in {', '.join(silent)}"] * bool(silent)
    if below:
        against.append(f"{', '.join(below)} significantly below 0: an assumption does not hold, or it is chance")
    if not told:
        return f"cannot tell: {'; '.join(against)}; a model may remember without a sign"
    return "not every kind of evidence shows a sign: " * bool(against) + "; ".join([*told, *against])


def _shows(row: Row) -> bool:
    return row.is_significant and (row.value or 0.0) > 0


def _would_show(rows: Mapping[str, Row], row: Row) -> str:
    """What a test would mostly show, in words."""
    if WOULD_SHOW in rows:
        seen = rows[WOULD_SHOW].value
        what = f"an order likelier than {percent(seen, None)} % of random ones"
    elif AUC_WOULD_SHOW in rows:
        seen = rows[AUC_WOULD_SHOW].value
        what = f"an AUC of {seen or 1:.2f}"
    elif _is_full(rows, row):
        return FULL
    else:
        seen = _detected(row)
        what = f"{seen or 0:.0f} points"
    return "too little to show anything" if seen is None else f"{what} would mostly show"


def _detected(row: Row) -> float | None:
    """The points that would be found in four of five cases where this alone is tested; None without an interval, or of
    too few questions.

    They follow from the width of the interval. Where hardly any replies differ, it is too narrow to tell: memory that
    is all or nothing for a question shows where FEWEST questions or more are remembered.
    """
    from scipy.special import betaincinv

    if not row.ci95 or row.n < FEWEST:
        return None
    least = float(betaincinv(FEWEST, row.n - FEWEST + 1, MOSTLY))
    return 100 * max(PER_HALF * (row.ci95[1] - row.ci95[0]) / 2, least)


def _is_full(rows: Mapping[str, Row], row: Row) -> bool:
    """Whether so much is there without what memory adds that a difference could hardly show."""
    base = next((rows[name].value for name in BASE_RATES if name in rows), None)
    return base is not None and 100 * (1 - base) < (_detected(row) or 0.0)


def _lines(part: TablePart, further: NextRuns) -> Iterator[Line]:
    """A line or two for each model, or why there is none and what would tell."""
    if not part.rows:
        yield from (Line(f"{note[:1].upper()}{note[1:]}.") for note in part.notes)
        if part.kind == "publishedanswers" and (commands := further.counterfactual()):
            yield Line("A run that could tell:", commands)
        if part.kind in NOT_ASKED:
            text, ask = NOT_ASKED[part.kind]
            yield Line(text, ask(further))
        return
    for named, rows in _groups(part).items():
        yield from LINES[part.kind](", ".join(filter(None, named)), rows)
    yield from (Line(f"{note[:1].upper()}{note[1:]}.") for note in part.notes)


def _published(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    published, beyond = rows[PUBLISHED], rows[BEYOND]
    said = f"{who}: {_share(published)} of answers to changed questions are the published answer"
    if beyond.value is None:
        yield Line(f"{said} ({published.n} questions); {beyond.note}.")
        return
    yield Line(f"{said}, {_share(rows[OTHER])} that of another version: {_points(beyond)}, {_questions(beyond)}.")
    if beyond.left_out:
        more = counted(beyond.left_out, "more question", "has/have")
        yield Line(f"{more} no two changed versions with different answers.")
    if _shows(beyond):
        most = percent(beyond.ci95[1] if beyond.ci95 else beyond.value, None)
        yield Line(
            f"Memory that shows may make up anything from none of this difference to all of it, {most} points at most"
            " (the interval's upper end), and so may what else gives such answers, or chance."
        )
    if beyond.is_significant and beyond.value < 0:
        yield Line("Another version's answer comes more often: something else may draw the model to it.")
    if LOST in rows:
        lost = f"Changed questions score {_points(rows[LOST])} against the published ones"
        yield Line(f"{lost}; in themselves they may be easier or harder.")
    yield from _power(rows, beyond)


def _letters(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    beyond, other = rows[BEYOND], _share(rows[OTHER_LETTER])
    said = f"{who}: where the right option was moved, {_share(rows[KEPT])} of answers name the letter that was right"
    same = f"the same letters are named in {other} of answers where they are wrong now and were wrong before"
    yield Line(f"{said} before; {same}: {_points(beyond)}, {_questions(beyond)}.")
    yield from _power(rows, beyond)


def _needless(rows: Sequence[Row]) -> Iterator[Line]:
    """How many of the standard questions each model has right without their pictures, and how many in every reply."""
    untold = dict[str, str]()
    for row in rows:
        who = row.factors.get("model", "the model")
        if row.quantity == "corrected":
            right = f"{who}: {_share(row)} are right without their pictures, beyond guessing, of {_questions(row)}"
            yield Line(
                f"{right}: known before, looked up by a server, answered by their words or favoured letters, or by"
                " chance."
            )
        elif row.quantity == NEEDLESS and row.value is None:
            untold[who] = row.note
        elif row.quantity == NEEDLESS:
            replies = row.note.partition(";")[2].partition(":")[0].strip()
            yield Line(
                f"{who}: {row.value:.0f} of {row.n} are right in every such reply ({replies}): known before,"
                " looked up by a server, or answered by their words alone."
            )
    yield from (Line(f"{', '.join(untold)}: {note}.") for note in dict.fromkeys(untold.values()))


def _cut_off(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    if between := rows.get(BETWEEN):
        if between.value is None:
            yield Line(f"{who}: {between.note}.")
            return
        said = f"up to its own cut-off a model scores {_points(between)} beside the others and its own trend"
        yield Line(f"{who}: {said}, {_questions(between)}.")
        yield from _power(rows, between)
    elif (alone := rows.get(BREAK)) is not None:
        if alone.value is None:
            yield Line(f"{who}: {alone.note}.")
            return
        placebo = rows[PLACEBO]
        others = f"{placebo.value:.0f} of {placebo.n} placebo cut-offs show as much" if placebo.n else NO_PLACEBO
        told = f"{percent(alone.value, alone.ci95, sign='+')} points up to the cut-off beside a trend over years"
        yield Line(f"{who}: {told}; {others}; {alone.note}.")


def _order(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    beaten = rows[BEATEN]
    if beaten.value is None:
        yield Line(f"{who}: no block of questions was weighed in all of its orders: ask again.")
        return
    left_out = f" ({beaten.left_out} more lack an order: ask again)" if beaten.left_out else ""
    said = f"{who}: the published order is likelier than {_share(beaten)} of random ones{_p(beaten)}"
    yield Line(f"{said}, {beaten.n} blocks of questions{left_out}.")
    if beaten.note:
        yield Line(f"{beaten.note[:1].upper()}{beaten.note[1:]}.")
    if beyond := rows.get(BEYOND_OLDER):
        yield Line(
            f"That is {_points(beyond)} beside models that are older than the set; a model that makes more use of"
            " the questions before one shows the same."
        )
    if WOULD_SHOW in rows:
        seen = rows[WOULD_SHOW].value
        enough = f"Tested alone, an order that is likelier than {percent(seen, None)} % of random ones {FOUND}."
        yield Line("Too few blocks to test." if seen is None else enough)


def _recalled(who: str, rows: dict[str, Row], sides: tuple[str, str], what: str) -> Iterator[Line]:
    """What a model says of hidden parts on two sides, named in words, and how many of them are word for word."""
    difference = rows[DIFFERENCE]
    notes = [Line(f"{difference.note[:1].upper()}{difference.note[1:]}.")] * bool(difference.note)
    if difference.value is None:
        yield from (Line(f"{who}: no question has usable replies to both requests."), *notes)
        return
    first, second = (_share(rows[side]) for side in sides)
    found = f"{_points(difference)}, {_questions(difference)}"
    yield Line(f"{who}: {what}, {sides[0]} {first}, {sides[1]} {second}: {found}.")
    counts = [(side, row) for side in sides if (row := rows.get(word_for_word(side)))]
    if counts:
        told = ", ".join(f"{side} {row.value:.0f} of {row.n}" for side, row in counts)
        yield Line(f"Word for word or nearly so: {told}.")
    yield from notes
    if difference.p_adjusted is not None or "this cannot tell" not in difference.note:
        yield from _power(rows, difference)


HALVES = "share of the second half that replies repeat, less what they repeat of the second halves of others"


def _completions(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    yield from _recalled(who, rows, (NAMED, NOT_NAMED), HALVES)


def _paraphrased(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    yield from _recalled(who, rows, (PUBLISHED_WORDING, REWORDED), HALVES)


def _options(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    yield from _recalled(who, rows, (NAMED, NOT_NAMED), "share of masked options that replies name")


def _members(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    auc, blind = rows[AUC], rows[BLIND]
    published, held_out = (rows[quantity].n for quantity in MEANS)
    left_out = f" ({auc.left_out} more have no score: ask again)" if auc.left_out else ""
    said = f"{who}: a published question has a higher {auc.method.partition(';')[0]} score than a held-out one in"
    found = f"{who}: no AUC" if auc.value is None else f"{said} {_auc(auc)} of pairs (AUC){_p(auc)}"
    yield Line(f"{found}, {published} published and {held_out} held-out questions{left_out}.")
    if auc.note:
        yield Line(f"{auc.note[:1].upper()}{auc.note[1:]}.")
    seen = rows[BLIND_WOULD_SHOW].value
    least = "these are too few questions for it" if seen is None else f"tested alone, {seen:.2f} {FOUND}"
    yield Line(f"A classifier that sees the words alone: AUC {_auc(blind)}; {least}.")
    if AUC_WOULD_SHOW in rows:
        seen = rows[AUC_WOULD_SHOW].value
        enough = f"Tested alone, an AUC of {seen or 1:.2f} {FOUND}; with more questions, a smaller one."
        yield Line(TOO_FEW if seen is None else enough)


LINES = {
    "publishedanswers": _published,
    "publishedletters": _letters,
    "cutoffs": _cut_off,
    "questionorder": _order,
    "completions": _completions,
    "paraphrasedcompletions": _paraphrased,
    "maskedoptions": _options,
    "membership": _members,
}
"""Of each kind of evidence what is said of a model."""


def _power(rows: Mapping[str, Row], row: Row) -> Iterator[Line]:
    """What would show, or what is odd about a difference that no memory makes."""
    seen = _detected(row)
    if row.is_significant and not _shows(row):
        odd = "This difference between the two shares is below 0: an assumption does not hold, or it is chance"
        yield Line(f"{odd}; memory may be hidden behind that.")
    elif seen is None or row.p is None:
        yield Line(TOO_FEW)
    elif _is_full(rows, row):
        yield Line(f"{FULL[:1].upper()}{FULL[1:]}.")
    else:
        yield Line(f"Tested alone, {counted(round(seen), 'point')} {FOUND}.")


def _auc(row: Row) -> str:
    return number(row.value, row.unit, row.ci95)


def _share(row: Row) -> str:
    return f"{percent(row.value, row.ci95)} %"


def _points(row: Row) -> str:
    return f"{percent(row.value, row.ci95, sign='+')} points{_p(row)}"


def _p(row: Row) -> str:
    return "" if row.p_adjusted is None else f", p {p_value(row.p_adjusted)}"


def _questions(row: Row) -> str:
    return counted(row.n, "question")
