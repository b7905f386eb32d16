"""Score a reply: read the answer out of it, compare it with the sample's, give credit by a policy."""

from __future__ import annotations

from mmdyn.keys import Json
from mmdyn.plugins import load, resolve
from mmdyn.record import Reply, Score
from mmdyn.sample import Answer, Sample
from mmdyn.scoring.extract import Extraction, extract
from mmdyn.scoring.match import LONGEST, match_blanks, same
from mmdyn.scoring.policies._policy import Policy

SCORING_VERSION = 2
"""Counted up whenever a change of the rules can change a score, so that scores of both versions can stand side by side."""


class Scorer:
    """Scores by rules alone. `name` is the policy with the version of the rules, such as mdk12@2. Raises PluginError."""

    def __init__(self, policy: str = "mdk12") -> None:
        full = resolve("scorers", policy)
        self.name = f"{full}@{SCORING_VERSION}"
        self._policy: Policy = load("scorers", full)()

    def score(self, sample: Sample, reply: Reply) -> Score:
        """The score of a reply. One that never came (`reply.error`) is `failed` and has no value; nothing read scores 0."""
        if reply.error:
            return Score("failed", None, rule="failed", weight=self._policy.weight(sample))
        return self.credit(sample, self.extract(sample, reply))

    def extract(self, sample: Sample, reply: Reply) -> Extraction:
        """What the reply answers; nothing where the server says that it was declined or held back.

        The sample's own answer is not looked at, but for the number of blanks.
        """
        if _declined(reply):
            return Extraction(None, "refused", "refused")
        return extract(
            sample.task_type,
            reply.text,
            labels=sample.labels,
            option_texts=tuple(option.text for option in sample.options),
            language=sample.language,
            blanks=len(sample.answer) if isinstance(sample.answer, tuple) else 1,
            truncated=reply.finish_reason == "length",
        )

    def credit(self, sample: Sample, extraction: Extraction) -> Score:
        """The score of what was read."""
        weight = self._policy.weight(sample)
        if extraction.found is None:
            return Score(extraction.status, 0.0, rule=extraction.rule, weight=weight)
        value, parts = self._credit(sample, extraction.found)
        lower_bound = sample.task_type == "open_ended" and not value
        rule = "no_rule_match" if lower_bound else extraction.rule
        return Score("ok", value, _stored(extraction.found), rule, parts, weight)

    def _credit(self, sample: Sample, found: Answer) -> tuple[float, tuple[float, ...]]:
        """The value in [0, 1], and for multi-select and blanks what each right option or blank earned (1 or 0)."""
        gold = sample.answer
        if isinstance(gold, bool) or isinstance(found, bool):
            return float(found == gold), ()
        if isinstance(gold, str) or isinstance(found, str):
            return float(same(str(found), str(gold), sample.match)), ()
        if sample.task_type == "fill_in_the_blank":
            correct = match_blanks(_texts(found), tuple(map(_texts, gold)), sample.match)
            return self._policy.blanks(correct), tuple(map(float, correct))
        value = self._policy.choice(frozenset(_texts(found)), frozenset(_texts(gold)))
        parts = tuple(float(label in found) for label in gold) if sample.task_type == "multi_select" else ()
        return value, parts


def _declined(reply: Reply) -> bool:
    """A filter may also cut off what is said after an answer, so that a text that it left is read."""
    filtered = reply.finish_reason == "content_filter" and not reply.text.strip()
    return filtered or reply.finish_reason.startswith("refusal")


def _texts(answer: str | tuple[str | tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(text for text in answer if isinstance(text, str))


def _stored(found: Answer) -> Json:
    """As a record keeps it; a text of more than 2,000 characters only by its beginning, the reply has the whole."""
    if isinstance(found, bool):
        return found
    return found[:LONGEST] if isinstance(found, str) else [str(part)[:LONGEST] for part in found]
