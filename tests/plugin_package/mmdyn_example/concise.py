"""A step of building in a package of its own."""

from collections.abc import Iterator

from msgspec import Struct

from mmdyn.data import SampleSet


class _Settings(Struct, frozen=True):
    """What is too long.

    words: A question has so many at most.
    """

    words: int = 40


class Concise:
    """Take out long questions.

    \b
    mmdyn build concise mmdyn-demo/set -o short
    """

    version = 1
    Settings = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._words = settings.words

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of questions that are too long."""
        for sample in source:
            if (words := len(sample.question.split())) > self._words:
                yield sample.id, f"it has {words} words"
