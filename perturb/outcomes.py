"""What became of a parent's variants, as it is kept until the set is written."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from mmdyn.data import Dropped
from mmdyn.sample import Sample

REDRAWN = "redrawn"
"""The status of a rejected attempt that another one followed."""


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What became of one attempt at one draw of one chain: a variant, or a dropped one with the reason.

    `may_pass`: the reason may be gone in another run, such as a model that did not answer.
    """

    sample: Sample | None = None
    dropped: Dropped | None = None
    may_pass: bool = False


class Outcomes(Struct, frozen=True, omit_defaults=True):
    """A parent's outcomes, chain by chain and draw by draw; `settled` where another run could not do better."""

    all: tuple[Outcome, ...]
    settled: bool = True


class _Settled(Struct):
    settled: bool = True


def is_settled(outcomes: bytes) -> bool:
    """Whether encoded Outcomes are settled."""
    return msgspec.json.decode(outcomes, type=_Settled).settled
