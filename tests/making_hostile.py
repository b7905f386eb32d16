"""Texts that no reader and no comparison may choke on, and how many of them are tried."""

from __future__ import annotations

from hypothesis import settings, strategies as st

SEARCH = settings(max_examples=max(150, settings().max_examples), deadline=None)
"""How far the tests below search: 150 texts, or as many as the profile says."""

PIECES = (
    "answer", "Answer: ", "the answer is ", "答案：", "故选", "选", "不", "是", "正确", "错误", "A", "B", "C和D", "AC", "(A)", "or ", "\\boxed{",
    "\\frac{1}", "}", "{", "$", "**", "<think>", "</think>", "wait, ", "actually ", "\n", "1. ", "(1)", "①", ";", ",", "、", "1,000", "-5", "%",
    "×10^{-4}", "½", "≈", "=", "[", '"', '{"answer": ', "true", "not ", "√", "\u200b", "\u202e", "\ud800", "Ａ", "𝐁", "İ", "I ", "A triangle", " cm",
    "|", "| Answer |", "\n|---|---|\n", "| A | yes |", "~~", "__", "____", "option 3", "the second option", "第三个选项", "(a)", "1: ", "Question: ", "?", "吗", "but ",
    "may be correct", "neither ", "respectively", "✅", "I agree with the statement", "Let me know", "41-45 DAGFE", "[answer]", "<blank1>", "first blank ", "correct: ",
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
FORMULA_PIECES = (
    "\\frac{", "\\frac", "\\sqrt[", "\\sqrt{", "]{", "\\left(", "\\right)", "\\left", "\\begin{pmatrix}", "\\end{pmatrix}", "\\begin{cases}", "\\begin{", "&", "\\\\",
    "^{", "^", "_{", "_", "{", "}", "{}", "9^{9^{9}}", "1000000!", "!", "\\binom{9}{", "\\sum_{k=1}^{", "\\prod", "\\int_0^1 ", "\\lim_{x\\to\\infty}", "\\infty", "\\sin ", "\\sin(",
    "\\tan^{60}(x)", "\\log_", "\\ln", "\\cdot ", "\\times", "\\div", "\\pm", "=", "<", "\\le ", "\\neq", "\\approx", "\\in", "\\cup", "\\{", "\\}", "(", ")", "[", "]", "|", ",", ";", ":",
    "x", "y", "e", "i", "\\pi", "0", "1", "12", "0.5", "1e999", "-", "+", "/", "*", "\\text{cm}", "\\mathrm{", "\\overline{", "\\vec{", "^\\circ", "\\%", "\\ce{", "H2O", "->", "\\boxed{", "$", "$$",
    "\\[", "\\]", "\\(", "\\def\\a{\\a\\a}\\a", "\\newcommand", "\\", "%", "\\\n", "\\over ", "\\displaystyle", "\\unknown{", "#1", "~", "√", "²", "½", "∞", "π", "×", "＋", "\u200b", "\ud800",
)  # fmt: skip
FORMULAS = st.lists(st.sampled_from(FORMULA_PIECES), max_size=20).map("".join)
