"""mmdyn: new questions out of old ones, and how much of a model's score survives them.

The public verbs are `load`, `perturb`, `evaluate`, `score`, `report`, `tabulate` and
`why`; `beside` and `records` show what
lies in sets and runs. They are imported when they are first used.
`evaluate` is told what to do in five groups: ConditionSpec, ScoringConfig, KnowledgeConfig, Limits and Execution.
"""

from importlib import import_module

_ROOMS = {
    "kprag": ["Layout"],
    "mmdyn.data": ["SampleSet", "load"],
    "mmdyn.errors": ["MmdynError"],
    "mmdyn.run": [
        *("ConditionSpec", "Execution", "KnowledgeConfig", "Limits", "ScoringConfig"),
        *("BaseConfig", "ExamplesConfig", "RetrieverConfig", "RubricConfig", "SetRequest", "SlurmConfig"),
        *("evaluate", "records", "score"),
    ],
    "mmdyn.sample": ["Sample"],
    "mmdyn.tables": ["report", "tabulate", "why"],
    "mmdyn.work": ["RayConfig", "RunFolder"],
    "perturb": ["beside", "perturb"],
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}
__all__ = sorted(_HOMES)


def __dir__() -> list[str]:
    return [*__all__, *globals()]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mmdyn' has no attribute {name!r}")
