"""A sample as markup for a notebook, with its pictures made small. Whatever the data holds is text."""

from __future__ import annotations

import base64
import difflib
import io
import re
from collections.abc import Iterable, Iterator

from mmdyn.data.images import ImageFolder, open_image
from mmdyn.data.show import describe_answer
from mmdyn.html import Html, html_table, markup
from mmdyn.sample import ImageRef, Sample

WIDEST = 240
"""Pixels of a picture's longer side."""
_WORDS = re.compile(r"[㐀-鿿]|[^\W㐀-鿿]+|\s+|.", re.DOTALL)


def samples_html(samples: Iterable[Sample], images: ImageFolder, title: str) -> Html:
    """A row for each sample."""
    lines = ((one.id, sample_html(one, images), describe_answer(one.answer)) for one in samples)
    return html_table(("id", "question", "answer"), lines, title)


def sample_html(sample: Sample, images: ImageFolder | None = None, before: Sample | None = None) -> Html:
    """Stem, options (the right ones bold) and pictures; with the sample `before`, what differs from its words is
    marked."""
    gold = sample.answer if isinstance(sample.answer, tuple) else ()
    old = {(option.label, option.text) for option in before.options} if before else set[tuple[str, str]]()
    parts = [_marked(before.question, sample.question) if before else markup(sample.question)]
    for option in sample.options:
        text = markup(f"{option.label}. {option.text}")
        text = Html(f"<mark>{text}</mark>") if before and (option.label, option.text) not in old else text
        parts.append(Html(f"<b>{text}</b>") if option.label in gold else text)
    pictures = [_picture(ref, images) for ref in sample.all_images] if images else []
    return Html("<br>".join([*parts, *([" ".join(pictures)] if pictures else [])]))


def _marked(old: str, new: str) -> Html:
    return Html("".join(_pieces(_WORDS.findall(old), _WORDS.findall(new))))


def _pieces(old: list[str], new: list[str]) -> Iterator[str]:
    for kind, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        text = markup("".join(new[start:end]))
        yield text if kind == "equal" or not text else f"<mark>{text}</mark>"


def _picture(ref: ImageRef, images: ImageFolder) -> str:
    """A picture made small, as PNG; the problem with it where it cannot be read."""
    try:
        image = open_image(images.read(ref))
        image.thumbnail((WIDEST, WIDEST))
        image.convert("RGBA").save(made := io.BytesIO(), "PNG")
    except (ValueError, OSError) as error:
        return markup(f"[{ref}: {error}]")
    return f'<img alt="picture" src="data:image/png;base64,{base64.b64encode(made.getvalue()).decode()}">'
