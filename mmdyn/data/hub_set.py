"""Any set of the Hugging Face hub, or a folder of one, read through `datasets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct

from mmdyn.data.find_columns import OnColumns, read_table
from mmdyn.data.formats.parquet import put_picture
from mmdyn.data.images import ImageFolder
from mmdyn.data.raw_rows import RawRow, read_raw_rows
from mmdyn.data.rows import Row
from mmdyn.errors import InputError, MissingExtra, UserError
from mmdyn.sample import from_dict

SURVEYED = 1000
"""Rows in which columns are found that no mapping names: a set of the hub may be large, and is streamed."""

TEXTS = (".csv", ".tsv", ".jsonl", ".json")


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

    def read(
        self, columns: Mapping[str, str], images: ImageFolder, on_columns: OnColumns = lambda found: None
    ) -> Iterator[Row]:
        """Stream the samples; a row's line is its number, from 1. Nothing that the set brings is executed.

        `columns`: which column is `question`, `answer`, `options`, … (KEYS); `language` and `task_type` may be given
        themselves (`zh`); what it does not say is found in the first 1,000 rows. Raises InputError for a set or a
        column that is not there, UserError for another key, MissingExtra.
        """
        put = partial(put_picture, folder=Path(self.name), images=images)
        name = Path(self.name).resolve().name
        return read_table(self._rows, columns, f"hf:{self.name}", name, put, on_columns, SURVEYED)

    def _rows(self) -> Iterator[RawRow]:
        """The rows with class labels by name; pictures are `{"bytes": …, "path": …}`. Texts are read here, because
        `datasets` makes numbers of `007` and nothing of `NA`."""
        try:
            from datasets import DownloadManager, Features, load_dataset_builder
        except ImportError:
            raise MissingExtra("datasets", "hf") from None
        try:
            name = str(Path(self.name).resolve()) if Path(self.name).is_dir() else self.name
            builder = load_dataset_builder(name, self.config, revision=self.revision)
            files = builder.config.data_files or {}
            parts = builder.as_streaming_dataset()
            usual = [*parts] if len(parts) == 1 else ["test", "validation"]
            split = self.split or next((name for name in usual if name in parts), "")
            if split not in parts:
                raise ValueError(f"its splits are {', '.join(map(str, parts))}: name one, hf:{self.name},split=…")
            texts = [str(file) for file in files.get(split, ()) if str(file).lower().endswith(TEXTS)]
            if texts and len(texts) == len(files[split]):
                manager = DownloadManager()
                for file in texts:
                    yield from read_raw_rows(Path(manager.download(file)))
                return
            kinds = parts[split].features or {}
            coded = {name: Features({name: kind}) for name, kind in kinds.items() if "Json(" in repr(kind)}
            rows = parts[split].decode(False) if kinds else parts[split]
            for number, row in enumerate(rows, 1):
                decoded = {name: kind.decode_example({name: row[name]})[name] for name, kind in coded.items()}
                labels = {
                    name: kind.names[row[name]]
                    for name, kind in kinds.items()
                    if hasattr(kind, "names") and row[name] in range(len(kind.names))
                }
                yield RawRow(Path(self.name), number, row | decoded | labels)
        except Exception as error:  # of any kind: it is a foreign library, and foreign data
            told = " ".join(str(error).split())[:300]
            raise InputError(f"hf:{self.name}", None, f"cannot be read: {told}") from None
