"""text.paraphrase: whole sentences in another build, by rules that lose nothing of what they say."""

from __future__ import annotations

import re

import pytest
from making_items import apply, draw, item, refusal

from making import choice, open_ended
from mmdyn.keys import canonical, stream
from perturb import NotApplicable
from perturb.rewrite._questions_en import Questions
from perturb.rewrite._sentences import ABOUT_WORDS, NOTHING_FITS, paraphrase
from perturb.text.paraphrase import Paraphrase

DRAWS = 60


def language_of(text: str) -> str:
    return "zh" if re.search("[\u4e00-\u9fff]", text) else "en"


def all_of(text: str) -> set[str]:
    """Everything that a stem becomes in so many draws; empty where it is declined."""
    made = {paraphrase(text, language_of(text), stream("test", number)) for number in range(DRAWS)}
    return {one for one in made if isinstance(one, str)}


def reason(text: str, language: str = "en") -> str:
    made = paraphrase(text, language, stream("test"))
    assert isinstance(made, NotApplicable), made
    return made.reason


WHOLE = [
    # a thing that is asked for, as an order, and back
    ("What is the area of $ABC$?", {f"{verb} the area of $ABC$." for verb in ("Determine", "State", "Give", "Find")}),
    ("Find the value of $x$.", {"What is the value of $x$?"}),
    ("Calculate the mean and the median.", set()),
    ("Determine the roots of $f$.", {"What are the roots of $f$?"}),
    ("Calculate: $3+4$.", {"What is $3+4$?", "What is the value of $3+4$?", "What does $3+4$ equal?"}),
    ("Select the animal that does not have a backbone.", {"Which animal does not have a backbone?", "Which is the animal that does not have a backbone?"}),
    ("Select the reptile.", {"Which is the reptile?"}),
    ("What was the price of the toy?", {f"{verb} what the price of the toy was." for verb in ("Determine", "State", "Say")}),
    # indirect questions
    ("Where does Pawel live?", {f"{verb} where Pawel lives." for verb in ("Determine", "State", "Say")}),
    (
        "How many pens did Ann buy?",
        {f"{verb} how many pens Ann bought." for verb in ("Determine", "Work out", "Calculate")}
        | {"Find the number of pens Ann bought.", "Give the number of pens Ann bought."},
    ),
    (
        "Which object has more thermal energy?",
        {f"{verb} which object has more thermal energy." for verb in ("Determine", "Say", "Decide")}
        | {"Identify the object that has more thermal energy."},
    ),
    ("Is there a solution?", {f"{verb} whether there is a solution." for verb in ("Determine", "Say", "Decide")}),
    # the order of the words
    (
        "Which of the following statements is not true?",
        {"Of the following statements, which is not true?", "Among the following statements, which is not true?"}
        | {f"{verb} which of the following statements is not true." for verb in ("Determine", "Say", "Decide")},
    ),
    (
        "Given that $x=3$, find the value of $y$.",
        {
            "Find the value of $y$, given that $x=3$.",
            "It is known that $x=3$. Find the value of $y$.",
            "Suppose that $x=3$. What is the value of $y$?",
        },
    ),
    (
        "As shown in the figure, the rope is cut into two pieces.",
        {
            "The rope is cut into two pieces, as shown in the figure.",
            "The figure shows the following: the rope is cut into two pieces.",
        },
    ),
    ("A wooden block is shown in the figure.", {"The figure shows a wooden block."}),
    ("The graph above shows the speed of a car.", {"The speed of a car is shown in the graph above."}),
    ("There are $17$ balls in a bag.", {"In a bag, there are $17$ balls."}),
    ("When the ring is removed, the water level drops by 2 cm.", {"The water level drops by 2 cm when the ring is removed."}),
    ("The rope is long, so the knot is loose.", {f"{word} the rope is long, the knot is loose." for word in ("Since", "Because")}),
    (
        "The area of the square is ____ cm².",
        {f"{verb} the area of the square: ____ cm²." for verb in ("Find", "Determine")}
        | {"What is the area of the square? ____ cm²."},
    ),
    # Chinese
    ("三角形$ABC$的面积是多少？", {f"{verb}三角形$ABC$的面积。" for verb in ("求", "试求", "请算出")}
        | {f"{verb}三角形$ABC$的面积是多少。" for verb in ("试求", "请算出")}),
    ("若$x>1$，则$x$的最小值是（ ）．", {
        "若$x>1$，求$x$的最小值：（ ）．", "若$x>1$，试求$x$的最小值：（ ）．", "若$x>1$，请算出$x$的最小值：（ ）．",
        "若$x>1$，$x$的最小值是多少？（ ）．", "在$x>1$的条件下，$x$的最小值是（ ）．", "假设$x>1$，那么$x$的最小值是（ ）．",
    }),
    ("求$C$的方程．", {"$C$的方程是什么？", "试确定$C$的方程．"}),
    ("关于电磁波，下列说法不正确的是（ ）", {
        "下列关于电磁波的说法中，不正确的是（ ）", "下列有关电磁波的说法，不正确的是（ ）", "关于电磁波，在下列说法中，不正确的是（ ）", "关于电磁波，不正确的说法是（ ）",
    }),
    ("如果以下哪项陈述为真，最能削弱上述论证？", {"以下哪项陈述如果为真，最能削弱上述论证？", "以下选项中，哪项陈述如果为真，最能削弱上述论证？"}),
    ("以下各项都能支持上述观点，除了", {"除哪项外，以下各项都能支持上述观点？"}),
    ("那么，这堆桃子有（ ）个。", {"这堆桃子有多少个？（ ）。", "由此可知，这堆桃子有（ ）个。", "照此推断，这堆桃子有（ ）个。"}),
    ("根据材料并结合所学知识，说明改革的目标。", {"说明改革的目标（要求根据材料并结合所学知识作答）。", "请以材料为依据，联系所学知识，说明改革的目标。"}),
    ("这表明（ ）", {"由此可见（ ）", "由此可知（ ）"}),
    ("据此完成1～3题。", {"请根据上述信息完成1～3题。", "请以上述信息为依据，完成1～3题。"}),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), WHOLE, ids=[before for before, _ in WHOLE])
