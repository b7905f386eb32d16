"""A sample under a condition -> the messages that a model sees. Gold answers never pass through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.context import HINT, NONE, Context
from mmdyn.data import ImageFolder
from mmdyn.keys import sha256
from mmdyn.models import ChoicesPart, ImagePart, Message, Part, TextPart
from mmdyn.prompts import LANGUAGES, Template, template
from mmdyn.record import Condition
from mmdyn.run.example_answer import example_answer, lead, spoken
from mmdyn.run.replaced_pictures import replace_pictures
from mmdyn.sample import IMAGE_MARK, ImageRef, Sample, Turn, marks
from mmdyn.shots import Shots

CUSTOM = "custom"
"""The style of a template of the user's own."""

LIKELIHOOD = "likelihood"
"""The style in which a model weighs the options instead of writing an answer."""

WEIGHED = ("single_choice", "true_false")
"""The task types that can be asked so."""

_LAYOUTS = {"none": "knowledge", "inline": "kprag", "two-turn": "expansion"}
"""What the templates are called, by how the model is to elaborate on knowledge."""


class Example(Struct, frozen=True):
    """A sample that is shown with its answer before a question, and the folder of its pictures."""

    sample: Sample
    images: ImageFolder


class Renderer:
    """Renders the samples of one set: its pictures, and the user's own template if there is one."""

    def __init__(self, images: ImageFolder, custom: Template | None = None) -> None:
        self._images, self._custom = images, custom

    def messages(
        self, sample: Sample, condition: Condition, beside: str = "", examples: Sequence[Example] = ()
    ) -> tuple[Message, ...]:
        """The examples, what was said before, and the question, pictures where their marks stand; pictures without a
        mark come first. What the context makes of the question's pictures it makes of the examples' too.

        beside: the text that lies beside the question. In the base form all is one text, in a template of the user's
            own at its place {examples}. Where options are to be weighed, an answer that is begun follows, with what it
            may go on with; in the base form one follows too. Raises ValueError where a picture is missing, or cannot
            be withheld.
        """
        sample = _as_asked(sample, condition)
        base, placed = is_base(condition), is_base(condition) and self._custom is not None
        alike = replace(condition, context=NONE, **({"style": "direct"} if placed else {}))
        earlier = list[Message]()
        for one in examples:
            other = Renderer(one.images, None if placed else self._custom)
            shown = _as_asked(one.sample, condition)
            told = example_answer(shown, condition.style, base=base)
            earlier += [*other._asked(shown, alike), Message("assistant", (TextPart(told),))]
        begun = _begun(sample, condition, reasoned=all(one.sample.explanation.strip() for one in examples[-1:]))
        if placed:
            return (*self._asked(sample, condition, beside, _joined(earlier)), *begun)
        asked = [*earlier, *self._asked(sample, condition, beside)]
        return (Message("user", tuple(_merged(_joined(asked)))), *begun) if base else (*asked, *begun)

    def _asked(
        self, sample: Sample, condition: Condition, beside: str = "", examples: Sequence[Part] = ()
    ) -> list[Message]:
        """What was said before, and the question."""
        seen, language, bare = set[int](), sample.language, condition.style == LIKELIHOOD or is_base(condition)
        turns = [Message(turn.role, tuple(_merged(self._turn(turn, sample, condition, seen)))) for turn in sample.turns]
        values: dict[str, list[Part]] = {
            "question": self._marked(sample.question, sample, seen),
            "options": self._options(sample, seen),
            "knowledge": [TextPart(beside)] if beside.strip() else [],
            "instruction": _instruction(sample, bare),
            "examples": [*examples],
        }
        parts = _laid_out(self._custom or _layout(condition, language), values)
        return [*turns, Message("user", tuple(_merged([*self._unmarked(sample), *parts])))]

    def _turn(self, turn: Turn, sample: Sample, condition: Condition, seen: set[int]) -> list[Part]:
        """What was said before; in the base form it is said as questions and answers are."""
        parts, language = self._marked(turn.text, sample, seen), sample.language
        if not is_base(condition):
            return parts
        if turn.role == "user":
            return _laid_out(template("base", language, "shots"), {"question": parts})
        return [TextPart(spoken(lead(language, "direct"), "", language)), *parts]

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


def _as_asked(sample: Sample, condition: Condition) -> Sample:
    found = replace_pictures(sample, Context.parse(condition.context).pictures)
    if found is None:
        raise ValueError(f"it cannot be asked in the context {condition.context}")
    return found


@lru_cache(maxsize=4096)
def _bytes_digest(images: ImageFolder, ref: ImageRef) -> str:
    return sha256(images.read(ref))


@lru_cache(maxsize=256)
def _pieces(layout: Template, shown: frozenset[str]) -> tuple[str | tuple[str], ...]:
    return tuple(layout.blocks(set(shown)))


def to_elaborate(sample: Sample, beside: str) -> tuple[Message, ...]:
    """What has a model elaborate on knowledge before it is shown the sample's question: the sample lends its language
    alone."""
    parts = _laid_out(template("elaborate", sample.language), {"knowledge": [TextPart(beside)]})
    return (Message("user", tuple(_merged(parts))),)


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
    texts = [_layout(condition, language).text for language in LANGUAGES]
    return "\n".join(text.rpartition("{options}")[2].strip() for text in texts)


def is_base(condition: Condition) -> bool:
    """Whether a condition asks in one text of questions and answers."""
    return Shots.parse(condition.shot_name).base


def _layout(condition: Condition, language: str) -> Template:
    """The template; that of two turns is of the second one."""
    base, context = is_base(condition), Context.parse(condition.context)
    if context.family == NONE:
        return template("base", language, "shots") if base else template(condition.style, language)
    style = LIKELIHOOD if base else condition.style
    elaborate = context.elaborate
    if style == LIKELIHOOD and elaborate == "inline":
        elaborate = "none"  # where nothing is written, or a text is gone on with, nothing can be elaborated
    kind = HINT if context.hint else _LAYOUTS[elaborate]
    return template(f"{kind}_{style}", language)


def _laid_out(layout: Template, values: Mapping[str, list[Part]]) -> list[Part]:
    """A template with its places filled."""
    shown = frozenset(name for name, parts in values.items() if parts)
    return [part for piece in _pieces(layout, shown) for part in _fill(piece, values)]


def _instruction(sample: Sample, bare: bool) -> list[Part]:
    """How to answer; where options are weighed, and in the base form, only what a statement is to be asked."""
    if bare and sample.task_type != "true_false":
        return []
    return [TextPart(template(f"{'weighed' if bare else 'answer'}_{sample.task_type}", sample.language).text)]


def _begun(sample: Sample, condition: Condition, *, reasoned: bool) -> list[Message]:
    """The answer's beginning, if it is begun: as the last example's, if that is `reasoned`; where options are weighed
    with the labels, or the two verdicts on a statement, with which it may go on."""
    style, language = condition.style, sample.language
    if style == LIKELIHOOD:
        verdicts = template("verdicts", language).text.split("\n")
        labels = verdicts if sample.task_type == "true_false" else sample.labels
        texts = tuple(spoken("", text, language) for text in labels)
        return [Message("assistant", (TextPart(lead(language, style)), ChoicesPart(texts)))]
    begins = is_base(condition) and style != CUSTOM
    return [Message("assistant", (TextPart(lead(language, style if reasoned else "direct")),))] if begins else []


def _joined(messages: Iterable[Message]) -> list[Part]:
    """The parts of several messages, with a blank line between these."""
    parts = [part for message in messages for part in (TextPart("\n\n"), *message.parts)]
    return parts[1:]


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
