"""The judge's eye for pictures: what an operator may do passes, what damages a picture does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making_pictures import Drawing, Sheet, blur, drawn, erase, exam_pictures, framed, textured

from making import choice
from mmdyn.models import Ocr
from mmdyn.sample import Step, Variant, Verdict
from mmdyn.stats import wilson
from perturb import Case, Picture, open_judge
from perturb.judge._judge import Doubt, Look
from perturb.judge.pictures import (
    UNSEEN,
    check_case,
    check_pictures,
    find_edges,
    locate,
    misread,
    picture_checks,
    read_line,
)

PICTURES = exam_pictures(24)
FRAMES = ((0.1, 0.1, 0.1, 0.1), (0.2, 0.13, 0.11, 0.17), (0.35, 0.02, 0.3, 0.35))

FAIR: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "inverted": lambda pixels: 255 - pixels,
    "framed in white": lambda pixels: framed(pixels, FRAMES[0], 255),
    "framed in grey": lambda pixels: framed(pixels, FRAMES[1], 128),
    "framed in black and inverted": lambda pixels: 255 - framed(pixels, FRAMES[2], 0),
    "textured": textured,
    "textured, framed and inverted": lambda pixels: 255 - framed(textured(pixels, 3), FRAMES[1], 0),
    "framed and textured": lambda pixels: textured(framed(pixels, FRAMES[2], 128), 5, (205, 225, 250)),
}


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    return Ocr()


def look(before: np.ndarray, after: np.ndarray) -> Look:
    return Look(Picture(before, "png"), Picture(after, "png"), Path("before.png"), Path("after.png"))


def check(before: np.ndarray, after: np.ndarray, ocr: Ocr | None = None) -> Doubt | None:
    return check_pictures((look(before, after),), ocr)


def grey(pixels: np.ndarray) -> np.ndarray:
    return pixels if pixels.ndim == 2 else np.ascontiguousarray(pixels[..., 1])


@pytest.mark.parametrize("fair", FAIR)
def test_what_operators_do_raises_no_doubt(fair: str) -> None:
    alarms = {drawing.name: check(drawing.pixels, FAIR[fair](drawing.pixels)) for drawing in PICTURES}
    assert not any(alarms.values()), alarms


@pytest.mark.slow
def test_texture_raises_no_doubt_when_words_are_read(ocr: Ocr) -> None:
    for drawing in PICTURES[9:12]:
        assert check(drawing.pixels, FAIR["textured, framed and inverted"](drawing.pixels), ocr) is None, drawing.name


def erased(drawing: Drawing) -> np.ndarray:
    """One text wiped out: another one in each picture."""
    return erase(drawing.pixels, drawing.texts[len(drawing.name) % len(drawing.texts)][1])


def renumbered(drawing: Drawing, number: str, other: str) -> np.ndarray:
    kind, seed = drawing.name.split()
    return drawn(kind, int(seed), {number: other}, grey=drawing.pixels.ndim == 2).pixels


def turned(drawing: Drawing) -> np.ndarray | None:
    """A number's digits the other way round: 12 becomes 21."""
    number = next((number for number in drawing.numbers if number != number[::-1]), None)
    return renumbered(drawing, number, number[::-1]) if number else None


def one_digit(drawing: Drawing) -> np.ndarray | None:
    """One digit changed into one that looks like it."""
    alike = {"6": "5", "8": "3", "1": "7", "9": "4", "3": "8", "5": "6"}
    for number in drawing.numbers:
        for digit in number:
            if digit in alike:
                return renumbered(drawing, number, number.replace(digit, alike[digit], 1))
    return None


def shifted(drawing: Drawing) -> np.ndarray:
    """Moved to the left: a sixth is cut off, and white follows at the right."""
    by = drawing.pixels.shape[1] // 6
    moved = np.full_like(drawing.pixels, 255)
    moved[:, :-by] = drawing.pixels[:, by:]
    return moved


