"""What servers of one's own list of a run's models and judges, and that it stays the same while the run goes on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mmdyn.errors import UserError
from mmdyn.models import Model, read_listings
from mmdyn.work import Served, run_to_the_end, spelt


def read_served(models: Iterable[Model], judges: Iterable[Model]) -> Served:
    """What servers list of these now, by the model's label, of a judge by `judge LABEL`; nothing of those that tell
    nothing."""
    named = {model.label: model for model in models} | {f"judge {judge.label}": judge for judge in judges}
    run_to_the_end(read_listings(named.values()))
    listings = {name: getattr(model, "listing", None) for name, model in named.items()}
    return {name: (listing.entry,) for name, listing in listings.items() if listing is not None and listing.entry}


def still_served(folder: Path, before: Served, now: Served, *, changed_model: bool) -> Served:
    """What is known of a run's servers, with what they list now.

    Args:
        folder: The run's.
        before: What its run.json says.
        now: What `read_served` found.
        changed_model: Another entry may follow the one of before.

    Raises:
        UserError: a server lists another model under the name than before.
    """
    known = dict(before)
    for name, (entry,) in now.items():
        entries = known.get(name, ())
        if entries and entries[-1] != entry and not changed_model:
            raise UserError(
                f"the server of {name} has another model under this name than when {folder} was begun ({spelt(entry)};"
                f" {spelt(entries[-1])} before): choose another -o, or go on with --changed-model"
            )
        if not entries or entries[-1] != entry:
            known[name] = (*entries, entry)
    return known
