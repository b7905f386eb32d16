"""Bring text into one spelling: look-alike characters, LaTeX as plain text, folded short texts; and estimate tokens."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from importlib.resources import files

_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {"\u3000": " ", "\u00a0": " ", "İ": "I"}
_STYLED = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0x1D400, 0x1D800)}
_CIRCLED = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0x24B6, 0x24EA)}
_VISIBLE = {old: new for old, new in (_WIDE | _STYLED | _CIRCLED).items() if len(new) == 1}

_FREQUENT = "，：（）？！；"
"""Most of what is full-width in Chinese texts."""

_INVISIBLE = r"\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
"""A character class's inside: zero-width characters, direction marks, soft hyphens, variation selectors."""

_LOOKALIKE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00a0\u0130\u24b6-\u24e9\u3000\uff01-\uff5e\ud800-\udfff\U0001d400-\U0001d7ff"
)
_UNSEEN, _ODD = re.compile(f"[{_INVISIBLE}]"), re.compile(f"[{_INVISIBLE}{_LOOKALIKE}]")
_ORDINARY = re.compile(r"[\n -~\u3001-\u30ff\u4e00-\u9fff]*+")
"""Most Chinese texts are of these alone, and to see that is quicker than to look for the odd ones."""
_CONTROLS = bytes(32 if code in (*range(9), 11, 12, *range(14, 32), 127) else code for code in range(256))

_SCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_FRACTION = re.compile("[¼½¾⅐-⅞]")
_SAME = str.maketrans("−–‐‑×·∙⋅⁄∶’‘“”º", "----****/:''\"\"°")


def visible_and_gaps(text: str) -> tuple[str, list[int]]:
    r"""Remove invisible characters from a text, and list the positions in the text where they stood.

    Full-width, styled and circled letters become plain ones, control characters spaces, and lone surrogates the
    replacement character U+FFFD, one character each.

    >>> visible_and_gaps("ａ\u200bb")
    ('ab', [1])
    """
    if text.isascii():
        return (text if text.isprintable() else text.encode("ascii").translate(_CONTROLS).decode("ascii")), []
    for char in _FREQUENT:
        text = text.replace(char, _VISIBLE[char])
    if _ORDINARY.fullmatch(text) or not _ODD.search(text):
        return text, []
    odd, gaps = set(_ODD.findall(text)), list[int]()
    if any(map(_UNSEEN.match, odd)):
        gaps = [found.start() for found in _UNSEEN.finditer(text)]
        text = _UNSEEN.sub("", text)
    for char in odd:
        text = text.replace(char, _plain(char))
    return text, gaps


def _plain(char: str) -> str:
    if char in _VISIBLE:
        return _VISIBLE[char]
    return " " if char < "\x80" else "\ufffd" if "\ud800" <= char <= "\udfff" else char


def visible_text(text: str) -> str:
    """Remove invisible characters from a text, as `visible_and_gaps` does, and return the text alone."""
    return visible_and_gaps(text)[0]


def one_spelling(text: str) -> str:
    """Bring a text into Unicode's compatibility form, with one minus sign, one times sign and one kind of quotes.

    >>> one_spelling("H₂O"), one_spelling("x² − y"), one_spelling("2½")
    ('H2O', 'x^2 - y', '2 1/2')
    """
    if text.isascii():
        return visible_text(text)
    text = _SUPERSCRIPT.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), visible_text(text))
    text = _FRACTION.sub(lambda found: " " + unicodedata.normalize("NFKC", found[0]), text.translate(_SCRIPTS))
    text = unicodedata.normalize("NFKC", text).translate(_SAME)
    return _FOREIGN_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text)


_TOKEN = re.compile(r"\\[A-Za-z]+\s*|\\.|.", re.DOTALL)
_DEEPEST = 40

_TABLE = tomllib.loads(files(__package__).joinpath("latex.toml").read_text(encoding="utf-8"))
LATEX_SYMBOLS: dict[str, str] = _TABLE["plain"]
FORMULA_SYMBOLS: dict[str, str] = {**LATEX_SYMBOLS, **_TABLE["formula"]}
_ESCAPED = {",": " ", ";": " ", ":": " ", " ": " ", "\\": " ", "!": "", "(": "", ")": "", "[": "", "]": ""}
_WRAPPERS = frozenset({
    "text", "textbf", "textit", "textrm", "textnormal", "mathrm", "mathbf", "mathit", "mathsf", "mathbb",
    "mathcal", "mbox", "operatorname", "boxed", "fbox", "vec", "hat", "bm", "boldsymbol", "ce", "pmb",
    "underline",
})  # fmt: skip
_LETTERS = re.compile(r"[A-Za-z]{2,3}")
_PRODUCT = re.compile(r"-?(?:\d+[A-Za-z]\w*|[A-Za-z]\w+)")
_SIMPLE = re.compile(r"-?(?:[\w.°%]+|√\w+)")


def without_latex(text: str) -> str:
    r"""Turn LaTeX into plain text: open wrappers, write fractions with a slash, roots with √, symbols as characters.

    Text without LaTeX is returned unchanged. Braces nested deeper than 40 stay; the time is linear in the length.

    >>> without_latex(r"$\frac{a+b}{2} \geq \sqrt{ab}$")
    '(a+b)/2 ≥√ab'
    """
    if "\\" not in text and "$" not in text and "{" not in text:
        return text
    return _Reader(text).rest(0, top=True).replace("^°", "°").replace("^'", "'")