def lower_part_moved(drawing: Drawing) -> np.ndarray:
    """The lowest fifth, where answers stand, set 30 pixels to the right."""
    moved = drawing.pixels.copy()
    start = len(moved) * 4 // 5
    moved[start:, 30:] = drawing.pixels[start:, :-30]
    return moved


def another(drawing: Drawing) -> np.ndarray:
    """Another picture of the same size."""
    kinds = ["triangle", "chart", "table", "options", "circuit", "graph"]
    kind, seed = drawing.name.split()
    return drawn(kinds[kinds.index(kind) - 3], int(seed), grey=drawing.pixels.ndim == 2).pixels


def annotated(drawing: Drawing) -> np.ndarray:
    """A number added where nothing stood."""
    height, width = drawing.pixels.shape[:2]
    sheet = Sheet(width, height)
    sheet.write(width * 0.94, height * 0.95, "45")
    return np.minimum(
        drawing.pixels, grey(np.array(sheet.image)).reshape(height, width, *(1,) * (drawing.pixels.ndim - 2))
    )


LOCAL = (erased, turned, one_digit, lower_part_moved, annotated)
GROSS: dict[str, Callable[[Drawing], np.ndarray]] = {
    "blank": lambda drawing: np.full_like(drawing.pixels, 255),
    "blurred": lambda drawing: blur(drawing.pixels, 6),
    "another": another,
}


@pytest.mark.slow
@pytest.mark.parametrize("fair", ["framed in grey", "textured, framed and inverted"])
@pytest.mark.parametrize("damage", LOCAL, ids=lambda damage: damage.__name__)
def test_local_damage_is_doubtful(damage: Callable[[Drawing], np.ndarray | None], fair: str, ocr: Ocr) -> None:
    """What is erased, moved or added is seen in the lines; of changed digits, which may share most strokes, most are,
    and the others are read."""
    damaged = [(drawing.pixels, damage(drawing)) for drawing in PICTURES]
    pairs = [(before, FAIR[fair](after)) for before, after in damaged if after is not None]
    unseen = [(before, after) for before, after in pairs if not check(before, after)]
    assert len(pairs) >= 16
    assert len(unseen) <= (0.25 * len(pairs) if damage in (turned, one_digit) else 0)
    assert all(check(before, after, ocr) for before, after in unseen)


@pytest.mark.slow
@pytest.mark.parametrize("fair", ["framed in grey", "textured, framed and inverted"])
@pytest.mark.parametrize("damage", GROSS)
def test_gross_damage_is_certain(damage: str, fair: str) -> None:
    doubts = {drawing.name: check(drawing.pixels, FAIR[fair](GROSS[damage](drawing))) for drawing in PICTURES}
    assert [name for name, doubt in doubts.items() if not (doubt and doubt.certain)] == []


def test_a_picture_that_moved_out_of_its_frame_is_doubtful() -> None:
    for drawing in PICTURES:
        assert check(drawing.pixels, framed(shifted(drawing), FRAMES[1], 255)), drawing.name


def test_a_picture_that_was_cut_is_certain() -> None:
    pixels = drawn("table").pixels
    assert check(pixels, pixels[:-20]) == Doubt("the picture was cut from 480x360 to 480x340 pixels", True, 0.99)
    assert check(pixels, framed(pixels[:, 100:], FRAMES[0], 255)[:, :-30]) is not None


@pytest.mark.slow
def test_a_number_that_is_read_otherwise_is_named(ocr: Ocr) -> None:
    sheets = [Sheet(300, 200, instead=instead) for instead in ({}, {"12": "21"}, {"12": "17"}, {"A": ""}, {"A": "B"})]
    for sheet in sheets:
        sheet.write(80, 60, "A")
        sheet.write(200, 60, "12")
        sheet.write(150, 150, "velocity")
    before, *others = (np.array(sheet.image) for sheet in sheets)
    assert misread(before, before, ocr) is None
    assert misread(before, textured(before), ocr) is None
    assert [misread(before, other, ocr) for other in others] == [
        "the number 12 is read as 21", "the number 12 is read as 17", "the label A cannot be read any more",
        "the label A is read as B",
    ]  # fmt: skip
    assert misread(others[2], before, ocr) == "the label A was added"


