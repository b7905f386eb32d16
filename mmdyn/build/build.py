"""Runs a step of building on a set, and replays a built set with the replies that it was built with."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NewType

from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict, fields, replace

from mmdyn import plugins
from mmdyn.build.step import Asked, Draws, NotingClient, Refused, RepeatingClient, Step
from mmdyn.data import (
    DRAWN,
    WORK,
    Dropped,
    ImageFolder,
    Replies,
    Row,
    SampleSet,
    SetDigest,
    fingerprint,
    load,
    made as made_of,
    replace_images,
    stage_counts,
    write_rows,
    write_without,
)
from mmdyn.errors import InputError, NotNow, UserError, no_such_path
from mmdyn.keys import Json, canonical
from mmdyn.models import Budget, CacheChoice, Caches
from mmdyn.sample import Sample
from mmdyn.work import Outcome, ProgressBar, RunFolder, SetStep, make_set, open_source

File = NewType("File", str)
"""The type of a setting that names a file or folder."""
Files = NewType("Files", str)
"""The type of a setting that names files or folders, with commas between."""
Runs = NewType("Runs", str)
"""The type of a setting that names folders that `mmdyn eval` made, with commas between."""


def listed(setting: Files | Runs) -> list[str]:
    """Split a setting into the paths that it names.

    >>> listed(Files("a.txt, b/c"))
    ['a.txt', 'b/c']
    """
    return [path.strip() for path in setting.split(",") if path.strip()]


def fingerprints(settings: Struct) -> dict[str, Json]:
    """Fingerprint the files and runs that settings name, by setting.

    Raises:
        InputError: A file or run does not exist.
    """
    found = dict[str, Json]()
    for field in fields(settings):
        if (value := getattr(settings, field.name)) and field.type in (File, Files, Runs):
            paths = [value] if field.type is File else listed(value)
            found[field.name] = [(_of_run if field.type is Runs else _of_file)(Path(path)) for path in paths]
    return found


def _of_file(path: Path) -> Json:
    if not path.exists():
        raise InputError(path, None, "no such file or folder: check the path")
    return fingerprint(path)


def _of_run(path: Path) -> Json:
    """A run by its records and their scores, in whatever order."""
    run, digest, count = RunFolder(path), SetDigest(), 0
    for record in run.records():
        digest.add(canonical(record))
        count += 1
    return {"name": run.name, "records": count, "sha256": digest.hex()}


COMMAND = "mmdyn build"


def build(
    step: str,
    source: SampleSet | str | Path,
    out: str | Path,
    settings: Struct | None = None,
    *,
    model: str = "",
    seed: int = 0,
    workers: int = 1,
    concurrency: int = 32,
    limit: int | None = None,
    name: str | None = None,
    budget: Budget | None = None,
    cache: CacheChoice | None = None,
    skip_bad: bool = False,
    quiet: bool = False,
) -> SampleSet:
    """Apply a step to the samples of a set, and open the new set in `out`.

    The same call continues work that was stopped, and sends failed requests again. dropped.jsonl lists refused samples,
    replies.jsonl the model's replies, and a sample's meta["built"] the steps that made it.

    Args:
        step, settings: A step's name (`mmdyn list steps`); its Settings, the defaults if None.
        source: An open set, a set's folder, or a file of any format.
        model: A MODEL, for a step that needs one.
        workers, concurrency: Processes for a step without a model; requests in flight for one with a model.
        limit: Only the first so many samples; not for a step that sees the whole set, or reads files.
        budget, cache: Limits on requests and cost; where replies are cached, as in `Caches`.

    Raises:
        UserError: There is no such step, a setting does not fit or differs from those in `out`, or a model is missing.
        Busy, Stopped: Another process works in `out`; the budget is spent.
    """
    kind, out = plugins.load("steps", step), Path(out)
    step, settings, name = plugins.resolve("steps", step), settings or kind.Settings(), name or out.resolve().name
    read, made = fingerprints(settings), {"settings": asdict(settings), "version_of_step": kind.version}
    made |= {"read": read} if read else {}
    _check_taken(kind, step, model, limit)
    if hasattr(kind, "read"):
        path, images = Path(str(source)), ImageFolder(out)
        reader = kind(settings)
        rows = read_files(reader, path, images)
        how = made_of(f"{COMMAND} {step}", path, **made, **_summary_of(reader))
        with ProgressBar(step, quiet=quiet) as bar:
            read_set = write_rows(bar.count(rows), images, name, how, skip_bad=skip_bad)
        shutil.rmtree(out / DRAWN, ignore_errors=True)
        return read_set
    made["command"] = f"{COMMAND} {step}"
    opened = (load if hasattr(kind, "refuse") else partial(open_source, out=out))(source, skip_bad=skip_bad)
    if opened.manifest.parent:
        raise UserError(f"{opened.folder} is a set of variants: give the set that it was made of")
    if hasattr(kind, "refuse"):
        return _sieved(kind(settings), opened, out, name, made, quiet=quiet)
    call = StepCall(step, kind, settings, model, seed, concurrency, budget, cache)
    made |= {"seed": seed, "model": call.identity()}
    work = SetStep(step, made, concurrency if model else 0, partial(_prepare, call), dynamic=False)
    return make_set(work, opened, out, name=name, limit=limit, workers=workers, quiet=quiet)


def _check_taken(kind: Any, step: str, model: str, limit: int | None) -> None:
    """Raises UserError for a model or a limit where the step takes none, or for no model where it asks one."""
    if not hasattr(kind, "make"):
        if model or limit is not None:
            raise UserError(
                f"{step} takes all at once and asks no model: leave {'--model' if model else '--limit'} out"
            )
    elif bool(kind.asks) == (not model):
        raise UserError(f"{step} {'asks a model: give --model' if kind.asks else 'asks no model: leave --model out'}")


class StepCall(Struct, frozen=True):
    """A step with its settings, from which a worker process makes a StepMaker."""

    name: str
    kind: type[Any]
    settings: Struct
    model: str
    seed: int
    concurrency: int
    budget: Budget | None = None
    cache: CacheChoice | None = None

    def identity(self) -> Json:
        """What decides the model's replies: model and prompts; None for a step without a model.

        Raises:
            UserError: The step does not take the settings.
        """
        asked = self.open_model(ImageFolder(Path()))
        try:
            self.kind(self.settings, asked)
        finally:
            if asked:
                asked.close()
        return asked.identity if asked else None

    def open_model(self, images: ImageFolder, out: Path | None = None) -> Asked | None:
        """Open the step's model, which sees the pictures in `images`; None for a step without a model. `out` is the new
        set's folder."""
        if not self.model:
            return None
        client = NotingClient(self.model, self.concurrency, self.budget, Caches(self.cache, out and out / WORK))
        return Asked(client, images, self.kind)


