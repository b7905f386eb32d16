"""Words that say that a question goes by a direction, and words that only look like such."""

from __future__ import annotations

import pytest

from mmdyn.text import names_a_direction


@pytest.mark.parametrize(("text", "word"), [
    ("Which car is on the left?", "left"), ("It turns clockwise.", "clockwise"), ("The bottom row", "bottom"),
    ("a block on an incline", "incline"), ("the point above the line", "above the"), ("Which arrow leads home?", "arrow"),
    ("How far north is it?", "north"), ("Find the coordinates of P.", "coordinates"), ("the front view", "front view"),
    ("What time does the clock show?", "clock"), ("Who sits behind Lucy?", "behind"),
    ("小车向右运动", "右"), ("圆盘顺时针转过90°", "顺时针"), ("桌面水平放置", "水平"), ("河流向北流", "向北"), ("P在第二象限", "象限"),
    ("竖直上抛", "竖直"), ("三视图如图", "视图"), ("向上拉", "向上"),
])  # fmt: skip
def test_directions(text: str, word: str) -> None:
    assert names_a_direction(text) == word


@pytest.mark.parametrize("text", [
    "The right triangle ABC has an area of 6.", "What is left over?", "As shown in the figure below, find AB.",
    "Which of the above statements is right?", "Use the table above.", "The area of square ABCD is",
    "下列说法正确的是", "如下图所示，以上都对", "山东省的面积", "直角三角形的斜边",
])  # fmt: skip
def test_words_that_name_none(text: str) -> None:
    assert names_a_direction(text) == ""
