"""Pages of books as pictures."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, NamedTuple
from unicodedata import normalize

from msgspec import Struct

from mmdyn.build._draw_pdf import PAGE_SECONDS
from mmdyn.build.bank import LEVELS
from mmdyn.build.build import File
from mmdyn.data import DRAWN, IMAGE_MEDIA_TYPES, ImageFolder, Row, fingerprint, read_raw_rows
from mmdyn.errors import InputError, MissingExtra, UserError, did_you_mean
from mmdyn.keys import Json, digest
from mmdyn.sample import Sample

_ENDINGS = {f".{suffix}" for suffix in (*IMAGE_MEDIA_TYPES, "jpeg", "tif")}
NO_ANSWER = "(a page)"
"""What stands in place of an answer: a page asks nothing, and is material for the step `statements`."""
_PAGES = re.compile(r"(?P<first>\d{1,6})(?P<more>\s?[-–]\s?(?P<last>\d{0,6}))?")
_MENDS = {"password": "save it without its password", "pages": "correct `pages` in the table"}
_Fields = dict[str, str | int | float]


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How pages are read.

    dpi: Of the pictures that are made of a PDF.
    mask: Regions painted white, as shares of width and height: left,top,right,bottom; several between semicolons.
    discipline: What the books are about; it goes into the statements.
    table: The books of a folder (CSV, TSV, XLSX, JSON Lines). A row has a PDF's path in the folder under `file` and, if
        not all are taken, its pages under `pages` (5-40, 7, 5-); all other columns are fields, such as discipline,
        field, subfield and book. A PDF without a row is left out. Without a table the folders around a PDF are its
        discipline (unless given), field and subfield.
    seconds: A PDF is given up after.
    megabytes: Of memory that reading a PDF may take.
    disk: Megabytes of disk that the pictures of a PDF may take.
    """

    dpi: int = 150
    mask: str = ""
    discipline: str = ""
    table: File = File("")
    seconds: int = 600
    megabytes: int = 900
    disk: int = 5000


class _Book(NamedTuple):
    """Pages of a PDF: from `first` to `last`, 0 for the end; `name` stands in their ids."""

    file: Path
    name: str
    fields: _Fields
    first: int = 1
    last: int = 0


