"""A set: what became of its variants, why some were refused, how strong they are, and its questions."""

from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec

from mmdyn.data import WEAKNESS, ChainStrength, SampleSet, describe_trail
from mmdyn.sample import Sample
from mmdyn.sheets import Seen, digest_shown
from mmdyn.view._page import compared, pieces, render
from mmdyn.view.index import Catalog, has_digest
from perturb import ChainOutcomes, summarize

PAGE, TOP_REASONS = 20, 8


def page(catalog: Catalog, name: str, number: int, chain: str) -> str:
    """A set with a page of its questions, of one chain where one is named. Raises KeyError, UserError."""
    opened = catalog.set(name)
    chains = summarize(opened) if opened.manifest.parent else {}
    strengths = opened.manifest.strength or {}
    told = [_chain(one, found, strengths.get(one)) for one, found in chains.items()]
    fitting = (sample for sample in opened if not chain or (sample.variant and sample.variant.chain == chain))
    shown = list(islice(fitting, (number - 1) * PAGE, number * PAGE + 1))
    origin = _origin(catalog, opened)
    wanted = {sample.parent for sample in shown if sample.variant}
    parents = {sample.id: sample for sample in origin if sample.id in wanted} if origin and wanted else {}
    rows = [_row(catalog, opened, origin, sample, parents.get(sample.parent)) for sample in shown[:PAGE]]
    return render(
        "set.html", title=opened.name, id=name, manifest=opened.manifest, count=len(opened), chains=told, chain=chain,
        rows=rows, page=number, more=len(shown) > PAGE, weakness=WEAKNESS, live="",
        statuses=list(dict.fromkeys(status for found in chains.values() for status in found.outcomes)),
    )  # fmt: skip


def _chain(name: str, found: ChainOutcomes, strength: ChainStrength | None) -> dict[str, Any]:
    row: dict[str, Any] = {"chain": name, "made": found.made, "outcomes": found.outcomes, "strength": strength}
    return row | {"reasons": found.reasons.most_common(TOP_REASONS)}


def _origin(catalog: Catalog, opened: SampleSet) -> SampleSet | None:
    """The set that a set was made of, where it is under the path, too."""
    origin = opened.manifest.parent
    folders = (folder for folder in catalog.sets().values() if origin and has_digest(folder, origin.digest))
    return next(map(SampleSet, folders), None)


def _row(
    catalog: Catalog, opened: SampleSet, origin: SampleSet | None, sample: Sample, parent: Sample | None
) -> dict[str, Any]:
    before, after = compared(parent.question, sample.question) if parent else ([], pieces(sample.question))
    row: dict[str, Any] = {"sample": sample, "parent": parent, "before": before, "after": after}
    row["pictures"] = [catalog.picture(opened.images, ref) for ref in sample.all_images]
    row["were"] = [catalog.picture(origin.images, ref) for ref in parent.all_images] if origin and parent else []
    row["options"] = [(option.label, pieces(option.text)) for option in sample.options]
    row["gold"] = sample.answer if isinstance(sample.answer, tuple) else (str(sample.answer),)
    seen = Seen(
        set=str(opened.folder),
        parent_set=str(origin.folder) if origin else "",
        id=sample.id,
        attempt=sample.variant.attempt if sample.variant else 0,
        digest=digest_shown(sample),
    )
    row["seen"] = msgspec.json.encode(seen).decode()
    return row | {"trail": describe_trail(sample)}
