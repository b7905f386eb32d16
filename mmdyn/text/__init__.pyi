from .colours import (
    known_by_colour as known_by_colour,
    names_a_colour as names_a_colour,
    names_a_direction as names_a_direction,
    names_a_hue as names_a_hue,
    names_a_shade as names_a_shade,
)
from .instructions import (
    followed as followed,
    lost_term as lost_term,
    need_packages as need_packages,
    read_instruction as read_instruction,
    spell_instruction as spell_instruction,
)
from .language import language_of as language_of
from .leaks_answer import leaks_answer as leaks_answer
from .logic import (
    NEGATION_AXIS as NEGATION_AXIS,
    SKIPPED_AXIS as SKIPPED_AXIS,
    Pole as Pole,
    hidden_negations as hidden_negations,
    logic_poles as logic_poles,
)
from .maths import (
    LOWERCASE_WORD as LOWERCASE_WORD,
    SET_CLOSE as SET_CLOSE,
    SET_OPEN as SET_OPEN,
    closing_bracket as closing_bracket,
    proper_names as proper_names,
    read_formulas as read_formulas,
    read_quotations as read_quotations,
    read_symbols as read_symbols,
    readable_text as readable_text,
    spell_formula as spell_formula,
    spell_notation as spell_notation,
    split_outside as split_outside,
    without_order as without_order,
)
from .normalise import (
    BYTES_A_TOKEN as BYTES_A_TOKEN,
    CHINESE as CHINESE,
    LATEX_SYMBOLS as LATEX_SYMBOLS,
    PLAIN_WORD as PLAIN_WORD,
    estimate_tokens as estimate_tokens,
    fold as fold,
    one_spelling as one_spelling,
    plain_words as plain_words,
    visible_and_gaps as visible_and_gaps,
    visible_text as visible_text,
    without_latex as without_latex,
)
from .numbers import (
    Number as Number,
    in_unit as in_unit,
    known_unit as known_unit,
    read_date as read_date,
    read_names as read_names,
    read_number as read_number,
    unit_measure as unit_measure,
    unit_name as unit_name,
    unit_ratio as unit_ratio,
)
from .option_lists import (
    SplitQuestion as SplitQuestion,
    leading_labels as leading_labels,
    options_are_letters as options_are_letters,
    question_range as question_range,
    read_labels as read_labels,
    read_letters as read_letters,
    read_options as read_options,
    split_options as split_options,
    split_questions as split_questions,
    strip_question_number as strip_question_number,
)
from .protected import protected_spans as protected_spans
from .quantities import (
    Quantity as Quantity,
    asked_units as asked_units,
    read_quantities as read_quantities,
    unit_at as unit_at,
)
from .references import (
    BLANK as BLANK,
    count_blanks as count_blanks,
    is_named_by_label as is_named_by_label,
    lists_options as lists_options,
    names_a_label as names_a_label,
    option_refers_to_option as option_refers_to_option,
    refers_to_all as refers_to_all,
    refers_to_option as refers_to_option,
    refers_to_pair as refers_to_pair,
    unwrapped_text as unwrapped_text,
    without_form_notes as without_form_notes,
    without_frames as without_frames,
)
from .thinking import find_answer as find_answer, split_thinking as split_thinking
