"""image.style and the styler without a model, as MDK12-Bench's "Evaluation Methods" describes the paper's style
variation."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import pytest
from making_items import apply, array, draw, item, refusal
from making_pictures import Drawing, exam_pictures

from making import choice
from mmdyn.errors import UserError
from mmdyn.keys import stream
from perturb.image.style import Style
from perturb.services import open_styler
from perturb.style.embedded_styler import STRENGTHS, EmbeddedStyler, _tones, palettes

LEAST = {"mild": 7, "": 12, "strong": 15}
"""The least mean difference of an exam picture, in levels of 255 over all pixels and channels, by severity."""

MOST_WRONG = 0.06
"""The most characters that are read otherwise than before, as a share of a picture's characters: one of seventeen."""

PALETTES = list(palettes())


def painted(
    pixels: np.ndarray, palette: str = "cream", percent: int = 80, seed: int = 7, number: int = 0
) -> np.ndarray:
    return EmbeddedStyler().paint(pixels, {"palette": palette, "percent": percent, "seed": seed}, number)


def difference(before: np.ndarray, after: np.ndarray) -> float:
    """Mean absolute difference in levels; a grey picture counts as RGB."""
    rgb = before if before.ndim == 3 else np.repeat(before[..., None], 3, axis=2)
    return float(np.abs(after.astype(int) - rgb).mean())


def exams() -> list[Drawing]:
    """Eight drawings, grey and in colour, every fourth one white on black."""
    return [
        Drawing(drawing.name, 255 - drawing.pixels if number % 4 == 3 else drawing.pixels, drawing.texts)
        for number, drawing in enumerate(exam_pictures(8))
    ]


@pytest.mark.parametrize("severity", STRENGTHS)
def test_every_picture_is_plainly_changed(severity: str) -> None:
    for number, drawing in enumerate(exams()):
        for palette in PALETTES:
            after = painted(drawing.pixels, palette, STRENGTHS[severity], number)
            assert difference(drawing.pixels, after) >= LEAST[severity], (drawing.name, palette)


def test_no_shade_of_grey_is_left_alone() -> None:
    for palette in PALETTES:
        for grey in range(0, 256, 15):
            before = np.full((60, 80), grey, np.uint8)
            assert difference(before, painted(before, palette)) >= 5, (palette, grey)


@pytest.mark.slow
def test_every_label_stays_readable_at_full_strength() -> None:
    pytest.importorskip("rapidocr")
    from mmdyn.models import Ocr

    ocr = Ocr()

    def read(pixels: np.ndarray) -> list[str]:
        return [word.text for word in ocr.read(pixels)]

    for drawing, palette in zip(exams(), PALETTES, strict=True):
        before, after = read(drawing.pixels), read(painted(drawing.pixels, palette, 100))
        letters, others = (Counter("".join(texts).replace(" ", "").casefold()) for texts in (before, after))
        wrong = ((letters - others).total() + (others - letters).total()) / letters.total()
        assert wrong <= MOST_WRONG, (drawing.name, palette, before, after)
        assert set(drawing.numbers) & set(before) <= set(after), "numbers that could be read can be read"


def test_what_could_be_told_apart_still_can() -> None:
    """Greys that were 32 levels apart stay at least 16 apart, all channels together, at full strength."""
    for palette in PALETTES:
        tones = [painted(np.full((30, 30), grey, np.uint8), palette, 100).mean() for grey in range(0, 256, 32)]
        assert np.diff(tones).min() >= 16, palette


def test_colours_keep_their_names() -> None:
    """The strongest channel of a pure colour stays the strongest, by far."""
    for palette in PALETTES:
        for channel in range(3):
            before = np.zeros((30, 30, 3), np.uint8)
            before[..., channel] = 255
            after = painted(before, palette, 100).mean((0, 1))
            assert after.argmax() == channel and np.sort(after)[-1] - np.sort(after)[-2] > 50, palette


@pytest.mark.parametrize("shape", [(1, 1), (1, 700), (500, 1), (3, 5, 3), (481, 641), (23, 25, 3)])
def test_size_stays_and_grey_becomes_rgb(shape: tuple[int, ...]) -> None:
    after = painted(np.full(shape, 200, np.uint8))
    assert after.shape == (*shape[:2], 3) and after.dtype == np.uint8


def test_seed_and_picture_number_change_the_paper() -> None:
    before = np.full((50, 70), 250, np.uint8)
    first = painted(before, seed=1)
    assert np.array_equal(first, painted(before, seed=1))
    for other in (painted(before, seed=2), painted(before, seed=1, number=1), painted(before, seed=(1 << 63) - 1)):
        assert (first != other).any(axis=2).mean() > 0.5
        assert difference(first, other) < 8, "the same paper, though"


def test_grain_keeps_away_from_lines() -> None:
    before = np.full((40, 40, 3), 255, np.uint8)
    before[20] = 0
    line = painted(before, percent=100)[20].astype(int)
    assert np.abs(np.diff(line, axis=0)).max() <= 3, "only clouds and shade, which change gently"


