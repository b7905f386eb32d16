"""The options of `mmdyn eval` that say what lies beside a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mmdyn.cli._shared import add_options, number_option, split

if TYPE_CHECKING:
    from mmdyn.run import KnowledgeConfig

F = TypeVar("F", bound=Callable[..., object])


OPTIONS = (
    click.option(
        "--context",
        "contexts",
        metavar="NAMES",
        callback=split,
        help=(
            "What lies beside each variant of the modes: none, kprag, distractor (as many other points), hint:KIND,"
            " hint:all."
        ),
    ),
    click.option(
        "--knowledge",
        metavar="SOURCES",
        callback=split,
        help="Of kprag: gold (the sample's own points), retrieved, mixed; several with commas. [default: gold]",
    ),
    click.option(
        "--elaborate",
        metavar="WAYS",
        callback=split,
        help=(
            "Of kprag and distractor: inline, none, two-turn (expand first, then answer); several with commas."
            " [default: inline]"
        ),
    ),
    click.option(
        "--base",
        metavar="BASE",
        default="",
        help="Where points are looked up and distractors drawn. [default: the set's own points]",
    ),
    click.option("--join", is_flag=True, help="Make one level of those that routes have beyond six."),
    number_option("--k", "N", "How many points are looked up.", default=3),
    click.option(
        "--retriever",
        metavar="NAME",
        default="",
        help="lexical, dense or hybrid. [default: the best that an index has, else hybrid]",
    ),
    click.option("--embedder", metavar="MODEL", default="", help="Of sentence-transformers, where BASE is no index."),
    click.option(
        "--examples", metavar="SET", default="", help="A set whose explained questions join the points' texts."
    ),
    click.option(
        "--rerank",
        metavar="MODEL",
        default="",
        help="Who puts the first 20 points in order: cross:NAME_OR_FOLDER, or a MODEL.",
    ),
    click.option("--join-query", "joined", metavar="WHAT", callback=split, help="What joins a query: ocr, caption."),
    number_option("--knowledge-tokens", "N", "How much knowledge at most, in tokens (estimated).", default=None),
    click.option(
        "--knowledge-order",
        "order",
        metavar="NAME",
        default="given",
        show_default=True,
        help="given (the best first), reversed or shuffled.",
    ),
    click.option(
        "--knowledge-format",
        "format",
        metavar="NAME",
        default="texts",
        show_default=True,
        help="texts, names, or routes (with the levels above).",
    ),
)


def knowledge_options(command: F) -> F:
    """What lies beside a question, where it comes from and how it is laid."""
    return add_options(command, OPTIONS)


def take_library(arguments: dict[str, Any]) -> KnowledgeConfig:
    """Take the library's options out of a command's arguments. Raises UserError."""
    from kprag import Layout
    from mmdyn.run import KnowledgeConfig

    layout = Layout(
        k=arguments.pop("k"),
        tokens=arguments.pop("knowledge_tokens"),
        order=arguments.pop("order"),
        format=arguments.pop("format"),
    )
    names = ("base", "retriever", "embedder", "examples", "rerank")
    given = {name: arguments.pop(name) for name in names}
    return KnowledgeConfig(**given, joined=tuple(arguments.pop("joined")), join=arguments.pop("join"), layout=layout)
