"""What a model is and what it is sent, and how a MODEL is written: `backend:name,option=value,…`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, cast, get_args, get_type_hints

import msgspec
from msgspec import Struct

from mmdyn import plugins
from mmdyn.errors import InputError, ModelError, UserError, did_you_mean
from mmdyn.keys import Json, digest, sha256
from mmdyn.record import Reply

NO_WEIGHING = "cannot weigh options: leave --style likelihood out, or ask an hf:, vllm: or completions: model"
"""The error for a model that does not weigh options (`weighs` is False)."""


class TextPart(Struct, frozen=True, tag="text"):
    """A text in a message."""

    text: str


class ImagePart(Struct, frozen=True, tag="image"):
    """A picture in a message, sent as the bytes of the file at `path`; `digest` is their SHA-256."""

    path: Path
    digest: str

    def read(self) -> bytes:
        """Return the file's bytes.

        Raises:
            InputError: The file cannot be read, or its bytes have another digest.
        """
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise InputError(self.path, None, f"cannot be read ({error.strerror}): put the picture back") from None
        if sha256(data) != self.digest:
            raise InputError(self.path, None, "the picture was changed while it was in use: run the same command again")
        return data


class ChoicesPart(Struct, frozen=True, tag="choices"):
    """Possible continuations of the text before it, at the end of the last assistant message; the model weighs them.

    The model generates nothing: `Reply.text` is the text before them with the most probable one, and `Reply.logprobs`
    holds the log-probability of each.

    alone: it is the only part of the only message, and its only text is weighed by itself, without a template, behind
        nothing but the token with which texts begin, where the tokenizer has one. `Reply.logprobs` then holds the
        log-probability of each token; without such a beginning that of the first token is unknown and left out.
    """

    texts: tuple[str, ...]
    alone: bool = False


Part: TypeAlias = TextPart | ImagePart | ChoicesPart


class Message(Struct, frozen=True):
    """One turn of a conversation.

    >>> Message("user", (TextPart("2 + 2 = "), TextPart("?"))).text
    '2 + 2 = ?'
    """

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The texts joined, without the pictures."""
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def shown(self) -> tuple[TextPart | ImagePart, ...]:
        """The parts, for a model that cannot weigh continuations. Raises ModelError where there are some to weigh."""
        shown = tuple([part for part in self.parts if not isinstance(part, ChoicesPart)])
        if len(shown) < len(self.parts):
            raise ModelError(f"this model {NO_WEIGHING}")
        return shown


def choices(messages: tuple[Message, ...]) -> tuple[str, ...]:
    """The continuations that a model is to weigh; empty where it is to write an answer.

    >>> choices((Message("assistant", (TextPart("Answer:"), ChoicesPart((" A", " B")))),))
    (' A', ' B')
    """
    last = messages[-1].parts[-1] if messages and messages[-1].parts else None
    return last.texts if isinstance(last, ChoicesPart) else ()


def is_alone(messages: tuple[Message, ...]) -> bool:
    """Whether a text is to be weighed by itself.

    >>> is_alone((Message("assistant", (ChoicesPart(("Seven is prime.",), alone=True),)),))
    True
    """
    last = messages[-1].parts[-1] if messages and messages[-1].parts else None
    return isinstance(last, ChoicesPart) and last.alone


def pictures_of(messages: tuple[Message, ...]) -> str:
    """A digest of the pictures in the messages, in any order; empty where there are none.

    >>> pictures_of((Message("user", (TextPart("What is the capital of France?"),)),))
    ''
    """
    found = {part.digest for message in messages for part in message.parts if isinstance(part, ImagePart)}
    return digest(sorted(found), 8) if found else ""


def identity(messages: tuple[Message, ...]) -> Json:
    """What of the messages is a part of a request's key: roles, texts and the pictures' digests, but not their paths.

    >>> identity((Message("user", (TextPart("Hello"),)),))
    [['user', ['Hello']]]
    """
    return [[message.role, [_identity(part) for part in message.parts]] for message in messages]


def _identity(part: Part) -> Json:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, ImagePart):
        return {"image": part.digest}
    return {"alone" if part.alone else "choices": list(part.texts)}


