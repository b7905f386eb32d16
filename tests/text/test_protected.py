"""protected: what a rewriter must leave as it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from growth import grows_linearly
from hypothesis import given, settings, strategies as st

from mmdyn.text import protected_spans
from mmdyn.text.protected import latex_spans


def kept(text: str) -> list[str]:
    return [text[start:end] for start, end in protected_spans(text)]


LATEX = {
    "Find $x^2+1$ now": ["$x^2+1$"],
    "so $$\\frac{a}{b}$$ is": ["$$\\frac{a}{b}$$"],
    r"let \(a b\) and \[ a cat \] be": [r"\(a b\)", r"\[ a cat \]"],
    r"the \begin{array} the cat \end{array} end": [r"\begin{array} the cat \end{array}"],
    r"\begin{a}\begin{b} one \end{b} find \end{a} it": [r"\begin{a}\begin{b} one \end{b} find \end{a}"],
    r"what is \frac{find {the} value}{2} of": [r"\frac{find {the} value}{2}"],
    r"the \sqrt[3]{find} here": [r"\sqrt[3]{find}"],
    "an open $find the value\nof it": ["$find the value"],
    r"an open \(find the value" + "\nof it": [r"\(find the value"],
    r"an open \frac{find the value" + "\nof it": [r"\frac{find the value"],
    "one $a\nb$ over lines": ["$a\nb$"],
    "one $the\n\nother $ stands alone": ["$the", "$ stands alone"],
    r"it is \$ and $a \$ b$ then": [r"\$", r"$a \$ b$"],
    "it costs $5 and the bike $70.": ["$5", "$70"],
    "$5 for the car and $x$ for it": ["$5 for the car and $x$ for it"],
    "量$$75$$米处每$4$人": ["$$75$$米", "$4$人"],
}

ENGLISH = {
    "x + y = 3 and f(x) = 2x - 1 where area = 5": ["x + y = 3", "f(x) = 2x - 1", "area = 5"],
    "points A, B and AB in ΔABC or ∠ABC": ["A", "B", "AB", "ΔABC", "∠ABC"],
    "A car and a bus; object A with object B": ["A", "B"],
    "it is 5 km/h for 3 hours, 20% of 1,000.5 mL": ["5 km/h", "3 hours", "20%", "1,000.5 mL"],
    "since May 5, 2010 the two dogs and twenty-three cats": ["May 5, 2010", "two", "twenty-three"],
    "it may be 900 ft/min or 60 miles per hour": ["900 ft/min", "60 miles per hour"],
    "is H2O or NaOH, Fe3+ and DNA": ["H2O", "NaOH", "Fe3+", "DNA"],
    "burn it: CH4 + 2O2 → CO2 + 2H2O in air": ["CH4 + 2O2 → CO2 + 2H2O"],
    "fill ____ and (  ) or ( )": ["____", "(  )", "( )"],
    "is option C right, or options A and B": ["option C", "options A and B"],
    "Which?\nA. a cat\n(B) a dog\nC) a frog": ["A. a cat", "(B) a dog", "C) a frog"],
    "Which one is it: A. a cat B. a dog\nNow": ["A. a cat B. a dog"],
    "the word “find it” and \"the car\" or 'a bike' now": ["“find it”", '"the car"', "'a bike'"],
    "don't say the boys' car, John's car or I'm": [],
    "<image 1> and <b>find</b> it": ["<image 1>", "<b>", "</b>"],
    "see https://example.org/find?x=1 for `the code`": ["https://example.org/find?x=1", "`the code`"],
    "so\n| find | value |\n|---|---|\n| a | the |": ["| find | value |", "|---|---|", "| a | the |"],
    "(1) find it, (ii) do it, ① go": ["(1)", "(ii)", "①"],
    "sin x or log 2 on the x-axis": ["sin x", "log 2", "x-axis"],
    "None of the cars is not red, all are.": [],
}

CHINESE = {
    "已知点P在△ABC内，AB=3cm，求的值": ["P", "△ABC", "AB=3cm"], "共有五个选项，选项B和C正确": ["五个", "选项B和C"],
    "用了15千克水，每小时60千米，占百分之五十": ["15千克", "60千米", "百分之五十"], "2010年5月3日，第三题，约30%": ["2010年5月3日", "第三题", "30%"],
    "硫酸铜CuSO4·5H2O与浓硫酸、氢氧化钠、稀盐酸": ["硫酸铜CuSO4·5H2O", "浓硫酸", "氢氧化钠", "稀盐酸"], "甲、乙两人，下列正确的是（　　）": ["甲", "乙两人", "（　　）"],
    "“要求”出自《史记》和「书」": ["“要求”", "《史记》", "「书」"], "（1）求它；（二）求你": ["（1）", "（二）"], "一般地，统一的要求一定在一起": [],
    "设函数f(x)=x+1，则x>0时": ["f(x)=x+1", "x>0时"],
}  # fmt: skip


@pytest.mark.parametrize("cases", [LATEX, ENGLISH, CHINESE], ids=["latex", "english", "chinese"])
def test_what_is_kept(cases: dict[str, list[str]]) -> None:
    assert {text: kept(text) for text in cases} == cases


def test_spans_are_sorted_apart_and_not_empty() -> None:
    for text in (*LATEX, *ENGLISH, *CHINESE, "", " ", "$", "\\", "“", "$$", "(("):
        spans = protected_spans(text)
        flat = [0, *(edge for span in spans for edge in span), len(text)]
        assert flat == sorted(flat) and all(start < end for start, end in spans)
        assert all(a[1] < b[0] for a, b in pairwise(spans))


PROSE = st.sampled_from(["find the value ", "求这个 ", "and so, ", "。如果 ", "a car. ", "\n"])
INSIDE = st.text("abfind the 求1+-*^_{}()\"'“\\alpha,.| ", min_size=1, max_size=20).map(
    lambda text: text.replace("\\", "\\alpha ").replace("\n", " ")
)
FORMULA = st.builds(
    lambda inside, marks: f"{marks[0]}{inside}{marks[1]}",
    INSIDE,
    st.sampled_from([("$", "$"), ("$$", "$$"), (r"\(", r"\)"), (r"\[", r"\]"), (r"\begin{x}", r"\end{x}")]),
)


@settings(deadline=None)
@given(st.lists(st.one_of(PROSE, FORMULA.map(lambda text: f" {text} ")), max_size=8))
def test_nothing_between_delimiters_is_free(pieces: list[str]) -> None:
    text = "".join(pieces)
    at, spans = 0, protected_spans(text)
    for piece in pieces:
        if piece[1:2] in "$\\" and piece.startswith(" "):
            start, end = at + 1, at + len(piece) - 1
            assert any(first <= start and end <= last for first, last in spans), text[start:end]
        at += len(piece)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end in protected_spans(text))
    assert all(0 <= start < end <= len(text) for start, end in latex_spans(text))


HOSTILE = [
    "$", "$$", "$$\\", "\\(", "\\begin{a}", "\\a{", "\\a[", "\\frac{1}{", "\\a^", "{\\{", "$1 ", "a \\$", "(", '"', "“", "'a ",
    "‘a’b", "<a ", "a1", "x + ", "1,", "|", "a | ", "|a\n", "`", "```", "( ", "一", "三分之", "A. ", "(A", "\n ", "http://",
    "<table><", "sin ", "May 1, ", "a =", "氯化", "《", "twenty-", "ab-", "option A, ",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_takes_no_longer_than_its_length_says(piece: str) -> None:
    assert grows_linearly(lambda size: protected_spans(piece * (size // len(piece))), 25_000)
