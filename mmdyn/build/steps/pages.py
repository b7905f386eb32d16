"""Pages of books as pictures."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from msgspec import Struct

from mmdyn.build._draw_pdf import PAGE_SECONDS
from mmdyn.data import IMAGE_MEDIA_TYPES, ImageFolder, Row
from mmdyn.errors import InputError, MissingExtra, UserError
from mmdyn.sample import Sample

_ENDINGS = {f".{suffix}" for suffix in (*IMAGE_MEDIA_TYPES, "jpeg", "tif")}
NO_ANSWER = "(a page)"
"""What stands in place of an answer: a page asks nothing, and is material for the step `statements`."""


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How pages are read.

    dpi: Of the pictures that are made of a PDF.
    mask: Regions painted white, as shares of width and height: left,top,right,bottom; several between semicolons.
    discipline: What the book is about; it goes into the statements.
    seconds: A PDF is given up after.
    megabytes: Of memory that reading a PDF may take.
    disk: Megabytes of disk that the pictures of a PDF may take.
    """

    dpi: int = 150
    mask: str = ""
    discipline: str = ""
    seconds: int = 600
    megabytes: int = 900
    disk: int = 5000


class Pages:
    """Make a picture of every page of a PDF, or take pictures of pages, a set of which `statements` reads.

    A PDF is read in a process of its own, with a limit of time and of memory, as it may come from anywhere.
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings
        self._masks = [_region(text) for text in settings.mask.split(";") if text.strip()]

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """A row for each page of a PDF, or picture of a folder, or for a picture. Raises InputError, UserError."""
        if source.suffix.lower() == ".pdf":
            with TemporaryDirectory(prefix="mmdyn-pages-") as scratch:
                self._draw(source, Path(scratch))
                yield from self._rows(source.stem, sorted(Path(scratch).glob("*.png")), images)
            return
        files = [source] if source.is_file() else sorted(source.iterdir())
        files = [file for file in files if file.suffix.lower() in _ENDINGS]
        if not files:
            raise InputError(source, None, "is no PDF, picture or folder of pictures: give one")
        yield from self._rows("", files, images)

    def _rows(self, book: str, files: list[Path], images: ImageFolder) -> Iterator[Row]:
        fields: dict[str, str | int | float] = (
            {"discipline": self._settings.discipline} if self._settings.discipline else {}
        )
        for number, file in enumerate(files, 1):
            page = {"page": number} if book else {}
            id = f"{book}-{number}" if book else file.stem
            yield Row.build(file, None, self._page, file, id, fields | page, images)

    def _page(self, file: Path, id: str, fields: dict[str, str | int | float], images: ImageFolder) -> Sample:
        picture = images.put(masked(file.read_bytes(), self._masks))
        return Sample(id=id, question="", task_type="open_ended", answer=NO_ANSWER, images=(picture,), fields=fields)

    def _draw(self, source: Path, scratch: Path) -> None:
        """Draw a PDF's pages into a folder."""
        limits = (str(self._settings.dpi), str(self._settings.megabytes), str(self._settings.disk))
        command = [sys.executable, "-m", "mmdyn.build._draw_pdf", str(source.resolve()), str(scratch), *limits]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self._settings.seconds)
        except subprocess.TimeoutExpired:
            raise InputError(source, None, f"was not read in {self._settings.seconds} s: raise --seconds") from None
        if "No module named 'pypdfium2'" in done.stderr:
            raise MissingExtra("pypdfium2", "build")
        if done.returncode:
            if done.returncode == -signal.SIGALRM:
                raise InputError(source, None, f"has a page that is not drawn in {PAGE_SECONDS} s: leave it out")
            reason = done.stderr.strip().rpartition("\n")[2][:200] or f"exit status {done.returncode}"
            raise InputError(
                source, None, f"cannot be read as a PDF ({reason}): check it, or raise --megabytes or --disk"
            )


def masked(data: bytes, regions: list[tuple[float, float, float, float]]) -> bytes:
    """A picture with regions painted white; as it is without any. Raises ValueError for what is no picture."""
    import io

    from PIL import ImageDraw

    from mmdyn.data import open_image, page_of

    if not regions:
        return data
    picture = page_of(open_image(data)).convert("RGB")
    draw, (width, height) = ImageDraw.Draw(picture), picture.size
    for left, top, right, bottom in regions:
        draw.rectangle((left * width, top * height, right * width, bottom * height), fill="white")
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _region(text: str) -> tuple[float, float, float, float]:
    try:
        left, top, right, bottom = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"--mask {text!r} is not left,top,right,bottom, such as 0,0.9,1,1") from None
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise UserError(f"--mask {text!r}: give shares from 0 to 1, left before right and top before bottom")
    return left, top, right, bottom
