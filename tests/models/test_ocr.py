"""Reading the words in pictures: what is drawn is read, wherever and however it stands."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import numpy as np
import pytest
from making_pictures import Sheet, drawn, exam_pictures

from mmdyn.models import Ocr, area, common, open_ocr


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    return Ocr()


def squeezed(texts: list[str]) -> Counter[str]:
    """Texts without spaces, which a reader may see or not."""
    return Counter(text.replace(" ", "") for text in texts)


@pytest.mark.parametrize("kind", ["triangle", "chart", "table"])
def test_every_label_and_number_is_read_in_its_place(ocr: Ocr, kind: str) -> None:
    drawing = drawn(kind, 1)
    words = ocr.read(drawing.pixels)
    assert squeezed([word.text for word in words]) == squeezed([text for text, _ in drawing.texts])
    for text, box in drawing.texts:
        (word,) = (word for word in words if area(common(box, word.box)) > 0.6 * area(box))
        assert word.text == text
        assert 0.9 < word.confidence <= 1


def test_a_number_is_never_read_upside_down(ocr: Ocr) -> None:
    sheet = Sheet(400, 300)
    numbers = ["80", "968", "86", "619", "1001", "08"]
    for place, number in enumerate(numbers):
        sheet.write(60 + place % 3 * 130, 80 + place // 3 * 120, number)
    assert {word.text for word in ocr.read(np.array(sheet.image))} == set(numbers)


def test_white_on_black_and_grey_are_read_alike(ocr: Ocr) -> None:
    drawing = drawn("table", 2)
    for pixels in (255 - drawing.pixels, np.ascontiguousarray(drawing.pixels[..., 0]), 255 - drawing.pixels[..., 0]):
        assert squeezed([word.text for word in ocr.read(pixels)]) == squeezed([text for text, _ in drawing.texts])


def test_a_label_along_an_axis_is_read_from_below(ocr: Ocr) -> None:
    sheet = Sheet(400, 300)
    sheet.write(200, 150, "distance in metres")
    assert [word.text.replace(" ", "") for word in ocr.read(np.rot90(np.array(sheet.image)))] == ["distanceinmetres"]


def test_a_long_picture_is_read_in_tiles_and_each_line_once(ocr: Ocr) -> None:
    sheet = Sheet(420, 3600)
    lines = [f"line {number}" for number in range(100, 172, 2)]
    for place, line in enumerate(lines):
        sheet.write(210, 50 + 98 * place, line)
    words = ocr.read(np.array(sheet.image))
    assert squeezed([word.text for word in words]) == squeezed(lines)
    assert [word.text for word in words] == sorted(word.text for word in words)


def test_an_original_is_read_once_however_many_come_between(ocr: Ocr) -> None:
    drawing = drawn("triangle", 1)
    first = ocr.read(drawing.pixels)
    for number in range(100):
        ocr.read(np.full((2, 2, 3), number, np.uint8))
    assert ocr.read(drawing.pixels) is first


def test_where_nothing_stands_nothing_is_read(ocr: Ocr) -> None:
    for shape in ((1, 1), (1, 1, 3), (40, 3), (2, 700, 3), (300, 400, 3)):
        assert ocr.read(np.full(shape, 255, np.uint8)) == ()
    assert ocr.spell(np.zeros((20, 20), np.uint8), (5, 5, 5, 9)) == ("", 0.0)


def test_threads_read_what_one_thread_reads(ocr: Ocr) -> None:
    pictures = [drawing.pixels for drawing in exam_pictures(3)]
    one = [ocr.find(picture) for picture in pictures]
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(ocr.find, pictures)) == one


def test_the_identity_names_the_versions(ocr: Ocr) -> None:
    assert ocr.identity == {"rapidocr": version("rapidocr"), "onnxruntime": version("onnxruntime")}


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=240)


def test_models_are_loaded_for_the_first_picture() -> None:
    done = run(
        "import sys, numpy as np; from mmdyn.models.ocr import Ocr; reader = Ocr()\n"
        "print({'rapidocr', 'onnxruntime'} & {*sys.modules}); reader.read(np.full((64, 64), 255, np.uint8))\n"
        "print(len({'rapidocr', 'onnxruntime'} & {*sys.modules}))"
    )
    assert done.stdout == "set()\n2\n"


def test_reading_prints_nothing() -> None:
    done = run("import numpy as np; from mmdyn.models.ocr import Ocr; Ocr().read(np.full((64, 64), 255, np.uint8))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_the_extra_there_is_no_reader() -> None:
    done = run(
        "import sys; sys.modules['rapidocr'] = None\n"
        "from mmdyn.errors import UserError; from mmdyn.models.ocr import Ocr, open_ocr\n"
        "print(open_ocr())\n"
        "try: Ocr()\n"
        "except UserError as error: print(error)"
    )
    assert done.stdout == "None\nrapidocr is needed for this and is not installed: pip install 'mmdyn[ocr]'\n"
    assert isinstance(open_ocr(), Ocr)


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    done = run("import sys, mmdyn.models.ocr; print({'rapidocr', 'onnxruntime', 'cv2'} & {*sys.modules})")
    assert done.stdout == "set()\n"
