"""The table of task types: how each is asked, read, scored and converted.

A sample names its type in `task_type`. Code that treats types differently asks the type's row and compares no names.
Other packages add rows by the entry-point group `mmdyn.task_types`; each entry point names a `TaskType`.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from msgspec import Struct

from mmdyn import plugins
from mmdyn.errors import PluginError, did_you_mean

Form = Literal["choice", "claim", "blank", "open", "rules"]
"""What an answer is made of: labels of options; true or false; for each blank the accepted texts; one text; rules that
the reply itself is to follow. Questions of the last form are asked in their own words alone and never need a judge."""


class TaskType(Struct, frozen=True, kw_only=True):
    """One row of the table. A function is named as `package.module:function` and is imported when it is first used.

    Attributes:
        title: What is asked, in words for people.
        form: What an answer is made of.
        options: A question lists options. Answers in the form of blanks then name them by their labels.
        several: Several options may be right, in any order.
        prompts: The folder of the instruction, `LANGUAGE/answer_NAME.txt` (NAME is the type's), and of the question
            `LANGUAGE/weighed_NAME.txt` by which a claim is weighed: ours, or another folder by its whole path.
        signs: What its instruction says, by which a baseline knows it: all words of one of these.
        reader: The function that reads an answer out of a reply: (Response, Asked) -> Extraction.
        credit: The function that scores an answer: (Policy, Sample, Answer) -> Credit.
        chance: What guessing earns, in [0, 1], or the function that computes it: (Policy, Sample) -> float.
        answer_tokens: Tokens that an answer takes, about.
        weighed: A model can be asked how likely each answer is, in place of writing one.
        becomes: The types that it may be converted into, those first in which guessing earns least; those that stand
            together earn the same.
        aliases: Names of it in other people's sets.
    """

    title: str
    form: Form
    reader: str
    credit: str
    answer_tokens: int
    chance: float | str = 0.0
    options: bool = False
    several: bool = False
    weighed: bool = False
    becomes: tuple[tuple[str, ...], ...] = ()
    aliases: tuple[str, ...] = ()
    prompts: str = "answer"
    signs: tuple[tuple[str, ...], ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether an answer is compared as text, and not by letters or a verdict."""
        return self.form in ("blank", "open") and not self.options


OURS = {
    "single_choice": TaskType(
        title="choose the one right option",
        form="choice",
        options=True,
        reader="mmdyn.scoring.extract.choice:read_choice",
        credit="mmdyn.scoring.scorer:credit_choice",
        chance="mmdyn.scoring.scorer:chance_of_choice",
        answer_tokens=16,
        weighed=True,
        becomes=(("fill_in_the_blank", "open_ended"), ("true_false",)),
        aliases=("single_answer_choice",),
        signs=(("letter",), ("字母",)),
    ),
    "multi_select": TaskType(
        title="choose all right options",
        form="choice",
        options=True,
        several=True,
        reader="mmdyn.scoring.extract.choice:read_choice",
        credit="mmdyn.scoring.scorer:credit_choice",
        chance="mmdyn.scoring.scorer:chance_of_choice",
        answer_tokens=16,
        becomes=(("true_false",),),
        aliases=("multiple_choice", "multiple_answer_choice"),
        signs=(("one or more",), ("letters",), ("一个或多个",)),
    ),
    "fill_in_the_blank": TaskType(
        title="fill in each blank",
        form="blank",
        reader="mmdyn.scoring.extract.texts:read_blanks",
        credit="mmdyn.scoring.scorer:credit_blanks",
        answer_tokens=48,
        becomes=(("open_ended",), ("single_choice",), ("true_false",)),
        signs=(("blank",), ("空",)),
    ),
    "true_false": TaskType(
        title="say whether a statement is true",
        form="claim",
        reader="mmdyn.scoring.extract.true_false:read_true_false",
        credit="mmdyn.scoring.scorer:credit_verdict",
        chance=0.5,
        answer_tokens=16,
        weighed=True,
        becomes=(("single_choice",),),
        signs=(("true", "false"), ("正确", "错误")),
    ),
    "open_ended": TaskType(
        title="answer in own words",
        form="open",
        reader="mmdyn.scoring.extract.texts:read_open",
        credit="mmdyn.scoring.scorer:credit_text",
        answer_tokens=400,
        becomes=(("fill_in_the_blank",), ("single_choice",), ("true_false",)),
        aliases=("calculation",),
    ),
    "instructions": TaskType(
        title="follow instructions on the form of the reply",
        form="rules",
        reader="mmdyn.scoring.extract.texts:read_reply",
        credit="mmdyn.scoring.scorer:credit_instructions",
        answer_tokens=400,
    ),
}


@cache
def task_types() -> tuple[str, ...]:
    """The names of all types: ours, then those of other packages, which are not loaded. Raises PluginError where one
    has a name of ours."""
    others = plugins.names("task_types")
    if taken := next((name for name in others if name in OURS), ""):
        raise PluginError(f"the task type {taken!r} of {others[taken]} has the name of ours: uninstall its package")
    return (*OURS, *others)


def kind_of(name: str) -> TaskType:
    """The row of a type. Raises ValueError for an unknown one, with a suggestion, and PluginError for one that cannot
    be loaded."""
    return OURS.get(name) or _of_another_package(name)


@cache
def _of_another_package(name: str) -> TaskType:
    known = task_types()
    if name not in known:
        raise ValueError(
            f"task_type {name[:80]!r} is unknown{did_you_mean(name, known)}: use one of {', '.join(known)}"
        )
    target = plugins.names("task_types")[name]
    found = plugins.attribute(target, f"the task type {name!r}")
    if not isinstance(found, TaskType):
        raise PluginError(f"the task type {name!r} is no TaskType: have {target} name one")
    return found
