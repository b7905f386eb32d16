from .columns import (
    VERSION_OF as VERSION_OF,
    choice_type as choice_type,
    pick_columns as pick_columns,
    sample_id as sample_id,
    sample_of_columns as sample_of_columns,
)
from .convert_set import NAMED_SETS as NAMED_SETS, convert as convert, join as join
from .files import (
    JsonRow as JsonRow,
    LabelledFile as LabelledFile,
    check_text_file as check_text_file,
    decode_line as decode_line,
    new_file as new_file,
    numbered_lines as numbered_lines,
    numbered_records as numbered_records,
    read_json_file as read_json_file,
    read_json_rows as read_json_rows,
    read_records as read_records,
)
from .formats._cells import (
    OPTION_LETTERS as OPTION_LETTERS,
    TsvRow as TsvRow,
    read_list_cell as read_list_cell,
    read_task_type as read_task_type,
    read_tsv_rows as read_tsv_rows,
    relabel as relabel,
)
from .formats.parquet import put_picture as put_picture
from .formats.tsv import Tsv as Tsv, sample_of_tsv_row as sample_of_tsv_row
from .images import (
    IMAGE_MEDIA_TYPES as IMAGE_MEDIA_TYPES,
    IMAGE_SUFFIXES as IMAGE_SUFFIXES,
    MAX_PIXELS as MAX_PIXELS,
    ImageFolder as ImageFolder,
    PictureForm as PictureForm,
    open_image as open_image,
    read_inside as read_inside,
)
from .load_set import (
    Given as Given,
    RowTally as RowTally,
    is_kept as is_kept,
    is_samples as is_samples,
    is_set as is_set,
    load as load,
    validate as validate,
)
from .make_set import (
    DRAWN as DRAWN,
    LOCK as LOCK,
    Stage as Stage,
    bad_kinds as bad_kinds,
    describe_stages as describe_stages,
    fingerprint as fingerprint,
    made as made,
    refuse_others as refuse_others,
    stage_counts as stage_counts,
    stages as stages,
    write_rows as write_rows,
    write_without as write_without,
)
from .normal_form import encode_png as encode_png, page_of as page_of
from .raw_rows import RawRow as RawRow, read_raw_rows as read_raw_rows
from .rows import (
    KnowledgePoint as KnowledgePoint,
    Row as Row,
    bring_images as bring_images,
    check_sample as check_sample,
    replace_images as replace_images,
)
from .set_folder import (
    DROPPED_FILE as DROPPED_FILE,
    KNOWLEDGE_FILE as KNOWLEDGE_FILE,
    MANIFEST_FILE as MANIFEST_FILE,
    REJECTED_FILE as REJECTED_FILE,
    SAMPLES_FILE as SAMPLES_FILE,
    WORK as WORK,
    Dropped as Dropped,
    LocatedSet as LocatedSet,
    Origin as Origin,
    Replies as Replies,
    SampleSet as SampleSet,
    SetDigest as SetDigest,
    SetManifest as SetManifest,
    SetWriter as SetWriter,
    check_finished as check_finished,
    is_being_written as is_being_written,
    read_set_manifest as read_set_manifest,
    set_frame as set_frame,
    unsure_form as unsure_form,
)
from .show import (
    describe_answer as describe_answer,
    describe_sample as describe_sample,
    describe_trail as describe_trail,
    sample_html as sample_html,
)
from .statistics import describe_statistics as describe_statistics, set_statistics as set_statistics
from .strength import WEAKNESS as WEAKNESS, ChainStrength as ChainStrength, Role as Role
from .take import choose_quota as choose_quota, take_covering as take_covering, take_stratified as take_stratified
from .versions import VERSION as VERSION, versions_folder as versions_folder
from .yaml_file import read_yaml as read_yaml, read_yaml_text as read_yaml_text
