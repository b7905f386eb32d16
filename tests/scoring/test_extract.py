"""What an extraction tells besides the answer: where it stands, by which rule, how sure; and why nothing is read."""

from __future__ import annotations

from typing import Any

import pytest

from mmdyn.sample import Answer
from mmdyn.scoring.extract import Extraction, extract
from mmdyn.scoring.extract.response import WINDOW

FOUR = tuple("ABCD")
CITIES = {"labels": FOUR, "option_texts": ("Paris", "London", "Rome", "Madrid")}
TASKS: tuple[str, ...] = ("single_choice", "multi_select", "true_false", "fill_in_the_blank", "open_ended")


def choice(response: str, **more: Any) -> Extraction:
    return extract("single_choice", response, **CITIES | more)


def several(response: str) -> Extraction:
    return extract("multi_select", response, **CITIES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task_type", "response", "answer", "rule", "said"),
    [
        ("single_choice", "B", ("B",), "alone", "B"),
        ("single_choice", "So it is.\n\nAnswer: C", ("C",), "slot", "C"),
        ("single_choice", "we get $\\boxed{C}$", ("C",), "boxed", "C"),
        ("single_choice", "The answer is (C), of course.", ("C",), "sentence", "C"),
        ("single_choice", "A is wrong, so C.", ("C",), "concluded", "C"),
        ("single_choice", "Answer: B. Wait, actually D", ("D",), "corrected", "D"),
        ("single_choice", "D. Madrid\n\nIt lies there.", ("D",), "line", "D"),
        ("single_choice", "A, B: wrong. C is correct.", ("C",), "judged", "C"),
        ("single_choice", "Rome", ("C",), "option_text", "Rome"),
        ("single_choice", "Rome, as everybody knows.", ("C",), "said", "Rome"),
        ("multi_select", "Answer: A, C", ("A", "C"), "slot", "A, C"),
        ("true_false", "The statement is false.", False, "concluded", "false"),
        ("true_false", "True, since 7 has no divisors.", True, "opening", "True"),
        ("fill_in_the_blank", "The sum is 4.", ("4",), "stated", "4"),
        ("fill_in_the_blank", "The answer is 4, because 2 + 2 = 4.", ("4",), "sentence", "4"),
        ("open_ended", "Long story.\nAnswer: 5 m/s", "5 m/s", "slot", "5 m/s"),
        # the span counts characters of the response as it came
        ("single_choice", "<think>Answer: A</think>\u200bAnswer: Ｃ", ("C",), "slot", "Ｃ"),
        ("single_choice", "\u200bSo\u200b the answer is \u200b(\u202eD\u200b).", ("D",), "sentence", "D"),
        ("true_false", "Verdict: tr\u200bue", True, "slot", "tr\u200bue"),
        ("fill_in_the_blank", "So the an\u200bswer is\u200b 4\u200b2.", ("42",), "sentence", "4\u200b2"),
    ],
)
def test_the_rule_and_the_place(task_type: str, response: str, answer: Answer, rule: str, said: str) -> None:
    got = extract(task_type, response, **CITIES if task_type in ("single_choice", "multi_select") else {})  # type: ignore[arg-type]
    assert (got.found, got.status, got.rule) == (answer, "ok", rule)
    assert got.span is not None and response[slice(*got.span)] == said


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("The age gap between the two people in the image is 20 years.", "20 years"), ("The number of students is 20.", "20"),
        ("The sum of the ages of the two friends is 31.", "31"), ("The average height of the students in the class is 1.62 m.", "1.62 m"),
        ("学生的总人数是20。", "20"), ("老师和学生的人数之和是31。", "31"), ("小明的速度是5 m/s。", "5 m/s"),
    ],
)  # fmt: skip
def test_what_is_measured_of_people_is_nobody_s_word(response: str, value: str) -> None:
    assert extract("fill_in_the_blank", response).found == (value,)


@pytest.mark.parametrize(
    "response",
    [
        "The answer of most people is 15.", "The solution of the student is 15.", "Some people's answer is 15.", "A student's result is 15.",
        "The students' answer is 15.", "Most people's choice of number is 15.", "The students say the number of people is 15.", "The response of the people is 15.",
        "The number that the students guess is 15.", "The number of people is not 15.", "学生的答案是15。", "小明的结果是15。", "大多数人的答案是15。",
    ],
)  # fmt: skip
def test_what_others_say_is_no_answer(response: str) -> None:
    assert extract("fill_in_the_blank", response).found is None


