"""Pictures as they are sent: untouched, or made smaller where that was asked for, and then said so."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from asking import asking, user
from PIL import Image

from making import picture
from mmdyn.errors import InputError, ModelError
from mmdyn.keys import sha256
from mmdyn.models import ImagePart
from mmdyn.models.backends._pictures import Pictures, SentPicture
from mmdyn.testing import FakeServer


def part(folder: Path, data: bytes, name: str = "p") -> ImagePart:
    path = folder / name
    path.write_bytes(data)
    return ImagePart(path, sha256(data))


def saved(image: Image.Image, form: str, **settings: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **settings)
    return out.getvalue()


def opened(sent: SentPicture) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(sent.base64)))


@pytest.mark.parametrize(("limits", "size"), [
    ({"max_pixels": 120_000}, (400, 300)),
    ({"max_side": 100}, (100, 75)),
    ({"max_pixels": 120_000, "max_side": 100}, (100, 75)),
    ({"max_pixels": 480_000, "max_side": 800}, ()),
    ({"max_pixels": 1}, (1, 1)),
    ({}, ()),
])  # fmt: skip
def test_a_picture_is_made_smaller_only_where_it_is_larger(
    tmp_path: Path, limits: dict[str, int], size: tuple[int, ...]
):
    data = saved(Image.new("RGB", (800, 600), "red"), "PNG")
    sent = Pictures(**limits).get(part(tmp_path, data))
    if not size:
        assert base64.b64decode(sent.base64) == data and sent.changed == ""
    else:
        assert opened(sent).size == size
        assert sent.changed == f"a picture was made smaller, from 800x600 to {size[0]}x{size[1]}"


@pytest.mark.parametrize(("form", "modes"), [
    ("PNG", {"RGB": "RGB", "RGBA": "RGBA", "LA": "LA", "1": "L", "P": "RGB", "I;16": "L"}),
    ("JPEG", {"RGB": "RGB", "CMYK": "RGB"}),
    ("GIF", {"P": "RGB"}),
    ("WEBP", {"RGB": "RGB"}),
    ("BMP", {"RGB": "RGB"}),
])  # fmt: skip
def test_png_and_jpeg_stay_what_they_are_and_the_rest_becomes_png(tmp_path: Path, form: str, modes: dict[str, str]):
    sent_form = form if form == "JPEG" else "PNG"
    for mode, sent_mode in modes.items():
        sent = Pictures(max_side=20).get(part(tmp_path, saved(Image.new(mode, (40, 30), 0), form)))
        image = opened(sent)
        assert (image.format, image.mode, image.size) == (sent_form, sent_mode, (20, 15))
        assert sent.media_type == f"image/{sent_form.lower()}"
        assert sent.changed.endswith(", and a PNG") is (form != sent_form)


def test_sixteen_bits_are_scaled_and_transparency_is_kept(tmp_path: Path):
    deep = Image.fromarray(np.full((30, 40), 32896, np.uint16))
    assert opened(Pictures(max_side=20).get(part(tmp_path, saved(deep, "PNG")))).getextrema() == (128, 128)
    keyed = saved(Image.new("RGB", (40, 30), (1, 2, 3)), "PNG", transparency=(1, 2, 3))
    smaller = opened(Pictures(max_side=20).get(part(tmp_path, keyed, "keyed")))
    assert smaller.mode == "RGBA" and smaller.getchannel("A").getextrema() == (0, 0)


def test_a_photographs_orientation_and_colour_profile_stay(tmp_path: Path):
    exif = Image.Exif()
    exif[0x0112] = 6
    data = saved(Image.new("RGB", (80, 60)), "JPEG", exif=exif, icc_profile=b"profile")
    image = opened(Pictures(max_side=40).get(part(tmp_path, data)))
    assert image.getexif()[0x0112] == 6 and image.info["icc_profile"] == b"profile"


@pytest.mark.parametrize(
    ("form", "mode"), [("PNG", "RGB"), ("JPEG", "RGB"), ("GIF", "P"), ("WEBP", "RGB"), ("PNG", "L")]
)
def test_pictures_are_sent_in_the_bytes_of_the_file_whatever_its_name(tmp_path: Path, form: str, mode: str):
    data = picture(mode=mode, format=form) + b"trailing bytes that a decoder would drop"
    sent = Pictures().get(part(tmp_path, data, "misnamed.bmp"))
    assert sent == SentPicture(f"image/{form.lower()}", base64.b64encode(data).decode())
    assert sent.url == f"data:{sent.media_type};base64,{sent.base64}"


def test_a_picture_that_is_missing_broken_or_another_one_is_told(tmp_path: Path):
    found, broken = part(tmp_path, picture()), part(tmp_path, b"no picture", "broken")
    for given, says in (
        (ImagePart(found.path, "0" * 64), r"p: the picture was changed while it was in use"),
        (broken, "broken: not a picture that can be read"),
        (ImagePart(tmp_path / "gone", ""), r"gone: cannot be read \(No such file or directory\)"),
    ):
        for pictures in (Pictures(), Pictures(as_files=True)):
            with pytest.raises(InputError, match=says):
                pictures.get(given)


def test_kept_pictures_are_bounded_in_size(tmp_path: Path):
    pictures = Pictures(most=20_000)
    parts = [part(tmp_path, picture(text=str(number)) + bytes(3000), str(number)) for number in range(20)]
    urls = [pictures.get(each).url for each in parts]
    assert pictures.size <= 20_000
    parts[-1].path.unlink()
    assert pictures.get(parts[-1]).url == urls[-1]


def test_a_picture_that_cannot_be_scaled_is_told(tmp_path: Path):
    pictures = Pictures(max_side=2)
    broken = saved(Image.effect_noise((200, 200), 50), "JPEG")
    with pytest.raises(InputError, match=r"cut: cannot be read \(.*truncated.*\): put the picture back"):
        pictures.get(part(tmp_path, broken[: len(broken) // 2], "cut"))
    with pytest.raises(InputError, match=r"deep: the picture has 32 bits a channel: save it with 8 or 16 bits"):
        pictures.get(part(tmp_path, saved(Image.new("F", (8, 8)), "TIFF"), "deep"))


async def test_pictures_go_as_file_urls_to_a_server_that_may_read_them(tmp_path: Path):
    path = part(tmp_path, picture(), "a picture #1.png").path
    assert Pictures(as_files=True).get(part(tmp_path, picture())).url == (tmp_path / "p").resolve().as_uri()
    async with FakeServer(media=tmp_path) as server, asking(f"openai:m,base_url={server.url},images=file") as asker:
        assert (await asker.ask(user("Which?", path))).error == ""
        assert dict(server.stats.images) == {sha256(picture()): 1}
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url},images=file") as asker:
        with pytest.raises(ModelError, match=r"may not read files .* or leave images=file out"):
            await asker.ask(user("Which?", path))


async def test_a_reply_says_that_a_picture_was_made_smaller(tmp_path: Path):
    small = part(tmp_path, picture(width=30, height=20), "small")
    large = part(tmp_path, saved(Image.new("RGB", (400, 200), "blue"), "JPEG"), "large")
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url},max_side=100") as asker:
        reply = await asker.ask(user("Which?", small.path, large.path))
        assert reply.changed == "a picture was made smaller, from 400x200 to 100x50"
        assert (await asker.ask(user("Which?", small.path))).changed == ""
        assert small.digest in server.stats.images and large.digest not in server.stats.images


async def test_scaling_leaves_the_loop_free_and_is_done_once(tmp_path: Path):
    """The loop goes on while the only thread for such work is held up."""
    held = threading.Event()
    threads = ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(threads)
    threads.submit(held.wait, 240)
    path = tmp_path / "large.png"
    path.write_bytes(saved(Image.effect_noise((1600, 1200), 50), "PNG"))
    pictures = Pictures(max_side=1000)
    scaling = asyncio.create_task(pictures.of(user("x", path)))
    await asyncio.sleep(0.05)
    assert not scaling.done()
    held.set()
    first = await scaling
    messages = user("x", path)
    path.unlink()
    assert await pictures.of(messages) == first
