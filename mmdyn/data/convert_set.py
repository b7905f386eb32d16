"""Any set (a benchmark's files, a hub set, a file of any format) -> a set folder or a file; and several sets joined."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mmdyn import plugins
from mmdyn.data.columns import VERSION_OF, OnColumns, OnFolder, PutFrom, is_foreign, read_table
from mmdyn.data.formats.parquet import put_picture
from mmdyn.data.images import ImageFolder, MissingPicture
from mmdyn.data.load_set import Format, Given, find_format, format_of, is_set, load, suffixes
from mmdyn.data.make_set import Incoming, from_set, made, place, write_set
from mmdyn.data.raw_rows import RawRow, read_raw_rows
from mmdyn.data.rows import KnowledgePoint, Row, bring_images, grouped_by_picture
from mmdyn.data.set_folder import REJECTED_FILE, SampleSet, scratch
from mmdyn.data.versions import write_versions
from mmdyn.errors import InputError, MissingExtra, UserError, did_you_mean, no_such_path
from mmdyn.keys import Json
from mmdyn.sample import ImageRef, Sample, from_dict

SURVEYED = 1000
"""Rows in which columns are found that no mapping names: a set of the hub may be large, and is streamed."""

TEXTS = (".csv", ".tsv", ".jsonl", ".json")


class HubSet(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a set on the Hugging Face hub, or a folder, and which part of it to read.

    split: None for the only split, or `test`, or `validation`.
    """

    name: str
    config: str | None = None
    split: str | None = None
    revision: str | None = None

    @staticmethod
    def parse(text: str) -> HubSet:
        """Read NAME[,config=…][,split=…][,revision=…].

        Raises:
            UserError: There is no name, or an option is unknown.

        >>> HubSet.parse("org/set,split=test")
        HubSet(name='org/set', config=None, split='test', revision=None)
        """
        name, *options = text.split(",")
        if not name.strip():
            raise UserError("hf: names no set: write hf:NAME, or hf: and a folder")
        try:
            return from_dict({"name": name, **dict(option.split("=", 1) for option in options)}, HubSet)
        except ValueError as error:
            raise UserError(f"hf:{text} cannot be read ({error}): write hf:NAME,config=…,split=…") from None

    def read(
        self,
        columns: Mapping[str, str],
        images: ImageFolder,
        on_columns: OnColumns = lambda found: None,
        *,
        name: str | None = None,
        pictures: Path | None = None,
        on_folder: OnFolder = lambda folder: None,
    ) -> Iterator[Row]:
        """Stream the samples; a row's line is its number, from 1. No code of the set is executed.

        Args:
            columns: Which column is `question`, `answer`, `options`, … (KEYS); `language` and `task_type` may be values
                themselves (`zh`). Columns that are not mapped are found in the first 1,000 rows.
            images: Where pictures are stored.
            on_columns: Called with the meaning found for each column.
            name: What ids begin with that no column has; by default the hub set's name.
            pictures: The folder of pictures that a column names; by default the set's.
            on_folder: Called with the folder of the pictures where it was found.

        Raises:
            InputError: The set or a column does not exist.
            UserError: The mapping has an unknown key.
            MissingExtra: `datasets` is not installed.
        """
        put, folder = _put_into(images), pictures or Path(self.name)
        name = name or Path(self.name).resolve().name
        return read_table(self._rows, columns, f"hf:{self.name}", name, put, folder, on_columns, on_folder, SURVEYED)

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


def _put_into(images: ImageFolder) -> PutFrom:
    def put(value: Any, folder: Path) -> ImageRef:
        try:
            return put_picture(value, folder, images)
        except MissingPicture as error:
            raise ValueError(f"{error}, or name the folder of the pictures by --images") from None

    return put


REJECTED = ".rejected.jsonl"
"""The ending of the list of bad rows that lies beside a file."""
HUB, TSV = NAMED_SETS = ("hf:", "vlmeval:")
"""What stands before the name of a set of the Hugging Face hub, and of a TSV of VLMEvalKit."""


