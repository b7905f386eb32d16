"""How likely models find the tokens of questions that were published, and of questions that were held out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import digest, stream
from mmdyn.models import Asker, ChoicesPart, Message
from mmdyn.run.probes._probe import Asked, text_of
from mmdyn.run.verdicts import NoVerdict
from mmdyn.sample import Sample
from mmdyn.stats import blind_auc, min_k, near_groups, standardized
from mmdyn.tables import LEAST_OF_PART, MEMBERSHIP_DESIGN, MEMBERSHIP_SCORES, MembershipDesign, MembershipScore
from mmdyn.text import fold

_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|[^\w\s]")


class MembershipJob(NamedTuple):
    """A question's text, and the digest that its score is kept by."""

    set: str
    id: str
    digest: str
    text: str


class Members(Struct, frozen=True, kw_only=True):
    """Score each question by its least likely tokens, and compare a published part of a set with the others.

    Source: Shi et al. 2023 (arXiv:2310.16789) for Min-K%; Zhang et al. 2024 (arXiv:2404.02936) for Min-K%++.

    published: questions whose field has this value were published; the others were held out.
    drawn_at_random: the set's maker says that the held-out questions were drawn at random from the same set.
    """

    published: str
    drawn_at_random: bool = False

    what = "questions"
    weighs = True
    verdict = MembershipScore
    designs = MEMBERSHIP_DESIGN

    def check(self, sets: Sequence[SampleSet]) -> None:
        """Raise UserError where `published` is not FIELD=VALUE."""
        if not all(self._named):
            raise UserError(f"published is {self.published!r}, not FIELD=VALUE: write split=public")

    def choose(self, source: SampleSet, variants: Iterable[SampleSet]) -> Asked[MembershipDesign, MembershipJob]:
        """Part a set, and look what the words alone tell. Raises UserError for a field or value that no question has,
        and for a part of fewer than 10 questions."""
        samples = [sample for sample in source if sample.variant is None]
        shown = [(sample, text) for sample in samples if (text := text_of(sample))]
        field, value = self._named
        published = self._published(source.name, [sample for sample, _ in shown])
        shown = [shown[place] for place in np.argsort(~published, kind="stable")]
        texts, count = [text for _, text in shown], int(published.sum())
        for size, part in ((count, "published"), (len(texts) - count, "held-out")):
            if size < LEAST_OF_PART:
                has = f"{source.name} has {size} {part} questions in words"
                raise UserError(f"{has}: parts are compared that have {LEAST_OF_PART} or more each")
        words, positive = [*map(_words, texts)], (np.arange(len(texts)) < count).astype(np.int64)
        own = [sample.group or sample.id for sample, _ in shown]
        groups = near_groups(words, np.unique(own, return_inverse=True)[1].reshape(-1))
        blind = blind_auc(
            _features(texts, words), positive, groups, stream("blind", source.manifest.digest, field, value)
        )
        named = [digest(text, 8) for text in texts]
        design = MembershipDesign(
            set=source.name,
            field=field,
            value=value,
            declared=self.drawn_at_random,
            published=tuple(named[:count]),
            held_out=tuple(named[count:]),
            groups=tuple(groups.tolist()),
            blind=(blind.auc.value, blind.auc.low, blind.auc.high, blind.spread),
            no_text=len(samples) - len(texts),
        )
        jobs = {
            name: MembershipJob(source.name, sample.id, name, text)
            for name, (sample, text) in zip(named, shown, strict=True)
        }
        return Asked(design, MEMBERSHIP_SCORES, jobs)

    async def ask(self, asker: Asker, job: MembershipJob) -> MembershipScore | NoVerdict:
        """Have a model weigh a question, token by token."""
        reply = await asker.ask((Message("assistant", (ChoicesPart((job.text,), alone=True),)),))
        if reply.error:
            return NoVerdict(job.set, job.id, "membership", reply.error, asker.model.label)
        logprobs, plus = np.array(reply.logprobs), None
        if reply.vocabulary:
            plus = round(min_k(standardized(logprobs, *np.array(reply.vocabulary).T)), 6)
        mean, lowest = round(float(logprobs.mean()), 6), round(min_k(logprobs), 6)
        return MembershipScore(asker.model.label, job.digest, len(logprobs), mean, lowest, plus)

    @property
    def _named(self) -> tuple[str, str]:
        field, _, value = self.published.partition("=")
        return field.strip(), value.strip()

    def _published(self, name: str, samples: Sequence[Sample]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which questions are published. Raises UserError for a field or value that none has."""
        field, value = self._named
        if not any(field in sample.fields for sample in samples):
            fields = sorted({known for sample in samples for known in sample.fields})
            has = f"the fields are {', '.join(fields)}" if fields else "they have no fields"
            raise UserError(f"no question of {name} has the field {field!r}{did_you_mean(field, fields)}: {has}")
        own = [str(sample.fields.get(field, "")) for sample in samples]
        if value not in own:
            values = sorted({one for one in own if one})
            has = f"the values are {', '.join(values[:10])}{', …' * (len(values) > 10)}"
            raise UserError(f"no question of {name} has {field}={value}{did_you_mean(value, values)}: {has}")
        return np.array([one == value for one in own], np.bool_)


def _words(text: str) -> frozenset[str]:
    """Its words and signs, with Chinese characters for words, and without numbers, which near-duplicates differ in."""
    return frozenset(_WORD.findall(fold(text).casefold()))


def _features(texts: Sequence[str], words: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The words of each text, its numbers and their lengths, and which tenths of the texts it is longer than."""
    ends, found = np.quantile([len(text) for text in texts], np.arange(1, 10) / 10), list[frozenset[str]]()
    for text, own in zip(texts, words, strict=True):
        numbers = re.findall(r"\d+", fold(text))
        forms = [f"{len(number)} digits" for number in numbers]
        longer = [f"longer than {place} of 10" for place, end in enumerate(ends, 1) if len(text) > end]
        found.append(own.union(numbers, forms, longer))
    return found
