from .apply_marks import apply_marks as apply_marks, marks_of_set as marks_of_set, rejection as rejection
from .audit import audit as audit, find_parent as find_parent
from .sheet import (
    Mark as Mark,
    Marks as Marks,
    Seen as Seen,
    digest_shown as digest_shown,
    is_mark as is_mark,
    label_of as label_of,
    read_marks as read_marks,
)
