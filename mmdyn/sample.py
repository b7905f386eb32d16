"""Sample: one question with its answer, options, pictures and metadata. All rooms exchange samples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields, force_setattr

from mmdyn.errors import did_you_mean
from mmdyn.keys import Json, canonical, digest
from mmdyn.task_types import Form, TaskType, kind_of

Language = Literal["en", "zh"]

VariantKind = Literal["standard", "dynamic", "counterfactual"]
"""What of a question is asked: the original, a variant that asks the same, or a variant with another right answer."""

Answer: TypeAlias = bool | str | tuple[str | tuple[str, ...], ...]
"""By the form of the task type: a choice has labels; a claim a bool; for blanks one tuple of accepted strings a blank;
an open question a string; rules a string each (mmdyn/text/instructions.py)."""

ImageRef: TypeAlias = str
"""A picture's path relative to the set's folder, with forward slashes: images/ab/abcd….png (named by the SHA-256 of its
bytes)."""

IMAGE_MARK = re.compile(r"<image (\d{1,4})>")
"""Where the N-th picture (from 1) stands in a question or an option; without a mark the pictures come first."""


class Option(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One option of a choice question.

    text: empty only where the option is a picture (`image`) or printed in one (the sample's `options_in_image`).
    """

    label: str
    text: str = ""
    image: ImageRef | None = None


