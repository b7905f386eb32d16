"""The judge that asks no server: invariants, structure, and the cosine of two sentence embeddings."""

from __future__ import annotations

import math

import msgspec
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models import Embedder, Spec, open_ocr, read_options
from mmdyn.sample import Language, Verdict
from perturb.item import EMBEDDED
from perturb.judge import invariants
from perturb.judge._judge import SAME_WORDS, Case, Doubt, VariantJudge
from perturb.judge.pictures import check_case, picture_checks, unseen
from perturb.judge.text import check_structure

NO_MODEL = "none"
DEFAULT_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Some fifty languages, English and Chinese among them, 12 layers, 384 dimensions; fetched from the hub when first
used."""

_STEEPNESS = 15.0
"""How fast confidence grows with a cosine's distance from the threshold: 0.82 at 0.1, 0.95 at 0.2."""

_NO_DOUBT = 0.75
"""Confidence in a variant against which rules alone found nothing."""


class _Options(Struct, frozen=True):
    """threshold: the least cosine of texts that say the same; languages: those that the model knows, all where
    empty."""

    threshold: float = 0.75
    languages: str = ""


class EmbeddedJudge(VariantJudge):
    """Rejects what the invariants, the structure, the pictures or a cosine under the threshold speak against.

    name: `embedded` with its default model, `embedded:FOLDER_OR_NAME` with another one of sentence-transformers, or
        `embedded:none` for the rules alone, without torch; options follow a comma: threshold=0.75 and languages=en,zh,
        outside of which the rules alone decide. Words in pictures are read where the `ocr` extra is installed. Raises
        UserError for an option that is wrong or a model that cannot be had, MissingExtra where sentence-transformers is
        not installed.
    """

    waits = 0

    def __init__(self, name: str = EMBEDDED) -> None:
        head, comma, options = name.partition(",")
        model = head.partition(":")[2].strip() or DEFAULT_MODEL
        self._options = read_options(Spec.parse(f"{EMBEDDED}:{model}{comma}{options}"), _Options)
        if not 0 <= self._options.threshold <= 1:
            raise UserError(f"the embedded judge's threshold is {self._options.threshold:g}: give a cosine from 0 to 1")
        self._languages = {language.strip() for language in self._options.languages.split(",") if language.strip()}
        if wrong := self._languages - {"en", "zh"}:
            raise UserError(f"the embedded judge knows no language {min(wrong)!r}: write languages=en, zh or en,zh")
        self._embedder = None if model == NO_MODEL else Embedder(model)
        self.label = EMBEDDED if self._embedder else f"{EMBEDDED}:{NO_MODEL}"
        if self._embedder:
            self._embedder.check()
        self._ocr = open_ocr()
        self.identity: Json = {
            "rules": invariants.identity(),
            "model": self._embedder.identity if self._embedder else NO_MODEL,
            "pictures": picture_checks(self._ocr),
            **(msgspec.to_builtins(self._options) if self._embedder else {}),
        }

    def judge(self, case: Case) -> Verdict:
        """A verdict by the first thing that speaks against the variant, words before pictures."""
        a, b = invariants.take_apart(case.before, case.after, case.looks)
        doubt = invariants.compare_asked(a, b) or check_structure(a, b) or check_case(case, self._ocr)
        if doubt:
            return self._rejected(doubt)
        return unseen(self._by_meaning(a.stem, b.stem, case.before.language), case, self._ocr)

    def close(self) -> None:
        """There is nothing to let go of."""

    def _by_meaning(self, a: str, b: str, language: Language) -> Verdict:
        if a == b:
            return Verdict("kept", self.label, "", SAME_WORDS, 0.0 if self._embedder else None)
        if self._embedder is None or (self._languages and language not in self._languages):
            return Verdict("kept", self.label, "", _NO_DOUBT)
        one, two = self._embedder.encode([a, b])
        cosine = float(one @ two)
        sure = 1 / (1 + math.exp(-_STEEPNESS * (cosine - self._options.threshold)))
        if cosine < self._options.threshold:
            return self._rejected(Doubt(f"the meaning is not near enough: cosine {cosine:.2f}", False, 1 - sure))
        return Verdict("kept", self.label, f"cosine {cosine:.2f}", round(sure, 4), round(1 - cosine, 4))

    def _rejected(self, doubt: Doubt) -> Verdict:
        return doubt.unasked(self.label)
