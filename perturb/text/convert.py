"""text.convert: the same question in another form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from mmdyn.keys import Json
from mmdyn.sample import CHOICE_TYPES, Match, Option, Sample
from perturb._operator import Item, NotApplicable, Operator
from perturb.text._blank import as_blank
from perturb.text._claim import as_claim, draw_claim
from perturb.text._wording import TRUE_FALSE, alike, changed

if TYPE_CHECKING:
    from numpy.random import Generator


class Convert(Operator):
    """Convert a question into another task type, and its ground truth with it, where that is right by construction.

    - A choice question becomes a claim about it ("the right answer is B") that is true or false with equal chance; the
      options stay listed in the question, and option pictures become pictures of the question.
    - A single choice becomes a blank, where the right option is one number and the stem does not lean on its options.
    - True/false becomes a choice between the two, in either order.

    Where two targets fit, each is drawn with equal chance. The explanation, and hints and checklist items that name an
    option's letter, are left out of the variant.

    Source: MDK12-Bench, "Evaluation Methods", Question Type Conversion.
    """

    random = True

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`target` and what it needs: the `claim` (labels), or whether true is listed `true_first`."""
        if sample.task_type == "true_false":
            return {"target": "single_choice", "true_first": bool(stream.integers(2))}
        if sample.task_type not in CHOICE_TYPES:
            return NotApplicable(f"no other form is sure to be right ({sample.task_type})")
        if alike(sample.options):
            return NotApplicable("two options are the same")
        targets = ["true_false", *(["fill_in_the_blank"] if isinstance(as_blank(sample), Sample) else [])]
        target = targets[stream.integers(len(targets))]
        return {"target": target, **({"claim": list(draw_claim(stream, sample))} if target == "true_false" else {})}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with its question in the target's form."""
        if params["target"] == "single_choice":
            return item.rewrite(_as_choice(item.sample, bool(params["true_first"])))
        if params["target"] == "true_false":
            return item.rewrite(as_claim(item.sample, tuple(cast("list[str]", params["claim"]))))
        blank = as_blank(item.sample)
        return blank if isinstance(blank, NotApplicable) else item.rewrite(blank)


def _as_choice(sample: Sample, true_first: bool) -> Sample:
    words = TRUE_FALSE[sample.language]
    truths = (True, False) if true_first else (False, True)
    options = tuple(Option(label, words[0] if truth else words[1]) for label, truth in zip("AB", truths, strict=True))
    answer = "A" if sample.answer is truths[0] else "B"
    return changed(sample, task_type="single_choice", options=options, answer=(answer,), match=Match())
