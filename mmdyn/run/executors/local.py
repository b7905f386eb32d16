"""One process, many asks in flight."""

from __future__ import annotations

from mmdyn.run.executors._executor import Engine
from mmdyn.work import Ranks, Store


class Local:
    """Asks the plan in its order, so that a run of any size begins at once and holds nothing."""

    ranks = Ranks()

    def meet(self, store: Store) -> None:
        """There is nobody to wait for."""

    def run(self, engine: Engine) -> None:
        """Ask the whole plan."""
        engine.ask(lambda _: engine.plan(), engine.job.planned * len(engine.models))