class Pages:
    """Make a picture of every page of PDFs, or take pictures of pages, a set of which `statements` reads.

    \b
    mmdyn build pages books -o pages --dpi 200

    In a folder each PDF, in whatever folder below, is a book, about which folders or a table tell. A PDF is read in a
    process of its own, with a limit of time and of memory, as it may come from anywhere.
    """

    version: ClassVar[int] = 2
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings, self.summary = settings, dict[str, Json]()
        self._given: _Fields = {"discipline": settings.discipline} if settings.discipline else {}
        self._masks = [_region(text) for text in settings.mask.split(";") if text.strip()]

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """A row for each page of a PDF, or of all PDFs of a folder; or for a picture, or each of a folder.

        A PDF of a folder that cannot be read is a row with a problem. Raises InputError, UserError.
        """
        if pdfs := _pdfs_in(source):
            books = [*(self._of_table if self._settings.table else self._of_folders)(pdfs)]
            fields = {(book.file, name) for book in books for name in book.fields}
            left_out = pdfs.keys() - {name for name, file in pdfs.items() if (file, "book") in fields}
            self.summary["fields of books"] = dict(sorted(Counter(name for _, name in fields).items()))
            self.summary["left out, without a row"] = ", ".join(sorted(left_out))
            return self._drawn(books, images)
        if self._settings.table:
            raise UserError("--table tells of the PDFs of a folder: give the folder")
        if source.suffix.lower() == ".pdf":
            return self._drawn([_Book(source, source.stem, self._given | {"book": source.stem})], images)
        files = [source] if source.is_file() else sorted(source.iterdir())
        files = [file for file in files if file.suffix.lower() in _ENDINGS]
        if not files:
            raise InputError(source, None, "is no PDF, picture, or folder of PDFs or pictures: give one")
        return (Row.build(file, None, self._page, file, file.stem, self._given, images) for file in files)

    def _of_folders(self, pdfs: dict[str, Path]) -> Iterator[_Book]:
        """The books with what their folders tell. Raises InputError for one that lies deeper."""
        levels = LEVELS[len(self._given) :]
        for name, file in pdfs.items():
            *folders, _ = name.split("/")
            if len(folders) > len(levels):
                raise InputError(file, None, "lies deeper than DISCIPLINE/FIELD/SUBFIELD: say by --table what it is")
            yield _Book(file, name[:-4], self._given | {"book": file.stem, **dict(zip(levels, folders, strict=False))})

    def _of_table(self, pdfs: dict[str, Path]) -> Iterator[_Book]:
        """The books of the table. Raises InputError for a row that is none, or names a file that is not there."""
        table, absent = Path(self._settings.table), list[str]()
        for row in read_raw_rows(table):
            told = {name.strip().casefold(): str(value or "").strip() for name, value in row.values.items()}
            pages = _PAGES.fullmatch(told.pop("pages", "") or "1-")
            if row.problem or not told.get("file") or "page" in told or not pages:
                problem = "needs a path under `file`, and `pages` such as 5-40, 7 or 5- where not all are taken"
                raise InputError(table, row.line, row.problem or problem)
            name = normalize("NFC", told.pop("file")).replace("\\", "/").removeprefix("./")
            if name in pdfs:
                fields: _Fields = {"book": pdfs[name].stem, **{field: text for field, text in told.items() if text}}
                last = pages["last"] if pages["more"] else pages["first"]
                yield _Book(pdfs[name], name[:-4], self._given | fields, int(pages["first"]), int(last or 0))
            else:
                absent.append(f"{name!r}{did_you_mean(name, pdfs)}")
        if absent:
            problem = f"names {len(absent)} files that the folder does not hold ({', '.join(absent[:5])}): correct them"
            raise InputError(table, None, problem)

    def _drawn(self, books: Sequence[_Book], images: ImageFolder) -> Iterator[Row]:
        """The pages. What is drawn of a book is kept beside the pictures until the set is written, so that the same
        command goes on after it was stopped."""
        for book in books:
            try:
                drawn = self._draw(book, images.folder / DRAWN)
            except InputError as error:
                yield Row(error.where, None, problem=error.problem)
                continue
            for file in sorted(drawn.glob("*.png")):
                id, fields = f"{book.name}-{int(file.stem)}", book.fields | {"page": int(file.stem)}
                yield Row.build(book.file, None, self._page, file, id, fields, images)

    def _page(self, file: Path, id: str, fields: _Fields, images: ImageFolder) -> Sample:
        picture = images.put(masked(file.read_bytes(), self._masks))
        return Sample(id=id, question="", task_type="open_ended", answer=NO_ANSWER, images=(picture,), fields=fields)

    def _draw(self, book: _Book, folder: Path) -> Path:
        """Draw a book's pages into a folder of their own in `folder`, if they are not there yet."""
        settings, source = self._settings, book.file
        drawn = folder / digest([fingerprint(source), settings.dpi, book.first, book.last])
        if drawn.exists():
            return drawn
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder) as scratch:
            (begun := Path(scratch) / "pages").mkdir()
            options = (settings.dpi, settings.megabytes, settings.disk, book.first, book.last)
            command = [sys.executable, "-m", "mmdyn.build._draw_pdf", str(source.resolve()), str(begun)]
            command += map(str, options)
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=settings.seconds)
            except subprocess.TimeoutExpired:
                raise InputError(source, None, f"was not read in {settings.seconds} s: raise --seconds") from None
            if "No module named 'pypdfium2'" in done.stderr:
                raise MissingExtra("pypdfium2", "build")
            if done.returncode == -signal.SIGALRM:
                raise InputError(source, None, f"has a page that is not drawn in {PAGE_SECONDS} s: leave it out")
            if done.returncode:
                reason = done.stderr.strip().rpartition("\n")[2][:200] or f"exit status {done.returncode}"
                mend = next((mend for word, mend in _MENDS.items() if word in reason), "raise --megabytes or --disk")
                raise InputError(source, None, f"cannot be read as a PDF ({reason}): check it, or {mend}")
            begun.rename(drawn)
        return drawn


def _pdfs_in(folder: Path) -> dict[str, Path]:
    """The PDFs in a folder and below by their paths there; hidden ones, such as a Mac's shadows of files, are none."""
    files = [file for file in sorted(folder.rglob("*")) if file.suffix.lower() == ".pdf" and file.is_file()]
    found = {normalize("NFC", file.relative_to(folder).as_posix()): file for file in files}
    return {name: file for name, file in found.items() if not re.search(r"(^|/)[.]", name)}


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