PARTS = re.compile(r",(?=\s*[\w.-]+\s*=)")
"""Matches the commas that separate the parts of `name,option=value,…`; a value may hold other commas."""

_OBJECT = re.compile(r"[^:]*\.py:\s*[A-Za-z_]\w*\s*")
"""A class of a Python file."""


class Spec(Struct, frozen=True):
    """A MODEL as typed: `text` is the whole, `backend` names a plug-in, `options` are strings.

    A comma starts another option only where `option=` follows, so a value may hold commas. A value may be a secret (a
    header), so neither `repr` nor an error shows values.

    >>> Spec.parse("openai:qwen,temperature=0.7,stop=a,b").options
    {'temperature': '0.7', 'stop': 'a,b'}
    """

    text: str
    backend: str
    name: str
    options: dict[str, str]

    @staticmethod
    def parse(text: str) -> Spec:
        """Read `backend:name,option=value,…`. A URL is an `http` model, FILE.py:CLASS a `python` one.

        Raises:
            UserError: The text has no backend or name, a part is not option=value, or an option is given twice.
        """
        head, *pairs = PARTS.split(text)
        backend, _, name = f"{_plain_backend(head)}{head}".partition(":")
        if not (backend.strip() and name.strip()):
            role = " (`embedded` judges and rewrites variants, and answers nothing)" if head == "embedded" else ""
            raise UserError(f"the model {head!r} is not backend:name, such as openai:NAME or baseline:lexical{role}")
        if "," in name:
            raise UserError(f"{name.partition(',')[2]!r} in the model {head!r} is not option=value")
        return Spec(text, backend.strip(), name.strip(), _options(pairs, f"the model {head!r}"))

    def __repr__(self) -> str:
        return f"Spec({self.backend}:{self.name}, options: {', '.join(self.options) or 'none'})"


def _plain_backend(head: str) -> str:
    """The `backend:` of a name that stands without one."""
    if head.strip().startswith(("http://", "https://")):
        return "http:"
    return "python:" if _OBJECT.fullmatch(head) else ""


def _options(pairs: Sequence[str], what: str) -> dict[str, str]:
    options = dict[str, str]()
    for key, _, value in (pair.partition("=") for pair in pairs):
        if key.strip() in options:
            raise UserError(f"{what} is given the option {key.strip()!r} twice: keep one of them")
        options[key.strip()] = value.strip()
    return options


class ModelLimits(Struct, frozen=True):
    """What a model's options say about how to send requests; None leaves it to the caller.

    Args:
        concurrency: The most requests in flight.
        max_tries: The most tries of one request.
        hangs: A request may get no answer at all, so one that takes far longer than others is sent again before its
            time-out.
        batched: Requests go out in batches, at another price, and are answered within a day.
    """

    concurrency: int | None = None
    max_tries: int | None = None
    hangs: bool = True
    batched: bool = False


PASSING = {408, 409, 425, 429}
"""HTTP statuses of failures that may pass, beside 500 and above."""


def may_pass(status: int) -> bool:
    """Whether a failure of such an HTTP status may pass.

    >>> may_pass(503), may_pass(404)
    (True, False)
    """
    return status in PASSING or status >= 500


class TransientError(Exception):
    """A failure that may pass; the request is sent again after `retry_after` seconds, or after a backoff where it is
    None.

    Args:
        slow_down: The server had too many requests at a time (429).
        unanswered: The server took the request and let the time-out pass.
    """

    def __init__(
        self, reason: str, retry_after: float | None = None, *, slow_down: bool = False, unanswered: bool = False
    ) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.slow_down, self.unanswered = slow_down, unanswered


class ServerGone(TransientError):
    """No server answers at present: a refused connection, 502 or 503, or a model that is still loading."""


class RefusedError(ModelError):
    """A refusal that no request is likely to get past: a wrong key (`key`), address or name, or a page of HTML.

    It stops the run where the model answers no request. Where the model answers others, only this request was refused,
    as by a firewall that rejects its words.
    """

    def __init__(self, reason: str, *, key: bool = False) -> None:
        super().__init__(reason)
        self.key = key


