"""questions.jsonl with its drawings -> a set folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from mmdyn.data import KnowledgePoint, SampleSet, SetWriter
from mmdyn.demo.drawings import draw
from mmdyn.sample import Sample


def make_demo(folder: Path) -> SampleSet:
    """Write the demo's set into a new folder and open it; one that is there already is opened as it is."""
    if not (folder / "set.json").is_file():
        with SetWriter(folder, "demo", made={"command": "mmdyn demo"}) as writer:
            for line in _lines("questions.jsonl"):
                drawing = line["drawing"]
                images = [writer.images.put(draw(**drawing))] if drawing else []
                writer.add(msgspec.convert({**line["sample"], "images": images}, type=Sample))
            for line in _lines("knowledge.jsonl"):
                writer.know(msgspec.convert(line, type=KnowledgePoint))
    return SampleSet(folder)


def _lines(name: str) -> Iterator[dict[str, Any]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return (msgspec.json.decode(line) for line in text.splitlines())
