"""Sets, lists, regions, relations, matrices, reactions and dates."""

from __future__ import annotations

import pytest

from mmdyn.equal import same

EQUAL = [
    ("\\{2,1\\}", "｛x|x=1或x=2｝"),
    ("5", "a_{n-1}=5"),
    ("\\{3,1,2\\}", "\\{1,2,3\\}"),
    ("-2,1", "\\{1,-2\\}"),
    ("8 and 6", "6 \\text{ and } 8"),
    ("(4, 0), (0, 1)", "(0;1),(4;0)"),
    ("1, 3", "(1,3)"),
    ("\\varnothing", "空集"),
    ("x=3 或 x=2", "x_1=2, x_2=3"),
    ("\\{-10,-8,4\\}", "a=4,\\,-8,\\,-10"),
    ("x=\\pm2", "x=2 or x=-2"),
    ("a_{37}=19, a_3=2", "a_3=2, a_{37}=19"),
    ("-5, \\frac{14}{3}", "x=-5, p=\\frac{14}{3}"),
    ("x=1, y=-2", "(x,y)=(1,-2)"),
    ("(12,102)\\cup(2,12)", "x\\in(2,12)\\cup(12,102)"),
    ("-2\\le x\\le 7", "[-2,7]"),
    ("\\{x \\mid 1<x\\le 3\\}", "(1,3]"),
    ("(0,1)", "0<f(x)<1"),
    ("x\\ne 2", "(-\\infty,2)\\cup(2,+\\infty)"),
    ("\\mathbb{R}\\setminus\\{2\\}", "x\\neq 2"),
    ("[1,3]", "[1,2]\\cup[2,3]"),
    ("(0.6,2.6667]", "(\\frac35,\\frac83]"),
    ("-x>-1", "x<1"),
    ("c>b>a", "a<b<c"),
    ("2x-y+1=0", "y=2x+1"),
    ("x^2/16+y^2/12=1/4", "x^2/4+y^2/3=1"),
    ("\\begin{bmatrix}0.5&0\\\\0&1\\end{bmatrix}", "\\begin{pmatrix}\\frac12&0\\\\0&1\\end{pmatrix}"),
    ("(1,2)", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
    ("\\ce{O2 + 2H2 ->[点燃] 2H2O}", "2H_2+O_2\\xrightarrow{\\Delta}2H_2O"),
    ("2H⁺+Zn=H₂↑+Zn²⁺", "Zn+2H^{+}=Zn^{2+}+H_2"),
    ("SO4^2-", "SO_4^{2-}"),
    ("March 5th, 2021", "2021年3月5日"),
    ("221 BC", "公元前221年"),
    ("3/4/2021", "3/4/2021"),
]
UNEQUAL = [
    ("x=2", "x=3 or x=2"),
    ("x=2", "x=1, y=2"),
    ("4", "x=2且x=4"),
    ("a_3=19", "a_3=2, a_{37}=19"),
    ("x=2且x=4", "x=2, x=3, x=4"),
    ("0", "x-\\sqrt{2}y-4=0"),
    ("6", "xy=6"),
    ("(x,y)=(1,-2)", "\\{1,-2\\}"),
    ("(1,2)", "｛x|x=1或x=2｝"),
    ("3, 1", "1, 3"),
    ("(1,2)", "\\{1,2\\}"),
    ("[1,2]", "1,2"),
    ("(2,1)", "(1,2)"),
    ("1,2,3", "\\{1,2\\}"),
    ("\\{1,1,2\\}", "\\{1,2,2\\}"),
    ("x=2", "x=2 or x=3"),
    ("y=2 or y=3", "x=2 or x=3"),
    ("\\{0\\}", "\\emptyset"),
    ("32, 349", "32349"),
    ("(0,1]", "0<x<1"),
    ("\\{-3,2\\}", "[-3,2]"),
    ("[1,2)\\cup(2,3]", "[1,3]"),
    ("y>2", "x>2"),
    ("-x<-1", "x<1"),
    ("y=2x-1", "y=2x+1"),
    ("x=2", "x^2=4"),
    ("\\{2\\}", "{x|x²=4}"),
    ("\\begin{vmatrix}1&2\\\\3&4\\end{vmatrix}", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}"),
    ("\\begin{pmatrix}1&3\\\\2&4\\end{pmatrix}", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}"),
    ("4H2+2O2→4H2O", "2H2+O2→2H2O"),
    ("2H2O→2H2+O2", "2H2+O2→2H2O"),
    ("N2+3H2→2NH3", "N2+3H2⇌2NH3"),
    ("Fe^{2+}", "Fe^{3+}"),
    ("4/3/2021", "3/4/2021"),
    ("April 3, 2021", "3/4/2021"),
    ("3:30 am", "15:30"),
    ("1912年1月1日", "1912年"),
    ("1066 BC", "1066"),
]


@pytest.mark.parametrize(("given", "gold"), EQUAL)
def test_equal(given: str, gold: str) -> None:
    assert same(given, gold) and same(gold, given)


@pytest.mark.parametrize(("given", "gold"), UNEQUAL)
def test_unequal(given: str, gold: str) -> None:
    assert not same(given, gold) and not same(gold, given)
