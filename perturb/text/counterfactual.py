"""text.counterfactual: a condition of the question changed so that another answer is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from msgspec.structs import replace
from numpy.random import Generator

from mmdyn.equal import compare
from mmdyn.keys import Json
from mmdyn.sample import IMAGE_MARK, Answer, Sample
from perturb.item import Item, NotApplicable
from perturb.services import Operator, Tool


class Counterfactual(Operator):
    """Change one condition of the question, such as a number, so that it has another right answer.

    Services' rewriter, a model, does it and works out the new answer; then it solves the new question without being
    told that answer. Not applicable where the two solutions differ, where the new answer is not surely another one than
    the old, where the rewriter declines (the condition may lie in a picture, which it does not see), and for questions
    of several answers. Options and pictures stay, so that of a choice another option is right; explanation, hints and
    checklist, which speak of the old answer, go.
    """

    random = True
    keeps_answer = False
    uses: ClassVar[tuple[Tool, ...]] = ("rewriter",)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`by`: the rewriter's label; `question` and `answer`: the new ones. Raises ValueError where a model did not
        answer."""
        rewriter, old = self.services.rewriter, spelled(sample)
        if old is None:
            return NotApplicable("it has several answers, or none that rules can compare")
        changed = rewriter.counterfactual(sample, old, stream)
        if isinstance(changed, NotApplicable):
            return changed
        if sorted(IMAGE_MARK.findall(changed.question)) != sorted(IMAGE_MARK.findall(sample.question)):
            return NotApplicable("the rewriter changed the marks of pictures")
        if _agree(changed.answer, old, sample) is not False:
            return NotApplicable(f"the new answer ({changed.answer[:40]}) is not surely another one than before")
        again = rewriter.solve(replace(sample, question=changed.question), stream)
        if isinstance(again, NotApplicable):
            return again
        if _agree(again, changed.answer, sample) is not True:
            return NotApplicable(f"two solutions differ ({changed.answer[:40]} and {again[:40]})")
        return {"by": rewriter.label, "question": changed.question, "answer": changed.answer}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with the new question and its answer."""
        question, text = (cast("str", params[name]) for name in ("question", "answer"))
        answer: Answer = text
        if item.sample.kind.form == "claim":
            answer = text.casefold() == "true"
        elif item.sample.kind.form != "open":
            answer = (text,) if item.sample.labels else ((text,),)
        changed = replace(item.sample, question=question, answer=answer, explanation="", hints={}, checklist=())
        return item.rewrite(changed)


def spelled(sample: Sample) -> str | None:
    """The one answer of a sample as a text: an option's label, true or false, or the answer itself; None where there
    are several.

    >>> spelled(Sample(id="q", question="2 + 3 = ?", task_type="fill_in_the_blank", answer=(("5", "five"),)))
    '5'
    """
    answer = sample.answer
    if isinstance(answer, bool):
        return str(answer).lower()
    if isinstance(answer, str):
        return answer
    if sample.kind.form == "rules" or sample.kind.several or len(answer) != 1:
        return None
    return answer[0] if isinstance(answer[0], str) else answer[0][0]


def _agree(given: str, other: str, sample: Sample) -> bool | None:
    """Whether two answers are the same; None where that is unsure, such as where one is not in the form of the
    sample's."""
    known = sample.labels or (("true", "false") if isinstance(sample.answer, bool) else ())
    if not known:
        return compare(given, other, sample.match)
    one, two = (next((name for name in known if name.casefold() == text.casefold()), None) for text in (given, other))
    return None if one is None or two is None else one == two
