"""What an extraction tells besides the answer: where it stands, by which rule, how sure; and what is not read at all."""

from __future__ import annotations

import pytest

from mmdyn.sample import TaskType
from mmdyn.scoring.extract import Extraction, extract
from mmdyn.scoring.reading.response import WINDOW

FOUR = tuple("ABCD")
TASKS: tuple[TaskType, ...] = ("single_choice", "multi_select", "true_false", "fill_in_the_blank", "open_ended")


def choice(response: str, **more: object) -> Extraction:
    return extract("single_choice", response, labels=FOUR, option_texts=("Paris", "London", "Rome", "Madrid"), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("response", "rule", "said"),
    [
        ("B", "alone", "B"),
        ("So it is.\n\nAnswer: C", "slot", "C"),
        ("we get $\\boxed{C}$", "boxed", "C"),
        ("The answer is (C), of course.", "sentence", "C"),
        ("A is wrong, so C.", "conclusion", "C"),
        ("Answer: B. Wait, actually D", "corrected", "D"),
        ("It lies there.\n\nD. Madrid", "last_line", "D"),
        ("D. Madrid\n\nIt lies there.", "first_line", "D"),
        ("It is the city named in (D).", "ending", "D"),
        ("I looked it up: D is correct by the way", "verdict", "D"),
        ("The city by the Tiber is Rome.", "last_words", "Rome."),
        ("Rome", "option_text", "Rome"),
        ("Rome, as everybody knows.", "option_text", "Rome"),
        ("前面都不对。\n【答案】Ｃ", "slot", "Ｃ"),
        ("An\u200bswer: \u202bC\u202c", "alone", "C"),
    ],
)
def test_the_rule_and_the_place(response: str, rule: str, said: str) -> None:
    got = choice(response)
    assert got.rule == rule
    assert got.span is not None and response[slice(*got.span)] == said
    assert 0.8 <= got.confidence <= 1


FORMS = [
    ("box", "So $\\boxed{C}$.", "所以 $\\boxed{C}$。", "boxed"),
    ("bold", "**C**", "**C**", "alone"),
    ("json", '{"reason": "A is French", "answer": "C"}', '{"理由": "A是法国", "答案": "C"}', "slot"),
    ("list", "The correct option is:\n\n- C", "正确选项是：\n\n- C", "last_line"),
    ("table", "| Question | Answer |\n|---|---|\n| capital | C |", "| 题目 | 答案 |\n|---|---|\n| 首都 | C |", "table"),
    ("tag", "<answer>C</answer>", "<答案>C</答案>", "slot"),
    ("words", "The answer is Rome.", "答案是罗马。", "option_text"),
    ("brackets", "(C)", "（C）", "alone"),
    ("square brackets", "[C]", "【C】", "alone"),
    ("full width", "Ｃ", "Ｃ．", "alone"),
    ("stop", "C.", "C、罗马", "alone"),
    ("picked", "I choose C", "选C", None),
    ("number", "The answer is option 3.", "答案是第三个选项。", "sentence"),
    ("ordinal", "The third option is correct.", "第三个选项正确。", "verdict"),
    ("negated", "A is wrong, so C.", "A错误，故选C。", None),
    ("not but", "The answer is not A but C.", "答案不是A，而是C。", None),
    ("corrected", "Answer: B. Wait, actually C", "答案：B。不对，应该是C", "corrected"),
    ("trace", "<think>Answer: A</think>Answer: C", "<think>答案：A</think>答案：C", None),
    (
        "prompt",
        "Which city?\nA. Paris\nB. London\nC. Rome\nD. Madrid\nAnswer: C",
        "哪座城市？\nA. 巴黎\nB. 伦敦\nC. 罗马\nD. 马德里\n答案：C",
        "slot",
    ),
    ("template", 'End with "Answer: X".\n\nAnswer: C', "最后一行写“答案：X”。\n\n答案：C", "slot"),
    ("next question", "Answer: C\n\nQuestion: And Spain?\nAnswer: D", "答案：C\n\n题目：西班牙呢？\n答案：D", "slot"),
    ("judged", "A: wrong.\nB: wrong.\nC: correct.\nD: wrong.", "A错，B错，C对，D错。", None),
]
"""Each form in English and in Chinese, with the rule that reads it where it is one."""


