"""mmdyn data: sets in and out of files, looked at, checked, sampled and audited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mmdyn.cli._audit import no_sample, replay_built, show_variants
from mmdyn.cli._command import CommandGroup
from mmdyn.cli._shared import (
    InPath,
    OutPath,
    check_overwrite,
    force_option,
    limit_option,
    quiet_option,
    say_line,
    split,
)
from mmdyn.errors import counted

if TYPE_CHECKING:
    from mmdyn.data import Row, SampleSet
    from mmdyn.keys import Json

SHOWN_LINES = 20
"""Lines of bad rows of one kind that are named."""

PARENT = click.option(
    "--parent", metavar="SET", help="The set that SET was made of; without it one that lies beside SET."
)


SHEET = rb"<!doctype html>.*<title>Audit of "


@click.group("data", cls=CommandGroup)
def command() -> None:
    """Convert, show, validate, sample and audit sets of questions.

    \b
    mmdyn data show mmdyn-demo/dynamic -n 1
    """


@command.command("convert")
@click.argument("source", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--out", required=True, type=OutPath())
@click.option("--from", "origin", metavar="NAME")
@click.option("--map", "columns", metavar="KEY=COLUMN,…", multiple=True, callback=split)
@click.option("--name")
@click.option("--skip-bad", is_flag=True)
@limit_option("limit")
@click.option("--keep-files", is_flag=True)
@click.option("--images", "pictures", metavar="FOLDER", type=InPath())
@click.option("--group-by-picture", is_flag=True)
@click.option("--published", metavar="NAME=VALUE", default="")
@click.option("--kprag", is_flag=True)
@force_option
@quiet_option
def convert_command(
    source: Path | None,
    out: Path,
    origin: str | None,
    columns: list[str],
    name: str | None,
    skip_bad: bool,
    limit: int | None,
    keep_files: bool,
    pictures: Path | None,
    group_by_picture: bool,
    published: str,
    kprag: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Turn a benchmark's files, a set or a file of any format into a set folder or another format.

    \b
    mmdyn data convert mmdyn-demo/set -o demo.tsv
    mmdyn data convert --from gaokao_mm path/to/GAOKAO-MM -o gaokao
    \f
    out: A set folder, or a .tsv, .jsonl or .parquet file.
    origin: What SOURCE is: a benchmark or a format (see `mmdyn list benchmarks` and `mmdyn list formats`). Else its
        ending says it. hf:NAME_OR_FOLDER[,config=…,split=…] and vlmeval:NAME need no SOURCE: they read a set of
        Hugging Face or of VLMEvalKit.
    columns: Which column of a table (.csv, .tsv, .json, .jsonl, .xlsx, .parquet, hf:) is what: question=…,answer=…,
        options=A+B+C,image=…,id=…,field.NAME=…,ignore=…; what is not said is found by names and values, and printed.
        With version_of=SEED rows of one SEED are versions of a question with other answers: the published ones become
        OUT, the others a set of variants, OUT-versions.
    name: The set's name; the folder's without it.
    skip_bad: List bad rows in rejected.jsonl and leave them out, instead of printing all and writing nothing.
    limit: Stop after so many samples.
    keep_files: Leave pictures as they are. Without it those that are turned by EXIF, transparent, of more than 8 bits,
        CMYK, or neither PNG nor JPEG become plain PNGs of what a reader sees, so that all models see the same.
    pictures: Where the pictures lie that a table names. [default: beside the file, or in the one folder there that has
        all]
    group_by_picture: Give questions that share a picture one group, so that intervals are not too short.
    published: With version_of: which versions were published, such as trial=1. [default: the first in the file]
    kprag: From a set folder to a .tsv: the knowledge beside each question as its hint; samples without are left out.
    """
    from mmdyn.data import NAMED_SETS, VERSION_OF, convert, versions_folder
    from mmdyn.work import ProgressBar

    if kprag:
        if origin or name or skip_bad or limit or keep_files or pictures or group_by_picture or published or not source:
            raise click.UsageError("--kprag takes a whole set folder and a .tsv file alone")
        _write_hints(source, out, force=force)
        return
    benchmark, format = _origin(origin)
    if (source is None) != (origin or "").startswith(NAMED_SETS):
        raise click.UsageError("give SOURCE, or a set by name: --from hf:NAME or --from vlmeval:NAME, but not both")
    mapped = dict(column.partition("=")[::2] for column in columns)
    word = "rejected" if skip_bad else "bad"
    with ProgressBar("convert", quiet=quiet) as bar, _Watch(bar.advance, word) as watch:
        made = convert(
            source,
            out,
            benchmark=benchmark,
            format=format,
            columns=mapped,
            name=name,
            skip_bad=skip_bad,
            limit=limit,
            keep_files=keep_files,
            pictures=pictures,
            group_by_picture=group_by_picture,
            published=published,
            force=force,
            on_row=watch,
            on_columns=_tell_columns,
            on_folder=lambda folder: click.echo(f"pictures: found in {folder}", err=True),
        )
    _tell(made, out, watch)
    if VERSION_OF in mapped:
        _tell_versions(versions_folder(out), published)
    if benchmark and source:
        from mmdyn.plugins import load

        say_line(f"contrasts that are usual for it: {', '.join(load('benchmarks', benchmark).contrasts)}", err=True)


