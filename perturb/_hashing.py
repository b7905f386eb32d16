"""Randomness by place: integer hashes of a key and a pixel's index, the same bits on every machine and device, in any
order.

Bodies: splitmix64 for keys; lowbias32 (Chris Wellons, "Prospecting for Hash Functions") for pixels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORD = (1 << 64) - 1


def keys(seed: int, number: int) -> tuple[int, int]:
    """Two 64-bit keys for the picture of this number in a sample; `seed` has 63 bits."""
    state = (seed ^ (number * 0xD1342543DE82EF95)) & _WORD
    made = []
    for _ in range(2):
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        made.append(z ^ (z >> 31))
    return made[0], made[1]


def mixed(values: NDArray[np.uint32], key: int) -> NDArray[np.uint32]:
    """Keyed hash of 32-bit values: lowbias32 twice, with a half of the 64-bit key before each."""
    return _lowbias32(_lowbias32(values ^ np.uint32(key & 0xFFFFFFFF)) + np.uint32(key >> 32))


def _lowbias32(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))
