"""A sample under a condition -> the messages that a model sees. Gold answers never pass through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from kprag.context import knowledge_block
from mmdyn.data.images import ImageFolder
from mmdyn.keys import sha256
from mmdyn.models.message import ImagePart, Message, Part, TextPart
from mmdyn.prompts import Template, template
from mmdyn.record import Condition
from mmdyn.sample import IMAGE_MARK, ImageRef, Sample, marks


class Renderer:
    """Renders the samples of one set: its pictures, its knowledge texts, and the user's own template if there is one."""

    def __init__(self, images: ImageFolder, texts: Mapping[str, str], custom: Template | None = None) -> None:
        self._images, self._texts, self._custom = images, texts, custom

    def messages(self, sample: Sample, condition: Condition) -> tuple[Message, ...]:
        """The one user message, pictures where their marks stand; pictures without a mark come first.

        Raises ValueError where a picture is missing.
        """
        seen = set[int]()
        values: dict[str, list[Part]] = {
            "question": self._marked(sample.question, sample, seen),
            "options": self._options(sample, seen),
            "knowledge": [TextPart(knowledge_block(sample, self._texts))] if condition.context == "kprag" else [],
            "instruction": [TextPart(template(f"answer_{sample.task_type}", sample.language).text)],
        }
        shown = {name for name, parts in values.items() if parts}
        layout = self._custom or template(_layout(condition), sample.language)
        parts = [part for piece in layout.blocks(shown) for part in _fill(piece, values)]
        return (Message("user", tuple(_merged([*self._unmarked(sample), *parts]))),)

    def _marked(self, text: str, sample: Sample, seen: set[int]) -> list[Part]:
        """Text with each picture at its first mark; `seen` holds the pictures that were shown before, and grows."""
        parts: list[Part] = []
        end = 0
        for mark in IMAGE_MARK.finditer(text):
            number = int(mark[1])
            if number not in seen:
                seen.add(number)
                parts += [TextPart(text[end : mark.start()]), self._image(sample.images[number - 1])]
                end = mark.end()
        return [*parts, TextPart(text[end:])]

    def _options(self, sample: Sample, seen: set[int]) -> list[Part]:
        parts: list[Part] = []
        for option in sample.options:
            if option.text or option.image:
                line = f"{chr(10) if parts else ''}{option.label}. {option.text}"
                parts += self._marked(line, sample, seen)
            if option.image:
                parts.append(self._image(option.image))
        return parts

    def _unmarked(self, sample: Sample) -> list[Part]:
        marked = set(marks(sample))
        return [self._image(ref) for number, ref in enumerate(sample.images, 1) if number not in marked]

    def _image(self, ref: ImageRef) -> ImagePart:
        return ImagePart(self._images.path(ref), _bytes_digest(self._images, ref))


@lru_cache(maxsize=4096)
def _bytes_digest(images: ImageFolder, ref: ImageRef) -> str:
    return sha256(images.read(ref))


def _layout(condition: Condition) -> str:
    return condition.style if condition.context == "none" else f"{condition.context}_{condition.style}"


def _fill(piece: str | tuple[str], values: Mapping[str, list[Part]]) -> Iterable[Part]:
    return [TextPart(piece)] if isinstance(piece, str) else values[piece[0]]


def _merged(parts: Iterable[Part]) -> Iterator[Part]:
    text = ""
    for part in parts:
        if isinstance(part, TextPart):
            text += part.text
            continue
        if text:
            yield TextPart(text)
        text = ""
        yield part
    if text:
        yield TextPart(text)
