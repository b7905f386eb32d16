"""Replies for several blanks: where they can be parted, where they look so and cannot, and short replies for one blank."""

from __future__ import annotations

import pytest

from mmdyn.scoring.extract import extract


def _read(reply: str, blanks: int) -> tuple[str, ...] | None:
    found = extract("fill_in_the_blank", reply, blanks=blanks).found
    assert found is None or isinstance(found, tuple)
    return tuple(map(str, found)) if found is not None else None


PARTED = [
    ("（1）氧气（2）光能", "氧气|光能"),
    ("①12②15", "12|15"),
    ("①12②15③18", "12|15|18"),
    ("(1)12(2)15", "12|15"),
    ("(1) 12 (2) 15 (3) 18", "12|15|18"),
    ("(1)12;(2)15;(3)18", "12|15|18"),
    ("(1)-3(2)-5", "-3|-5"),
    ("(1)A(2)C(3)B", "A|C|B"),
    ("（1）H₂O（2）CO₂", "H₂O|CO₂"),
    ("(1)f(2)=3(2)f(1)=2", "f(2)=3|f(1)=2"),
    ("(1)①③(2)②④", "①③|②④"),
    ("①③；②④", "①③|②④"),
    ("答案：（1）氧气（2）光能", "氧气|光能"),
    ("The answers are:\n(1)12(2)15", "12|15"),
    ("1.氧气2.光能", "氧气|光能"),
    ("1、氧气2、光能", "氧气|光能"),
    ("1. 12 2. 15", "12|15"),
    ("1. 12. 2. 15.", "12|15"),
    ("1. 2. 2. 5.", "2|5"),
    ("1. 2.5 kg 2. 3.5 kg", "2.5 kg|3.5 kg"),
    ("第一空填氧气第二空填光能", "氧气|光能"),
    ("第一空应填氧气，第二空应填光能。", "氧气|光能"),
    ("第(1)空：氧气 第(2)空：光能", "氧气|光能"),
    ("空格1：氧气\n空格2：光能", "氧气|光能"),
    ("空格1是12，空格2是15。", "12|15"),
    ("The first blank is 12 and the second is 15.", "12|15"),
    ("The first is 12, the second is 15, and the third is 18.", "12|15|18"),
    ("The first answer is 12. The second answer is 15.", "12|15"),
    ("Blank 1 is 12, blank 2 is 15 and blank 3 is 18.", "12|15|18"),
    ("Blank 1 = 12, blank 2 = 15", "12|15"),
    ("First: 12\nSecond: 15", "12|15"),
    ("1st blank: 12\n2nd blank: 15", "12|15"),
    ("(1) The value is 12. (2) The value is 15.", "12|15"),
    ("(1) The answer is 12. (2) The answer is 15.", "12|15"),
    ("（1）该国首都是巴黎。（2）该国首都是罗马。", "巴黎|罗马"),
    ("a. 12 b. 15 c. 18", "12|15|18"),
    ("12 / 15 / 18", "12|15|18"),
    ("12, 15 and 18", "12|15|18"),
    ("1/2 / 3/4", "1/2|3/4"),
    ("(1) 10. Wait, actually 12. (2) 15 (3) 18", "12|15|18"),
    ("应依次填写：氧气；光能；叶绿体", "氧气|光能|叶绿体"),
    ("依次填12、15。", "12|15"),
    ("空格处应分别填入：12，15", "12|15"),
    ("两空分别为12和15。", "12|15"),
    ("The blanks are 12 and 15, respectively.", "12|15"),
    ("The missing values are 12, 15 and 18.", "12|15|18"),
    ("The values are respectively 12 and 15.", "12|15"),
    ("The blanks should be filled with 12 and 15.", "12|15"),
    ("The sum is 12.\nThe product is 35.", "12|35"),
    ("The sum is 12 and the product is 35.", "12|35"),
    ("(2) 15", "|15"),
    ("(1) 12 (3) 18", "12||18"),
    ("(1) ____ (2) 15", "|15"),
    ("Answer: 12", "12"),
    ("(1) 12. Wait, that's wrong. (2) 15", "|15"),
    ("(1) Answer: 12. Wait, that's wrong. (2) Answer: 15", "|15"),
    ("(1) I don't know (2) 15", "|15"),
    ("一、12 二、15", "12|15"),
    ("（一）12（二）15", "12|15"),
    ("[1]12[2]15", "12|15"),
    ("Blank A: 12, Blank B: 15", "12|15"),
    ("The first blank should be 12, while the second should be 15.", "12|15"),
    ("The answer is 12 for the first blank and 15 for the second.", "12|15"),
    ("第一个空是氧气，第二个是光能", "氧气|光能"),
    ("应填：氧气；光能", "氧气|光能"),
    ("1. Add the numbers.\n2. Divide by two.\nThe values are 12 and 15.", "12|15"),
    ("Step 1: add. Step 2: divide.\n12; 15", "12|15"),
    ("Let's compute.\n12; 15", "12|15"),
    ("**(1)** 12 **(2)** 15", "12|15"),
    ("(1)12(2)15", "12|15"),
    ("①>②<", ">|<"),
    ("12（第一空）；15（第二空）", "12|15"),
    ("Blank one: 12\nBlank two: 15", "12|15"),
    ("blank 1 - 12, blank 2 - 15", "12|15"),
    ("Therefore, 12 and 15.", "12|15"),
    ("They are 12 and 15.", "12|15"),
    ("By (1), x is 3; by (2), y is 4.", "3|4"),
]
"""Reply, and its parts between bars; as many blanks as parts but for one reply."""

