from kprag import Layout as Layout
from mmdyn.data import SampleSet as SampleSet, load as load
from mmdyn.errors import MmdynError as MmdynError
from mmdyn.run import (
    BaseConfig as BaseConfig,
    ConditionSpec as ConditionSpec,
    ExamplesConfig as ExamplesConfig,
    Execution as Execution,
    KnowledgeConfig as KnowledgeConfig,
    Limits as Limits,
    RetrieverConfig as RetrieverConfig,
    RubricConfig as RubricConfig,
    ScoringConfig as ScoringConfig,
    SetRequest as SetRequest,
    SlurmConfig as SlurmConfig,
    evaluate as evaluate,
    records as records,
    score as score,
)
from mmdyn.sample import Sample as Sample
from mmdyn.tables import report as report, tabulate as tabulate, why as why
from mmdyn.work import RayConfig as RayConfig, RunFolder as RunFolder
from perturb import beside as beside, perturb as perturb
