"""Scores by rules: credit under a policy or metric, the chance level, and how sure a reading is.

The chance level of a sample under a scoring policy.

The guesser is `baseline:random`. It picks any option of a single choice; in a multi-select it tosses a coin for each
option, and picks any one if none is chosen; it picks True or False. It never hits a blank or an open answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import comb
from statistics import fmean

from msgspec.structs import replace

from mmdyn import equal
from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.plugins import attribute, load, resolve
from mmdyn.record import Reply, Score
from mmdyn.sample import Answer, Match, Sample
from mmdyn.scoring.extract import CONFIDENCE, Extraction, Whole, extract
from mmdyn.scoring.metrics._metric import Metric, credit_by_metric
from mmdyn.scoring.policies._policy import Policy
from mmdyn.text import followed, need_packages


def chance_of(policy: Policy, sample: Sample) -> float:
    """The expected credit of a guess at the sample, in [0, 1]."""
    chance = sample.kind.chance
    if isinstance(chance, float):
        return chance
    return float(attribute(chance, f"the chance of {sample.task_type}")(policy, sample))


def chance_of_choice(policy: Policy, sample: Sample) -> float:
    """The expected credit of a guess at a choice. Options that stand in a picture count by their labels."""
    assert isinstance(sample.answer, tuple)
    several, each = sample.kind.several, sample.match.each
    return _mean_credit(type(policy), len(sample.labels), len(sample.answer), several=several, each=each)


@cache
def _mean_credit(policy: type[Policy], options: int, right: int, *, several: bool, each: bool) -> float:
    """The mean credit over all guesses; with `several`, summed over the counts of right and wrong picks."""
    labels = [str(number) for number in range(options)]
    choice = partial(_share_judged_right, options) if several and each else policy().choice
    hits, misses, gold = labels[:right], labels[right:], frozenset(labels[:right])
    one = fmean(choice(frozenset([label]), gold) for label in labels)
    if not several:
        return one
    some = sum(
        comb(len(hits), hit) * comb(len(misses), miss) * choice(frozenset(hits[:hit] + misses[:miss]), gold)
        for hit in range(len(hits) + 1)
        for miss in range(len(misses) + 1)
        if hit or miss
    )
    return (some + one) / float(2**options)


UNSURE = 0.9
"""A reading below this confidence needs a judge, right or wrong. Confidences are by rule (docs/scoring.md): rules that
take a reply's last words, or all of it, for the answer lie below it. What was not read has none."""

WITHHELD = "withheld"
"""The rule of a reply that was refused or withheld, by its finish reason."""

SETTLED = ("empty", WITHHELD)
"""Rules that leave a judge nothing to look at: such an answer scores 0."""


def needs_judge(extraction: Extraction, *, lower_bound: bool) -> bool:
    """Whether a judge is needed: the rules' value is a lower bound, or no answer was read, or not surely."""
    return extraction.rule not in SETTLED and (lower_bound or extraction.confidence < UNSURE)


KEPT = 2_000
"""How many characters of an answer a score keeps."""

SCORING_VERSION = 10
"""Counted up when a change of the rules may change a score or its details, so that scores of two versions can stand
side by side."""

Credit = tuple[float, tuple[float, ...], bool]
"""The value in [0, 1]; for multi-select and blanks what each right option or blank earned (1 or 0), for instructions
whether each is followed (1: strictly, 0.5: loosely, 0: not); whether a judge may raise it, as an answer in other words
may mean the same."""


class Scorer:
    """Scores by rules alone: by a policy, or by a metric that compares texts (`compares`), whose scores never need a
    judge.

    `policy` is the full name of the policy or metric; `name` adds the version of the rules, such as mdk12@10 or
    metric.rouge_l@10. Raises PluginError, and MissingExtra for a metric whose library is not installed.
    """

    def __init__(self, policy: str = "mdk12") -> None:
        self.policy = resolve("scorers", policy)
        self.name = f"{self.policy}@{SCORING_VERSION}"
        plugin: Policy | Metric = load("scorers", self.policy)()
        self.compares, self._whole = isinstance(plugin, Metric), isinstance(plugin, Metric) and plugin.whole
        self._credits = None if isinstance(plugin, Metric) else plugin
        self._weight: Callable[[Sample], float]
        if isinstance(plugin, Metric):
            self._weight, self._credit = _even, partial(_credit_by_metric, plugin)
        else:
            self._weight, self._credit = plugin.weight, partial(_credit_by_policy, plugin)

    def score(self, sample: Sample, reply: Reply) -> Score:
        """The score of a reply. One that never came (`reply.error`) is `failed` and has no value; an unread one scores
        0."""
        if reply.error:
            return Score("failed", None, rule="failed", weight=self._weight(sample), chance=self.chance(sample))
        return self.credit(sample, self.extract(sample, reply))

    def chance(self, sample: Sample) -> float:
        """The chance level of the sample, in [0, 1] (`chance_of`); 0 for a metric."""
        return chance_of(self._credits, sample) if self._credits else 0.0

    def extract(self, sample: Sample, reply: Reply) -> Extraction:
        """The reply's answer; none if the server says that it was refused or withheld.

        Of the gold answer, only the number of blanks is used.
        """
        if declined(reply):
            return Extraction(None, "refused", WITHHELD)
        extraction = extract(
            sample.task_type,
            reply.text,
            question=sample.question,
            labels=sample.labels,
            option_texts=tuple(option.text for option in sample.options),
            language=sample.language,
            blanks=len(sample.answer) if isinstance(sample.answer, tuple) else 1,
            truncated=reply.finish_reason == "length",
        )
        whole = extraction.whole if self._whole else None
        return _taking(extraction, whole) if whole else extraction

    def fits(self, sample: Sample) -> bool:
        """Whether a sample can be scored; a metric needs an answer that is a text."""
        return not self.compares or sample.kind.is_text

    def check(self, sample: Sample) -> None:
        """Raise UserError for a sample that a metric cannot score, because its answer is no text; MissingExtra where a
        package is not installed that its instructions need."""
        if not self.fits(sample):
            raise UserError(
                f"{self.policy} compares texts, and {sample.id} is a {sample.task_type}: score it by a"
                " policy, such as --policy strict"
            )
        need_packages(sample.instructions)

    def credit(self, sample: Sample, extraction: Extraction) -> Score:
        """The score of what was read. Raises UserError where `check` does."""
        self.check(sample)
        value, parts, more = self._credit(sample, extraction.found)
        whole, gold = extraction.whole, sample.answer
        if more and whole and any(equal.same(text, str(gold), _match(sample)) for text in (whole.text, whole.said)):
            extraction, value, more = _taking(extraction, whole), 1.0, False
        found = extraction.found
        more = more and extraction.rule not in SETTLED
        unmatched = more and found is not None and sample.kind.form == "open"
        final = self.compares or bool(sample.instructions)
        return Score(
            status=extraction.status,
            value=value,
            extracted=None if found is None else _stored(found),
            rule="no_rule_match" if unmatched else extraction.rule,
            parts=parts,
            weight=self._weight(sample),
            confidence=extraction.confidence,
            needs_judge=not final and needs_judge(extraction, lower_bound=more),
            lower_bound=more,
            chance=self.chance(sample),
        )