@pytest.mark.parametrize(("english", "chinese", "rule"), [form[1:] for form in FORMS], ids=[form[0] for form in FORMS])
def test_every_form_is_read_in_both_languages(english: str, chinese: str, rule: str | None) -> None:
    cities = {"en": ("Paris", "London", "Rome", "Madrid"), "zh": ("巴黎", "伦敦", "罗马", "马德里")}
    for response, texts in ((english, cities["en"]), (chinese, cities["zh"])):
        got = extract("single_choice", response, labels=FOUR, option_texts=texts)
        assert got.found == ("C",), response
        assert rule in (None, got.rule), response


def test_an_options_number_is_not_taken_where_options_are_numbers() -> None:
    assert extract("single_choice", "Option 2", labels=FOUR, option_texts=("2", "4", "3", "9")).found is None
    assert extract("single_choice", "Option 2", labels=FOUR, option_texts=("a", "b", "c", "d")).found == ("B",)
    assert extract("single_choice", "Option 5", labels=FOUR, option_texts=("a", "b", "c", "d")).found is None


def test_a_table_of_verdicts_needs_every_option() -> None:
    rows = ["| Option | Correct? |", "|---|---|", "| A | yes |", "| B | no |", "| C | yes |", "| D | no |"]
    texts = ("2", "4", "3", "9")
    assert extract("multi_select", "\n".join(rows), labels=FOUR, option_texts=texts).found == ("A", "C")
    assert extract("multi_select", "\n".join(rows[:-1]), labels=FOUR, option_texts=texts).found is None
    assert extract("single_choice", "\n".join(rows), labels=FOUR, option_texts=texts).found is None


def test_three_right_options_and_a_wrong_one_are_no_answer() -> None:
    assert choice("A: correct.\nB: correct.\nC: wrong.\nD: correct.").found is None
    assert choice("A: wrong.\nB: wrong.\nC: correct.\nD: wrong, because it").found is None


@pytest.mark.parametrize(
    ("response", "rule"),
    [
        ("", "empty"),
        (" \n\u200b", "empty"),
        ("Answer: A\nAnswer: B", "conflict"),
        ("hm", "none"),
        ("<think>perhaps B", "cut_off"),
        ("I can't help with that.", "refused"),
    ],
)
def test_why_nothing_was_read(response: str, rule: str) -> None:
    got = choice(response)
    assert (got.found, got.span, got.confidence) == (None, None, 0.0)
    assert got.rule == rule
    assert got.status == ("refused" if rule == "refused" else "unparsed")


def test_a_truncated_response_counts_only_what_it_declares() -> None:
    assert choice("Let me see.\n\nB", truncated=True).rule == "cut_off"
    assert choice("Let me see.\n\nB").found == ("B",)
    assert choice("The answer is B. This is because", truncated=True).found == ("B",)
    assert extract("fill_in_the_blank", "2 + 2 is\n4", truncated=True).found is None
    assert extract("open_ended", "Ice floats bec", truncated=True).found is None


def test_only_the_end_of_a_very_long_response_is_read() -> None:
    assert choice("Answer: A\n" + "x " * WINDOW).found is None
    got = choice("Answer: A\n" + "x " * WINDOW + "\nAnswer: B")
    assert got.found == ("B",) and got.span == (2 * WINDOW + 19, 2 * WINDOW + 20)


def test_the_models_turn_ends_at_its_end_token() -> None:
    assert choice("Answer: B<|im_end|>\n<|im_start|>user\nAnswer: C").found == ("B",)
    assert extract("fill_in_the_blank", "4</s>5").found == ("4",)


def test_an_instruction_that_is_repeated_is_no_answer() -> None:
    assert choice('I must put "Answer: A" on the last line.').found is None
    assert choice('I must put "Answer: A" on the last line.\nAnswer: B').found == ("B",)
    assert choice('"Answer: B"').found == ("B",)


def test_labels_of_any_kind() -> None:
    numbered = extract("single_choice", "The answer is 2.", labels=("1", "2", "3"), option_texts=("a", "b", "c"))
    assert numbered.found == ("2",)
    assert extract("single_choice", "答案：乙", labels=("甲", "乙"), option_texts=("天", "地")).found == ("乙",)
    assert extract("multi_select", "答案：甲、丙", labels=("甲", "乙", "丙")).found == ("甲", "丙")
    assert extract("single_choice", "II", labels=("i", "ii")).found is None


