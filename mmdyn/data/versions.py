"""Rows that are versions of a question: one was published, the others become variants with other answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from mmdyn.data.columns import VERSION_OF
from mmdyn.data.files import read_records
from mmdyn.data.make_set import clear, place
from mmdyn.data.rows import Row, bring_images
from mmdyn.data.set_folder import REJECTED_FILE, Origin, Rejected, SampleSet, SetWriter
from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.sample import Sample, Variant, Verdict

VERSION = "version"
"""The chain of the variants."""


def versions_folder(out: Path) -> Path:
    """The folder of the variants, beside that of the questions."""
    return out.parent / f"{out.resolve().name}-versions"


def write_versions(
    read: Callable[[], SampleSet], out: Path, name: str, how: dict[str, Json], published: str
) -> SampleSet:
    """Write the published version of each question as a set, and the others as a set of counterfactual variants of it.

    Args:
        read: Reads all versions, which name their question in meta (VERSION_OF).
        out: The folder of the set; that of the variants is `versions_folder(out)`.
        name: The set's name.
        how: How it is made (`mmdyn.data.make_set.made`).
        published: NAME=VALUE: which version has VALUE in its field or meta NAME; empty for the first one.

    Returns:
        The set of published versions. Both are opened as they are where they were made in the same way.

    Raises:
        InputError: Rows are bad.
        UserError: Not exactly one version of a question is the published one, or no question has two versions.
    """
    beside, questions = versions_folder(out), dict[str, list[Sample]]()
    with place(out, how) as done, place(beside, how) as other:
        if done is not None and other is not None:
            return done
        source = read()
        for sample in source:
            questions.setdefault(str(sample.meta[VERSION_OF]), []).append(sample)
        chosen = [_published(question, own, published) for question, own in questions.items()]
        if len(chosen) == len(source):
            raise UserError(f"no question has two versions: map {VERSION_OF} to the column that its versions share")
        clear(out)
        clear(beside)
        with SetWriter(out, name, made=how) as writer:
            for first in chosen:
                writer.add(bring_images(first, source.images, writer.images))
            for bad in read_records(source.folder / REJECTED_FILE, Rejected):
                writer.reject(Row(bad.file, bad.line, problem=bad.problem))
        made = SampleSet(out)
        parent = Origin(made.name, made.manifest.digest)
        with SetWriter(beside, beside.name, parent=parent, made=how, roles={VERSION: "counterfactual"}) as writer:
            for first, own in zip(chosen, questions.values(), strict=True):
                for draw, sample in enumerate(one for one in own if one is not first):
                    variant = replace(sample, variant=_trail(first, draw))
                    writer.add(bring_images(variant, source.images, writer.images))
        return made


def _published(question: str, versions: list[Sample], published: str) -> Sample:
    """The version that was published. Raises UserError."""
    name, _, value = published.partition("=")
    found = [one for one in versions if str((one.meta | one.fields).get(name)) == value] if published else versions[:1]
    if len(found) != 1:
        count = f"{len(found) or 'none'} of {len(versions)} versions of {question!r}"
        raise UserError(f"{count} have {published}: exactly one of a question's versions was published")
    return found[0]


def _trail(published: Sample, draw: int) -> Variant:
    return Variant(
        parent=published.id,
        chain=VERSION,
        draw=draw,
        seed=0,
        steps=(),
        verdict=Verdict("unjudged"),
        parent_type=published.task_type,
        hidden=published.told,
        keeps_answer=False,
    )
