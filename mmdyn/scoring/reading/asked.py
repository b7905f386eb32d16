"""What a reply was asked, as far as reading it needs to know."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.sample import Language, TaskType


class Asked(Struct, frozen=True):
    """`labels` and `option_texts` are the options' (an option without a text has ""), `blanks` how many are to be filled."""

    task_type: TaskType
    question: str = ""
    labels: tuple[str, ...] = ()
    option_texts: tuple[str, ...] = ()
    language: Language = "en"
    blanks: int = 1

    @property
    def one_text(self) -> bool:
        """Is one text the answer: an open answer, or what fills a single blank?"""
        return self.task_type == "open_ended" or (self.task_type == "fill_in_the_blank" and self.blanks == 1)
