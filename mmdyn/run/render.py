"""A sample under a condition -> the messages that a model sees. Gold answers never pass through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec.structs import replace

from mmdyn.context import HINT, NONE, Context
from mmdyn.data import ImageFolder
from mmdyn.keys import sha256
from mmdyn.models import ChoicesPart, ImagePart, Message, Part, TextPart
from mmdyn.prompts import LANGUAGES, Template, template
from mmdyn.record import Condition
from mmdyn.sample import IMAGE_MARK, ImageRef, Sample, marks

CUSTOM = "custom"
"""The style of a template of the user's own."""

LIKELIHOOD = "likelihood"
"""The style in which a model weighs the options instead of writing an answer."""

WEIGHED = ("single_choice", "true_false")
"""The task types that can be asked so."""

_LAYOUTS = {"none": "knowledge", "inline": "kprag", "two-turn": "expansion"}
"""What the templates are called, by how the model is to elaborate on knowledge."""


class Renderer:
    """Renders the samples of one set: its pictures, and the user's own template if there is one."""

    def __init__(self, images: ImageFolder, custom: Template | None = None) -> None:
        self._images, self._custom = images, custom

    def messages(self, sample: Sample, condition: Condition, beside: str = "") -> tuple[Message, ...]:
        """The one user message, pictures where their marks stand; pictures without a mark come first.

        beside: the text that lies beside the question. Where options are to be weighed, an answer that is begun
            follows, with what it may go on with. Raises ValueError where a picture is missing.
        """
        weighed = condition.style == LIKELIHOOD
        seen = set[int]()
        values: dict[str, list[Part]] = {
            "question": self._marked(sample.question, sample, seen),
            "options": self._options(sample, seen),
            "knowledge": [TextPart(beside)] if beside.strip() else [],
            "instruction": _instruction(sample, weighed),
        }
        shown = frozenset(name for name, parts in values.items() if parts)
        layout = self._custom or template(_layout(condition), sample.language)
        parts = [part for piece in _pieces(layout, shown) for part in _fill(piece, values)]
        asked = Message("user", tuple(_merged([*self._unmarked(sample), *parts])))
        return (asked, _begun(sample)) if weighed else (asked,)

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


@lru_cache(maxsize=256)
def _pieces(layout: Template, shown: frozenset[str]) -> tuple[str | tuple[str], ...]:
    return tuple(layout.blocks(set(shown)))


def to_elaborate(sample: Sample, beside: str) -> tuple[Message, ...]:
    """What has a model elaborate on knowledge before it is shown the sample's question: the sample lends its language
    alone."""
    pieces = _pieces(template("elaborate", sample.language), frozenset(("knowledge",)))
    return (
        Message(
            "user", tuple(_merged(part for piece in pieces for part in _fill(piece, {"knowledge": [TextPart(beside)]})))
        ),
    )


def own_instructions(conditions: Iterable[Condition]) -> dict[str, str]:
    """What run.json keeps as `instructions`. A template of the user's own says the same in every context."""
    return {f"{one.context} {one.style}": _own_instruction(one) for one in conditions if one.context != NONE}


def _own_instruction(condition: Condition) -> str:
    if condition.style == CUSTOM:
        return ""
    words = _closing(condition)
    return "" if words == _closing(replace(condition, context=NONE)) else words


def _closing(condition: Condition) -> str:
    """What stands behind the question and its options, in all languages."""
    texts = [template(_layout(condition), language).text for language in LANGUAGES]
    return "\n".join(text.rpartition("{options}")[2].strip() for text in texts)


def _layout(condition: Condition) -> str:
    """The template's name; that of two turns is of the second one."""
    if condition.context == NONE:
        return condition.style
    context = Context.parse(condition.context)
    elaborate = context.elaborate
    if condition.style == LIKELIHOOD and elaborate == "inline":
        elaborate = "none"  # where nothing is written, nothing can be elaborated
    kind = HINT if context.hint else _LAYOUTS[elaborate]
    return f"{kind}_{condition.style}"


def _instruction(sample: Sample, weighed: bool) -> list[Part]:
    """How to answer; where options are weighed only what a statement is to be asked."""
    if weighed and sample.task_type != "true_false":
        return []
    return [TextPart(template(f"{'weighed' if weighed else 'answer'}_{sample.task_type}", sample.language).text)]


def _begun(sample: Sample) -> Message:
    """The answer's beginning, and the labels, or the two verdicts on a statement, with which it may go on."""
    verdicts = template("verdicts", sample.language).text.split("\n")
    gap = " " if sample.language == "en" else ""
    texts = tuple(gap + text for text in (verdicts if sample.task_type == "true_false" else sample.labels))
    return Message("assistant", (TextPart(template("lead_in", sample.language).text), ChoicesPart(texts)))


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