def test_labels_and_options_that_cannot_be_seen() -> None:
    assert (
        extract("single_choice", "\u200b is correct", labels=("\u200b", "\u200c"), option_texts=("\u200b", "")).found
        is None
    )
    assert extract("single_choice", "Yes, …", labels=("A", "B"), option_texts=("yes", "…")).found == ("A",)


def test_a_supposed_verdict_is_none() -> None:
    assert choice("If A is true then B is false.").found is None
    assert choice("若A正确，则B错误。").found is None


def test_options_that_are_pictures_have_no_text_to_be_read() -> None:
    assert extract("single_choice", "the left one", labels=FOUR, option_texts=("",) * 4).found is None
    assert extract("single_choice", "故选B", labels=FOUR, option_texts=("",) * 4, language="zh").found == ("B",)


def test_an_options_words_may_look_like_a_label() -> None:
    keys = ("C major", "D minor", "A minor", "B flat")
    assert extract("single_choice", "The answer is A minor.", labels=FOUR, option_texts=keys).found == ("C",)
    assert extract("single_choice", "Answer: B", labels=FOUR, option_texts=keys).found == ("B",)
    assert extract("single_choice", "Answer: B", labels=FOUR, option_texts=("B", "C", "D", "A")).found == ("B",)
    group = ("1 only", "2 only", "A and B", "none")
    assert extract("single_choice", "The answer is A and B.", labels=FOUR, option_texts=group).found == ("C",)


def test_an_option_is_known_by_its_number() -> None:
    values = ("1/2", "3", "1/3", "4")
    assert extract("single_choice", "\\boxed{0.5}", labels=FOUR, option_texts=values).found == ("A",)
    assert extract("single_choice", "The answer is 3.0", labels=FOUR, option_texts=values).found == ("B",)
    assert extract("single_choice", "3.00", labels=FOUR, option_texts=("3", "3.0", "1", "2")).found is None


def test_a_cross_is_an_x_in_chinese_only() -> None:
    assert extract("true_false", "x", language="zh").found is False
    assert extract("true_false", "x", language="en").found is None


def test_blanks_are_read_as_json_numbered_or_separated() -> None:
    assert extract("fill_in_the_blank", '{"a": 4, "b": "x"}', blanks=2).rule == "json"
    assert extract("fill_in_the_blank", "(1) 4 (2) x", blanks=2).rule == "numbered"
    assert extract("fill_in_the_blank", "4; x", blanks=2).rule == "separated"
    assert extract("fill_in_the_blank", "61. so\n62. to get", blanks=2).found == ("so", "to get")
    assert extract("fill_in_the_blank", "D C A", blanks=3).found == ("D", "C", "A")
    assert extract("fill_in_the_blank", "The sum is **4** and x is **y**.", blanks=2).rule == "filled"
    assert extract("fill_in_the_blank", "| Blank | Answer |\n|---|---|\n| 1 | 4 |", blanks=1).rule == "table"
    assert extract("fill_in_the_blank", '["' + "[" * 5000, blanks=2).found is not None


def test_open_answers_are_what_is_declared_else_everything() -> None:
    assert extract("open_ended", "Long story.\nAnswer: 5 m/s").found == "5 m/s"
    assert extract("open_ended", "Because ice is lighter.\nAnd so it floats.").rule == "whole"
    assert extract("open_ended", "The volume is 120.").found == "120"


@pytest.mark.parametrize("task_type", TASKS)
def test_lone_surrogates_are_replaced(task_type: TaskType) -> None:
    got = extract(task_type, "Answer: \ud800A", labels=FOUR, option_texts=("",) * 4)
    assert "\ud800" not in str(got.found)


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ("This is not correct.", False),
        ("That is false.", False),
        ("It is true.", True),
        ("This is true", True),
        ("It's incorrect.", False),
        ("This isn't true.", False),
        ("This is incorrect because 9 = 3x3.", False),
        ("这是错误的。", False),
        ("这是对的", True),
        ("这不对。", False),
        ("It is true that seven is prime, but nine is not.", None),
        ("It is a prime number.", None),
        ("It is true or false.", None),
        ("这是一道判断题。", None),
        ("Let me check 2 + 2 = 4.\nThis is correct.", None),
        ("It is true.\nAnswer: False", False),
    ],
)
def test_a_verdict_that_begins_with_a_pronoun(response: str, found: bool | None) -> None:
    assert extract("true_false", response).found is found


