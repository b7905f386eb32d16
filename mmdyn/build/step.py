"""What a step of building is (a sample in, samples out, or a reason why not), its draws, and its model's replies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import getfile
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from msgspec import Struct

from mmdyn.data import ImageFolder, Row, SampleSet
from mmdyn.keys import Json, digest, sha256, stream
from mmdyn.models import (
    Budget,
    Caches,
    ImagePart,
    Message,
    SyncModelClient,
    TextPart,
    ask_and_wait,
    identity,
    prompts_digest,
)
from mmdyn.prompts import filled, read_reply
from mmdyn.sample import ImageRef, Language, Sample

T = TypeVar("T")
_MANY = 64


class Draws:
    """Whole numbers and choices, keyed by an identity. Numbers are taken from the stream many at a time, as single ones
    cost far more."""

    def __init__(self, *identity: str | int) -> None:
        self._stream, self._numbers = stream(*identity), list[float]()

    def below(self, count: int) -> int:
        """One of 0 to count - 1, each as likely."""
        if not self._numbers:
            self._numbers = self._stream.random(_MANY).tolist()
        return int(self._numbers.pop() * count)

    def one(self, items: Sequence[T]) -> T:
        """One of some items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in another order, each order as likely."""
        left = list(items)
        for place in range(len(left) - 1, 0, -1):
            other = self.below(place + 1)
            left[place], left[other] = left[other], left[place]
        return left


class NotingClient(SyncModelClient):
    """A model for threads that notes what it replies to each of them."""

    def __init__(self, model: str, concurrency: int, budget: Budget | None, caches: Caches) -> None:
        super().__init__(model, concurrency, budget=budget, caches=caches)
        self._noted = threading.local()

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The text of one answer. Raises as the model does."""
        text = super().ask(messages, nonce)
        self._noted.replies = (*self._replies, (_key(messages, nonce), text))
        return text

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """What this thread was told since it last took it: digests of what was asked, and replies."""
        taken, self._noted.replies = self._replies, ()
        return taken

    @property
    def _replies(self) -> tuple[tuple[str, str], ...]:
        found: tuple[tuple[str, str], ...] = getattr(self._noted, "replies", ())
        return found


class Client(Protocol):
    """Who replies to a step, from any thread."""

    label: str
    identity: dict[str, Json]

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The text of one answer."""
        ...

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """What this thread was told since it last took it: digests of what was asked, and replies."""
        ...

    def close(self) -> None:
        """Let go of the model."""
        ...


class RepeatingClient:
    """Gives replies that were kept, and asks nobody."""

    def __init__(self, label: str, replies: tuple[tuple[str, str], ...]) -> None:
        self.label, self._replies = label, dict(replies)
        self.identity: dict[str, Json] = {}

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The reply. Raises ValueError where something else was asked then."""
        if (found := self._replies.get(_key(messages, nonce))) is None:
            raise ValueError("the model would be asked something that it was not asked then")
        return found

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """Nothing new."""
        return ()

    def close(self) -> None:
        """There is nothing to let go of."""


def _key(messages: tuple[Message, ...], nonce: int) -> str:
    return digest([identity(messages), nonce])


KIND = "build"
"""Where the prompts of our steps lie. Those of others lie beside the step's file, in `prompts/LANGUAGE/NAME.txt`."""

S = TypeVar("S", bound=Struct)


class Refused(Exception):
    """The step has nothing for this sample; the text says why."""


class Declined(Struct, forbid_unknown_fields=True):
    """What a model replies that cannot do what it is asked."""

    cannot: str