@pytest.mark.parametrize(("blanks", "response", "texts", "rule"), [
    (2, '{"a": 4, "b": "x"}', ("4", "x"), "json"), (2, "(1) 4 (2) x", ("4", "x"), "numbered"),
    (3, "(1) 4 (3) 6", ("4", "", "6"), "numbered"), (5, "41-45 DAGFE", tuple("DAGFE"), "separated"),
    (2, "Answer: 4; x", ("4", "x"), "separated"), (2, "Answer: 4\nAnswer: x", ("4", "x"), "slot"),
    (2, '["' + "[" * 5000, None, "none"),
])  # fmt: skip
def test_several_blanks_are_read_as_json_numbered_or_separated(
    blanks: int, response: str, texts: tuple[str, ...] | None, rule: str
) -> None:
    got = extract("fill_in_the_blank", response, blanks=blanks)
    assert (got.found, got.rule) == (texts, rule)


def test_the_plainer_an_answer_is_announced_the_surer_it_is() -> None:
    said = [
        "C", "Answer: C", "The answer is C.", "Answer: B. Wait, actually C", "A is wrong, so C.", "Rome, of course.",
    ]  # fmt: skip
    confidences = [choice(response).confidence for response in said]
    assert confidences == sorted(set(confidences), reverse=True)
    assert confidences[0] == 1 and confidences[-1] >= 0.8


@pytest.mark.parametrize("task_type", TASKS)
@pytest.mark.parametrize(("response", "rule"), [
    ("", "empty"), (" \n\u200b", "empty"), ("hm hm hm hm hm hm, hm and hm and hm", "none"),
    ("<think>perhaps B", "cut_off"), ("I can't help with that.", "refused"), ("抱歉，我无法回答。", "refused"),
])  # fmt: skip
def test_why_nothing_was_read(task_type: str, response: str, rule: str) -> None:
    got = extract(task_type, response, **CITIES)  # type: ignore[arg-type]
    assert (got.found, got.span, got.confidence) == (None, None, 0.0)
    assert got.rule == rule
    assert got.status == ("refused" if rule == "refused" else "unparsed")


@pytest.mark.parametrize(("task_type", "response"), [
    ("single_choice", "Answer: A\nAnswer: B"), ("single_choice", "Answer: A or B"),
    ("single_choice", "Answer: A. Wait, that's wrong."), ("single_choice", "Answer: A, B"),
    ("multi_select", "Answer: A, C\nAnswer: A, D"), ("true_false", "Answer: true\nAnswer: false"),
    ("fill_in_the_blank", "Answer: 4\nAnswer: 5"), ("open_ended", "Answer: 4\nAnswer: 5"),
])  # fmt: skip
def test_answers_that_differ_or_are_taken_back_are_a_conflict(task_type: str, response: str) -> None:
    got = extract(task_type, response, **CITIES)  # type: ignore[arg-type]
    assert (got.found, got.status, got.rule) == (None, "unparsed", "conflict")


def test_an_answer_behind_an_apology_is_read() -> None:
    assert choice("I'm unable to view the image. Answer: B").found == ("B",)


@pytest.mark.parametrize(("response", "wanted", "chosen"), [
    ("故A、B、C错误，D正确。", ("D",), ("D",)), ("所以B、C错误", None, None), ("Thus B, C are wrong.", None, None),
    ("D. The work is not zero, so D is wrong.", None, None),
    ("So A, B are incorrect and C, D are correct.", None, ("C", "D")),
])  # fmt: skip
def test_options_that_are_called_wrong_are_not_chosen(
    response: str, wanted: tuple[str, ...] | None, chosen: tuple[str, ...] | None
) -> None:
    assert (choice(response).found, several(response).found) == (wanted, chosen)


def test_options_that_are_called_right_are_not_chosen_where_the_wrong_one_is_asked_for() -> None:
    response = "A, B and C are wrong and D is correct."
    assert choice(response, question="Which is correct?").found == ("D",)
    assert choice(response, question="Which is not correct?").found is None
    assert choice(response, question="下列说法错误的是").found is None


@pytest.mark.parametrize(("response", "found"), [
    ("<think>Answer: A</think>Answer: B", ("B",)), ("◁think▷Answer: A◁/think▷Answer: B", ("B",)),
    ("Answer: A</think>\nAnswer: B", ("B",)), ("<thinking>It is A.</thinking>B", ("B",)),
    ("<think>It is A.</think>", None), ("<think>I would say Answer: A, but let me see.\nStill", None),
    ("<think>So it goes.\nAnswer: B", ("B",)),
])  # fmt: skip
def test_reasoning_is_not_read(response: str, found: tuple[str, ...] | None) -> None:
    assert choice(response).found == found


