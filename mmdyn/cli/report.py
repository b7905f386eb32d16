"""mmdyn report: scores with intervals and contrasts over pairs, of one run or several; tables; why a score changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mmdyn.cli._command import Command
from mmdyn.cli._output import form_of, output_options, page_of, plot, write
from mmdyn.cli._shared import leave_by, say_line, split
from mmdyn.cli._tables import check, parts_of, table_groups, where_of
from mmdyn.errors import UserError, command_line

if TYPE_CHECKING:
    from mmdyn.table import NamedTable, Part
    from mmdyn.tables import Published, Report, TablePart
    from mmdyn.work import ProgressBar, RunFolder

    PapersTable = tuple[NamedTable, Published | None]


@click.command("report", cls=Command, groups=lambda: {**table_groups(), "Output": output_options()})
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path())
@click.option("--full", is_flag=True, help="All of the report: every contrast, methods, strengths, judges, costs.")
@click.option("--brief", is_flag=True, help="Ten lines: scores, how much of them survives, and warnings.")
@click.option(
    "--why",
    "with_why",
    is_flag=True,
    help="One page: what fell, by which change, how far above noise, where, how surely.",
)
@click.option(
    "--memory",
    is_flag=True,
    help="One page: what a model may have known before; what each kind of evidence assumes, and could have shown.",
)
@click.option("--flips", is_flag=True, help="The questions that each chain turned from right to wrong, and back.")
@click.option(
    "--by",
    default="",
    callback=split,
    metavar="FIELD,...",
    help=(
        "Break scores and contrasts down by these fields; with contexts also by retrieval (hit, part, miss), "
        "answer_leak and knowledge_count. For tables other than pivots: the rows."
    ),
)
def command(
    runs: tuple[str, ...], full: bool, brief: bool, with_why: bool, memory: bool, by: list[str], **given: Any
) -> None:
    """Report one run, or compare several: scores, how much of them survives, and warnings; or the tables you ask for.

    \b
    mmdyn report mmdyn-demo/run --brief
    mmdyn report mmdyn-demo/run --why
    mmdyn report mmdyn-demo/run --by discipline -o report.html

    FACTOR is one of: a field of the questions, task_type, language, variant, chain, context, style, mode, changed (what
    the chain changes: image, text or both), model, a column of --models, set, run, draw, epoch, options,
    answer_position, response_tokens, reasoning_tokens.
    """
    pages = {"why": with_why, "memory": memory, "brief": brief, "full": full}
    if sum(pages.values()) > 1:
        raise click.UsageError("--full, --brief, --why and --memory are pages of their own: give one of them")
    check({**given, "memory": memory}, by)
    form = form_of(given)
    from mmdyn.work import ProgressBar, RunFolder

    folders = [RunFolder(run) for run in runs]
    parts, paper = _asked(given, by)
    page = next((name for name, wanted in pages.items() if wanted), "" if parts else "short")
    with ProgressBar("reading", sum(run.config.planned for run in folders), quiet=given["quiet"]) as progress:
        found = _tabulate(folders, page, form, parts, by, given, paper, progress)
    plot(found.of_parts(_printed(found, page, len(parts))), given)
    write(_spelt(folders, found, page, form, len(parts), previews=given["previews"]), form, given)
    _say_how_to_look(folders, found)
    _leave(found.of_parts(found.parts[: len(parts)]))


def _asked(given: dict[str, Any], by: list[str]) -> tuple[list[Part], PapersTable | None]:
    """The tables that were asked for, and the paper's table among them, which is first, with the paper's numbers."""
    from mmdyn.tables import named_table

    paper = given["paper"][-1] if given["paper"] else ""
    if len(given["table"]) > 1:
        raise click.UsageError("--table names one paper's table at a time: give it once")
    named = {name: named_table(name, paper) for name in given["table"]}
    where = where_of(given)
    parts = parts_of(given, by, lambda name: list(named[name][0].narrowed(where).parts))
    return parts, next(iter(named.values()), None)


def _tabulate(
    folders: Sequence[RunFolder],
    page: str,
    form: str,
    parts: Sequence[Part],
    by: Sequence[str],
    given: dict[str, Any],
    paper: PapersTable | None,
    progress: ProgressBar,
) -> Report:
    """The tables of a page and those that were asked for, out of one reading of the records."""
    from mmdyn.table import Flips
    from mmdyn.tables import (
        evidence_parts,
        memory_parts,
        models_of,
        read_model_facts,
        summary_parts,
        tabulate,
        why_parts,
    )

    known = models_of(given["table"][0]) if given["table"] else {}
    facts = read_model_facts(Path(given["models"][-1]), known) if given["models"] else known
    first: list[Part] = []
    fields = [] if parts else by
    if page:
        own = {"why": why_parts, "memory": memory_parts}
        first = own[page]() if page in own else summary_parts(fields)
    if page and form == "html":
        first = [*why_parts(fields), *evidence_parts(), Flips()]
    table, published = paper or (None, None)
    found = tabulate(folders, [*parts, *first], published=published, facts=facts, progress=progress)
    return found.of_parts(_titled(found.parts, table) if table else found.parts)


def _titled(parts: Sequence[TablePart], table: NamedTable) -> list[TablePart]:
    """Tables, of which the first are those of a paper's table, under its title."""
    own = len(table.parts)
    return [*(replace(part, title=f"{table.title}: {part.title}") for part in parts[:own]), *parts[own:]]


