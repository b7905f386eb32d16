from __future__ import annotations

from pathlib import Path

import pytest
from real_sets import assert_refused, bad, counts, made, real, texts, without

ROW = {
    "id": "2010-2022_Biology_MCQs-1", "kind": "objective", "keyword": "2010-2022_Biology_MCQs", "year": "2019",
    "category": "（新课标Ⅰ）", "question": "3．（6分）下列叙述正确的是（）\nA．甲 B．乙\nC．丙 D．丁\n", "answer": ["B"], "analysis": "故选 B。\n",
    "score": 6,
}  # fmt: skip
PASSAGE = "据此完成1～2题。\n1．甲是（） A．一 B．二 C．三 D．四\n2．乙是（） A．五 B．六 C．七 D．八\n"
SPLIT = {**ROW, "question": PASSAGE, "answer": ["A", "D"], "score": 4}
MATH = {**ROW, "keyword": "2010-2022_Math_I_Fill-in-the-Blank", "question": "13. (5 分) $1+1=$"}
VERSE = {
    **ROW,
    "keyword": "2010-2022_Chinese_Language_Famous_Passages_and_Sentences_Dictation",
    "question": "（1）“______，______”\n（2）“__3__”",
    "answer": "（1）甲，乙\n（2）丙\n",
}


def test_every_row_but_two_becomes_samples() -> None:
    assert counts("gaokao_bench") == {
        "single_choice": 591, "multi_select": 9, "open_ended": 158, "fill_in_the_blank": 44,
    }  # fmt: skip
    assert bad("gaokao_bench") == [
        ("questions.jsonl", 64, "the question begins or ends in the middle of a table: complete it"),
        (
            "questions.jsonl",
            66,
            "the question holds a link to a picture, which the set does not bring: leave the row out",
        ),
    ]


@pytest.mark.parametrize(
    ("id", "answer", "begin", "options"),
    [
        ("2010-2013_English_MCQs-33", "A", "If you don’t like the drink", ["ordered", "are ordering", "will order", "had ordered"]),
        ("2010-2022_Biology_MCQs-104", "B", "某种植物的羽裂叶", ["①或②", "①或④", "②或③", "③或④"]),
        ("2010-2022_Biology_MCQs-115", "A", "为达到实验目的", ["A", "B", "C", "D"]),
        ("2010-2022_History_MCQs-152", "D", "在古代雅典", ["限制权力滥用", "防止官员腐败", "培育权利观念", "增强责任意识"]),
        ("2010-2022_History_MCQs-261", "D", "1931年~1934年中国钢铁业情况表", ["中国民族工业失去发展空间", "民族企业规模日益萎缩", "国民政府实业政策无甚成效", "中国工业基础薄弱落后"]),
        ("2010-2022_Political_Science_MCQs-294", "D", "2020年12月，", ["①②", "①③", "②④", "③④"]),
        ("2010-2022_Political_Science_MCQs-111", "A", "2015年，某国宏观经济", ["① →④→②→③", "④ →①→③→②", "① →③→④→②", "④ →②→①→③"]),
        ("2010-2022_Math_II_MCQs-203", "A", "集合 $M=", [r"$\{2,4\}$", r"$\{2,4,6\}$", r"$\{2,4,6,8\}$", r"$\{2,4,6,8,10\}$"]),
        ("2010-2022_Math_I_MCQs-83", "A", "已知集合 $A=", [r"$A \cap B=\{x \mid x<0\}$", r"$A \cup B=R$", r"$\mathrm{A} \cup \mathrm{B}=\{\mathrm{x} \mid \mathrm{x}>1\}$", r"$A \cap B=\varnothing$"]),
        ("2010-2022_Physics_MCQs-41", "B", "1934 年, 约里奥", ["15 和 28", "15 和 30", "16 和 30", "17 和 31"]),
    ],
)  # fmt: skip
def test_single_questions(id: str, answer: str, begin: str, options: list[str]) -> None:
    sample = real("gaokao_bench")[f"gaokao-bench-{id}"]
    assert sample.answer == (answer,) and texts(sample) == options
    assert sample.question.startswith(begin) and sample.group is None


