from .asker import DRAIN_SECONDS as DRAIN_SECONDS, Asker as Asker, open_asker as open_asker, request_key as request_key
from .backends.baseline import Baseline as Baseline
from .backends.scripted import Scripted as Scripted
from .backends.vlmeval import VLMEVAL_FAILURES as VLMEVAL_FAILURES, vlmeval_models as vlmeval_models
from .budget import Budget as Budget, Price as Price, Prices as Prices, open_budget as open_budget, say_cost as say_cost
from .cache import (
    REPLIES as REPLIES,
    CacheChoice as CacheChoice,
    Caches as Caches,
    cache_folder as cache_folder,
    cache_key as cache_key,
    read_listings as read_listings,
    recall as recall,
)
from .checkpoint import (
    USED as USED,
    Checkpoint as Checkpoint,
    Form as Form,
    Precision as Precision,
    find_checkpoint as find_checkpoint,
    free_memory as free_memory,
    installed as installed,
    need as need,
    torch_device as torch_device,
    torch_dtype as torch_dtype,
)
from .embedder import (
    DEFAULT_CROSS_ENCODER as DEFAULT_CROSS_ENCODER,
    CrossEncoder as CrossEncoder,
    Embedder as Embedder,
    TooLong as TooLong,
    Vectors as Vectors,
)
from .model import (
    NO_WEIGHING as NO_WEIGHING,
    PARTS as PARTS,
    Asks as Asks,
    ChoicesPart as ChoicesPart,
    ImagePart as ImagePart,
    Message as Message,
    Model as Model,
    ModelLimits as ModelLimits,
    Part as Part,
    RejectedError as RejectedError,
    Spec as Spec,
    TextPart as TextPart,
    TransientError as TransientError,
    choices as choices,
    identity as identity,
    in_batches as in_batches,
    open_model as open_model,
    pictures_of as pictures_of,
    read_options as read_options,
    read_settings as read_settings,
    refuse_programs as refuse_programs,
)
from .ocr import (
    OCR_PACKAGES as OCR_PACKAGES,
    Box as Box,
    Ocr as Ocr,
    Pixels as Pixels,
    area as area,
    common as common,
    open_ocr as open_ocr,
)
from .sync_client import (
    TRIES as TRIES,
    SyncModelClient as SyncModelClient,
    ask_and_wait as ask_and_wait,
    ask_until_usable as ask_until_usable,
    nonces as nonces,
    prompts_digest as prompts_digest,
    text_of as text_of,
)
from .vendors import (
    ALLOW as ALLOW,
    is_this_machine as is_this_machine,
    key_variables as key_variables,
    without_secrets as without_secrets,
)