class _Reader:
    """Goes once through the tokens: a command with its spaces, an escaped character, or a character."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(text)
        self.at = 0

    def rest(self, depth: int, top: bool = False) -> str:
        """Everything to the end of the group that is open, or of the text."""
        out: list[str] = []
        while self.at < len(self.tokens):
            token = self._take()
            if token == "}" and not top:
                break
            out.append(self._read(token, out[-1] if out else "", depth))
        return "".join(out)

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def _read(self, token: str, before: str, depth: int) -> str:
        if token in "$~":
            return "" if token == "$" else " "
        if token == "{":
            return self._group(depth)
        if token in "^_":
            return self._script(token, before, depth)
        if len(token) == 1:
            return token
        name = token[1:].rstrip()
        if not name.isalpha():
            return self._escape(token[1])
        return self._command(name, before, depth)

    def _group(self, depth: int) -> str:
        if depth >= _DEEPEST:
            return "{"
        inside = self.rest(depth + 1)
        return f"{{{inside}}}" if "," in inside and inside != "," else inside

    def _script(self, mark: str, before: str, depth: int) -> str:
        if self._peek() != "{" and not (before[:1] == "\\" and self._peek().isalnum()):
            return mark
        inside = self._argument(depth)
        if mark == "_":
            return f"_({inside})" if any(sign in inside for sign in "+-*/") else inside
        gap = " " if self._peek().isdigit() else ""  # ∫_{0}^{2}3x is no power of 23
        return (f"^({inside})" if _PRODUCT.fullmatch(inside) else f"^{_simple(inside)}") + gap

    def _escape(self, char: str) -> str:
        if char == "!":  # a negative space draws what follows to what stands before
            while self._peek().isspace():
                self.at += 1
        return _ESCAPED.get(char, char)

    def _command(self, name: str, before: str, depth: int) -> str:
        if name in ("frac", "dfrac", "tfrac", "cfrac"):
            above, below = self._argument(depth), self._argument(depth)
            mixed = " " if before[-1:].isdigit() else ""
            fraction = f"{mixed}{_simple(above)}/{_simple(below)}"
            if _LETTERS.fullmatch(below.strip()):  # ab below the bar, and b behind it, must not look alike
                return f"{mixed}{_simple(above)}/({below.strip()})"
            return f"({fraction})" if below.strip().isalpha() and self._peek().isalnum() else fraction
        if name == "sqrt":
            return f"√{_simple(self._argument(depth))}"
        if name == "overline":
            inside = self._argument(depth)
            return inside if inside.isupper() and len(inside) > 1 else f"\\overline({inside})"
        return self._argument(depth) if name in _WRAPPERS else LATEX_SYMBOLS.get(name, f"\\{name} ")

    def _argument(self, depth: int) -> str:
        """A group, or what stands for one without braces: a single character or command."""
        while self._peek().isspace():
            self.at += 1
        if not self._peek() or depth >= _DEEPEST:
            return ""
        token = self._take()
        return self.rest(depth + 1) if token == "{" else self._read(token, "", depth + 1)

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""


def _simple(text: str) -> str:
    text = text.strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})"


_MARKUP = re.compile(r"\*\*|__|`")
_OPEN_QUOTES, _CLOSE_QUOTES = "\"'“‘「『《【", "\"'”’」』》】"
_END, _START = " \t\r\n.,;:?。、…", " \t\r\n,;:。、"
_EXCLAIMED = re.compile(r"(?<=[^\W\d_]{2})!$")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=[^\W\d_]{2})", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})-(?=[^\W\d_]{2})")
_DEGREES = re.compile(
    r"(?<=\d)\s?(?:度|degrees?\b)(?!(?-i:[\u4e00-\u9fff]))(?!\s(?:celsius|fahrenheit|centigrade))", re.IGNORECASE
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
    """Fold texts that differ only in spelling into one form.

    Removed are LaTeX and Markdown wrappers, full-width forms, invisible characters, outer quotes and punctuation, a
    leading article, spaces except between words and between numbers, and the case of words. Case stays where it carries
    meaning: in one- and two-letter words (Co, CO), mixed-case words (NaOH) and genotypes (AABB, aabb). Signs, brackets
    and digits are never removed.

    >>> fold("The **Cell** wall."), fold("CO") == fold("Co")
    ('cell wall', False)
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


CHINESE = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""A character class's inside: the ideographs."""

PLAIN_WORD = re.compile(rf"[{CHINESE}]|[^\W_{CHINESE}]+")
"""An ideograph, or a run of other letters and digits."""


def plain_words(text: str) -> list[str]:
    """Words as ROUGE counts them: runs of letters and digits, in small letters, with all else between them (Lin 2004).

    In English these are the words of the original script without stemming. Letters of other scripts count too, and a
    Chinese character is a word. A text without letters and digits has its parts between spaces for words.

    >>> plain_words("The **Cell** wall: 细胞")
    ['the', 'cell', 'wall', '细', '胞']
    """
    return PLAIN_WORD.findall(visible_text(text).lower()) or text.split()


BYTES_A_TOKEN = 4
"""Of UTF-8 text: right for English, and near it for Chinese, whose characters take three bytes."""


def estimate_tokens(text: str) -> float:
    """Estimate the number of tokens of a text from its bytes.

    >>> estimate_tokens("four words of text")
    4.5
    """
    return len(text.encode()) / BYTES_A_TOKEN
