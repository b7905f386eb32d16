"""text.convert: the same question in another form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.task_types import kind_of
from mmdyn.text import count_blanks, is_named_by_label
from perturb.item import EMBEDDED, Item, NotApplicable
from perturb.services import Operator
from perturb.text._alone import as_alone, ask_alone
from perturb.text._other_forms import (
    LABELS,
    alike,
    as_blank,
    as_choice,
    as_claim,
    as_either,
    as_filled_claim,
    as_open,
    draw_claim,
    short_answer,
    with_gap,
    with_one_blank,
    without_notes,
)
from perturb.text._wrong import COUNT, wrong_answers

_FORMS: dict[str, str] = {
    kind_of(target).form: target for target in ("fill_in_the_blank", "open_ended", "single_choice", "true_false")
}
"""What may be asked for -> the type that it stands for."""

_Params = dict[str, Json]


class Convert(Operator):
    """Convert a question into another task type, and its ground truth with it, where that is right by construction.

    - A choice question becomes a claim that one of its options is right ("the answer is Paris"), true or false with
      equal chance. The claim names what the option says. The options stay listed in the question where its truth may
      hang on them, as where the best of them is asked for; option pictures become pictures of the question.
    - A single choice becomes a blank or an open question where the stem alone decides its right option: a number or one
      for each blank, a formula or a set, the numbers of statements that the stem lists, a term that the stem brings or
      asks for. Where a rewriter model was chosen, also where the right option is any few words: the model rewrites the
      stem so that it stands alone, and names what is accepted.
    - Of several blanks one is asked for, drawn with equal chance, and the others are filled in.
    - A blank and an open question with one short answer become each other; a single choice between the answer and wrong
      ones, in any place; and a claim of the answer or of a wrong one, with equal chance. Wrong answers are the stem's
      own alternatives, a rewriter model's, other samples' of the same knowledge point, or near values by rules.
    - True/false becomes a choice between the two, in either order.

    Of the forms that are sound for a question one is drawn, with equal chance, of those in which guessing earns least:
    a blank or an open question, else a choice, else a claim. `convert:blank`, `:open`, `:choice` and `:claim` ask for
    one form, and refuse what cannot take it. A single choice does not become a multi_select: that would tell that
    several options may be right. The explanation, hints and checklist items that name an option's letter, and notes in
    the question on the form of its answer ("(Answer is a single word.)") are left out.

    Source: MDK12-Bench, "Evaluation Methods", Question Type Conversion, whose example is a choice that becomes a blank;
        which form is drawn, and where one is sound, is this operator's own.
    """

    random = True
    uses = ("rewriter", "pool")
    forms = tuple(_FORMS)

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`target` and what it needs: the `claim` (a label) or what is `filled` in; if true is listed `true_first`; the
        `distractors` and the `place` of the right option among them; a model's `stem` and what is `accepted`; which
        `blank` of several is asked for, from 0. `by` names who made texts, `pool` the digest of the pool that was used.

        Raises ValueError where a model did not answer.
        """
        if sample.kind.form == "choice" and alike(sample.options):
            return NotApplicable("two options are the same")
        targets, place, blanks = self._targets(sample.task_type, stream), _Params(), count_blanks(sample.question)
        if sample.kind.form == "blank" and blanks > 1:
            place = {"blank": int(stream.integers(blanks))}
        asked = _asked(sample, place)
        if isinstance(asked, NotApplicable):
            return asked
        sample = asked
        if not targets:
            wanted = _FORMS.get(self._form, "question of another type")
            return NotApplicable(f"a {sample.task_type} cannot become a {wanted}")
        refusals = list[str]()
        alone: _Params | NotApplicable | None = None
        for target in targets:
            made: _Params | NotApplicable
            if sample.kind.form == "choice" and kind_of(target).form != "claim":
                alone = self._alone(stream, sample) if alone is None else alone
                made = _openly(sample, alone) if kind_of(target).form == "open" else alone
            else:
                made = self._params(stream, sample, target)
            if not isinstance(made, NotApplicable):
                return {"target": target, **place, **made}
            refusals.append(made.reason)
        return NotApplicable("; ".join(sorted(set(refusals))))

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with its question in the target's form."""
        asked = _asked(item.sample, params)
        made = asked if isinstance(asked, NotApplicable) else _converted(asked, params)
        return made if isinstance(made, NotApplicable) else item.rewrite(made)

    def _targets(self, task_type: str, stream: Generator) -> list[str]:
        """The types to try, in order."""
        ranked = [rank[place] for rank in kind_of(task_type).becomes for place in stream.permutation(len(rank))]
        return [target for target in ranked if self._form in ("", kind_of(target).form)]

    def _alone(self, stream: Generator, sample: Sample) -> _Params | NotApplicable:
        """What a single choice needs to be asked without its options: nothing, or a model's stem."""
        made = as_blank(sample)
        if isinstance(made, Sample):
            return {}
        if self.services.tools.rewriter == EMBEDDED:
            return made
        return ask_alone(sample, stream, self.services.rewriter)

    def _params(self, stream: Generator, sample: Sample, target: str) -> _Params | NotApplicable:
        if sample.kind.form == "choice":
            claim = draw_claim(stream, sample)
            return claim if isinstance(claim, NotApplicable) else {"claim": claim}
        if sample.kind.form == "claim":
            return {"true_first": bool(stream.integers(2))}
        if kind_of(target).is_text:
            made = as_open(sample) if kind_of(target).form == "open" else with_gap(sample)
            return made if isinstance(made, NotApplicable) else {}
        return self._with_wrong_answers(stream, sample, target)

    def _with_wrong_answers(self, stream: Generator, sample: Sample, target: str) -> _Params | NotApplicable:
        short = short_answer(sample)
        if isinstance(short, NotApplicable):
            return short
        if is_named_by_label(short.text, LABELS):
            return NotApplicable("the answer is a letter, as options have")
        wrong = wrong_answers(sample, short, COUNT if kind_of(target).options else 1, stream, self.services)
        if isinstance(wrong, NotApplicable):
            return wrong
        texts, source = wrong
        if kind_of(target).form == "claim":
            return {"filled": short.text if stream.integers(2) else texts[0], **source}
        return {"distractors": list(texts), "place": int(stream.integers(len(texts) + 1)), **source}


