"""Scores corrected for chance: what they are worth beyond guessing, if an answer is either known or guessed.

Source: formula scoring (Frary, Educational Measurement: Issues and Practice 7 (2) (1988) 33), for which c is 1 /
options and what is omitted scores 0; here c is any chance level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmdyn.stats.intervals import Floats


def correct_for_chance(values: Floats, chance: Floats, read: NDArray[np.bool_]) -> Floats:
    """(s - c) / (1 - c) of each score, never clipped: 1 for what is right, 0 in the mean of guesses.

    Args:
        values: scores s in [0, 1].
        chance: what guessing earns, c in [0, 1], of each; NaN where that is not known.
        read: whether there was an answer at all; where not, nothing was guessed, and the corrected score is 0.

    Returns:
        Numbers from `least_corrected` to 1; NaN where c is 1 or not known.
    """
    room = _room(chance)
    return np.where(read | np.isnan(room), (values - chance) / room, 0.0)


def least_corrected(chance: Floats) -> Floats:
    """The corrected score of an answer that earns nothing, -c / (1 - c); NaN where c is 1 or not known."""
    return -chance / _room(chance)


def _room(chance: Floats) -> Floats:
    return np.where(chance < 1, 1 - chance, np.nan)
