"""A sample as text for people. Whatever the data holds, no control character reaches the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.data.images import ImageFolder, inspect
from mmdyn.errors import printable
from mmdyn.keys import canonical
from mmdyn.sample import Answer, ImageRef, Sample


def describe_sample(sample: Sample, images: ImageFolder) -> str:
    """A sample on several lines: stem, options with the right ones marked, pictures, fields, knowledge, the variant's
    trail."""
    return "\n".join(printable(line) for line in _lines(sample, images))


def describe_trail(sample: Sample) -> str:
    """A variant's trail and verdict on several lines; nothing of a sample that is none."""
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
    why = f" by {verdict.by}" * bool(verdict.by) + sure + f": {verdict.reason}" * bool(verdict.reason)
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
    """An answer on one line, or on as many as its text has."""
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