@command.command("show")
@click.argument("path", metavar="SET", type=click.Path(path_type=Path))
@click.argument("id", required=False)
@limit_option("limit", 5)
@click.option("--json", "as_json", is_flag=True)
@click.option("--stages", "funnel", is_flag=True)
@click.option("--stats", is_flag=True)
@PARENT
@click.option("--pictures", metavar="DIR", type=OutPath())
@click.option("--replay", "again", is_flag=True)
@click.option("--style-backend", metavar="NAME", default="")
def show_command(
    path: Path, id: str | None, limit: int, as_json: bool, funnel: bool, stats: bool, **audit: Any
) -> None:
    """Print a set's first samples, or the one of an ID (a parent's ID prints its variants too).

    \b
    mmdyn data show mmdyn-demo/dynamic -n 1
    mmdyn data show mmdyn-demo/set --stats

    A variant's ID prints it beside its parent, with its trail and verdict; dropped variants have IDs too.
    Exit status: 1 where --replay finds one that differs.
    \f
    limit: How many samples.
    as_json: A JSON object a line, as in samples.jsonl.
    funnel: In place of samples the steps by which the set was made: what came in, what left and why, what went on.
    stats: In place of samples their numbers by discipline: languages, truth, fields; tokens (of cl100k_base; characters
        without mmdyn[tokens]), options and statements, each as max, min and mean.
    pictures: Copy the pictures, before and after.
    again: Make variants, or what a step built, again from their trails and the replies then: are the bytes equal?
    style_backend: With --replay: who restyles pictures; flux:PATH takes weights from a folder. [default: as SET says]
    """
    import json
    from itertools import islice

    from msgspec import to_builtins

    from mmdyn.data import describe_sample, describe_stages, describe_statistics, load, set_statistics, stages
    from mmdyn.errors import UserError, printable

    source = load(path)
    if funnel:
        told = (json.dumps(to_builtins(stage)) for stage in stages(source)) if as_json else describe_stages(source)
        click.echo("\n".join(map(printable, told)))
        return
    if stats:
        counted, why = set_statistics(source)
        rows = map(json.dumps, counted) if as_json else describe_statistics(counted)
        click.echo("\n".join(map(printable, rows)))
        if why:
            say_line(why, err=True)
        return
    if source.manifest.parent and not as_json:
        show_variants(source, id, limit, **audit)
        return
    if audit["again"]:
        replay_built(source, id, limit, audit["parent"])
        return
    wanted = (sample for sample in source if id in (None, sample.id, sample.parent))
    shown = False
    for sample in wanted if id else islice(wanted, limit):
        click.echo(json.dumps(to_builtins(sample)) if as_json else describe_sample(sample, source.images) + "\n")
        shown = True
    if not shown:
        if id is None:
            raise UserError(f"{path} has no sample: its dropped.jsonl says why")
        raise no_sample(source, id)


