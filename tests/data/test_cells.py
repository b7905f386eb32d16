"""Lists, answers and names in cells, as people write them, and hostile ones within bounds."""

from __future__ import annotations

import contextlib

import pytest

from mmdyn.data import read_list_cell


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", ()), (" a, b ", ("a, b",)), ("[]", ()), ("[ ]", ()), ('["a", "b"]', ("a", "b")),
        ("['a', \"b\"]", ("a", "b")), ("['a',]", ("a",)), ("['it\\'s', 'a\\\\b']", ("it's", "a\\b")),
        ("['x\\ny\\xa0', '\\\\frac{1}{2}', '\\sin']", ("x\ny\xa0", "\\frac{1}{2}", "\\sin")),
        ('["\\u4e2d"]', ("中",)), ("['x]', '[y', ',']", ("x]", "[y", ",")),
    ],
)  # fmt: skip
def test_lists(text: str, items: tuple[str, ...]) -> None:
    assert read_list_cell(text) == items


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("['a'", "is not closed"), ("['a' 'b']", "cannot be read"), ("[a, b]", "cannot be read"),
        ("['a', 3]", "cannot be read"), ("['a'] + ['b']", "goes on after its end"),
        ("[__import__('os')]", "cannot be read"), ("[['a']]", "cannot be read"),
        ("['\\x']", "double its backslashes"), ("['\\N{none}']", "double its backslashes"),
    ],
)  # fmt: skip
def test_lists_that_are_none(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_list_cell(text)


@pytest.mark.parametrize(
    "text", ["['" + "\\'" * 200_000, "[" + "'a'," * 200_000 + "]", "['" + "a" * 2_000_000 + "]", "[" * 100_000 + "]"]
)
@pytest.mark.timeout(60)
def test_hostile_lists_end_within_a_bound(text: str) -> None:
    found: list[str] = []
    with contextlib.suppress(ValueError):
        found = list(read_list_cell(text))
    assert all(isinstance(item, str) for item in found)