def test_what_a_sentence_becomes(before: str, after: set[str]) -> None:
    """Source: MDK12-Bench, "Evaluation Methods", Sentence Paraphrasing: "sentence structure, word order, or style"."""
    assert all_of(before) == after


MADE = [
    ("If he sells 3 toys, how many toys does he have left?", "Suppose that he sells 3 toys. Work out how many toys he has left."),
    ("If $x=2$, what is the value of $y$?", "What is the value of $y$ if $x=2$?"),
    ("As shown in the diagram, how long is the rope?", "Use the diagram to determine how long the rope is."),
    ("Based on the graph, which city is warmer?", "Which city is warmer, based on the graph?"),
    ("In the figure below, what is the measure of ∠P?", "Use the figure below to find the measure of ∠P."),
    ("In how many ways can the letters be arranged?", "Determine in how many ways the letters can be arranged."),
    ("Let $n$ be a positive integer.", "Suppose that $n$ is a positive integer."),
    ("It is known that the box is full.", "We know that the box is full."),
    ("如果他买了3本书，他一共花了多少元？", "假设他买了3本书。他一共花了多少元？"),
    ("已知$a$是正数，则$b=$（ ）", "由$a$是正数，可知$b=$（ ）"),
    ("贝加尔湖湖水更新缓慢的主要原因是（ ）", "（ ）是贝加尔湖湖水更新缓慢的主要原因"),
    ("甲地到乙地共有（ ）种走法，从中选出一种。甲完成任务需要 ____ 天。", "甲地到乙地共有（ ）种走法，从中选出一种。甲完成任务需要多少天？____。"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), MADE, ids=[before for before, _ in MADE])
def test_what_is_among_the_results(before: str, after: str) -> None:
    assert after in all_of(before)


KEPT = [
    # a pronoun never moves before what it stands for
    ("If Tom has 3 pens, how many pens does he have left?", r"\bhe have left if Tom|\bhe has left if Tom"),
    ("In triangle ABC, what is its area?", r"area in triangle"),
    # "respectively" stays behind what it speaks of
    ("What are the length and the width, respectively?", r"respectively.*(?:length|width)"),
    # conditions of lists and examples stay conditions
    ("(1) If K is in a group, J is there.\nWhich of the following must be true?", r"Suppose that K"),
    # a noun that may be a verb is no sure end of a subject
    ("What did the test score rise to?", r"the test scored|the test score rose"),
    # 甲，乙两人: the last of a list is no subject of its own
    ("已知$a$，$b$，$c$的大小关系是（ ）", r"，(?:试确定|请写出)\$c\$"),
    # what somebody asks in a story stays a question
    ("老师问：“谁最高？”小明说：“我最高。”小红今年多少岁？", r"请指出|请判断"),
]


@pytest.mark.parametrize(("before", "never"), KEPT, ids=[before for before, _ in KEPT])
def test_what_never_happens(before: str, never: str) -> None:
    assert not [made for made in all_of(before) if re.search(never, made)]


DECLINED = [
    "What did the test score rise to?", "What direction is face B facing?", "Why does it?",
    "What is the capital of France and what is its river?", "2 + 2 = ?",
    "Because he knows that if he asks, he will lose.", "Do you agree with Pip?",
    "Since the last recharge, her phone has been on.", "正确。", "则（ ）", "一条绳子长（ ）米，另一条长（ ）米。", "已知$a$，$b$，$c$的大小关系是（ ）",
]  # fmt: skip


@pytest.mark.parametrize("text", DECLINED)
def test_what_is_not_sure_is_declined(text: str) -> None:
    assert reason(text, language_of(text)) == NOTHING_FITS


