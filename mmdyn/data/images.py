"""Pictures as files: checked and brought into normal form once on import, named by the SHA-256 of their bytes."""

from __future__ import annotations

import base64
import io
import os
import re
import uuid
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.keys import sha256
from mmdyn.sample import ImageRef

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 50_000_000
MAX_BYTES = 64 * 1024 * 1024

IMAGE_SUFFIXES = {"PNG": "png", "JPEG": "jpg", "GIF": "gif", "WEBP": "webp", "BMP": "bmp", "TIFF": "tiff"}
_NAMED = re.compile(
    rf"(?:https?://\S{{1,300}}|(?!.*://)[^\n]{{1,300}})\.(?:{'|'.join((*IMAGE_SUFFIXES.values(), 'jpeg', 'tif'))})",
    re.I,
)
_ENCODED = re.compile(r"\s*(?:data:image/|(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|SUkqA|TU0AK)[A-Za-z0-9+/\s]{60})")
IMAGE_MEDIA_TYPES = {suffix: f"image/{'jpeg' if suffix == 'jpg' else suffix}" for suffix in IMAGE_SUFFIXES.values()}


class MissingPicture(ValueError):
    """No file lies where a picture is named."""


class ImageInfo(Struct, frozen=True):
    """The properties of a picture's bytes, whatever its name says.

    suffix: one of the values of IMAGE_SUFFIXES.
    width, height: in pixels.
    """

    suffix: str
    width: int
    height: int


class PictureForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a set's pictures.

    normal: whether all are known to be in normal form (normal_form.py).
    changed: how many were changed for that on import.
    """

    normal: bool = False
    changed: int = 0


def open_image(data: bytes) -> Image:
    """Open a picture's bytes without decoding the pixels.

    Raises:
        ValueError: The bytes are no picture of a known format, or more than MAX_BYTES bytes or MAX_PIXELS pixels.
    """
    from PIL import Image, UnidentifiedImageError

    if len(data) > MAX_BYTES:
        raise ValueError(f"the picture has {len(data):,} bytes, at most {MAX_BYTES:,} are taken: scale it down")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a large picture, EXIF that cannot be read
            image = Image.open(io.BytesIO(data), formats=tuple(IMAGE_SUFFIXES))
    except Image.DecompressionBombError:
        raise ValueError(f"the picture has more than {MAX_PIXELS:,} pixels: scale it down") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise ValueError(
            f"not a picture that can be read ({', '.join(IMAGE_SUFFIXES)} are): replace the file"
        ) from None
    if image.format == "MPO":  # a phone's JPEG with a second picture behind the first
        image.format = "JPEG"
    if image.width * image.height > MAX_PIXELS:
        size = f"{image.width}x{image.height}"
        raise ValueError(f"the picture has {size} pixels, at most {MAX_PIXELS:,} are taken: scale it down")
    return image


def inspect(data: bytes) -> ImageInfo:
    """Find the format and size of a picture's bytes, and decode them to detect broken pictures.

    Raises:
        ValueError: The picture cannot be opened or decoded.
    """
    image = open_image(data)
    info = ImageInfo(IMAGE_SUFFIXES[image.format or ""], image.width, image.height)
    _decode(image)
    return info


def _decode(image: Image) -> None:
    """Decode it, a JPEG as roughly as can be. Raises ValueError for a broken one."""
    try:
        if image.format == "JPEG":
            image.draft("L", (max(1, image.width // 8), max(1, image.height // 8)))
        image.load()
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
        raise ValueError(f"the picture is broken or cut off ({error}): replace the file") from None


def from_base64(text: str) -> bytes:
    """Decode base64 text, also of a data: URL.

    Raises:
        ValueError: It is no base64, or too long.
    """
    encoded = text.strip()
    if encoded.startswith("data:"):
        encoded = encoded.partition(",")[2]
    if len(encoded) > MAX_BYTES * 1.5:
        raise ValueError(f"the picture has more than {MAX_BYTES:,} bytes: scale it down")
    try:
        return base64.b64decode("".join(encoded.split()), validate=True)
    except ValueError:
        raise ValueError("the picture's base64 is broken or cut off: encode the file again") from None


def is_picture(value: Any) -> bool:
    """Say whether a table's value is a picture: bytes, base64, a data: URL, or the dict that `datasets` has for one."""
    if isinstance(value, bytes):
        with suppress(ValueError):
            return bool(open_image(value))
    if isinstance(value, dict):
        return {*value} == {"bytes", "path"} and (is_picture(value["bytes"]) or is_picture_name(value["path"]))
    return isinstance(value, str) and bool(_ENCODED.match(value))


