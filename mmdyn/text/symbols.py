"""Formulas, symbols, names and quotations of a running text, in forms in which spelling and spacing no longer count."""

from __future__ import annotations

import re

from mmdyn.text.latex import without_latex
from mmdyn.text.normalise import one_spelling

_CIRCLED = re.compile("[\u2460-\u2473\u24ea-\u24ff\u2776-\u2793]")
_PRICE = re.compile(
    r"(?<![\\$])\\?\$\s?(\d{1,3}(?:,\d{3})++(?:\.\d++)?|\d++(?:\.\d++)?)(?=[\s,;.?!)](?![\d$\\^_{}=+*/<>])|$)"
)
_ARROWS = {"<=": "≤", ">=": "≥", "!=": "≠", "≦": "≤", "≧": "≥", "⩽": "≤", "⩾": "≥"}
_ARROWS |= dict.fromkeys(("=>", "->", "⇒", "⇌"), "→")
_ARROWS |= dict.fromkeys("Δ∆", "△")
_ARROW = re.compile("|".join(map(re.escape, _ARROWS)))

_GREEK = "α-ωΑ-Ω"
_OPERATORS = r"+*/^=<>≤≥≠≈√±∈∉⊂⊆∪∩→∞|∥⊥"
_LOOSE = re.compile(
    rf"\s*([{_OPERATORS}_∠△])\s*|(?<=[\w)\]])\s(-)\s(?=[\w(\[])|(?<=[(\[{{])\s+|\s+(?=[)\]}}])|(?<=[\d)],)\s(?=[\d(-])"
)
_RUN = re.compile(rf"[A-Za-z0-9{_GREEK}{_OPERATORS}∠△°'.,:!()\[\]{{}}_-]+")
_OPERATOR = re.compile(
    rf"[{_OPERATORS}]|(?<![A-Za-z])[A-Za-z]\(|(?<![A-Za-z])[\w)]-[\w(](?![A-Za-z])|\d:\d|[(\[]-?[\w./]{{1,12}},"
)
_LONG_WORD = re.compile(r"[A-Za-z]{3,}")
_FUNCTIONS = frozenset(
    ("sin", "cos", "tan", "cot", "sec", "csc", "log", "lim", "max", "min", "exp", "mod", "gcd", "lcm", "det", "arcsin")
)
_OPERAND = re.compile(rf"[A-Za-z{_GREEK}\d]")
_FUNCTION = re.compile(rf"\\?\b({'|'.join(sorted(_FUNCTIONS, key=len, reverse=True))})\s*(?=[\w(√])")
_EDGE = ".,:!'_=<>≤≥≠≈→"
_SUBSCRIPT = re.compile(rf"(?<=[A-Za-z{_GREEK})∁])_(?=[A-Za-z0-9])")
_SET_BUILDER = re.compile(r"\{\s*(\(?[A-Za-z](?:,\s?[A-Za-z]\))?)\s*:")
_WORD_AT_A_BAR = re.compile(rf"(?!(?:{'|'.join(sorted(_FUNCTIONS))})\|)[A-Z]?[a-z]+(?=\|)")
"""A word that stands before an absolute value and is no part of it: "If |x| = 3"."""
_BARE_NUMBER = re.compile(r"-?[\d./]+")
_IN_BRACKETS = re.compile(r"\([^(),]*(?:\([^()]*\)[^(),]*)*\)")
"""A run that stands in brackets as a whole, (g=10), and is no pair of coordinates."""
_LONGEST = 1000
"""Characters of a run that may be a formula."""
_RELATION = re.compile(r"([=<>≤≥≠≈∈→∥⊥])")
_INTERVAL = re.compile(r"(\w+)∈([(\[])([^,∞]+),([^,∞]+)([)\]])")
_ORDERS = frozenset("<>≤≥")
_TURNED = {">": "<", "≥": "≤"}
_SYMMETRIC = "=≠≈∥⊥"

_SYMBOL = re.compile(
    rf"(?<![A-Za-z'])(?<![A-Za-z]\.)(?:[A-Za-z][a-z]{{0,3}}[A-Z0-9][A-Za-z0-9]{{0,12}}|[A-Za-z])'{{0,3}}(?![A-Za-z]|['.]\w)"
    rf"|[{_GREEK}][0-9]?|[甲乙丙丁戊](?![烷烯炔醇醛酸酯酚苯基酮型肝])|{_CIRCLED.pattern}"
)
_NO_SYMBOL = frozenset({"a", "A", "I"})
_NAME = re.compile(
    r"(?:(?<=[\wÀ-ɏ,;%'-]\s)|(?<=[a-z]\s\()|(?<=[\u4e00-\u9fff]))[A-ZÀ-Þ][a-zà-ɏ]{2,}(?:-[A-Z][a-z]+)?(?![A-Za-z0-9])"
)
_QUOTED = re.compile(r"《([^《》]{1,80})》|\"([^\"\n]{1,80})\"|「([^「」]{1,80})」|『([^『』]{1,80})』")
_MARKS = ".,;:!?。、"
LOWERCASE_WORD = re.compile(r"[a-zà-ɏ]{2,}")
"""A word of a text in lower case."""


