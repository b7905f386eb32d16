"""The ability ladder over runs whose answers are known: by hand, adding up, and what is said where nothing is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tables.making_runs import answer, answers, write_run

from mmdyn.record import Condition, Record
from mmdyn.stats import paired_difference
from mmdyn.table import Ladder
from mmdyn.tables import Row, TablePart, tabulate
from mmdyn.tables.why_page import _lacking

WANTS = ("want of seeing", "want of knowing", "not told apart", "mended by no context")


def under(context: str, marks: str, **more: object) -> list[Record]:
    return answers(marks, Condition(context=context), **more)  # type: ignore[arg-type]


def ladder(folder: Path, *records: list[Record], **where: tuple[str, ...]) -> TablePart:
    run = write_run(folder / "run", [record for those in records for record in those])
    return tabulate([run], [Ladder(where=where)]).parts[0]


def of(part: TablePart, rung: str, quantity: str) -> Row:
    found = [row for row in part.rows if (row.factors["rung"], row.quantity) == (rung, quantity)]
    assert len(found) == 1
    return found[0]


def values(part: TablePart, quantity: str) -> dict[str, float | None]:
    return {row.factors["rung"]: row.value for row in part.rows if row.quantity == quantity}


S, C, K, BOTH = "1" * 8 + "0" * 12, "1" * 12 + "0" * 8, "1" * 8 + "0" * 10 + "11", "1" * 14 + "0" * 4 + "11"
ALL = under("none", S), under("caption", C), under("kprag", K), under("caption+kprag", BOTH)


def test_what_is_wanting_adds_up_to_what_is_wrong(tmp_path: Path) -> None:
    found = ladder(tmp_path, *ALL)
    assert values(found, "corrected") == {"none": 0.4, "caption": 0.6, "kprag": 0.5, "caption+kprag": 0.8}
    assert values(found, "difference") == {"caption": 0.2, "kprag": 0.1, "caption+kprag": 0.4}
    assert values(found, "of all questions") == dict(zip(WANTS, (0.2, 0.1, 0.1, 0.2), strict=True))
    shares = values(found, "of wrong answers")
    assert shares == {
        want: pytest.approx(share, abs=1e-6) for want, share in zip(WANTS, (1 / 3, 1 / 6, 1 / 6, 1 / 3), strict=True)
    }
    seeing = of(found, "want of seeing", "of all questions")
    ends = paired_difference(np.array([0.0] * 16 + [1.0] * 4), np.ones(20), np.arange(20)).ci95
    assert seeing.ci95 == pytest.approx(ends, abs=1e-6) and (seeing.n, seeing.left_out, seeing.p) == (20, 0, 0.0625)
    share = of(found, "want of seeing", "of wrong answers")
    assert share.ci95 == (-0.005198, 0.888327), "four of 20 may be none (p = 0.0625), and so may the share of twelve"
    assert any(note.startswith("assumes that a caption gives what seeing gives and no more") for note in found.notes)


@pytest.mark.parametrize(("ci95", "told"), [((0.64, 1.57), True), ((-0.28, 0.28), True), ((0.1, 0.9), False)])
def test_the_page_says_why_a_share_can_exceed_what_a_share_is(ci95: tuple[float, float], told: bool) -> None:
    row = Row(
        factors={"model": "m", "rung": "mended by no context"},
        quantity="of wrong answers",
        unit="share",
        value=1.0,
        ci95=ci95,
        n=80,
    )
    (line,) = _lacking([row])
    ends = "; shares are net of the answers that a context spoils, so that one can be below 0 or above 100 %"
    assert (
        line.text.endswith(f" % (80 questions{ends * told}).")
        and "of wrong answers: mended by no context 100 [" in line.text
    )


def test_what_either_alone_mends_counts_twice_and_is_taken_off(tmp_path: Path) -> None:
    found = ladder(
        tmp_path, under("none", "0" * 20), *(under(name, "1" * 20) for name in ("caption", "kprag", "caption+kprag"))
    )
    assert values(found, "of all questions") == dict(zip(WANTS, (1.0, 1.0, -1.0, 0.0), strict=True))
    assert values(found, "of wrong answers") == dict(zip(WANTS, (1.0, 1.0, -1.0, 0.0), strict=True))


def test_questions_that_lack_a_context_are_left_out_and_counted(tmp_path: Path) -> None:
    found = ladder(tmp_path, *ALL[:3], under("caption+kprag", BOTH[:-3] + "..."))
    row = of(found, "mended by no context", "of all questions")
    assert (row.n, row.left_out, row.value) == (17, 3, round(3 / 17, 6))
    assert of(found, "caption", "difference").left_out == 0
    assert of(found, "caption+kprag", "difference").left_out == 3


def test_guessing_is_taken_out_before_the_shares(tmp_path: Path) -> None:
    quarter = {"chance": 0.25}
    found = ladder(tmp_path, under("none", "1000" * 10, **quarter), under("caption", "1110" * 10, **quarter),
                   under("kprag", "1000" * 10, **quarter), under("caption+kprag", "1111" * 10, **quarter))  # fmt: skip
    assert values(found, "corrected") == pytest.approx(
        {"none": 0, "caption": 2 / 3, "kprag": 0, "caption+kprag": 1}, abs=1e-6
    )
    assert values(found, "of all questions") == pytest.approx(
        dict(zip(WANTS, (2 / 3, 0, 1 / 3, 0), strict=True)), abs=1e-6
    )


def test_without_captions_what_knowledge_does_not_mend_is_not_called_reasoning(tmp_path: Path) -> None:
    found = ladder(
        tmp_path, under("none", S), under("hint:background", C), under("hint:methodology", K), under("hint:all", BOTH)
    )
    assert values(found, "of all questions") == {"want of knowing": 0.2, "mended by no context": 0.4}
    assert values(found, "difference") == {"hint:background": 0.2, "hint:methodology": 0.1, "hint:all": 0.4}


@pytest.mark.parametrize(("contexts", "wants"), [
    (("kprag:retrieved", "distractor"), {"want of knowing": 0.2, "mended by no context": 0.4}),
    (("caption", "no-picture"), {"want of seeing": 0.2, "mended by no context": 0.4}),
    (("caption", "kprag"), {"want of seeing": 0.2, "want of knowing": 0.1, "mended by no context, or not told apart": 0.3}),
    (("hint:methodology", "hint:definition"), {"want of knowing": 0.1, "mended by no context": 0.5}),
    (("no-picture",), {"not told apart": None}),
])  # fmt: skip
def test_other_contexts_tell_what_they_can(
    tmp_path: Path, contexts: tuple[str, ...], wants: dict[str, float | None]
) -> None:
    found = ladder(
        tmp_path, under("none", S), *(under(name, marks) for name, marks in zip(contexts, (C, K), strict=False))
    )
    assert values(found, "of all questions") == wants
    assert sum(filter(None, wants.values())) == pytest.approx(0.6 * (None not in wants.values()))


def test_questions_that_need_no_picture_are_listed(tmp_path: Path) -> None:
    thrice = [
        under("no-picture", marks, epoch=epoch, chance=0.25, extracted="ABC"[epoch])
        for epoch, marks in enumerate(("1110", "1101", "111x"))
    ]
    row = of(ladder(tmp_path, under("none", "1111", chance=0.25), *thrice), "no-picture", "needed no picture")
    assert (row.value, row.unit, row.n) == (2, "count", 3), "the fourth has two answers, which luck gives too often"
    assert row.note == "right in every reply; guessing alone makes 0.0 of 3 so: s00, s01"


def test_a_guess_that_is_repeated_tells_no_more_than_a_single_one(tmp_path: Path) -> None:
    thrice = [under("no-picture", "1110", epoch=epoch, chance=0.25, extracted="A") for epoch in range(3)]
    row = of(ladder(tmp_path, under("none", "1111", chance=0.25), *thrice), "no-picture", "needed no picture")
    assert row.value is None and row.note.startswith("which questions these are is not told: so few replies")


def test_a_guess_of_an_options_text_that_moves_tells_no_more_either(tmp_path: Path) -> None:
    """Its letters differ, and what was wrong at first is never right later; a model that learns from nothing knows."""
    thrice = [under("no-picture", "1110000000", epoch=epoch, chance=0.25, extracted="ABC"[epoch]) for epoch in range(3)]
    standard = under("none", "1" * 10, chance=0.25)
    row = of(ladder(tmp_path / "stuck", standard, *thrice), "no-picture", "needed no picture")
    assert row.value is None and "an identical reply adds nothing" in row.note
    varied = [
        under("no-picture", marks, epoch=epoch, chance=0.25, extracted="ABC"[epoch])
        for epoch, marks in enumerate(("1110000000", "1111100000", "1110011000"))
    ]
    row = of(ladder(tmp_path / "varied", standard, *varied), "no-picture", "needed no picture")
    assert (row.value, row.n) == (3, 10)


def test_one_reply_in_four_right_by_luck_does_not_tell_which(tmp_path: Path) -> None:
    found = ladder(tmp_path, under("none", "11", chance=0.25), under("no-picture", "11", chance=0.25))
    row = of(found, "no-picture", "needed no picture")
    assert row.value is None and row.note.startswith("which questions these are is not told: so few replies")


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    row = of(
        ladder(tmp_path, under("none", "1" * 25), under("no-picture", "1" * 25)), "no-picture", "needed no picture"
    )
    assert row.value == 25 and row.note.endswith("s18, s19 and 5 more")


def test_what_cannot_be_told_says_why(tmp_path: Path) -> None:
    alone = ladder(tmp_path / "a", under("none", S))
    assert of(alone, "not told apart", "of all questions").note.startswith(
        "what wrong answers lack is told by --context none"
    )
    apart = ladder(tmp_path / "b", under("none", "11.."), under("kprag", "..11"))
    assert (
        of(apart, "mended by no context", "of all questions").note
        == "no question was answered under all of none, kprag"
    )
    right = ladder(tmp_path / "c", under("none", "1" * 20), under("kprag", "1" * 19 + "0"))
    row = of(right, "want of knowing", "of wrong answers")
    assert (row.value, row.ci95) == (
        None,
        None,
    ) and "not told: the wrong answers are too few to take a share of" in row.note


def test_triplets_tell_by_what_else_is_wrong(tmp_path: Path) -> None:
    marks = {"origin": "11000000", "perception": "11110010", "knowledge": "11110100"}
    records = [
        answer(f"{rung}{place}", float(mark), group=f"g{place}", fields={"rung": rung})
        for rung, those in marks.items()
        for place, mark in enumerate(those)
    ]
    records.append(answer("origin9", 0.0, group="g9", fields={"rung": "origin"}))
    found = ladder(tmp_path, records)
    genuine = of(found, "genuine accuracy", "score")
    assert (genuine.value, genuine.n, genuine.left_out) == (0.25, 8, 1)
    wants = (*WANTS[:-1], "want of reasoning")
    assert values(found, "of all questions") == dict(zip(wants, (0.125, 0.125, 0.25, 0.25), strict=True))
    assert values(found, "of wrong answers") == pytest.approx(
        dict(zip(wants, (1 / 6, 1 / 6, 1 / 3, 1 / 3), strict=True)), abs=1e-6
    )
    only = ladder(tmp_path / "one", records, rung=("origin",))
    assert values(only, "corrected") == {"none": pytest.approx(2 / 9, abs=1e-6)}
