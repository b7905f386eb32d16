"""Characters that look alike and characters that cannot be seen."""

from __future__ import annotations

from mmdyn.text import clean, known_unit, one_spelling, unit, visible


def test_visible_keeps_the_length() -> None:
    for text in ("ＡＢ（１）", "𝐁Ⓑ", "a\ud800b", "a\x00b", "İ", "plain"):
        assert len(clean(text)) == len(text)
    assert clean("Ａ（１）：Ⓑ𝐁\u3000") == "A(1):BB "
    assert clean("a\ud800\x00b") == "a\ufffd b"


def test_unseen_characters_are_found_and_dropped() -> None:
    assert visible("a\u200bＢ\u202ec") == ("aBc", [1, 3])
    assert clean("a\u200bb\u202ec\ufeff") == "abc"
    assert visible("a\x01c") == ("a c", [])


def test_one_spelling() -> None:
    assert one_spelling("x² + H₂O − 2×3") == "x^2 + H2O - 2*3"
    assert one_spelling("3½") == "3 1/2"


def test_units_by_name() -> None:
    assert known_unit("metres") == known_unit("米") == "m"
    assert known_unit("Metres") == "m"
    assert (unit("mW"), unit("MW")) == ("mW", "MW")
    assert unit("M") is None
    assert unit("x") is None
    assert unit("or") is None
    assert unit("students") == "student"
    assert unit("个苹果") == "个苹果"
    assert unit("或六") is None
    assert unit("kg·m/s^2") == "kg*m/s^2"
