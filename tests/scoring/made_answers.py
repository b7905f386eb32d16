"""Made-up replies to choices and pairs of formulas, as many as are wanted, each with what it means. The same at every
call."""

from __future__ import annotations

import random
from collections.abc import Callable


def choices(count: int) -> list[tuple[str, list[str], str]]:
    """Replies of 1,000 characters, English and Chinese by turns, each with the texts of its options and the letter it
    means."""
    draw = random.Random(1)
    return [choice(draw, number) for number in range(count)]


def choice(draw: random.Random, number: int) -> tuple[str, list[str], str]:
    """A reply that weighs every option, then declares one in one of several forms."""
    chinese, letter = number % 2, draw.choice("ABCD")
    texts = [f"{draw.choice(PLACES[chinese])}{draw.randrange(1000)}" for _ in "ABCD"]
    sentences, text = list[str](), texts["ABCD".index(letter)]
    while sum(map(len, sentences)) < 1000:
        at = draw.randrange(4)
        values = {"letter": "ABCD"[at], "text": texts[at], "number": draw.randrange(10_000)}
        sentences.append(draw.choice(PROSE[chinese]).format(**values))
    ending = draw.choice(ENDINGS[chinese]).format(letter=letter, text=text)
    return f"{number} {''.join(sentences)}"[: 1000 - len(ending)] + ending, texts, letter


PLACES = (("the valley of river ", "the station at mile ", "a field of lot "), ("编号为", "位于第", "样本"))
PROSE = (
    (
        "Option {letter} names {text}, which we hold against the {number} units of the table. ",
        "With $x = {number}$ we get $\\frac{{x}}{{2}} < {number}$, as the figure shows. ",
        "It may look as if a choice like {text} would do, but the second condition rules it out. ",
        "Let us now go on to the next step and count again: {number} in all.\n\n",
    ),
    (
        "选项{letter}说的是{text}，需要与表中的{number}个单位比较。", "由题意得$x={number}$，代入后可知结论成立。", "看上去{text}也有可能，但是不满足第二个条件。",
        "下面继续分析下一步，一共有{number}个。\n",
    ),
)  # fmt: skip
ENDINGS = (
    (
        "\n\nThe answer is ({letter}).", "\n\nAnswer: {letter}", "\n\n**Final Answer:** {letter}. {text}",
        "\n\nThus the sum is $\\boxed{{{letter}}}$.", "\nTherefore, the correct option is {letter}.",
        "\n\n{letter}. {text}",
    ),
    (
        "\n故选{letter}。", "\n【答案】{letter}<eoa>", "\n所以答案是（{letter}）。", "\n因此，正确选项为{letter}。", "\n答案：{letter}",
    ),
)  # fmt: skip


def algebra(count: int) -> list[tuple[str, str, bool]]:
    """Gold, given and whether they are equal: forms of one answer, or, as often, one that looks like it; no pair
    twice."""
    draw, pairs = random.Random(1), dict[tuple[str, str], bool]()
    while len(pairs) < count:
        gold, equal, unequal = draw.choice(FAMILIES)(*(draw.randint(2, 99) for _ in range(3)))
        wanted = draw.random() < 0.5
        pairs[gold, equal if wanted else unequal] = wanted
    return [(gold, given, equal) for (gold, given), equal in pairs.items()]


