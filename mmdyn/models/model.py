"""The contract of a model, what is sent to it, and how a MODEL is written: `backend:name,option=value,…`."""

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
"""What is said of a model that does not (`weighs` is False)."""


class TextPart(Struct, frozen=True, tag="text"):
    """A stretch of text."""

    text: str


class ImagePart(Struct, frozen=True, tag="image"):
    """A picture, sent in the bytes that the file holds. `digest` (SHA-256) identifies those bytes; `path` is where they
    lie."""

    path: Path
    digest: str

    def read(self) -> bytes:
        """The bytes. Raises InputError where the file is missing or holds others."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise InputError(self.path, None, f"cannot be read ({error.strerror}): put the picture back") from None
        if sha256(data) != self.digest:
            raise InputError(self.path, None, "the picture was changed while it was in use: run the same command again")
        return data


class ChoicesPart(Struct, frozen=True, tag="choices"):
    """Continuations of the text before it, as the end of a last assistant message: which of them is the likeliest?

    A model weighs them and writes none of its own: `Reply.text` is the text before them with the likeliest one,
    `logprobs` holds each one's log-probability.
    """

    texts: tuple[str, ...]


Part: TypeAlias = TextPart | ImagePart | ChoicesPart


class Message(Struct, frozen=True):
    """One turn."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text parts joined, without the pictures."""
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def shown(self) -> tuple[TextPart | ImagePart, ...]:
        """The parts, for a model that cannot weigh continuations. Raises ModelError where it is to."""
        shown = tuple([part for part in self.parts if not isinstance(part, ChoicesPart)])
        if len(shown) < len(self.parts):
            raise ModelError(f"this model {NO_WEIGHING}")
        return shown


def choices(messages: tuple[Message, ...]) -> tuple[str, ...]:
    """The continuations that a model is to weigh; empty where it is to write."""
    last = messages[-1].parts[-1] if messages and messages[-1].parts else None
    return last.texts if isinstance(last, ChoicesPart) else ()


def pictures_of(messages: tuple[Message, ...]) -> str:
    """A digest of the pictures that are shown, whatever their order; empty where there are none."""
    found = {part.digest for message in messages for part in message.parts if isinstance(part, ImagePart)}
    return digest(sorted(found), 8) if found else ""


def identity(messages: tuple[Message, ...]) -> Json:
    """What of the messages goes into a request's key: roles, texts and the pictures' digests, not where they lie."""
    return [[message.role, [_identity(part) for part in message.parts]] for message in messages]


def _identity(part: Part) -> Json:
    if isinstance(part, TextPart):
        return part.text
    return {"image": part.digest} if isinstance(part, ImagePart) else {"choices": list(part.texts)}


PARTS = re.compile(r",(?=\s*[\w.-]+\s*=)")
"""Between the parts of `name,option=value,…`; a value may hold commas."""

_OBJECT = re.compile(r"[^:]*\.py:\s*[A-Za-z_]\w*\s*")
"""A class of a Python file."""


class Spec(Struct, frozen=True):
    """A MODEL as typed: `text` is the whole, `backend` names a plug-in, `options` are its string settings.

    A comma parts options only where `option=` follows, so that a value may hold commas. Values may be secrets (a
    header): neither `repr` nor an error shows them.
    """

    text: str
    backend: str
    name: str
    options: dict[str, str]

    @staticmethod
    def parse(text: str) -> Spec:
        """Read `backend:name,option=value,…`; a URL is an `http` model, FILE.py:CLASS a `python` one. Raises
        UserError."""
        head, *pairs = PARTS.split(text)
        backend, _, name = f"{_plain_backend(head)}{head}".partition(":")
        if not (backend.strip() and name.strip()):
            raise UserError(f"the model {head!r} is not backend:name, such as openai:NAME or baseline:lexical")
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
    """What a model's own options say about asking it; None leaves it to who asks.

    `hangs`: a request may never be answered, so one that takes far longer than others is asked again before its
        time-out.
    `batched`: requests go out together, at another price, and are answered within a day.
    """

    concurrency: int | None = None
    max_tries: int | None = None
    hangs: bool = True
    batched: bool = False


PASSING = {408, 409, 425, 429}
"""HTTP statuses of failures that may pass, besides those from 500 on."""


class TransientError(Exception):
    """A failure that may pass: asked again after `retry_after` seconds, or after a backoff where that is None.

    `slow_down` says that the server had too many requests at a time (429), `unanswered` that it took the request and
    let the time-out pass.
    """

    def __init__(
        self, reason: str, retry_after: float | None = None, *, slow_down: bool = False, unanswered: bool = False
    ) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.slow_down, self.unanswered = slow_down, unanswered


class ServerGone(TransientError):
    """There is no server at present: a refused connection, 502, 503."""


class RefusedError(ModelError):
    """A refusal that no request seems to get past: a wrong key (`key`), address or name, a page of HTML.

    It ends the asking where the model answers nobody. Where it answers others, this request alone was refused, as by a
    firewall that dislikes its words.
    """

    def __init__(self, reason: str, *, key: bool = False) -> None:
        super().__init__(reason)
        self.key = key