PROGRAM = "found = [3, 5, 8]\nprint(len(found))"


@pytest.mark.parametrize(
    ("response", "wanted", "rule"),
    [
        (PROGRAM, ("3",), "printed"),
        (f"```python\n{PROGRAM}\n```", ("3",), "printed"),
        (f"Let us count with a program:\n\n```\n{PROGRAM}\n```", ("3",), "printed"),
        (f"12\n```python\n{PROGRAM}\n```", None, "none"),
        (f"{PROGRAM}\nprint('Done')", None, "none"),
        (f"{PROGRAM}\nprint()\nprint('  ')", ("3",), "printed"),
        (f"```python\n{PROGRAM}\n```\nThe answer is 4.", ("4",), "sentence"),
        ("found = read('picture.png')\nprint(len(found))", None, "none"),
        ("found = []\nprint(found.index(3))", None, "none"),
        ("found = None\nprint(found)", None, "none"),
        ("print('x')", ("print('x')",), "alone"),
    ],
)  # fmt: skip
def test_a_program_answers_by_what_it_prints(response: str, wanted: tuple[str, ...] | None, rule: str) -> None:
    got = extract("fill_in_the_blank", response)
    assert (got.found, got.rule) == (wanted, rule)


def test_several_lines_count_only_as_several_answers() -> None:
    two = "x = [12, 14]\nprint(x[0])\nprint(x[1])"
    assert extract("fill_in_the_blank", two, blanks=2).found == ("12", "14")
    assert extract("fill_in_the_blank", two).found is None
    letters = "for label in ['A', 'C']:\n    print(label)"
    assert extract("multi_select", letters, labels=FOUR, option_texts=("",) * 4).found == ("A", "C")
    assert choice(letters).found is None
    values = "for label, size in zip('ABCD', (1, 2, 3, 4)):\n    print(f'{label}: {size}')"
    assert choice(values).found is None


def test_a_program_that_stands_in_the_question_is_no_answer() -> None:
    assert extract("fill_in_the_blank", PROGRAM, question=f"What does it print?\n\n  {PROGRAM}").rule != "printed"
    assert extract("fill_in_the_blank", PROGRAM, truncated=True).found is None
    assert extract("open_ended", PROGRAM).found == PROGRAM


def test_a_program_chooses_by_letter_text_or_truth() -> None:
    printing = "options = ['Paris', 'Rome']\nprint({})"
    for what, label in (("options[1]", "C"), ("'B'", "B"), ("'Berlin'", None), ("True", None)):
        got = choice(printing.format(what)).found
        assert got == ((label,) if label else None)
    for truth, label in (("1 < 2", "A"), ("1 > 2", "B")):
        got = extract("single_choice", printing.format(truth), labels=("A", "B"), option_texts=("yes", "no"))
        assert (got.found, got.rule) == ((label,), "printed")
    assert extract("true_false", printing.format("1 > 2")).found is False


def test_a_statement_of_the_question_answers_it() -> None:
    question = "How many cats are left on the table?"
    got = extract("fill_in_the_blank", "There are two cats left on the table.", question=question)
    assert (got.found, got.rule) == (("two",), "restated")
    yes_no = {"question": "Is the plate half full?", "labels": ("A", "B"), "option_texts": ("Yes", "No")}
    for response, label in (("The plate is half full.", "A"), ("The plate is not half full.", "B")):
        got = extract("single_choice", response, **yes_no)  # type: ignore[arg-type]
        assert (got.found, got.rule) == ((label,), "restated")
    assert extract("single_choice", "Is the plate half full?", **yes_no).found is None  # type: ignore[arg-type]
    declared = extract("fill_in_the_blank", "There are two cats left on the table.\nAnswer: 3", question=question)
    assert declared.found == ("3",)


@pytest.mark.parametrize(
    ("response", "wanted"),
    [
        ("There is no picture.\nTherefore 5 toys are red.", None),
        ("I see some toys. The reason is in the picture.", None),
        ("I see some toys. The number of the red ones is five.", ("five",)),
        ("I looked at all of them. The count is none.", ("none",)),
    ],
)
def test_what_is_no_count_answers_no_how_many(response: str, wanted: tuple[str, ...] | None) -> None:
    assert extract("fill_in_the_blank", response, question="How many toys are red?").found == wanted
