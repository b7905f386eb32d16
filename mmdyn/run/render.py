"""A sample under a condition -> the messages that a model sees. Gold answers never pass through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kprag import Knowledge, Layout
from mmdyn.context import HINT, NONE, Context, Pictures
from mmdyn.data import ImageFolder, SampleSet
from mmdyn.errors import MmdynError
from mmdyn.keys import digest, sha256
from mmdyn.models import ChoicesPart, ImagePart, Message, Part, TextPart, identity
from mmdyn.prompts import LANGUAGES, Template, filled, template
from mmdyn.record import Condition, Record
from mmdyn.sample import IMAGE_MARK, ImageRef, Language, Sample, Turn, marks
from mmdyn.shots import Shots
from mmdyn.text import leaks_answer
from mmdyn.work import EXPANSION, Expansion, Reader, RunFolder

KIND = "captions"
"""Where the words lie in which a caption is shown."""


def replace_pictures(sample: Sample, pictures: Pictures) -> Sample | None:
    """The sample without its pictures, unless they are shown or it has none.

    A caption stands at its picture's first mark; those of pictures without a mark come before the question. Where
    pictures are withheld marks are taken out with the gaps that they leave.

    Returns:
        The sample; None where it cannot be asked so: its options are pictures or stand in one, a text would be empty,
        or a picture has no caption.
    """
    if pictures == "shown" or not sample.all_images:
        return sample
    captions = dict(enumerate(sample.captions, 1)) if pictures == "captioned" else {}
    if sample.options_in_image or any(option.image for option in sample.options):
        return None
    if pictures == "captioned" and not (all(captions.values()) and len(captions) == len(sample.images)):
        return None
    words, marked = _Words(captions, sample.language), set(marks(sample))
    first = [words.at(number) for number in captions if number not in marked]
    turns = tuple([replace(turn, text=words.of(turn.text)) for turn in sample.turns])
    question = "\n".join([*first, words.of(sample.question)])
    options = tuple([replace(option, text=words.of(option.text)) for option in sample.options])
    texts = [question, *[turn.text for turn in turns], *[option.text for option in options]]
    if not all(text.strip() for text in texts):
        return None
    return replace(sample, images=(), turns=turns, question=question, options=options)


def leaks_beside(text: str, sample: Sample, context: Context) -> bool:
    """Whether what is read with a sample, this text and the captions in place of its pictures, holds its answer."""
    captions = sample.captions if context.pictures == "captioned" else ()
    return leaks_answer("\n".join([text, *captions]), sample)


class _Words:
    """Puts captions, by their pictures' numbers, in the place of a sample's marks, text after text; without any,
    nothing."""

    def __init__(self, captions: Mapping[int, str], language: str) -> None:
        self._captions, self._language, self._seen = captions, language, set[int]()

    def of(self, text: str) -> str:
        """A text with its marks replaced."""
        if self._captions:
            return IMAGE_MARK.sub(lambda mark: self.at(int(mark[1])), text)
        return reduce(_without_mark, IMAGE_MARK.split(text)[::2])

    def at(self, number: int) -> str:
        """What stands in the place of a picture: its caption once, and then its number."""
        if number in self._seen:
            return filled(KIND, "again", self._language, number=str(number))
        self._seen.add(number)
        return filled(KIND, "picture", self._language, number=str(number), caption=self._captions[number])


def _without_mark(before: str, after: str) -> str:
    """The texts before and after a mark that is taken out, with the larger gap of both; none at an edge, inside a
    bracket or before a sign that closes a clause."""
    left, right = before.rstrip(), after.lstrip()
    if not left or not right:
        return left + right
    gaps = before[len(left) :], after[: len(after) - len(right)]
    gap = max(gaps, key=lambda gap: (gap.count("\n"), len(gap)))
    if "\n" not in gap and (right[0] in ",.;:?!)]，。；：？！）】、" or left[-1] in "([（【"):
        gap = ""
    elif not gap and left[-1].isascii() and right[0].isascii():
        gap = " "  # the mark alone held the words apart
    return left + gap + right


_SEPARATOR: dict[Language, str] = {"en": "; ", "zh": "；"}
COT = "cot"


def example_answer(sample: Sample, style: str, *, base: bool) -> str:
    """An example's answer in the form that its task's instruction asks for; in style cot behind its explanation, if it
    has one. Of a blank the first accepted string is told."""
    line = spoken(template("lead_in", sample.language).text, _answer(sample), sample.language)
    reasons = sample.explanation.strip() if style == COT else ""
    if reasons and base:
        reasons = spoken(lead(sample.language, style), reasons, sample.language)
    return f"{reasons}\n\n{line}" if reasons else line


def lead(language: Language, style: str) -> str:
    """What an answer in the base form begins with, for a model that goes on with the text."""
    return (template("reasoning", language, "shots") if style == COT else template("lead_in", language)).text


def spoken(lead_in: str, text: str, language: Language) -> str:
    """A text behind its lead-in."""
    return f"{lead_in}{' ' if language == 'en' else ''}{text}"


def first_answer(text: str, language: Language, custom: Template | None = None) -> str:
    """What a model wrote in the base form, or in that of a user's own template, up to a further question of its own."""
    form = custom.of_examples if custom else template("base", language, "shots")
    if form.heading:
        return text.partition(f"\n{form.heading}")[0].rstrip()
    answer, further, _ = text.partition(form.closing) if form.closing else (text, "", "")
    return answer.partition("\n\n")[0].rstrip() if further and answer.strip() else text


