"""Words for colours, and for light and dark, in both languages."""

from __future__ import annotations

import pytest
from growth import grows_linearly

from mmdyn.text import known_by_colour, names_a_colour, names_a_hue, names_a_shade


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
        ("试纸变红", "变红", ""), ("溶液呈黄色", "呈黄", "呈黄"), ("叶片发黑", "发黑", "发黑"), ("红光与紫光的折射", "红光", ""),
    ],
)  # fmt: skip
def test_the_first_name_is_found(text: str, colour: str, shade: str) -> None:
    assert (names_a_colour(text), names_a_shade(text)) == (colour, shade)


@pytest.mark.parametrize(("text", "hue"), [
    ("the white part", ""), ("the grey and the blackish cells", ""), ("黑色部分", ""), ("棋子黑白相间", ""), ("叶片发黑", ""), ("dark gray", ""),
    ("red and black", "red"), ("沿红线走到黑点", "红线"), ("white or brown", "brown"), ("what colour, black or white", "colour"),
    ("白色还是什么颜色", "颜色"), ("the sky blue or the white square", "blue"), ("黄色部分", "黄色"), ("银色的环", "银色"),
])  # fmt: skip
def test_black_white_and_grey_are_no_hues(text: str, hue: str) -> None:
    assert names_a_hue(text) == hue


@pytest.mark.parametrize(
    "text",
    [
        "the shaded part", "a light string over a pulley", "the speed of light", "a ray of light",
        "It is reduced by one hundred.", "the whiteboard", "小红和小明在黄河边", "阴影部分的面积", "",
    ],
)  # fmt: skip
def test_other_words_are_not_taken_for_colours(text: str) -> None:
    assert not names_a_colour(text) and not names_a_shade(text)


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("Which traffic light is on?", "traffic light"), ("石蕊试纸变成了什么？", "石蕊"), ("试纸变红", "试纸"),
        ("What flag is this?", "flag"), ("Is the fruit ripe?", "ripe"), ("Is the banana unripe?", "unripe"),
        ("哪盏灯亮着？", "哪盏灯亮"), ("Which of the lamps is lit?", "lamps is lit"), ("这面旗帜属于哪国？", "旗帜"),
        ("What does the litmus paper show?", "litmus"), ("果实成熟了吗？", "果实成熟"), ("图中的月相是", "月相"),
        ("Which phase of the moon is shown?", "phase of the moon"), ("Is the spectrum an absorption spectrum?", "absorption spectrum"),
        ("图示昼夜分布", "昼夜"), ("读卫星云图", "卫星云图"), ("the central fringe", "fringe"), ("A rusty nail", "rusty"),
        ("发生变色的是", "变色"), ("滴入酚酞溶液", "酚酞"),
    ],
)  # fmt: skip
def test_what_is_known_by_its_colour_is_found(text: str, thing: str) -> None:
    assert known_by_colour(text) == thing


@pytest.mark.parametrize(
    "text",
    [
        "a flagpole of 12 m", "旗杆的高度", "染色体", "tan 30°", "an electric light on the table", "The stripe on the shirt",
        "a tripe soup", "色散实验", "a trusty friend", "阴影部分的面积", "the terminal voltage", "灯泡的额定电压", "",
    ],
)  # fmt: skip
def test_other_things_are_not(text: str) -> None:
    assert not known_by_colour(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["light ", "深", "colou", "果", "which "])
def test_long_texts_are_read_in_one_go(piece: str) -> None:
    finders = names_a_colour, names_a_hue, names_a_shade, known_by_colour
    assert not any(find(piece * 60_000) for find in finders)
    assert grows_linearly(lambda size: [find(piece * size) for find in finders], 15_000)
