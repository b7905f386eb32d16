"""Greetings, instructions and headers around a question, which say nothing of its subject."""

from __future__ import annotations

import pytest
from growth import grows_linearly

from mmdyn.text import without_frames

ENGLISH = "A car of 900 kg stops within 40 m. How long does it take?"
CHINESE = "质量为900千克的汽车在40米内停下，用了多长时间？"


@pytest.mark.parametrize("frame", [
    "Good morning! {} Thanks a lot in advance.", "Could you help me with this problem? {}", "Question 12 (4 points): {}",
    "[Physics, grade 10] {}", "You are an experienced physics teacher. Think step by step and explain your reasoning.\n\n{}",
    "{} Show all your work.", "{}\nLet's think step by step.", "{} Do not use a calculator.", "7. {}", "{} (5 marks)",
    "Please read the following question carefully, and give a short answer.\nQuestion: {}\nAnswer:",
    "{} Reply with the letter of the right option only.", "I'm stuck on my homework. {}",
])  # fmt: skip
def test_an_english_frame_goes(frame: str) -> None:
    assert without_frames(frame.format(ENGLISH)) == ENGLISH


@pytest.mark.parametrize("frame", [
    "老师您好，打扰一下：{}谢谢！", "（5分）{}", "【高二物理】{}", "三、解答题（每小题2分）{}", "（2019年·全国卷）{}", "第3题：{}",
    "你是一位经验丰富的物理老师，请一步一步思考。\n{}", "{}请写出详细过程，并说明理由。", "{}只需给出最终结果。", "{}不必解释。",
    "请帮我看看这道题：12．{}", "各位同学，请认真审题后作答。{}", "从下面的选项中选出正确的一项，直接写出字母即可。{}",
])  # fmt: skip
def test_a_chinese_frame_goes(frame: str) -> None:
    assert without_frames(frame.format(CHINESE)) == CHINESE


@pytest.mark.parametrize("text", [
    "Which is the right answer?", "Select the option that is not correct.\n3 is odd", "选出不正确的一项。3是奇数", "找出错误的选项",
    "What is 3.5 kg in g? Answer: 3500", "Which is right?\nA. Correct\nB. Incorrect", "He scored 5 points, won, and left.",
    "What is (   ) of 5?", "求x。（1911年）", "（5分钟后）他到了", "Hint: think about the units.", "提示：先画图。", "The final exam has 3 parts.",
    "Thank you.", "", "Name the ion (aq) in solution.", r"What is the colour of $[Cu(NH_3)_4]^{2+}$ in solution.",
    r"Find the concentration of $[\text{H}^+]$ in solution.", "Find the mass of NaCl (58.5 u) in solution, in g.",
])  # fmt: skip
def test_what_says_something_stays(text: str) -> None:
    assert without_frames(text) == text


@pytest.mark.parametrize("part", ["please read ", "请认真", "(a", "a. ", "【", "the,"])
def test_the_time_is_linear_in_the_length(part: str) -> None:
    assert grows_linearly(lambda size: without_frames.__wrapped__(part * size), 20_000)
