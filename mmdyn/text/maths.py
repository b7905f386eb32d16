"""Spell formulas in one way that keeps their structure; find the formulas, symbols and names of a running text."""

from __future__ import annotations

import re
from itertools import pairwise

from mmdyn.text.normalise import FORMULA_SYMBOLS, LATEX_SYMBOLS, one_spelling, without_latex

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
    r"""Remove from a formula what only affects its print (dollars, \left, spaces, fonts, boxes) and unify its symbols.

    Commands with arguments or structure stay (\frac, \sqrt, \sum, \begin). Printed braces, which are those of a set,
    become ⦃⦄. The time is linear in the length.

    >>> spell_formula(r"$\left\{ x \mid x \geq \frac{1}{2} \right\}$")
    '⦃ x |x ≥\\frac {1}{2} ⦄'
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
    r"""Rewrite a short answer's formulas in one notation.

    x**2 becomes x^2, 7 x 10^4 uses ×, 3pi becomes 3\pi, a//b a∥b, C_5^2 and {5 \choose 2} \binom{5}{2}, (1101)_{(2)}
    1101_2, and 3+4j 3+4i.

    >>> spell_notation("7 x 10**4"), spell_notation("C_5^2")
    ('7×10^4', '\\binom{5}{2}')
    """
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
    """Find where the bracket at `start` is closed, by a bracket of any kind ([0,1) is one); -1 where it is not.

    >>> closing_bracket("f([0,1)) + g(x)", 1)
    7
    """
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in _PAIRS) - (text[at] in _CLOSERS)
        if depth == 0:
            return at
    return -1


def split_outside(text: str, separators: str) -> list[str]:
    """Split a text at separators outside of brackets and strip the parts; the comma in 1,000 separates nothing.

    Where another comma without a space behind it separates, as in 36,-16,117, every comma does.

    >>> split_outside("(1, 2), 1,000, 3", ","), split_outside("36,-16,117", ",")
    (['(1, 2)', '1,000', '3'], ['36', '-16', '117'])
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
_RELATION_SIGN = re.compile(r"([=<>≤≥≠≈∈→∥⊥])")
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
    r"""Prepare a text for this package's readers: no LaTeX, one spelling, one space between words.

    Circled numbers stay, `$5` outside of formulas becomes 5 dollars, arrows and inequalities become single characters.

    >>> readable_text(r"It costs $5 and $x \le \frac{1}{2}$")
    'It costs 5 dollars and x ≤1/2'
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
    """Find the formulas of a readable text in which numbers are replaced by their values.

    Relations have one direction: `b > a` becomes a<b, `x = 1` becomes 1=x.

    >>> sorted(read_formulas("Let x = 1 and b > a + 2."))
    ['1=x', 'a+2<b']
    """
    found = set[str]()
    for run in _RUN.findall(_LOOSE.sub(r"\1\2", _FUNCTION.sub(r"\1", text))):
        if 2 < len(run) <= _LONGEST and _OPERATOR.search(run):
            parts = filter(_is_formula, map(_trimmed, _parts(run)))
            found.update(_turned(relation) for part in parts for relation in _relations(part))
    return frozenset(found)


def read_symbols(text: str) -> frozenset[str]:
    """Find the symbols of a text, such as x, AB, H2O, pH, λ, 甲, ①; words and names are none.

    >>> sorted(read_symbols("Let AB be a chord and x its length in H2O."))
    ['AB', 'H2O', 'x']
    """
    return frozenset(_SYMBOL.findall(text)) - _NO_SYMBOL


def proper_names(text: str) -> frozenset[str]:
    """Find the capitalised words that do not begin a sentence.

    >>> sorted(proper_names("When did Newton meet Halley?"))
    ['Halley', 'Newton']
    """
    return frozenset(_NAME.findall(text))


def read_quotations(text: str) -> frozenset[str]:
    """Find the texts in quotation marks or 《》, in lower case and without spaces.

    >>> sorted(read_quotations('Who wrote "War and Peace"?'))
    ['warandpeace']
    """
    return frozenset("".join(found).replace(" ", "").lower().strip(_MARKS) for found in _QUOTED.findall(text))


def without_order(formula: str) -> tuple[str, ...]:
    """Sort the characters on each side of a formula's relations, so that 3+x=y equals x+3=y, but also b-a equals a-b.

    >>> without_order("3+x=y") == without_order("x+3=y")
    True
    """
    return tuple("".join(sorted(side)) for side in _RELATION_SIGN.split(formula))


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
    return not words or bool(_RELATION_SIGN.search(text))


def _relations(formula: str) -> list[str]:
    """The relations of two sides that a chain (-2≤n<4) or an interval (n∈[-2,4)) stands for; others as they are."""
    if found := _INTERVAL.fullmatch(formula):
        name, opened, low, high, closed = found.groups()
        formula = f"{low}{'<' if opened == '(' else '≤'}{name}{'<' if closed == ')' else '≤'}{high}"
    parts = _RELATION_SIGN.split(formula)
    if len(parts) < 5 or not _ORDERS.issuperset(parts[1::2]):
        return [formula]
    return ["".join(parts[at : at + 3]) for at in range(0, len(parts) - 2, 2)]


def _turned(formula: str) -> str:
    """One form for a relation read from either side."""
    parts = _RELATION_SIGN.split(formula)
    if len(parts) != 3:
        return formula
    left, relation, right = parts
    if relation in _TURNED:
        left, relation, right = right, _TURNED[relation], left
    elif relation in _SYMMETRIC:
        left, right = sorted((left, right))
    return left + relation + right
