"""A page on what a model may have known before: each kind of evidence with what it assumes and could have seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

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
from mmdyn.tables.factors import RUNG, front_of
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

SEEN = 10.0
"""A kind of evidence could have seen much where it would show so many points in four of five cases."""

PER_HALF = 2.8 / 1.96
"""The effect that is seen in four of five cases, in halves of the interval's width (the normal quantiles of 97.5 and
80 %)."""

NOT_ASKED: dict[str, tuple[str, Callable[[NextRuns], list[str]]]] = {
    "questionorder": (
        "No order of questions was weighed. It tells only of a set whose maker says that its order is random"
        " (`--is-random SET`), and of models that tell log-probabilities (hf:, vllm:, completions:).",
        lambda further: further.probe("order", weighing=True),
    ),
    "completions": (
        "No model was asked to go on with the first half of a question. Any model can be.",
        lambda further: further.probe("completion"),
    ),
    "paraphrasedcompletions": (
        "No question was completed in other words. That takes a run with paraphrases by a model.",
        lambda further: further.reworded(),
    ),
    "maskedoptions": (
        "No model was asked for a wrong option that was masked. Any model can be, where ten questions or more have one"
        " that cannot be guessed.",
        lambda further: further.probe("options"),
    ),
    "membership": (
        "No question was scored by its tokens. That tells only of a set of which a part was held out at random"
        " (`--drawn-at-random`), and of models that tell log-probabilities (hf:, vllm:, completions:).",
        lambda further: further.probe("members", "--published", "FIELD=VALUE", weighing=True),
    ),
}
"""What is said of a kind that models were not asked for, and the commands that ask for it."""

CACHE = "a server that takes a changed question for the published one, as some caches do"
NAME_ADDS_NOTHING = "the set's name adds nothing, which says nothing of what is known without it"
NO_PLACEBO = "no other year could stand for a placebo"

WHAT = "None of this is proof. It shows what a model said; what it was trained on, only its maker can show."


class Kind(Struct, frozen=True):
    """A kind of evidence: its title and name, the quantity that is tested (p is adjusted by Holm over the page), what
    else but chance explains a positive one, what it assumes, and why a small one says nothing, where that is so."""

    title: str
    name: str
    tested: str
    otherwise: tuple[str, ...]
    assumes: str
    silence: str = ""


KINDS = {
    "publishedanswers": Kind(
        "Published answers to changed questions",
        "changed questions",
        BEYOND,
        ("inattention to the change", "answers that anybody would expect", CACHE),
        "Assumes that the published version is one among its changed versions, neither easier nor the one that anybody"
        " would expect; answers are compared with others at the same letters. Memory and inattention to what was"
        " changed give the same answers, and a model that remembers but reads with care shows nothing: the numbers are"
        " bounds.",
    ),
    "publishedletters": Kind(
        "Published letters of options that were moved",
        "moved options",
        BEYOND,
        ("a habit of letters that goes with the source of a question", CACHE),
        "Assumes that without memory a wrong letter is named as often where it was right before as where it was not: a"
        " favourite letter does no harm, but a model that favours an author's letter in this author's questions alone"
        " would seem to remember. It tells of letters that were learned, not where from, and nothing of answers that"
        " were learned in words.",
    ),
    "cutoffs": Kind(
        "Scores up to a cut-off, and after it",
        "the cut-offs",
        BETWEEN,
        ("what makes newer questions harder for some models more than for others",),
        "Assumes that what makes newer questions harder costs all models as many points, but for a trend of each; that"
        " years and cut-offs are right; and that nothing of later questions was known. Where questions get much harder"
        " at a cut-off and models differ much in their scores, it cannot tell.",
    ),
    "questionorder": Kind(
        "Order of the questions",
        "orders of the questions",
        BEATEN,
        ("an order that is not random",),
        "Assumes that the set has the order of the published file, and that its maker made this order random, as"
        " `--is-random` declares: the share is then 50 % but for chance, and else it is not. It finds the order"
        " of this file. Copies in another order leave no such trace, so that a model that shows nothing may know every"
        " question.",
        silence="no sign of the published order, which says nothing of copies in another order",
    ),
    "completions": Kind(
        "Second halves of questions, with the set named and not",
        "completions with the set named",
        DIFFERENCE,
        ("how such a set words its questions",),
        "Each reply counts beyond what it shares with other questions of the set, which takes off style and common"
        " endings. Assumes that a set's name helps with a question no more than with others, unless the question is"
        " known. A model that goes on word for word without the name, too, shows nothing here: whether anybody would go"
        " on so, other words of the same questions tell.",
        silence=NAME_ADDS_NOTHING,
    ),
    "paraphrasedcompletions": Kind(
        "Second halves of questions, in the published words and in others",
        "completions of the published words",
        DIFFERENCE,
        ("published words that come more easily than the other ones",),
        "Assumes that without memory the published words are as easy to go on with as those that a model found for the"
        " same question. Passages that stand elsewhere, such as poems and laws, are known from there.",
        silence="the published words come no more easily than others, which says nothing of questions that are known"
        " otherwise than word for word",
    ),
    "maskedoptions": Kind(
        "Wrong options that were masked",
        "masked options with the set named",
        DIFFERENCE,
        ("which wrong options such a set tends to have",),
        "Assumes that a set's name does not help to guess its wrong options, unless they are known. What is named"
        " without it has no base rate: many wrong options are what anybody would think of.",
        silence=NAME_ADDS_NOTHING,
    ),
    "membership": Kind(
        "Membership scores",
        "scores of tokens",
        AUC,
        ("a held-out part that was not drawn at random",),
        "Assumes that the held-out questions were drawn at random, one by one, from the same set, and were never"
        " published, as `--drawn-at-random` declares. A score is the mean over the least likely fifth of a question's"
        " tokens, weighed by itself without a chat template. Most text that was read once or twice leaves no trace in"
        " such scores, so that a model that shows nothing may have read every question.",
        silence="no sign of it in the scores of tokens, where what was read once or twice leaves mostly none",
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
    parts = _adjusted([part for part in report.parts if part.kind in KINDS])
    tested = [(KINDS[part.kind], row) for part in parts for row in part.rows if row.p_adjusted is not None]
    sections = [Section("In short", [*_lead(tested)])]
    for part in parts:
        lines = [*_lines(part, NextRuns(runs))]
        assumed = [Line(KINDS[part.kind].assumes)] * bool(part.rows)
        sections += [Section(KINDS[part.kind].title, [*lines, *assumed])] * bool(lines)
    rungs = [row for row in report.rows("ladder") if row.factors.get("variant", STANDARD) == STANDARD]
    blind = [row for row in rungs if row.factors.get(RUNG) == NO_PICTURE]
    if seen := [*_needless(blind)]:
        sections.append(Section("Right without the picture", seen))
    names = ", ".join(run.name for run in runs)
    return Memory(f"What was known before: {names}", sections, report.of_parts(parts))


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
    return row.quantity == KINDS[part.kind].tested and not row.factors.get("model", "").startswith("baseline:")


def _lead(tested: Sequence[tuple[Kind, Row]]) -> Iterator[Line]:
    """What the evidence says together of each model, hedged; cut-offs are about several models at once.

    tested: rows with the kinds of evidence that they are of.
    """
    if not tested:
        yield Line("Nothing here can tell: no kind of evidence has the answers that it needs.")
    by_who = dict[str, list[tuple[Kind, Row]]]()
    for kind, row in tested:
        by_who.setdefault(front_of(row.factors), []).append((kind, row))
    told = dict[str, list[str]]()
    for who, own in by_who.items():
        shown = [kind for kind, row in own if _shows(row)]
        telling = [(kind, row) for kind, row in own if not kind.silence]
        silent = [kind.name for kind, row in telling if not row.is_significant and (_detected(row) or 100) <= SEEN]
        below = [kind.name for kind, row in telling if row.is_significant and not _shows(row)]
        signs = {
            f"no significant sign where {SEEN:.0f} points would mostly show": silent,
            "significantly below 0, so that an assumption does not hold": below,
        }
        against = "; ".join(f"{said} ({', '.join(names)})" for said, names in signs.items() if names)
        if shown:
            causes = dict.fromkeys(
                ["having seen what was published", *(one for kind in shown for one in kind.otherwise)]
            )
            verdict = f"hard to explain but by {', by '.join(causes)}, or by chance ({_named(own)})"
            verdict = f"the evidence disagrees: {verdict}; {against}" if against else verdict
        elif against:
            verdict = f"cannot tell: {against}; a model may remember without such a sign"
        elif telling:
            verdict = f"cannot tell: only more than {SEEN:.0f} points would mostly show"
        else:
            verdict = f"cannot tell: {'; '.join(dict.fromkeys(kind.silence for kind, _ in own))}"
        told.setdefault(verdict, []).append(who)
    yield from (Line(f"{'; '.join(who)}: {verdict}.") for verdict, who in told.items())
    if len(tested) > 1:
        yield Line(f"{ADJUSTED[:1].upper()}{ADJUSTED[1:]} over the {len(tested)} tests of this page.")
    yield Line(WHAT)


def _named(tested: Sequence[tuple[Kind, Row]]) -> str:
    """The kinds of evidence that show something, each with its p."""
    return "; ".join(f"{kind.name}, adjusted p {p_value(row.p_adjusted)}" for kind, row in tested if _shows(row))


def _shows(row: Row) -> bool:
    return row.is_significant and (row.value or 0.0) > 0


def _detected(row: Row) -> float | None:
    """The points that would be seen in four of five cases; None without an interval."""
    return 100 * PER_HALF * (row.ci95[1] - row.ci95[0]) / 2 if row.ci95 else None


def _lines(part: TablePart, further: NextRuns) -> Iterator[Line]:
    """A line or two for each model, or why there is none and what would tell."""
    if not part.rows:
        yield from (Line(f"{note[:1].upper()}{note[1:]}.") for note in part.notes)
        if part.kind == "publishedanswers" and (commands := further.counterfactual()):
            yield Line("The run that would tell:", commands)
        if part.kind in NOT_ASKED:
            text, ask = NOT_ASKED[part.kind]
            yield Line(text, ask(further))
        return
    by_who = dict[str, dict[str, Row]]()
    for row in part.rows:
        by_who.setdefault(front_of(row.factors), {})[row.quantity] = row
    for who, rows in by_who.items():
        yield from LINES[part.kind](who, rows)
    yield from (Line(f"{note[:1].upper()}{note[1:]}.") for note in part.notes)


def _published(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    published, beyond = rows[PUBLISHED], rows[BEYOND]
    said = f"{who}: {_share(published)} of answers to changed questions are the published answer"
    if beyond.value is None:
        yield Line(f"{said} ({published.n} questions); {beyond.note}.")
        return
    yield Line(f"{said}, {_share(rows[OTHER])} that of another version: {_points(beyond)}, {beyond.n} questions.")
    if beyond.left_out:
        yield Line(f"{beyond.left_out} more questions have no two changed versions with different answers.")
    if _shows(beyond):
        most = percent(beyond.ci95[1] if beyond.ci95 else beyond.value, None)
        yield Line(
            f"Memory may be behind 0 to {most} points, and inattention to the change, or answers that anybody would"
            " expect, behind the rest: these answers do not tell them apart."
        )
    if beyond.is_significant and beyond.value < 0:
        yield Line("Another version's answer comes more often: that version may be what the model knows, or expects.")
    if LOST in rows:
        lost = _points(rows[LOST])
        yield Line(f"The score is {lost} beside that of the published questions, which may be easier or harder.")
    yield from _power(beyond)


def _letters(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    beyond, other = rows[BEYOND], _share(rows[OTHER_LETTER])
    said = f"{who}: where the right option was moved, {_share(rows[KEPT])} of answers name the letter that was right"
    same = f"of answers to questions in which these letters are wrong, and were wrong before, {other} name them"
    yield Line(f"{said} before; {same}: {_points(beyond)}, {beyond.n} questions.")
    yield from _power(beyond)


def _needless(rows: Sequence[Row]) -> Iterator[Line]:
    """How many of the standard questions each model has right without their pictures, and how many in every reply."""
    untold = dict[str, str]()
    for row in rows:
        who = row.factors.get("model", "the model")
        if row.quantity == "corrected":
            yield Line(f"{who}: {_share(row)} are right without their pictures, beyond guessing, of {row.n} questions.")
        elif row.quantity == NEEDLESS and row.value is None:
            untold[who] = row.note
        elif row.quantity == NEEDLESS:
            counted = row.note.partition(";")[2].partition(":")[0].strip()
            yield Line(
                f"{who}: {row.value:.0f} of {row.n} are right in every such reply ({counted}): known before, or"
                " answered by their words alone."
            )
    yield from (Line(f"{', '.join(untold)}: {note}.") for note in dict.fromkeys(untold.values()))


def _cut_off(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    if between := rows.get(BETWEEN):
        if between.value is None:
            yield Line(f"{who}: {between.note}.")
            return
        said = f"up to its own cut-off a model scores {_points(between)} beside the others and its own trend"
        yield Line(f"{who}: {said}, {between.n} questions.")
        yield from _power(between)
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
    p = "" if beaten.p_adjusted is None else f", adjusted p {p_value(beaten.p_adjusted)}"
    left_out = f" ({beaten.left_out} more lack an order: ask again)" if beaten.left_out else ""
    said = f"{who}: the published order is likelier than {_share(beaten)} of random ones{p}"
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
        enough = f"An order that is likelier than {percent(seen, None)} % of them would show in four of five cases."
        yield Line("Too few blocks to test." if seen is None else enough)


def _recalled(who: str, rows: dict[str, Row], sides: tuple[str, str], what: str) -> Iterator[Line]:
    """What a model says of hidden parts on two sides, named in words, and how many of them are word for word."""
    difference = rows[DIFFERENCE]
    notes = [Line(f"{difference.note[:1].upper()}{difference.note[1:]}.")] * bool(difference.note)
    if difference.value is None:
        yield from (Line(f"{who}: no reply to both of two requests can be used."), *notes)
        return
    first, second = (_share(rows[side]) for side in sides)
    yield Line(
        f"{who}: {what}, {sides[0]} {first}, {sides[1]} {second}: {_points(difference)}, {difference.n} questions."
    )
    counts = [(side, row) for side in sides if (row := rows.get(word_for_word(side)))]
    if counts:
        told = ", ".join(f"{side} {row.value:.0f} of {row.n}" for side, row in counts)
        yield Line(f"Word for word or nearly so: {told}.")
    yield from notes
    if difference.p_adjusted is not None:
        yield from _power(difference)


HALVES = "words of the second half that a reply has, less what it has of other questions' second halves"


def _completions(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    yield from _recalled(who, rows, (NAMED, NOT_NAMED), HALVES)


def _paraphrased(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    yield from _recalled(who, rows, (PUBLISHED_WORDING, REWORDED), HALVES)


def _options(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    yield from _recalled(who, rows, (NAMED, NOT_NAMED), "wrong options named")


def _members(who: str, rows: dict[str, Row]) -> Iterator[Line]:
    auc, blind = rows[AUC], rows[BLIND]
    published, held_out = (rows[quantity].n for quantity in MEANS)
    p = "" if auc.p_adjusted is None else f", adjusted p {p_value(auc.p_adjusted)}"
    left_out = f" ({auc.left_out} more have no score: ask again)" if auc.left_out else ""
    said = f"{who}: a published question has a higher {auc.method.partition(';')[0]} score than a held-out one in"
    found = f"{who}: no AUC" if auc.value is None else f"{said} {_auc(auc)} of pairs (AUC){p}"
    yield Line(f"{found}, {published} published and {held_out} held-out questions{left_out}.")
    if auc.note:
        yield Line(f"{auc.note[:1].upper()}{auc.note[1:]}.")
    seen = rows[BLIND_WOULD_SHOW].value
    least = "these are too few questions for it" if seen is None else f"{seen:.2f} would show in four of five cases"
    yield Line(f"A classifier that sees the words alone: AUC {_auc(blind)}; {least}.")
    if AUC_WOULD_SHOW in rows:
        seen = rows[AUC_WOULD_SHOW].value
        enough = f"An AUC of {seen or 1:.2f} would show in four of five cases; with more questions, a smaller one."
        yield Line("Too few questions to test." if seen is None else enough)


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


def _power(row: Row) -> Iterator[Line]:
    """What would show, and what is odd about a difference that no memory makes."""
    seen = _detected(row)
    if row.is_significant and not _shows(row):
        yield Line("It is below 0: an assumption does not hold, and memory may be hidden behind that.")
    yield Line("Too few questions to test." if seen is None else f"{seen:.0f} points would show in four of five cases.")


def _auc(row: Row) -> str:
    return number(row.value, row.unit, row.ci95)


def _share(row: Row) -> str:
    return f"{percent(row.value, row.ci95)} %"


def _points(row: Row) -> str:
    p = "" if row.p_adjusted is None else f", adjusted p {p_value(row.p_adjusted)}"
    return f"{percent(row.value, row.ci95, sign='+')} points{p}"
