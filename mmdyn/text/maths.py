"""One spelling for formulas, LaTeX or not, that keeps their structure: `\\dfrac{1}{2}\\le x` as `\\frac{1}{2}≤x`."""

from __future__ import annotations

import re
from itertools import pairwise

from mmdyn.text.latex import FORMULA_SYMBOLS, LATEX_SYMBOLS
from mmdyn.text.normalise import one_spelling

SET_OPEN, SET_CLOSE = "⦃", "⦄"
"""The braces of a set; { and } only group, as in LaTeX."""

GREEK = tuple(name for name, char in LATEX_SYMBOLS.items() if "α" <= char <= "ω")
_IS_LATEX = re.compile(r"\\[A-Za-z{},;:!%()\[\]]|[\^_|]\{|\{,\}|\$")
_TWICE = re.compile(r"\\\\(?=(?:[A-Za-z]{2}|[{},;!%]))")
_TABLE = re.compile(r"\\begin\b|\\\\\s*\\\\|\\cases")
_DRAWN = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|middle)(?![A-Za-z])\s*(?:\.|(?=[\\()\[\]{}|<>/]))"
    r"|\\(?:displaystyle|textstyle|limits|nolimits|rm|bf|it|!)(?![A-Za-z])\s*|\$|(?<!\\)\\[()\[\]]"
)
_SPACE = re.compile(r"(?<!\\)\\(?:[,;:> ]|q?quad|hspace\{[^{}]*\})|~")
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|normal)?|math(?:rm|bf|it|sf|cal)|mbox|boxed|fbox|operatorname\*?|bm|boldsymbol|pmb|ce)\s*(?=\{)"
)
_ROMAN = re.compile(r"\\(?:text(?:bf|it|rm|sf|normal)?|math(?:rm|bf|it|sf|cal)|mbox)\s+(?=[A-Za-z])")
_ESCAPED = re.compile(r"\\([%#&_])")
_COMMAND = re.compile(r"\\([A-Za-z]+)[ \t]*")
_FIELD = re.compile(r"\\mathbb\s*\{?\s*([NZQRC])\s*\}?")
_FIELDS = {"N": "ℕ", "Z": "ℤ", "Q": "ℚ", "R": "ℝ", "C": "ℂ"}
_KEPT = "ℕℤℚℝℂ"
_RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "<>": "≠", "≦": "≤", "≧": "≥", "⩽": "≤", "⩾": "≥", "≅": "≈", "≃": "≈"}
_RELATION = re.compile("|".join(map(re.escape, _RELATIONS)))
_BOUNDS = re.compile(r"(?<![A-Za-z\\])(?:infinity|inf|oo)(?![A-Za-z])|无穷大?|正无穷|负无穷")
_DENIED = re.compile(r"\\not\s*([<>=∈])|\\n(gtr|less)\s*")
_NOT = {">": "≤", "<": "≥", "=": "≠", "∈": "∉", "gtr": "≤", "less": "≥"}
_DEGREE = re.compile(r"\^\s*(?:\{\s*(?:°|∘)\s*\}|[°∘])")
_PRIME = re.compile(r"\^\s*(?:\{\s*('+)\s*\}|('))")
_COMMA = re.compile(r"\{,\}")
_ENDS = " \t\r\n.;,。；，、"
_CHOSEN = r"\{?\s*(\d{1,3}|[a-z])\s*\}?"
_NOTATION = tuple((re.compile(pattern), written) for pattern, written in (
    (r"(?:(?<=[\d)\]}])|(?<=\b[A-Za-z]))(\s?)\*\*\1(?=[\d({\\-]|[A-Za-z]\b)", "^"),
    (r"(?<=\d)\s?[xX]\s?(?=10\s?(?:\^|\*\*))", "×"), (r"\+\s+-\s?(?=[\w(\\])", "- "), (r"\A--(?=\d)", ""),
    (r"(?<=[A-Za-zα-ω])\s?//\s?(?=[A-Za-zα-ω])", "∥"),
    (rf"(?<![A-Za-z\\])({'|'.join(GREEK)})(?![A-Za-z])", r"\\\1 "),
    (r"(?:\{\s*)?(\w{1,3})\s*\\choose\s*(\w{1,3})\s*\}?", r"\\binom{\1}{\2}"),
    (rf"(?<![A-Za-z\\])C\s?_{_CHOSEN}\s?\^{_CHOSEN}", r"\\binom{\1}{\2}"),
    (r"(?<![A-Za-z\\])C\s?\((\d{1,3}),\s?(\d{1,3})\)", r"\\binom{\1}{\2}"),
    (r"\(([\dA-F]{2,})\)\s?(?=_)", r"\1"), (r"_\{?\((\d{1,2})\)\}?", r"_\1"),
    (r"\A(-?\d[\d.]*\s?[+-]\s?[\d.]*)j\Z", r"\1i"),
))  # fmt: skip
"""Other hands' notation, and the one that is read here."""


