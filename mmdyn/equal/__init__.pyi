from .asked import asked_unit as asked_unit
from .match import LONGEST as LONGEST, match_blanks as match_blanks, same as same
from .numbers import PLAIN as PLAIN, read_value as read_value, same_number as same_number
