from .colours import names_a_colour as names_a_colour, names_a_shade as names_a_shade
from .dates import read_date as read_date
from .fold import fold as fold
from .latex import SYMBOLS as SYMBOLS, plain as plain
from .logic import (
    NEGATION as NEGATION,
    SKIP as SKIP,
    Pole as Pole,
    hidden_negations as hidden_negations,
    logic as logic,
)
from .maths import (
    SET_CLOSE as SET_CLOSE,
    SET_OPEN as SET_OPEN,
    closing as closing,
    outside as outside,
    spelled as spelled,
)
from .normalise import clean as clean, one_spelling as one_spelling, visible as visible
from .numbers import Number as Number, in_unit as in_unit, read_number as read_number
from .options import (
    Question as Question,
    asked_range as asked_range,
    options_are_letters as options_are_letters,
    read_letters as read_letters,
    split_options as split_options,
    split_questions as split_questions,
    strip_number as strip_number,
)
from .protected import protected as protected
from .quantities import Quantity as Quantity, asked_units as asked_units, quantities as quantities, unit_at as unit_at
from .references import (
    is_named_by_label as is_named_by_label,
    lists_options as lists_options,
    names_a_label as names_a_label,
    option_refers_to_option as option_refers_to_option,
    plain_text as plain_text,
    refers_to_all as refers_to_all,
    refers_to_option as refers_to_option,
    refers_to_pair as refers_to_pair,
)
from .stems import BLANK as BLANK, blanks as blanks, without_form_notes as without_form_notes
from .symbols import (
    WORD as WORD,
    formulas as formulas,
    names as names,
    quotations as quotations,
    readable as readable,
    symbols as symbols,
)
from .tokens import BYTES_A_TOKEN as BYTES_A_TOKEN, text_tokens as text_tokens
from .units import known_unit as known_unit, measure as measure, ratio as ratio, unit as unit