def spell_formula(text: str) -> str:
    """A formula without what is only drawn (dollars, \\left, spaces, fonts, boxes), with symbols as single characters.

    Of LaTeX's commands those stay that have arguments or structure (\\frac, \\sqrt, \\sum, \\begin). Braces that LaTeX
    draws, and those of texts that are no LaTeX, become ⦃⦄. The time is linear in the length.
    """
    text = text.replace("｛", "{").replace("｝", "}").replace("√{", "\\sqrt{")
    if _IS_LATEX.search(text):
        if not _TABLE.search(text):
            text = _TWICE.sub(r"\\", text)
        text = _COMMA.sub(",", text).replace("\\{", SET_OPEN).replace("\\}", SET_CLOSE)
        text = _FIELD.sub(lambda found: _FIELDS[found[1]], text)
        text = _SPACE.sub(" ", _ROMAN.sub("", _WRAPPER.sub("", _DRAWN.sub("", text))))
        text = _ESCAPED.sub(r"\1", _COMMAND.sub(lambda found: FORMULA_SYMBOLS.get(found[1], f"\\{found[1]} "), text))
    else:
        text = text.replace("{", SET_OPEN).replace("}", SET_CLOSE)
    fields = {char for char in _KEPT if char in text}
    if fields:  # the compatibility form of ℝ is R
        text = "".join(f"\ue000{_KEPT.index(char)}" if char in fields else char for char in text)
    text = one_spelling(text)
    for char in fields:
        text = text.replace(f"\ue000{_KEPT.index(char)}", char)
    text = _BOUNDS.sub(_infinity, _RELATION.sub(lambda found: _RELATIONS[found[0]], text))
    text = _PRIME.sub(lambda found: found[1] or found[2], _DEGREE.sub("°", text))
    text = _DENIED.sub(lambda found: _NOT[found[1] or found[2]], text).replace("根号", "√")
    return _outermost(" ".join(text.split()).strip(_ENDS))


def spell_notation(text: str) -> str:
    r"""A short answer with its formulas in one notation: x**2 as x^2, 7 x 10^4 with ×, 3pi as 3\pi, a//b as a∥b, C_5^2
    and {5 \choose 2} as \binom{5}{2}, (1101)_{(2)} as 1101_2, 3+4j as 3+4i."""
    for pattern, written in _NOTATION:
        text = pattern.sub(written, text)
    return text


def _infinity(found: re.Match[str]) -> str:
    return "-∞" if found[0] == "负无穷" else "∞"


def _outermost(text: str) -> str:
    """The text without braces that group the whole of it."""
    while text[:1] == "{" and text[-1:] == "}" and closing_bracket(text, 0) == len(text) - 1:
        text = text[1:-1].strip(_ENDS)
    return text


_PAIRS = {"(": ")", "[": "]", "{": "}", "（": "）", "【": "】", SET_OPEN: SET_CLOSE}
_CLOSERS = frozenset(_PAIRS.values())


def closing_bracket(text: str, start: int) -> int:
    """Where the bracket at `start` is closed, by whichever bracket ([0,1) is one); -1 where it is not."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in _PAIRS) - (text[at] in _CLOSERS)
        if depth == 0:
            return at
    return -1


def split_outside(text: str, separators: str) -> list[str]:
    """The parts of a text between separators that stand in no bracket, stripped; a comma within 1,000 separates
    nothing.

    Where another comma without a space behind it separates, as in 36,-16,117, so does one that could stand within a
    number.
    """
    places, depth = list[int](), 0
    for at, char in enumerate(text):
        if char in _PAIRS:
            depth += 1
        elif char in _CLOSERS:
            depth = max(0, depth - 1)
        elif char in separators and depth == 0:
            places.append(at)
    inside = [at for at in places if text[at] == "," and _within_a_number(text, at)]
    if not any(text[at] == "," and at not in inside and text[at + 1 : at + 2].strip() for at in places):
        places = [at for at in places if at not in inside]
    edges = [-1, *places, len(text)]
    return [text[start + 1 : end].strip() for start, end in pairwise(edges)]


_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")


def _within_a_number(text: str, at: int) -> bool:
    return bool(_THOUSANDS.match(text[max(0, at - 1) : at + 5]))
