"""A set: what became of its variants, why some were refused, how strong they are, and its questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import Any

import msgspec

from mmdyn.data import WEAKNESS, ChainStrength, SampleSet, describe_trail
from mmdyn.sample import Sample
from mmdyn.sheets import Seen, digest_shown
from mmdyn.view._page import compared, pieces, render
from mmdyn.view.index import Catalog
from perturb import ChainOutcomes, summarize

PAGE, TOP_REASONS = 20, 8
REFUSED = "refused by the judge"
GROUPS = {
    **dict.fromkeys(("not_applicable", "unchanged"), "not applicable"),
    **dict.fromkeys(("rejected", "doubtful"), REFUSED),
    "redrawn": "refused, then drawn again",
    "failed": "failed",
}
"""What became of variants that are not in the set, by their status in dropped.jsonl."""


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
        "set.html", title=opened.name, id=name, manifest=opened.manifest, origin=origin, count=len(opened), chains=told,
        chain=chain, place=catalog.place(opened.folder), rows=rows, page=number, more=len(shown) > PAGE, live="",
        weakness=WEAKNESS,
        groups=sorted({group for row in told for group in row["groups"]}),
    )  # fmt: skip


def _chain(name: str, found: ChainOutcomes, strength: ChainStrength | None) -> dict[str, Any]:
    counts, reasons = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for status, by_reason in found.reasons.items():
        group = GROUPS.get(status, status.replace("_", " "))
        counts[group] += by_reason.total()
        reasons[group] += by_reason
    judged = found.made + counts[REFUSED]
    row: dict[str, Any] = {"chain": name, "made": found.made, "groups": counts, "strength": strength}
    row["accepted"] = found.made / judged if judged and not found.outcomes["unjudged"] else None
    return row | {"reasons": {group: every.most_common(TOP_REASONS) for group, every in reasons.items()}}


def _origin(catalog: Catalog, opened: SampleSet) -> SampleSet | None:
    """The set that a set was made of, where it is under the path or beside the set."""
    origin = opened.manifest.parent
    folder = catalog.find_set(opened.folder, origin.digest) if origin else None
    return SampleSet(folder) if folder else None


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
