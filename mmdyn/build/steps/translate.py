"""Questions in the other language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.draws import Draws
from mmdyn.build.step import Asked, Refused
from mmdyn.sample import IMAGE_MARK, Language, Sample

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*|[⁰¹²³⁴-⁹₀-₉¼-¾⅐-⅞]+")
_NAMES = {"en": "English", "zh": "中文"}
_OTHER: dict[Language, Language] = {"en": "zh", "zh": "en"}


class _Texts(Struct, forbid_unknown_fields=True):
    texts: tuple[str, ...]


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

    Formulas, numbers and marks of pictures must be those of the original. Each translation is put back into the
    original's language, and the model says whether both ask the same; where it does not, the question is refused. A
    question and its translation share a group; the translation of a false statement names that of its pair. Source:
    R-Bench, section 2.4, whose translations people reviewed.
    """

    version: ClassVar[int] = 2
    asks: ClassVar[bool] = True
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample in the other language. Raises Refused where it asks something else there, ValueError as `ask`."""
        texts = _texts_of(sample)
        language = _OTHER[sample.language]
        new = self._put(texts, language, draws)
        if not self._settings.unchecked:
            back = self._put(new, sample.language, draws)
            data = {"one": _listed(texts), "other": _listed(back)}
            verdict = self._asked.ask("same_question", sample.language, draws, data, _Verdict, lambda reply: reply)
            if not verdict.same:
                raise Refused(f"the translation asks something else ({' '.join(verdict.why.split())[:120]})")
        made = _with_texts(sample, new)
        group = sample.group or sample.id
        pair = sample.meta.get("pair")
        meta = sample.meta | ({"pair": f"{pair}-{language}"} if pair else {})
        yield replace(made, id=f"{sample.id}-{language}", language=language, group=group, meta=meta)

    def _put(self, texts: tuple[str, ...], language: Language, draws: Draws) -> tuple[str, ...]:
        """Texts in a language."""

        def read(reply: _Texts) -> tuple[str, ...]:
            new = tuple(text.strip() for text in reply.texts)
            if len(new) != len(texts) or not all(new):
                raise ValueError(f"it holds {len(new)} texts, not {len(texts)}")
            for before, after in zip(texts, new, strict=True):
                if lost := _kept(before) - _kept(after):
                    raise ValueError(f"{next(iter(lost))[:40]!r} is not in the translation as it stands in the text")
            return new

        data = {"texts": _listed(texts)}
        places = {"target": _NAMES[language], "count": str(len(texts))}
        return self._asked.ask("translate", language, draws, data, _Texts, read, **places)


def _texts_of(sample: Sample) -> tuple[str, ...]:
    """What is translated: the question, its options, an open answer, and the explanation."""
    answer = (sample.answer,) if isinstance(sample.answer, str) else ()
    if sample.task_type == "fill_in_the_blank":
        raise Refused("what goes into blanks is not translated: its place may move")
    options = tuple(option.text for option in sample.options if option.text)
    return (sample.question, *options, *answer, *filter(None, (sample.explanation,)))


def _with_texts(sample: Sample, texts: tuple[str, ...]) -> Sample:
    left = iter(texts)
    question = next(left)
    options = tuple(replace(option, text=next(left)) if option.text else option for option in sample.options)
    answer = next(left) if isinstance(sample.answer, str) else sample.answer
    explanation = next(left) if sample.explanation else ""
    return replace(sample, question=question, options=options, answer=answer, explanation=explanation)


def _kept(text: str) -> Counter[str]:
    """What a translation keeps: formulas, numbers, and marks of pictures."""
    formulas = re.findall(r"\$[^$]+\$", text)
    return Counter([*formulas, *_NUMBER.findall(text), *(mark[0] for mark in IMAGE_MARK.finditer(text))])


def _listed(texts: tuple[str, ...]) -> str:
    return msgspec.json.encode(texts).decode()
