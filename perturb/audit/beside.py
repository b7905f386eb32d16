"""A question beside its variants, for a notebook."""

from __future__ import annotations

from pathlib import Path

from mmdyn.data import SampleSet, describe_sample, describe_trail, sample_html
from mmdyn.html import html_table
from mmdyn.sample import Sample
from perturb.audit.pairs import find_parent


class Beside:
    """A parent and its variants; shown side by side, with the words that changed marked."""

    def __init__(self, parents: SampleSet, parent: Sample, dynamic: SampleSet, variants: list[Sample]) -> None:
        self.parent, self.variants = parent, variants
        self._before, self._after = parents.images, dynamic.images

    def __repr__(self) -> str:
        variants = (describe_sample(variant, self._after) for variant in self.variants)
        return "\n\n".join((describe_sample(self.parent, self._before), *variants))

    def _repr_html_(self) -> str:
        heads = [self.parent.id, *(one.variant.chain for one in self.variants if one.variant)]
        cells = [sample_html(self.parent, self._before)]
        cells += [sample_html(variant, self._after, self.parent) for variant in self.variants]
        return html_table(heads, [cells], notes=[describe_trail(variant) for variant in self.variants])


def beside(dynamic: SampleSet, id: str, parents: SampleSet | str | Path | None = None) -> Beside:
    """A question, by its id or a variant's, beside the variants that a dynamic set has of it.

    parents: the set that it was made of, where that is not beside it or in it. Raises UserError.
    """
    source = find_parent(dynamic, parents.folder if isinstance(parents, SampleSet) else parents)
    id = next((one.parent for one in dynamic if one.id == id), id)
    return Beside(source, source[id], dynamic, [one for one in dynamic if one.parent == id])
