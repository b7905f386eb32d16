from .ask_and_wait import ask_and_wait as ask_and_wait
from .asker import DRAIN_SECONDS as DRAIN_SECONDS, Asker as Asker, open_asker as open_asker, request_key as request_key
from .backends.baseline import Baseline as Baseline
from .backends.scripted import Scripted as Scripted
from .backends.vlmeval import VLMEVAL_FAILURES as VLMEVAL_FAILURES, vlmeval_models as vlmeval_models
from .budget import Budget as Budget, open_budget as open_budget, say_cost as say_cost
from .cache import (
    CACHED_REPLY as CACHED_REPLY,
    REPLIES as REPLIES,
    CacheChoice as CacheChoice,
    Caches as Caches,
    cache_folder as cache_folder,
    cache_key as cache_key,
    read_listings as read_listings,
)
from .checkpoint import Checkpoint as Checkpoint, Form as Form, find_checkpoint as find_checkpoint
from .cross_encoder import (
    DEFAULT_CROSS_ENCODER as DEFAULT_CROSS_ENCODER,
    CrossEncoder as CrossEncoder,
    TooLong as TooLong,
)
from .device import (
    USED as USED,
    Precision as Precision,
    free_memory as free_memory,
    installed as installed,
    need as need,
    torch_device as torch_device,
    torch_dtype as torch_dtype,
)
from .embedder import Embedder as Embedder, Vectors as Vectors
from .foreign import ALLOW as ALLOW, is_this_machine as is_this_machine, without_secrets as without_secrets
from .message import (
    NO_WEIGHING as NO_WEIGHING,
    ChoicesPart as ChoicesPart,
    ImagePart as ImagePart,
    Message as Message,
    Part as Part,
    TextPart as TextPart,
    choices as choices,
    identity as identity,
    pictures_of as pictures_of,
)
from .model import (
    PARTS as PARTS,
    Asks as Asks,
    Model as Model,
    RejectedError as RejectedError,
    Spec as Spec,
    TransientError as TransientError,
    in_batches as in_batches,
    open_model as open_model,
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
from .prices import Price as Price
from .structured_retry import (
    TRIES as TRIES,
    ask_until_usable as ask_until_usable,
    nonces as nonces,
    prompts_digest as prompts_digest,
    text_of as text_of,
)
from .sync_client import SyncModelClient as SyncModelClient
from .vendors import key_variables as key_variables
