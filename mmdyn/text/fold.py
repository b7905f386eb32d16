"""What is left of a short text when spelling, spacing, punctuation and wrappers no longer count."""

from __future__ import annotations

import re

from mmdyn.text.latex import without_latex
from mmdyn.text.normalise import one_spelling

_MARKUP = re.compile(r"\*\*|__|`")
_OPEN_QUOTES, _CLOSE_QUOTES = "\"'“‘「『《【", "\"'”’」』》】"
_END, _START = " \t\r\n.,;:?。、…", " \t\r\n,;:。、"
_EXCLAIMED = re.compile(r"(?<=[^\W\d_]{2})!$")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=[^\W\d_]{2})", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})-(?=[^\W\d_]{2})")
_DEGREES = re.compile(
    r"(?<=\d)\s?(?:度|degrees?\b)(?![\u4e00-\u9fff])(?!\s(?:celsius|fahrenheit|centigrade))", re.IGNORECASE
)
_INITIALS = re.compile(r"(?<![\w.])(?:[A-Z]\.\s?){2,}(?=\W|$|[A-Z])")
_ONE_LETTER = re.compile(r"(?<![\w'])([A-Za-z])[- ](?=[a-z]{3})")
_INDEX = re.compile(r"_(?=\w)")
_LOOSE = re.compile(
    r"(?<![^\W_]) | (?![^\W_])|(?<=\d) (?!\d)|(?<!\d) (?=\d)|(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])"
)
_CAPITALISED = re.compile(r"(?<![A-Za-zÀ-ɏ])[A-Za-zÀ-ɏ]*[A-ZÀ-Þ][A-Za-zÀ-ɏ]*")
_GENOTYPE = re.compile(r"(?:([a-z])\1)+", re.IGNORECASE)
_SMALL_WORDS = frozenset({
    "to", "in", "on", "of", "at", "by", "is", "it", "an", "as", "or", "up", "we", "he", "my", "so", "if", "be",
    "no", "do", "go", "us",
})  # fmt: skip
_RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "≦": "≤", "≧": "≥", "=>": "→", "->": "→"}
_RELATION = re.compile("|".join(map(re.escape, _RELATIONS)))
_ROOT = re.compile(r"√\((\w+)\)")


def fold(text: str) -> str:
    """One form for texts that say the same in other spelling.

    Gone are LaTeX and Markdown wrappers, full-width forms, invisible characters, outer quotes and punctuation, a
    leading article, spaces next to anything but letters or digits of one kind, and the case of words. Case stays where
    it carries
    meaning: in one- and two-letter words (Co, CO), mixed-case words (NaOH) and genotypes (AABB, aabb). Signs, brackets
        and digits are never dropped.
    """
    text = _RELATION.sub(lambda found: _RELATIONS[found[0]], one_spelling(without_latex(text)))
    text = _INITIALS.sub(_initials, _DEGREES.sub("°", _MARKUP.sub("", text)))
    text = _ONE_LETTER.sub(lambda found: f"{found[1].lower()} ", _strip(text))
    text = _ROOT.sub(r"√\1", _INDEX.sub("", _HYPHEN.sub(" ", _ARTICLE.sub("", text, count=1))))
    return _CAPITALISED.sub(_case, _LOOSE.sub("", " ".join(text.split())))


def _initials(found: re.Match[str]) -> str:
    """U.S.A. as USA, H. G. Wells as HG Wells."""
    letters = re.sub(r"[.\s]", "", found[0])
    return f"{letters} " if found[0][-1].isspace() else letters


def _strip(text: str) -> str:
    while True:
        text = _EXCLAIMED.sub("", text.rstrip(_END).lstrip(_START))
        if len(text) > 1 and text[0] in _OPEN_QUOTES and text[-1] in _CLOSE_QUOTES:
            text = text[1:-1]
        else:
            return text


def _case(found: re.Match[str]) -> str:
    word = found[0]
    if len(word) < 3:
        return word.lower() if word.istitle() and word.lower() in _SMALL_WORDS else word
    regular = word[1:].islower() or word.isupper()
    return word.lower() if regular and not _GENOTYPE.fullmatch(word) else word
