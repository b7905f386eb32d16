"""Flips for people: the questions that variants turned, what was asked and read, and what a rule can tell of why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TextIO

from mmdyn.data import SampleSet
from mmdyn.errors import UserError, command_line
from mmdyn.keys import canonical
from mmdyn.sample import Answer, Sample
from mmdyn.tables.contrast_table import said_of
from mmdyn.tables.flips import Flip, FlippedReply
from mmdyn.tables.results import POOLED, sample_of
from mmdyn.tables.terminal import clean, open_console, say
from mmdyn.work import Reader, RunFolder

SHOWN = 80
"""Characters of an answer, and of the right options, that are printed."""


def print_flips(flips: Sequence[Flip], runs: Sequence[RunFolder], file: TextIO | None = None) -> None:
    """Print the flips from standard to dynamic of the runs that they are of, chain by chain; others are counted.

    A question is cut at the width of the terminal. Raises InputError where a sample is not in a run's store.
    """
    console, heading = open_console(file), ""
    listed = [flip for flip in flips if _kind(flip) == "chain"]
    ways = [f"{number} {way}" for way, number in Counter(flip.direction for flip in listed).items()]
    say(console, f"Flips from standard to dynamic: {', '.join(ways) or 'none'}")
    samples = _samples(listed, runs)
    for flip in listed:
        if (title := f"{flip.model} on {flip.set}, {said_of(flip.held)}: {flip.direction}") != heading:
            say(console, title)
        heading = title
        replies = [(flip.a, reply) for reply in flip.a_replies] + [(flip.b, reply) for reply in flip.b_replies]
        asked = [samples[flip.set, reply.sample, reply.expected] for _, reply in replies]
        say(console, f"  {flip.parent}")
        question = clean(f"    question: {_line(asked[0].question)}")
        question.truncate(console.width, overflow="ellipsis")
        console.print(question, soft_wrap=True)
        for (side, reply), sample in zip(replies, asked, strict=True):
            say(console, f"    {side}: {_told(reply, sample)}")
            if change := _change(asked[0], sample):
                say(console, f"      {change}")
    if others := Counter(kind for kind in map(_kind, flips) if kind != "chain"):
        kinds = ", ".join(f"{kind} {number}" for kind, number in others.items())
        say(console, f"and {others.total()} in other contrasts ({kinds}): --json has them")
    for command in _commands(listed, runs):
        say(console, f"what a variant changed: {command}")


def _kind(flip: Flip) -> str:
    """What a flip is between; those by one chain are listed."""
    if flip.factor != "variant":
        return flip.factor
    return "all chains together" if flip.held["chain"] == POOLED else "chain"


def _samples(flips: Sequence[Flip], runs: Sequence[RunFolder]) -> dict[tuple[str, str, Answer], Sample]:
    """What was asked in some flips, by set, id and right answer, which tells versions of a set apart."""
    wanted = {(flip.set, reply.sample) for flip in flips for reply in (*flip.a_replies, *flip.b_replies)}
    found = dict[tuple[str, str, Answer], Sample]()
    for run in runs:
        with Reader(run.records_folder) as reader:
            for record in run.records():
                if record.score and (record.set, record.sample) in wanted:
                    sample = sample_of(record, run, reader)
                    found[record.set, record.sample, sample.answer] = sample
    return found


def _told(reply: FlippedReply, sample: Sample) -> str:
    read = "no answer found" if reply.extracted is None else _line(_spelt(reply.extracted), SHOWN)
    status = "" if reply.status == "ok" else f" ({reply.status})"
    right = sample.answer if isinstance(sample.answer, tuple) else ()
    meant = "; ".join(option.text for option in sample.options if option.label in right and option.text)
    expected = f"expected {_line(_spelt(reply.expected), SHOWN)}" + (f" ({_line(meant, SHOWN)})" if meant else "")
    return f"{reply.sample}: {read}{status}{' (needs a judge)' * reply.needs_judge}, {expected}"


def _change(before: Sample, after: Sample) -> str:
    """What became of the options, in a sentence; empty where that cannot be told."""
    told, right = _spelt(before.answer), _spelt(after.answer)
    if before.options and not after.options:
        return f"The options are gone: the question became {after.task_type}."
    if before.task_type == "true_false" and after.options:
        return f"True or false became options: the right one is {right}."
    was, now = ([(option.text, option.image) for option in sample.options] for sample in (before, after))
    if was == now or Counter(was) != Counter(now):
        return ""
    return f"The options moved: right was {told} and is {'still' if told == right else 'now'} {right}."


def _commands(flips: Sequence[Flip], runs: Sequence[RunFolder]) -> Iterator[str]:
    """How to see a variant beside its question, with an id of each dynamic set."""
    entries = ((entry, run.set_folder(entry)) for run in runs for entry in run.config.sets)
    for root, folder in dict.fromkeys((one.root, folder) for one, folder in entries if one.name != one.root):
        wanted = {reply.sample for flip in flips if flip.set == root for reply in flip.b_replies}
        with suppress(UserError):  # the set does not lie there any more
            found = next((sample.id for sample in SampleSet(folder) if sample.id in wanted), "")
            if found:
                yield command_line("mmdyn", "data", "show", folder, found)


def _spelt(value: object, between: str = ", ") -> str:
    """What was read or is right: labels and blanks with commas between, spellings of one blank with `or`."""
    if isinstance(value, list | tuple):
        return between.join(_spelt(part, " or ") for part in value)
    return value if isinstance(value, str) else canonical(value).decode()


def _line(text: str, most: int | None = None) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if most is None or len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