FEWER = {"Answer: 12": 2}


@pytest.mark.parametrize(("reply", "wanted"), PARTED)
def test_parts_are_read(reply: str, wanted: str) -> None:
    parts = tuple(wanted.split("|"))
    assert _read(reply, FEWER.get(reply, len(parts))) == parts


WHOLE = [
    ("f(1)=2; f(2)=3", "f(1)=2|f(2)=3"),
    ("(1, 2); (3, 4)", "(1, 2)|(3, 4)"),
    ("(1,2) and (2,3)", "(1,2)|(2,3)"),
    ("f(1)=2 and g(2)=5", "f(1)=2|g(2)=5"),
    ("H2O; CO2", "H2O|CO2"),
    ("Fe(OH)2, Fe(OH)3", "Fe(OH)2|Fe(OH)3"),
    ("2021.3.5; 2022.4.6", "2021.3.5|2022.4.6"),
    ("1.5; 2.5", "1.5|2.5"),
    ("1.5, 2.5", "1.5|2.5"),
    ("3:1; 1:2", "3:1|1:2"),
    ("1/2, 3/4", "1/2|3/4"),
    ("3(2)5; 7", "3(2)5|7"),
    ("1) x(2)\n2) y(3)", "x(2)|y(3)"),
    ("is; are", "is|are"),
    ("is going, are going", "is going|are going"),
    ("what is called, in which", "what is called|in which"),
    ("实事求是的思想路线；独立自主", "实事求是的思想路线|独立自主"),
    ("first, second", "first|second"),
    ("the first; the second", "the first|the second"),
    ("1,000; 2,000", "1,000|2,000"),
    ("AC / BD", "AC|BD"),
    ("km/h; m/s", "km/h|m/s"),
    ("therefore, however", "therefore|however"),
    ("they are, it is", "they are|it is"),
    ("1. wait 2. actually", "wait|actually"),
    ("(1) Actually, I like it (2) wait for", "Actually, I like it|wait for"),
    ("(1)氧气（O2）(2)光能", "氧气(O2)|光能"),
    ("(1)sin30°(2)cos60°", "sin30°|cos60°"),
    ("(1) x>2 (2) x<3", "x>2|x<3"),
    ("(1)y=f(2)(2)3", "y=f(2)|3"),
    ("(1)P(2)=3(2)5", "P(2)=3|5"),
    ("St. Louis, New York", "St. Louis|New York"),
    ("2021年3.5；6", "2021年3.5|6"),
    ("1.12\n2.15", "1.12|2.15"),
    ("12.\n15.", "12|15"),
    ("(1) 由①②得12 (2) 15", "12|15"),
]
"""What looks like a mark, a clause or a fraction, and is part of an answer."""


def test_numbers_that_end_early_fill_the_first_blanks() -> None:
    assert _read("(1)12(2)15", 3) == ("12", "15")
    assert _read("(1) 4 (2) 5, because (1) is twice 2", 2) == ("4", "5")


@pytest.mark.parametrize(("reply", "wanted"), WHOLE)
def test_look_alikes_stay_in_their_part(reply: str, wanted: str) -> None:
    parts = tuple(wanted.split("|"))
    assert _read(reply, len(parts)) == parts


