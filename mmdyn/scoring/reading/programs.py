"""Replies that are a program whose output is the answer (program of thought: Chen et al. 2022, arXiv 2211.12588)."""

from __future__ import annotations

import ast

from msgspec import Struct

from mmdyn.scoring.interpreter.bounds import Meter
from mmdyn.scoring.interpreter.source import parse
from mmdyn.scoring.interpreter.statements import output
from mmdyn.scoring.reading.response import WINDOW, Response

_PRINTS = "print("
_FENCE = "```"
_LANGUAGES = ("", "python", "python3", "py")


class Program(Struct, frozen=True):
    """`source` is response.text[start:end]. `whole`: the reply is this program and nothing else, bare or in one code fence;
    otherwise it is the reply's only code fence, with prose around it.
    """

    source: str
    start: int
    end: int
    whole: bool


def program_in(response: Response) -> Program | None:
    """The program in Python that a reply is, or else the one in its only code fence, if it prints something. A reply of which
    the beginning or the end is not there holds no program, and a lone call of print is none: it may be the answer itself.
    """
    text = response.text
    if _PRINTS not in text or response.cut_off or response.truncated or len(text) + len(response.gaps) >= WINDOW:
        return None
    before, *fenced = text.split(_FENCE)
    start, end, whole = len(text) - len(text.lstrip()), len(text.rstrip()), True
    if fenced:
        language, _, body = fenced[0].partition("\n")
        if len(fenced) != 2 or language.strip().lower() not in _LANGUAGES:
            return None
        start = len(before) + len(_FENCE) + len(language) + 1
        end = start + len(body.rstrip())
        whole = not before.strip() and not fenced[1].strip()
    tree = parse(text[start:end])
    return Program(text[start:end], start, end, whole) if tree and _prints(tree) else None


def output_of(program: Program) -> str | None:
    """The last line that a program prints (without white space around), by an interpreter of a subset of Python that counts its
    steps. None where it cannot be run within the subset and the bounds, fails, prints nothing, or needs what is not given.
    """
    tree = parse(program.source)
    printed = output(tree, Meter()) if tree else None
    lines = [line for line in printed.split("\n") if line.strip()] if printed else []
    return lines[-1].strip() if lines else None


def _prints(tree: ast.Module) -> bool:
    """Is print called outside of functions, and more done than that?"""
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return False
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return False