ABOUT = [
    ("Which sentence is more formal?", "en"),
    ("Which word would you find on a dictionary page?", "en"),
    ("What is the main idea of the second paragraph?", "en"),
    ("— Can I help you?\n— Yes, I am looking ____ a pen.", "en"),
    ("A\nWhat is in the box? The box is red.", "en"),
    ("She is       a book now.", "en"),
    ("根据短文选择。 What is in the box?", "en"),
    ("下列词语中没有错别字的是（ ）", "zh"),
    ("下列各句中，没有语病的是（ ）", "zh"),
    ("补写出下列名句名篇中的空缺部分。", "zh"),
    ("作者的写作目的是什么？", "zh"),
]


@pytest.mark.parametrize(("text", "language"), ABOUT)
def test_questions_about_words_and_texts_are_refused(text: str, language: str) -> None:
    assert reason(text, language) == ABOUT_WORDS


def test_what_stands_for_atoms_is_not_taken_from_the_text() -> None:
    assert reason("What is the value of \ue000?") == "the text has characters for private use"


def test_more_atoms_than_stand_ins_are_refused() -> None:
    assert reason("What is the value of $x$? " * 3000) == "the text has too many formulas or blanks"


@pytest.mark.parametrize(("question", "indirect"), [
    ("how long does it take Tom to finish", "how long it takes Tom to finish"),
    ("how far did the longest train travel", "how far the longest train traveled"),
    ("how many pens does she still have left", "how many pens she still has left"),
    ("which of the toys has Heinzi taken home", "which of the toys Heinzi has taken home"),
    ("how big is the side of the square", "how big the side of the square is"),
    ("how old is he now", "how old he is now"),
    ("what colour is the ball", "what colour the ball is"),
    ("how many cubes have been taken", "how many cubes have been taken"),
    ("who is the tallest", "who is the tallest"),
    ("who was the patron of the building", None),
    ("what do plants need", "what plants need"),
    ("why might a person have a limb amputated", "why a person might have a limb amputated"),
    ("how many apples did he try to carry", "how many apples he tried to carry"),
    ("where will the ray from point P meet the plane", "where the ray from point P will meet the plane"),
    ("how much did the work force shrink", None),
    ("which group has the shaded ring", None),
    ("which of these are NOT equal", "which of these are NOT equal"),
    ("how many pens didn't he buy", None),
    ("what direction is face B facing", None),
    ("when arranging the pens, we wait", None),
    ("what's the time", None),
    ("how many pens did", None),
])  # fmt: skip
def test_indirect_questions(question: str, indirect: str | None) -> None:
    made = Questions().indirect(question)
    assert (made and made.text) == indirect


# --- the operator ---------------------------------------------------------------------------------------------------

SAMPLE = choice(
    question="How many sides has the figure <image 1>? What is the area of $R$?",
    images=("images/0.png",),
    explanation="One.",
)


def test_only_the_question_changes() -> None:
    """Source: MDK12-Bench, "Evaluation Methods", Sentence Paraphrasing: the answer's correctness is preserved."""
    params = draw(Paraphrase(), SAMPLE)
    after = apply(Paraphrase(), item(sample=SAMPLE), params).sample
    assert params == {"by": "embedded", "question": after.question} and canonical(params)
    assert after.question != SAMPLE.question and "<image 1>" in after.question
    assert (after.answer, after.options, after.explanation) == (SAMPLE.answer, SAMPLE.options, SAMPLE.explanation)


def test_of_several_sentences_some_stay_and_at_least_one_changes() -> None:
    text = "What is the area of $A$? What is the area of $B$? What is the area of $C$?"
    changed = [3 - made.count("What is") for made in all_of(text)]
    assert set(changed) == {1, 2, 3}


def test_refusals_say_why() -> None:
    assert refusal(Paraphrase(), open_ended(question="2 + 2 = ?")) == NOTHING_FITS
    assert refusal(Paraphrase(), open_ended(question="What does the word “sanguine” mean?")) == ABOUT_WORDS


def test_the_stop_is_the_stems_own() -> None:
    assert all_of("一元硬币．如果他买了3本书，他花了多少元？") >= {"一元硬币．假设他买了3本书．他花了多少元？"}
    assert all_of("求$C$的方程;") == {"$C$的方程是什么？", "试确定$C$的方程;"}


@pytest.mark.parametrize(("question", "word"), [
    ("对接轨道所处的空间存在极其稀薄的大气，下面说法正确的是（ ）", "对接"),
    ("下列实验操作能达到实验目的是（ ）", "目的"),
    ("设计一个电路，则电流为____。", "设计"),
    ("若干个小球，则个数为____。", "若干"),
    ("有关部门的下列做法，下列说法正确的是（ ）", "有关部门"),
])  # fmt: skip
def test_a_chinese_sentence_is_never_cut_inside_a_word(question: str, word: str) -> None:
    made = [paraphrase(question, "zh", stream("whole", number), "strong") for number in range(30)]
    assert all(isinstance(text, NotApplicable) or word in text for text in made), made
