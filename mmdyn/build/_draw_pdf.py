"""Draws the pages of a PDF as pictures: a program of its own, as a PDF may hang it or eat its memory.

python -m mmdyn.build._draw_pdf FILE FOLDER DPI MEGABYTES DISK
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

PAGE_SECONDS = 8
"""For how long a page is drawn."""


def main(file: str, folder: str, dpi: str, megabytes: str, disk: str) -> None:
    """Write FOLDER/00001.png and so on; exit status 1 with the reason on standard error."""
    import pypdfium2

    limit = int(megabytes) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        left = int(disk) << 20
        signal.alarm(PAGE_SECONDS)  # PDFium heeds nothing else
        for number, page in enumerate(pypdfium2.PdfDocument(file), 1):
            signal.alarm(PAGE_SECONDS)
            picture = Path(folder) / f"{number:05}.png"
            page.render(scale=int(dpi) / 72).to_pil().convert("RGB").save(picture)
            if (left := left - picture.stat().st_size) < 0:
                raise MemoryError(f"its first {number} pages take more than {disk} MB of disk")
    except (pypdfium2.PdfiumError, MemoryError, ValueError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