FAMILIES: tuple[Callable[[int, int, int], tuple[str, str, str]], ...] = (
    lambda a, b, c: (f"({a}x+{b})({c}x-{a})", f"{a * c}x^2{b * c - a * a:+}x-{a * b}", f"{a * c}x^2{b * c + a * a:+}x-{a * b}"),
    lambda a, b, _: (f"({a}x+{b}y)^2", f"{a * a}x^2+{2 * a * b}xy+{b * b}y^2", f"{a * a}x^2+{a * b}xy+{b * b}y^2"),
    lambda a, b, c: (rf"\frac{{{a}}}{{{b}}}", f"{a * c}/{b * c}", f"{a * c + 1}/{b * c}"),
    lambda a, b, _: (rf"{a}\sqrt{{{b}}}", rf"\sqrt{{{a * a * b}}}", rf"\sqrt{{{a * b}}}"),
    lambda a, b, _: (rf"{a}\sec^2({b}x)", rf"{a}+{a}\tan^2({b}x)", rf"{a}-{a}\tan^2({b}x)"),
    lambda a, b, c: (f"y={a}x+{b}", f"{a * c}x-{c}y+{b * c}=0", f"{a * c}x-{c}y-{b * c}=0"),
    lambda a, b, _: (rf"(-\infty,{a})\cup({a + b},\infty)", rf"({a + b},+\infty)\cup(-\infty,{a})", rf"({a + b},+\infty)\cup(-\infty,{a}]"),
    lambda a, b, c: (rf"\{{{a},-{b},{a + c}\}}", rf"\{{{a + c},{a},-{b}\}}", rf"\{{{a + c},{a},{b}\}}"),
    lambda a, b, c: (rf"\begin{{pmatrix}}{a}&{b}\\{c + 100}&\frac{{1}}{{2}}\end{{pmatrix}}", rf"\begin{{bmatrix}}{a}&{b}\\{c + 100}&0.5\end{{bmatrix}}", rf"\begin{{bmatrix}}{a}&{c + 100}\\{b}&0.5\end{{bmatrix}}"),
    lambda a, b, _: (rf"\ln({a}x)+\ln {b}", rf"\ln({a * b}x)", rf"\ln({a * b + 1}x)"),
    lambda a, b, _: (f"e^{{{a}x+{b}}}", f"e^{{{b}}}e^{{{a}x}}", f"e^{{{b}}}+e^{{{a}x}}"),
    lambda a, b, _: (rf"\frac{{{b}}}{{x-{a}}}-\frac{{{b}}}{{x+{a}}}", rf"\frac{{{2 * a * b}}}{{x^2-{a * a}}}", rf"\frac{{{2 * a * b}}}{{x^2+{a * a}}}"),
    lambda a, b, _: (f"({a}+{b}i)^2", f"{a * a - b * b}{2 * a * b:+}i", f"{a * a + b * b}+{2 * a * b}i"),
    lambda a, b, _: (f"{a}x<{b}", rf"x<\frac{{{b}}}{{{a}}}", rf"x>\frac{{{b}}}{{{a}}}"),
    lambda a, *_: (f"{a * 36} km/h", f"{a * 10} m/s", f"{a * 10} km/h"),
    lambda a, b, _: (f"{a}.{b:02} m", f"{a}{b:02} cm", f"{a}{b:02} mm"),
)  # fmt: skip
"""Of three whole numbers an answer, another form of it, and one that looks like it."""

HOSTILE: tuple[tuple[str, str], ...] = (
    ("9^{9^{9^{9}}}", "9^{9^{9}}"), ("e^{e^{e^{e^{10}}}}", "e^{e^{e^{e^{10.0001}}}}"),
    (r"100000!\cdot 100001", "100001!"), (r"\binom{1000000}{500000}", r"\binom{1000000}{499999}"),
    ("(x+1)^{2000}", "(x+1)^{1999}(x-1)"),
    ("".join(f"(a_{n}+b_{n})" for n in range(25)), "".join(f"(a_{n}-b_{n})" for n in range(25))),
    ("+".join(rf"\frac{{1}}{{x+{n}}}" for n in range(60)), "+".join(rf"\frac{{1}}{{x+{n}}}" for n in range(1, 61))),
    (r"\sqrt{" * 40 + "2" + "}" * 40, "1"), (r"\frac{1}{1+" * 60 + "x" + "}" * 60, "x"),
    ("(" * 300 + "x" + ")" * 300, "y"), ("x^{" * 50 + "x" + "}" * 50, "x"),
    (r"\sin(" * 30 + "x" + ")" * 30, r"\cos(x)"), (r"\tan^{60}(x)+\sec^{60}(x)", r"\tan^{60}(x)-\sec^{60}(x)"),
    (r"\sum_{k=1}^{1000000000}\frac{1}{k}", "21.3"), (r"\prod_{k=1}^{1000000}\sin(k)", "0"),
    (r"\int_0^1 e^{\sin(x^2)}\,dx", r"\int_0^1 e^{\cos(x^2)}\,dx"),
    (r"\lim_{n\to\infty}\left(1+\frac{1}{n^n}\right)^{n!}", "e"), ("x^{100}+x^{99}+1=0", "x^{100}-x^{99}+1=0"),
    (r"\begin{pmatrix}" + r"\\".join("&".join("9^9" for _ in range(9)) for _ in range(9)) + r"\end{pmatrix}", "9"),
    ("-" * 900 + "1", "1"),
)  # fmt: skip
"""Pairs that would cost a computer algebra system without a limit seconds to centuries. Whether they are equal is left
open."""