def convert(
    source: Path | None,
    out: Path,
    *,
    benchmark: str | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    keep_files: bool = False,
    pictures: Path | None = None,
    group_by_picture: bool = False,
    published: str = "",
    force: bool = False,
    on_row: Callable[[Row], object] = lambda row: None,
    on_columns: OnColumns = lambda found: None,
    on_folder: OnFolder = lambda folder: None,
) -> SampleSet:
    """Write `source` as a set folder, or in another format where `out` has a format's ending; return it as a set.

    A set folder made of the same source in the same way is opened as it is. A file is compared by its own bytes, not by
    those of pictures that it names.

    Args:
        source: A benchmark's file or folder, a set folder, or a file of a format; None for a set that is named.
        out: The set folder or file to write.
        benchmark: The loader of a benchmark's own files, or a set by name: `hf:NAME_OR_FOLDER` with options (HubSet),
            or `vlmeval:NAME`.
        format: The format of a file whose ending does not name it.
        columns: For `hf:` and other tables, the meaning of columns (`HubSet.read`).
        name: The set's name; by default that of the folder.
        skip_bad: Omit bad rows and list them in `rejected.jsonl` (beside a file: `<name>.rejected.jsonl`).
        limit: The largest number of samples to read.
        keep_files: Keep picture files as they are, instead of bringing them into normal form.
        pictures: The folder of the pictures that such a table names; by default that of the file, or the one folder in
            it that has all of them.
        group_by_picture: Give samples that show the same picture one group.
        published: Where `columns` maps `version_of`: NAME=VALUE of the versions that were published; by default the
            first of each question. The others become a set of variants (`mmdyn.data.versions.write_versions`).
        force: Overwrite an existing file.
        on_row: Called with every row that is read.
        on_columns: Called with the meaning found for each column of such a table.
        on_folder: Called with the folder of its pictures where it was found.

    Raises:
        InputError: Rows are bad; the message counts them by reason.
        UserError: `out` cannot be written, or its format cannot hold a sample.
    """
    source, benchmark, format = _find(source, benchmark, format, mapped=bool(columns))
    if source.resolve() == out.resolve():
        raise UserError(f"{out} is the source itself: choose another place to write to")

    def fill(folder: Path, named: str, how: dict[str, Json]) -> SampleSet:
        images = ImageFolder(folder, keep_files=keep_files)
        incoming = _open(source, images, benchmark, format, columns or {}, on_columns, on_folder, name, pictures)
        if group_by_picture:
            incoming = replace(incoming, rows=grouped_by_picture(incoming.rows))
        return write_set(incoming, named, how, skip_bad=skip_bad, limit=limit, on_row=on_row)

    _check_out(out, force=force, skip_bad=skip_bad)
    versions = VERSION_OF in (columns or {})
    if published and not versions:
        raise UserError(f"--published is for versions: say which column names their question, --map {VERSION_OF}=…")
    if versions and out.suffix.lower() in suffixes():
        raise UserError(f"{out} cannot hold versions, only a set folder can: leave the ending {out.suffix} out")
    if versions and skip_bad and not published:
        raise UserError("--skip-bad may leave out the version that was published: name it by --published NAME=VALUE")
    if out.suffix.lower() in suffixes() and not out.is_dir():
        whole = is_set(source) and limit is None and not (benchmark or skip_bad or group_by_picture)
        whole = whole and (keep_files or SampleSet(source).images.form.normal)
        samples = SampleSet(source) if whole else fill(scratch(source.stem), name or source.stem, {})
        return _write_file(samples, out, skip_bad=skip_bad)
    more: dict[str, Json] = {"keep_files": keep_files} | ({"columns": dict(columns)} if columns else {})
    more |= {"pictures": str(pictures)} if pictures else {}
    more |= {"group_by_picture": True} if group_by_picture else {}
    more |= {"published": published} if published else {}
    said = benchmark.replace(str(source), source.name) if benchmark and source.is_dir() else benchmark
    how = made("mmdyn data convert", source, benchmark=said, format=format, limit=limit, name=name, **more)
    named = name or out.resolve().name
    if versions:
        return write_versions(lambda: fill(scratch(named), named, how), out, named, how, published)
    with place(out, how) as done:
        return done if done is not None else fill(out, named, how)


