"""Runs as a process of its own: are two formulas in LaTeX the same? One JSON list a line in, `true` or `false` a line
out.

It imports nothing of mmdyn. A pair that takes more processor time than it may ends the process (by SIGPROF, in C code
too), and whoever started it kills it when it keeps silent for too long. Formulas are read by latex2sympy2_extended, the
parser of Math-Verify, which drops primes, reads a limit from one side and takes the index of F_k for a name; what it
may misread is held back.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

import sympy
from latex2sympy2_extended import latex2sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig

MEMORY = 1 << 30
_COMMAND = re.compile(r"\\[A-Za-z]+|\\begin\{\w+\}|\\end\{\w+\}|\{[a-z]?matrix\}")


def main() -> None:
    """Answer line by line until the input ends."""
    seconds = float(sys.argv[1])
    _same(r"\sum_{k=1}^{n} k + \int_0^1 x dx", r"\frac{n(n+1)+1}{2}")  # imports what the first question would wait for
    with suppress(ValueError, OSError):  # macOS knows no such limit; the one of time holds everywhere
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(2_000)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        print(json.dumps(_same(*json.loads(line))), flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _same(given: str, gold: str) -> bool:
    """False also where one of the two cannot be read, or where sympy gives up."""
    try:
        one, other = _read(given), _read(gold)
        return one is not None and other is not None and _equal(one, other)
    except (MemoryError, RecursionError, Exception):  # sympy and the parser raise whatever they come upon
        return False


def _read(text: str) -> Any:
    """The expression or matrix that a text is; None for relations, sets, and where letters of the text are lost."""
    config = ConversionConfig(lowercase_symbols=False)
    read = latex2sympy(text, is_real=True, normalization_config=None, conversion_config=config)
    if "'" in text or not isinstance(read, sympy.Expr | sympy.MatrixBase | sympy.MatrixExpr):
        return None
    nodes = list(sympy.preorder_traversal(read))
    names = "".join(f"{type(node).__name__}{'' if getattr(node, 'args', ()) else node}" for node in nodes)
    return None if set(re.findall("[A-Za-z]", _COMMAND.sub(" ", text))) - set(names) - set("deiE") else read


def _equal(one: Any, other: Any) -> bool:
    if sympy.srepr(one) == sympy.srepr(other):  # the order of factors that were not evaluated does not count
        return True
    matrices = [isinstance(each, sympy.MatrixBase | sympy.MatrixExpr) for each in (one, other)]
    if any(matrices) != all(matrices):
        return False
    if any(limit.args[2].is_finite for limit in (one - other).atoms(sympy.Limit)):
        return False  # which was read from one side
    sums = [each for each in (one, other) if each.has(sympy.Sum, sympy.Product)]
    if any("_" in symbol.name for each in sums for symbol in each.atoms(sympy.Symbol)):
        return False  # F_k, of which the index may be taken for a part of the name
    off = sympy.simplify(one.doit() - other.doit())  # raises where matrices have other shapes
    return bool(off.is_zero_matrix if all(matrices) else off == 0)


if __name__ == "__main__":
    main()
