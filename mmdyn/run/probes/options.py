"""Whether models name a wrong option of a question that was masked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mmdyn.data import SampleSet
from mmdyn.keys import stream
from mmdyn.run.probes._probe import Asked
from mmdyn.run.probes._recalling import PICTURES, Recalling, RecallJob, called
from mmdyn.run.render import replace_pictures
from mmdyn.sample import Sample
from mmdyn.tables import RecallDesign, RecallItem
from mmdyn.text import (
    CHINESE,
    fold,
    option_refers_to_option,
    plain_words,
    read_date,
    read_number,
    refers_to_all,
    without_latex,
)

FEWEST = 4
"""The least number of options."""
COVERED = 0.65
"""An option follows from the others that have this share of its words."""
IN_WORDS = 3
"""The least number of options that are more than numbers, dates, formulas and letters."""
MASK = "[MISSING]"
OPPOSITES = {"yes", "no", "true", "false", "correct", "incorrect", "both", "neither", "正确", "错误"}
"""Options that follow from their opposite."""
_WORD = re.compile(rf"[^\W\d_]{{3}}|[{CHINESE}]{{2}}")

CHOICES = "other than a single choice of four options in words"
FOLLOWS = "without a wrong option that is hard to guess"


class Options(Recalling, frozen=True, kw_only=True):
    """Ask models for a wrong option that is masked, among the others in random order, with the set named and not.

    Source: Deng et al. 2023 (arXiv:2311.09783), "Question-Multichoice" of TS-Guessing.

    questions: how many questions of each set are asked; a larger number keeps those of before.
    seed: another seed draws other questions, options and orders.
    """

    what = "masked options"
    evidence = "options"

    def choose(self, source: SampleSet, variants: Iterable[SampleSet]) -> Asked[RecallDesign, RecallJob]:
        """Choose the questions, and draw options and orders. Raises UserError for too few."""
        samples, left_out, items = self.ordered(source), Counter[str](), list[RecallItem]()
        told = Counter(text for one in samples for text in {fold(option.text) for option in one.options})
        for sample in samples:
            bare = replace_pictures(sample, "withheld")
            if sample.task_type != "single_choice" or sum(bool(one.text) for one in sample.options) < FEWEST:
                left_out[CHOICES] += 1
            elif bare is None:
                left_out[PICTURES] += 1
            elif places := free_options(bare, told):
                items.append(self._item(source, bare, places))
            else:
                left_out[FOLLOWS] += 1
            if len(items) == self.questions:
                break
        return self.asked(source, items, left_out)

    def _item(self, source: SampleSet, sample: Sample, places: Sequence[int]) -> RecallItem:
        drawn = stream("masked option", self.seed, source.manifest.digest, sample.id)
        masked, order = int(drawn.choice(places)), drawn.permutation(len(sample.options))
        texts = [MASK if place == masked else sample.options[place].text for place in order]
        lines = [f"{label}. {text}" for label, text in zip(sample.labels, texts, strict=True)]
        shown, hidden = "\n".join([sample.question, *lines]), sample.options[masked].text
        named, cluster = called(source, sample), sample.group or sample.id
        return RecallItem(sample.id, sample.id, cluster, sample.language, named, shown, hidden)


def free_options(sample: Sample, told: Mapping[str, int]) -> list[int]:
    """The places of the wrong options that do not follow from the others, the question or the set.

    Left out are numbers, dates and formulas (a series goes on by itself), and what stands beside these alone; options
    about other options; those of which the question has every word or the others most; and those that other questions
    have, too.

    Args:
        told: How many questions of the set have an option, folded.
    """
    texts, asked = [option.text for option in sample.options], {*plain_words(sample.question)}
    in_words, found = [*map(_in_words, texts)], list[int]()
    for place, text in enumerate(texts):
        others = {word for other in (*texts[:place], *texts[place + 1 :]) for word in plain_words(other)}
        words = plain_words(text)
        if text in sample.told.right[0] or not in_words[place] or sum(in_words) < IN_WORDS or told[fold(text)] > 1:
            continue
        if (
            fold(text) in OPPOSITES
            or refers_to_all(text)
            or option_refers_to_option(text, sample.labels, sample.question)
        ):
            continue
        covered = sum(word in others for word in words) / len(words)
        if covered < COVERED and not asked.issuperset(words) and fold(text) not in fold(sample.question):
            found.append(place)
    return found


def _in_words(text: str) -> bool:
    """Whether an option is more than a number, a date, a formula or letters."""
    plain = without_latex(text)
    if any(sign in text for sign in "$\\=") or any(char.isdigit() for char in plain):
        return False
    return bool(_WORD.search(plain)) and read_number(plain) is None and not read_date(plain)