class RejectedError(Exception):
    """This one request cannot be answered (it is too long, say), and asking it again would not help; others may be.

    `perhaps_all`: the reason may lie in how the model is set up; where nothing else is answered either, asking is
        stopped.
    `for_all`: the sentence with which it is stopped at the first such refusal, as the words of the refusal name an
        option. Where others were answered, those words are taken to be the request's own, which the server repeats.
    """

    def __init__(self, reason: str, *, perhaps_all: bool = False, for_all: str = "") -> None:
        super().__init__(reason)
        self.perhaps_all, self.for_all = perhaps_all or bool(for_all), for_all


class Asks(Protocol):
    """A Python object that answers: the least that `evaluate` takes for a model."""

    def ask(self, messages: tuple[Message, ...], /) -> str | Reply | Awaitable[str | Reply]:
        """The answer to messages, or a coroutine for it. It may raise what a Model's may."""


class Model(Protocol):
    """A model that can be asked. One public class a file under models/backends, constructed with its Spec.

    One that starts a program or code of the user's has a tuple `starts` too: the options that name it, "" for the
    model's own name (`refuse_programs`). One that sends variables of the environment has a class method
    `without_secrets` too: for the Spec of a MODEL out of a file the text as which it may be asked, and what is to be
    told of that, or UserError (vendors.py). One whose identity says how it was typed has a class method `typed` too,
    which gives the MODEL for a label and an identity, and whether that is all of it (`typed_model`). One whose name
    does not tell which weights answer, as its server is no vendor's own, has a `listing` too (`Listing`).
    """

    label: str
    """How reports name it, such as openai:gpt-4o. Never holds a key."""

    identity: dict[str, Json]
    """What of the model goes into a request's key: endpoint and name (or the checkpoint's digest) and its
    parameters."""

    cached: bool
    """Whether its replies are worth keeping in the response cache (True where a reply costs time or money)."""

    varied: ClassVar[Mapping[str, str]]
    """Options for answers that differ from one time to the next, for those who want several; empty where there are
    none."""

    varies: bool
    """Whether it may answer the same messages differently, as it was set up."""

    weighs: bool
    """Whether it can weigh continuations (`ChoicesPart`) instead of writing an answer."""

    limits: ModelLimits
    """How many requests it takes at a time and how often one is tried, where its options say so."""

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One try. Raises TransientError for what may pass, RejectedError for what this request cannot get, and
        ModelError for what no request can get."""

    async def close(self) -> None:
        """Let go of connections and memory."""


def open_model(given: str | Asks | Callable[..., Any], *, varied: bool = False) -> Model:
    """The model that a MODEL names, or that an object is, ready to be asked.

    Args:
        given: `backend:name,option=value,…`, an object with `ask`, or a function.
        varied: Where its options do not say, it is to answer differently each time it is asked the same.

    Raises:
        UserError: There is no such backend, option or value.
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
    """The MODEL with the option that has requests go out in batches. Raises UserError where it has no batches."""
    spec = Spec.parse(given) if isinstance(given, str) else None
    if spec is None or getattr(plugins.load("models", spec.backend), "batches", None) is None:
        named = f"{spec.backend}:{spec.name}" if spec else "an object"
        raise UserError(
            f"{named} has no batches: leave `mmdyn eval --batch` out, or ask openai: and anthropic: models alone"
        )
    return spec.text if "batch" in spec.options else f"{spec.text},batch=true"


def typed_model(label: str, backend: str, name: str, given: Mapping[str, Json]) -> tuple[str, bool]:
    """A MODEL as it is typed.

    Args:
        label: how reports name it; an option where it is not `backend:name`.
        backend: of which plug-in it is.
        name: what stands behind the colon.
        given: its options, of which None is typed as `none`.

    Returns:
        The text, and whether all options are in it: a value that ends in what looks like another option is not.
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
    """Raise InputError where a text that was read in a file is a MODEL that starts a program or code of somebody's.

    Whoever reads MODELs out of a file hands them to this first: they may be somebody else's words.
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
    """An option's value, as JSON (also True, False and None) where it is some."""
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
    """A model's options as the typed fields of a Struct; the value `none` stands for None.

    Args:
        spec: The model as it was typed.
        kind: The Struct, with a default for each option.
        given: The options to read, where they are not all of the Spec's.

    Raises:
        UserError: An option is unknown, or its value is of the wrong type.
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
    """Settings as they are, or out of a text `value,option=value,…` that begins with the first field's value.

    `kind` is named like the option that takes the text, unless `what` says how that is called: `--retriever` takes a
    RetrieverConfig's. Raises UserError.
    """
    if not isinstance(given, str):
        return given
    what, known = what or f"--{kind.__name__.removesuffix('Config').lower()}", kind.__struct_fields__
    parts = PARTS.split(given) if given.strip() else []
    if parts and "=" not in parts[0]:
        parts[0] = f"{known[0]}={parts[0]}"
    return read_options(Spec(given, what, "", _options(parts, what)), kind)