@pytest.mark.parametrize(
    "further", ["<|im_end|>\n<|im_start|>user\nAnswer: C", "</s>Answer: C", "\n\nQuestion: And Spain?\nAnswer: D"]
)
def test_what_follows_the_models_turn_is_not_read(further: str) -> None:
    assert choice(f"Answer: B{further}").found == ("B",)


def test_a_truncated_response_counts_only_what_it_announces() -> None:
    assert choice("Let me see.\n\nB").found == ("B",)
    assert choice("Let me see.\n\nB", truncated=True).rule == "cut_off"
    assert choice("The answer is B. This is because", truncated=True).found == ("B",)
    for task_type, response in (
        ("true_false", "Well.\nFalse"),
        ("true_false", "I agree: the statement is true"),
        ("fill_in_the_blank", "2 + 2 is\n4"),
        ("open_ended", "The volume is 120"),
    ):
        got = extract(task_type, response, truncated=True)  # type: ignore[arg-type]
        assert (got.found, got.rule) == (None, "cut_off")


def test_only_the_end_of_a_very_long_response_is_read() -> None:
    assert choice("Answer: A\n" + "x " * WINDOW).found is None
    got = choice("Answer: A\n" + "x " * WINDOW + "\nAnswer: B")
    assert got.found == ("B",) and got.span == (2 * WINDOW + 19, 2 * WINDOW + 20)


@pytest.mark.parametrize(("labels", "response", "found"), [
    (("1", "2", "3"), "The answer is 2.", ("2",)), (("甲", "乙"), "答案：乙", ("乙",)), (("①", "②", "③"), "答案：②", ("②",)),
    (("i", "ii"), "Answer: ii", ("ii",)), (("i", "ii"), "II", None), (("A1", "A2"), "Answer: A2", ("A2",)),
    (("\u200b", "\u200c"), "\u200b is correct", None), ((), "Answer: A", None),
])  # fmt: skip
def test_labels_of_any_kind(labels: tuple[str, ...], response: str, found: tuple[str, ...] | None) -> None:
    assert extract("single_choice", response, labels=labels).found == found


STATEMENTS = ("i, iii", "ii, v", "i, ii, v", "iv")


@pytest.mark.parametrize(
    ("texts", "response", "found"),
    [
        (STATEMENTS, "The correct statements are v, ii", "B"),
        (STATEMENTS, "The answer is (v) and (ii).", "B"),
        (STATEMENTS, "Answer: V, I, II", "C"),
        (STATEMENTS, "正确的是 v、ii", "B"),
        (STATEMENTS, "The correct statements are v and iii", None),
        (STATEMENTS, "The correct statements are not v, ii", None),
        (STATEMENTS, "The incorrect statements are v, ii", None),
        (("①②", "①③④", "②④", "①②③④"), "正确的是④、③、①", "B"),
        (("①②", "①③④", "②④", "①②③④"), "①②错误，③④正确", None),
        (("i, ii, iii", "iii, ii, i", "ii, i, iii", "i, iii, ii"), "The answer is ii, iii, i", None),
        (("1, 2", "2, 3", "3, 4", "4, 5"), "The answer is 2, 1", None),
        (("i, ii", "i, iii", "x, v", "iv"), "The answer is v, x", None),
    ],
    ids=str,
)
def test_listed_statements_are_a_set_where_no_option_says_otherwise(
    texts: tuple[str, ...], response: str, found: str | None
) -> None:
    read = extract("single_choice", response, labels=tuple("ABCD"), option_texts=texts, question="Which are correct?")
    assert read.found == (found and (found,))


def test_options_without_a_text_are_read_by_their_labels() -> None:
    pictures = {"option_texts": ("",) * 4}
    assert choice("the left one", **pictures).found is None
    assert choice("故选B", **pictures).found == ("B",)
    assert extract("multi_select", "答案：甲、丙", labels=("甲", "乙", "丙")).found == ("甲", "丙")


@pytest.mark.parametrize(("response", "cross"), [("x", True), ("Answer: x", True), ("×", False)])
def test_an_x_is_a_cross_in_chinese_only(response: str, cross: bool) -> None:
    assert extract("true_false", response, language="zh").found is False
    assert extract("true_false", response, language="en").found is (None if cross else False)


@pytest.mark.parametrize("task_type", TASKS)
def test_lone_surrogates_are_replaced(task_type: str) -> None:
    got = extract(task_type, "Answer: \ud800A", labels=FOUR, option_texts=("",) * 4)
    assert "\ud800" not in str(got.found)