def test_labels_that_change_places_are_noticed(ocr: Ocr) -> None:
    before, after = drawn("triangle", 2).pixels, drawn("triangle", 2, {"A": "B", "B": "A"}).pixels
    assert misread(before, after, ocr) in ("the label A is read as B", "the label B is read as A")


def test_readings_are_compared_by_digits_and_letters() -> None:
    def like(one: str, other: str) -> bool:
        return read_line(one, 1.0).like(read_line(other, 1.0))

    assert like("A. 12", "A.12") and like("O", "0") and like("x", "X") and like("−3", "-3") and like("１２", "12")
    assert like("velocity", "velocty") and like("汽车的速度", "汽车的速废")
    assert not any(
        (like("12", "21"), like("3.5", "35"), like("-3", "3"), like("A", "B"), like("velocity 5", "velocity 6"))
    )
    assert not like("velocity", "mass") and not like("甲", "乙") and not like("abc", "abd") and not like("12", "")


def test_words_too_faint_to_be_read_before_are_no_evidence(ocr: Ocr) -> None:
    before = np.full((120, 200), 255, np.uint8)
    before[40:80, 60:120] = np.random.default_rng(0).integers(0, 255, (40, 60))
    assert misread(before, np.full_like(before, 255), ocr) is None


def test_several_pictures_are_told_apart_and_the_certain_doubt_wins() -> None:
    one, two = drawn("chart"), drawn("circuit")
    fine = look(one.pixels, 255 - one.pixels)
    doubtful = look(two.pixels, erase(two.pixels, two.box("R1")))
    certain = look(one.pixels, np.full_like(one.pixels, 255))
    assert check_pictures((), None) is None
    assert check_pictures((fine, fine), None) is None
    found = check_pictures((fine, doubtful), None)
    assert found and found.reason.startswith("picture 2: lines near (") and not found.certain
    assert check_pictures((doubtful, fine, certain), None) == Doubt("picture 3: the picture is blank", True, 0.99)


@pytest.mark.parametrize("shape", [(1, 1), (1, 1, 3), (1, 60), (60, 1, 3), (30, 40, 3)])
@pytest.mark.parametrize("value", [0, 128, 255])
def test_pictures_without_anything_in_them_pass(shape: tuple[int, ...], value: int, ocr: Ocr) -> None:
    empty = np.full(shape, value, np.uint8)
    assert check(empty, empty, ocr) is None
    assert check(empty, 255 - framed(empty, FRAMES[1], 0), ocr) is None


def test_a_grey_picture_may_get_colours(ocr: Ocr) -> None:
    drawing = drawn("circuit", 1, grey=True)
    coloured = np.repeat(drawing.pixels[..., None], 3, axis=2)
    assert check(drawing.pixels, coloured) is None
    assert check(drawing.pixels, np.clip(coloured * 0.8 + (40, 30, 10), 0, 255).astype(np.uint8), ocr) is None
    assert check(coloured, drawing.pixels) is None


@pytest.mark.parametrize("frame", FRAMES)
def test_content_is_found_in_its_frame(frame: tuple[float, float, float, float]) -> None:
    for drawing in PICTURES[:12]:
        height, width = drawing.pixels.shape[:2]
        for after in (framed(drawing.pixels, frame, 0), textured(framed(drawing.pixels, frame, 255))):
            place = locate(find_edges(drawing.pixels), find_edges(after))
            assert place == (round(frame[0] * width), round(frame[2] * height)), drawing.name


