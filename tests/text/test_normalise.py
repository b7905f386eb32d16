"""Characters that look alike and characters that cannot be seen."""

from __future__ import annotations

from mmdyn.text import known_unit, one_spelling, unit_name, visible_and_gaps, visible_text


def test_visible_keeps_the_length() -> None:
    for text in ("ＡＢ（１）", "𝐁Ⓑ", "a\ud800b", "a\x00b", "İ", "plain"):
        assert len(visible_text(text)) == len(text)
    assert visible_text("Ａ（１）：Ⓑ𝐁\u3000") == "A(1):BB "
    assert visible_text("a\ud800\x00b") == "a\ufffd b"


def test_unseen_characters_are_found_and_dropped() -> None:
    assert visible_and_gaps("a\u200bＢ\u202ec") == ("aBc", [1, 3])
    assert visible_text("a\u200bb\u202ec\ufeff") == "abc"
    assert visible_and_gaps("a\x01c") == ("a c", [])


def test_one_spelling() -> None:
    assert one_spelling("x² + H₂O − 2×3") == "x^2 + H2O - 2*3"
    assert one_spelling("3½") == "3 1/2"


def test_units_by_name() -> None:
    assert known_unit("metres") == known_unit("米") == "m"
    assert known_unit("Metres") == "m"
    assert (unit_name("mW"), unit_name("MW")) == ("mW", "MW")
    assert unit_name("M") is None
    assert unit_name("x") is None
    assert unit_name("or") is None
    assert unit_name("students") == "student"
    assert unit_name("个苹果") == "个苹果"
    assert unit_name("或六") is None
    assert unit_name("kg·m/s^2") == "kg*m/s^2"
