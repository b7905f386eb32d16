"""mmdyn knowledge: bases of knowledge points, indexed, searched, measured, and how far a set covers them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mmdyn.cli._command import CommandGroup
from mmdyn.cli._shared import OutPath, number_option, quiet_option, say_line, split
from mmdyn.errors import counted

if TYPE_CHECKING:
    from kprag import Index, Reranker

RETRIEVERS = ("lexical", "dense", "hybrid")
SHOWN = 100
"""Characters of a description in a line of a search."""

F = TypeVar("F", bound=Callable[..., object])

BASE = click.argument("base", metavar="[BASE]", required=False, type=click.Path(path_type=Path))
RERANK = click.option(
    "--rerank", metavar="MODEL", default="", help="Reranker of the first 20: cross:NAME_OR_FOLDER, or a MODEL."
)
RETRIEVER = click.option(
    "--retriever",
    metavar="NAME",
    default="hybrid",
    show_default=True,
    type=click.Choice(RETRIEVERS),
    help="lexical (BM25), dense (sentence embeddings) or hybrid (both); lexical needs no model.",
)


def _base_options(command: F) -> F:
    """The options that say how a base is read; an index has been read with them."""
    options = (
        click.option(
            "--embedder",
            metavar="MODEL",
            help="Of sentence-transformers: a name on the hub, or a folder. [default: a multilingual one]",
        ),
        click.option(
            "--examples",
            metavar="SET",
            type=click.Path(path_type=Path),
            help="A set whose questions with their explanations join the texts of the points that they name.",
        ),
        click.option("--wide", is_flag=True, help="The levels above points are found too, not points alone."),
        click.option("--join", is_flag=True, help="Make one level of those that routes have beyond six."),
        quiet_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group("knowledge", cls=CommandGroup)
def command() -> None:
    """Index and search knowledge points, measure how well they are found, and what a set covers.

    \b
    mmdyn knowledge coverage mmdyn-demo/set

    A BASE is a set, a .jsonl file of points (id, text, description, parent, aliases, language), a tree (.json, .yaml)
    or a .txt file of routes (a->b->c).
    """


@command.command("index")
@click.argument("base", type=click.Path(path_type=Path))
@click.option("-o", "--out", metavar="INDEX", required=True, type=OutPath())
@RETRIEVER
@_base_options
def index_command(base: Path, out: Path, retriever: str, **how: Any) -> None:
    """Make BASE searchable by --retriever, and by what that is made of.

    \b
    mmdyn knowledge index mmdyn-demo/set -o points --retriever lexical

    Vectors are kept in the user's cache by the content of the texts, so that only new texts are embedded again.
    \f
    out: The folder to write.
    """
    from kprag import check_index_place

    check_index_place(base, out)
    index = _open(base, retriever, how)
    index.write(out)
    click.echo(f"{out}: {counted(len(index.points), 'point')}, {counted(len(index.passages), 'text')}", err=True)


@command.command("search")
@click.argument("text")
@click.argument("base", type=click.Path(path_type=Path))
@number_option("--k", "N", default=5)
@RERANK
@click.option("--json", "as_json", is_flag=True)
@click.option("--retriever", metavar="NAME", type=click.Choice(RETRIEVERS))
@_base_options
def search_command(
    text: str, base: Path, k: int, rerank: str, as_json: bool, retriever: str | None, **how: Any
) -> None:
    """Print the points of BASE, or of an index, that fit TEXT best, the best first.

    \b
    mmdyn knowledge search 'sides of a right triangle' mmdyn-demo/set \\
        --retriever lexical
    \f
    k: How many points.
    as_json: A JSON object a line: id, text, score, description, route.
    retriever: lexical, dense or hybrid. [default: the best that an index has, else hybrid]
    """
    from kprag import read_retrievers

    index = _open(base, retriever or RETRIEVERS[-1], how)
    with _reranker(rerank) as reranker:
        hits = index.search(text, k, read_retrievers([retriever])[0] if retriever else None, reranker)
    for hit in hits:
        node = hit.node
        if as_json:
            found = {"id": node.id, "text": node.text, "score": hit.score, "description": node.description}
            click.echo(json.dumps({**found, "route": index.taxonomy.route(node.id)}, ensure_ascii=False))
        else:
            said = " ".join(node.description.split())[:SHOWN]
            say_line(f"{hit.score:8.3f}  {node.text}" + (f": {said}" if said else ""))


@command.command("eval")
@click.argument("path", metavar="SET", type=click.Path(path_type=Path))
@BASE
@click.option("--k", "ks", metavar="NUMBERS", default="1,3,5,10", show_default=True, callback=split)
@click.option("--retriever", "retrievers", metavar="NAMES", callback=split)
@click.option("--by", metavar="FIELDS", callback=split)
@click.option("--join-query", "joined", metavar="WHAT", callback=split)
@RERANK
@click.option("--json", "as_json", is_flag=True)
@_base_options
def eval_command(
    path: Path,
    base: Path | None,
    ks: list[str],
    retrievers: list[str],
    by: list[str],
    joined: list[str],
    rerank: str,
    as_json: bool,
    **how: Any,
) -> None:
    """Look up each question of SET in BASE, or in an index, and compare what is found with the points that it names.
    Without BASE the points are the set's own.

    \b
    mmdyn knowledge eval mmdyn-demo/set --retriever lexical

    Examples that are the question's own, its cluster's or of its words are in no index that it is looked up in.
    \f
    ks: For recall@k.
    retrievers: What to measure; lexical (BM25) needs no model, dense and hybrid do. [default: all that an index has,
        else all]
    by: Also apart by fields of the samples, with commas.
    joined: What joins a query: ocr (the words in the pictures), caption (a sample's meta.caption).
    as_json: {"lexical": {"recall@1": …, "mrr": …, …}, …} on standard output.
    """
    from kprag import (
        QueryWriter,
        gather_questions,
        measure_retrieval,
        print_retrieval,
        read_joined,
        read_ks,
        read_retrievers,
    )
    from mmdyn.data import load

    numbers, more = read_ks(ks), read_joined(joined)
    given = read_retrievers(retrievers) if retrievers else []
    source = load(path)
    index = _open(base or path, given[-1] if given else RETRIEVERS[-1], how)
    wanted = given or index.retrievers
    asked = gather_questions(source, index.taxonomy, QueryWriter(source.images, more))
    with _reranker(rerank) as reranker:
        report = measure_retrieval(index, asked, wanted, numbers, by, reranker)
    if as_json:
        click.echo(json.dumps(report.summary(), ensure_ascii=False))
    else:
        print_retrieval(report)


@command.command("coverage")
@click.argument("path", metavar="SET", type=click.Path(path_type=Path))
@BASE
@click.option("--json", "as_json", is_flag=True)
@click.option("--join", is_flag=True)
def coverage_command(path: Path, base: Path | None, as_json: bool, join: bool) -> None:
    """Say which points of BASE the samples of SET touch, how often, and which not. Without BASE the points are the
    set's own.

    \b
    mmdyn knowledge coverage mmdyn-demo/set
    \f
    as_json: One JSON object.
    join: Make one level of those that routes have beyond six.
    """
    from msgspec import to_builtins

    from kprag import measure_coverage, print_coverage, read_base
    from mmdyn.data import load

    found = measure_coverage(load(path), read_base(base or path, join=join))
    if as_json:
        click.echo(json.dumps(to_builtins(found), ensure_ascii=False))
    else:
        print_coverage(found)


def _open(base: Path, retriever: str, how: dict[str, Any]) -> Index:
    from kprag import open_base
    from mmdyn.work import ProgressBar

    with ProgressBar("embed", quiet=how.pop("quiet")) as bar:
        return open_base(base, meaning=retriever != "lexical", on_chunk=bar.advance, **how)


@contextmanager
def _reranker(model: str) -> Iterator[Reranker | None]:
    if not model:
        yield None
        return
    from kprag import open_reranker

    reranker = open_reranker(model)
    try:
        yield reranker
        if reranker.unordered:
            click.echo(
                f"{reranker.unordered} questions' points lie as they were found: no order could be used", err=True
            )
    finally:
        reranker.close()