def _write_file(samples: SampleSet, out: Path, *, skip_bad: bool) -> SampleSet:
    format_of(out).write(samples, out)
    if skip_bad and (rejected := samples.folder / REJECTED_FILE).is_file():
        out.with_suffix(REJECTED).write_bytes(rejected.read_bytes())
    return samples


def _check_out(out: Path, *, force: bool, skip_bad: bool) -> None:
    ending = out.suffix.lower()
    if ending not in suffixes() and re.fullmatch(r"\.[a-z]{2,5}", ending) and not out.exists():
        raise UserError(
            f"{out}: {ending} is no format ({', '.join(suffixes())} are): leave the ending out for a set folder"
        )
    rejected = [out.with_suffix(REJECTED)] if skip_bad and ending in suffixes() else []
    for file in (out, *rejected):
        if file.is_file() and not force:
            raise UserError(f"{file} is there already: choose another name, or give --force")


def _find(
    source: Path | None, benchmark: str | None, format: str | None, *, mapped: bool
) -> tuple[Path, str | None, str | None]:
    """Where it lies, its loader and its format. Raises InputError, and UserError where no columns can be mapped."""
    if mapped and not (benchmark or "").startswith(HUB) and (benchmark or format or (source and source.is_dir())):
        raise UserError(f"a mapping of columns is for {HUB}NAME or a table of columns of its own: leave it out")
    if benchmark and benchmark.startswith(TSV):
        return find_tsv(benchmark.removeprefix(TSV)), None, "tsv"
    if benchmark and benchmark.startswith(HUB):
        return Path(HubSet.parse(benchmark.removeprefix(HUB)).name), benchmark, None
    if source is None or not source.exists():
        raise no_such_path(source or "SOURCE")
    return source, benchmark, format


def find_tsv(name: str) -> Path:
    """Find NAME.tsv in $LMUData, or else in ~/LMUData, the folder of VLMEvalKit.

    Raises:
        InputError: There is no such file.
    """
    named = Path(os.environ.get("LMUData") or "/nowhere")  # noqa: SIM112 - its name
    folder = named if named.exists() else Path.home() / "LMUData"
    file = folder / f"{name}.tsv"
    if not file.is_file():
        hint = did_you_mean(name, [path.stem for path in folder.glob("*.tsv")])
        fetch = f"python -c \"from vlmeval.dataset import build_dataset; build_dataset('{name}')\""
        told = f"no such file{hint}: put the TSV of {name} there, or fetch it with an installed VLMEvalKit: {fetch}"
        raise InputError(file, None, told)
    return file


def _open(
    source: Path,
    images: ImageFolder,
    benchmark: str | None,
    format: str | None,
    columns: Mapping[str, str],
    on_columns: OnColumns,
    on_folder: OnFolder,
    name: str | None,
    pictures: Path | None,
) -> Incoming:
    if benchmark and benchmark.startswith(HUB):
        hub = HubSet.parse(benchmark.removeprefix(HUB))
        return Incoming(
            hub.read(columns, images, on_columns, name=name, pictures=pictures, on_folder=on_folder), images
        )
    if columns or not (benchmark or format or is_set(source) or not is_foreign(source)):
        folder = pictures or source.parent
        put, named = _put_into(images), name or source.stem
        rows = read_table(lambda: read_raw_rows(source), columns, source, named, put, folder, on_columns, on_folder)
        return Incoming(rows, images)
    if pictures:
        raise UserError(f"--images names the pictures of {HUB}NAME or a table of columns of its own: leave it out")
    if benchmark:
        loader = plugins.load("benchmarks", benchmark)()
        return Incoming(loader.read(source, images), images, loader.knowledge(source))
    if is_set(source):
        return from_set(SampleSet(source), images, normal=True)
    reader: Format = plugins.load("formats", format)() if format else find_format(source)
    return Incoming(reader.read(source, images), images)


