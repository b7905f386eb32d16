from .apply_marks import apply_marks as apply_marks, marks_of_set as marks_of_set, rejection as rejection
from .audit import audit as audit, find_source as find_source, origin_of as origin_of
from .sheet import (
    Card as Card,
    Form as Form,
    Mark as Mark,
    Marks as Marks,
    Seen as Seen,
    Side as Side,
    digest_shown as digest_shown,
    draw_cards as draw_cards,
    is_mark as is_mark,
    label_of as label_of,
    read_marks as read_marks,
    write_sheet as write_sheet,
)