class StepMaker:
    """Applies a step to one sample at a time, and puts pictures into the folder `out`. Several threads may use it."""

    def __init__(self, source: Path, out: Path, call: StepCall, asked: Asked | None = None) -> None:
        self._source, self._out, self._call = ImageFolder(source), ImageFolder(out), call
        self._asked = asked or call.open_model(self._source, out)
        self._step: Step = call.kind(call.settings, self._asked)

    def __call__(self, sample: Sample) -> Iterator[Outcome]:
        """Yield the samples that the step makes of a sample, or the reason why it makes none."""
        call, some = self._call, False
        try:
            for made in self._step.make(sample, Draws(COMMAND, call.name, call.seed, sample.id)):
                some = True
                yield Outcome(self._landed(made, sample))
        except (Refused, ValueError) as error:
            status = "failed" if not isinstance(error, Refused) else "incomplete" if some else "refused"
            dropped = Dropped(
                id=sample.id,
                parent=sample.id,
                chain=call.name,
                draw=0,
                seed=call.seed,
                status=status,
                reason=str(error),
                operator=call.name,
            )
            yield Outcome(dropped=dropped, may_pass=isinstance(error, NotNow))
        if self._asked and (replies := self._asked.take_replies()):
            yield Outcome(replies=Replies(sample.digest, self._asked.label, replies))

    def close(self) -> None:
        """Close the model."""
        if self._asked:
            self._asked.close()

    def _landed(self, made: Sample, parent: Sample) -> Sample:
        """What was made with its trail, and with the pictures that it keeps."""
        done: Json = {"step": self._call.name, "version": self._call.kind.version, "of": parent.digest}
        before = parent.meta.get("built", [])
        trail = [*(before if isinstance(before, list) else []), done]
        refs = {ref: self._out.bring(self._source, ref) for ref in made.all_images}
        return replace(replace_images(made, refs), meta=made.meta | {"built": trail})


def _prepare(call: StepCall, source: SampleSet, out: Path, scratch: Path) -> Callable[[], StepMaker]:
    return partial(StepMaker, source.folder, out, call)


def read_files(reader: Any, path: Path, images: ImageFolder) -> Iterator[Row]:
    """What a step reads in files. Raises InputError."""
    if not path.exists():
        raise no_such_path(path)
    rows: Iterator[Row] = reader.read(path, images)
    return rows


def refused_by(sieve: Any, source: SampleSet, step: str) -> dict[str, Dropped]:
    """What a sieve takes out of a set, by id."""
    reasons = dict(sieve.refuse(source))
    return {
        id: Dropped(id, id, step, 0, 0, "refused", reasons[id], operator=step, sample=sample)
        for sample in source
        if (id := sample.id) in reasons
    }


def _summary_of(step: Any) -> dict[str, Json]:
    """What a step that sees all at once says that it did."""
    return {"summary": summary} if (summary := getattr(step, "summary", None)) else {}


def _sieved(sieve: Any, source: SampleSet, out: Path, name: str, made: dict[str, Json], *, quiet: bool) -> SampleSet:
    """The set without what a sieve refuses."""
    origin: Json = {"name": source.name, "digest": source.manifest.digest}
    step = str(made["command"]).rpartition(" ")[2]
    without = refused_by(sieve, source, step)
    made |= _summary_of(sieve)
    become = getattr(sieve, "become", lambda rows, images: rows)
    how = {**made, "source": origin}
    with ProgressBar(step, quiet=quiet) as bar:
        return write_without(source, out, name, how, without, lambda rows, images: bar.count(become(rows, images)))


