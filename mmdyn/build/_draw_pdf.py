"""Draws the pages of a PDF as pictures: a program of its own, as a PDF may hang it or eat its memory.

python -m mmdyn.build._draw_pdf FILE FOLDER DPI MEGABYTES DISK FIRST LAST
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

PAGE_SECONDS = 8
"""For how long a page is drawn."""


def main(file: str, folder: str, dpi: str, megabytes: str, disk: str, first: str, last: str) -> None:
    """Write FOLDER/00001.png and so on, up to the end where LAST is 0; exit status 1 with the reason on standard
    error."""
    import pypdfium2

    limit = int(megabytes) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        left = int(disk) << 20
        signal.alarm(PAGE_SECONDS)  # PDFium heeds nothing else
        book = pypdfium2.PdfDocument(file)
        end = int(last) or len(book)
        if not 1 <= int(first) <= end <= len(book):
            raise ValueError(f"{first} to {last} are no pages of {len(book)}")
        for number in range(int(first), end + 1):
            signal.alarm(PAGE_SECONDS)
            picture = Path(folder) / f"{number:05}.png"
            book[number - 1].render(scale=int(dpi) / 72).to_pil().convert("RGB").save(picture)
            if (left := left - picture.stat().st_size) < 0:
                raise MemoryError(f"its first {number} pages take more than {disk} MB of disk")
    except (pypdfium2.PdfiumError, MemoryError, ValueError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
