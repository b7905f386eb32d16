"""Every odd kind of picture comes out as a reader sees it on a page."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from making import picture, pixels
from mmdyn.data import ImageFolder
from perturb import Picture
from perturb.codec import decode, encode, pictures_in

RED, WHITE, BLACK, CLEAR = (255, 0, 0), (255, 255, 255), (0, 0, 0), (0, 0, 0, 0)


def save(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def dot(mode: str, background: object, ink: object) -> Image.Image:
    """20 x 10 pixels, of which a block of 4 x 4 in the upper left corner is ink."""
    image = Image.new(mode, (20, 10), background)  # type: ignore[arg-type]
    image.paste(ink, (0, 0, 4, 4))  # type: ignore[arg-type]
    return image


def test_plain_rgb_and_grey_come_through_bit_by_bit() -> None:
    colour = picture(30, 20)
    assert np.array_equal(decode(colour).pixels, pixels(colour))
    grey = picture(30, 20, "L")
    assert decode(grey).pixels.shape == (20, 30)
    assert np.array_equal(decode(grey).pixels, pixels(grey)[..., 0])


def test_what_was_decoded_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        decode(picture()).pixels[0, 0] = 0


@pytest.mark.parametrize(("image", "ink", "page"), [
    (dot("RGBA", CLEAR, (*RED, 255)), RED, WHITE),
    (dot("RGBA", CLEAR, (0, 0, 0, 128)), (127, 127, 127), WHITE),
    (dot("RGBA", CLEAR, (*WHITE, 255)), WHITE, BLACK),
    (dot("LA", (0, 0), (250, 255)), 250, 0),
    (dot("LA", (0, 0), (60, 255)), 60, 255),
    (dot("1", 1, 0), 0, 255),
    (dot("RGB", WHITE, RED).quantize(4), RED, WHITE),
    (dot("RGBA", CLEAR, (*RED, 255)).quantize(4), RED, WHITE),
])  # fmt: skip
def test_transparency_lies_on_white_and_white_ink_without_a_page_on_black(image: Image.Image, ink: object, page: object) -> None:  # fmt: skip
    decoded = decode(save(image)).pixels
    assert decoded.shape == (10, 20, *np.shape(ink))  # type: ignore[arg-type]
    assert np.array_equal(decoded[0, 0], ink) and np.array_equal(decoded[9, 19], page)  # type: ignore[arg-type]


def test_a_white_page_with_little_ink_and_a_transparent_border_stays_white() -> None:
    image = Image.new("RGBA", (400, 400), (0, 0, 0, 0))
    image.paste((*WHITE, 255), (50, 50, 350, 350))
    ImageDraw.Draw(image).line((100, 100, 300, 100), (*BLACK, 255))
    decoded = decode(save(image)).pixels
    assert tuple(decoded[0, 0]) == WHITE


def test_alpha_that_hides_nothing_changes_nothing() -> None:
    for mode in ("RGB", "L"):
        plain = dot(mode, 250, 240) if mode == "L" else dot(mode, (250, 251, 252), (240, 241, 242))
        with_alpha = plain.copy()
        with_alpha.putalpha(255)
        assert with_alpha.mode == f"{mode}A"
        assert np.array_equal(decode(save(with_alpha)).pixels, np.asarray(plain)), "a pale picture is no white ink"


def test_an_entirely_transparent_picture_is_a_white_page() -> None:
    assert (decode(save(Image.new("RGBA", (9, 9), (1, 2, 3, 0)))).pixels == 255).all()


def test_a_transparent_colour_of_a_palette() -> None:
    one_colour = dot("RGB", (0, 0, 255), RED).quantize(4)
    transparent = one_colour.getpixel((19, 9))
    decoded = decode(save(one_colour, transparency=transparent)).pixels
    assert tuple(decoded[0, 0]) == RED and tuple(decoded[9, 19]) == WHITE


def test_16_bit_grey_is_scaled_not_clipped() -> None:
    values = np.linspace(0, 65535, 200).astype(np.uint16).reshape(10, 20)
    decoded = decode(save(Image.fromarray(values))).pixels
    assert decoded.shape == (10, 20) and decoded.dtype == np.uint8
    assert np.abs(decoded - values / 257.0).max() <= 0.5
    assert decoded.min() == 0 and decoded.max() == 255
    tiff = decode(save(Image.fromarray(values), "TIFF")).pixels
    assert np.array_equal(tiff, decoded)


def test_16_bit_grey_with_a_transparent_value() -> None:
    values = np.full((10, 20), 12850, np.uint16)
    values[:4, :4] = 0
    decoded = decode(save(Image.fromarray(values), transparency=12850)).pixels
    assert decoded[0, 0] == 0 and decoded[9, 19] == 255


@pytest.mark.parametrize("mode", ["I", "F"])
def test_32_bits_a_channel_are_refused_with_the_mend(mode: str) -> None:
    with pytest.raises(ValueError, match="32 bits a channel: save it with 8 or 16 bits"):
        decode(save(Image.new(mode, (5, 5), 3), "TIFF"))


def test_cmyk_jpeg() -> None:
    decoded = decode(save(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=100))
    assert decoded.suffix == "jpg"
    assert np.abs(decoded.pixels[8, 8].astype(int) - RED).max() < 8


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP"])
def test_exif_rotation_is_applied_and_leaves_no_tag(format: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # a camera held upright
    options = {"lossless": True} if format == "WEBP" else {"quality": 100} if format == "JPEG" else {}
    decoded = decode(save(dot("RGB", WHITE, RED), format, exif=exif, **options))
    assert decoded.pixels.shape == (20, 10, 3)
    assert np.abs(decoded.pixels[1, 8].astype(int) - RED).max() < 40, "the corner is at the right now"
    again = Image.open(io.BytesIO(encode(decoded)))
    assert not again.getexif() and again.size == (10, 20)


@pytest.mark.parametrize("exif", [b"Exif\0\0II*\0", b"Exif\0\0nonsense" * 4, b"Exif\0\0II*\0\xff\xff\xff\x7f"])
def test_exif_that_cannot_be_read_says_nothing(exif: bytes) -> None:
    for format in ("JPEG", "PNG"):
        assert decode(save(dot("RGB", WHITE, RED), format, exif=exif)).pixels.shape == (10, 20, 3)


@pytest.mark.parametrize("format", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_counts(format: str) -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "lime", "blue")]
    options = {"lossless": True} if format == "WEBP" else {}
    decoded = decode(save(frames[0], format, save_all=True, append_images=frames[1:], **options))
    assert tuple(decoded.pixels[5, 5]) == RED
    assert decoded.suffix == "png"


def test_a_phone_s_jpeg_with_a_second_picture_counts_as_a_jpeg() -> None:
    data = save(Image.new("RGB", (20, 10), "red"), "MPO", save_all=True, append_images=[Image.new("RGB", (20, 10))])
    decoded = decode(data)
    assert decoded.suffix == "jpg" and decoded.pixels.shape == (10, 20, 3)


def test_a_jpeg_named_png_is_written_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(picture(format="JPEG"))
    assert pictures_in(ImageFolder(tmp_path), ("images/a.png",))["images/a.png"].suffix == "jpg"


def test_lossless_in_lossless_out() -> None:
    for mode in ("RGB", "L"):
        decoded = decode(picture(31, 17, mode))
        data = encode(decoded)
        assert Image.open(io.BytesIO(data)).format == "PNG"
        assert np.array_equal(decode(data).pixels, decoded.pixels)


def drawing() -> np.ndarray:
    """Line art: white with a box and a label."""
    return pixels(picture(400, 300))


def photograph() -> np.ndarray:
    """Smooth shades of every channel, each value a little off the one above it."""
    y, x = np.mgrid[0:300, 0:400]
    shades = np.stack([y * 0.6 + x * 0.2, y * 0.3 + x * 0.4, 255 - y * 0.5 - x * 0.2], -1)
    return (shades + np.random.default_rng(0).normal(0, 1, shades.shape)).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("shape", [(1, 1), (1, 1, 3), (1, 9, 3), (9, 1), (2, 5, 3), (17, 40), (40, 17, 3)])
@pytest.mark.parametrize("kind", ["flat", "random"])
def test_a_png_holds_the_pixels_and_nothing_else(shape: tuple[int, ...], kind: str) -> None:
    before = np.random.default_rng(1).integers(0, 256, shape, np.uint8) if kind == "random" else np.zeros(shape, "u1")
    data = encode(Picture(before, "png"))
    Image.open(io.BytesIO(data)).verify()
    image = Image.open(io.BytesIO(data))
    assert image.mode == ("L" if before.ndim == 2 else "RGB") and not image.info
    assert np.array_equal(np.asarray(image), before)


def test_a_png_of_pixels_that_do_not_lie_in_a_row_in_memory() -> None:
    turned = photograph().transpose(1, 0, 2)[::2]
    assert np.array_equal(pixels(encode(Picture(turned, "png"))), turned)


@pytest.mark.parametrize("make", [drawing, photograph])
def test_a_png_is_about_as_small_as_pillow_s(make: Callable[[], np.ndarray]) -> None:
    made = make()
    theirs = save(Image.fromarray(made), compress_level=2)
    assert len(encode(Picture(made, "png"))) < 1.1 * len(theirs)


def test_jpeg_in_fine_jpeg_out() -> None:
    data = encode(decode(picture(64, 48, format="JPEG", quality=100)))
    again = Image.open(io.BytesIO(data))
    assert again.format == "JPEG"
    assert [component[1:3] for component in again.layer] == [(1, 1)] * 3, "4:4:4"  # type: ignore[attr-defined]
    fine = Image.open(io.BytesIO(save(Image.new("RGB", (8, 8)), "JPEG", quality=95)))
    assert again.quantization == fine.quantization  # type: ignore[attr-defined]
    assert Image.open(io.BytesIO(encode(decode(picture(64, 48, "L", "JPEG"))))).mode == "L"


@pytest.mark.parametrize(("data", "problem"), [
    (b"", "not a picture"),
    (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "not a picture|broken"),
    (picture()[:-60], "broken or cut off"),
    (picture(200, 200, format="JPEG")[:700], "broken or cut off"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a picture"),
])  # fmt: skip
def test_broken_bytes_are_a_sentence(data: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        decode(data)


def test_a_bomb_is_not_decoded() -> None:
    with pytest.raises(ValueError, match="at most 50,000,000 are taken"):
        decode(save(Image.new("1", (8000, 8000))))


def test_a_jpeg_that_has_grown_too_wide() -> None:
    with pytest.raises(ValueError, match="a JPEG of 70000x1 pixels is too large"):
        encode(Picture(np.zeros((1, 70_000), np.uint8), "jpg"))
    assert decode(encode(Picture(np.zeros((1, 70_000), np.uint8), "png"))).pixels.shape == (1, 70_000)


def test_pictures_are_decoded_once_and_only_when_looked_up(tmp_path: Path) -> None:
    folder = ImageFolder(tmp_path)
    ref = folder.put(picture())
    pictures = pictures_in(folder, (ref, "images/missing.png"))
    assert list(pictures) == [ref, "images/missing.png"] and len(pictures) == 2
    assert pictures[ref] is pictures[ref]
    with pytest.raises(ValueError, match=r"a picture cannot be decoded \(images/missing\.png: image .* is missing"):
        _ = pictures["images/missing.png"]