def _answer(sample: Sample) -> str:
    answer = sample.answer
    if isinstance(answer, bool):
        return template("verdicts", sample.language).text.split("\n")[not answer]
    if isinstance(answer, str):
        return answer
    separator = _SEPARATOR[sample.language] if sample.kind.form == "blank" else ""
    return separator.join(part if isinstance(part, str) else part[0] for part in answer)


CUSTOM = "custom"
"""The style of a template of the user's own."""

LIKELIHOOD = "likelihood"
"""The style in which a model weighs the options instead of writing an answer."""

_LAYOUTS = {"none": "knowledge", "inline": "kprag", "two-turn": "expansion"}
"""What the templates are called, by how the model is to elaborate on knowledge."""


class Example(Struct, frozen=True):
    """A sample that is shown with its answer before a question, and the folder of its pictures."""

    sample: Sample
    images: ImageFolder


class Renderer:
    """Renders the samples of one set: its pictures, and the user's own template if there is one."""

    def __init__(self, images: ImageFolder, custom: Template | None = None) -> None:
        self._images, self.custom = images, custom

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
        base, earlier = is_base(condition), list[Message]()
        form = self.custom.of_examples if self.custom and base else self.custom
        for one in examples:
            shown = _as_asked(one.sample, condition)
            asked = Renderer(one.images, form)._asked(shown, replace(condition, context=NONE))
            told = example_answer(shown, condition.style, base=base)
            if form and base:
                told = f" {_answer(shown)}" if form.leads else f"\n{told}"
                earlier += [*asked[:-1], Message("user", (*asked[-1].parts, TextPart(told)))]
            else:
                earlier += [*asked, Message("assistant", (TextPart(told),))]
        begun = _begun(sample, condition, reasoned=all(one.sample.explanation.strip() for one in examples[-1:]))
        if form and base:
            return (*self._asked(sample, condition, beside, _joined(earlier)), *begun)
        asked = [*earlier, *self._asked(sample, condition, beside)]
        return (Message("user", tuple(_merged(_joined(asked)))), *begun) if base else (*asked, *begun)

    def _asked(
        self, sample: Sample, condition: Condition, beside: str = "", examples: Sequence[Part] = ()
    ) -> list[Message]:
        """What was said before, and the question; where the answer is instructions nothing else."""
        condition = replace(condition, style=LIKELIHOOD) if sample.instructions else condition
        seen, language, bare = set[int](), sample.language, condition.style == LIKELIHOOD or is_base(condition)
        turns = [Message(turn.role, tuple(_merged(self._turn(turn, sample, condition, seen)))) for turn in sample.turns]
        values: dict[str, list[Part]] = {
            "question": self._marked(sample.question, sample, seen),
            "options": self._options(sample, seen),
            "knowledge": [TextPart(beside)] if beside.strip() else [],
            "instruction": _instruction(sample, bare),
            "examples": [*examples],
        }
        parts = _laid_out(self.custom or _layout(condition, language), values)
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
    if bare and sample.kind.form != "claim":
        return []
    name = f"{'weighed' if bare else 'answer'}_{sample.task_type}"
    return [TextPart(template(name, sample.language, sample.kind.prompts).text)]


def _begun(sample: Sample, condition: Condition, *, reasoned: bool) -> list[Message]:
    """The answer's beginning, if it is begun: as the last example's, if that is `reasoned`; where options are weighed
    with the labels, or the two verdicts on a statement, with which it may go on."""
    style, language = condition.style, sample.language
    if style == LIKELIHOOD:
        verdicts = template("verdicts", language).text.split("\n")
        labels = verdicts if sample.kind.form == "claim" else sample.labels
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


class SentPrompt(Struct, frozen=True):
    """exact: its key is that of the request that was sent. beside: what lay beside the question, as far as that can be
    told; problem: why the prompt cannot be rendered, empty where it is."""

    messages: tuple[Message, ...]
    exact: bool
    beside: str
    problem: str = ""


def sent_prompt(run: RunFolder, reader: Reader, record: Record, sample: Sample, images: ImageFolder) -> SentPrompt:
    """Render the request of a record. Points that were looked up, and examples, are not looked up again."""
    beside = ""
    try:
        beside = _beside(run, reader, record, sample)
        custom = (
            Template.parse(run.config.evaluator(record.set).prompt, "prompt")
            if record.condition.style == CUSTOM
            else None
        )
        messages = Renderer(images, custom).messages(sample, record.condition, beside)
    except (ValueError, MmdynError) as error:
        return SentPrompt((), False, beside, str(error))
    models = [entry.identity for entry in run.config.models if entry.label == record.model]
    exact = any(digest([one, identity(messages), record.epoch]) == record.request for one in models)
    captions = sample.captions if Context.parse(record.condition.context).pictures == "captioned" else ()
    return SentPrompt(messages, exact, "\n".join(filter(None, (*captions, beside))))


def _beside(run: RunFolder, reader: Reader, record: Record, sample: Sample) -> str:
    if record.expansion:
        stored = reader.get(EXPANSION, record.expansion)
        return msgspec.json.decode(stored, type=Expansion).reply.text if stored else ""
    context = Context.parse(record.condition.context)
    if context.family == NONE:
        return ""
    given = run.config.knowledge.get("layout")
    settings: Mapping[str, Any] = given if isinstance(given, dict) else {}
    layout = msgspec.convert({name: settings[name] for name in Layout.__struct_fields__ if name in settings}, Layout)
    texts = dict[str, str]()
    for entry in run.config.sets:
        if entry.root == record.set and run.set_folder(entry).is_dir():
            texts |= {point.point: point.text for point in SampleSet(run.set_folder(entry)).knowledge()}
    built = Knowledge(texts, None, layout, seed=settings.get("seed", 0)).build_context(sample, context)
    return built.text if built else ""
