"""A step of building, done on a set: the engine of perturbing does the work, so that it is keyed, resumable and
audited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from mmdyn import plugins
from mmdyn.build.draws import Draws
from mmdyn.build.replies import NotingClient
from mmdyn.build.settings_files import fingerprints
from mmdyn.build.step import Asked, Refused, Step
from mmdyn.data import (
    WORK,
    Dropped,
    ImageFolder,
    Replies,
    Row,
    SampleSet,
    load,
    made as made_of,
    replace_images,
    write_rows,
    write_without,
)
from mmdyn.errors import NotNow, UserError, no_such_path
from mmdyn.keys import Json
from mmdyn.models import Budget
from mmdyn.sample import Sample
from mmdyn.work import Outcome, ProgressBar, SetStep, make_set, open_source

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
    skip_bad: bool = False,
    quiet: bool = False,
) -> SampleSet:
    """Do a step on every sample of a set (of the first `limit`), into the set folder `out`, and open it.

    Called again with the same arguments it goes on where it was interrupted, and tries again what was not answered.
    dropped.jsonl says what was refused and why, replies.jsonl what a model said, a sample's meta["built"] its steps.

    Args:
        step: A step's name: `mmdyn list steps`.
        source: An opened set, a set folder, or a file of any format.
        out: The new set's folder.
        settings: The step's Settings; its defaults without them.
        model: The MODEL that is asked, where the step asks one.
        seed: Another seed draws otherwise.
        workers: Processes, where no model is asked.
        concurrency: Requests in flight at most.
        limit: The first so many samples; not for a step that sees the whole set, or makes one of files.
        name: The new set's name; that of the folder without one.
        budget: What may be asked of the model, and what was spent. Stopped where it allows no more.
        skip_bad: Of files, list in rejected.jsonl what is no sample, and leave it out.
        quiet: No progress.

    Raises:
        UserError: There is no such step, settings do not fit or differ from those in `out`, or a model is missing.
        Busy: Another process is at it.
    """
    kind, out = plugins.load("steps", step), Path(out)
    step, settings, name = plugins.resolve("steps", step), settings or kind.Settings(), name or out.resolve().name
    read, made = fingerprints(settings), {"settings": asdict(settings), "version_of_step": kind.version}
    made |= {"read": read} if read else {}
    _check_taken(kind, step, model, limit)
    if hasattr(kind, "read"):
        path, images = Path(str(source)), ImageFolder(out)
        rows, how = read_files(kind(settings), path, images), made_of(f"{COMMAND} {step}", path, **made)
        with ProgressBar(step, quiet=quiet) as bar:
            return write_rows(bar.count(rows), images, name, how, skip_bad=skip_bad)
    made["command"] = f"{COMMAND} {step}"
    opened = (load if hasattr(kind, "refuse") else partial(open_source, out=out))(source, skip_bad=skip_bad)
    if opened.manifest.parent:
        raise UserError(f"{opened.folder} is a set of variants: give the set that it was made of")
    if hasattr(kind, "refuse"):
        return _sieved(kind(settings), opened, out, name, made, quiet=quiet)
    making = Making(step, kind, settings, model, seed, concurrency, budget)
    made |= {"seed": seed, "model": making.identity()}
    work = SetStep(step, made, concurrency if model else 0, partial(_prepare, making), dynamic=False)
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


class Making(Struct, frozen=True):
    """A step with its settings, as a worker process opens it."""

    name: str
    kind: type[Any]
    settings: Struct
    model: str
    seed: int
    concurrency: int
    budget: Budget | None = None

    def identity(self) -> Json:
        """What of the model and the prompts decides replies; None where none is asked. Raises UserError for settings
        that the step does not take."""
        asked = self.open_model(ImageFolder(Path()))
        try:
            self.kind(self.settings, asked)
        finally:
            if asked:
                asked.close()
        return asked.identity if asked else None

    def open_model(self, images: ImageFolder, out: Path | None = None) -> Asked | None:
        """Who is asked, and sees these pictures, for the set in a folder."""
        if not self.model:
            return None
        client = NotingClient(self.model, self.concurrency, self.budget, out and out / WORK)
        return Asked(client, images, self.kind)


class StepMaker:
    """Does a step on one sample after the other; pictures are put under `out`. Usable from several threads."""

    def __init__(self, source: Path, out: Path, making: Making, asked: Asked | None = None) -> None:
        self._source, self._out, self._making = ImageFolder(source), ImageFolder(out), making
        self._asked = asked or making.open_model(self._source, out)
        self._step: Step = making.kind(making.settings, self._asked)

    def __call__(self, sample: Sample) -> Iterator[Outcome]:
        """What the step makes of a sample, or why it makes nothing."""
        making, some = self._making, False
        try:
            for made in self._step.make(sample, Draws(COMMAND, making.name, making.seed, sample.id)):
                some = True
                yield Outcome(self._landed(made, sample))
        except (Refused, ValueError) as error:
            status = "failed" if not isinstance(error, Refused) else "incomplete" if some else "refused"
            what = (sample.id, sample.id, making.name, 0, making.seed, status, str(error))
            yield Outcome(dropped=Dropped(*what, operator=making.name), may_pass=isinstance(error, NotNow))
        if self._asked and (replies := self._asked.take_replies()):
            yield Outcome(replies=Replies(sample.digest, self._asked.label, replies))

    def close(self) -> None:
        """Let go of the model."""
        if self._asked:
            self._asked.close()

    def _landed(self, made: Sample, parent: Sample) -> Sample:
        """What was made with its trail, and with the pictures that it keeps."""
        done: Json = {"step": self._making.name, "version": self._making.kind.version, "of": parent.digest}
        before = parent.meta.get("built", [])
        trail = [*(before if isinstance(before, list) else []), done]
        refs = {ref: self._out.bring(self._source, ref) for ref in made.all_images}
        return replace(replace_images(made, refs), meta=made.meta | {"built": trail})


def _prepare(making: Making, source: SampleSet, out: Path, scratch: Path) -> Callable[[], StepMaker]:
    return partial(StepMaker, source.folder, out, making)


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


def _sieved(sieve: Any, source: SampleSet, out: Path, name: str, made: dict[str, Json], *, quiet: bool) -> SampleSet:
    """The set without what a sieve refuses."""
    origin: Json = {"name": source.name, "digest": source.manifest.digest}
    step = str(made["command"]).rpartition(" ")[2]
    without = refused_by(sieve, source, step)
    if summary := getattr(sieve, "summary", None):
        made["summary"] = summary
    become = getattr(sieve, "become", lambda rows, images: rows)
    how = {**made, "source": origin}
    with ProgressBar(step, quiet=quiet) as bar:
        return write_without(source, out, name, how, without, lambda rows, images: bar.count(become(rows, images)))
