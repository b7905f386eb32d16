"""Replies that are a program whose output is the answer (program of thought: Chen et al. 2022, arXiv 2211.12588)."""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from mmdyn.scoring.interpreter.bounds import Meter
from mmdyn.scoring.interpreter.source import parse
from mmdyn.scoring.interpreter.statements import output
from mmdyn.scoring.reading.response import WINDOW, Response

_PRINTS = "print("
_OPENS_A_BLOCK = re.compile(r"^(?:def|class|import|from|for|while|if|with|try)\b", re.MULTILINE)
_FENCE = "```"
_LANGUAGES = ("", "python", "python3", "py")
_BLOCKS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.For, ast.While, ast.If, ast.With, ast.Try)

_LONGEST_LEAD_IN = 200
_ENDS_A_LEAD_IN = (".", ":", "。", "：")
_DOUBT = re.compile(
    r"\b(?:not|cannot|\w+n[’']t|if|unless|would|could|might|may|suppos\w+|assum\w+|imagin\w+|hypothe\w+|placeholder|examples?|e\.g"
    r"|instead|however|but|although|mistake\w*|wrong\w*|incorrect\w*|bugg?\w*|errors?|false|fail\w*|unable|unsure|sorry|earlier|previous\w*)\b"
    r"|不|没|无法|非|假[设定如]|如果|若|例|比如|可能|也许|大概|但|然而|错|误|抱歉"
)
_DECLARED = re.compile(r"#.*\b[aA]nswer (?:is|should be|would be):? [\"'(]?(-?\d[\d.]*(?<!\.)|[A-H]\b)")


class Program(Struct, frozen=True):
    """`source` is response.text[start:end], `tree` its syntax. `whole`: the reply is this program and nothing else, bare or in one
    code fence; otherwise it is the reply's only code fence, which a few words lead up to and nothing follows.
    """

    source: str
    tree: ast.Module
    start: int
    end: int
    whole: bool


def program_in(response: Response) -> Program | None:
    """The program in Python that a reply is, or else the one in its only code fence, if it calls print. A whole reply of several
    statements with a block or an import among them is one without print too; a lone call of print is none, it may be the answer
    itself. A reply that declines, or of which the beginning or the end is not there, holds no program.
    """
    text = response.text
    if _PRINTS not in text and not ((":\n" in text or "import " in text) and _OPENS_A_BLOCK.search(text)):
        return None  # two microseconds for most replies, which are no programs
    if response.cut_off or response.truncated or response.declined or len(text) + len(response.gaps) >= WINDOW:
        return None
    before, *fenced = text.split(_FENCE)
    start, end, whole = len(text) - len(text.lstrip()), len(text.rstrip()), True
    if fenced:
        language, _, body = fenced[0].partition("\n")
        whole = not before.strip()
        if len(fenced) != 2 or fenced[1].strip() or language.strip().lower() not in _LANGUAGES:
            return None
        if not whole and not _leads_in(before.strip().lower()):
            return None
        start = len(before) + len(_FENCE) + len(language) + 1
        end = start + len(body.rstrip())
    tree = parse(text[start:end])
    if tree is None or not (_prints(tree) or (whole and len(tree.body) > 1 and _has_block(tree))):
        return None
    return Program(text[start:end], tree, start, end, whole)


def output_of(program: Program) -> tuple[str, ...] | None:
    """The lines that a program prints and that are not blank, without white space around, by an interpreter of a subset of Python
    that counts its steps. None where it cannot be run within the subset and the bounds, fails, prints nothing, needs what is not
    given, or says in a comment that the answer is a number or a letter which it does not print.
    """
    printed = output(program.tree, Meter()) or ""
    lines = tuple(line.strip() for line in printed.split("\n") if line.strip())
    words = {word.rstrip(".") for line in lines for word in re.findall(r"-?[\w.]+", line)}
    return lines if lines and words.issuperset(_DECLARED.findall(program.source)) else None


def _leads_in(before: str) -> bool:
    return len(before) <= _LONGEST_LEAD_IN and before.endswith(_ENDS_A_LEAD_IN) and not _DOUBT.search(before)


def _prints(tree: ast.Module) -> bool:
    """Is print called, and more done than that?"""
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return False
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == "print" for called in calls)


def _has_block(tree: ast.Module) -> bool:
    return any(isinstance(node, _BLOCKS) for node in tree.body)
