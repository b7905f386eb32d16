"""The rewriter that comes with the package: rules for the language of exams, no model."""

from __future__ import annotations

import re
from functools import cache

from numpy.random import Generator

from mmdyn.keys import Json, digest, sha256
from mmdyn.sample import Language, Sample
from perturb.item import LEVELS, NotApplicable
from perturb.rewrite import _sentences
from perturb.rewrite._frames import FOLDER, lines_of, splice
from perturb.rewrite._lexicon import WordHit, lexicon
from perturb.rewrite._rewriter import Rewriter

LANGUAGES: tuple[Language, ...] = ("en", "zh")

VERSION = 5
"""Goes up when equal draws give other texts."""

LANGUAGE_EXAMS = ("english", "chinese")
"""Disciplines in whose questions the choice of words is what is asked for."""

SHARE = 0.6
"""The chance of each word that has synonyms to be replaced; one is replaced in any case."""

ABOUT_WORDS = NotApplicable(_sentences.ABOUT_WORDS)
LONG = NotApplicable("the question is a text to read")
FOREIGN = NotApplicable("the question is not in the sample's language")
NO_WORD = NotApplicable("no word that a rule knows")

LONGEST: dict[Language, int] = {"en": 1500, "zh": 700}
"""Longer questions are texts to read, in which the choice of words may be what is asked for; characters."""
_FEW = 12
"""An English question with more Chinese characters than a gloss or a name has is not in English."""
_HAN = re.compile("[\u4e00-\u9fff]")


class EmbeddedRewriter(Rewriter):
    """Rewrites by rules, and declines rather than changing what is asked; fast, without a model.

    Its rules are the tables beside this file, English and Chinese; questions about words themselves and texts to read
    are left alone.
    """

    label = "embedded"
    waits = 0

    def __init__(self) -> None:
        self.identity: Json = _identity()

    def substitute(self, sample: Sample, stream: Generator, severity: str = "") -> str | NotApplicable:
        """The question with words replaced by others of the tables of words, everywhere in the question alike.

        Each word that has synonyms is replaced with a chance of 0.6, and at least one is; `mild`: a quarter of them,
        rounded, and at least one; `strong`: all of them; a level: so many fifths, rounded, and at least one.
        """
        if refusal := _unfit(sample) or _unfit_for_other_words(sample):
            return refusal
        hits = lexicon(sample.language).hits(sample.question)
        return _replaced(sample.question, hits, stream, severity) if hits else NO_WORD

    def paraphrase(self, sample: Sample, stream: Generator, severity: str = "") -> str | NotApplicable:
        """The question with whole sentences rephrased by rules; of a text to read, the sentences at its end.

        At least one sentence changes, and each other one that a rule fits with a chance of 2/3; `mild`: exactly one;
        `strong`: all that a rule fits.
        """
        return _unfit(sample) or _sentences.paraphrase(sample.question, sample.language, stream, severity)

    def close(self) -> None:
        """Nothing to let go of."""


def _unfit(sample: Sample) -> NotApplicable | None:
    """Why no rule fits a question, however long it is."""
    if sample.language == "en" and len(_HAN.findall(sample.question)) > _FEW:
        return FOREIGN
    return ABOUT_WORDS if sample.fields.get("discipline") in LANGUAGE_EXAMS else None


def _unfit_for_other_words(sample: Sample) -> NotApplicable | None:
    """Why no word of a question may be replaced."""
    question, language = sample.question, sample.language
    if len(question) > LONGEST[language]:
        return LONG
    return ABOUT_WORDS if _about_words(language).search(question.lower()) else None


def _replaced(text: str, hits: list[WordHit], stream: Generator, severity: str) -> str:
    """The text with at least one rule followed wherever it applies, and others by the severity."""
    rules = sorted({hit.rule for hit in hits})
    draws = stream.random(2 * len(rules)).tolist()
    chances = dict(zip(rules, draws, strict=False))
    choices = dict(zip(rules, draws[len(rules) :], strict=True))
    share = _share(sorted(chances.values()), severity)
    changes = list[tuple[int, int, str]]()
    for start, end, instead, rule, _ in hits:
        if chances[rule] <= share:
            changes.append((start, end, instead[int(choices[rule] * len(instead))]))
    return splice(text, changes)


def _share(chances: list[float], severity: str) -> float:
    """Up to which chance, drawn uniformly from [0, 1) and sorted, a rule is followed."""
    if severity == "strong":
        return 1.0
    if not severity:
        return max(SHARE, chances[0])
    part, parts = (1, 4) if severity == "mild" else (int(severity), len(LEVELS))
    return chances[max(1, (len(chances) * part + parts // 2) // parts) - 1]


@cache
def _about_words(language: Language) -> re.Pattern[str]:
    """What questions about words themselves say; one expression a line."""
    expression = "|".join(lines_of(language, "about_words.txt"))
    return re.compile(rf"(?<![a-z])(?:{expression})" if language == "en" else expression)


@cache
def _identity() -> dict[str, Json]:
    found = [(language, table) for language in LANGUAGES for table in (FOLDER / language).iterdir() if table.is_file()]
    tables: Json = {f"{language}/{table.name}": sha256(table.read_bytes()) for language, table in found}
    return {"version": VERSION, "rules": digest(tables)}
