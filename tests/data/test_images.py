"""Pictures: checked on the way in, kept byte by byte under their SHA-256, never read from outside."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from making import image_ref, picture
from mmdyn.data import ImageFolder, SampleSet, read_inside
from mmdyn.data.images import MAX_BYTES, ImageInfo, from_base64, inspect
from mmdyn.errors import InputError


@pytest.mark.parametrize(
    ("format", "mode", "suffix"),
    [("PNG", "RGBA", "png"), ("PNG", "P", "png"), ("PNG", "I;16", "png"), ("JPEG", "L", "jpg"), ("GIF", "P", "gif"), ("WEBP", "RGB", "webp"), ("BMP", "RGB", "bmp"), ("TIFF", "CMYK", "tiff")],
)  # fmt: skip
def test_bytes_are_kept_as_they_are(tmp_path: Path, format: str, mode: str, suffix: str) -> None:
    buffer = io.BytesIO()
    Image.new(mode, (30, 20)).save(buffer, format)
    data, images = buffer.getvalue(), ImageFolder(tmp_path, keep_files=True)
    ref = images.put(data)
    assert ref == image_ref(data, suffix) == images.put(data)
    assert (images.read(ref), inspect(data)) == (data, ImageInfo(suffix, 30, 20))
    assert [path.name for path in (tmp_path / "images").rglob("*") if path.is_file()] == [ref.rpartition("/")[2]]


def test_base64_as_people_write_it() -> None:
    data = picture()
    text = base64.b64encode(data).decode()
    for written in (
        text,
        f" {text}\n",
        f"data:image/png;base64,{text}",
        "\n".join(text[at : at + 76] for at in range(0, len(text), 76)),
    ):
        assert from_base64(written) == data
    for broken in (text[:-1], text + "é", "-_" + text[2:], text[:10] + "!" + text[11:]):
        with pytest.raises(ValueError, match="base64 is broken or cut off"):
            from_base64(broken)
    with pytest.raises(ValueError, match="more than 67,108,864 bytes"):
        from_base64("A" * (MAX_BYTES * 2))


def test_only_what_lies_inside_is_read(tmp_path: Path) -> None:
    inside = tmp_path / "data"
    (inside / "sub").mkdir(parents=True)
    (tmp_path / "outside.png").write_bytes(b"secret")
    (inside / "sub" / "in.png").write_bytes(b"public")
    (inside / "link.png").symlink_to("sub/in.png")
    (inside / "out").symlink_to(tmp_path)
    assert read_inside(inside, "sub/in.png") == read_inside(inside, "link.png") == b"public"
    leaving = [
        "../outside.png",
        "sub/../../outside.png",
        str(tmp_path / "outside.png"),
        "out/outside.png",
        "a\\b.png",
        "a\0b",
    ]
    for name in leaving:
        with pytest.raises(ValueError, match="leaves the folder"):
            read_inside(inside, name)
    with pytest.raises(ValueError, match="is missing: put the file into"):
        read_inside(inside, "sub")
    with pytest.raises(ValueError, match=r"'x{80}' cannot be read|'x{80}' is missing"):
        read_inside(inside, "x" * 5000)
    with (inside / "huge.png").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ValueError, match="has more than 67,108,864 bytes: scale it down"):
        read_inside(inside, "huge.png")


def test_a_hand_written_sets_digest_notices_a_changed_picture(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(picture(text="a"))
    line = '{"id":"q","question":"q","task_type":"true_false","answer":true,"images":["p.png"]}'
    (tmp_path / "samples.jsonl").write_text(line + "\n")
    before = SampleSet(tmp_path).manifest.digest
    assert SampleSet(tmp_path).manifest.digest == before
    (tmp_path / "p.png").write_bytes(picture(text="b"))
    assert SampleSet(tmp_path).manifest.digest != before
    (tmp_path / "p.png").unlink()
    with pytest.raises(InputError, match=r"samples\.jsonl:1: image 'p\.png' is missing"):
        _ = SampleSet(tmp_path).manifest
