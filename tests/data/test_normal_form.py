"""Pictures come into a set in one form that every reader reads alike: the pixels that operators see, in plain files."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from shell import mmdyn

from making import choice, picture, pixels, write_set
from mmdyn.build import build
from mmdyn.build.steps.pages import _Settings
from mmdyn.data import ImageFolder, PictureForm, SampleSet, convert, load, validate
from mmdyn.data.images import MAX_BYTES
from mmdyn.demo import make_demo
from mmdyn.errors import UserError
from mmdyn.run import evaluate
from perturb import perturb
from perturb.codec import decode, pictures_in

WHITE, RED, CLEAR = (255, 255, 255), (255, 0, 0), (0, 0, 0, 0)


def save(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def dot(mode: str, background: object, ink: object) -> Image.Image:
    """30 x 20 pixels with a block of ink in the upper left corner."""
    image = Image.new(mode, (30, 20), background)  # type: ignore[arg-type]
    image.paste(ink, (0, 0, 9, 6))  # type: ignore[arg-type]
    return image


def turned(value: int) -> Image.Exif:
    """The EXIF of a camera that was held otherwise."""
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def deep_rgb() -> bytes:
    """A PNG of 16 bits a channel, which Pillow cannot write."""
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + bytes(range(6 * y, 6 * y + 6)) * 4 for y in range(5))
    header = struct.pack(">IIBBBBB", 4, 5, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


GREY16 = Image.fromarray(np.linspace(0, 65535, 600).astype(np.uint16).reshape(20, 30))
RGB, PALETTE = dot("RGB", WHITE, RED), dot("RGB", WHITE, RED).quantize(4)

ODD = {
    **{f"jpeg turned {n}": save(RGB, "JPEG", exif=turned(n), quality=90) for n in range(2, 9)},
    "png turned": save(RGB, exif=turned(6)),
    "grey jpeg turned": save(RGB.convert("L"), "JPEG", exif=turned(8)),
    "rgba": save(dot("RGBA", CLEAR, (*RED, 255))),
    "rgba nearly opaque": save(dot("RGBA", (*WHITE, 255), (*RED, 254))),
    "light ink on nothing": save(dot("RGBA", CLEAR, (*WHITE, 255))),
    "la": save(dot("LA", (0, 0), (60, 255))),
    "a transparent colour": save(RGB, transparency=WHITE),
    "a transparent grey": save(RGB.convert("L"), transparency=255),
    "a transparent entry": save(PALETTE, transparency=PALETTE.getpixel((29, 19))),
    "transparent 16-bit": save(GREY16, transparency=65535),
    "cmyk": save(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG"),
    "16-bit": save(GREY16),
    "16-bit rgb": deep_rgb(),
    "tiff": save(RGB, "TIFF"),
    "16-bit tiff": save(GREY16, "TIFF"),
    "cmyk tiff": save(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "TIFF"),
    "bmp": save(RGB, "BMP"),
    "gif": save(PALETTE, "GIF"),
    "moving gif": save(RGB, "GIF", save_all=True, append_images=[Image.new("RGB", (30, 20))]),
    "webp": save(RGB, "WEBP"),
    "transparent webp": save(dot("RGBA", CLEAR, (*RED, 255)), "WEBP", lossless=True),
}

PLAIN = {
    "rgb": picture(),
    "grey": picture(mode="L"),
    "1-bit": picture(mode="1"),
    "palette": picture(mode="P"),
    "opaque rgba": picture(mode="RGBA"),
    "opaque la": picture(mode="LA"),
    "palette with an entry that nothing shows": save(PALETTE, transparency=3),
    "jpeg": picture(format="JPEG"),
    "grey jpeg": picture(mode="L", format="JPEG"),
    "progressive jpeg": picture(format="JPEG", progressive=True),
    "a phone's jpeg": save(RGB, "MPO", save_all=True, append_images=[RGB]),
    "upright": save(RGB, "JPEG", exif=turned(1)),
    "orientation that means nothing": save(RGB, "JPEG", exif=turned(9)),
    "exif that cannot be read": save(RGB, "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\x7f"),
    "profile": save(RGB, icc_profile=b"0" * 200),
}


@pytest.mark.parametrize("name", ODD)
def test_what_operators_see_is_what_the_file_holds(name: str, tmp_path: Path) -> None:
    data, images = ODD[name], ImageFolder(tmp_path)
    ref = images.put(data)
    kept, before = images.read(ref), decode(data).pixels
    plain = Image.open(io.BytesIO(kept))
    assert (plain.format, plain.mode, plain.info) == ("PNG", "L" if before.ndim == 2 else "RGB", {})
    assert np.array_equal(np.asarray(plain), before), "any reader sees it, whatever it does of EXIF and alpha"
    assert np.array_equal(pictures_in(images, (ref,))[ref].pixels, before)
    again = ImageFolder(tmp_path / "again")
    assert (again.put(kept), again.read(ref), again.form) == (ref, kept, PictureForm(normal=True))
    assert images.put(data) == ref and images.form == PictureForm(normal=True, changed=1), "counted once"


@pytest.mark.parametrize("name", PLAIN)
def test_what_needs_nothing_keeps_its_bytes(name: str, tmp_path: Path) -> None:
    images = ImageFolder(tmp_path)
    assert images.read(images.put(PLAIN[name])) == PLAIN[name]
    assert images.form == PictureForm(normal=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = np.asarray(Image.open(io.BytesIO(PLAIN[name])).convert("RGB"))
    seen = decode(PLAIN[name]).pixels
    assert np.array_equal(shown, seen if seen.ndim == 3 else np.stack([seen] * 3, -1)), "a reader of no alpha and EXIF"


def test_files_that_are_kept_are_told(tmp_path: Path) -> None:
    images = ImageFolder(tmp_path, keep_files=True)
    assert images.read(images.put(PLAIN["rgb"])) == PLAIN["rgb"] and images.form == PictureForm(normal=True)
    assert images.read(images.put(ODD["gif"])) == ODD["gif"] and images.form == PictureForm(normal=False)


def test_what_has_no_normal_form_is_refused_with_the_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = save(Image.new("I", (5, 5), 3), "TIFF")
    with pytest.raises(ValueError, match="32 bits a channel: save it with 8 or 16 bits"):
        ImageFolder(tmp_path).put(deep)
    assert ImageFolder(tmp_path, keep_files=True).put(deep).endswith(".tiff")
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (90, 90, 3), np.uint8))
    photo = save(noise, "JPEG", quality=30, exif=turned(6))
    monkeypatch.setattr("mmdyn.data.images.MAX_BYTES", 2 * len(photo))
    with pytest.raises(ValueError, match=r"bytes, at most .* are taken: scale it down"):
        ImageFolder(tmp_path / "large").put(photo)
    assert 2 * len(photo) < MAX_BYTES


def questions(folder: Path, *names: str) -> Path:
    """A JSON Lines file with a question a picture."""
    folder.mkdir(exist_ok=True)
    lines = list[str]()
    for number, name in enumerate(names):
        (folder / f"{number}.img").write_bytes({**ODD, **PLAIN}[name])
        row = {"id": f"q{number}", "question": f"What is {number}?", "task_type": "true_false", "answer": True}
        lines.append(json.dumps({**row, "images": [f"{number}.img"]}))
    (folder / "file.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "file.jsonl"


def told(*command: object) -> str:
    done = mmdyn(*command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def form(folder: Path) -> dict[str, object]:
    """What set.json says."""
    found: dict[str, object] = json.loads((folder / "set.json").read_text())["pictures"]
    return found


def test_convert_says_how_many_were_changed_and_set_json_that_they_are_normal(tmp_path: Path) -> None:
    file, out = questions(tmp_path / "in", "rgba", "jpeg turned 6", "rgba", "rgb", "jpeg"), tmp_path / "out"
    said = f"{out}: 5 samples, 2 pictures brought into normal form (--keep-files leaves them)\n"
    assert told("data", "convert", file, "-o", out).endswith(said)
    assert form(out) == {"normal": True, "changed": 2}
    assert [row.problem for row in validate(out) if row.problem] == []
    assert told("data", "convert", file, "-o", out) == f"{out} is there already, made of the same source: 5 samples\n"
    assert told("data", "convert", out, "-o", tmp_path / "again").endswith("again: 5 samples\n")
    assert SampleSet(tmp_path / "again").manifest.digest == SampleSet(out).manifest.digest


def test_a_set_that_needs_nothing_keeps_its_digest(tmp_path: Path) -> None:
    file = questions(tmp_path / "in", *PLAIN)
    plain, kept = convert(file, tmp_path / "plain"), convert(file, tmp_path / "kept", keep_files=True)
    assert plain.manifest.digest == kept.manifest.digest
    assert form(tmp_path / "kept") == {"normal": True, "changed": 0}, "nothing in it is out of form"


def test_kept_files_are_kept_by_whatever_is_made_of_the_set_until_it_is_converted(tmp_path: Path) -> None:
    file = questions(tmp_path / "in", "rgba", "tiff", "rgb")
    told("data", "convert", file, "-o", tmp_path / "kept", "--keep-files")
    kept = SampleSet(tmp_path / "kept")
    for opened in (kept, kept[:2], load(kept[:2], tmp_path / "copied")):
        assert not opened.manifest.pictures.normal
        assert [opened.images.read(one.images[0]) for one in opened][:2] == [ODD["rgba"], ODD["tiff"]]
    assert kept[["q2"]].manifest.pictures.normal, "what is left in it is in form"
    told("data", "sample", kept.folder, "-o", tmp_path / "some", "--limit", 2)
    assert form(tmp_path / "some") == {"normal": False, "changed": 0}
    with pytest.raises(UserError, match="already holds another set"):
        convert(file, tmp_path / "kept")
    assert "2 pictures brought" in told("data", "convert", kept.folder, "-o", tmp_path / "normal")
    assert SampleSet(tmp_path / "normal").manifest.digest == convert(file, tmp_path / "at once").manifest.digest


def test_a_file_made_of_a_set_holds_what_models_are_to_see(tmp_path: Path) -> None:
    kept = convert(questions(tmp_path / "in", "rgba"), tmp_path / "kept", keep_files=True)
    convert(kept.folder, tmp_path / "plain.jsonl")
    convert(kept.folder, tmp_path / "kept.jsonl", keep_files=True)
    for name, data in (("kept", ODD["rgba"]), ("plain", None)):
        ref = json.loads((tmp_path / f"{name}.jsonl").read_text())["images"][0]
        assert ((tmp_path / ref).read_bytes() == ODD["rgba"]) == (data is not None)


def by_hand(folder: Path) -> Path:
    """A set folder that somebody wrote, with a picture that stands otherwise than its file."""
    questions(folder, "jpeg turned 6").rename(folder / "samples.jsonl")
    return folder


ENTRANCES: dict[str, Callable[[Path, Path], object]] = {
    "load": lambda file, out: load(file, out),
    "samples": lambda file, out: load([choice(images=("0.img",))], out),
    "by hand": lambda file, out: convert(by_hand(file.parent / "hand"), out),
    "tsv": lambda file, out: convert(exported(file, "tsv"), out),
    "parquet": lambda file, out: convert(exported(file, "parquet"), out),
    "a page": lambda file, out: build("pages", file.with_name("page.jpg"), out, quiet=True),
    "pages": lambda file, out: build("pages", file.parent, out, quiet=True),
    "demo": lambda file, out: make_demo(out),
}


def test_a_page_is_masked_as_a_reader_sees_it(tmp_path: Path) -> None:
    (tmp_path / "page.jpg").write_bytes(ODD["jpeg turned 6"])
    made = build("pages", tmp_path / "page.jpg", tmp_path / "set", _Settings(mask="0,0,1,0.5"), quiet=True)
    shown = pixels(made.images.read(made["page"].images[0]))
    assert shown.shape == (30, 20, 3) and (shown[:15] == 255).all()
    assert np.array_equal(shown[16:], decode(ODD["jpeg turned 6"]).pixels[16:])


def exported(file: Path, ending: str) -> Path:
    convert(file, out := file.with_suffix(f".{ending}"), keep_files=True)
    return out


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_entrance(entrance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out = questions(tmp_path / "in", "jpeg turned 6"), tmp_path / "out"
    (tmp_path / "in" / "page.jpg").write_bytes(ODD["jpeg turned 6"])
    monkeypatch.chdir(tmp_path / "in")
    ENTRANCES[entrance](file, out)
    assert form(out) == {"normal": True, "changed": 0 if entrance == "demo" else 1}
    opened = SampleSet(out)
    for sample in opened:
        for ref in sample.all_images:
            assert ImageFolder(tmp_path / "twice").put(opened.images.read(ref)) == ref


def test_both_sides_of_a_set_in_normal_form_see_one_picture(tmp_path: Path) -> None:
    file = questions(tmp_path / "in", "jpeg turned 6", "light ink on nothing", "16-bit")
    opened, kept = convert(file, tmp_path / "set"), convert(file, tmp_path / "kept", keep_files=True)
    made = perturb(opened, tmp_path / "dynamic", ops="invert", quiet=True)
    as_kept = perturb(kept, tmp_path / "kept-dynamic", ops="invert", quiet=True)
    assert (made.manifest.pictures, as_kept.manifest.pictures) == (PictureForm(normal=True), PictureForm())
    for before, after in zip(opened, made, strict=True):
        shown, seen = (pixels(one.images.read(sample.images[0])) for one, sample in ((opened, before), (made, after)))
        assert np.array_equal(255 - shown, seen), "what a model sees of the question is what was inverted"


UNSURE = "may not be in normal form, so that a model may see them otherwise than their variants: `mmdyn data convert"


def test_a_set_that_does_not_say_is_told_of_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hand = by_hand(tmp_path / "hand")
    made = perturb(hand, tmp_path / "dynamic", ops="invert")
    said = capfd.readouterr().err
    assert said.count(UNSURE) == 1 and f"pictures of {hand} {UNSURE}" in said
    assert not made.manifest.pictures.normal
    evaluate([hand, made.folder], "baseline:majority", tmp_path / "run")
    said = capfd.readouterr().err
    assert said.count(UNSURE) == 1 and f"pictures of {hand}, {made.folder} {UNSURE}" in said
    normal = convert(hand, tmp_path / "normal")
    made = perturb(normal, tmp_path / "variants", ops="invert")
    evaluate([normal, made], "baseline:majority", tmp_path / "another run")
    words = write_set(tmp_path / "words", [choice()])
    (words.folder / "set.json").unlink()
    evaluate(words.folder, "baseline:majority", tmp_path / "third run")
    assert UNSURE not in capfd.readouterr().err
