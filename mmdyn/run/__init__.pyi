from .build_dry_run import estimate_build as estimate_build
from .compare import Comparison as Comparison, compare as compare
from .conditions import ConditionSpec as ConditionSpec, ExamplesConfig as ExamplesConfig
from .config import (
    SECTIONS as SECTIONS,
    Config as Config,
    Source as Source,
    estimate_config as estimate_config,
    read_config as read_config,
    run_config as run_config,
)
from .dry_run import EstimateRow as EstimateRow, RunEstimate as RunEstimate, estimate as estimate
from .error_kinds import label_errors as label_errors
from .evaluate import evaluate as evaluate
from .execution import Execution as Execution, Limits as Limits, SlurmConfig as SlurmConfig
from .export import Records as Records, export as export, records as records
from .flow import drain as drain, waiting_for as waiting_for
from .hints import write_with_hints as write_with_hints
from .knowledge_config import (
    BaseConfig as BaseConfig,
    KnowledgeConfig as KnowledgeConfig,
    RetrieverConfig as RetrieverConfig,
)
from .merge import merge_runs as merge_runs
from .planning import Choice as Choice, Plan as Plan, plan_run as plan_run
from .predictions import score_predictions as score_predictions
from .recorded import Recorded as Recorded, check_asked as check_asked, pictures_of as pictures_of
from .run_listing import RunSummary as RunSummary, Scored as Scored, look as look
from .score import Change as Change, Rescored as Rescored, rescore as rescore, score as score
from .score_beside import Beside as Beside, score_beside as score_beside
from .scoring_config import RubricConfig as RubricConfig, ScoringConfig as ScoringConfig, open_cascade as open_cascade
from .sent_prompt import SentPrompt as SentPrompt, sent_prompt as sent_prompt
from .set_request import SetRequest as SetRequest
