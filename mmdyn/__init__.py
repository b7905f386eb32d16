"""mmdyn: new questions out of old ones, and how much of a model's score survives them.

The public verbs are `load`, `perturb`, `evaluate`, `score` and `report`; they are imported when they are first used. A
`KnowledgeConfig` with its `Layout` says what `evaluate` lays beside questions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprag.layout import Layout
    from mmdyn.data.load import load
    from mmdyn.data.set_folder import SampleSet
    from mmdyn.errors import MmdynError
    from mmdyn.run.evaluate import evaluate
    from mmdyn.run.knowledge_config import KnowledgeConfig
    from mmdyn.run.score import score
    from mmdyn.sample import Sample
    from mmdyn.tables.summary import report
    from mmdyn.work.run_folder import RunFolder
    from perturb.pipeline import perturb

__all__ = [
    "KnowledgeConfig",
    "Layout",
    "MmdynError",
    "RunFolder",
    "Sample",
    "SampleSet",
    "evaluate",
    "load",
    "perturb",
    "report",
    "score",
]

_HOMES = {
    "Layout": "kprag.layout",
    "KnowledgeConfig": "mmdyn.run.knowledge_config",
    "MmdynError": "mmdyn.errors",
    "RunFolder": "mmdyn.work.run_folder",
    "Sample": "mmdyn.sample",
    "SampleSet": "mmdyn.data.set_folder",
    "evaluate": "mmdyn.run.evaluate",
    "load": "mmdyn.data.load",
    "perturb": "perturb.pipeline",
    "report": "mmdyn.tables.summary",
    "score": "mmdyn.run.score",
}


def __dir__() -> list[str]:
    return [*__all__, *globals()]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mmdyn' has no attribute {name!r}")
