"""JSON Lines: a sample a line, as in a set folder's samples.jsonl, with pictures by path or as data: URLs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mmdyn.data.files import check_text_file, decode_line, new_file, numbered_lines
from mmdyn.data.images import ImageFolder, from_base64, read_inside
from mmdyn.data.rows import Row, bring_images
from mmdyn.data.set_folder import SampleSet
from mmdyn.keys import canonical
from mmdyn.sample import ImageRef, Sample, from_dict, nan_in


class Jsonl:
    """A sample a line; a picture is a path relative to the file's folder, or a data: URL. null is as good as no key."""

    suffixes = (".jsonl", ".ndjson")

    def read(self, path: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the lines. Raises InputError where the file is no UTF-8 text."""
        check_text_file(path)
        for number, line in numbered_lines(path):
            yield Row.build(path, number, sample_of_line, line, path.parent, images)

    def write(self, source: SampleSet, path: Path) -> None:
        """Stream a set; pictures go into `images/` beside the file, named by their bytes. Raises UserError."""
        images = ImageFolder(path.parent)
        with new_file(path) as file:
            for sample in source.map(lambda sample: bring_images(sample, source.images, images)):
                file.write(canonical(sample) + b"\n")


def sample_of_line(line: bytes, folder: Path, images: ImageFolder) -> Sample:
    """The sample of a line, its pictures brought from `folder` into `images`. Raises ValueError."""
    text = decode_line(line)
    try:
        value = msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"not valid JSON ({error}){nan_in(text) or ': write one sample a line'}") from None
    if not isinstance(value, dict):
        raise ValueError('the line is no JSON object: write one sample a line, {"id": …, "question": …}')
    value = {key: given for key, given in value.items() if given is not None}
    for holder in (value, *_dicts(value.get("options"))):
        _bring(holder, folder, images)
    return from_dict(value, Sample)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _bring(holder: dict[str, Any], folder: Path, images: ImageFolder) -> None:
    """Put the pictures that a sample or an option names into the folder; what is no string is left to the sample's
    check."""
    given, name = holder.get("images"), holder.get("image")
    if isinstance(given, list):
        holder["images"] = [_put(item, folder, images) if isinstance(item, str) else item for item in given]
    if isinstance(name, str):
        holder["image"] = _put(name, folder, images)


def _put(name: str, folder: Path, images: ImageFolder) -> ImageRef:
    return images.put(from_base64(name) if name.startswith("data:") else read_inside(folder, name))