def readable_text(text: str) -> str:
    """A text as the readers of this package want it: without LaTeX, in one spelling, one space between words.

    Circled numbers stay, `$5` that is no formula becomes 5 dollars, arrows and inequalities are single characters.
    """
    circled = _CIRCLED.findall(text)
    if circled:
        text = _CIRCLED.sub("\ue000", text)
    if "$" in text:
        text = _PRICE.sub(r"\1 dollars", text)
    text = _SET_BUILDER.sub(r"{\1|", _SUBSCRIPT.sub("", one_spelling(without_latex(text))))
    text = " ".join(_ARROW.sub(lambda found: _ARROWS[found[0]], text).split())
    return re.sub("\ue000", lambda _: circled.pop(0), text) if circled else text


def read_formulas(text: str) -> frozenset[str]:
    """The formulas of a readable text in which numbers stand as their values; `b > a` reads a<b, `1 = x` reads 1=x."""
    found = set[str]()
    for run in _RUN.findall(_LOOSE.sub(r"\1\2", _FUNCTION.sub(r"\1", text))):
        if 2 < len(run) <= _LONGEST and _OPERATOR.search(run):
            parts = filter(_is_formula, map(_trimmed, _parts(run)))
            found.update(_turned(relation) for part in parts for relation in _relations(part))
    return frozenset(found)


def read_symbols(text: str) -> frozenset[str]:
    """What stands for something by its letters: x, AB, H2O, pH, λ, 甲, ①. Words and names are none."""
    return frozenset(_SYMBOL.findall(text)) - _NO_SYMBOL


def proper_names(text: str) -> frozenset[str]:
    """Capitalised words that do not begin a sentence."""
    return frozenset(_NAME.findall(text))


def read_quotations(text: str) -> frozenset[str]:
    """What stands in quotation marks or 《》, in lower case and without spaces."""
    return frozenset("".join(found).replace(" ", "").lower().strip(_MARKS) for found in _QUOTED.findall(text))


def without_order(formula: str) -> tuple[str, ...]:
    """What stands on each side of a formula's relations, in any order: 3+x=y is x+3=y, and b-a is taken for a-b."""
    return tuple("".join(sorted(side)) for side in _RELATION.split(formula))


def _parts(run: str) -> list[str]:
    """A run parted at the commas that stand in no brackets."""
    parts, depth, begin = list[str](), 0, 0
    for place, char in enumerate(run) if "," in run else ():
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth <= 0:
            parts.append(run[begin:place])
            begin = place + 1
    return [*parts, run[begin:]]


def _trimmed(run: str) -> str:
    """A run of mathematical characters without the punctuation and the unpaired brackets around it."""
    run = run.strip(_EDGE)
    if (word := _WORD_AT_A_BAR.match(run)) and len(word[0]) > 1:
        run = run[word.end() :]
    while run and run[-1] in ")]}" and run.count(run[-1]) > run.count("([{"[")]}".index(run[-1])]):
        run = run[:-1].rstrip(_EDGE)
    while run and run[0] in "([{" and run.count(run[0]) > run.count(")]}"["([{".index(run[0])]):
        run = run[1:].lstrip(_EDGE)
    return run[1:-1].strip(_EDGE) if _IN_BRACKETS.fullmatch(run) else run


def _is_formula(text: str) -> bool:
    if not (_OPERATOR.search(text) and _OPERAND.search(text)) or _BARE_NUMBER.fullmatch(text):
        return False
    words = set(_LONG_WORD.findall(text.lower())) - _FUNCTIONS
    return not words or bool(_RELATION.search(text))


def _relations(formula: str) -> list[str]:
    """The relations of two sides that a chain (-2≤n<4) or an interval (n∈[-2,4)) stands for; others as they are."""
    if found := _INTERVAL.fullmatch(formula):
        name, opened, low, high, closed = found.groups()
        formula = f"{low}{'<' if opened == '(' else '≤'}{name}{'<' if closed == ')' else '≤'}{high}"
    parts = _RELATION.split(formula)
    if len(parts) < 5 or not _ORDERS.issuperset(parts[1::2]):
        return [formula]
    return ["".join(parts[at : at + 3]) for at in range(0, len(parts) - 2, 2)]


def _turned(formula: str) -> str:
    """One form for a relation read from either side."""
    parts = _RELATION.split(formula)
    if len(parts) != 3:
        return formula
    left, relation, right = parts
    if relation in _TURNED:
        left, relation, right = right, _TURNED[relation], left
    elif relation in _SYMMETRIC:
        left, right = sorted((left, right))
    return left + relation + right
