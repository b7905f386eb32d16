"""What tests make: samples, pictures and sets, small and by hand."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from mmdyn.data import ImageFolder, SampleSet, SetWriter
from mmdyn.sample import Option, Sample


def choice(
    id: str = "s1", answer: str = "B", texts: Iterable[str] = ("two", "three", "four", "five"), **more: Any
) -> Sample:
    """A single-choice sample; options are labelled A, B, C, …"""
    options = tuple(Option(label, text) for label, text in zip("ABCDEFGH", texts, strict=False))
    question = more.pop("question", "How many sides has a triangle?")
    return Sample(id=id, question=question, task_type="single_choice", options=options, answer=(answer,), **more)


def multi(id: str = "m1", answer: str = "AC", texts: Iterable[str] = ("2", "4", "3", "9"), **more: Any) -> Sample:
    """A multi-select sample; `answer` is the right letters in a row."""
    options = tuple(Option(label, text) for label, text in zip("ABCDEFGH", texts, strict=False))
    question = more.pop("question", "Which numbers are prime?")
    return Sample(id=id, question=question, task_type="multi_select", options=options, answer=tuple(answer), **more)


def blank(id: str = "b1", answer: tuple[tuple[str, ...], ...] = (("4", "four"),), **more: Any) -> Sample:
    """A fill-in-the-blank sample."""
    question = more.pop("question", "2 + 2 = ____")
    return Sample(id=id, question=question, task_type="fill_in_the_blank", answer=answer, **more)


def true_false(id: str = "t1", answer: bool = True, **more: Any) -> Sample:
    """A true/false sample."""
    question = more.pop("question", "Seven is a prime number.")
    return Sample(id=id, question=question, task_type="true_false", answer=answer, **more)


def open_ended(id: str = "o1", answer: str = "Because ice is less dense than water.", **more: Any) -> Sample:
    """An open-ended sample."""
    question = more.pop("question", "Why does ice float on water?")
    return Sample(id=id, question=question, task_type="open_ended", answer=answer, **more)


def instructions(id: str = "i1", answer: tuple[str, ...] = ("punctuation:no_comma",), **more: Any) -> Sample:
    """A question with instructions on the form of the reply."""
    question = more.pop("question", "Why does ice float on water? Do not use commas.")
    return Sample(id=id, question=question, task_type="instructions", answer=answer, **more)


def picture(
    width: int = 64, height: int = 48, mode: str = "RGB", format: str = "PNG", text: str = "7", **save: Any
) -> bytes:
    """A small drawing with a box and a label, encoded."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((4, 4, width - 5, height - 5), outline="black", width=2)
    draw.text((width // 2, height // 2), text, fill=(180, 0, 0))
    buffer = io.BytesIO()
    image.convert(mode).save(buffer, format, **save)
    return buffer.getvalue()


def pixels(data: bytes) -> np.ndarray:
    """A picture's bytes as an RGB array of shape (height, width, 3)."""
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def write_set(folder: Path, samples: Iterable[Sample], name: str = "small", images: Iterable[bytes] = ()) -> SampleSet:
    """Write a set folder; `images` are put into it as they are (their names follow from their bytes: `image_ref`)."""
    with SetWriter(folder, name, images=ImageFolder(folder, keep_files=True)) as writer:
        for data in images:
            writer.images.put(data)
        for sample in samples:
            writer.add(sample)
    return SampleSet(folder)


def image_ref(data: bytes, suffix: str = "png") -> str:
    """The path that a picture of these bytes has in a set."""
    from mmdyn.keys import sha256

    return f"images/{sha256(data)[:2]}/{sha256(data)}.{suffix}"