class Again(Struct, frozen=True):
    """A replayed sample: before the step, after it as in the set, and the differences between the set and the
    replay."""

    before: Sample | None
    after: list[Sample]
    differing: list[str]


def replay(made: SampleSet, source: SampleSet | Path, ids: Sequence[str] = ()) -> Iterator[Again]:
    """Apply a set's step again, with the recorded replies, and compare the results with the set.

    Args:
        source: The set, file or folder that the set was made of.
        ids: Only samples with these ids, before or after the step; all if empty.

    Raises:
        UserError: The source, the step or a file that the step read has changed.
    """
    how = made.manifest.made
    command, _, step = str(how.get("command")).rpartition(" ")
    if command != COMMAND:
        raise UserError(f"{made.folder} was not made by `{COMMAND}`: there is nothing to replay")
    kind = plugins.load("steps", step)
    try:
        settings = convert(how["settings"], kind.Settings)
    except ValidationError as error:
        raise UserError(f"{step} has other settings now ({error}): build the set anew") from None
    if kind.version != how["version_of_step"] or fingerprints(settings) != how.get("read", {}):
        raise UserError(f"{step}, or a file that it read, is another one now: build the set anew")
    if isinstance(source, Path):
        if fingerprint(source) != how["source"]:
            raise UserError(f"{made.folder} was not made of {source} as it is now: build the set anew")
        yield from _read_again(kind(settings), source, made, ids)
    elif hasattr(kind, "refuse"):
        yield from _refused_again(refused_by(kind(settings), source, step), source, made, ids)
    else:
        yield from _made_again(StepCall(step, kind, settings, "", int(str(how["seed"])), 1), source, made, ids)


def _read_again(reader: Any, source: Path, made: SampleSet, ids: Sequence[str]) -> Iterator[Again]:
    with TemporaryDirectory(prefix="mmdyn-") as scratch:
        images = ImageFolder(Path(scratch))
        found = {row.sample.id: row.sample for row in read_files(reader, source, images) if row.sample}
        for sample in made:
            if not ids or sample.id in ids:
                now = [found[sample.id]] if sample.id in found else []
                yield Again(None, [sample], _differing([sample], now, made.images, images))


def _refused_again(now: dict[str, Dropped], source: SampleSet, made: SampleSet, ids: Sequence[str]) -> Iterator[Again]:
    then = _left(made)
    for sample in source:
        if not ids or sample.id in ids:
            before, after = then.get(sample.id), now.get(sample.id)
            told = f"it leaves ({after.reason})" if after else "it does not leave"
            yield Again(sample, [] if before else [sample], [told] if before != after else [])


def _made_again(call: StepCall, source: SampleSet, made: SampleSet, ids: Sequence[str]) -> Iterator[Again]:
    then, by = dict[str, list[Sample]](), {kept.of: kept for kept in made.replies()}
    for sample in made:
        trail: Any = sample.meta["built"]
        then.setdefault(trail[-1]["of"], []).append(sample)
    left = _left(made)
    limit: Any = made.manifest.made["limit"]
    for sample in islice(source, limit):
        there = then.get(sample.digest, [])
        if ids and not {sample.id, *(one.id for one in there)} & set(ids):
            continue
        heard = by.get(sample.digest, Replies("", "", ()))
        with TemporaryDirectory(prefix="mmdyn-") as scratch:
            client = RepeatingClient(heard.by, heard.replies)
            asked = Asked(client, source.images, call.kind) if call.kind.asks else None
            outcomes = list(StepMaker(source.folder, Path(scratch), call, asked)(sample))
            now = [outcome.sample for outcome in outcomes if outcome.sample]
            differing = _differing(there, now, made.images, ImageFolder(Path(scratch)))
        dropped = next((outcome.dropped for outcome in outcomes if outcome.dropped), None)
        if dropped != left.get(sample.id):
            differing.append(f"it leaves ({dropped.reason})" if dropped else "it does not leave")
        yield Again(sample, there, differing)


def _left(made: SampleSet) -> dict[str, Dropped]:
    """What left in a set's own step."""
    before = sum(stage.dropped for stage in stage_counts(made)[:-1])
    return {item.id: item for item in islice(made.dropped(), before, None)}


def _differing(then: list[Sample], now: list[Sample], images: ImageFolder, scratch: ImageFolder) -> list[str]:
    """The fields and pictures that differ."""
    if len(then) != len(now):
        return [f"{len(now)} samples, not {len(then)}"]
    found = list[str]()
    for old, new in zip(then, now, strict=True):
        found += [name for name in Sample.__struct_fields__ if getattr(old, name) != getattr(new, name)]
        try:
            found += [ref for ref in old.all_images if images.read(ref) != scratch.read(ref)]
        except ValueError as error:
            found.append(str(error))
    return found
