from .batches import (
    CLOSED as CLOSED,
    OUT_OF_MEMORY as OUT_OF_MEMORY,
    Batches as Batches,
    give_memory_back as give_memory_back,
    is_out_of_memory as is_out_of_memory,
)
from .interrupts import (
    interrupts_deferred as interrupts_deferred,
    run_to_the_end as run_to_the_end,
    wait_for as wait_for,
)
from .pool import RayConfig as RayConfig, open_ray as open_ray, room_for as room_for
from .progress import LOG as LOG, ProgressBar as ProgressBar, log_to_terminal as log_to_terminal, run_log as run_log
from .ranks import Ranks as Ranks
from .run_folder import (
    ANSWERED_NOW as ANSWERED_NOW,
    COMPARISON as COMPARISON,
    EXPANSION as EXPANSION,
    FAILURE as FAILURE,
    FOUND as FOUND,
    PICTURES_UNREAD as PICTURES_UNREAD,
    RECORD as RECORD,
    RUN as RUN,
    SAMPLE as SAMPLE,
    CacheUse as CacheUse,
    Evaluator as Evaluator,
    Expansion as Expansion,
    JudgeEntry as JudgeEntry,
    ModelEntry as ModelEntry,
    RecordSource as RecordSource,
    ReplyTally as ReplyTally,
    RunConfig as RunConfig,
    RunFolder as RunFolder,
    Scoring as Scoring,
    Served as Served,
    SetEntry as SetEntry,
    answers_kind as answers_kind,
    cache_use as cache_use,
    judged_kind as judged_kind,
    record_under as record_under,
    score_kind as score_kind,
    scored_records as scored_records,
    spelt as spelt,
    unjudged_kind as unjudged_kind,
    write_config as write_config,
)
from .set_step import (
    IMPORTED_SOURCE as IMPORTED_SOURCE,
    Outcome as Outcome,
    SampleMaker as SampleMaker,
    SetStep as SetStep,
    is_unsettled as is_unsettled,
    make_set as make_set,
    open_made as open_made,
    open_source as open_source,
)
from .store import (
    COMMIT_SECONDS as COMMIT_SECONDS,
    Overlay as Overlay,
    Reader as Reader,
    Store as Store,
    is_held as is_held,
    session_of as session_of,
)
from .user_folder import allows_secrets as allows_secrets, cache_to_write as cache_to_write, user_cache as user_cache