@command.command("validate")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True)
@quiet_option
def validate_command(path: Path, as_json: bool, quiet: bool) -> None:
    """List the problems of a set or file, a line for each kind; exit status 2 where there is one.

    \b
    mmdyn data validate mmdyn-demo/set
    \f
    as_json: One JSON object with the counts and every problem of every row.
    """
    import json

    from mmdyn.data import RowTally, validate
    from mmdyn.errors import command_line
    from mmdyn.work import ProgressBar

    tally, problems = RowTally(), list[dict[str, str | int | None]]()
    bad: list[Row] = []
    with ProgressBar("validate", quiet=quiet) as bar:
        for row in validate(path):
            tally.add(row)
            bar.advance(problems=tally.problems)
            if row.problem and as_json:
                problems.append({"file": row.file, "line": row.line, "problem": row.problem})
            elif row.problem:
                bad.append(row)
    if as_json:
        click.echo(json.dumps({**tally.summary(), "listed": problems}))
    else:
        click.echo("\n".join([*_bad_lines(bad), _counts(tally.summary())]))
    again = command_line("mmdyn", "data", "convert", path, "-o", "NEW", "--group-by-picture")
    for note in tally.notes(f"`{again}`"):
        click.echo(f"note: {note}", err=True)
    if tally.problems:
        raise click.exceptions.Exit(2)


@command.command("sample")
@click.argument("path", metavar="SET", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=OutPath())
@limit_option("limit")
@click.option("--by", callback=split)
@click.option("--cover", metavar="NAME")
@click.option("--balance", metavar="FIELD")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--name")
def sample_command(
    path: Path,
    out: Path,
    limit: int | None,
    by: list[str],
    cover: str | None,
    balance: str | None,
    seed: int,
    name: str | None,
) -> None:
    """Take a sample of a set; variants travel with their parent.

    \b
    mmdyn data sample mmdyn-demo/set -o few -n 5

    Stratified with --by: each stratum has its share. With --cover: few samples that name every knowledge point. With
    --balance: as many of each difficulty, and then what --limit still takes.
    \f
    out: The set folder to write.
    limit: How many samples; with --cover as few as cover, without it.
    by: Fields to stratify by, with commas: discipline,difficulty.
    cover: Cover every value: knowledge_points, or a field.
    balance: Take as many of each value of a field, as far as they go: difficulty.
    seed: Another seed takes other samples.
    name: The set's name; the folder's without it.
    """
    from mmdyn.data import load, take_covering as cover_set, take_stratified

    if by and (cover or balance):
        raise click.UsageError("--by keeps a set's shares, --cover and --balance do not: choose one of them")
    if limit is None and not cover:
        raise click.UsageError("say how many samples: --limit 100")
    if limit is not None and not (cover or balance):
        _say_taken(take_stratified(load(path), out, limit, by, seed, name), limit)
        return
    done = cover_set(load(path), out, cover, balance, limit, seed, name)
    _say_taken(done.made, limit or 0)
    if cover:
        click.echo(f"{cover}: {done.points} of {done.points} covered, which took {counted(done.needed, 'sample')}")
    if balance:
        click.echo(f"{balance}: {_shares(done.before)} before, {_shares(done.after)} after")


def _say_taken(made: SampleSet, limit: int) -> None:
    fewer = f", which are all: --limit {limit} asks for more" * (len(made) < limit)
    click.echo(f"{made.folder}: {counted(len(made), 'sample')}{fewer}")