def test_reading_is_split_into_its_questions() -> None:
    samples = [s for s in real("gaokao_bench").values() if s.group == "gaokao-bench-2010-2022_English_Reading_Comp-118"]
    assert [sample.answer[0] for sample in samples] == ["A", "C", "B", "D"]  # type: ignore[index]
    assert [sample.question.rpartition("\n")[2] for sample in samples] == [
        "8. What makes the application of drones to rail lines possible?",
        "9. What does “maintenance” underlined in paragraph 3 refer to?",
        "10. What function is expected of the rail drones?",
        "11. Which is the most suitable title for the text?",
    ]
    assert texts(samples[2])[0] == "To provide early warning." and texts(samples[3])[3].startswith("How Drones Will")
    passages = {sample.question.rpartition("\n")[0] for sample in samples}
    assert len(passages) == 1 and passages.pop().startswith("C\nCan a small group of drones")
    assert {sample.points for sample in samples} == {2} and {sample.language for sample in samples} == {"en"}


def test_chinese_passages_are_split() -> None:
    samples = real("gaokao_bench")
    usage = samples["gaokao-bench-2010-2022_Chinese_Lang_and_Usage_MCQs-53-2"]
    assert usage.question.endswith("\n18. 文中画横线的句子有语病，下列修改最恰当的一项是（ ）") and usage.answer == (
        "D",
    )
    assert texts(usage)[3] == "文人士大夫参与到印章的创作中，使这门从前主要由工匠传承的技艺，增加了人文意味"
    modern = samples["gaokao-bench-2010-2022_Chinese_Modern_Lit-11-3"]
    assert "\n（3）根据原文内容，下列说法不正确的一项是" in modern.question and modern.answer == ("B",)
    wrapped = samples["gaokao-bench-2010-2022_Chinese_Modern_Lit-28-1"]
    assert texts(wrapped)[1].endswith("流行的工艺设计以及对时代风尚的传播。")
    geography = samples["gaokao-bench-2010-2022_Geography_MCQs-24-2"]
    assert geography.question.endswith("③提升基础教育水平 ④壮大集体经济 实力") and geography.answer == ("D",)


def test_cloze_tests_are_asked_blank_by_blank() -> None:
    samples = real("gaokao_bench")
    first = samples["gaokao-bench-2010-2022_English_Fill_in_Blanks-14-1"]
    assert first.question.endswith("\n\nWhich option fits blank 41?") and first.points == 1.5
    assert texts(first) == ["searching", "planning", "natural", "formal"]
    last = samples["gaokao-bench-2010-2022_English_Fill_in_Blanks-4-20"]
    assert texts(last) == ["noticed", "treated", "respected", "pleased"] and last.answer == ("B",)
    sentence = samples["gaokao-bench-2012-2022_English_Cloze_Test-1-5"]
    assert sentence.question.endswith("Which option fits blank 75?") and len(sentence.options) == 7
    assert sentence.answer == ("A",) and texts(sentence)[0] == "You aren’t like anybody else"
    assert samples["gaokao-bench-2012-2022_English_Cloze_Test-13-3"].question.endswith("Which option fits blank 38?")


def test_words_for_blanks() -> None:
    samples = real("gaokao_bench")
    cloze = samples["gaokao-bench-2014-2022_English_Language_Cloze_Passage-2"].answer
    assert cloze == (("arrived",), ("before", "earlier"), ("its",), ("that", "which"), ("paintings",), ("by",), ("is",),
                     ("conducted",), ("regularly",), ("living",))  # fmt: skip
    numbered = samples["gaokao-bench-2014-2022_English_Language_Cloze_Passage-15"].answer
    assert isinstance(numbered, tuple) and numbered[:2] == (("so",), ("to get",)) and len(numbered) == 10
    assert samples["gaokao-bench-2010-2022_Math_II_Fill-in-the-Blank-62"].answer == (("0.98",),)
    assert samples["gaokao-bench-2010-2022_Math_II_Fill-in-the-Blank-48"].answer == ((r"$75^{\circ}$",),)
    assert samples["gaokao-bench-2010-2022_Math_I_Fill-in-the-Blank-51"].answer == (("-3",),)
    assert samples["gaokao-bench-2010-2022_Math_I_Fill-in-the-Blank-31"].answer == (("(2)(3)",),)


