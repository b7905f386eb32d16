"""Steps of building: what a step is (a sample in; samples, or a reason why not, out), its draws, and its model."""

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
    """Random numbers and choices, keyed by an identity: equal identities draw alike.

    >>> Draws("demo", 1).shuffled("abc") == Draws("demo", 1).shuffled("abc")
    True
    """

    def __init__(self, *identity: str | int) -> None:
        self._stream, self._numbers = stream(*identity), list[float]()

    def below(self, count: int) -> int:
        """A number from 0 to count - 1, each with equal probability."""
        if not self._numbers:
            self._numbers = self._stream.random(_MANY).tolist()
        return int(self._numbers.pop() * count)

    def one(self, items: Sequence[T]) -> T:
        """One of the items, each with equal probability."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order."""
        left = list(items)
        for place in range(len(left) - 1, 0, -1):
            other = self.below(place + 1)
            left[place], left[other] = left[other], left[place]
        return left


class NotingClient(SyncModelClient):
    """A model for threads that records its replies, thread by thread."""

    def __init__(self, model: str, concurrency: int, budget: Budget | None, caches: Caches) -> None:
        super().__init__(model, concurrency, budget=budget, caches=caches)
        self._noted = threading.local()

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """Return the text of one reply. Raises what `SyncModelClient.ask` raises."""
        text = super().ask(messages, nonce)
        self._noted.replies = (*self._replies, (_key(messages, nonce), text))
        return text

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """Return this thread's new replies, each with the digest of its request, and forget them."""
        taken, self._noted.replies = self._replies, ()
        return taken

    @property
    def _replies(self) -> tuple[tuple[str, str], ...]:
        found: tuple[tuple[str, str], ...] = getattr(self._noted, "replies", ())
        return found


class Client(Protocol):
    """A model that several threads may ask."""

    label: str
    identity: dict[str, Json]

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """Return the text of one reply."""
        ...

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """Return this thread's new replies, each with the digest of its request, and forget them."""
        ...

    def close(self) -> None:
        """Close the model."""
        ...


class RepeatingClient:
    """Repeats recorded replies; sends no request."""

    def __init__(self, label: str, replies: tuple[tuple[str, str], ...]) -> None:
        self.label, self._replies = label, dict(replies)
        self.identity: dict[str, Json] = {}

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """Return the recorded reply. Raises ValueError where no such request was recorded."""
        if (found := self._replies.get(_key(messages, nonce))) is None:
            raise ValueError("the model would be asked something that it was not asked then")
        return found

    def take_replies(self) -> tuple[tuple[str, str], ...]:
        """No new replies."""
        return ()

    def close(self) -> None:
        """Nothing to close."""


def _key(messages: tuple[Message, ...], nonce: int) -> str:
    return digest([identity(messages), nonce])


KIND = "build"
"""The folder of the prompts of mmdyn's steps. Another package's step has its own in `prompts/LANGUAGE/NAME.txt` beside
its file."""

S = TypeVar("S", bound=Struct)


class Refused(Exception):
    """The step makes nothing of this sample; the text says why."""


class Declined(Struct, forbid_unknown_fields=True):
    """The reply of a model that cannot do what the prompt asks."""

    cannot: str


class Step(Protocol):
    """A step that makes samples of each sample. Each file in mmdyn/build/steps has one public class.

    It is made of its settings and an Asked, None where the step needs no model. Several threads may use it. The class's
    docstring is the help of its command; an example stands in it behind a line `\\b`, which keeps its lines apart.
    """

    version: ClassVar[int]
    """Goes up where the step makes something else of the same sample."""

    asks: ClassVar[tuple[str, ...]]
    """The names of the prompts that the step uses; empty for a step without a model. A set begun with other texts of
    these prompts is not continued."""

    Settings: ClassVar[type[Struct]]
    """Its options, each with a default; the docstring documents them as `name: text`."""

    def make(self, sample: Sample, draws: Draws) -> Iterable[Sample]:
        """Return the samples made of one; `draws` is keyed by it. The engine adds the trail to them.

        Raises:
            Refused: The step makes nothing of this sample.
            ValueError: The model gave no usable reply.
        """


class Sieve(Protocol):
    """A step that sees the whole set and removes samples. Each file in mmdyn/build/steps has one public class.

    It is made of its settings. It may have a `summary`, complete once `refuse` is exhausted, which set.json keeps under
    `made`, and a method `become` that makes rows of the samples that stay, as `write_without` takes it.
    """

    version: ClassVar[int]
    """Goes up where the step removes other samples of the same set."""

    Settings: ClassVar[type[Struct]]
    """Its options, as a Step has them."""

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """Yield the ids of the samples to remove, each with the reason."""


class Source(Protocol):
    """A step that makes a set of files, from its settings. Each file in mmdyn/build/steps has one public class."""

    version: ClassVar[int]
    """Goes up where it makes other samples of the same files."""

    Settings: ClassVar[type[Struct]]
    """Its options, as a Step has them."""

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Yield the samples of a file or folder, and put their pictures into `images`.

        Raises:
            InputError: The file or folder cannot be read.
        """


class Asked:
    """The model of a step, whose replies are objects; it sees the pictures of `folder`."""

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
        """Send a prompt until the model replies with an object that `read` accepts; return what `read` makes of it.

        Args:
            name: The prompt, one of the step's `asks`.
            draws: Keys the request, so that another draw sends it anew.
            data: What the model works on, by its place in the prompt; it stands between marks that the data cannot
                contain.
            shape: The Struct of the reply.
            read: Turns the object into the result; raises ValueError, which tells the model what is wrong.
            pictures: Pictures to show before the prompt.
            places: Further places of the prompt and their texts.

        Raises:
            Refused: The model declines, or the step has no such prompt in this language.
            NotNow, ValueError: The model did not answer; no reply was usable.
            KeyError: The step's `asks` does not have the prompt.
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
