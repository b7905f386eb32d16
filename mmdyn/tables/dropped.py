"""Variants that were never made: which of a set's chains do not apply to a question, and what a judge refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mmdyn.data import SampleSet, read_set_manifest
from mmdyn.errors import UserError
from mmdyn.stats import Ints
from mmdyn.tables.keys import Key
from mmdyn.work import RunFolder

REASONS = {"unchanged": "not_applicable"} | {name: name for name in ("not_applicable", "rejected", "doubtful")}
"""What rows call the reasons that a set's dropped.jsonl has. All other variants that are lacking failed."""


def dropped_variants(
    runs: Mapping[str, RunFolder], keys: Sequence[Key], parents: Iterable[tuple[str, str]]
) -> dict[tuple[str, int], Ints]:
    """By reason and condition (its index) how many variants of each parent were not made. Sets that do not lie where
    they were tell nothing."""
    places = {parent: place for place, parent in enumerate(parents)}
    found = dict[tuple[str, int], Ints]()
    asked = dict[tuple[str, str, str], list[int]]()
    for place, key in enumerate(keys):
        asked.setdefault((key.run, key.set, key.chain), []).append(place)
    for name, run in runs.items():
        for entry in (entry for entry in run.config.sets if entry.name != entry.root):
            for one in _dropped(run, entry.folder, entry.digest):
                parent, reason = places.get((entry.root, one[0])), REASONS.get(one[2])
                if parent is None or reason is None:
                    continue
                for place in asked.get((name, entry.root, one[1]), ()):
                    counts = found.setdefault((reason, place), np.zeros(len(places), np.int64))
                    counts[parent] += 1
    return found


def _dropped(run: RunFolder, folder: str, digest: str) -> list[tuple[str, str, str]]:
    """The parent, the chain and the status of each variant of a set that was not kept."""
    try:
        manifest = read_set_manifest(run.folder / folder)
        if manifest is None or manifest.digest != digest:
            return []
        return [(one.parent, one.chain, one.status) for one in SampleSet(run.folder / folder).dropped()]
    except UserError:  # what is wrong with the set spoils no report
        return []
