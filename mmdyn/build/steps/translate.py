"""Questions in the other language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.kept import BLANK_MARK, difference
from mmdyn.build.languages import foreign
from mmdyn.build.step import Asked, Draws, Refused
from mmdyn.sample import Answer, Language, Sample
from mmdyn.text import BLANK, fold

_NAMES = {"en": "English", "zh": "中文"}
_OTHER: dict[Language, Language] = {"en": "zh", "zh": "en"}


class _Named(Struct, forbid_unknown_fields=True):
    name: str
    rendering: str


class _Texts(Struct, forbid_unknown_fields=True):
    texts: tuple[str, ...]
    names: tuple[_Named, ...] = ()


class _Verdict(Struct, forbid_unknown_fields=True):
    same: bool
    why: str


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is translated.

    unchecked: Do not put the translation back, and do not compare it with what was translated.
    """

    unchecked: bool = False


class Translate:
    """Translate questions between English and Chinese by a model.

    \b
    mmdyn build translate mmdyn-demo/set -o translated -m openai:gpt-4o

    Question, options, answers, explanation, hints, checklist and earlier turns go together. Formulas, quantities with
    sign and unit, symbols, and marks of pictures and blanks must be those of the original; answers follow their blanks.
    What is left in the original's language, or put into a third one, is refused.
    Names are rendered alike everywhere. Each translation is put back into the original's language: the names must come
    back, and the model says whether both ask the same; where not, the question is refused. A question and its
    translation share a group; the translation of a false statement names that of its pair. Source: R-Bench, section
    2.4, whose translations people reviewed.
    """

    version: ClassVar[int] = 4
    asks: ClassVar[tuple[str, ...]] = ("same_question", "translate")
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample in the other language. Raises Refused where it asks something else there, ValueError as `ask`."""
        marked, blanks = _marked(sample)
        texts = _texts_of(marked)
        language = _OTHER[sample.language]
        reply = self._put(texts, language, draws)
        new = reply.texts
        if not self._settings.unchecked:
            back = self._put(new, sample.language, draws)
            sides = [(one.name, back.texts) for one in reply.names] + [(one.rendering, texts) for one in back.names]
            if lost := next((name for name, side in sides if not any(_count(name, text) for text in side)), ""):
                raise Refused(f"the name {lost[:60]!r} is not both in the question and in what it was put back to")
            data = {"one": _listed(texts), "other": _listed(back.texts)}
            verdict = self._asked.ask("same_question", sample.language, draws, data, _Verdict, lambda reply: reply)
            if not verdict.same:
                raise Refused(f"the translation asks something else ({' '.join(verdict.why.split())[:120]})")
        made = _unmarked(_with_texts(marked, new), blanks)
        group = sample.group or sample.id
        pair = sample.meta.get("pair")
        meta = sample.meta | ({"pair": f"{pair}-{language}"} if pair else {})
        yield replace(made, id=f"{sample.id}-{language}", language=language, group=group, meta=meta)

    def _put(self, texts: tuple[str, ...], language: Language, draws: Draws) -> _Texts:
        """Texts in a language, with their names."""

        def read(reply: _Texts) -> _Texts:
            new = tuple(text.strip() for text in reply.texts)
            if len(new) != len(texts) or not all(new):
                raise ValueError(f"it holds {len(new)} texts, not {len(texts)}")
            if told := foreign(texts, new, language, [named.rendering for named in reply.names]):
                raise ValueError(told)
            for before, after in zip(texts, new, strict=True):
                if told := difference(before, after):
                    raise ValueError(f"{told} (in {after[:40]!r})")
                for named in reply.names:
                    if _count(named.name, before) > _count(named.rendering, after):
                        raise ValueError(f"{named.name[:40]!r} is not {named.rendering[:40]!r} everywhere")
            if odd := next((one.name for one in reply.names if not any(_count(one.name, text) for text in texts)), ""):
                raise ValueError(f"{odd[:40]!r} is no name of the texts")
            return _Texts(new, reply.names)

        data = {"texts": _listed(texts)}
        places = {"target": _NAMES[language], "count": str(len(texts))}
        return self._asked.ask("translate", language, draws, data, _Texts, read, **places)


def _count(name: str, text: str) -> int:
    """How often a name stands in a text, as whole words where it is of letters."""
    return len(re.findall(rf"(?<![A-Za-z]){re.escape(fold(name))}(?![A-Za-z])", fold(text))) if name.strip() else 0


def _marked(sample: Sample) -> tuple[Sample, list[str]]:
    """The sample with its blanks numbered, so that each is known in another order, and what they looked like.

    Raises Refused where nobody can say which answer goes where.
    """
    if sample.instructions:
        raise Refused("its instructions are about the words of one language")
    if sample.kind.form != "blank":
        return sample, []
    blanks = [found[0] for found in BLANK.finditer(sample.question)]
    if len(blanks) != len(sample.told.right):
        raise Refused(f"it shows {len(blanks)} blanks, and has {len(sample.told.right)} answers")
    number = count(1)
    return replace(sample, question=BLANK.sub(lambda _: f"<blank {next(number)}>", sample.question)), blanks


def _unmarked(sample: Sample, blanks: list[str]) -> Sample:
    """The sample with its blanks as they looked, and their answers in the order of the blanks."""
    if not blanks or not isinstance(sample.answer, tuple):
        return sample
    order = [int(number) - 1 for number in BLANK_MARK.findall(sample.question)]
    question = BLANK_MARK.sub(lambda found: blanks[int(found[1]) - 1], sample.question)
    return replace(sample, question=question, answer=tuple(sample.answer[place] for place in order))


def _mapped(sample: Sample, new: Callable[[str], str]) -> Sample:
    """A sample with each of its texts made new; empty ones stay."""

    def made(text: str) -> str:
        return new(text) if text.strip() else text

    def made_answer() -> Answer:
        answer = sample.answer
        if isinstance(answer, str):
            return made(answer)
        if sample.kind.form == "blank" and isinstance(answer, tuple):
            return tuple(tuple(made(text) for text in accepted) for accepted in answer)
        return answer

    return replace(
        sample,
        question=made(sample.question),
        options=tuple(replace(option, text=made(option.text)) for option in sample.options),
        answer=made_answer(),
        explanation=made(sample.explanation),
        hints={name: made(text) for name, text in sample.hints.items()},
        checklist=tuple(made(text) for text in sample.checklist),
        turns=tuple(replace(turn, text=made(turn.text)) for turn in sample.turns),
    )


def _texts_of(sample: Sample) -> tuple[str, ...]:
    """What is translated."""
    texts = list[str]()

    def noted(text: str) -> str:
        texts.append(text)
        return text

    _mapped(sample, noted)
    return tuple(texts)


def _with_texts(sample: Sample, texts: tuple[str, ...]) -> Sample:
    left = iter(texts)
    return _mapped(sample, lambda _: next(left))


def _listed(texts: tuple[str, ...]) -> str:
    return msgspec.json.encode(texts).decode()