def join(sets: Sequence[Given], out: Path, name: str | None = None) -> SampleSet:
    """Write the samples of several sets into a new set, one set after the other; the same join made before is opened.

    An id or a group that several sets have gets its set's name as a prefix (`exam/q1`), also where a false statement
    names a true one as its pair. Pictures and texts of knowledge
    points are copied; dropped samples are not.

    Args:
        sets: Two or more sets.
        out: The new set's folder.
        name: Its name; by default that of the folder.

    Raises:
        UserError: There are fewer than two sets, two sets of one name, a set of variants, or two texts of one knowledge
            point.
    """
    opened = [load(given) for given in sets]
    if len(opened) < 2:
        raise UserError("one set is nothing to join: give two or more")
    for one in opened:
        if one.manifest.parent:
            raise UserError(
                f"{one.folder} is a set of variants: join the sets that they were made of, and perturb that"
            )
        if twice := next((other for other in opened if other is not one and other.name == one.name), None):
            raise UserError(
                f"{one.folder} and {twice.folder} are both called {one.name}: `mmdyn data convert --name` gives one of"
                " them another name"
            )
    sources: list[Json] = [{"name": one.name, "digest": one.manifest.digest} for one in opened]
    how: dict[str, Json] = {"command": "mmdyn data join", "name": name, "sources": sources, "version": version("mmdyn")}
    known = _knowledge(opened)
    with place(out, how) as done:
        if done is not None:
            return done
        images = ImageFolder(out)
        return write_set(Incoming(_rows(opened, images), images, known), name or out.resolve().name, how)


def _rows(opened: Sequence[SampleSet], images: ImageFolder) -> Iterator[Row]:
    """Their rows. An id of one set may be a group of another, or be named as a pair there, so that all are looked at
    together."""
    names = ({name for sample in one for name in _names(sample)} for one in opened)
    sets = Counter(chain.from_iterable(names))
    for one in opened:
        for row in one.rows():
            yield Row.build(row.file, row.line, _apart, row.sample, one, images, sets) if row.sample else row


def _names(sample: Sample) -> list[str]:
    return [name for name in (sample.id, sample.group, sample.meta.get("pair")) if isinstance(name, str)]


def _apart(sample: Sample, source: SampleSet, images: ImageFolder, sets: Counter[str]) -> Sample:
    """The sample with its pictures, and with the set's name before an id, group or pair that other sets have too.
    Raises ValueError where a picture cannot be read, or what comes of it is taken."""

    def named(name: str) -> str:
        apart = f"{source.name}/{name}" if sets[name] > 1 else name
        if apart != name and sets[apart]:
            raise ValueError(f"{apart!r} is another's id or group: `mmdyn data convert --name` names the set otherwise")
        return apart

    moved, pair = bring_images(sample, source.images, images), sample.meta.get("pair")
    meta = sample.meta | ({"pair": named(pair)} if isinstance(pair, str) else {})
    return replace(moved, id=named(sample.id), group=sample.group and named(sample.group), meta=meta)


def _knowledge(opened: Sequence[SampleSet]) -> list[KnowledgePoint]:
    """All points, each with the one text that a set has for it. Raises UserError where two have different ones."""
    texts, routes = dict[str, tuple[str, SampleSet]](), dict[tuple[str, tuple[str, ...]], None]()
    for one in opened:
        for point in one.knowledge():
            text, first = texts.setdefault(point.point, (point.text, one)) if point.text else ("", one)
            if text != point.text:
                raise UserError(
                    f"{first.folder} and {one.folder} have different texts for the knowledge point {point.point!r}:"
                    " make them equal in one's knowledge.jsonl"
                )
            routes[point.point, point.route] = None
    return [KnowledgePoint(point, texts[point][0] if point in texts else "", route) for point, route in routes]
