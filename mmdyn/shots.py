"""Shots: how many examples stand before a question, which ones they are, and in what form, by a short name.

Brown et al. 2020, "Language Models are Few-Shot Learners" (section 2), ask with no example and with several; Liu et al.
2022, "What Makes Good In-Context Examples for GPT-3?", take those that are nearest to the question.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean

Way = Literal["fixed", "random", "similar"]
WAYS: tuple[Way, ...] = get_args(Way)

CHAT, BASE = "chat", "base"


class Shots(Struct, frozen=True):
    """k: how many examples. way: the first ones, or those that are named (`fixed`); drawn for each question; or the
    nearest to it. base: everything is one text of questions and answers that a model is to go on with; else the
    examples are turns of a chat."""

    k: int = 0
    way: Way = "fixed"
    base: bool = False

    @property
    def name(self) -> str:
        """0, 5, 5:random, 5:similar:base, 0:base, …: `parse` reads it."""
        return ":".join([str(self.k), *[self.way] * (self.way != "fixed"), *[BASE] * self.base])

    def is_compared(self, other: Shots) -> bool:
        """Whether the other ones are compared with these, which stand before them: all are with none, and those that
        differ in one setting are with each other. No examples come in no way."""
        differing = (self.k != other.k, self.way != other.way and self.k > 0, self.base != other.base)
        return self == Shots() or sum(differing) == 1

    @staticmethod
    @lru_cache(maxsize=256)
    def parse(text: str) -> Shots:
        """Read a name; the settings behind the number come in any order. Raises UserError."""
        number, *settings = (part.strip() for part in text.split(":"))
        if not (number.isdecimal() and number.isascii() and len(number) < 5):
            raise UserError(f"the shots {text!r} begin with no number of examples: write 5, 5:random or 5:similar:base")
        known = (*WAYS, CHAT, BASE)
        for setting in settings:
            if setting not in known:
                hint = did_you_mean(setting, known)
                raise UserError(f"the shots {text!r} have an unknown setting {setting!r}{hint}: use {', '.join(known)}")
        ways = [way for way in WAYS if way in settings]
        if len(ways) > 1 or {CHAT, BASE} <= {*settings} or len({*settings}) < len(settings):
            raise UserError(f"the shots {text!r} say one thing twice: name one way to choose examples and one form")
        return Shots(int(number), ways[0] if ways and int(number) else "fixed", BASE in settings)
