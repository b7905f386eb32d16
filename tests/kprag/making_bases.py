"""What the tests of retrieval make: taxonomies, questions with explanations, and vectors without a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kprag import Node, Taxonomy, read_taxonomy
from kprag.retrieval.lexical import words
from kprag.retrieval.vectors import KeptVectors
from making import choice
from mmdyn.keys import digest
from mmdyn.sample import Sample


class WordVectors:
    """Stands for an embedding model: a text is the sum of its words' directions, so that shared words are near.

    `told` lists what was embedded, call by call.
    """

    def __init__(self, name: str = "words", dimensions: int = 64) -> None:
        self.name, self.identity, self._dimensions = name, digest(name), dimensions
        self.told: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Float32 of shape (texts, dimensions), rows of length 1."""
        self.told.append(list(texts))
        rows = np.array([self._row(text) for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _row(self, text: str) -> np.ndarray:
        row = np.full(self._dimensions, 1e-3)
        for word in words(text):
            row[int(digest(word), 16) % self._dimensions] += 1
        return row


def kept(folder: Path, model: WordVectors | None = None) -> KeptVectors:
    """Vectors of such a model, kept in a folder."""
    return KeptVectors(model or WordVectors(), folder)  # type: ignore[arg-type]


def tree(*nodes: Node | str) -> Taxonomy:
    """A taxonomy of nodes; a text stands for a point without a description."""
    placed: Iterable[Node] = (Node(one, one) if isinstance(one, str) else one for one in nodes)
    return Taxonomy((node, "base.jsonl", line) for line, node in enumerate(placed, 1))


SHAPES = (
    Node("tri", "Area of Triangles", description="Half the base times the height."),
    Node("circ", "Circumference of Circles", description="Twice pi times the radius; a diameter is two radii."),
    Node("面积", "三角形的面积", description="底乘以高再除以二。", language="zh"),
    Node("cube", "Volume of Cubes", description="The edge three times as a factor."),
)


def from_routes(routes: Sequence[str], *, join: bool = False) -> Taxonomy:
    """The taxonomy of a file of routes."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "routes.txt"
        file.write_text("\n".join(routes), encoding="utf-8")
        return read_taxonomy(file, join=join)


def exam(count: int = 250) -> list[Sample]:
    """Each question shares a word with its own explanation alone, and with nothing else in the base."""
    words = [chr(97 + n // 26) * 3 + chr(97 + n % 26) * 3 for n in range(count)]
    return [
        choice(f"s{n}", question=f"Which {word}?", explanation=f"It is {word}.", knowledge_points=(f"point {n % 50}",), texts=("1", "2"))
        for n, word in enumerate(words)
    ]  # fmt: skip
