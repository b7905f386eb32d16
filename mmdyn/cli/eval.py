"""mmdyn eval: ask models the standard, the dynamic and the knowledge-beside variants, score and record."""

from __future__ import annotations

from typing import Any

import click

from mmdyn.cli._command import Command, take
from mmdyn.cli._estimate import dry_run_option, print_estimate
from mmdyn.cli._judging import GONE as GONE_OF_JUDGES, scoring_options
from mmdyn.cli._shared import (
    OutPath,
    concurrency_option,
    finish,
    limit_option,
    money_options,
    no_cache_option,
    number_option,
    quiet_option,
    split,
    variant_options,
    workers_option,
)

HEADINGS = {"modes": "Conditions", "policy": "Scoring", "base": "Knowledge", "n": "Limits", "ray": "Execution"}
"""Each is a section of a YAML config, too, and an option a key of it."""

GONE = {
    "--scoring-mode": "write --style likelihood",
    "--knowledge": "write the source into the context's name: --context kprag:retrieved",
    "--elaborate": "write --context kprag:two-turn",
    "--join": "write --base BASE,join=true",
    "--k": "write --retriever k=5",
    "--embedder": "write --retriever NAME,embedder=MODEL",
    "--examples": "write --retriever NAME,examples=SET",
    "--join-query": "write --retriever NAME,query=ocr",
    "--knowledge-tokens": "write --layout tokens=800",
    "--knowledge-order": "write --layout order=reversed",
    "--knowledge-format": "write --layout format=names",
    "--executor": "write --ray ADDRESS for a Ray cluster; launched processes are noticed without an option",
    "--address": "write --ray HOST:PORT",
    "--replicas": "write --ray ADDRESS,replicas=2",
    "--gpus-per-replica": "write --ray ADDRESS,gpus=0.5",
    **GONE_OF_JUDGES,
}


@click.command("eval", cls=Command, headings=HEADINGS, gone=GONE)
@click.argument("sets", metavar="SET...", nargs=-1, required=True)
@click.option(
    "-m",
    "--model",
    "models",
    metavar="MODEL",
    multiple=True,
    required=True,
    help="backend:name, such as openai:gpt-4o or baseline:lexical; give it several times for several models.",
)
@click.option(
    "-o",
    "--out",
    metavar="RUN",
    required=True,
    type=OutPath(),
    help="The run's folder; the same command again goes on in it.",
)
@dry_run_option
@click.option(
    "--mode",
    "modes",
    callback=split,
    help="standard, dynamic, kprag, dynamic+kprag, separated by commas. [default: what the sets hold]",
)
@click.option(
    "--context",
    "contexts",
    metavar="NAMES",
    callback=split,
    help=(
        "What lies beside each variant of the modes: none, kprag (also kprag:retrieved, kprag:mixed), distractor (as"
        " many other points), hint:KIND, hint:all; with :none or :two-turn for how a model is to elaborate on"
        " points."
    ),
)
@click.option(
    "--style",
    "styles",
    callback=split,
    default="direct",
    show_default=True,
    help=(
        "direct, cot, or both with a comma; likelihood weighs the options of choices and statements instead of"
        " having answers written (for base models)."
    ),
)
@click.option(
    "--prompt",
    metavar="FILE",
    help=(
        "A template of your own with {question}, {options}, {instruction} and, where a context is asked, {knowledge}."
    ),
)
@number_option("--epochs", "N", "Ask everything so many times.")
@variant_options(required=False)
@scoring_options
@click.option(
    "--base",
    metavar="BASE,…",
    default="",
    help=(
        "Where points are looked up and distractors drawn [default: the set's own points]; join=true makes one level"
        " of those that routes have beyond six."
    ),
)
@click.option(
    "--retriever",
    metavar="NAME,…",
    default="",
    help=(
        "lexical, dense or hybrid [default: the best that an index has, else hybrid]; k=3: how many points; where"
        " BASE is no index, embedder=MODEL of sentence-transformers and examples=SET, whose explained questions join"
        " the points' texts; query=ocr,caption: what joins a query."
    ),
)
@click.option(
    "--rerank",
    metavar="MODEL",
    default="",
    help="Who puts the first 20 points in order: cross:NAME_OR_FOLDER, or a MODEL.",
)
@click.option(
    "--layout",
    metavar="KEY=VALUE,…",
    default="",
    help=(
        "tokens=800: how much knowledge at most (estimated); order=given (the best first), reversed or shuffled;"
        " format=texts, names, or routes (with the levels above)."
    ),
)
@limit_option("n", "Only the first N questions of each set, with their variants.")
@money_options
@concurrency_option("Requests in flight at most; one that seems to hang is none.")
@click.option(
    "--ray",
    metavar="ADDRESS,…",
    default="",
    help=(
        "Replicas on a Ray cluster answer: HOST:PORT, or local to start one on this machine; replicas=2 of each model,"
        " each with gpus=0.5. [default: this process, or those that a launcher started]"
    ),
)
@click.option(
    "--partition",
    default="cost",
    show_default=True,
    help="How launched processes share the asks: by size, by cost, or in chunks (count,asks=64).",
)
@workers_option("With --ops: processes; the variants are the same for any number.")
@no_cache_option("Ask again what another run has asked before.")
@quiet_option
def command(dry_run: bool, **arguments: Any) -> None:
    """Ask models the questions of one or more sets and report how the conditions compare.

    \b SET is a set folder, or a file (JSONL, VLMEvalKit TSV, Parquet). On several GPUs: accelerate launch
    --num_processes N -m mmdyn eval …; each process does a share. Exit status: 0 done; 1 done, but some samples were
    never answered, or not judged; 3 stopped at --max-cost or --max-requests.
    """
    from mmdyn.run import SECTIONS, estimate, evaluate

    groups: dict[str, Any] = {name: take(arguments, section) for name, section in SECTIONS.items()}
    if dry_run:
        print_estimate(lambda: estimate(**arguments, **groups))
    else:
        finish(evaluate(**arguments, **groups))