@command.command("join")
@click.argument("sets", metavar="SET...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=OutPath())
@click.option("--name")
def join_command(sets: tuple[Path, ...], out: Path, name: str | None) -> None:
    """Make one set of several, with their pictures and texts of knowledge.

    \b
    mmdyn data sample mmdyn-demo/set -o few -n 5
    mmdyn data join mmdyn-demo/set few -o both

    An id or a group that several sets have gets its set's name before it: exam/q1. What a set dropped is listed in that
    set alone.
    \f
    out: The new set's folder.
    name: The new set's name. [default: the folder's]
    """
    from mmdyn.data import join

    click.echo(f"{out}: {counted(len(join(sets, out, name)), 'sample')} of {counted(len(sets), 'set')}")


@command.command("audit")
@click.argument("path", metavar="SET", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=OutPath())
@limit_option("limit", 60)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--review", is_flag=True)
@click.option("--step", metavar="STEP")
@force_option
@PARENT
def audit_command(
    path: Path, out: Path, limit: int, seed: int, review: bool, step: str | None, force: bool, parent: str | None
) -> None:
    """Write an HTML sheet of a set's samples, for people to mark keep or reject in a browser.

    \b
    mmdyn data audit mmdyn-demo/dynamic -o sheet.html

    Variants, and what a step made, stand beside what they were made of; dropped ones that can be shown are among them.
    `mmdyn data apply` and `mmdyn judge --calibrate` read the labels that the sheet saves.
    \f
    out: The HTML file to write.
    limit: Samples at most.
    seed: Another seed takes other samples.
    review: The first samples of SET in their order, those before the others about which a model was unsure; no dropped
        ones.
    step: Ask what this step asks people. [default: the last step that made SET]
    """
    from mmdyn.data import SampleSet
    from mmdyn.sheets import audit

    check_overwrite(out, SHEET, force=force)
    made = SampleSet(path)
    if made.manifest.parent and (review or step):
        raise click.UsageError(f"{path} is a set of variants: leave {'--review' if review else '--step'} out")
    count = audit(made, out, parent, limit, seed, review=review, step=step)
    click.echo(f"{out}: {counted(count, 'sample')}; open it in a browser, mark them and save the labels")


@command.command("apply")
@click.argument("marks", metavar="MARKS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.argument("path", metavar="SET", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=OutPath())
@click.option("--name")
def apply_command(marks: tuple[Path, ...], path: Path, out: Path, name: str | None) -> None:
    """Write a set without the samples that people rejected.

    \b
    mmdyn data audit mmdyn-demo/dynamic -o sheet.html
    mmdyn data apply labels.jsonl mmdyn-demo/dynamic -o reviewed

    MARKS are files that sheets of `mmdyn data audit` saved. Of several marks the majority decides, and a tie rejects.
    \f
    out: The new set's folder.
    name: The new set's name. [default: the folder's]
    """
    from mmdyn.data import SampleSet
    from mmdyn.sheets import apply_marks

    source = SampleSet(path)
    made = apply_marks(marks, source, out, name=name)
    click.echo(f"{out}: {counted(len(made), 'sample')}, {len(source) - len(made)} rejected")


def _write_hints(source: Path, out: Path, *, force: bool) -> None:
    from mmdyn.run import write_with_hints

    check_overwrite(out, force=force)
    say_line(f"{out}: {counted(write_with_hints(source, out), 'sample')}", err=True)


def _origin(name: str | None) -> tuple[str | None, str | None]:
    """A benchmark's or a format's name as (benchmark, format)."""
    from mmdyn.data import NAMED_SETS
    from mmdyn.errors import PluginError, did_you_mean
    from mmdyn.plugins import names, resolve

    if name is None or name.startswith(NAMED_SETS):
        return name, None
    plain = name.replace("-", "_")
    if plain in names("benchmarks"):
        return resolve("benchmarks", plain), None
    if plain in names("formats"):
        return None, resolve("formats", plain)
    known = [*names("benchmarks"), *names("formats")]
    raise PluginError(
        f"there is no benchmark or format {name!r}{did_you_mean(plain, known)}: there are {', '.join(known)}"
    )


class _Watch:
    """Sees every row that is converted: moves the bar, keeps the bad ones, and prints them by kind in the end."""

    def __init__(self, advance: Callable[..., None], word: str) -> None:
        self._advance, self._word = advance, word
        from mmdyn.data import RowTally

        self.rows, self.tally = 0, RowTally()
        self.bad: list[Row] = []

    def __call__(self, row: Row) -> None:
        self.rows += 1
        self.tally.add(row)
        if row.problem:
            self.bad.append(row)
        self._advance(rejected=len(self.bad))

    def __enter__(self) -> _Watch:
        return self

    def __exit__(self, *error: object) -> None:
        for line in _bad_lines(self.bad):
            say_line(f"{self._word}: {line}", err=True)


def _bad_lines(bad: list[Row]) -> Iterator[str]:
    """A line for each kind of bad row: the first one, how many more there are, and where."""
    from mmdyn.data import bad_kinds

    for first, *more in bad_kinds(bad):
        lines = ", ".join(str(row.line) for row in more[:SHOWN_LINES]) + ", …" * (len(more) > SHOWN_LINES)
        yield _problem(first) + (f" (and {len(more)} more like it, in {lines})" if more else "")


def _tell_columns(found: Mapping[str, str]) -> None:
    if found:
        say_line(f"columns: {', '.join(f'{key}={column}' for key, column in found.items())}", err=True)


def _tell(made: SampleSet, out: Path, watch: _Watch) -> None:
    """Print the counts of a conversion, and what a file of another format cannot carry."""
    from mmdyn.data import DROPPED_FILE, KNOWLEDGE_FILE, REJECTED_FILE

    is_file = out.is_file()
    if watch.bad:
        listed = out.with_suffix(".rejected.jsonl") if is_file else out / REJECTED_FILE
        say_line(f"{len(watch.bad)} bad rows were left out: {listed} lists them", err=True)
    behind = [name for name in (KNOWLEDGE_FILE, DROPPED_FILE) if (made.folder / name).is_file()]
    if is_file and behind:
        say_line(f"left behind, because only a set folder carries it: {' and '.join(behind)}", err=True)
    if not watch.rows and not is_file:
        click.echo(f"{out} is there already, made of the same source: {counted(len(made), 'sample')}")
    else:
        changed = made.manifest.pictures.changed
        pictures = f"{changed} picture{'s' * (changed > 1)}"
        told = f", {pictures} brought into normal form (--keep-files leaves them)" if changed else ""
        click.echo(f"{out}: {counted(len(made), 'sample')}{told}")
        for note in watch.tally.notes("--group-by-picture"):
            click.echo(f"note: {note}", err=True)


def _tell_versions(folder: Path, published: str) -> None:
    """Print how many versions there are, and which were taken as the published ones."""
    from mmdyn.data import SampleSet

    versions = SampleSet(folder)
    many = f"{len(versions)} other versions of {len({one.parent for one in versions})} of them"
    first = "the first in the file (--published NAME=VALUE takes others)"
    click.echo(f"{folder}: {many}; taken as published: {published or first}")


def _problem(row: Row) -> str:
    from mmdyn.errors import InputError

    return str(InputError(row.file, row.line, row.problem))


def _shares(counts: dict[str, int]) -> str:
    return ", ".join(f"{value or 'none'} {count}" for value, count in counts.items())


def _counts(summary: dict[str, Json]) -> str:
    def listed(counts: Json) -> str:
        return ", ".join(f"{name} {count}" for name, count in counts.items()) if isinstance(counts, dict) else ""

    samples, pictures = (int(str(summary[name])) for name in ("samples", "images"))
    if not samples:
        return f"0 samples; problems: {summary['problems']}"
    return (
        f"{counted(samples, 'sample')} ({listed(summary['task_types'])}; {listed(summary['languages'])}), "
        f"{summary['with_images']} with pictures ({counted(pictures, 'picture')}); problems: {summary['problems']}"
    )
