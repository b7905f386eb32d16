from .convert import convert as convert
from .cover import cover as cover
from .files import check_text as check_text, decode as decode, new_file as new_file, numbered as numbered
from .formats._cells import LETTERS as LETTERS, read_list as read_list
from .formats._tsv_rows import TsvRow as TsvRow, read_tsv_rows as read_tsv_rows
from .formats._tsv_sample import make_sample as make_sample
from .formats.tsv import Tsv as Tsv
from .images import (
    MAX_PIXELS as MAX_PIXELS,
    MEDIA_TYPES as MEDIA_TYPES,
    SUFFIXES as SUFFIXES,
    ImageFolder as ImageFolder,
    open_image as open_image,
    read_inside as read_inside,
)
from .json_lines import JsonRow as JsonRow, LabelledFile as LabelledFile, read_json_rows as read_json_rows
from .load import is_set as is_set, load as load
from .located import LocatedSet as LocatedSet
from .rows import (
    KnowledgePoint as KnowledgePoint,
    Row as Row,
    check_content as check_content,
    with_images as with_images,
)
from .set_folder import (
    DROPPED as DROPPED,
    KNOWLEDGE as KNOWLEDGE,
    MANIFEST as MANIFEST,
    REJECTED as REJECTED,
    SAMPLES as SAMPLES,
    Dropped as Dropped,
    Manifest as Manifest,
    Origin as Origin,
    SampleSet as SampleSet,
    SetDigest as SetDigest,
    SetWriter as SetWriter,
    is_being_written as is_being_written,
    read_lines as read_lines,
    read_manifest as read_manifest,
)
from .show import describe as describe, describe_trail as describe_trail
from .take import take as take
from .validate import Tally as Tally, validate as validate
