"""The ground truth goes along with the question (MDK12-Bench, "Evaluation Methods": the dynamic transform covers both
questions and ground-truth answers). Whatever an operator draws, the new answer is right for the new question where the
old one was for the old.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import msgspec
import pytest
from benchmarks.real_sets import real
from making_items import array
from making_sets import samples as mixed

from making import blank, choice, instructions, multi, open_ended, true_false
from mmdyn import plugins
from mmdyn.equal import same
from mmdyn.keys import stream
from mmdyn.sample import Match, Option, Sample
from mmdyn.task_types import OURS
from mmdyn.text import unwrapped_text
from perturb import Item, NotApplicable, Picture
from perturb.text._other_forms import with_one_blank

FILLED = re.compile(
    r"Claim: (?:(?:the|the right|one of the right) answers? is (?P<a>.+)|(?P<b>.+) belongs in the blank)"
    r"\. Is this claim true or false\?"
    r"|断言：(?:本题的答案是|空白处应填|本题应选|本题的正确答案之一是)(?P<c>.+)。这一断言是否正确？"
)
TRUTHS = {"en": {True: "True", False: "False"}, "zh": {True: "正确", False: "错误"}}
CONVERSIONS = {
    *(("single_choice", form) for form in ("true_false", "fill_in_the_blank", "open_ended")),
    *(("fill_in_the_blank", form) for form in ("single_choice", "true_false", "open_ended")),
    *(("open_ended", form) for form in ("single_choice", "true_false", "fill_in_the_blank")),
    *(("multi_select", "true_false"), ("true_false", "single_choice")),
}
TEXT = ("text.convert", "text.null", "text.paraphrase", "text.shuffle", "text.substitute")
PICTURE = (
    *("image.blur", "image.invert", "image.jpeg", "image.null", "image.pad", "image.rotate", "image.salt_pepper"),
    *("image.scale", "image.style"),
)

ZH: dict[str, Any] = {"language": "zh"}
MORE = [
    choice(question="Find the area of the square with side 3 cm.", texts=("3 cm²", "6 cm²", "9 cm²", "12 cm²"), answer="C"),
    choice(question="What is $3+4$?", texts=("5", "6", "7", "8."), answer="D", match=Match(tolerance=0.1)),
    choice(question="小明有3个苹果，又买了4个，他一共有多少个苹果？", texts=("5", "6", "7", "8"), answer="C", **ZH),
    choice(question="小车受到的合力是（　　）", texts=("2 N", "4 N", "6 N"), answer="A", **ZH),
    choice(question="Which of the following is a prime?", texts=("4", "9", "None of the above"), answer="C"),
    choice(question="下列说法正确的是", texts=("甲", "乙", "以上都对"), answer="C", **ZH),
    multi(question="Which of the following statements are true?", answer="BCD"),
    multi(question="下列说法正确的是", texts=("水是液体", "冰是固体", "铁是液体"), answer="AB", **ZH),
    multi(answer="ABCD"),
    blank(question="如图，已知半径为 3，求圆的面积。____", answer=(("$9\\pi$", "9π"),), **ZH),
    blank(question="光在真空中的速度比在水中____（填“大”或“小”）。", answer=(("大",),), **ZH),
    blank(question="Calculate the sum of 12 and 30: ____", answer=(("42", "forty-two"),), match=Match(tolerance=0.05)),
    blank(question="The length is ____.", answer=(("2.50 m",),), match=Match(tolerance=0.02)),
    blank(question="$x$ is ____ and $y$ is ____", answer=(("1",), ("2",))),
    true_false(answer=False, question="Calculate the sum: is it true that it is 12?"),
    true_false(answer=False, question="判断：地球绕着太阳转动。", **ZH),
    open_ended(question="Calculate $12 \\times 12$.", answer="144"),
    open_ended(question="Does ice float on water (yes or no)?", answer="Yes"),
    open_ended(question="小明买了3支笔，每支5元，一共花了多少元？", answer="15元", **ZH),
    open_ended(question="一共有多少人？", answer="32", **ZH),
    instructions(),
    instructions(question="冰为什么浮在水面上？不要用逗号。", **ZH),
]  # fmt: skip
MADE = [msgspec.structs.replace(one, id=f"{number}-{one.id}") for number, one in enumerate([*mixed(), *MORE])]


def item(sample: Sample) -> Item:
    pixels = array(30, 40)
    return Item(sample, {ref: Picture(pixels, "png") for ref in sample.all_images})


def variants(name: str, samples: Iterable[Sample], draws: int) -> Iterator[tuple[Sample, Sample]]:
    """A sample and what an operator makes of it, for every draw that it takes, in every form."""
    loaded = plugins.load("operators", name)
    for sample, used in product(samples, [loaded(), *(loaded(form=form) for form in loaded.forms)]):
        for number in range(draws):
            params = used.params(stream("truth", sample.id, number), sample)
            made = params if isinstance(params, NotApplicable) else used.apply(item(sample), params)
            if not isinstance(made, NotApplicable):
                yield sample, made.sample


def chosen(sample: Sample) -> list[Option]:
    """The right options."""
    assert isinstance(sample.answer, tuple)
    return [option for option in sample.options if option.label in sample.answer]


def accepted(sample: Sample) -> tuple[str, ...]:
    """What is accepted for the one blank or the open question."""
    return (sample.answer,) if isinstance(sample.answer, str) else tuple(sample.answer[0])  # type: ignore[index]


# what each operator owes


def assert_reworded(before: Sample, after: Sample) -> None:
    """Answer, options, match and everything else but the question stay."""
    assert after.question != before.question
    assert msgspec.structs.replace(after, question=before.question) == before


def assert_shuffled(before: Sample, after: Sample) -> None:
    """The gold moves with its text and picture; the labels stay in order."""
    shown = [[(option.text, option.image) for option in side.options] for side in (before, after)]
    assert shown[0] != shown[1] and sorted(shown[0], key=str) == sorted(shown[1], key=str)
    assert after.labels == before.labels
    right = [sorted(((o.text, o.image) for o in chosen(side)), key=str) for side in (before, after)]
    assert right[0] == right[1] and len(right[0]) == len(before.answer)  # type: ignore[arg-type]
    assert (after.question, after.match, after.task_type) == (before.question, before.match, before.task_type)


def assert_converted(before: Sample, after: Sample) -> None:
    """The new gold says what the old one said; of several blanks, what was said of the one that is asked for."""
    if before.task_type == "fill_in_the_blank" and len(before.answer) > 1:  # type: ignore[arg-type]
        ones = [with_one_blank(before, place) for place in range(len(before.answer))]  # type: ignore[arg-type]
        before = next(one for one in ones if isinstance(one, Sample) and after.question.startswith(one.question))
    if before.task_type == "true_false":
        assert [option.text for option in chosen(after)] == [TRUTHS[before.language][bool(before.answer)]]
        assert sorted(option.text for option in after.options) == sorted(TRUTHS[before.language].values())
    elif after.task_type == "true_false":
        assert_claimed(before, after)
    elif after.task_type == "single_choice":
        right, (gold,) = accepted(before), chosen(after)
        assert gold.text == right[0].strip()
        others = [option.text for option in after.options if option is not gold]
        assert others and not [text for text in others for known in right if same(text, known, before.match)]
    elif before.options:
        (gold,) = chosen(before)
        said = gold.text.strip().rstrip("。．.,，;； ")
        if after.task_type == "fill_in_the_blank" and len(after.answer) > 1:  # type: ignore[arg-type]
            assert [*after.answer] == [(part.strip(),) for part in re.split("[,，;；、]", said)]  # type: ignore[misc]
        else:
            assert accepted(after) == (said,)
    else:
        assert accepted(after)[0] == accepted(before)[0].strip()
        assert set(accepted(after)) <= {text.strip() for text in accepted(before)}


def assert_claimed(before: Sample, after: Sample) -> None:
    """A claim is true where it claims just what is right."""
    claim = after.question.rpartition("\n")[2]
    found = FILLED.fullmatch(claim)
    assert found, claim
    filled = (found["a"] or found["b"] or found["c"]).removeprefix("“").removesuffix("”")
    if before.options:
        named = [one for one in before.options if filled in (one.label, one.text.strip().rstrip("。．.,，;；"))]
        assert any(one.label in before.answer for one in named) is after.answer, claim  # type: ignore[operator]
        listed = after.question.removeprefix(before.question)
        shown = [option.text in listed or unwrapped_text(option.text) == option.label for option in before.options]
        assert all(shown) or filled not in before.labels, "a letter is claimed where letters stand"
        return
    assert after.answer is (filled == accepted(before)[0].strip())
    assert after.answer or not any(same(filled, known, before.match) for known in accepted(before))


OWED = {
    "text.convert": assert_converted,
    "text.null": assert_reworded,
    "text.paraphrase": assert_reworded,
    "text.shuffle": assert_shuffled,
    "text.substitute": assert_reworded,
}


def test_the_made_samples_are_of_all_kinds() -> None:
    assert {(one.task_type, one.language) for one in MADE} == {(kind, language) for kind in OURS for language in TRUTHS}


@pytest.mark.parametrize("name", TEXT)
def test_the_gold_of_made_questions_goes_along(name: str) -> None:
    seen = set()
    for before, after in variants(name, MADE, draws=24):
        OWED[name](before, after)
        seen.add((before.task_type, after.task_type))
    if name == "text.convert":
        assert seen == CONVERSIONS
    else:
        assert seen


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXT)
def test_the_gold_of_real_questions_goes_along(name: str) -> None:
    sets = ("gaokao_bench", "gaokao_mm", "math_vision", "scemqa", "tal_scq5k", "we_math")
    samples = [one for each in sets for one in list(real(each).values())[:: max(1, len(real(each)) // 40)][:40]]
    assert len(samples) >= 200
    made = 0
    for before, after in variants(name, samples, draws=3):
        OWED[name](before, after)
        made += 1
    assert made > 150


@pytest.mark.parametrize("name", PICTURE)
def test_another_picture_changes_no_word_and_no_answer(name: str) -> None:
    made = list(variants(name, [one for one in MADE if one.all_images], draws=2))
    assert made and all(before == after for before, after in made)


def test_these_are_all_operators_of_ours() -> None:
    ours = {name for name, file in plugins.names("operators").items() if file.startswith("perturb.")}
    assert ours == {*TEXT, *PICTURE, "text.counterfactual"}  # which changes it: test_counterfactual.py
