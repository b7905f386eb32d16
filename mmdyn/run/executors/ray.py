"""`--executor ray`: replicas of each model as actors of a Ray cluster, fed by this process.

This process alone plans, looks into the response cache, scores and writes the store; only messages and replies travel.
"""

from __future__ import annotations

from mmdyn.models import Model
from mmdyn.run.executors._executor import Engine
from mmdyn.run.executors._fleet import Fleet
from mmdyn.run.plan import Partition
from mmdyn.run.share import RankShare
from mmdyn.work import Ranks, RayConfig, Store, open_ray


class Ray:
    """Feeds the replicas of a cluster. Raises UserError for numbers that Ray cannot give."""

    ranks = Ranks()

    def __init__(self, partition: Partition, config: RayConfig) -> None:
        config.check()
        self._partition, self._config = partition, config

    def meet(self, store: Store) -> None:
        """There is nobody to wait for."""

    def run(self, engine: Engine) -> None:
        """Ask the whole plan, the dearest asks first. Raises UserError where the cluster cannot be had or is too
        small."""
        texts, job, whole = engine.model_texts, engine.job, RankShare(engine, self._partition, 0, 1)
        with open_ray(self._config.address) as ray:
            gpus = self._config.gpus_each(ray)

            def fleet(place: int, model: Model) -> Fleet:
                return Fleet(ray, texts[place], model, self._config.replicas, gpus, job.limits.concurrency)

            engine.ask(whole.of, len(whole), host=fleet)
