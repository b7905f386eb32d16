"""Encyclo-K: choices between combinations of statements, in English and Chinese, text only."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, sample_id
from mmdyn.data import OPTION_LETTERS, RawRow
from mmdyn.keys import digest
from mmdyn.sample import Option, Sample
from mmdyn.table import NamedTable, Paired, Pivot, Ranking, Spread, Trend

_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_NUMERAL = re.compile(r"^[ \t]*\(?([ivx]+)[.)、]", re.MULTILINE)
_NAMED = re.compile(r"(?<![a-z])[ivx]+(?![a-z])")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_MOST_HAN_IN_ENGLISH = 0.1
"""Of the characters of a question: a Chinese one with formulas has more, an English one with a Chinese name fewer."""


def _settings(factor: str) -> tuple[Pivot, Pivot]:
    """Accuracy by what tells settings apart, as it is and with guessing taken out."""
    by = ("model", factor)
    return Pivot(by=by), Pivot(by=by, measure="corrected", title="The same, corrected for guessing")


_LEVELS = ("subfield", "field", "discipline")
_AT = ("model", "answer_position")
_POSITIONS = Pivot(by=_AT), Spread(factor="answer_position"), Pivot(by=_AT, measure="questions")
_POLARITIES = Pivot(by=("model", "setting"), measure="true_statements")
_SIZES = ("size", "kind")
_LENGTHS = [Pivot(by=_SIZES, measure=name) for name in ("response_tokens", "score", "response_characters")]
_TABLES = (
    NamedTable.of("table3", "Disciplines", Pivot(by=("model", "discipline"), macro=("discipline",))),
    NamedTable.of("table4", "Levels of aggregation", *(Pivot(by=("model",), macro=(level,)) for level in _LEVELS)),
    NamedTable.of("table5", "Positions of the right option", *_POSITIONS),
    NamedTable.of("figure3", "One statement and several", *_settings("task_type")),
    NamedTable.of("figure3_thinking", "Thinking by size", Paired(factor="kind", a="chat", b="reasoning", by=("size",))),
    NamedTable.of("figure4", "Five seeds", Pivot(by=("model", "set")), Spread(factor="set"), Ranking(over="set")),
    NamedTable.of("figure4_options", "Number of options", Pivot(by=("model", "options")), Trend(factor="options")),
    NamedTable.of("figure6", "Three settings", *_settings("setting"), _POLARITIES),
    NamedTable.of("figure7", "Length of responses", *_LENGTHS),
)


class _Question(Struct):
    question: str
    options: list[str]
    answer: str
    discipline: str
    field: str
    subfield: str
    uuid: str = ""


class EncycloK(Benchmark[_Question]):
    """Encyclo-K (Liang et al. 2026, arXiv:2512.24867; encyclo-k.github.io, huggingface.co/datasets/m-a-p/Encyclo-K; its
    data card tells the licence).

    Reads the rows of its release: question, options (a list), answer (a letter; `answer_letter` where a row has that),
    discipline, field and subfield. Each option combines some of the statements that the question numbers i., ii., iii.,
    …; the field `statements` counts those, `combination` those in the right option; `setting` is `multi`. The language
    is told by the share of Chinese characters. A sample's id is the row's `uuid`, or a digest of its question and
    options.
    """

    name = "encyclo_k"
    contrasts = ("context", "style")
    tables = _TABLES
    row = _Question
    published = (("data/test-*.parquet",), ("*.parquet",), ("*.jsonl",))

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """Where a row has both, `answer` is the right option's words, and `answer_letter` its letter."""
        values = raw.values
        return {**values, "answer": values["answer_letter"]} if "answer_letter" in values else values

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        if len(row.options) > len(OPTION_LETTERS):
            raise ValueError(f"{len(row.options)} options are given: give {len(OPTION_LETTERS)} at most")
        texts = map(str.strip, row.options)
        options = tuple(Option(letter, text) for letter, text in zip(OPTION_LETTERS, texts, strict=False))
        answer, question = (row.answer.strip(" ()."),), row.question.strip()
        named = [len(_NAMED.findall(option.text.lower())) for option in options if option.label in answer]
        chosen = {"combination": named[0]} if any(named) else {}
        levels = {"discipline": row.discipline, "field": row.field, "subfield": row.subfield}
        return Sample(
            id=sample_id("encyclo_k", row.uuid or digest([question, row.options], 8)),
            question=question,
            task_type=choice_type(options, answer),
            answer=answer,
            language="zh" if len(_HAN.findall(question)) > _MOST_HAN_IN_ENGLISH * len(question) else "en",
            options=options,
            fields={**levels, "modality": "text", "setting": "multi", "statements": _statements(question), **chosen},
        )


def _statements(question: str) -> int:
    """How many statements it numbers i., ii., iii., … at the beginning of lines; 1 where it numbers none."""
    found = (numeral[1] for numeral in _NUMERAL.finditer(question))
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(found, _NUMERALS, strict=False))) or 1
