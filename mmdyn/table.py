"""Declarations of tables: what to count, by what, over which records. `mmdyn/tables` carries them out.

A factor is a part of a condition (variant, chain, context, style, mode), `model`, `set`, `run`, `draw`, `epoch`, a
field of the sample, or a property of the sample or the reply that `mmdyn/tables` knows (options, answer_position,
response_tokens, …).
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

Where: TypeAlias = dict[str, tuple[str, ...]]
"""The records that count: for each factor the values that it may have."""


class Pivot(Struct, frozen=True, kw_only=True):
    """A measure by one to three factors, with totals.

    by: the factors, the last one across. measure: a name that `mmdyn/tables` knows, such as score or response_tokens.
    macro: factors over which a mean of the cells' means is added, every cell weighing the same; of one that is not in
        `by` that mean and the total are shown, and not its values.
    """

    by: tuple[str, ...]
    measure: str = "score"
    macro: tuple[str, ...] = ()
    where: Where = {}
    title: str = ""

    @property
    def axes(self) -> tuple[str, ...]:
        """The factors of `by`, then those of `macro` that are not among them."""
        return tuple(dict.fromkeys((*self.by, *self.macro)))


class Paired(Struct, frozen=True):
    """Two values of a factor over the same questions, pair by pair: b - a, for every combination of `by`.

    pair: by what two records are a pair: `parent`, or `group` where the questions differ but stand for each other, such
        as one question in two languages.
    """

    factor: str
    a: str
    b: str
    by: tuple[str, ...] = ("model",)
    pair: str = "parent"
    measure: str = "score"
    where: Where = {}
    title: str = ""


class Gap(Struct, frozen=True):
    """Two groups of different questions under one condition: b - a, for every combination of `by`.

    `a` and `b` are values of the factor; `first` and `last` stand for the ends of an ordered one.
    """

    factor: str
    a: str
    b: str
    by: tuple[str, ...] = ("model",)
    measure: str = "score"
    where: Where = {}
    title: str = ""


class Trend(Struct, frozen=True):
    """How a measure goes with a factor whose values are numbers: slope, interval and test, for every combination of
    `by`."""

    factor: str
    by: tuple[str, ...] = ("model",)
    measure: str = "score"
    where: Where = {}
    title: str = ""


class Spread(Struct, frozen=True, kw_only=True):
    """How far a measure varies over a factor's values: range, standard deviation, and a test that all are equal."""

    factor: str
    by: tuple[str, ...] = ("model",)
    measure: str = "score"
    where: Where = {}
    title: str = ""


class Ranking(Struct, frozen=True, kw_only=True):
    """How steady the models' order is over a factor's values (seeds, sets): Kendall's tau with interval, reversals."""

    over: str
    measure: str = "score"
    where: Where = {}
    title: str = ""


class Leaderboard(Struct, frozen=True, kw_only=True):
    """Models by their mean over columns, plain and weighted, with intervals; models not told apart share a rank.

    groups: names of groups of columns, each with a mean of its own. `exam:2` weighs twice what `quiz` does.
    partial: whether groups may name columns that no record has; they are noted.
    """

    columns: str = "set"
    groups: dict[str, tuple[str, ...]] = {}
    partial: bool = False
    measure: str = "score"
    where: Where = {}
    title: str = ""


class Analysis(Struct, frozen=True, kw_only=True):
    """Why a score changed, for every combination of `by`: over whole conditions of the same parents."""

    by: tuple[str, ...] = ("model",)
    where: Where = {}
    title: str = ""


class Attribution(Analysis, frozen=True, kw_only=True):
    """How much of the drop each operator of a factorial set takes: Shapley values and pairwise interactions, over the
    parents that have every form. gee: a clustered regression beside them."""

    gee: bool = False


class Noise(Analysis, frozen=True, kw_only=True):
    """What chains flip beyond what asking the same question again flips; mean, worst and best of several draws."""


class Ladder(Analysis, frozen=True, kw_only=True):
    """What wrong answers lack, seeing, knowing or reasoning, by what a picture's caption, knowledge and hints mend."""


class Curves(Analysis, frozen=True, kw_only=True):
    """The score along the doses of an operator that a set holds at several severities."""


class Whole(Struct, frozen=True, kw_only=True):
    """A table about every condition of every model on every set, whose rows name all of these."""

    where: Where = {}
    title: str = ""


class Scores(Whole, frozen=True, kw_only=True):
    """The score of every condition, and over all chains: as it is, what guessing earns, corrected for that, and the
    share that was not read; by a field where one is named."""

    by: str = ""


class Contrasts(Whole, frozen=True, kw_only=True):
    """Every two conditions that differ in one factor, over the questions that both have; of these `factors` alone where
    some are named, by a field where one is."""

    factors: tuple[str, ...] = ()
    by: str = ""


class FieldTests(Whole, frozen=True, kw_only=True):
    """Whether the change from standard to dynamic, over all chains, differs between the values of each field."""