def test_the_bits_are_pinned() -> None:
    """Whoever replays a trail, on whatever machine, gets these."""
    both = [painted(array(50, 70, grey), "blueprint", 80, 123456789, number=1) for grey in (False, True)]
    assert [hashlib.sha256(after.tobytes()).hexdigest()[:12] for after in both] == ["b96e00edced5", "1ced6d031c7c"]


def test_draws() -> None:
    sample = choice(images=("images/0.png",))
    draws = [draw(Style(), sample, number) for number in range(400)]
    assert {params["by"] for params in draws} == {"embedded"}
    counts = Counter(params["palette"] for params in draws)
    assert set(counts) == set(PALETTES) and min(counts.values()) > 25
    assert len({params["seed"] for params in draws}) == 400
    for severity, percent in STRENGTHS.items():
        assert draw(Style(None, severity), sample)["percent"] == percent
    assert refusal(Style(), choice()) == "the sample has no picture"


@pytest.mark.parametrize(
    ("question", "colour"),
    [
        ("Which ball is red?", "red"),
        ("How many white and yellow squares are there?", "yellow"),
        ("图中黄色部分的面积", "黄色"),
        ("Which grey square has another colour?", "colour"),
        ("What flag is this?", "flag"),
    ],
)
@pytest.mark.parametrize("severity", STRENGTHS)
def test_a_question_that_names_a_colour_is_refused(question: str, colour: str, severity: str) -> None:
    sample = choice(question=question, images=("images/0.png",))
    assert refusal(Style(None, severity), sample) == f"the question goes by colours ({colour})"
    options = choice(texts=("grey", "blue"), images=("images/0.png",))
    assert refusal(Style(), options) == "the question goes by colours (blue)"


@pytest.mark.parametrize(
    "question",
    [
        "What lies in the darker region?",
        "How many white squares are there?",
        "图中黑色部分的面积",
        "棋子黑白相间",
        "the gray area",
    ],
)
def test_what_stays_may_be_named(question: str) -> None:
    assert draw(Style(), choice(question=question, images=("images/0.png",)))["by"] == "embedded"
    assert draw(Style(), choice(texts=("black", "white"), images=("images/0.png",)))["by"] == "embedded"


@pytest.mark.parametrize("palette", PALETTES)
def test_black_white_and_grey_stay_dark_light_and_between_and_no_plain_hue(palette: str) -> None:
    plain = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [255, 0, 255]])
    tones = _tones(palette, 100).astype(int)
    black, grey, white = (tones[:, value] for value in (0, 128, 255))
    assert black.mean() < 60 < grey.mean() - 40 and grey.mean() + 40 < 200 < white.mean()
    hues = [np.ptp([tones[channel][value] for channel, value in enumerate(hue)]) for hue in plain]
    assert min(hues) > 2 * max(map(np.ptp, (black, grey, white)))


@pytest.mark.parametrize("percent", STRENGTHS.values())
@pytest.mark.parametrize("palette", PALETTES)
def test_tones_rise_so_that_what_differs_still_differs(palette: str, percent: int) -> None:
    """Judges rely on it: of what this style painted they read no words."""
    for tones in _tones(palette, percent).astype(int):
        assert (np.diff(tones) >= 0).all() and (tones[8:] - tones[:-8] >= 4).all()


def test_pictures_of_a_sample_share_a_palette_and_not_the_grain() -> None:
    grey = np.full((40, 60), 128, np.uint8)
    before = item(grey, grey)
    changed = apply(Style(), before, draw(Style(), before.sample)).pictures
    first, second = (changed[ref].pixels for ref in before.sample.all_images)
    assert (first != second).any() and difference(first, second) < 8
    assert all(picture.suffix == "png" for picture in changed.values())


def test_a_trail_of_another_styler_is_not_replayed() -> None:
    with pytest.raises(
        ValueError, match=r"flux painted this, and the style backend is embedded: give --style-backend flux"
    ):
        Style().apply(item(array()), {"by": "flux", "prompt": "pencil", "seed": 1, "strength": 0.2})


def test_a_palette_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="there is no palette 'sepia': the palettes are cream, blueprint"):
        painted(array(), "sepia")


@pytest.mark.parametrize(("text", "says"), [
    ("fluks", "there is no style backend 'fluks' (did you mean 'flux'?): use embedded, flux, klein"),
    ("", "there is no style backend '': use embedded, flux, klein"),
    ("embedded:x", "the style backend embedded takes no name and no options: 'embedded:x' has some"),
    ("embedded,seed=1", "the style backend embedded takes no name and no options: 'embedded,seed=1' has some"),
])  # fmt: skip
def test_names_that_open_nothing(text: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        open_styler(text)
    assert str(error.value) == says


def test_the_identity_says_what_decides_the_pictures() -> None:
    styler: Any = open_styler("embedded")
    assert set(styler.identity) == {"styler", "version", "palettes"}
    assert (styler.label, styler.device, styler.waits) == ("embedded", None, 0)
    assert styler.params(stream("a"), "") == styler.params(stream("a"), "")
    styler.close()
