"""Are two answers the same? Numbers, units, lists, regions and formulas; docs/equality.md says what is equal."""

from mmdyn.equal.asked import asked_unit
from mmdyn.equal.match import LONGEST, match_blanks, same
from mmdyn.equal.numbers import PLAIN, read_value, same_number

__all__ = ["LONGEST", "PLAIN", "asked_unit", "match_blanks", "read_value", "same", "same_number"]
