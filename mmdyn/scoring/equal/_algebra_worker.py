"""Runs as a process of its own: are two formulas in LaTeX the same? One JSON object a line in, one a line out.

It imports nothing of mmdyn. A pair that takes more processor time than it may ends the process (by SIGPROF, in C code too), and whoever started it
kills it when it keeps silent for too long.
Formulas are read by latex2sympy2_extended, the parser of Math-Verify, which drops primes, reads a limit from one side and takes
the index of F_k for a name; what it may misread is held back here.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

MEMORY = 1 << 30
_COMMAND = re.compile(r"\\[A-Za-z]+|\\begin\{\w+\}|\\end\{\w+\}|\{[a-z]?matrix\}")
_LETTER = re.compile(r"[A-Za-z]")


def main() -> None:
    """Say that it is ready, then answer line by line until the input ends."""
    seconds = float(sys.argv[1])
    _same(r"\sum_{k=1}^{n} k", r"\frac{n(n+1)}{2}")  # imports what the first question would wait for
    _same(r"\int_0^1 x dx", r"\frac{1}{2}")
    with suppress(ValueError, OSError):  # macOS knows no such limit; the one of time holds everywhere
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(2_000)
    _say({"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _say({"same": _same(asked["given"], asked["gold"])})
        signal.setitimer(signal.ITIMER_PROF, 0)


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _same(given: str, gold: str) -> bool | None:
    """None where one of the two cannot be read, or where sympy gives up."""
    try:
        one, other = _read(given), _read(gold)
        return None if one is None or other is None else _equal(one, other)
    except (MemoryError, RecursionError):
        return None
    except Exception:  # sympy and the parser raise whatever they come upon
        return None


def _read(text: str) -> Any:
    """The expression or matrix that a text is; None for relations, sets, and where letters of the text are lost."""
    import sympy
    from latex2sympy2_extended import latex2sympy
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig

    if "'" in text:
        return None
    config = ConversionConfig(lowercase_symbols=False)
    read = latex2sympy(text, is_real=True, normalization_config=None, conversion_config=config)
    if not isinstance(read, sympy.Expr | sympy.MatrixBase | sympy.MatrixExpr):
        return None
    names = "".join(str(atom) for atom in sympy.preorder_traversal(read) if not getattr(atom, "args", ()))
    functions = "".join(type(each).__name__ for each in sympy.preorder_traversal(read))
    lost = set(_LETTER.findall(_COMMAND.sub(" ", text))) - set(names) - set(functions) - set("deiE")
    return None if lost else read


def _equal(one: Any, other: Any) -> bool | None:
    import sympy

    if sympy.srepr(one) == sympy.srepr(other):  # the order of factors that were not evaluated does not count
        return True
    if _indexed(one) or _indexed(other):
        return bool(sympy.srepr(_renamed(one)) == sympy.srepr(_renamed(other)))
    matrices = [isinstance(each, sympy.MatrixBase | sympy.MatrixExpr) for each in (one, other)]
    if any(matrices) != all(matrices):
        return False
    left, right = _done(one), _done(other)
    if all(matrices):
        left, right = sympy.Matrix(left), sympy.Matrix(right)
        return bool(left.shape == right.shape and sympy.simplify(left - right).is_zero_matrix)
    off = left - right
    if not off.free_symbols and _near(left, right):
        return True
    return bool(sympy.simplify(off) == 0)


def _done(expression: Any) -> Any:
    """Carried out, with limits from both sides."""
    import sympy

    limits = expression.atoms(sympy.Limit) if hasattr(expression, "atoms") else ()
    for limit in limits:
        body, variable, point, _ = limit.args
        if point.is_finite:
            expression = expression.xreplace({limit: sympy.Limit(body, variable, point, "+-")})
    return expression.doit()


def _indexed(expression: Any) -> bool:
    """Does a sum or a product run over an index that the parser took for a part of a name (F_k)?"""
    import sympy

    bound = {str(limits[0]) for each in expression.atoms(sympy.Sum, sympy.Product) for limits in each.limits}
    names = [str(symbol).partition("_")[2] for symbol in expression.atoms(sympy.Symbol)]
    return any(letter in name for name in names for letter in bound)


def _renamed(expression: Any) -> Any:
    """The index of each sum and product by its place, in the names that it stands in, too."""
    import sympy

    for place, each in enumerate(sorted(expression.atoms(sympy.Sum, sympy.Product), key=sympy.default_sort_key)):
        index = str(each.limits[0][0])
        names = {symbol: symbol.name.partition("_") for symbol in expression.atoms(sympy.Symbol)}
        renamed = {
            symbol: sympy.Symbol(
                f"@{place}"
                if symbol.name == index
                else f"{name}_{re.sub(rf'(?<![A-Za-z]){index}(?![A-Za-z])', f'@{place}', rest)}"
            )
            for symbol, (name, _, rest) in names.items()
        }
        expression = expression.xreplace(renamed)
    return expression


def _near(one: Any, other: Any) -> bool:
    import sympy

    values = [sympy.N(each, 30) for each in (one, other)]
    if not all(value.is_number and value.is_finite for value in values):
        return False
    return bool(abs(values[0] - values[1]) <= sympy.Float("1e-20") * max(abs(values[0]), abs(values[1])))


if __name__ == "__main__":
    main()
