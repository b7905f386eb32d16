"""Room: whole points from the front, then a cut at the end of a sentence, then a name."""

from __future__ import annotations

import pytest

from kprag.built_context import Piece, fit_pieces

ICE = Piece("- Ice", ": It floats. It is 0.9 times as dense, e.g. in a lake! Or so.")


@pytest.mark.parametrize(
    ("text", "size", "shown"),
    [
        ("冰浮在水上。它比水轻。", 32, "冰浮在水上。"), ("他说：“冰是冷的。”对吗？", 30, "他说：“冰是冷的。”"), ("冰浮在水上，它比水轻", 10, "冰浮在"),
        ("one\ntwo three", 8, "one"), ("It is $x. y$ so. And more", 13, "It is $x. y$"),
        ("It is $x. y$ so. And more", 17, "It is $x. y$ so."), ("It costs $5. And more", 14, "It costs $5."),
        ("Wait... what. Yes", 14, "Wait... what."), ("word", 2, "wo"), ("冰", 4, "冰"),
    ],
)  # fmt: skip
def test_sentences_of_both_languages(text: str, size: int, shown: str) -> None:
    kept, cut = fit_pieces([Piece("", text)], "\n", size)
    assert (kept, cut) == ([shown], shown != text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (": 1. First thing. 2. Second", ["- P", "- P: 1. First thing."]),
        (": 1. One.\n2. Two.\n(3) Three.", ["- P", "- P: 1. One.", "- P: 1. One.\n2. Two."]),
        (": (1) One. (2) Two.", ["- P", "- P: (1) One."]),
        (": Do this: 1. One. Or not", ["- P", "- P: Do this: 1. One."]),
        (": **Step 1. Go.** a. Run. b", ["- P", "- P: **Step 1. Go.** a. Run."]),
        (": One:\n2.\nTwo. Three", ["- P", "- P: One:", "- P: One:\n2.\nTwo."]),
        (": It is row 4. So", ["- P", "- P: It is row 4."]),
        (": See Fig. 3. So", ["- P", "- P: See Fig. 3."]),
        (r": Use \[ x = 1. \quad y. \] here. More", ["- P", r"- P: Use \[ x = 1. \quad y. \] here."]),
        (r": Use \( x. y \) so. More", ["- P", r"- P: Use \( x. y \) so."]),
        (r": Use \[ x = 1. More", ["- P", r"- P: Use \[ x = 1."]),
        (": $$a.\nb$$ so. More", ["- P", "- P: $$a.\nb$$ so."]),
    ],
)
def test_nothing_ends_behind_a_list_number_or_within_a_formula(text: str, shown: list[str]) -> None:
    pieces = [Piece("- P", text)]
    assert list(dict.fromkeys(fit_pieces(pieces, "\n", room)[0][0] for room in range(3, len(f"- P{text}")))) == shown


def test_what_follows_a_piece_that_was_cut_is_left_out() -> None:
    pieces = [Piece("- a", ": b"), ICE, Piece("- c", "")]
    assert fit_pieces(pieces, "\n", None) == (["- a: b", "".join(ICE), "- c"], False)
    whole = len("\n".join(map("".join, pieces)))
    assert fit_pieces(pieces, "\n", whole) == (["- a: b", "".join(ICE), "- c"], False)
    assert fit_pieces(pieces, "\n", whole - 1) == (["- a: b", "".join(ICE)], True)
    assert fit_pieces(pieces, "\n", 12) == (["- a: b", "- Ice"], True)
    assert fit_pieces(pieces, "\n", 11) == (["- a: b"], True)


@pytest.mark.slow
def test_a_long_text_without_sentences_takes_no_long_time() -> None:
    for long in (
        "word " * 10_000,
        "." * 50_000,
        "$. " * 7_500,
        "$" + "a. " * 15_000 + "$",
        "\n" * 50_000,
        "\\[ a. " * 7_500,
        "1. " * 7_500,
    ):
        (kept,), cut = fit_pieces([Piece("- x", f": a{long}")], "\n", 20_000)
        assert cut and len(kept) <= 20_000
