"""questions.jsonl with its drawings -> a set folder."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image, ImageDraw, ImageFont

from mmdyn.data import KnowledgePoint, SampleSet, SetWriter
from mmdyn.sample import Sample

WIDTH, HEIGHT = 320, 240
INK = "black"
VERDICTS = {"en": ("False", "True"), "zh": ("错误", "正确")}


def draw(shape: str, **settings: object) -> bytes:
    """A drawing as PNG bytes, 320 x 240 pixels; `shape` is a key of SHAPES, the settings are that function's."""
    image = Image.new("L", (WIDTH, HEIGHT), "white")
    canvas = ImageDraw.Draw(image)
    SHAPES[shape](canvas, **settings)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _label(canvas: ImageDraw.ImageDraw, x: float, y: float, text: str) -> None:
    canvas.text((x, y), text, fill=INK, font=ImageFont.load_default(16), anchor="mm")


def _triangle(canvas: ImageDraw.ImageDraw, sides: Sequence[str]) -> None:
    canvas.polygon([(60, 190), (260, 190), (60, 50)], outline=INK, width=2)
    canvas.rectangle((60, 176, 74, 190), outline=INK)
    for (x, y), text in zip([(42, 120), (160, 208), (176, 110)], sides, strict=True):
        _label(canvas, x, y, text)


def _rectangle(canvas: ImageDraw.ImageDraw, sides: Sequence[str]) -> None:
    canvas.rectangle((70, 60, 250, 180), outline=INK, width=2)
    _label(canvas, 160, 200, sides[0])
    _label(canvas, 282, 120, sides[1])


def _bars(canvas: ImageDraw.ImageDraw, values: Sequence[int], labels: Sequence[str]) -> None:
    canvas.line([(40, 20), (40, 200), (300, 200)], fill=INK, width=2)
    for number, (value, text) in enumerate(zip(values, labels, strict=True)):
        left = 60 + 60 * number
        canvas.rectangle((left, 200 - 20 * value, left + 36, 200), outline=INK, width=2, fill=190)
        _label(canvas, left + 18, 190 - 20 * value, str(value))
        _label(canvas, left + 18, 216, text)


def _clock(canvas: ImageDraw.ImageDraw, hour: int, minute: int) -> None:
    x, y, radius = 160, 120, 100
    canvas.ellipse((x - radius, y - radius, x + radius, y + radius), outline=INK, width=2)
    for number in range(1, 13):
        angle = math.radians(30 * number - 90)
        _label(canvas, x + 82 * math.cos(angle), y + 82 * math.sin(angle), str(number))
    for turn, length, width in (((hour % 12 + minute / 60) / 12, 45, 5), (minute / 60, 66, 2)):
        angle = math.radians(360 * turn - 90)
        canvas.line([(x, y), (x + length * math.cos(angle), y + length * math.sin(angle))], fill=INK, width=width)


def _plot(canvas: ImageDraw.ImageDraw, points: Sequence[tuple[int, int]]) -> None:
    canvas.line([(50, 15), (50, 205), (300, 205)], fill=INK, width=2)
    for number in range(1, 6):
        _label(canvas, 50 + 40 * number, 220, str(number))
        _label(canvas, 35, 205 - 36 * number, str(number))
    places = [(50 + 40 * x, 205 - 36 * y) for x, y in points]
    canvas.line(places, fill=INK, width=2)
    for x, y in places:
        canvas.ellipse((x - 5, y - 5, x + 5, y + 5), fill=INK)


def _thermometer(canvas: ImageDraw.ImageDraw, value: int) -> None:
    canvas.rectangle((150, 20, 170, 190), outline=INK, width=2)
    canvas.ellipse((140, 185, 180, 225), outline=INK, fill=90, width=2)
    for degrees in range(0, 51, 10):
        _label(canvas, 192, 180 - 3 * degrees, str(degrees))
        canvas.line([(150, 180 - 3 * degrees), (160, 180 - 3 * degrees)], fill=INK)
    canvas.rectangle((154, 180 - 3 * value, 166, 190), fill=90)


def _circuit(canvas: ImageDraw.ImageDraw, lamps: Sequence[str]) -> None:
    canvas.rectangle((60, 60, 260, 180), outline=INK, width=2)
    canvas.rectangle((145, 165, 175, 195), fill="white")
    canvas.line([(150, 165), (150, 195)], fill=INK, width=2)
    canvas.line([(170, 172), (170, 188)], fill=INK, width=5)
    for x, text in zip((110, 210), lamps, strict=True):
        canvas.ellipse((x - 16, 44, x + 16, 76), outline=INK, fill="white", width=2)
        canvas.line([(x - 11, 49), (x + 11, 71)], fill=INK)
        canvas.line([(x - 11, 71), (x + 11, 49)], fill=INK)
        _label(canvas, x, 28, text)


def _pie(canvas: ImageDraw.ImageDraw, share: float) -> None:
    box = (70, 30, 250, 210)
    canvas.pieslice(box, -90, -90 + 360 * share, fill=150)
    canvas.ellipse(box, outline=INK, width=2)
    canvas.line([(160, 30), (160, 210)], fill=INK)
    canvas.line([(70, 120), (250, 120)], fill=INK)


def _dots(canvas: ImageDraw.ImageDraw, rows: int, columns: int) -> None:
    for row in range(rows):
        for column in range(columns):
            x, y = 70 + 60 * column, 50 + 60 * row
            canvas.ellipse((x - 12, y - 12, x + 12, y + 12), fill=INK)


SHAPES: dict[str, Callable[..., None]] = {
    shape.__name__[1:]: shape
    for shape in (_triangle, _rectangle, _bars, _clock, _plot, _thermometer, _circuit, _pie, _dots)
}


def make_demo(folder: Path) -> SampleSet:
    """Write the demo's set into a new folder and open it; one that is there already is opened as it is."""
    if not (folder / "set.json").is_file():
        with SetWriter(folder, "demo", made={"command": "mmdyn demo"}) as writer:
            for line in _lines("questions.jsonl"):
                drawing = line["drawing"]
                images = [writer.images.put(draw(**drawing))] if drawing else []
                writer.add(msgspec.convert({**line["sample"], "images": images}, type=Sample))
            for line in _lines("knowledge.jsonl"):
                writer.know(msgspec.convert(line, type=KnowledgePoint))
    return SampleSet(folder)


def learn_by_heart(standard: SampleSet, file: Path) -> Path:
    """Write the replies of a model that has learned a set's answers by heart: to a question that it knows by its words
    it gives the old answer, whatever the options are now. `scripted:FILE` reads them."""
    lines = [msgspec.json.encode({"match": one.question, "reply": _old_answer(one)}) for one in standard]
    file.write_bytes(b"\n".join([*lines, msgspec.json.encode({"reply": "I do not know."})]) + b"\n")
    return file


def _old_answer(sample: Sample) -> str:
    answer = sample.answer
    if isinstance(answer, bool):
        return VERDICTS[sample.language][answer]
    if isinstance(answer, str):
        return answer
    return "; ".join(part if isinstance(part, str) else part[0] for part in answer)


def _lines(name: str) -> Iterator[dict[str, Any]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return (msgspec.json.decode(line) for line in text.splitlines())
