from .conditions import ConditionSpec as ConditionSpec, ExamplesConfig as ExamplesConfig
from .config import (
    Config as Config,
    Source as Source,
    estimate_config as estimate_config,
    read_config as read_config,
    run_config as run_config,
)
from .context_providers import write_with_hints as write_with_hints
from .dry_run import (
    EstimateRow as EstimateRow,
    RunEstimate as RunEstimate,
    estimate as estimate,
    estimate_build as estimate_build,
)
from .evaluate import evaluate as evaluate, run_request as run_request
from .execution import Execution as Execution, Limits as Limits, SlurmConfig as SlurmConfig
from .flow import drain as drain, waiting_for as waiting_for
from .memory_plan import EvidencePlan as EvidencePlan, MemoryPlan as MemoryPlan, plan_memory as plan_memory
from .power import Choice as Choice, Plan as Plan, plan_run as plan_run
from .predictions import score_predictions as score_predictions
from .probe import Probed as Probed, probe as probe
from .probes._probe import Probe as Probe
from .probes.completion import Completion as Completion
from .probes.membership import Members as Members
from .probes.options import Options as Options
from .probes.order import Order as Order
from .recorded import (
    Recorded as Recorded,
    Records as Records,
    check_asked as check_asked,
    export as export,
    pictures_of as pictures_of,
    records as records,
)
from .render import SentPrompt as SentPrompt, sent_prompt as sent_prompt
from .request import SECTIONS as SECTIONS, RunRequest as RunRequest, SetRequest as SetRequest
from .runs import RunSummary as RunSummary, Scored as Scored, look as look, merge_runs as merge_runs
from .score import (
    Beside as Beside,
    Change as Change,
    Rescored as Rescored,
    rescore as rescore,
    score as score,
    score_beside as score_beside,
)
from .settings import (
    BaseConfig as BaseConfig,
    KnowledgeConfig as KnowledgeConfig,
    RetrieverConfig as RetrieverConfig,
    RubricConfig as RubricConfig,
    ScoringConfig as ScoringConfig,
    open_cascade as open_cascade,
)
from .verdicts import Comparison as Comparison, compare as compare, label_errors as label_errors
