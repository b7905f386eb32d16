"""What a reply was asked, as far as reading it needs to know."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.sample import Language, TaskType


class Asked(Struct, frozen=True, gc=False):
    """`labels` and `option_texts` are the options' (an option without a text has ""), `blanks` how many are to be
    filled."""

    task_type: TaskType
    question: str = ""
    labels: tuple[str, ...] = ()
    option_texts: tuple[str, ...] = ()
    language: Language = "en"
    blanks: int = 1
