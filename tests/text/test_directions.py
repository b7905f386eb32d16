"""Words that say that a question goes by a direction, and words that only look like such."""

from __future__ import annotations

import pytest

from mmdyn.text import names_a_colour, names_a_direction


@pytest.mark.parametrize(("text", "word"), [
    ("Which car is on the left?", "left"), ("It turns clockwise.", "clockwise"), ("The bottom row", "bottom"),
    ("a block on an incline", "incline"), ("the point above the line", "above the"), ("Which arrow leads home?", "arrow"),
    ("How far north is it?", "north"), ("Find the coordinates of P.", "coordinates"), ("the front view", "front view"),
    ("What time does the clock show?", "clock"), ("Who sits behind Lucy?", "behind"),
    ("小车向右运动", "右"), ("圆盘顺时针转过90°", "顺时针"), ("桌面水平放置", "水平"), ("河流向北流", "向北"), ("P在第二象限", "象限"),
    ("竖直上抛", "竖直"), ("三视图如图", "视图"), ("向上拉", "向上"),
    ("How many cars turn left?", "turn left"), ("2 cars turn left", "turn left"), ("He moves 3 steps left.", "left"),
    ("Which car is left of the tree?", "left"), ("There are 3 on the left.", "left"), ("The one that points left", "left"),
    ("The lift rises.", "rises"), ("It drops from the roof.", "drops"), ("The car faces the wall.", "faces the"),
    ("She walks north. He waits.", "north"), (r"$F_{\text{left}}$", "left"), ("the upper edge", "upper"),
    ("木板左右两端", "左"), ("在A、B左右两侧", "左"), ("左盘", "左"), ("电梯上升", "上升"), ("小球下降2 m", "下降"), ("高度下降", "高度"),
    ("河北岸", "北岸"), ("最高点", "最高"), ("物体上升的高度", "上升"), ("在上方", "在上"), ("磁场方向", "方向"), ("the left side of the square", "left"), ("图的左边", "左"), ("the waterfall falls", "falls"),
    ("南方向", "南方"), ("Who is left of Tom?", "left"),
])  # fmt: skip
def test_directions(text: str, word: str) -> None:
    assert names_a_direction(text) == word


@pytest.mark.parametrize("text", [
    "The right triangle ABC has an area of 6.", "What is left over?", "As shown in the figure below, find AB.",
    "Which of the above statements is right?", "Use the table above.", "The area of square ABCD is",
    "下列说法正确的是", "如下图所示，以上都对", "山东省的面积", "直角三角形的斜边",
    r"$\left(\frac{1}{2}\right)$", r"$\left[\mathrm{C}\right]$是", r"$\mathrm{H}_2\uparrow$", r"$\top$", r"$\downarrow$ forms",
    "3 apples are left.", "How much money is left?", "She left her house at 8.", "S2 is left unconnected", "6 bulbs left",
    "The price of corn rises.", "a rising temperature", "The voltage drops are equal.", "prices will fall",
    "He writes down a number of two digits.", "times in a row", "over the interval [0, 4]", "the top 20 percent",
    "How many faces does it have?", "the shaded faces", "in South Africa", "northern Europe",
    "左思右想", "左宗棠", "座右铭", "约20cm左右", "$300$元左右", "价格上升", "种群数量持续下降", "产量下降了5%", "呈上升趋势",
    "人民生活水平", "最高气温", "最高价氧化物", "高度重视", "在下列图形中", "在上海", "由下表可知", "以上方法", "1942年上半年", "下面的文字",
    "How many did he have left?", "What is left of the cake?", "the right-hand side of the equation", "in the fall of 1990",
    "the Middle East", "以下面积", "方程左边", "等式左右两边", "南方人", "最低工资",
    "南北朝时期", "什么东西", "西方列强", "山东方言", "条件反射", "宗教信仰", "发展方向",
])  # fmt: skip
def test_words_that_name_none(text: str) -> None:
    assert names_a_direction(text) == ""


def test_a_command_of_latex_is_no_word() -> None:
    assert (
        not names_a_colour(r"$\color{red}{4}$ and \textcolor{blue}{x}")
        and names_a_colour(r"\textbf{red} ball") == "red"
    )