def test_open_questions() -> None:
    samples = real("gaokao_bench")
    errors = samples["gaokao-bench-2012-2022_English_Language_Error_Correction-24"]
    assert errors.task_type == "open_ended" and errors.language == "zh"
    assert isinstance(errors.answer, str) and errors.answer.startswith("1. greatly→great")
    assert samples["gaokao-bench-2010-2022_Math_I_MCQs-76"].fields == {
        "discipline": "math", "year": 2016, "category": "新课标ⅲ", "section": "Math_I_MCQs", "modality": "text",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ({**MATH, "answer": "$1$; 2 .\n"}, (("$1$",), ("2",))),
        ({**MATH, "answer": "1 和 3\n"}, (("1 和 3",),)),
        (VERSE, (("甲",), ("乙",), ("丙",))),
        ({**VERSE, "answer": "（1）甲   乙\n（2）丙"}, (("甲",), ("乙",), ("丙",))),
        ({**VERSE, "answer": "【答案】(1).甲(2).乙\n乙(3).丙"}, (("甲",), ("乙乙",), ("丙",))),
        ({**VERSE, "answer": "【答案】 ①.甲 ②.乙 ③.丙"}, (("甲",), ("乙",), ("丙",))),
    ],
)
def test_made_blanks(tmp_path: Path, row: dict[str, object], answer: object) -> None:
    [found] = made("gaokao_bench", tmp_path, row)
    assert found.sample and found.sample.answer == answer


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "answer": ["E"]}, "the answer 'E' is no option: the options are A, B, C, D"),
        ({**ROW, "answer": ["甲"]}, "the answer '甲' is no option"),
        ({**ROW, "answer": []}, "has no answer"),
        ({**ROW, "answer": "【答案】"}, "has no answer"),
        ({**ROW, "question": "下列叙述正确的是（）"}, "the question has no options"),
        ({**ROW, "question": "图中正确的是（）\nA.\nB.\nC.\nD."}, "the options are empty"),
        ({**ROW, "question": "![](https://x/y.png) A. 1 B. 2 C. 3 D. 4"}, "a link to a picture"),
        ({**ROW, "question": r"1 & 2 \\ \end{tabular} A. 1 B. 2 C. 3 D. 4"}, "in the middle of a table"),
        ({**ROW, "keyword": "2010-2022_Latin_MCQs"}, "begins with none of the set's subjects"),
        ({**ROW, "year": "then"}, "the year 'then' is no number"),
        ({**SPLIT, "answer": ["A", "D", "B"]}, "the options of 3 questions cannot be told apart"),
        ({**SPLIT, "question": PASSAGE.replace("2．乙", "4．乙")}, "numbers do not follow each other"),
        ({**SPLIT, "answer": ["A", "E"]}, "the answer 'E' is no option"),
        ({**VERSE, "answer": "（1）甲\n（2）丙"}, "the question shows 3 blanks"),
        ({**VERSE, "question": "（1）“ ， ”"}, "the question shows 0 blanks"),
        ({**MATH, "answer": "1;;2"}, "the answer of a fill_in_the_blank must be"),
        ({**MATH, "keyword": "2014-2022_English_Language_Cloze_Passage", "answer": "a\nb"}, "does not number 2 blanks"),
        (without(ROW, "score"), "the key 'score' is missing: add it"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, object], problem: str) -> None:
    assert_refused("gaokao_bench", tmp_path, {**ROW, "id": "x"}, row, problem)
