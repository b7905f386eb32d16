"""What a call of `perturb` is to make, and whether what lies in its folder is that, finished or begun."""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.data import MANIFEST_FILE, SAMPLES_FILE, SampleSet, is_being_written
from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical
from mmdyn.work import Ranks, Store
from perturb.recipe import Recipe
from perturb.services import Services

WORK = ".work"
"""Where results are kept until the set is written, under the out folder; its store's lock says who is at it."""

_SETTINGS = "settings"


class Plan(Struct, frozen=True):
    """A set, what to make of it and where.

    `made` is what the new set's manifest says of that; `waits` whether a server or a device is waited for.
    """

    source: SampleSet
    out: Path
    recipe: Recipe
    limit: int | None
    name: str
    ranks: Ranks
    quiet: bool
    made: dict[str, Json]
    waits: bool

    @staticmethod
    def of(
        source: SampleSet, out: Path, recipe: Recipe, limit: int | None, name: str, ranks: Ranks, quiet: bool
    ) -> Plan:
        """Opens the tools that are used, to learn what they are. Raises UserError where one cannot be had."""
        made: dict[str, Json] = {
            "command": "perturb",
            "ops": recipe.ops,
            "draws": recipe.draws,
            "seed": recipe.seed,
            "limit": limit,
            "version": version("mmdyn"),
        }
        if recipe.factorial:
            made["factorial"] = True
        services = Services(recipe.tools)
        try:
            used = sorted(recipe.uses & {"rewriter", "styler"}) + (["judge"] if recipe.tools.judge else [])
            tools = {name: getattr(services, name) for name in used}
        finally:
            services.close()
        made |= {name: tool.identity for name, tool in tools.items()}
        if "judge" in tools:
            made |= {"votes": recipe.tools.votes, "redraws": recipe.redraws}
        waits = any(tool.waits for tool in tools.values())
        return Plan(source, out, recipe, limit, name, ranks, quiet, made, waits)

    @property
    def settings(self) -> dict[str, Json]:
        """Everything that decides the new set."""
        origin: dict[str, Json] = {"name": self.source.name, "digest": self.source.manifest.digest}
        return {**self.made, "name": self.name, "source": origin}

    @property
    def unsettled(self) -> Path:
        """The file that is there where variants of the written set failed and are to be tried again."""
        return unsettled_mark(self.out)

    def finished(self) -> SampleSet | None:
        """The set in `out` where it is finished, with nothing to try again, and was made with these settings, whatever
        the version.

        Raises UserError where another set is there.
        """
        out = self.out
        if is_being_written(out):
            return None
        if not (out / MANIFEST_FILE).is_file():
            if (out / SAMPLES_FILE).exists() and not (out / WORK).exists():
                raise UserError(f"{out} already holds a set: choose another folder, or remove this one")
            return None
        found = SampleSet(out)
        made, parent = found.manifest.made, found.manifest.parent
        if made.get("command") != "perturb" or parent is None:
            raise UserError(
                f"{out} already holds another set ({found.name}): choose another folder, or remove this one"
            )
        there: dict[str, Json] = {**made, "name": found.name, "source": {"name": parent.name, "digest": parent.digest}}
        self._agree(there | {"version": self.made["version"]})
        if self.unsettled.exists():
            return None
        if self.ranks.number == 0:
            shutil.rmtree(out / WORK, ignore_errors=True)
            if not self.quiet:
                print(f"{out} is finished: nothing to do", file=sys.stderr)
        return found

    def begin(self, store: Store) -> None:
        """Go on where the settings are those of the unfinished set in `out`. Raises UserError where they are not."""
        begun = store.get(_SETTINGS, _SETTINGS)
        if begun is None:
            store.put(_SETTINGS, _SETTINGS, canonical(self.settings))
            store.flush()
        else:
            self._agree(msgspec.json.decode(begun))

    def _agree(self, there: dict[str, Json]) -> None:
        here = self.settings
        differing = [
            f"{what} {canonical(there.get(what)).decode()}, now {canonical(here.get(what)).decode()}"
            for what in {**here, **there}
            if there.get(what) != here.get(what)
        ]
        if differing:
            raise UserError(
                f"{self.out} was made with other settings ({'; '.join(differing)}): "
                "choose another folder, or remove this one"
            )


def is_unsettled(out: Path) -> bool:
    """Whether variants of a written set failed for a reason that may pass."""
    return unsettled_mark(out).exists()


def unsettled_mark(out: Path) -> Path:
    """The file that says so."""
    return out / WORK / "unsettled"
