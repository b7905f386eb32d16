"""Reads a formula, LaTeX or plain, into a tree; what can be read in two ways (1/2x of letters, sin x/2) is not read."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from mmdyn.scoring.equal.tree import Node, is_number

_LONGEST, _DEEPEST, _MOST_DIGITS = 400, 25, 60
_TOKEN = re.compile(
    r"\s+|\\[A-Za-z]+|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?|\.\d+|[A-Za-z]+|.", re.DOTALL | re.ASCII
)
FUNCTIONS = (
    "arcsin", "arccos", "arctan", "arcsec", "arccsc", "arccot", "sinh", "cosh", "tanh", "asin", "acos", "atan", "sin",
    "cos", "tan", "cot", "sec", "csc", "exp", "log", "ln", "lg", "sqrt",
)  # fmt: skip
_FUNCTION = re.compile("|".join(FUNCTIONS))
_FORMAL, _RUN = re.compile(r"[\d^\\√π]"), re.compile(r"[A-Za-z]{3}")
_DIGITS = "0123456789"
_NO_PRODUCT = frozenset({
    "and", "or", "not", "the", "is", "are", "per", "with", "for", "but", "of", "in", "to", "if", "at", "by", "no", "so",
    "we", "yes", "all", "any", "one", "two", "six", "ten", "mod", "max", "min", "sup", "inf", "lim", "det", "gcd", "lcm",
    "dim", "arg", "deg", "Re", "Im", "ker", "adj", "var", "tr",
})  # fmt: skip
_GREEK = frozenset("αβγδεζηθικλμνξορστυφχψωΓΔΘΛΞΠΣΦΨΩℓℏ")
_CLOSED_BY = {"(": ")", "[": "]"}
_APPLIED = frozenset("fghFGHPuvφψ")
"""Letters that a bracket behind them makes a function of: f(x) is no product."""


class NotRead(Exception):
    """The text is no formula, or one that can be read in more than one way."""


@lru_cache(maxsize=4096)
def read_formula(text: str) -> Node | None:
    """The tree of a spelled formula; None for anything else: words, lists, relations, what needs more than arithmetic."""
    if not text or len(text) > _LONGEST:
        return None
    if not _FORMAL.search(text) and _RUN.search(text):
        return None  # dog/cat
    parser = _Parser(_TOKEN.findall(text))
    try:
        node = parser.sum(0)
        parser.skip()
    except NotRead:
        return None
    return node if parser.at == len(parser.tokens) else None


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at, self.bars = tokens, 0, 0

    def skip(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1

    def peek(self) -> str:
        self.skip()
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise NotRead
        self.at += 1
        return token

    def sum(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise NotRead
        terms = [self._signed(depth)]
        while self.peek() in ("+", "-") and self.peek():
            negative = self.take() == "-"
            term = self._product(depth)
            terms.append(Node("neg", (term,)) if negative else term)
        return terms[0] if len(terms) == 1 else Node("+", tuple(terms))

    def _signed(self, depth: int) -> Node:
        if self.peek() in ("+", "-") and self.peek():
            negative = self.take() == "-"
            if self.peek() in ("+", "-"):
                raise NotRead
            node = self._product(depth)
            return Node("neg", (node,)) if negative else node
        return self._product(depth)

    def _product(self, depth: int) -> Node:
        node = self._factor(depth)
        slashed = False  # behind a slash that has no bracket: what follows may stand below it or not
        called = node.op == "call" and node.name.startswith("bare ")
        while token := self.peek():
            if token in ("*", "/", "÷"):
                self.take()
                divides = token != "*"
                if divides and called and self.peek()[:1] in _DIGITS and self.peek():
                    raise NotRead  # sin x/2
                bracketed = self.peek() in ("(", "{", "[", "\\frac")
                numbers = is_number(node)
                factor = self._signed_factor(depth)
                slashed = divides and not bracketed and not (numbers and is_number(factor))
                node = Node("/" if divides else "*", (node, factor))
                called = factor.op == "call" and factor.name.startswith("bare ")
            elif self._starts_factor(token, node):
                if slashed:
                    raise NotRead
                factor = self._factor(depth)
                node = Node("*", (node, factor))
                called = factor.op == "call" and factor.name.startswith("bare ")
            else:
                break
        return node

    def _signed_factor(self, depth: int) -> Node:
        if self.peek() == "-":
            self.take()
            return Node("neg", (self._factor(depth),))
        return self._factor(depth)

    def _starts_factor(self, token: str, before: Node) -> bool:
        if token[0] in _DIGITS or token[0] == ".":
            if self.tokens[self.at - 1] in (")", "]", "}"):
                return False
            raise NotRead  # 2 3, x 2
        if token == "|":
            return self.bars == 0
        if token in _CLOSED_BY and before.op == "num" and self.tokens[self.at - 1] == ")":
            raise NotRead  # (2)(3) are the numbers of two statements
        return token in _CLOSED_BY or token in "{√∛π" or token in _GREEK or _opens(token)

    def _factor(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise NotRead
        node = self._atom(depth + 1)
        while token := self.peek():
            if token == "!":
                self.take()
                node = Node("fact", (node,))
            elif token == "%":
                self.take()
                node = Node("/", (node, Node("num", value=Fraction(100))))
            elif token == "°":
                self.take()
                node = Node("*", (node, Node("const", name="degree")))
            elif token == "^":
                self.take()
                node = Node("^", (node, self._exponent(depth + 1)))
                if self.peek() == "^":
                    raise NotRead
            else:
                break
        return node

    def _exponent(self, depth: int) -> Node:
        if self.peek() == "{":
            return self._group(depth)
        if self.peek() == "(":
            return self._atom(depth)
        if self.peek() in ("+", "-"):
            sign = self.take()
            node = self._exponent(depth)
            return Node("neg", (node,)) if sign == "-" else node
        token = self.peek()
        if token[:1] in _DIGITS and token:
            return self._number(self.take())
        return self._symbol(depth) if _letter(token) else self._atom(depth)

    def _atom(self, depth: int) -> Node:
        token = self.peek()
        if not token or depth > _DEEPEST:
            raise NotRead
        if token[0] in _DIGITS or token[0] == ".":
            return self._mixed(self._number(self.take()), token, depth)
        if token == "{":
            return self._group(depth)
        if token in _CLOSED_BY:
            return self._bracket(depth)
        if token == "|":
            return self._absolute(depth)
        if token in "√∛":
            return self._root(depth)
        if token == "π":
            self.take()
            return Node("const", name="pi")
        if token[0] == "\\":
            return self._command(depth)
        if _letter(token):
            return self._letters(depth)
        if token in _GREEK:
            return self._symbol(depth)
        raise NotRead

    def _number(self, token: str) -> Node:
        digits = token.replace(",", "")
        if len(digits) > _MOST_DIGITS or digits == ".":
            raise NotRead
        return Node("num", value=Fraction(digits.rstrip(".")))

    def _mixed(self, number: Node, token: str, depth: int) -> Node:
        """A whole number drawn to a fraction of whole numbers: 1\\frac{1}{2}."""
        if not (_whole(token) and self.peek() == "\\frac"):
            return number
        start = self.at
        part = self._command(depth)
        above, below = part.args if part.op == "/" else (part, part)
        if above.op == below.op == "num" and above.value < below.value and above.value.denominator == 1:
            return Node("+", (number, part))
        self.at = start
        return number

    def _group(self, depth: int) -> Node:
        self.take("{")
        node = self.sum(depth + 1)
        self.take("}")
        return node

    def _bracket(self, depth: int) -> Node:
        bars, self.bars = self.bars, 0
        opened = self.take()
        node = self.sum(depth + 1)
        self.take(_CLOSED_BY[opened])
        self.bars = bars
        return node

    def _absolute(self, depth: int) -> Node:
        self.take("|")
        if self.bars:
            raise NotRead
        self.bars = 1
        node = self.sum(depth + 1)
        self.take("|")
        self.bars = 0
        return Node("abs", (node,))

    def _argument(self, depth: int) -> Node:
        """A group, or the single character that stands for one: \\frac12, \\sqrt2."""
        if self.peek() == "{":
            return self._group(depth)
        token = self.peek()
        if len(token) > 1 and token[0] != "\\":
            self.tokens[self.at : self.at + 1] = [token[0], token[1:]]
        return self._atom(depth)

    def _root(self, depth: int) -> Node:
        degree = Fraction(3 if self.take() == "∛" else 2)
        token = self.peek()
        inside = self._group(depth) if token == "{" else self._atom(depth)
        return Node("root", (inside, Node("num", value=degree)))

    def _command(self, depth: int) -> Node:
        name = self.take()[1:]
        if name == "frac":
            if self._differential():
                raise NotRead
            return Node("/", (self._argument(depth), self._argument(depth)))
        if name == "sqrt":
            degree = Node("num", value=Fraction(2))
            if self.peek() == "[":
                degree = self._bracket(depth)
            if self.peek() == "(":
                return Node("root", (self._bracket(depth), degree))
            return Node("root", (self._argument(depth), degree))
        if name == "binom":
            return Node("binom", (self._argument(depth), self._argument(depth)))
        if name in ("lfloor", "lceil"):
            node = self.sum(depth + 1)
            self.take("\\rfloor" if name == "lfloor" else "\\rceil")
            return Node(name[1:], (node,))
        if name in FUNCTIONS:
            return self._function(name, depth)
        if name in ("vec", "overline", "overrightarrow", "hat", "bar", "widehat", "mathbf", "dot", "ddot", "tilde"):
            return Node("sym", name=f"{name} {self._raw()}")
        raise NotRead

    def _differential(self) -> bool:
        """\\frac{dy}{dx}, \\frac{d}{dx}: no fraction."""
        ahead = "".join(self.tokens[self.at : self.at + 12]).replace(" ", "")
        return bool(re.match(r"\{d[a-z]?(?:\^\{?\d\}?[a-z]?)?\}\{d[a-z]", ahead))

    def _raw(self) -> str:
        """The text of a group or of one token, as it stands."""
        if self.peek() != "{":
            return self.take()
        depth, text = 0, ""
        while True:
            token = self.take()
            depth += (token == "{") - (token == "}")
            text += token
            if depth == 0:
                return text[1:-1].replace(" ", "")

    def _letters(self, depth: int) -> Node:
        """A letter with its index, or the function that a run of letters begins with; the rest of the run is put back."""
        run = self.peek()
        found = _FUNCTION.match(run) or (_FUNCTION.search(run) if len(run) > 3 else None)
        if found and found.start() == 0:
            self._put_back(run, found.end())
            return self._function(self.take(), depth)
        if found:
            self._put_back(run, found.start())
            run = self.peek()
        if len(run) > 3 or run in _NO_PRODUCT or run.lower() in _NO_PRODUCT:
            raise NotRead
        return self._symbol(depth)

    def _put_back(self, run: str, at: int) -> None:
        self.tokens[self.at : self.at + 1] = [part for part in (run[:at], run[at:]) if part]

    def _symbol(self, depth: int) -> Node:
        run = self.peek()
        if len(run) > 1:
            self._put_back(run, 1)
        name = self.take()
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if following == "_":
            self.at += 1
            index = self._raw()
            if name in "CA" and self.peek() == "^":
                return self._chosen(name, index, depth)
            name = f"{name}_{index}"
        elif _whole(following):
            self.at += 1
            name = f"{name}_{following}"
        while self.at < len(self.tokens) and self.tokens[self.at] == "'":
            self.at += 1
            name += "'"
        if name[0] in _APPLIED and self.at < len(self.tokens) and self.tokens[self.at] == "(":
            return Node("call", (self._bracket(depth),), name=f"of {name}")
        if name in ("e", "i"):
            return Node("const", name=name)
        return Node("sym", name=name)

    def _chosen(self, name: str, below: str, depth: int) -> Node:
        """C_5^2 and A_5^2: how many ways to choose 2 of 5, or to arrange them."""
        self.take("^")
        above = self._exponent(depth)
        if not (_whole(below) or below in ("n", "m")) or (
            _whole(below) and above.op == "num" and above.value > int(below)
        ):
            raise NotRead
        all_of = Node("num", value=Fraction(below)) if _whole(below) else Node("sym", name=below)
        ways = Node("binom", (all_of, above))
        return ways if name == "C" else Node("*", (ways, Node("fact", (above,))))

    def _function(self, name: str, depth: int) -> Node:
        if name == "sqrt":
            return Node("root", (self._atom(depth), Node("num", value=Fraction(2))))
        base = power = None
        while self.peek() in ("_", "^") and self.peek():
            if self.take() == "_":
                base = self._argument(depth) if self.peek() == "{" else self._subscript()
            else:
                power = self._exponent(depth)
        bare = self.peek() not in ("(", "{", "[")
        argument = self._bare_argument(depth) if bare else self._atom(depth)
        inverse = power is not None and power.op == "neg" and power.args[0].value == 1
        if inverse:
            name, power = f"arc{name}", None
        name = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name)
        node = Node("call", (argument, base) if base else (argument,), name=f"{'bare ' if bare else 'fn '}{name}")
        return Node("^", (node, power)) if power else node

    def _subscript(self) -> Node:
        token = self.take()
        if token[0] in _DIGITS:
            if len(token) > 1:  # \\log_28
                raise NotRead
            return self._number(token)
        if len(token) != 1 or not _letter(token):
            raise NotRead
        return Node("const", name="e") if token == "e" else Node("sym", name=token)

    def _bare_argument(self, depth: int) -> Node:
        """What stands behind sin without brackets: factors side by side, up to the next sign or function."""
        node = self._factor(depth)
        while (token := self.peek()) and self._starts_factor(token, node):
            if token.lstrip("\\") in FUNCTIONS or _FUNCTION.match(token):
                break
            node = Node("*", (node, self._factor(depth)))
        return node


def _opens(token: str) -> bool:
    return _letter(token) or (token[0] == "\\" and token not in ("\\rfloor", "\\rceil"))


def _letter(token: str) -> bool:
    return token[:1].isascii() and token[:1].isalpha()


def _whole(token: str) -> bool:
    return token.isascii() and token.isdigit()
