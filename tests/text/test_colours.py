"""Words for colours, and for light and dark, in both languages."""

from __future__ import annotations

import pytest
from growth import grows_linearly

from mmdyn.text import names_a_colour, names_a_shade


@pytest.mark.parametrize(
    ("text", "colour", "shade"),
    [
        ("Which ball is red?", "red", ""), ("the Blue line", "Blue", ""), ("a greenish liquid", "greenish", ""),
        ("the solution turns reddish", "reddish", ""), ("袋中有红球和蓝球", "红球", ""), ("绿色部分", "绿色", ""),
        ("the white part", "white", "white"), ("a grayish tint", "grayish", "grayish"),
        ("how many colours", "colours", "colours"), ("a brown bear", "brown", "brown"),
        ("the yellow region", "yellow", "yellow"), ("黑色部分", "黑色", "黑色"), ("灰色三角形", "灰色", "灰色"),
        ("棋子黑白相间", "黑白", "黑白"), ("什么颜色", "颜色", "颜色"), ("the darkest region", "", "darkest"),
        ("bright fringes", "", "bright"), ("the light-coloured squares", "coloured", "light-colour"),
        ("the light blue squares", "blue", "light blue"), ("深红色的区域", "红色", "深红色"), ("浅色区域", "", "浅色"),
        ("灯泡的亮度", "", "亮度"), ("red and black", "red", "black"), ("the Navy Blue triangle", "Navy", "Navy"),
        ("a sky blue square", "blue", "sky blue"), ("Which curve is cyan?", "cyan", "cyan"),
        ("a bluish flame", "bluish", ""), ("the reds and blues", "reds", ""),
        ("a whitish powder", "whitish", "whitish"), ("the lighter line", "", "lighter"), ("粉红色的圆", "红色", "粉红"),
        ("墨绿色部分", "绿色", "墨绿"), ("沿红线走到黑点", "红线", "黑点"), ("金色的环", "金色", "金色"),
    ],
)  # fmt: skip
def test_the_first_name_is_found(text: str, colour: str, shade: str) -> None:
    assert (names_a_colour(text), names_a_shade(text)) == (colour, shade)


@pytest.mark.parametrize(
    "text",
    [
        "the shaded part", "a light string over a pulley", "the speed of light", "a ray of light",
        "It is reduced by one hundred.", "the whiteboard", "小红和小明在黄河边", "阴影部分的面积", "",
    ],
)  # fmt: skip
def test_other_words_are_not_taken_for_colours(text: str) -> None:
    assert not names_a_colour(text) and not names_a_shade(text)


@pytest.mark.parametrize("piece", ["light ", "深", "colou"])
def test_long_texts_are_read_in_one_go(piece: str) -> None:
    assert not names_a_colour(piece * 60_000) and not names_a_shade(piece * 60_000)
    assert grows_linearly(lambda size: (names_a_colour(piece * size), names_a_shade(piece * size)), 15_000)