def _spelt(folders: Sequence[RunFolder], found: Report, page: str, form: str, asked: int, *, previews: bool) -> str:
    """A report in a form: a page, then as many tables as were asked for."""
    from mmdyn.tables import FORMATS, brief_text, explain, explain_memory, full_text, short_text, why_lines, wrapped

    tables, rest = found.of_parts(found.parts[:asked]), found.of_parts(found.parts[asked:])
    tables = tables.in_main_rows() if form == "text" and page != "full" else tables
    if page and form == "html":
        return page_of(folders, found, previews=previews)
    pages = {"why": explain, "memory": explain_memory}
    if page in pages and form == "json":
        return pages[page](found, folders).to_json().decode()
    if not page or form not in ("text", "markdown"):
        return FORMATS[form](found if page else tables)
    if page in pages:
        told = why_lines(pages[page](rest, folders))
        lines = "".join(f"{line}\n" for line in (wrapped(told) if form == "text" else told))
    elif page == "brief":
        lines = brief_text(rest)
    elif form == "markdown":
        return FORMATS[form](found)
    else:
        return {"short": short_text, "full": full_text}[page](rest) + FORMATS[form](tables)
    return lines + "\n" * bool(asked) + FORMATS[form](tables)


def _printed(found: Report, page: str, asked: int) -> list[TablePart]:
    """The tables that a page shows: short ones show no more than scores, contrasts, and what was asked for."""
    short = page in ("short", "brief")
    first = [part for part in found.parts[asked:] if not short or part.kind in ("scores", "contrasts")]
    return [*first, *found.parts[:asked]]


def _say_how_to_look(runs: Sequence[RunFolder], found: Report) -> None:
    """Say how to see a question beside a variant that turned it, of each dynamic set."""
    from mmdyn.data import SampleSet

    turned = {tuple(row.factors[name] for name in ("set", "question", "chain")) for row in found.rows("flips")}
    sets = dict.fromkeys((entry.root, run.set_folder(entry)) for run in runs for entry in run.config.sets)
    for root, folder in sets if turned else ():
        with suppress(UserError):  # the set does not lie there any more
            made = ((sample.id, sample.variant) for sample in SampleSet(folder))
            shown = next(
                (id for id, made_by in made if made_by and (root, made_by.parent, made_by.chain) in turned), ""
            )
            if shown:
                say_line(f"what a variant changed: `{command_line('mmdyn', 'data', 'show', folder, shown)}`", err=True)


def _leave(found: Report) -> None:
    """Say what is missing; exit status 1 where anything failed, or a table that was asked for has no number."""
    if not found.complete:
        say_line("records are missing or not scored yet: run the same `mmdyn eval` once more", err=True)
    empty = [part for part in found.parts if part.kind != "flips" and all(row.value is None for row in part.rows)]
    for part in empty:
        why = next((row.note for row in part.rows if row.note), "") or "; ".join(part.notes) or "nothing to tell"
        say_line(f"{part.title}: no number: {why}", err=True)
    leave_by(found, failed=bool(empty))
