"""What `mmdyn probe` chose to ask of each set, as it stands in a run's store: each design, by time and set."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from mmdyn.sample import from_json
from mmdyn.work import Reader, Store

D = TypeVar("D", bound=Struct)

NOT_SHOWN = "what came before is not shown, and p not adjusted for it"
"""What is said of the last of several designs."""


def keep_probe_design(store: Store, kind: str, set: str, design: Struct, time: int) -> None:
    """Save a design of a set under a store's kind, unless it is the set's current one. `time` is in nanoseconds."""
    with Reader(store.folder) as reader:
        if (known := probe_designs(reader, kind, type(design)).get(set)) and known[-1] == design:
            return
    store.put(kind, f"{time:020}:{set}", msgspec.json.encode(design))


def probe_designs(reader: Reader, kind: str, design: type[D]) -> dict[str, list[D]]:
    """The designs of each set, from first to last."""
    found = dict[str, list[D]]()
    for key, value in reader.items(kind):
        found.setdefault(key.partition(":")[2], []).append(from_json(value, design))
    return found
