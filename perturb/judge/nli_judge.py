"""The judge that asks a cross-encoder: after the invariants, does each question follow from the other one?"""

from __future__ import annotations

from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models import DEFAULT_CROSS_ENCODER, CrossEncoder, Spec, TooLong, open_ocr, read_options
from mmdyn.sample import Verdict
from perturb.item import NLI
from perturb.judge import invariants
from perturb.judge._judge import SAME_WORDS, Case, VariantJudge
from perturb.judge.pictures import check_case, picture_checks, unseen
from perturb.judge.text import SENTENCE_END, shared_ends

VERSION = 1
"""Goes up whenever equal texts and equal weights may get another verdict."""


class _Options(Struct, frozen=True):
    """threshold: the least probability, of both directions, of questions that ask the same; device and revision as in
    CrossEncoder."""

    threshold: float = 0.5
    device: str | None = None
    revision: str | None = None


class NliJudge(VariantJudge):
    """Rejects what the invariants or the pictures speak against, and stems of which one does not follow from the other.

    name: `nli` with the default model, or `nli:FOLDER_OR_REPOSITORY`; options follow a comma: threshold=0.5, device and
        revision. What two stems ask is the same where each entails the other with a probability of at least the
        threshold; the smaller one is the confidence. Options and answers are compared by rules. Texts that are too long
        for the model are compared by the sentences in which they differ. Raises UserError for an option that is wrong,
        and what CrossEncoder raises.

    Paraphrase as entailment in both directions: Dagan et al., Recognizing Textual Entailment (NLE 15(4), 2009).
    """

    waits = 32

    def __init__(self, name: str = NLI) -> None:
        head, comma, options = name.partition(",")
        model = head.partition(":")[2].strip() or DEFAULT_CROSS_ENCODER
        self._options = read_options(Spec.parse(f"{NLI}:{model}{comma}{options}"), _Options)
        if not 0 <= self._options.threshold <= 1:
            raise UserError(f"the nli judge's threshold is {self._options.threshold:g}: give a probability from 0 to 1")
        self._encoder = CrossEncoder(model, self._options.device, self._options.revision)
        self.label = f"{NLI}:{model}"
        self._ocr = open_ocr()
        self.identity: Json = {
            "nli": [VERSION, self._encoder.identity, self._options.threshold],
            "rules": invariants.identity(),
            "pictures": picture_checks(self._ocr),
        }

    def judge(self, case: Case) -> Verdict:
        """A verdict by the first thing that speaks against the variant. Raises ValueError for questions that are too
        long."""
        a, b = invariants.take_apart(case.before, case.after, case.looks)
        if doubt := invariants.compare_asked(a, b) or check_case(case, self._ocr):
            return doubt.unasked(self.label)
        return unseen(self._by_entailment(a.stem, b.stem), case, self._ocr)

    def close(self) -> None:
        """Finish the batch that is running."""
        self._encoder.close()

    def _by_entailment(self, a: str, b: str) -> Verdict:
        if a == b:
            return Verdict("kept", self.label, "", SAME_WORDS)
        try:
            there, back = self._encoder.entails([(a, b), (b, a)])
        except TooLong:
            a, b = _differing(a, b)
            there, back = self._encoder.entails([(a, b), (b, a)])
        least, reason = min(there, back), f"entailment {there:.2f}, and back {back:.2f}"
        if least < self._options.threshold:
            reason = f"one question does not follow from the other: {reason}"
            return Verdict("rejected", self.label, reason, round(1 - least, 4))
        return Verdict("kept", self.label, reason, round(least, 4))


def _differing(a: str, b: str) -> tuple[str, str]:
    """Two texts without the sentences that they share at their ends; where nothing else is left of one, with the
    sentences beside."""
    one, other = SENTENCE_END.split(a), SENTENCE_END.split(b)
    ahead, behind = shared_ends(one, other)
    if ahead + behind == min(len(one), len(other)):
        ahead, behind = max(0, ahead - 1), max(0, behind - 1)
    return "".join(one[ahead : len(one) - behind]), "".join(other[ahead : len(other) - behind])
