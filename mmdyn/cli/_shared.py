"""What several commands need."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mmdyn.errors import UserError, command_line, counted, no_such_path, printable

if TYPE_CHECKING:
    from mmdyn.data import SampleSet
    from mmdyn.tables import Report
    from mmdyn.work import RunFolder

UNCUT = 1000
"""Characters that no first sentence has."""


class WholeGroup(click.Group):
    """A group whose help has the whole first sentence of each command's.

    sections: the commands under each heading; without any, all of them in the order of `list_commands`.
    """

    sections: Mapping[str, Sequence[str]] = {}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        for heading, names in (self.sections or {"Commands": self.list_commands(ctx)}).items():
            commands = {name: self.get_command(ctx, name) for name in names}
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, command.get_short_help_str(UNCUT)) for name, command in commands.items() if command]
                )


def split(ctx: click.Context, parameter: click.Parameter, value: str | tuple[str, ...] | None) -> list[str]:
    """A click callback: a comma-separated option, or one given several times, as a list."""
    texts = (value,) if isinstance(value, str) else value or ()
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def not_empty(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """A click callback: the empty string where an option is not given, an error where its value is empty."""
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty: give a value, or leave the option out", ctx, parameter)
    return value or ""


class OutPath(click.Path):
    """Where something is written, as a Path. An empty one, such as an unset variable of the shell, is refused: it names
    no place."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Raises click's usage error for an empty one."""
        if not str(value).strip():
            self.fail("it is empty: name a file or folder", param, ctx)
        return super().convert(value, param, ctx)


def check_overwrite(out: Path, ours: bytes = b"(?!)", *, force: bool) -> None:
    """Raise UserError where something lies at a path that is not to be written over: anything but a file; or, without
    `force`, a file whose beginning and end are not what `ours`, a regular expression, says."""
    if not os.path.lexists(out):
        return
    if not out.is_file():
        raise UserError(f"{out} is no file: choose another name")
    if force:
        return
    with out.open("rb") as file:
        text = file.read(LOOKED_AT)
        file.seek(-min(out.stat().st_size, LOOKED_AT), os.SEEK_END)
        text += file.read()
    if not re.match(ours, text, re.DOTALL | re.IGNORECASE):
        raise UserError(f"{out} is there, and this command did not write it: choose another name, or give --force")


force_option = click.option("--force", is_flag=True, help="Overwrite a file that this command did not write.")
LOOKED_AT = 1 << 16


class InFile(click.File):
    """A file of bytes to read, - for standard input."""

    def __init__(self) -> None:
        super().__init__("rb")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The opened file. Raises InputError where nothing is there."""
        if value != "-" and not Path(value).exists():
            raise no_such_path(value)
        return super().convert(value, param, ctx)


class InPath(click.Path):
    """A path that is there, as a Path."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Raises InputError where nothing is there."""
        if not Path(value).exists():
            raise no_such_path(value)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A number in a range; what is none is refused, which click takes for one in any range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises click's usage error."""
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not a number: give one", param, ctx)
        return number


F = TypeVar("F", bound=Callable[..., object])


def number_option(
    name: str, metavar: str, *, default: int | None = 1, least: int = 1, most: int | None = None
) -> Callable[[F], F]:
    """An option for a whole number from `least` on; one without a default may be left out."""
    kind = click.IntRange(least, most)
    return click.option(name, metavar=metavar, default=default, show_default=True, type=kind)


def limit_option(name: str, default: int | None = None) -> Callable[[F], F]:
    """How many samples, as the parameter `name`."""
    kind = click.IntRange(min=1)
    return click.option("-n", "--limit", name, metavar="N", default=default, show_default=True, type=kind)


quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress.")


TOP_REASONS = 3
SCAFFOLDING = (
    "substitute: {share:.0%} of the replaced words ask, point or join (find, shown, the following, if) and say nothing"
    " of the subject; to replace keywords, as MDK12-Bench does, ask a model:\n    {command}\n"
    "    or, on a GPU here, with hf:MODEL"
)


