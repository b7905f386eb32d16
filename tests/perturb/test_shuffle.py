"""text.shuffle: options in another order, gold along with them, or a reason why not."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import msgspec
import pytest
from making_items import apply, change, draw, item, refusal

from making import blank, choice, multi, open_ended, true_false
from mmdyn.keys import stream
from mmdyn.sample import Option, Sample
from perturb import NotApplicable
from perturb.text.shuffle import Shuffle


def test_texts_move_labels_stay_and_gold_moves_along() -> None:
    after = apply(Shuffle(), item(sample=choice(answer="B")), {"order": [2, 0, 3, 1]}).sample
    assert [(option.label, option.text) for option in after.options] == [
        ("A", "four"), ("B", "two"), ("C", "five"), ("D", "three")
    ]  # fmt: skip
    assert after.answer == ("D",)
    assert after.question == choice().question


def test_several_right_options_are_relabelled_in_order() -> None:
    after = apply(Shuffle(), item(sample=multi(answer="AC")), {"order": [3, 2, 1, 0]}).sample
    assert after.answer == ("B", "D")
    assert [option.text for option in after.options if option.label in after.answer] == ["3", "2"]


def test_pictures_and_image_marks_move_with_their_option() -> None:
    options = (Option("A", "", "images/a.png"), Option("B", "see <image 1>"), Option("C", "both", "images/c.png"))
    sample = Sample("s", "Which?", "single_choice", ("A",), options=options, images=("images/q.png",))
    after = apply(Shuffle(), item(sample=sample), {"order": [2, 0, 1]}).sample
    assert after.options == (
        Option("A", "both", "images/c.png"), Option("B", "", "images/a.png"), Option("C", "see <image 1>")
    )  # fmt: skip
    assert after.answer == ("B",)
    assert after.images == sample.images


def test_all_other_orders_are_equally_frequent() -> None:
    orders = Counter(tuple(draw(Shuffle(), choice(), number)["order"]) for number in range(2300))
    assert set(orders) == set(permutations(range(4))) - {(0, 1, 2, 3)}
    assert min(orders.values()) > 60 and max(orders.values()) < 145


def test_what_is_drawn_does_not_depend_on_the_gold_answer() -> None:
    for number in range(50):
        orders = [draw(Shuffle(), choice(answer=answer), number) for answer in "ABCD"]
        assert all(order == orders[0] for order in orders)


@pytest.mark.parametrize("last", ["None of the above", "All of the above", "以上都不对", "No correct answer"])
def test_an_option_that_speaks_of_all_others_stays_last(last: str) -> None:
    sample = choice(texts=("one", "two", "three", last), answer="D")
    for number in range(30):
        after = change(Shuffle(), sample, number)
        assert after.options[3].text == last and after.answer == ("D",)
        assert [option.text for option in after.options[:3]] != ["one", "two", "three"]


def test_both_of_the_above_is_clear_where_two_are_above() -> None:
    assert change(Shuffle(), choice(texts=("one", "two", "Both of the above"), answer="C")).answer == ("C",)
    reason = refusal(Shuffle(), choice(texts=("one", "two", "three", "Both of the above")))
    assert reason == "an option refers to some of the others (D: Both of the above)"


@pytest.mark.parametrize(("sample", "reason"), [
    (choice(options_in_image=True), "the options are in the picture"),
    (choice(texts=("one", "two", "A and B", "neither")), "an option refers to another (C: A and B)"),
    (choice(texts=("甲", "乙", "A、B都对", "丙"), language="zh"), "an option refers to another (C: A、B都对)"),
    (choice(texts=("one", "two", "the first two are correct", "x")), "an option refers to another (C: first two are)"),
    (choice(texts=("one", "None of the above", "two", "three")), "an option refers to some of the others (B: None of the above)"),
    (choice(question="Is option A right?"), "the stem refers to an option (option A)"),
    (choice(question="Which row?\nA. iron\nB. gold"), "the stem lists the options"),
    (choice(texts=("A", "B", "C", "D")), "an option is named by a letter (A: A)"),
    (choice(texts=("Object A", "Object B", "Object C", "none")), "an option is named by a letter (A: Object A)"),
    (choice(texts=("same", "same", "other", "more")), "two options are the same"),
    (choice(texts=("All of the above", "None of the above"), answer="A"), "fewer than two options can move"),
    (choice(texts=("one", "None of the above"), answer="A"), "fewer than two options can move"),
    (true_false(), "there are no options to shuffle (true_false)"),
    (blank(), "there are no options to shuffle (fill_in_the_blank)"),
    (open_ended(), "there are no options to shuffle (open_ended)"),
])  # fmt: skip
def test_refusals(sample: Sample, reason: str) -> None:
    assert refusal(Shuffle(), sample) == reason


def test_numbers_in_order_are_no_reason_to_refuse() -> None:
    assert not isinstance(Shuffle().params(stream(1), choice(texts=("1", "2", "3", "4"))), NotApplicable)


def test_what_may_speak_of_the_old_order_is_left_out() -> None:
    sample = choice(
        explanation="So B is right.",
        hints={"first": "Eliminate C.", "second": "Count the corners."},
        checklist=("Chooses option B", "Counts to three"),
    )
    after = change(Shuffle(), sample)
    assert after.explanation == ""
    assert after.hints == {"second": "Count the corners."}
    assert after.checklist == ("Counts to three",)
    kept = msgspec.structs.replace(
        after, explanation=sample.explanation, hints=sample.hints, checklist=sample.checklist
    )
    assert msgspec.structs.replace(kept, options=sample.options, answer=sample.answer) == sample


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_hostile_texts_take_no_time() -> None:
    for text in (
        "A and " * 20_000, "( " * 50_000, "all of " * 20_000, "选项" * 50_000, "$" * 90_000, " " * 90_000 + "x",
    ):  # fmt: skip
        drawn = Shuffle().params(stream(1), choice(question=text, texts=("one", text, "two")))
        assert drawn == {"order": [1, 0, 2]}
