from .apply_marks import apply_marks as apply_marks
from .audit import audit as audit
from .find_source import find_source as find_source, origin_of as origin_of
from .form import Form as Form
from .marks import (
    Mark as Mark,
    Marks as Marks,
    Seen as Seen,
    digest_shown as digest_shown,
    is_mark as is_mark,
    label_of as label_of,
    read_marks as read_marks,
)
from .sheet import Card as Card, Side as Side, draw_cards as draw_cards, write_sheet as write_sheet