def _taking(extraction: Extraction, whole: Whole) -> Extraction:
    """The extraction with the whole answer in place of the short one that was read out of it."""
    return replace(
        extraction, found=whole.text, status="ok", rule=whole.rule, span=whole.span, confidence=CONFIDENCE["slot"]
    )


def _credit_by_metric(metric: Metric, sample: Sample, found: Answer | None) -> Credit:
    return (0.0, (), False) if found is None else (*credit_by_metric(metric, sample, found), False)


def _credit_by_policy(policy: Policy, sample: Sample, found: Answer | None) -> Credit:
    if found is None:
        return 0.0, (), sample.kind.form == "open"
    credit: Credit = attribute(sample.kind.credit, f"the credit of {sample.task_type}")(policy, sample, found)
    return credit


def credit_choice(policy: Policy, sample: Sample, found: Answer) -> Credit:
    """The credit of options that were picked; where several may be right, also what each right one earned."""
    assert isinstance(sample.answer, tuple) and isinstance(found, tuple)
    several = sample.kind.several and sample.match.each
    choice = partial(_share_judged_right, len(sample.labels)) if several else policy.choice
    value = choice(frozenset(_texts(found)), frozenset(_texts(sample.answer)))
    return value, tuple(float(label in found) for label in sample.answer) if sample.kind.several else (), False


def _share_judged_right(options: int, picked: frozenset[str], gold: frozenset[str]) -> float:
    """The share of options that are rightly picked or rightly left."""
    return (options - len(picked ^ gold)) / options


def credit_verdict(policy: Policy, sample: Sample, found: Answer) -> Credit:
    """The credit of true or false, which no policy changes."""
    return float(found == sample.answer), (), False


def credit_blanks(policy: Policy, sample: Sample, found: Answer) -> Credit:
    """The credit of what was filled in, and what each blank earned."""
    assert isinstance(sample.answer, tuple) and isinstance(found, tuple)
    accepted = tuple(map(_texts, sample.answer))
    verdicts = equal.match_blanks(_texts(found), accepted, _match(sample), sample.question)
    correct = tuple(verdict is True for verdict in verdicts)
    return policy.blanks(correct), tuple(map(float, correct)), None in verdicts


def credit_text(policy: Policy, sample: Sample, found: Answer) -> Credit:
    """The credit of an answer to an open question, which no policy changes."""
    is_right = equal.compare_answer(str(found), str(sample.answer), _match(sample), sample.question) is True
    return float(is_right), (), not is_right


def credit_instructions(policy: Policy, sample: Sample, found: Answer) -> Credit:
    """The credit of a reply as if each instruction were a blank, which is right where it is followed strictly."""
    parts = followed(sample.instructions, str(found))
    return policy.blanks(tuple(part == 1 for part in parts)), parts, False


def _match(sample: Sample) -> Match:
    """How the answer is compared, in the unit that the question asks for if the answer names none."""
    return sample.match if sample.match.unit else replace(sample.match, unit=equal.asked_unit(sample.question))


def _even(sample: Sample) -> float:
    """A metric counts every sample the same."""
    return 1.0


def declined(reply: Reply) -> bool:
    """Whether the finish reason says that the model declined to answer, or that its answer was withheld.

    A filter may also cut off what follows an answer, so any text that is left is read.
    """
    filtered = reply.finish_reason == "content_filter" and not reply.text.strip()
    return filtered or reply.finish_reason.startswith("refusal")


def _texts(answer: str | tuple[str | tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(text for text in answer if isinstance(text, str))


def _stored(found: Answer) -> Json:
    """As a record keeps it: a text is cut after KEPT characters, as the reply has the whole."""
    if isinstance(found, bool):
        return found
    return found[:KEPT] if isinstance(found, str) else [str(part)[:KEPT] for part in found]
