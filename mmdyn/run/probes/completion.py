"""Whether models go on with the first half of a question as it was published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mmdyn.data import SampleSet
from mmdyn.run.probes._probe import Asked
from mmdyn.run.probes._recalling import PICTURES, Recalling, RecallJob, called
from mmdyn.run.render import replace_pictures
from mmdyn.sample import Sample
from mmdyn.tables import RULES, RecallDesign, RecallItem, shared_words
from mmdyn.text import PLAIN_WORD, plain_words, protected_spans

SHORTEST, LONGEST = 10, 60
"""Words of a half, in Chinese characters."""
SAME = 0.5
"""A second half follows from another text that has this share of its words."""
KEPT = 0.8
"""Another wording that keeps this share of a second half's words is none."""
POOL = 500
"""With so many other questions second halves are compared at most."""
REWORDING, OTHERWISE = {"text.paraphrase", "text.substitute"}, {"text.shuffle"}

SHORT, REPEATS = "too short to be cut", "with a second half in the words of the first"
SHARED = "with an end that others have, too"


class Completion(Recalling, frozen=True, kw_only=True):
    """Ask models to go on with the first half of a question, with the set named and not.

    Source: Golchin and Surdeanu 2023 (arXiv:2308.08493), section 3.1.

    questions: how many questions of each set are asked; a larger number keeps those of before.
    seed: another seed draws other questions.
    """

    what = "completions"
    evidence = "completion"

    def choose(self, source: SampleSet, variants: Iterable[SampleSet]) -> Asked[RecallDesign, RecallJob]:
        """Choose the questions and cut them, and find them in other words. Raises UserError for too few."""
        samples, left_out, items = self.ordered(source), Counter[str](), list[RecallItem]()
        pool = [(one.id, plain_words(cut[1])) for one in samples[:POOL] if isinstance(cut := halves_of(one), tuple)]
        for sample in samples:
            cut = halves_of(sample)
            reason = cut if isinstance(cut, str) else _follows(sample, cut, pool)
            if isinstance(cut, str) or reason:
                left_out[reason] += 1
                continue
            named, cluster = called(source, sample), sample.group or sample.id
            items.append(RecallItem(sample.id, sample.id, cluster, sample.language, named, cut[0], cut[1]))
            if len(items) == self.questions:
                break
        return self.asked(source, [*items, *_reworded(items, variants)], left_out)


def halves_of(sample: Sample) -> tuple[str, str] | str:
    """The two halves of a question, or of a long one's beginning, cut before a word that is in no formula, number or
    quotation; else why there are none."""
    bare = replace_pictures(sample, "withheld")
    if bare is None:
        return PICTURES
    text = bare.question.strip()
    starts = [found.start() for found in PLAIN_WORD.finditer(text)][: 2 * LONGEST + 1]
    if len(starts) > 2 * LONGEST:
        text = text[: starts.pop()].rstrip()
    spans, middle = protected_spans(text), len(starts) / 2
    inside = [any(first < start < last for first, last in spans) for start in starts]
    places = [place for place in range(SHORTEST, len(starts) - SHORTEST + 1) if not inside[place]]
    if not places:
        return SHORT
    cut = starts[min(places, key=lambda place: abs(place - middle))]
    return text[:cut].rstrip(), text[cut:]


def _follows(sample: Sample, cut: tuple[str, str], pool: Sequence[tuple[str, list[str]]]) -> str:
    """Why a second half follows from what anybody can see: the first half, or the ends of other questions; else
    nothing."""
    first, second = map(plain_words, cut)
    if shared_words(first, second) >= SAME:
        return REPEATS
    ends = (other[-len(second) :] for id, other in pool if id != sample.id)
    return SHARED if any(shared_words(end, second) >= SAME for end in ends) else ""


def _reworded(items: Sequence[RecallItem], variants: Iterable[SampleSet]) -> list[RecallItem]:
    """Items in other words: of each the wording that has the fewest words of the published second half, of those by
    models where there are any."""
    by_id, found = {item.sample: item for item in items}, dict[str, list[tuple[bool, float, RecallItem]]]()
    for variant in (sample for one in variants for sample in one):
        by, cut = _writer(variant), halves_of(variant)
        item = by_id.get(variant.parent)
        if not by or item is None or isinstance(cut, str):
            continue
        kept = shared_words(plain_words(cut[1]), plain_words(item.hidden))
        if kept < KEPT:
            new = RecallItem(variant.id, item.parent, item.cluster, item.language, item.called, cut[0], cut[1], by)
            found.setdefault(item.parent, []).append((by == RULES, kept, new))
    best = [min(each, key=lambda one: (one[0], one[1], one[2].sample)) for each in found.values()]
    models = [one for one in best if not one[0]]
    return [new for _, _, new in models or best]


def _writer(variant: Sample) -> str:
    """Who put a variant in other words; rules where they took part, and empty where that is not all that was done."""
    if variant.variant is None or not variant.variant.keeps_answer:
        return ""
    steps = [step for step in variant.variant.steps if not step.operator.startswith("image.")]
    if {step.operator for step in steps} - REWORDING - OTHERWISE:
        return ""
    writers = [str(step.params["by"]) for step in steps if step.operator in REWORDING]
    return RULES if RULES in writers else "".join(writers[-1:])
