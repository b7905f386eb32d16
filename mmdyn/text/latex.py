"""Formulas in LaTeX as plain text: `\\frac{1}{2}` as 1/2, `\\text{cm}` as cm, `90^\\circ` as 90°. Nothing is
computed."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

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
    """The text without LaTeX: wrappers opened, fractions with a slash, roots with √, symbols as characters.

    Text without LaTeX comes back as it is. Braces nested deeper than 40 are left alone; the time is linear in the
    length.
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
