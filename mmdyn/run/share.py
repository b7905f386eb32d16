"""One process's share of a plan, the dearest asks first.

Longest first needs the asks out of the plan's order, so a share knows where each one's sample lies in its set's file:
some 20 bytes an ask, and none of the samples. To stream the plan again for each would keep nothing, and could not
reorder.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.data import LocatedSet
from mmdyn.run.executors._executor import Engine, planned
from mmdyn.run.plan import Ask, Owners, Partition, Skip, asks_of, cost

_Located: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Of each ask the place of its set, where in the set's file its sample lies, and its condition with its epoch."""


class RankShare:
    """The asks of share `number` among `shares`, by model; `len` counts them over all models.

    `seed` draws who gets what; it must be one for all shares.
    """

    def __init__(self, engine: Engine, partition: Partition, number: int, shares: int, seed: str = "") -> None:
        self._job = engine.job
        self._sets = [LocatedSet(opened) for opened in engine.sets]
        places, offsets, turns, costs = array("I"), array("q"), array("I"), array("f")
        epochs = self._epochs = self._job.spec.epochs
        numbers = {condition: number for number, condition in enumerate(self._job.conditions)}
        self._providers = engine.providers
        for ask in planned(self._job, self._sets, self._providers):
            if isinstance(ask, Skip):
                continue
            places.append(ask.place)
            offsets.append(self._sets[ask.place].at)
            turns.append(numbers[replace(ask.condition, chain="")] * epochs + ask.epoch)
            costs.append(cost(ask))
        estimated, of_set = np.frombuffer(costs, np.float32), np.frombuffer(places, np.uint32)
        located = of_set, np.frombuffer(offsets, np.int64), np.frombuffer(turns, np.uint32)

        def taken(owners: Owners) -> _Located:
            order = partition.order(estimated, owners, number)
            return located[0][order], located[1][order], located[2][order]

        models = len(engine.models)
        if partition.strategy == "cell":
            self._asks = [taken(owners) for owners in partition.cells(of_set, estimated, models, shares)]
        else:
            self._asks = [taken(partition.owners(estimated, shares, seed))] * models

    def __len__(self) -> int:
        return sum(len(places) for places, _, _ in self._asks)

    def of(self, model: int) -> Iterator[Ask]:
        """What is put to the model of this place, the dearest first; as often as wanted."""
        for place, offset, turn in zip(*self._asks[model], strict=True):
            sample = self._sets[place].read(int(offset))
            provider = self._providers[place] if self._providers else None
            number, epoch = divmod(int(turn), self._epochs)
            (ask,) = asks_of(int(place), sample, self._job.conditions[number : number + 1], 1, provider)
            assert isinstance(ask, Ask)
            yield replace(ask, epoch=epoch)
