"""text.substitute: words of the question replaced, and what must not change kept."""

from __future__ import annotations

import pytest
from benchmarks.real_sets import real
from making_items import apply, draw, item, refusal

from making import choice, open_ended
from mmdyn.keys import stream
from perturb import NotApplicable
from perturb.rewrite._frames import mask
from perturb.rewrite.embedded_rewriter import NO_WORD
from perturb.text.substitute import Substitute

QUESTION = "Find the area of $R$ in <image 1>. It is ____ 3 cm²."
SAMPLE = choice(question=QUESTION, images=("images/0.png",), hints={"start": "Find it."}, explanation="Find it.")


def test_only_the_question_changes() -> None:
    """Source: MDK12-Bench, "Evaluation Methods", Word Substitution: keywords become synonyms, the answer stays."""
    params = draw(Substitute(), SAMPLE)
    after = apply(Substitute(), item(sample=SAMPLE), params).sample
    assert params["by"] == "embedded" and params["question"] == after.question
    assert after.question in (QUESTION.replace("Find", "Determine", 1), QUESTION.replace("Find", "Work out", 1))
    assert (after.answer, after.options, after.hints) == (SAMPLE.answer, SAMPLE.options, SAMPLE.hints)
    assert after.explanation == SAMPLE.explanation


def fixed(text: str) -> Substitute:
    """With a rewriter that always gives one text."""
    operator = Substitute()
    operator.services.rewriter.substitute = lambda *_: text  # type: ignore[method-assign]
    return operator


def test_a_rewriter_that_changes_nothing_is_refused() -> None:
    assert refusal(fixed(QUESTION + " \n"), SAMPLE) == "the rewriter changed nothing"
    assert refusal(fixed(" \n"), SAMPLE) == "the rewriter gave an empty text"


@pytest.mark.parametrize(("text", "lost"), [
    ("Work out the area of $S$ in <image 1>. It is ____ 3 cm².", "$R$"),
    ("Work out the area of $R$. It is ____ 3 cm².", "<image1>"),
    ("Work out the area of $R$ in <image 1>. It is ____ 4 cm².", "3cm²"),
    ("Work out the area of $R$ in <image 1>. It is 3 cm².", "____"),
])  # fmt: skip
def test_a_text_that_lost_what_must_stay_is_refused(text: str, lost: str) -> None:
    assert refusal(fixed(text), SAMPLE) == f"the rewriter changed ⟨{lost}⟩"


@pytest.mark.parametrize(("more", "reason"), [
    ("\nA. two\nB. three", "the rewriter listed options in the question"),
    (" The answer is B.", "the rewriter named an option (answer is B)"),
    ("\x1b[2J", "the rewriter added control characters"),
    ("\x00", "the rewriter added control characters"),
    ("\x85", "the rewriter added control characters"),
])  # fmt: skip
def test_a_text_that_brings_in_what_was_not_there_is_refused(more: str, reason: str) -> None:
    new = "Work out the area of $R$ in <image 1>. It is ____ 3 cm²."
    assert refusal(fixed(new + more), SAMPLE) == reason
    asked = open_ended(question=QUESTION, images=("images/0.png",))
    assert refusal(fixed(new + more), asked) == reason
    old = choice(question=QUESTION + more, images=("images/0.png",))
    assert draw(fixed(new + more), old)["question"] == new + more, "what was there may stay"
    assert draw(fixed(new + "\n\tSo?"), SAMPLE)["by"] == "embedded"


def test_a_text_in_another_order_is_taken() -> None:
    text = "In <image 1>, what is the area of $R$? 3 cm² is ____."
    assert draw(fixed(text), SAMPLE) == {"by": "embedded", "question": text}


def test_a_trail_with_other_image_marks_is_not_applied() -> None:
    with pytest.raises(ValueError, match="does not have the image marks of the old one"):
        Substitute().apply(item(sample=SAMPLE), {"by": "m", "question": "Find it."})


SETS = {"en": ("scemqa", "we_math", "math_vision", "tal_scq5k"), "zh": ("gaokao_mm", "gaokao_bench", "tal_scq5k")}


@pytest.mark.parametrize("language", SETS)
def test_six_of_ten_real_questions_are_changed_and_nothing_protected_is(language: str) -> None:
    """Eligible is what the rewriter does not refuse as being about words, and what has words outside of formulas."""
    changed = eligible = 0
    for name in SETS[language]:
        for sample in real(name).values():
            if sample.language == language:
                params = Substitute().params(stream("real", sample.id), sample)
                if isinstance(params, NotApplicable):
                    eligible += params == NO_WORD and any(map(str.isalpha, mask(sample.question)[0]))
                    continue
                eligible, changed = eligible + 1, changed + 1
                assert params["question"] != sample.question
    assert eligible > 1000 and changed / eligible >= 0.6