def print_variants(dynamic: SampleSet, source: str = "") -> bool:
    """Print on standard error what became of a set's variants, chain by chain; True where some failed.

    source: the set or file that a command made it of, which may be typed again with another rewriter.
    """
    from mmdyn.data import WEAKNESS
    from mmdyn.tables import without_model
    from perturb import scaffolding_share, summarize

    made = "kept" if "judge" in dynamic.manifest.made else "made"
    for name, chain in summarize(dynamic).items():
        parts = [f"{chain.made} {made}"]
        parts += [
            f"{chain.outcomes[status]} {status.replace('_', ' ')}"
            for status in ("unchanged", "not_applicable", "redrawn", "rejected", "doubtful", "failed")
            if chain.outcomes[status]
        ]
        say_line(f"{name}: {', '.join(parts)}", err=True)
        if forms := Counter(dynamic.manifest.forms.get(name)).most_common():
            shares = (f"{form} {count} ({count / chain.made:.0%})" for form, count in forms)
            say_line(f"    became {', '.join(shares)}", err=True)
        if claims := chain.claims.total():
            say_line(f"    {chain.claims[True] / claims:.0%} of {claims} claims are true", err=True)
        if far := (dynamic.manifest.strength or {}).get(name):
            say_line(f"    median strength: {far}{' (weak)' * far.weak}", err=True)
        for reason, count in sum(chain.reasons.values(), Counter[str]()).most_common(TOP_REASONS):
            say_line(f"    {count} {reason}", err=True)
    say_line(f"{counted(len(dynamic), 'variant')}: {dynamic.folder}", err=True)
    if any(far.weak for far in (dynamic.manifest.strength or {}).values()):
        say_line(f"weak: {WEAKNESS}", err=True)
    if doubt := without_model(dynamic):
        say_line(doubt, err=True)
    share = scaffolding_share(dynamic, source if Path(source).is_dir() else None) if source else None
    if share is not None:
        out, settings = f"{dynamic.folder}-by-model", dynamic.manifest.made
        options = [word for name in ("ops", "draws", "seed") for word in (f"--{name}", str(settings[name]))]
        options += ["--rewriter", "openai:MODEL", "--judge", "openai:JUDGE"]
        command = command_line("mmdyn", "perturb", source, "-o", out, *options)
        say_line(SCAFFOLDING.format(share=share, command=command), err=True)
    return bool(dynamic.manifest.counts.get("failed"))


def print_json(found: object) -> None:
    """Print one JSON value, indented, on standard output."""
    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")


def finish(run: RunFolder, by: Sequence[str] = ()) -> None:
    """Print a run's report, broken down `by` fields, and what became of variants that it made; leave with exit status 1
    where anything failed.

    Among launched ranks the first one speaks for all.
    """
    from mmdyn.data import SampleSet
    from mmdyn.tables import report, short_text
    from mmdyn.work import Ranks

    if Ranks.of_environment().number:
        return
    found = report(run, by=by)
    sys.stdout.write(short_text(found))
    again = command_line("mmdyn", "report", run.folder, *(["--by", ",".join(by)] if by else []))
    say_line(f"records and settings: {run.folder}; again: `{again}`", err=True)
    made = [run.set_folder(entry) for entry in run.config.sets if run.config.ops and entry.name != entry.root]
    failed = [print_variants(SampleSet(folder)) for folder in made]
    leave_by(found, failed=any(failed))


def leave_by(found: Report, *, failed: bool = False) -> None:
    """List on standard error what was never answered, and what no judge gave a verdict on; exit status 1 where there is
    any, or where something else `failed`."""
    list_failures("failed", found.failures, found.failed)
    for state in found.runs:
        list_failures("not judged", state.judge_failures, state.no_verdict)
    if found.failed or failed or any(state.no_verdict or state.unjudged for state in found.runs):
        click.get_current_context().exit(1)


def say_line(text: str, *, err: bool = False) -> None:
    """Print a line, or several, on standard output or error: on a terminal broken at its width."""
    from mmdyn.tables import open_console, say

    for line in (printable(text) if err else text).splitlines():
        say(open_console(sys.stderr if err else None), line)


def list_failures(what: str, failures: Sequence[object], count: int) -> None:
    """List the first of `count` answers that something is amiss with on standard error, and say how many more there
    are."""
    for failure in failures:
        say_line(f"{what}: {failure}", err=True)
    if (more := count - len(failures)) > 0:
        click.echo(f"{what}: {more} more", err=True)