UNREAD = [
    ("（1）氧气（3）光能", 3),
    ("(1)4(2)5(1)6(2)7", 2),
    ("Answer: 60 km / h", 2),
    ("(1)12(2)15(3)18", 2),
    ("(1) 12 (2) 15 (3) 18", 2),
    ("①12②15③18", 2),
    ("（2）氧气（1）光能（3）水", 2),
    ("(2)12(3)15", 4),
    ("(1)f(2)=3(2)", 2),
    ("(1)(2)", 2),
    ("1.5 2.5 3.5", 2),
    ("The value is 12.", 2),
    ("12 is the sum of 5 and 7", 2),
    ("The process is called photosynthesis and respiration.", 2),
    ("The colours red, green and blue are used.", 2),
    ("Let me think. The lamp is red. It is 12", 2),
    ("第一空填氧气第三空填光能", 3),
    ("由(1)可知氧气(2)光能", 2),
    ("The first blank is 12 and the third is 15.", 3),
    ("Blank 1 is 12, blank 2 is 15 and blank 3 is 18.", 2),
    ("We multiply by (2) and then get 12. It follows.", 2),
    ("a. 12 c. 15 d. 18", 3),
    ("1.氧气 2.光能 3.水", 2),
    ("12 for the first blank and 15 for the third", 2),
    ("By (1), it follows. By (2), too.", 2),
    ("I first thought of 12. The second was 15.", 3),
]


@pytest.mark.parametrize(("reply", "blanks"), UNREAD)
def test_what_cannot_be_parted_is_unread(reply: str, blanks: int) -> None:
    got = extract("fill_in_the_blank", reply, blanks=blanks)
    assert (got.status, got.found) == ("unparsed", None)


SINGLE = [
    ("Answer: 12. Wait, that should be 13.", "13"),
    ("Answer: 12. Wait, it should be 13.", "13"),
    ("Answer: 12. Actually, this must be 13.", "13"),
    ("填42", "42"),
    ("应填42。", "42"),
    ("此空应填42", "42"),
    ("答案：填42", "42"),
    ("We get 6*7=42", "42"),
    ("So we have 6*7 = 42.", "42"),
    ("x=42", "x=42"),
    ("1/2", "1/2"),
    ("1 / 2", "1 / 2"),
    ("12 / 15 / 18", "12 / 15 / 18"),
    ("2021.3.5", "2021.3.5"),
    ("f(1)=2", "f(1)=2"),
    ("(1, 2)", "(1, 2)"),
    ("3:1", "3:1"),
    ("填空题", "填空题"),
    ("填海造陆", "填海造陆"),
    ("填料塔", "填料塔"),
    ("应填“光合作用”", "光合作用"),
    ("Answer: that is the way", "that is the way"),
    ("它不是金属元素", "它不是金属元素"),
    ("要坚持实事求是的思想路线", "要坚持实事求是的思想路线"),
    ("We get x<=42", "We get x<=42"),
]


@pytest.mark.parametrize(("reply", "wanted"), SINGLE)
def test_one_blank(reply: str, wanted: str) -> None:
    assert _read(reply, 1) == (wanted,)


REASONS = [
    ("答案是70°，理由是三角形内角和为180°。", "70°"),
    ("答案：70°，因为三角形内角和为180°。", "70°"),
    ("答案是70°，由于内角和为180°", "70°"),
    ("The answer is 70°, because the angles sum to 180°.", "70°"),
    ("答案是光合作用，理由是植物需要光。", "光合作用"),
    ("Answer: tired, because he worked", "tired, because he worked"),
    ("答案是70°，不是110°，因为和为180°", "70°"),
    ("答案：甲，因为他的分数为90", "甲"),
    ("答案：共三组，由于每组4人，所以总数为12", "12"),
    ("答案：理由是充分的", "理由是充分的"),
    ("他没来，因为病了", "他没来,因为病了"),
]


@pytest.mark.parametrize(("reply", "wanted"), REASONS)
def test_a_reason_behind_a_comma_is_no_answer(reply: str, wanted: str) -> None:
    assert _read(reply, 1) == (wanted,)