class RejectedError(Exception):
    """This request cannot be answered, and sending it again does not help: it may be too long. Others may be answered.

    Args:
        perhaps_all: The cause may be how the model is set up; where no other request is answered either, the run stops.
        for_all: The message with which the run stops at the first such refusal, because the refusal names an option.
            Where other requests were answered, the refusal is taken to repeat words of the request.
    """

    def __init__(self, reason: str, *, perhaps_all: bool = False, for_all: str = "") -> None:
        super().__init__(reason)
        self.perhaps_all, self.for_all = perhaps_all or bool(for_all), for_all


class Asks(Protocol):
    """A Python object that answers: the least that `evaluate` needs of a model."""

    def ask(self, messages: tuple[Message, ...], /) -> str | Reply | Awaitable[str | Reply]:
        """Return the answer to the messages, or a coroutine for it. May raise what `Model.ask` may."""


class Model(Protocol):
    """A model that answers messages. Each file in models/backends has one public class of this kind, made from a Spec.

    A class may also have these:

    starts: A tuple of the options that name a program or code to run, "" for the model's name (`refuse_programs`).
    without_secrets: A class method, for a class that sends environment variables: takes the Spec of a MODEL that a file
        names; returns the text to use instead and a message for the user, or raises UserError (vendors.py).
    typed: A class method that turns a label and an identity back into a MODEL, and says whether that is complete
        (`typed_model`).
    listing: What the server lists of the model (`Listing`), where the name does not identify the weights.
    """

    label: str
    """How reports name it, such as openai:gpt-4o. Never holds a key."""

    identity: dict[str, Json]
    """What of the model is a part of a request's key: endpoint and name (or the checkpoint's digest), and
    parameters."""

    cached: bool
    """Whether its replies are worth caching: True where a reply costs time or money."""

    varied: ClassVar[Mapping[str, str]]
    """Options that make its answers vary between equal requests; empty where there are none."""

    varies: bool
    """Whether equal requests may get different answers, with the options that it has."""

    weighs: bool
    """Whether it can weigh continuations (`ChoicesPart`) instead of writing an answer."""

    limits: ModelLimits
    """How many requests it takes at a time, and how often one is tried, where its options say so."""

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Send the messages once.

        Raises:
            TransientError: The failure may pass.
            RejectedError: This request cannot be answered.
            ModelError: No request can be answered.
        """

    async def close(self) -> None:
        """Close connections and free memory."""


def open_model(given: str | Asks | Callable[..., Any], *, varied: bool = False) -> Model:
    """Open a model, ready for requests.

    Args:
        given: A MODEL (`backend:name,option=value,…`), an object with `ask`, or a function.
        varied: Use the options that make its answers vary, except where the MODEL sets them.

    Raises:
        UserError: There is no such backend or option, or a value does not fit.
    """
    if isinstance(given, type):
        raise UserError(f"{given.__name__} is a class: give an object of it, {given.__name__}(…)")
    if not isinstance(given, str):
        return cast("Model", plugins.load("models", "python")(given))
    spec = Spec.parse(given)
    kind = plugins.load("models", spec.backend)
    if varied:
        spec = msgspec.structs.replace(spec, options={**kind.varied, **spec.options})
    return cast("Model", kind(spec))


def in_batches(given: Any) -> str:
    """Return the MODEL with the option that sends requests in batches.

    Raises:
        UserError: The backend has no batches.

    >>> in_batches("openai:gpt-4o")
    'openai:gpt-4o,batch=true'
    """
    spec = Spec.parse(given) if isinstance(given, str) else None
    if spec is None or getattr(plugins.load("models", spec.backend), "batches", None) is None:
        named = f"{spec.backend}:{spec.name}" if spec else "an object"
        raise UserError(
            f"{named} has no batches: leave `mmdyn eval --batch` out, or ask openai: and anthropic: models alone"
        )
    return spec.text if "batch" in spec.options else f"{spec.text},batch=true"


def typed_model(label: str, backend: str, name: str, given: Mapping[str, Json]) -> tuple[str, bool]:
    """Write a MODEL as a user types it.

    Args:
        label: The label in reports; it is written as an option where it is not `backend:name`.
        given: The options; None is written as `none`.

    Returns:
        The text, and whether it is complete: a value that ends in what looks like another option is left out.

    >>> typed_model("openai:x", "openai", "x", {"seed": None})
    ('openai:x,seed=none', True)
    """
    words = {option: _typed_value(value) for option, value in given.items()}
    words |= {"label": label} if label != f"{backend}:{name}" else {}
    options = {option: text for option, text in words.items() if _is_read_back(option, text)}
    plain = name if PARTS.split(name) == [name] else "NAME"  # or else it would be read as options
    text = ",".join([f"{backend}:{plain}", *(f"{option}={text}" for option, text in options.items())])
    return text, options == words and plain == name


def _typed_value(value: Json) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_read_back(option: str, text: str) -> bool:
    """Whether a value can be typed: it may not end in what looks like a further option."""
    return _options(PARTS.split(f"{option}={text}"), "") == {option: text}


def refuse_programs(texts: Iterable[str], where: str | Path) -> None:
    """Raise InputError where a text from a file is a MODEL that starts a program or runs Python code.

    Call this for every MODEL that a file names, before it is opened: somebody else may have written the file.
    """
    for text in texts:
        try:
            spec = Spec.parse(text)
            starts = getattr(plugins.load("models", spec.backend), "starts", ())
        except UserError:
            continue
        if {"", *spec.options}.intersection(starts):
            named = f"the model {spec.backend}:{spec.name}"
            raise InputError(where, None, f"{named} would start a program: read it, then give --allow-programs")


def json_or_text(value: str) -> Json:
    """Read an option's value as JSON (and true, false and none in any case); else as text.

    >>> json_or_text("0.5"), json_or_text("None"), json_or_text("high")
    (0.5, None, 'high')
    """
    words: dict[str, Json] = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return words[value.lower()]
    try:
        found: Json = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value
    return found


S = TypeVar("S", bound=Struct)


def read_options(spec: Spec, kind: type[S], given: Mapping[str, str] | None = None) -> S:
    """Convert a model's options to a Struct with typed fields; the value `none` becomes None.

    Args:
        spec: The model as typed.
        kind: The Struct, with a default for each option.
        given: The options to convert; all of the Spec's by default.

    Raises:
        UserError: An option is unknown, or its value has the wrong type.
    """
    options = spec.options if given is None else given
    known = kind.__struct_fields__
    for key in options:
        if key not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise UserError(f"{spec.backend} has no option {key!r}{did_you_mean(key, known)}; {takes}")
    values = {key: None if value.lower() == "none" else value for key, value in options.items()}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        wrong, _, where = str(error).partition(" - at `$.")
        field, name = where.rstrip("`"), f"{spec.backend}:{spec.name}" if spec.name else spec.backend
        allowed = _names_of(get_type_hints(kind).get(field)) if wrong.startswith("Invalid enum value") else []
        mend = f"{did_you_mean(values[field] or '', allowed)}: use {', '.join(allowed)}" if allowed else ""
        raise UserError(f"the option {field} of {name}: {wrong.lower()}{mend}") from None


def _names_of(hint: object) -> list[str]:
    """The names in a Literal, also in one of several types."""
    return [name for part in get_args(hint) for name in ([part] if isinstance(part, str) else _names_of(part))]


def read_settings(given: str | S, kind: type[S], what: str = "") -> S:
    """Convert a text `value,option=value,…` to a Struct; the first value is that of the first field. A Struct stays as
    it is.

    Args:
        what: How errors name the setting; by default `kind` names the option, as RetrieverConfig does `--retriever`.

    Raises:
        UserError: An option is unknown, given twice, or has a value of the wrong type.
    """
    if not isinstance(given, str):
        return given
    what, known = what or f"--{kind.__name__.removesuffix('Config').lower()}", kind.__struct_fields__
    parts = PARTS.split(given) if given.strip() else []
    if parts and "=" not in parts[0]:
        parts[0] = f"{known[0]}={parts[0]}"
    return read_options(Spec(given, what, "", _options(parts, what)), kind)
