"""A set as VLMEvalKit's TSV with the knowledge beside each question, which VLMEvalKit shows as a hint before it."""

from __future__ import annotations

from pathlib import Path

from kprag import knowledge_block
from mmdyn.data import SampleSet, Tsv
from mmdyn.errors import UserError
from mmdyn.sample import Sample


def write_with_hints(source: str | Path, out: Path) -> int:
    """Write the samples that have knowledge points, each at its place in the set by `index`; returns how many.

    Raises UserError where there is none, or `out` is no .tsv file or is there already.
    """
    opened, out = SampleSet(source), Path(out)
    if out.suffix != ".tsv" or out.exists():
        raise UserError(f"{out} {'is there already' if out.exists() else 'is no .tsv file'}: choose another name")
    texts = {point.point: point.text for point in opened.knowledge()}
    count = sum(bool(sample.knowledge_points) for sample in opened)
    if not count:
        raise UserError(f"no sample of {opened.folder} has knowledge points: kprag needs them")

    def hint(sample: Sample) -> str:
        return knowledge_block(sample, texts)

    Tsv().write(opened, out, hint)
    return count