class Match(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How an answer is compared with the right one.

    ordered: whether blanks must be filled in order.
    tolerance: relative to the right value, in [0, 1]; None compares exactly, up to rounding.
    unit: the unit of the right answer, which a reply may omit.
    each: of options of which several may be right, each is a judgment of its own: the credit is the share of them that
        are rightly picked or rightly left, whatever the policy.
    """

    ordered: bool = True
    tolerance: float | None = None
    unit: str | None = None
    each: bool = False

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            if not 0 <= self.tolerance <= 1:
                raise ValueError(f"match.tolerance is {self.tolerance}: give a share from 0 to 1, such as 0.01")
            force_setattr(self, "tolerance", float(self.tolerance))


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One operator of a chain with the parameters that it drew; as JSON, they allow a replay."""

    operator: str
    params: dict[str, Json]


class Verdict(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The outcome of making a variant.

    status: `kept` and `unjudged` variants are in the set, the others in dropped.jsonl. `rejected`: a rule or a model
        refuses the variant; `doubtful`: a rule doubts it, and there was no model to decide. by: the judge or rule.
        confidence: the judge's; None where it gave none. legibility: the share of lines of print in the parent's
        pictures that read the same in the variant's, where it was measured.
    """

    status: Literal["kept", "unjudged", "unchanged", "not_applicable", "rejected", "doubtful", "failed"]
    by: str = ""
    reason: str = ""
    confidence: float | None = None
    legibility: float | None = None

    def __post_init__(self) -> None:
        if self.confidence is not None:
            force_setattr(self, "confidence", float(self.confidence))


class Told(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The meaning of an answer in words.

    right: for each part of the answer, the accepted texts.
    wrong: the texts of the wrong options.
    """

    right: tuple[tuple[str, ...], ...]
    wrong: tuple[str, ...] = ()


class Strength(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The distance of a variant from its parent, measured by perturb/strength.py.

    tokens: the share of tokens that changed, in [0, 1].
    ssim: the structural similarity of changed pictures to the parent's, in [-1, 1], 1 for equal ones; None where none
        changed.
    unseen: the share of a frame that cannot be distinguished from the picture, in [0, 1], 1 for a white frame on white
        paper; None without a frame.
    """

    tokens: float
    ssim: float | None = None
    unseen: float | None = None


class Variant(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The trail of a sample that a chain of operators made.

    parent: always the id of the standard sample.
    parent_type: the parent's task type, where a conversion changed it; None where it is not known to differ.
    hidden: the meaning of the parent's answer, where the variant's own answer is true or false and does not contain it,
        or is another one.
    strength: None where it was not measured.
    keeps_answer: whether it asks what its parent asks; a variant that does not is `counterfactual`.
    """

    parent: str
    chain: str
    draw: int
    seed: int
    steps: tuple[Step, ...]
    verdict: Verdict
    attempt: int = 0
    parent_type: str | None = None
    hidden: Told | None = None
    strength: Strength | None = None
    keeps_answer: bool = True

    def __post_init__(self) -> None:
        if self.parent_type is not None:
            kind_of(self.parent_type)


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """An earlier turn of the dialogue that the question belongs to. Its text may mark the sample's pictures."""

    role: Literal["user", "assistant"]
    text: str


# Equal samples have one JSON text and one digest: numbers become floats where floats are meant, and what equals a
# default becomes the default itself, because msgspec leaves defaults out by identity.
_POINTS, _MATCH = 1.0, Match()

SETTING, ALONE = "setting", "alone"
"""The field, and its value of a statement that is asked on its own for the questions it stands in: meta["questions"]
holds their ids, each with the number of its statements."""


class Sample(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One question. Immutable: a stage returns a new one (`msgspec.structs.replace`).

    `task_type` is the name of a row in mmdyn/task_types.py. The type of `answer` follows from its form: labels for
    choices, a bool for claims, the accepted strings of each blank, a string for open questions. `turns` are the earlier
    turns of a dialogue.

    Raises:
        ValueError: The parts do not fit each other; the sentence says how.

    >>> Sample(id="q1", question="2 + 3 = ?", task_type="fill_in_the_blank", answer=(("5", "five"),)).told
    Told(right=(('5', 'five'),), wrong=())
    >>> Sample(id="q2", question="2 + 3 = ?", task_type="single_choice", answer=("A",))
    Traceback (most recent call last):
        ...
    ValueError: a single_choice needs at least two options, 0 given
    """

    id: str
    question: str
    task_type: str
    answer: Answer
    language: Language = "en"
    options: tuple[Option, ...] = ()
    options_in_image: bool = False
    images: tuple[ImageRef, ...] = ()
    group: str | None = None
    fields: dict[str, str | int | float] = {}
    knowledge_points: tuple[str, ...] = ()
    explanation: str = ""
    points: float = _POINTS
    hints: dict[str, str] = {}
    checklist: tuple[str, ...] = ()
    match: Match = _MATCH
    meta: dict[str, Json] = {}
    variant: Variant | None = None
    turns: tuple[Turn, ...] = ()

    def __post_init__(self) -> None:
        kind, labels = self.kind, self.labels
        if self.points is not _POINTS:
            force_setattr(self, "points", _POINTS if self.points == _POINTS else float(self.points))
        if self.match is not _MATCH and self.match == _MATCH:
            force_setattr(self, "match", _MATCH)
        if not self.id.strip():
            raise ValueError("id is empty: give every sample an id of its own")
        if not (self.points > 0 and self.points != float("inf")):
            raise ValueError(f"points is {self.points:g}: it must be a positive number")
        _check_options(self, kind, labels)
        _check_answer(self, kind, labels)
        _check_images(self)
        if self.turns and self.turns[-1].role == "user":
            raise ValueError("the last of the turns is the user's, and so is the question: join them, or add the reply")

    @property
    def kind(self) -> TaskType:
        """The row of its task type."""
        return kind_of(self.task_type)

    @property
    def labels(self) -> tuple[str, ...]:
        """The options' labels in order."""
        return tuple([option.label for option in self.options])

    @property
    def instructions(self) -> tuple[str, ...]:
        """The instructions that a reply is to follow, where these are the answer."""
        rules = self.answer if self.kind.form == "rules" and isinstance(self.answer, tuple) else ()
        return tuple([str(rule) for rule in rules])

    @property
    def parent(self) -> str:
        """The id of the standard sample, which is the variant's parent or this sample."""
        return self.variant.parent if self.variant else self.id

    @property
    def variant_kind(self) -> VariantKind:
        """Whether it is an original question, a variant that asks the same, or one with another answer."""
        if self.variant is None:
            return "standard"
        return "dynamic" if self.variant.keeps_answer else "counterfactual"

    @property
    def told(self) -> Told:
        """The meaning of the answer in words; for a claim made from a question, that of the question's answer."""
        answer = self.answer
        if isinstance(answer, bool):
            return (self.variant and self.variant.hidden) or Told(())
        if isinstance(answer, str):
            return Told(((answer,),))
        texts = {option.label: option.text for option in self.options}
        parts = [(part,) if isinstance(part, str) else part for part in answer]
        right = tuple([tuple([texts.get(one, one) for one in part]) for part in parts])
        named = {one for part in parts for one in part}
        return Told(right, tuple([text for label, text in texts.items() if label not in named]))

    @property
    def all_images(self) -> tuple[ImageRef, ...]:
        """Every picture once, those of the question before those of the options."""
        refs = [*self.images, *[option.image for option in self.options if option.image]]
        return tuple(dict.fromkeys(refs))

    @property
    def captions(self) -> tuple[str, ...]:
        """The captions of meta["caption"], a text or a list with a text for each of `images`, without picture marks."""
        given = self.meta.get("caption")
        texts = given if isinstance(given, list | tuple) else [given]
        return tuple([IMAGE_MARK.sub("", str(text or "")).strip() for text in texts])

    @property
    def digest(self) -> str:
        """The hexadecimal digest of the whole sample; pictures count by their names, which are their bytes' SHA-256."""
        return digest(self)


def _check_options(sample: Sample, kind: TaskType, labels: tuple[str, ...]) -> None:
    if kind.options:
        if len(labels) < 2:
            raise ValueError(f"a {sample.task_type} needs at least two options, {len(labels)} given")
    elif labels:
        raise ValueError(f"a {sample.task_type} takes no options, {len(labels)} given: drop them or change task_type")
    if len(set(labels)) < len(labels):
        raise ValueError(f"option labels are given twice: {', '.join(labels)}")
    for option in sample.options:
        if not option.label.strip():
            raise ValueError("an option has no label: use A, B, C, …")
        if not (option.text.strip() or option.image or sample.options_in_image):
            raise ValueError(f"option {option.label} is empty: give it a text or an image, or set options_in_image")


def _check_answer(sample: Sample, kind: TaskType, labels: tuple[str, ...]) -> None:
    answer = sample.answer
    fits, wanted = _ANSWERS[kind.form]
    if not fits(answer):
        raise ValueError(
            f"the answer of a {sample.task_type} must be {wanted}; {canonical(answer).decode()[:80]} given"
        )
    if kind.options:
        _check_labels(sample, kind, labels)


def _are_blanks(answer: Answer) -> bool:
    return isinstance(answer, tuple) and bool(answer) and all(_is_blank(blank) for blank in answer)


def _is_blank(blank: object) -> bool:
    return isinstance(blank, tuple) and bool(blank) and all(isinstance(text, str) and text.strip() for text in blank)


def _are_labels(answer: Answer) -> bool:
    return isinstance(answer, tuple) and bool(answer) and all(isinstance(label, str) for label in answer)


_ANSWERS: dict[Form, tuple[Callable[[Answer], bool], str]] = {
    "choice": (_are_labels, 'a list of option labels, such as ["A"]'),
    "claim": (lambda answer: isinstance(answer, bool), "true or false"),
    "blank": (_are_blanks, 'a list with one list of accepted strings for each blank, such as [["4", "four"]]'),
    "open": (lambda answer: isinstance(answer, str) and bool(answer.strip()), "a string that is not empty"),
    "rules": (_are_labels, 'a list of instructions, such as ["punctuation:no_comma"]'),
}
"""Whether an answer has a form, and the form in words."""


def _check_labels(sample: Sample, kind: TaskType, labels: tuple[str, ...]) -> None:
    assert isinstance(sample.answer, tuple)
    for part in sample.answer:
        for label in (part,) if isinstance(part, str) else part:
            if label not in labels:
                raise ValueError(f"the answer {label!r} is no option: the options are {', '.join(labels)}")
    if kind.form != "choice":
        return  # a label may go into several blanks
    if not kind.several and len(sample.answer) != 1:
        raise ValueError(
            f"a {sample.task_type} has one answer, {len(sample.answer)} given: use multi_select for several"
        )
    if len(set(sample.answer)) < len(sample.answer):
        raise ValueError("the answer names an option twice")


def _check_images(sample: Sample) -> None:
    for ref in sample.all_images:
        parts = ref.split("/")
        if ref.startswith("/") or "\\" in ref or ":" in ref or ".." in parts:
            raise ValueError(f"image path {ref[:80]!r} leaves the folder: name images relative to the set")
    for number in marks(sample):
        if not 1 <= number <= len(sample.images):
            raise ValueError(f"the question marks <image {number}> but {len(sample.images)} images are given")


def marks(sample: Sample) -> list[int]:
    """List the numbers of the pictures that the earlier turns, the question and its options mark, in order.

    >>> marks(Sample(id="q", question="See <image 1>.", task_type="true_false", answer=True, images=("a.png",)))
    [1]
    """
    texts = [*[turn.text for turn in sample.turns], sample.question, *[option.text for option in sample.options]]
    return [int(number) for text in texts if "<image " in text for number in IMAGE_MARK.findall(text)]


S = TypeVar("S", bound=Struct)


def split_field(text: str) -> tuple[str, str]:
    """Split FIELD=VALUES; a field whose name holds an equals sign is quoted.

    >>> split_field("difficulty = easy,hard"), split_field('"a=b"=c=d')
    (('difficulty', ' easy,hard'), ('a=b', 'c=d'))
    """
    found = re.fullmatch(r'\s*(?:"([^"]+)"|([^="]*?))\s*=(.*)', text, re.DOTALL)
    return ((found[1] or found[2]).strip(), found[3]) if found else ("", "")


def from_json(data: bytes | str, kind: type[S]) -> S:
    """Decode one record from JSON; unknown keys are refused with a suggestion.

    Raises:
        ValueError: The text is not valid JSON or not such a record; the sentence is meant for the user.

    >>> from_json('{"label": "A", "text": "four"}', Option)
    Option(label='A', text='four', image=None)
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(explain(error, kind)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not valid JSON ({error}){nan_in(data)}") from None


def nan_in(text: bytes | str) -> str:
    """Explain how to correct JSON that is broken by NaN or an infinity, which Python writes; "" for other JSON.

    >>> nan_in('{"points": NaN}')
    ': NaN is no JSON, write null'
    """
    found = re.search(r"[:\[,]\s*(NaN|-?Infinity)\b", text if isinstance(text, str) else text.decode(errors="replace"))
    return f": {found[1]} is no JSON, write null" if found else ""


def from_dict(data: Mapping[str, object], kind: type[S]) -> S:
    """Build one record from plain Python objects, where lists stand for tuples.

    Raises:
        ValueError: As `from_json` raises it.

    >>> from_dict({"ordered": False}, Match)
    Match(ordered=False, tolerance=None, unit=None, each=False)
    """
    try:
        return msgspec.convert(data, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(explain(error, kind)) from None


def explain(error: msgspec.ValidationError, kind: type[Struct]) -> str:
    """Describe a validation error in one sentence, with the nearest known name where a key is unknown."""
    text, _, path = str(error).partition(" - at `$")
    at = path.rstrip("`").lstrip(".")
    if found := re.fullmatch(r"Object contains unknown field `(.*)`", text, re.DOTALL):
        place = f" in {at}" if at else ""
        if kind is Sample and not at and (meant := USUAL_NAMES.get(found[1])):
            return f"unknown key {found[1]!r} (did you mean {meant!r}?)"
        mend = '; free keys belong inside "meta"' if kind is Sample else ""
        return f"unknown key {found[1][:80]!r}{place}{did_you_mean(found[1][:80], _field_names(kind))}{mend}"
    if found := re.fullmatch(r"Object missing required field `(.*)`", text):
        return f"the key {found[1]!r} is missing{f' in {at}' if at else ''}: add it"
    if found := re.fullmatch(r"Invalid enum value '?(.*?)'?", text, re.DOTALL):
        allowed = next((get_args(field.type) for field in fields(kind) if field.encode_name == at), ())
        mend = (
            f"{did_you_mean(found[1], allowed)}: use one of {', '.join(allowed)}" if allowed else ": use an allowed one"
        )
        return f"{at} {found[1][:80]!r} is unknown{mend}"
    if found := re.fullmatch(r"Expected `(.*)`, got `(.*)`", text):
        wanted = " or ".join(_WORDS.get(word, word) for word in found[1].split(" | "))
        return f"{at or 'the whole'} must be {wanted}, {_WORDS.get(found[2], found[2])} given"
    return text + (f" (at {at})" if at else "")


USUAL_NAMES = {"choices": "options", "choice": "options", "prompt": "question", "query": "question"}
USUAL_NAMES |= {
    "image": "images",
    "pictures": "images",
    "type": "task_type",
    "label": "answer",
    "solution": "explanation",
}
"""What other sets call what is an option, a question, …: a key of theirs -> ours."""

_WORDS = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false"}
_WORDS |= {"array": "a list", "object": "an object", "null": "null"}


def _structs(annotation: Any) -> Iterator[type[Struct]]:
    """The records in a field's type, alone or in a list."""
    if hasattr(annotation, "__struct_fields__"):
        yield annotation
    for part in get_args(annotation):
        yield from _structs(part)


def _field_names(kind: type[Struct]) -> list[str]:
    parts = [part for field in msgspec.structs.fields(kind) for part in _structs(field.type)]
    nested = (Option, Match, Step, Verdict, Told, Strength, Variant, Turn) if kind is Sample else parts
    return [name for struct in (kind, *nested) for name in struct.__struct_fields__]
