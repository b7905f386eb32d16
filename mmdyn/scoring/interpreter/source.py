"""From a program's text to its syntax tree, or nothing: no warning is printed and no error leaves here."""

from __future__ import annotations

import ast
import re

LONGEST_SOURCE = 20_000
DEEPEST_TREE = 200
"""Of a syntax tree, in levels. Far below the point where the parser's own limit (which moves with the caller's stack) is met."""

# Python warns of other escapes (of these too, in bytes) and of a number run into a keyword ("1if", "1.is"); warnings cannot be
# switched off for one thread alone, so that such a text counts as no program.
_ESCAPED = re.compile(r"(?:[^\\]|\\[\\'\"abfnrtvxuU\n])*+")
_BYTES = re.compile(r"\b[bB][rR]?['\"]")
_RUN_INTO = re.compile(r"\b\d(?:[\da-fA-FxXoOjJ_.]{0,100}?(?:and|else|for|i[fns]|or|not)|[\da-fA-FxXoOjJ_.]{100})")
_F_STRING = re.compile(r"\b[rR]?[fF][rR]?['\"]")
_COMMENTS_AND_TEXTS = re.compile(
    r"#[^\n]*" + "".join(rf"|{mark}(?:\\.|[^{mark[0]}\\]|{mark[0]}(?!{mark[1:]}))*+(?:{mark}|\Z)" for mark in ('"""', "'''"))
    + "".join(rf"|{mark}(?:\\.|[^{mark}\\\n])*+{mark}?" for mark in "\"'"), re.DOTALL,
)  # fmt: skip
_OF_LOOPS = (ast.Break, ast.Continue)
_WITH_JUMPS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def parse(source: str) -> ast.Module | None:
    """The syntax tree of a text, or None where it is no Python, too long, or nested too deeply."""
    if len(source) > LONGEST_SOURCE or _warns(source):
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST_TREE):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree if _jumps_fit(tree) else None
    return None


def _warns(source: str) -> bool:
    if not _ESCAPED.fullmatch(source) or ("\\u" in source.lower() and _BYTES.search(source)):
        return True
    code = source if _F_STRING.search(source) else _COMMENTS_AND_TEXTS.sub(" ", source)
    return bool(_RUN_INTO.search(code))


def _jumps_fit(tree: ast.Module) -> bool:
    """Does every return stand in a function, and every break and continue in a loop? The parser does not look."""
    waiting: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while waiting:
        node, in_function, in_loop = waiting.pop()
        if (isinstance(node, ast.Return) and not in_function) or (isinstance(node, _OF_LOOPS) and not in_loop):
            return False
        if isinstance(node, ast.FunctionDef):
            in_function, in_loop = True, False
        if isinstance(node, ast.For | ast.While):
            waiting += [(part, in_function, True) for part in node.body]
            waiting += [(part, in_function, in_loop) for part in node.orelse]
        else:
            parts = (part for part in ast.iter_child_nodes(node) if isinstance(part, _WITH_JUMPS))
            waiting += [(part, in_function, in_loop) for part in parts]
    return True