def _asked(sample: Sample, params: Mapping[str, Json]) -> Sample | NotApplicable:
    """What is converted: the sample without notes on its form, with the one blank that is asked for."""
    sample = without_notes(sample)
    return with_one_blank(sample, cast("int", params["blank"])) if "blank" in params else sample


def _openly(sample: Sample, alone: _Params | NotApplicable) -> _Params | NotApplicable:
    """A single choice as an open question, which has one gold text: the right option's."""
    if isinstance(alone, NotApplicable):
        return alone
    if "accepted" in alone:
        return {**alone, "accepted": cast("list[Json]", alone["accepted"])[:1]}
    made = _converted(sample, {"target": _FORMS["open"]})
    return made if isinstance(made, NotApplicable) else {}


def _converted(sample: Sample, params: Mapping[str, Json]) -> Sample | NotApplicable:
    """The sample in its new form; pure."""
    form = kind_of(cast("str", params["target"])).form
    if sample.kind.form == "claim":
        return as_either(sample, bool(params["true_first"]))
    if "claim" in params:
        return as_claim(sample, cast("str", params["claim"]))
    if sample.kind.form == "choice":
        blank = as_alone(sample, params) if "stem" in params else as_blank(sample)
        return blank if form == "blank" or isinstance(blank, NotApplicable) else as_open(blank)
    if form in ("open", "blank"):
        return as_open(sample) if form == "open" else with_gap(sample)
    short = short_answer(sample)
    if isinstance(short, NotApplicable):
        return short
    if form == "claim":
        return as_filled_claim(sample, cast("str", params["filled"]), short.text)
    return as_choice(sample, short.text, cast("list[str]", params["distractors"]), cast("int", params["place"]))