class Step(Protocol):
    """A step that does something with every sample. One public class a file under mmdyn/build/steps.

    Constructed with its settings and who is asked, None where the step asks no model. Used from several threads.
    """

    version: ClassVar[int]
    """Goes up where the step makes something else of the same sample."""

    asks: ClassVar[tuple[str, ...]]
    """The names of the prompts that it asks a model or shows; none where it asks no model. A set made with other texts
    of these is not gone on with."""

    Settings: ClassVar[type[Struct]]
    """Its options, each with a default; the docstring says what they are, as `name: text`."""

    def make(self, sample: Sample, draws: Draws) -> Iterable[Sample]:
        """The samples that are made of one; `draws` is keyed by it. The engine writes the trail into them.

        Raises Refused, and ValueError where a model did not say anything that can be used.
        """


class Sieve(Protocol):
    """A step that sees the whole set and takes samples out of it. One public class a file under mmdyn/build/steps.

    Constructed with its settings. It may have a `summary`, known once `refuse` was read, that set.json keeps under
    `made`; and a method `become` that makes rows of those that stay, as `write_without` takes it.
    """

    version: ClassVar[int]
    """Goes up where it takes others out of the same set."""

    Settings: ClassVar[type[Struct]]
    """Its options, as a Step has them."""

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of samples that are taken out, each with the reason."""


class Source(Protocol):
    """A step that makes a set of files. One public class a file under mmdyn/build/steps.

    Constructed with its settings.
    """

    version: ClassVar[int]
    """Goes up where it makes other samples of the same files."""

    Settings: ClassVar[type[Struct]]
    """Its options, as a Step has them."""

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """The samples of a file or folder; their pictures are put into `images`. Raises InputError."""


class Asked:
    """A model that a step asks for objects, in the language of what it works on; it sees the pictures of `folder`."""

    def __init__(self, client: Client, folder: ImageFolder, step: type[Step]) -> None:
        self._client, self._folder, self.label = client, folder, client.label
        self.close, self.take_replies = client.close, client.take_replies
        ours, self._names = step.__module__.startswith("mmdyn."), step.asks
        self._kind = KIND if ours else str(Path(getfile(step)).resolve().parent / "prompts")
        self.identity: Json = {"model": client.identity, "prompts": prompts_digest(self._kind, *step.asks)}
        """What of the model and the prompts decides replies."""

    def ask(
        self,
        name: str,
        language: Language,
        draws: Draws,
        data: dict[str, str],
        shape: type[S],
        read: Callable[[S], T],
        pictures: Sequence[ImageRef] = (),
        **places: str,
    ) -> T:
        """What `read` makes of an object of a `shape`, until it takes one.

        Args:
            name: The prompt's, one of those that the step names in `asks`.
            language: The prompt's.
            draws: Keys the request, so that another draw asks anew.
            data: What the model works on; it stands between marks that it cannot hold, being digests of it.
            shape: What the reply is.
            read: Raises ValueError, with what is wrong, for a reply that does not do.
            pictures: What it sees before the words.
            places: What else the prompt has places for.

        Raises:
            Refused: The model says that it cannot, or the step has no such prompt in this language.
            ValueError: No reply could be used. NotNow: It did not answer. KeyError: The step does not name the prompt.
        """
        marks = {"mark": f"=== {digest(data)} ==="} if data else {}
        if name not in self._names:
            raise KeyError(f"the step asks {name!r}: name it in its `asks`")
        try:
            prompt = filled(self._kind, name, language, **marks, **data, **places)
        except FileNotFoundError:
            raise Refused(f"the step has no prompt {language}/{name}.txt") from None

        def usable(text: str) -> T:
            reply = read_reply(text, (Declined, shape), "\n".join(data.values()))
            if isinstance(reply, Declined):
                raise _Declines(reply.cannot)
            assert isinstance(reply, shape)
            return read(reply)

        shown = (ImagePart(self._folder.path(ref), sha256(self._folder.read(ref))) for ref in pictures)
        message = Message("user", (*shown, TextPart(prompt)))
        try:
            return ask_and_wait(self._client, message, language, usable, draws.below(1 << 31))
        except _Declines as declined:
            raise Refused(f"{self.label} declines ({' '.join(str(declined).split())[:120]})") from None


class _Declines(Exception):
    """Leaves the loop of asking again, as no ValueError does."""
