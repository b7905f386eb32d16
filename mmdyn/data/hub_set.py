"""Any set of the Hugging Face hub, or a folder of one, read through `datasets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from mmdyn.data.columns import check_columns, pick_columns, sample_of_columns
from mmdyn.data.formats.parquet import put_picture
from mmdyn.data.images import ImageFolder
from mmdyn.data.rows import Row
from mmdyn.errors import InputError, MissingExtra, UserError
from mmdyn.sample import from_dict


class HubSet(Struct, frozen=True, forbid_unknown_fields=True):
    """A set's name on the hub, or a folder, and what of it; without a split its only one, test or validation."""

    name: str
    config: str | None = None
    split: str | None = None
    revision: str | None = None

    @staticmethod
    def parse(text: str) -> HubSet:
        """Read NAME[,config=…][,split=…][,revision=…]. Raises UserError."""
        name, *options = text.split(",")
        if not name.strip():
            raise UserError("hf: names no set: write hf:NAME, or hf: and a folder")
        try:
            return from_dict({"name": name, **dict(option.split("=", 1) for option in options)}, HubSet)
        except ValueError as error:
            raise UserError(f"hf:{text} cannot be read ({error}): write hf:NAME,config=…,split=…") from None

    def read(self, columns: Mapping[str, str], images: ImageFolder) -> Iterator[Row]:
        """Stream the samples; a row's line is its number, from 1. Nothing that the set brings is executed.

        `columns`: which column is `question`, `answer`, `answer_index`, `answer_text`, `answer_letter`, `options`,
        `image`, `id`, `language`, `task_type`, `explanation`, `group`, `knowledge` or `field.NAME`; `language` and
        `task_type` may be given themselves (`zh`). Raises InputError for a set or a column that is not there, UserError
        for another key, MissingExtra.
        """
        put = partial(put_picture, folder=Path(self.name), images=images)
        for number, values in enumerate(self._rows(), 1):
            if number == 1:
                check_columns(columns, values)
            given = pick_columns(columns, values, f"hf:{self.name}")
            yield Row.build(
                f"hf:{self.name}", number, sample_of_columns, given, Path(self.name).resolve().name, number, put
            )

    def _rows(self) -> Iterator[dict[str, Any]]:
        """The rows with class labels by name; pictures are `{"bytes": …, "path": …}`."""
        try:
            from datasets import load_dataset
        except ImportError:
            raise MissingExtra("datasets", "hf") from None
        try:
            name = str(Path(self.name).resolve()) if Path(self.name).is_dir() else self.name
            parts = load_dataset(name, self.config, revision=self.revision, streaming=True)
            usual = [*parts] if len(parts) == 1 else ["test", "validation"]
            split = self.split or next((name for name in usual if name in parts), "")
            if split not in parts:
                raise ValueError(f"its splits are {', '.join(map(str, parts))}: name one, hf:{self.name},split=…")
            rows = parts[split].decode(False) if parts[split].features else parts[split]
            named = {name: kind.names for name, kind in (rows.features or {}).items() if hasattr(kind, "names")}
            for row in rows:
                yield row | {name: names[row[name]] for name, names in named.items() if row[name] in range(len(names))}
        except Exception as error:  # of any kind: it is a foreign library, and foreign data
            told = " ".join(str(error).split())[:300]
            raise InputError(f"hf:{self.name}", None, f"cannot be read: {told}") from None
