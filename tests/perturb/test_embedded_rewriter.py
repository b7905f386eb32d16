"""The embedded rewriter's substitution: which words, beside which others, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest
from growth import grows_linearly
from hypothesis import given, settings, strategies as st

from making import open_ended
from mmdyn.keys import stream
from mmdyn.sample import Language, Sample
from mmdyn.text import protected_spans
from perturb import NotApplicable
from perturb.rewrite._frames import lines_of
from perturb.rewrite._lexicon import TABLE, _read
from perturb.rewrite.embedded_rewriter import ABOUT_WORDS, FOREIGN, LONG, LONGEST, NO_WORD, EmbeddedRewriter

REWRITER = EmbeddedRewriter()
DRAWS = 60


def ask(question: str, language: Language = "en", **more: str) -> Sample:
    return open_ended(question=question, language=language, fields=dict(more), images=("images/0.png",))


def texts(question: str, language: Language = "en", draws: int = DRAWS) -> set[str | NotApplicable]:
    """Everything that some draws make of a question."""
    return {REWRITER.substitute(ask(question, language), stream("draw", number)) for number in range(draws)}


REPLACED_EN = {
    "Find the area of the square.": {"Determine the area of the square.", "Work out the area of the square."},
    "Tom buys three cars.": {"Tom purchases three cars."},
    "What is ∠1? As shown in the figure.": {
        f"What is ∠1? As {shown} in the {figure}." for shown in ("shown", "illustrated", "depicted")
        for figure in ("figure", "diagram", "drawing")
    } - {"What is ∠1? As shown in the figure."},
    "Which of the following is true?": {"Which of these is true?", "Which of the following is correct?", "Which of these is correct?"},
    "So her mom writes down 3.": {"So her mother writes down 3.", "So her mom writes 3.", "So her mother writes 3."},
    "The various numbers, and the claims that it is.": {NO_WORD},
    "She ate a whole cake.": {NO_WORD},
    "The whole cake, the whole number.": {"The entire cake, the whole number."},
    "Ann tosses a coin and throws a die.": {"Ann tosses a coin and rolls a die."},
    "If $a=3$, what is $a+1$?": {"Given that $a=3$, what is $a+1$?"},
    "What type of triangle is it?": {"What kind of triangle is it?"},
    "How many candies are there in total?": {"How many sweets are there in total?", "How many candies are there altogether?", "How many sweets are there altogether?"},
}  # fmt: skip

REPLACED_ZH = {
    "，求$x$的值": {"，试求$x$的值", "，求出$x$的值"},
    "若$a=1$，则$b$等于几": {"如果$a=1$，则$b$等于几", "若$a=1$，那么$b$等于几", "如果$a=1$，那么$b$等于几"},
    "这些数的最小值是（ ）": {"这些数的最小值为（ ）"},
    "还剩下多少？": {"还余下多少？"},
    "下列有关细胞的叙述": {"以下有关细胞的叙述", "下面有关细胞的叙述", "下列关于细胞的叙述", "以下关于细胞的叙述", "下面关于细胞的叙述"},
    "下列有关叙述错误的是": {"以下有关叙述错误的是", "下面有关叙述错误的是"},
    "下列有关的叙述": {"以下有关的叙述", "下面有关的叙述"},
    "如图，两个圆": {"如图所示，两个圆"},
    "下列说法准确的是（ ）": {
        "以下说法准确的是（ ）", "下面说法准确的是（ ）", "下列叙述准确的是（ ）", "下列表述准确的是（ ）", "以下叙述准确的是（ ）",
        "以下表述准确的是（ ）", "下面叙述准确的是（ ）", "下面表述准确的是（ ）",
    },
    "一班有男生，且$a>0$．": {"一班有男同学，且$a>0$．", "一班有男生，并且$a>0$．", "一班有男同学，并且$a>0$．"},
    "还剩下多少，首都是哪里，平均为3": {"还余下多少，首都是哪里，平均为3"},
}  # fmt: skip


REPLACED: list[tuple[Language, str, set[Any]]] = [
    *(("en", question, made) for question, made in REPLACED_EN.items()),
    *(("zh", question, made) for question, made in REPLACED_ZH.items()),
]


@pytest.mark.parametrize(("language", "question", "made"), REPLACED)
def test_words_are_replaced_by_their_synonyms(language: Language, question: str, made: set[Any]) -> None:
    assert texts(question, language) == made


LEFT_ALONE_EN = [
    "I cannot find my dog.", "A right angle and the mean value.",
    "The power, the force, the work, the mass and the weight.",
    "All, some, none, each, every, at least, at most, only, not, never.", "What is the greatest common divisor?",
    "He talked about 3 things.", "Find “the area” of it.", "Is it because of it?", "What is a whole number?",
    "A circuit diagram, the tree diagram and the P-V diagram.", "No diagram: weaken the bond, strengthen the wall.",
    "We went to the Big House Shop in Bike Street.", "If the price increases by 3 dollars, what is it?",
    "Is the die rolled into a ball?",
]  # fmt: skip

LEFT_ALONE_ZH = [
    "这里的要求和需求是求和", "规则、原则、法则，否则不行", "若干个，但愿如此", "这是不可以的", "项目前的树出现在图里", "全部、每个、至少、最多、都、不、没有", "把“如果”去掉", "30岁以下和楼下列队",
    "这种工具有三个，致使得到它", "改造成新的，建立刻度", "条例如下，已经常见，异常常见", "直到达到它，许可以后，功能够用", "好比如果实，同草原来的", "一起交通事故，直至今天",
]  # fmt: skip


ABOUT_EN = [
    "Which sentence is correct?", "Find the synonym of the verb.", "How is this spelled? Choose one.",
    "What does the underlined part show?", "Select the word that rhymes.", "Which title of a book is right?",
]  # fmt: skip
ABOUT_ZH = ["下列词语中加点的字，读音正确的是", "下列各句中没有语病的一句是", "阅读下面的文字，完成下列各题", "下列成语使用正确的是"]  # fmt: skip


@pytest.mark.parametrize(("language", "questions", "reason"), [
    ("en", LEFT_ALONE_EN, NO_WORD), ("zh", LEFT_ALONE_ZH, NO_WORD), ("en", ABOUT_EN, ABOUT_WORDS), ("zh", ABOUT_ZH, ABOUT_WORDS),
])  # fmt: skip
def test_words_in_another_meaning_and_questions_about_words_are_left_alone(language: Language, questions: list[str], reason: NotApplicable) -> None:  # fmt: skip
    for question in questions:
        assert texts(question, language, draws=5) == {reason}, question


def test_language_exams_long_texts_and_other_languages_are_refused() -> None:
    find = "Find the area of it. "
    draws = stream("any")
    assert REWRITER.substitute(ask(find, discipline="english"), draws) is ABOUT_WORDS
    assert REWRITER.substitute(ask(find, discipline="math"), draws) != find
    assert REWRITER.substitute(ask(find * 200), draws) is LONG
    assert REWRITER.substitute(ask("求" * (LONGEST["zh"] + 1), "zh"), draws) is LONG
    assert REWRITER.substitute(ask(find + "请在下面的括号里填上合适的数字"), draws) is FOREIGN
    assert REWRITER.substitute(ask("Words in other words: find the area of it."), draws) is ABOUT_WORDS
    assert REWRITER.substitute(ask("In other words, find the area of it."), draws) is not ABOUT_WORDS


def test_a_paraphrase_is_refused_alike_but_for_the_length() -> None:
    asks, draws = "What is the area of it? ", stream("any")
    assert REWRITER.paraphrase(ask(asks, discipline="english"), draws) is ABOUT_WORDS
    assert REWRITER.paraphrase(ask(asks, discipline="chinese"), draws) is ABOUT_WORDS
    assert REWRITER.paraphrase(ask("请在下面的括号里填上合适的数字" + asks), draws) is FOREIGN
    made = REWRITER.paraphrase(ask("It rained. " * 300 + asks), draws)
    assert isinstance(made, str) and made.startswith("It rained. " * 299) and asks not in made


@pytest.mark.slow
@pytest.mark.parametrize("digits", ["7", "1２", "1,000."])
def test_a_hundred_thousand_digits_take_no_time(digits: str) -> None:
    """A rule that began anew at every digit would take minutes."""

    def rewrite(size: int) -> None:
        question = "What is the sum of " + digits * (size // len(digits)) + "?"
        REWRITER.paraphrase(ask(question), stream("any"))
        REWRITER.substitute(ask(question), stream("any"))

    assert grows_linearly(rewrite, 25_000)


def test_a_word_is_replaced_alike_in_a_question() -> None:
    made = texts("The movie was long. He saw the movie, and many movies.")
    assert made == {"The film was long. He saw the film, and many films."}


def test_equal_streams_give_equal_texts_and_another_draw_another_text() -> None:
    question = "Find the area. Calculate the sum, because Tom bought 3 candies. Which of the following is true?"
    first = [REWRITER.substitute(ask(question), stream(1, number)) for number in range(20)]
    again = [EmbeddedRewriter().substitute(ask(question), stream(1, number)) for number in range(20)]
    assert first == again and len(set(map(str, first))) > 10


def test_each_word_is_replaced_with_a_chance_of_six_in_ten() -> None:
    question = "How many candies are there in total?"
    made = [str(REWRITER.substitute(ask(question), stream("share", number))) for number in range(2000)]
    both = sum("sweets" in text and "altogether" in text for text in made)
    either = sum("sweets" in text or "altogether" in text for text in made)
    assert either == 2000 and 0.33 < both / 2000 < 0.39


def test_the_identity_names_the_rules() -> None:
    assert REWRITER.label == "embedded" and REWRITER.waits == 0
    assert isinstance(REWRITER.identity, dict) and set(REWRITER.identity) == {"version", "rules"}
    assert EmbeddedRewriter().identity == REWRITER.identity


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_is_sound(language: Language) -> None:
    """Every word has as many forms as its replacements, and none is replaced by itself."""
    entries = list(_read(lines_of(language, TABLE)))
    assert len(entries) > 200
    for word, entry in entries:
        assert word == word.strip() and word not in entry.instead and all(entry.instead), word
        assert len(set(entry.instead)) == len(entry.instead), word
        assert not any("\t" in text or "/" in text for text in (word, *entry.instead)), word


WORDS = {
    "en": ["Find the area of ", "because ", "Tom buys ", ", which of the following is true? ", "at random ", "in total."],
    "zh": ["，如果", "，求", "则", "，下列说法正确的是", "一共", "的最小值是", "，请问"],
}  # fmt: skip
KEPT = [
    "$the area$ ", r"\(find\) ", "H2O ", "____ ", "“because” ", "3 km ", "<image 1> ", "$$则$$ ", "x + y = 3 ", "两个",
    "\nA. find\n",
]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(["en", "zh"]), st.data())
def test_what_is_protected_stays_in_order(language: Language, data: st.DataObject) -> None:
    question = "".join(data.draw(st.lists(st.sampled_from([*WORDS[language], *KEPT]), min_size=1, max_size=8)))
    if not question.strip():
        return
    made = REWRITER.substitute(ask(question, language), stream("kept", question))
    if isinstance(made, str):
        at = 0
        for start, end in protected_spans(question):
            at = made.index(question[start:end], at) + end - start
        assert made != question