class Position(Whole, frozen=True, kw_only=True):
    """Whether each model's score goes with the position of the right option: by position, on standard questions and on
    those whose options were moved."""


class AnswerKeys(Whole, frozen=True, kw_only=True):
    """What a guesser could use in each set: how right answers are spread over positions, the share of true claims, and
    option texts that are never right."""


class Flips(Whole, frozen=True, kw_only=True):
    """The questions that each chain turned from right to wrong or back: one for a question and chain, whatever the
    number of draws."""


class Repeats(Whole, frozen=True, kw_only=True):
    """What k tries at a question are worth (pass@k, majority@k, worst@k, consistency), over epochs and over draws; for
    1 and as many as there are where no k is named."""

    k: tuple[int, ...] = ()


class Auc(Whole, frozen=True, kw_only=True):
    """How well the options' likelihoods tell right from wrong."""


class Corrected(Whole, frozen=True, kw_only=True):
    """Scores corrected for the scorer's errors: by `rogan-gladen`, or by `ppi++` with a file of people's marks."""

    method: str
    labels: str = ""


class Judged(Whole, frozen=True, kw_only=True):
    """Of judged runs the scores by rules alone, by each judge alone, and by both together."""


class Dimensions(Whole, frozen=True, kw_only=True):
    """Of judges whose rubric rates several dimensions, such as `quality`, the mean rating on each."""


class Metrics(Whole, frozen=True, kw_only=True):
    """The scores in force of every condition, and beside them those by other metrics of the same replies."""


class Strengths(Whole, frozen=True, kw_only=True):
    """How far the variants of each chain are from their parents."""


class MeaningJudges(Whole, frozen=True, kw_only=True):
    """Who judged the variants of each dynamic set, and how well that judge is known to tell changed questions from kept
    ones."""


class ErrorKinds(Whole, frozen=True, kw_only=True):
    """The share of each kind of error among a model's wrong answers, as `mmdyn errors` labelled them; in all, and for
    each value of each name in `by`. judge: only the labels of the judge of this id. silent: say nothing where none is
    labelled."""

    by: tuple[str, ...] = ()
    judge: str = ""
    silent: bool = False


class ErrorCounts(Whole, frozen=True, kw_only=True):
    """How many answers of a model are wrong, and what is known of these without a judge; in all, and for each value of
    each name in `by`."""

    by: tuple[str, ...] = ()


class PublishedAnswers(Whole, frozen=True, kw_only=True):
    """How often counterfactual variants get the published question's answer, beside how often one of them gets the
    answer of another."""


class PublishedLetters(Whole, frozen=True, kw_only=True):
    """How often variants whose right option was moved get the letter that was right in the published question, beside
    how often the same letters are named where they are wrong and were so before."""


class CutOffs(Whole, frozen=True, kw_only=True):
    """Whether scores break at a model's cut-off: questions of the years up to it (field `year`) against later ones,
    where `--models` has a column `cutoff`."""


class QuestionOrder(Whole, frozen=True, kw_only=True):
    """How often a model finds a set's published order of questions likelier than random ones, as `mmdyn probe` asked
    it."""


class Completions(Whole, frozen=True, kw_only=True):
    """How well a model goes on with the first half of a question, with the set named and not, as `mmdyn probe` asked
    it."""


class ParaphrasedCompletions(Whole, frozen=True, kw_only=True):
    """The same of the published wording, and of the question in other words."""


class MaskedOptions(Whole, frozen=True, kw_only=True):
    """How often a model names a wrong option that was masked, with the set named and not, as `mmdyn probe` asked it."""


class Membership(Whole, frozen=True, kw_only=True):
    """How often a model finds a published question likelier than a held-out one, by its least likely tokens, as `mmdyn
    probe` asked it, beside what the words alone tell."""


Part: TypeAlias = Pivot | Paired | Gap | Trend | Spread | Ranking | Leaderboard | Analysis | Whole


class NamedTable(Struct, frozen=True, kw_only=True):
    """A table or figure of a paper, asked for as `BENCHMARK.NAME`, such as mdk12.table3.

    The paper's own numbers, where its text has them, lie in mmdyn/benchmarks/published/BENCHMARK.NAME.csv.
    """

    name: str
    title: str
    parts: tuple[Part, ...]

    @staticmethod
    def of(name: str, title: str, *parts: Part) -> NamedTable:
        """The table of these parts."""
        return NamedTable(name=name, title=title, parts=parts)

    def narrowed(self, where: Where) -> NamedTable:
        """The same of fewer records."""
        parts = [replace(part, where=part.where | _both(part.where, where)) for part in self.parts]
        return replace(self, parts=tuple(parts))


def _both(one: Where, other: Where) -> Where:
    """The second, less the values that the first does not have."""
    return {name: tuple(value for value in values if value in one.get(name, values)) for name, values in other.items()}