BEHIND = [
    (
        "1. **carbon dioxide** - absorbed through the stomata\n2. **oxygen** - released as a by-product",
        "carbon dioxide|oxygen",
    ),
    ("1. **carbon dioxide**: absorbed through the stomata\n2. **oxygen** (released)", "carbon dioxide|oxygen"),
    ("(1) **carbon dioxide** (absorbed) (2) **oxygen** (released)", "carbon dioxide|oxygen"),
    ("1. **二氧化碳**（通过气孔进入）\n2. **氧气**（释放到空气中）", "二氧化碳|氧气"),
    ("1. **空气**：释放到大气中的气体\n2. **第二次世界大战**（1939年开始）", "空气|第二次世界大战"),
    ("1. carbon dioxide (CO2)\n2. oxygen (O2)", "carbon dioxide (CO2)|oxygen (O2)"),
    ("1. **Organelle**: mitochondria\n2. **Gas**: oxygen", "Organelle**: mitochondria|Gas**: oxygen"),
    (
        "1. **Speed** - 60 km per hour\n2. **Time** - 2 hours and more",
        "Speed** - 60 km per hour|Time** - 2 hours and more",
    ),
    ("1. **第一空**：二氧化碳气体分子\n2. **第二空**：氧气分子", "第一空**:二氧化碳气体分子|第二空**:氧气分子"),
    ("【答案】二氧化碳 氧气\n【解析】植物通过光合作用吸收二氧化碳，释放氧气。", "二氧化碳|氧气"),
    ("【答案】3；2【解析】由题意得x=3，y=2。", "3|2"),
    ("答案：二氧化碳；氧气\n解析：植物通过光合作用吸收二氧化碳，释放氧气。", "二氧化碳|氧气"),
    ("**Answer:** 3; 2\n\n**Explanation:** we add 2 and 1.", "3|2"),
    ("【解析】由题意得x=3。\n【答案】3；2", "3|2"),
    ("Explanation: x is half of y.\n3; 2", "3|2"),
    ("3\n解析\n2", "3|解析|2"),
    ("答案：光合作用 呼吸作用", "光合作用|呼吸作用"),
    ("Final Answer: 3; 2\n\nLet me know if you need the steps!", "3|2"),
    ("3\n2\nLet me know if you need more!", "3|2"),
    ("3; 2. I hope this helps!", "3|2"),
    ("Answer: 3; 2\nExplanation: it is so.\nI hope this helps!", "3|2"),
    ("let me know; feel free", "let me know|feel free"),
    ("thank you\nhave a good day", "thank you|have a good day"),
]
"""What stands behind an answer: more about it, an explanation, a courtesy; and what only looks so."""


@pytest.mark.parametrize(("reply", "wanted"), BEHIND)
def test_what_stands_behind_fills_no_blank(reply: str, wanted: str) -> None:
    parts = tuple(wanted.split("|"))
    assert _read(reply, len(parts)) == parts


def test_words_apart_are_a_list_only_where_they_are_as_many_as_the_blanks() -> None:
    assert _read("光合作用 呼吸", 3) == ("光合作用 呼吸",)
    assert _read("Answer: carbon dioxide", 2) == ("carbon dioxide",)


SAID = [
    ("Its speed is 60 km/h. I hope this helps!", "60 km/h"),
    ("heart. I hope this helps!", "heart"),
    ("∠C为70°。如需进一步讲解请告诉我。", "70°"),
    ("So the blank should be filled with 60.", "60"),
    ("The angles sum to 180. So the blank should be filled with 60.", "60"),
    ('The blank should be filled with "heart".', "heart"),
    ("The blank is filled by the heart, which pumps blood.", "the heart"),
    ("It should be 60.", "60"),
    ("It should be 60, not 70.", "60"),
    ("The organ that pumps blood through the body is the **heart**.", "heart"),
    ("The answer is the **heart**.", "heart"),
    ("综上，∠C=70°，故填70°。", "70°"),
    ("故填光合作用。", "光合作用"),
    ("It should be noted", "It should be noted"),
    ("I hope this helps", "I hope this helps"),
    ("他说：如有雷同，纯属巧合", "他说:如有雷同,纯属巧合"),
    ("故填海造陆", "故填海造陆"),
    ("所以填空题", "所以填空题"),
    ("设x为3", "设x为3"),
    ("他为70岁", "他为70岁"),
    ("It is about **60** km", "about **60** km"),
]


@pytest.mark.parametrize(("reply", "wanted"), SAID)
def test_what_a_short_reply_says_of_one_blank(reply: str, wanted: str) -> None:
    assert _read(reply, 1) == (wanted,)


def test_slots_for_some_of_the_blanks_are_none() -> None:
    response = "21. 【答案】 C\n22. 【答案】 B\n23. The passage does not say which train to take."
    assert extract("fill_in_the_blank", response, blanks=3, language="zh").found is None
    assert extract("fill_in_the_blank", "Answer: 1; 2; 3\nFinal answer: 1; 2; 4", blanks=3).found == ("1", "2", "4")
