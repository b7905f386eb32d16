"""What a reader finds in a rendered prompt: the task, its options, the question and the knowledge beside it.

It knows nothing but the text, as a model would: it goes by the option lines, the sentence that asks for the last line,
and the heading between knowledge and question. The last such heading counts: knowledge may hold others, and option
lines, but a question that holds one is taken to begin behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.models.model import NO_WEIGHING, Message, choices
from mmdyn.sample import Language
from mmdyn.task_types import OURS, TaskType, kind_of, task_types

ANSWER = {"en": "Answer: ", "zh": "答案："}
TRUE_FALSE = {"en": ("True", "False"), "zh": ("正确", "错误")}
SEPARATOR = {"en": "; ", "zh": "；"}

_ASKS_FOR_LINE = re.compile(r"Answer:|答案：")
_OPTION = re.compile(r"([A-Z])\.(?:[ \t]+(.*))?$")
_HEADING = re.compile(r"^(?:Question:|题目：)[ \t]*$", re.M)
_INTRODUCTION = re.compile(r"\A\s*[^\n]*[:：][ \t]*\n\n")
_BLANK = re.compile(r"_{2,}|（[ \t　]*）|\([ \t　]*\)")
_SETS_OUT: dict[Language, tuple[str, ...]] = {"en": ("set out", "in your own words"), "zh": ("逐一", "自己的话")}
"""What a last paragraph says that wants knowledge set out, by its language."""


class ReadPrompt(Struct, frozen=True):
    """The parts of a prompt. `options` maps labels to texts and is empty where they stand in a picture.

    `elaborates`: it asks no question, and wants the knowledge set out.
    """

    text: str
    task_type: str
    language: Language
    options: dict[str, str]
    question: str
    knowledge: str
    elaborates: bool = False

    @property
    def kind(self) -> TaskType:
        """The row of its task type."""
        return kind_of(self.task_type)

    @property
    def blanks(self) -> int:
        """How many places there are to fill in, at least one."""
        return max(1, len(_BLANK.findall(self.question)))

    def answer(self, *values: str) -> str:
        """The last line that the prompt asks for; the letters of a choice stand side by side."""
        separator = "" if self.kind.several else SEPARATOR[self.language]
        return ANSWER[self.language] + separator.join(values)


def read_prompt(messages: tuple[Message, ...]) -> ReadPrompt:
    """Read the last user message. Raises ModelError where options are to be weighed: it cannot know how."""
    if choices(messages):
        raise ModelError(f"this model {NO_WEIGHING}")
    text = next((message.text for message in reversed(messages) if message.role == "user"), "")
    if (wanted := _set_out(text)) is not None:
        return wanted
    heading = _last(_HEADING, text)
    before, instruction = _cut_instruction(text[heading.end() if heading else 0 :])
    asked, options = _cut_options(before)
    return ReadPrompt(
        text=text,
        task_type=_task_type(instruction, options),
        language="zh" if ANSWER["zh"] in (instruction or "".join(last.text for last in messages[-1:])) else "en",
        options=options,
        question=asked.strip(),
        knowledge=_INTRODUCTION.sub("", text[: heading.start()]).strip() if heading else "",
    )


def _set_out(text: str) -> ReadPrompt | None:
    """A prompt that introduces knowledge and wants it set out, and no answer; None for any other."""
    beside, _, wish = text.strip().rpartition("\n\n")
    if not _INTRODUCTION.match(beside) or _ASKS_FOR_LINE.search(wish):
        return None
    said, knowledge = wish.lower(), _INTRODUCTION.sub("", beside).strip()
    for language, words in _SETS_OUT.items():
        if all(word in said for word in words):
            return ReadPrompt(text, "open_ended", language, {}, "", knowledge, elaborates=True)
    return None


def _cut_instruction(text: str) -> tuple[str, str]:
    """The text before the last paragraph that asks for the answer line, and that paragraph."""
    place = _last(_ASKS_FOR_LINE, text)
    if place is None:
        return text, ""
    start = text.rfind("\n\n", 0, place.start()) + 1
    return text[:start], text[start:]


def _cut_options(text: str) -> tuple[str, dict[str, str]]:
    """The text before the last run of lines `A. …`, `B. …`, and that run; an option may go on over several lines."""
    lines = text.rstrip().split("\n")
    starts = [number for number, line in enumerate(lines) if (match := _OPTION.match(line)) and match[1] == "A"]
    if not starts:
        return text, {}
    options = dict[str, str]()
    for label, line in _labelled(lines[starts[-1] :]):
        options[label] = f"{options[label]} {line}" if label in options else line
    return ("\n".join(lines[: starts[-1]]), options) if len(options) > 1 else (text, {})


def _labelled(lines: list[str]) -> Iterator[tuple[str, str]]:
    label = "@"
    for line in lines:
        match = _OPTION.match(line)
        if match and match[1] == chr(ord(label) + 1):
            label, line = match[1], match[2] or ""
        yield label, line.strip()


def _task_type(instruction: str, options: dict[str, str]) -> str:
    """The first type whose sign the instruction holds: those of other packages go before ours, and of ours the one with
    several right options, whose signs hold another's."""
    said = instruction.lower()
    for name in sorted(task_types(), key=lambda name: (name in OURS, not kind_of(name).several)):
        if any(all(word in said for word in words) for words in kind_of(name).signs):
            return name
    return "single_choice" if options else "open_ended"


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found