@pytest.mark.parametrize("value", [0, 128])
@pytest.mark.parametrize("change", [lambda pixels: pixels, lambda pixels: pixels // 2 + 60], ids=["equal", "faded"])
def test_a_grid_is_not_taken_for_its_neighbour_lines(change: Callable[[np.ndarray], np.ndarray], value: int) -> None:
    """Repeated rows lie on each other one row off, too, and thick lines a pixel off; only one place is right."""
    grid = np.full((714, 324), 255, np.uint8)
    for row in range(17, 714, 34):
        grid[row : row + 3] = (90, 40, 90)[row // 34 % 3]
    grid[:, 20:304:71] = 60
    after = framed(change(grid), FRAMES[1], value)
    assert locate(find_edges(grid), find_edges(after)) == (round(0.2 * 324), round(0.11 * 714))
    assert check(grid, after) is None


@pytest.mark.timeout(60)
def test_a_long_picture_is_checked_in_time() -> None:
    long = np.concatenate([drawn("table", seed).pixels[:320, :400] for seed in (0, 1, 2, 4)] * 4)
    long = np.concatenate([long[:1700], long[:, ::-1], long[:, :, ::-1]])[:5400]
    assert check(long, 255 - framed(long, FRAMES[0], 128)) is None
    damaged = erase(long, (40, 3000, 360, 3040))
    assert check(long, framed(damaged, FRAMES[1], 128)) is not None


def test_the_identity_says_which_checks_take_part(ocr: Ocr) -> None:
    assert picture_checks(None) == {"version": 3, "edges": True, "ocr": None}
    assert picture_checks(ocr) == {"version": 3, "edges": True, "ocr": ocr.identity}


class CountingReader(Ocr):
    """Reads, and counts the pictures that it was asked to read."""

    pictures = 0

    def read(self, pixels: np.ndarray) -> Any:
        self.pictures += 1
        return super().read(pixels)


BOX = np.full((60, 90, 3), 255, np.uint8)
BOX[20:40, 30:60] = 0


def case(steps: tuple[Step, ...], after: np.ndarray) -> Case:
    trail = Variant("q1", "chain", 0, 1, steps, Verdict("unjudged"))
    return Case(choice(), choice(variant=trail), (look(BOX, after),))


PAD, INVERT, NOISE, WORDS = (
    Step(f"{name}", {}) for name in ("image.pad", "image.invert", "image.salt_pepper", "text.shuffle")
)
EMBEDDED, FLUX = (Step("image.style", {"by": by}) for by in ("embedded", "flux"))


@pytest.mark.parametrize(("steps", "read"), [
    ((EMBEDDED,), 0), ((WORDS, PAD, EMBEDDED, INVERT, NOISE), 0), ((FLUX,), 1), ((PAD, FLUX, EMBEDDED), 1),
    ((Step("image.style", {}), PAD), 1), ((Step("image.blur", {}), NOISE), 0), ((), 1),
])  # fmt: skip
def test_words_are_read_only_where_strokes_may_have_changed(steps: tuple[Step, ...], read: int) -> None:
    reader = CountingReader()
    assert check_case(case(steps, textured(BOX)), reader) is None
    assert reader.pictures == read


def test_lines_are_looked_at_whatever_the_trail_says() -> None:
    found = check_case(case((EMBEDDED,), np.full_like(BOX, 255)), None)
    assert found == Doubt("the picture is blank", True, 0.99)


def test_rules_are_as_sure_of_pictures_as_was_measured() -> None:
    judge = open_judge("embedded")
    assert round(wilson(1.0, 120)[0], 3) == UNSEEN
    for steps, after in (((PAD,), framed(BOX, FRAMES[0], 0)), ((INVERT,), 255 - BOX)):
        verdict = judge.judge(case(steps, after))
        assert (verdict.status, verdict.confidence) == ("kept", UNSEEN)
    assert judge.judge(Case(choice(), choice())).confidence == 0.99
