"""Show a sample to people: as text on a terminal, as HTML in a notebook. All data is escaped."""

from __future__ import annotations

import base64
import difflib
import io
import re
from collections.abc import Iterable, Iterator

from mmdyn.data.images import ImageFolder, inspect, open_image
from mmdyn.errors import printable
from mmdyn.html import Html, html_table, markup
from mmdyn.keys import canonical
from mmdyn.sample import Answer, ImageRef, Sample


def describe_sample(sample: Sample, images: ImageFolder) -> str:
    """Describe a sample on several lines: stem, options (the right ones marked), pictures, fields, knowledge, trail."""
    return "\n".join(printable(line) for line in _lines(sample, images))


def describe_trail(sample: Sample) -> str:
    """Describe a variant's trail and verdict on several lines; "" for a standard sample."""
    return "\n".join(printable(line) for line in _trail(sample))


def _lines(sample: Sample, images: ImageFolder) -> Iterator[str]:
    kind = f"{sample.task_type}, {sample.language}" + (f", {sample.points:g} points" if sample.points != 1 else "")
    yield f"{sample.id}  ({kind})"
    yield from (f"  [{turn.role}] {_indent(turn.text).lstrip()}" for turn in sample.turns)
    yield _indent(sample.question)
    gold = sample.answer if isinstance(sample.answer, tuple) else ()
    for option in sample.options:
        mark = "*" if option.label in gold else " "
        picture = f"  [{option.image}]" if option.image else ""
        yield f"  {mark} {option.label}. {_indent(option.text).lstrip()}{picture}"
    if sample.options_in_image:
        yield "    (the options stand in the picture)"
    yield f"  answer: {describe_answer(sample.answer)}"
    for number, ref in enumerate(sample.all_images, 1):
        yield f"  image {number}: {_picture(ref, images)}"
    for name, value in (*sample.fields.items(), ("group", sample.group)):
        if value is not None:
            yield f"  {name}: {value}"
    lists = {"caption": sample.captions, "knowledge": sample.knowledge_points, "checklist": sample.checklist}
    for name, texts in lists.items():
        yield from (f"  {name}: {_indent(text).lstrip()}" for text in texts if text)
    yield from (f"  hint {name}: {text}" for name, text in sample.hints.items())
    if sample.explanation:
        yield f"  explanation: {_indent(sample.explanation).lstrip()}"
    yield from _trail(sample)


def _trail(sample: Sample) -> Iterator[str]:
    variant = sample.variant
    if not variant:
        return
    verdict = variant.verdict
    attempt = f", attempt {variant.attempt}" * bool(variant.attempt)
    sure = "" if verdict.confidence is None else f" with confidence {verdict.confidence:.2g}"
    why = f" by {verdict.by}" * bool(verdict.by) + f"{sure}: {verdict.reason}" * bool(verdict.reason)
    yield (
        f"  variant of {variant.parent}: {variant.chain}, draw {variant.draw}{attempt}, seed {variant.seed};"
        f" {verdict.status}{why}"
    )
    if far := variant.strength:
        alike = "" if far.ssim is None else f", SSIM of pictures {far.ssim:.2f}"
        unseen = "" if far.unseen is None else f", {100 * far.unseen:.0f} % of the frame unseen"
        yield f"    strength: {100 * far.tokens:.1f} % of the tokens changed{alike}{unseen}"
    for step in variant.steps:
        yield f"    {step.operator} {canonical(step.params).decode()}"


def describe_answer(answer: Answer) -> str:
    """Write an answer on one line, or on as many as its text has.

    >>> describe_answer(True), describe_answer(("A", "C")), describe_answer((("4", "four"), ("2",)))
    ('true', 'A, C', '4 | four, 2')
    """
    if isinstance(answer, bool):
        return str(answer).lower()
    if isinstance(answer, str):
        return _indent(answer).lstrip()
    return ", ".join(part if isinstance(part, str) else " | ".join(part) for part in answer)


def _picture(ref: ImageRef, images: ImageFolder) -> str:
    try:
        info = inspect(images.read(ref))
    except ValueError as error:
        return f"{ref} ({error})"
    return f"{images.path(ref)} ({info.width}x{info.height})"


def _indent(text: str) -> str:
    return "  " + text.replace("\n", "\n  ")


WIDEST = 240
"""Pixels of a picture's longer side."""
_WORDS = re.compile(r"[㐀-鿿]|[^\W㐀-鿿]+|\s+|.", re.DOTALL)


def samples_html(samples: Iterable[Sample], images: ImageFolder, title: str) -> Html:
    """Build an HTML table with a row for each sample."""
    lines = ((one.id, sample_html(one, images), describe_answer(one.answer)) for one in samples)
    return html_table(("id", "question", "answer"), lines, title)


def sample_html(sample: Sample, images: ImageFolder | None = None, before: Sample | None = None) -> Html:
    """Build HTML of a sample: stem, options (the right ones bold) and pictures.

    Args:
        sample: The sample.
        images: The folder of its pictures; None shows none.
        before: The sample from which it was made; words that differ are marked.

    >>> sample = Sample("q", "Is 2 < 3?", "true_false", True)
    >>> print(sample_html(sample, before=Sample("p", "Is 2 < 4?", "true_false", True)))
    Is 2 &lt; <mark>3</mark>?
    """
    gold = sample.answer if isinstance(sample.answer, tuple) else ()
    old = {(option.label, option.text) for option in before.options} if before else set[tuple[str, str]]()
    parts = [_marked(before.question, sample.question) if before else markup(sample.question)]
    for option in sample.options:
        text = markup(f"{option.label}. {option.text}")
        text = Html(f"<mark>{text}</mark>") if before and (option.label, option.text) not in old else text
        parts.append(Html(f"<b>{text}</b>") if option.label in gold else text)
    pictures = [_thumbnail(ref, images) for ref in sample.all_images] if images else []
    return Html("<br>".join([*parts, *([" ".join(pictures)] if pictures else [])]))


def _marked(old: str, new: str) -> Html:
    return Html("".join(_pieces(_WORDS.findall(old), _WORDS.findall(new))))


def _pieces(old: list[str], new: list[str]) -> Iterator[str]:
    for kind, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        text = markup("".join(new[start:end]))
        yield text if kind == "equal" or not text else f"<mark>{text}</mark>"


def _thumbnail(ref: ImageRef, images: ImageFolder) -> str:
    """A picture made small, as PNG; the problem with it where it cannot be read."""
    try:
        image = open_image(images.read(ref))
        image.thumbnail((WIDEST, WIDEST))
        image.convert("RGBA").save(made := io.BytesIO(), "PNG")
    except (ValueError, OSError) as error:
        return markup(f"[{ref}: {error}]")
    return f'<img alt="picture" src="data:image/png;base64,{base64.b64encode(made.getvalue()).decode()}">'
