"""Draws the pages of a PDF as pictures: a program of its own, as a PDF may hang it or eat its memory.

python -m mmdyn.build._draw_pdf FILE FOLDER DPI MEGABYTES
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def main(file: str, folder: str, dpi: str, megabytes: str) -> None:
    """Write FOLDER/00001.png and so on; exit status 1 with the reason on standard error."""
    import pypdfium2

    limit = int(megabytes) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        document = pypdfium2.PdfDocument(file)
        for number, page in enumerate(document, 1):
            page.render(scale=int(dpi) / 72).to_pil().convert("RGB").save(Path(folder) / f"{number:05}.png")
    except (pypdfium2.PdfiumError, MemoryError, ValueError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