def is_picture_name(value: Any) -> bool:
    """Say whether a table's value is the name of a picture file, whether the file exists or not."""
    return isinstance(value, str) and bool(_NAMED.fullmatch(value.strip()))


def read_inside(folder: Path, name: str) -> bytes:
    """Read the bytes of a picture file inside `folder`, named relative to it or absolutely.

    Raises:
        ValueError: The name leads out of the folder (.., another absolute path, a link, a URL), or the file is missing
            or too large.
    """
    name = name.removeprefix(f"{os.path.realpath(folder)}/")
    if "://" in name:
        raise ValueError(f"image {name[:80]!r} is a URL: download the picture and give its path")
    if "\0" in name or "\\" in name or name.startswith("/") or Path(name).is_absolute() or ".." in name.split("/"):
        raise ValueError(f"image path {name[:80]!r} leaves the folder: name pictures relative to {folder}, with /")
    path = folder / name
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ValueError(f"image path {name[:80]!r} leaves the folder by a link: copy the picture into {folder}")
    try:
        if not path.is_file():
            raise MissingPicture(f"image {name[:80]!r} is missing: put the file into {folder.absolute()}")
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"image {name[:80]!r} has more than {MAX_BYTES:,} bytes: scale it down")
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"image {name[:80]!r} cannot be read ({error.strerror}): mend the file") from None


class ImageFolder:
    """The pictures of a set folder: `images/ab/abcd….png` under `folder`."""

    def __init__(self, folder: Path, form: PictureForm | None = None, *, keep_files: bool = False) -> None:
        self.folder, self.form = folder, form or PictureForm(normal=True)
        self._keep_files, self._changed = keep_files, dict[str, ImageRef]()

    def put(self, data: bytes) -> ImageRef:
        """Store a picture, once, and return its path in the set.

        Its bytes are stored unchanged where they are in normal form or files are kept, and else as a PNG in normal
        form.

        Raises:
            ValueError: It is no usable picture.
        """
        return self._changed.get(sha256(data)) or self._take(data, change=not self._keep_files)

    def bring(self, source: ImageFolder, ref: ImageRef, *, normal: bool = False) -> ImageRef:
        """Copy a picture of another folder, unchanged or in `normal` form as `put` does; return its path in the set.

        A file that is not named by its bytes' SHA-256 is checked and renamed.

        Raises:
            ValueError: It is no usable picture.
        """
        data = source.read(ref)
        suffix = ref.rpartition(".")[2]
        if source.form.normal and suffix in IMAGE_MEDIA_TYPES and _ref(sha256(data), suffix) == ref:
            return self.put_checked(data, suffix)
        return self.put(data) if normal else self._take(data, change=False)

    def _take(self, data: bytes, *, change: bool) -> ImageRef:
        from mmdyn.data.normal_form import is_normal

        image = open_image(data)
        suffix = IMAGE_SUFFIXES[image.format or ""]
        if not self.path(_ref(sha256(data), suffix)).exists():
            _decode(image)
            if not is_normal(image, data):
                if change:
                    return self._change(data)
                self.form = replace(self.form, normal=False)
        return self.put_checked(data, suffix)

    def _change(self, data: bytes) -> ImageRef:
        import numpy as np

        from mmdyn.data.normal_form import encode_png, page_of

        made = encode_png(np.asarray(page_of(open_image(data)), np.uint8))
        open_image(made)  # which is larger than the file was, maybe too large
        self.form = replace(self.form, changed=self.form.changed + 1)
        self._changed[sha256(data)] = self.put_checked(made, "png")
        return self._changed[sha256(data)]

    def put_checked(self, data: bytes, suffix: str) -> ImageRef:
        """Store the bytes of a picture that needs no check, because it was just encoded or checked."""
        name = sha256(data)
        ref = _ref(name, suffix)
        path = self.folder / ref
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{name}.{uuid.uuid4().hex}.part")
            part.write_bytes(data)
            part.replace(path)
        return ref

    def path(self, ref: ImageRef) -> Path:
        """The file of a picture."""
        return self.folder / ref

    def read(self, ref: ImageRef) -> bytes:
        """Read a picture's bytes.

        Raises:
            ValueError: As in `read_inside`.
        """
        return read_inside(self.folder, ref)


def _ref(name: str, suffix: str) -> ImageRef:
    return f"images/{name[:2]}/{name}.{suffix}"
