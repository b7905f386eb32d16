from .same import compare as compare, compare_answer as compare_answer, match_blanks as match_blanks, same as same
from .values import asked_unit as asked_unit, read_value as read_value
