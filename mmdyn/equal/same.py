"""Compare short answers by spelling, value, structure and symbolic maths. docs/equality.md says what is equal."""

from __future__ import annotations

import atexit
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from mmdyn.equal.formula import agree, read_formula
from mmdyn.equal.lists import (
    AND,
    OR,
    Same,
    ascending,
    assigned,
    bracketed,
    joined,
    listed,
    partners,
    parts_of,
    read_region,
    same_list,
    same_region,
    same_relation,
)
from mmdyn.equal.values import PLAIN, read_quantity, read_value, same_chemistry, same_number, stated_value
from mmdyn.errors import MmdynError
from mmdyn.sample import Match
from mmdyn.text import LATEX_SYMBOLS, SET_OPEN, fold, read_date, spell_formula, spell_notation, split_outside

SECONDS = 1.0
"""How much processor time a pair may take; what is not shown to be equal by then is not equal."""

_SILENT, _LONGEST = 300.0, 300
"""How many seconds a worker is waited for: its processor time ends it long before, so that no verdict hangs on how busy
a machine is. How many characters a formula may have."""

_WORKER = Path(__file__).with_name("_algebra_worker.py")
_CALCULUS = re.compile(r"\\(?:sum|prod|int|iint|oint|lim|begin|max|min|gcd|lcm|det|infty|frac\s*\{d|bmod)(?![A-Za-z])")
_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}|[\u3400-\u9fff\ue000-\uf8ff]|[\"'?$#&]\s*$")
_GREEK = {char: f"\\{name} " for name, char in LATEX_SYMBOLS.items() if "Α" <= char <= "ω"}
_BACK = str.maketrans(_GREEK | {"*": "\\cdot ", "→": "\\to ", "∞": "\\infty "})
_SPACED = re.compile(r"(?<=\{) |(?<=\\begin) |(?<=\\end) ")


def same_algebra(given: str, gold: str) -> bool:
    """Say whether sympy shows two spelled formulas to be equal within its time; False also where it cannot read them.

    Only pairs with sums, integrals, limits, derivatives or products of matrices on at least one side are passed to
    sympy.
    """
    if not _CALCULUS.search(given + gold) or max(len(given), len(gold)) > _LONGEST:
        return False
    if any(_WORD.search(text) or len(split_outside(text, "=<>≤≥≠∈±∪,;")) > 1 for text in (given, gold)):
        return False
    given, gold = (_SPACED.sub("", text.translate(_BACK)) for text in (given, gold))
    return _shown(given, gold)


@lru_cache(maxsize=4096)
def _shown(given: str, gold: str) -> bool:
    worker, verdict = _IDLE.get(), None
    try:
        worker = worker or _start()
        verdict = _ask(worker, given, gold)
    finally:
        if worker and verdict is None:  # nor may an interrupted one's answer pass for that to the next pair
            worker.kill()
            worker.communicate()
            worker = _start()  # at once, so that the next pair need not wait for its imports
        _IDLE.put(worker)
    return verdict is True


def _start() -> Popen[str]:
    return Popen([sys.executable, "-P", str(_WORKER), str(SECONDS)], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)


def _ask(worker: Popen[str], given: str, gold: str) -> bool | None:
    """The verdict; None where the worker ended without one. Raises MmdynError where it never came to its first pair."""
    assert worker.stdin and worker.stdout
    timer = threading.Timer(_SILENT, worker.kill)
    timer.daemon = True
    timer.start()
    try:
        print(json.dumps([given, gold]), file=worker.stdin, flush=True)
        line = worker.stdout.readline()
    except OSError:
        line = ""
    timer.cancel()
    if not line and worker.wait() > 0:
        raise MmdynError("symbolic maths cannot start its worker; mend it with: pip install latex2sympy2-extended")
    return bool(json.loads(line)) if line else None


_IDLE: queue.LifoQueue[Popen[str] | None]
"""A place for each processor, with its worker once that was needed; each is asked by one thread at a time."""


def _fresh() -> None:
    """A forked process must not share its parent's pipes."""
    global _IDLE
    _IDLE = queue.LifoQueue()
    _IDLE.queue.extend([None] * (os.cpu_count() or 1))


_fresh()
os.register_at_fork(after_in_child=_fresh)
atexit.register(lambda: [worker.communicate() for worker in _IDLE.queue if worker])  # its input's end ends a worker


LONGEST = 2_000
"""Answers longer than this many characters are compared as they are, not read as formulas or numbers."""

_LONGEST_STRUCTURE, _DEEPEST = 600, 4
_LETTERS = re.compile(r"\W*(?:[A-Z]{1,6}|[a-z])\W*")
"""Letters of options, or one symbol."""
_CIRCLED = re.compile(r"(?<=[\u2460-\u2473])\s*(?=[\u2460-\u2473])")
_CHARGE = re.compile(r"\^?[({]?(\d{1,2})\s?([+-])[)}]?")
_DECIMAL_COMMA = re.compile(r"([+-]?(?:0|\d{4,}|\d+(?=,(?:\d\d$|\d{4})))),(\d+)")
_MATHS = re.compile(r"[和\d+*/!=<>≤≥≠^√π∞∈∪∅±|⦃\\,;、" + AND + OR + r"(\[]|\b[A-Za-z]-[A-Za-z]\b|空集")
_CONDITION = re.compile(r"[\s,，(]*[a-z](?:\s*,\s*[a-z])?\s*∈[\s{]*[ZNRℤℕℝ][}_^*+{\s]*\)?$")
_ABOUT = re.compile(r"(=.*|^[^=≈]*\d[^=≈]*)≈[^≈=]*$")


def same(given: str, gold: str, match: Match = PLAIN) -> bool:
    """Say whether `given` is the same answer as `gold`.

    Equal are texts of one folded spelling (`mmdyn.text.fold`), numbers of one value in units of one dimension, formulas
    of one value, `x = 4` and `4`, lists part by part, and regions, equations, reactions and dates of one meaning. A
    part of a reply never counts for the whole, and several circled numbers (①③) are never one number (13).

    Without `match.tolerance`, which is relative to gold's value, an exact gold needs the exact number. A gold with
    decimals also takes what rounds to it, if it has at least three significant digits, or two that are both decimals; a
    gold without finite decimals, such as 1/3 or √2, takes what it rounds to, with five digits or more. Thread-safe;
    symbolic maths runs in other processes, a second at most.

    >>> same("0.5 km", "500 m"), same("2, 1", "{1, 2}"), same("0.33333", "1/3"), same("(x+1)^2", "x^2+2x+1")
    (True, True, True, True)
    """
    return compare(given, gold, match) is True


def compare(given: str, gold: str, match: Match = PLAIN) -> bool | None:
    """Compare two answers as `same` does; None where `given` may be the same answer in another form.

    Returns:
        False only where both were read as one kind, such as two numbers, two formulas in gold's symbols, or two lists
        of equal length, and what was read differs by more than rounding.

    >>> compare("3", "4"), compare("the cell wall", "a cell membrane")
    (False, None)
    """
    if max(len(given), len(gold)) > LONGEST:
        return fold(given) == fold(gold) or None
    return _compare(spell_notation(given), spell_notation(gold), match, 0)


def _compare(given: str, gold: str, match: Match, depth: int) -> bool | None:
    """`compare` for answers at depth 0, and for parts of them, which are spelled and joined already."""
    given, gold = _CIRCLED.sub("、", given), _CIRCLED.sub("、", gold)
    dates = read_date(given), read_date(gold)
    if all(dates) or "decade" in dates[0] | dates[1]:
        return dates[0] == dates[1]
    numbers = read_quantity(given), read_quantity(gold)
    if numbers[0] and numbers[1]:
        return same_number(numbers[0], numbers[1], match)
    left, right = (_folded(text) for text in (given, gold))
    if left == right or not left or not right:
        return bool(left) and left == right
    if _LETTERS.fullmatch(given) and _LETTERS.fullmatch(gold):
        return False
    if depth > _DEEPEST or max(len(given), len(gold)) > _LONGEST_STRUCTURE:
        return None
    return _same_meaning(given, gold, match, depth)


def _folded(text: str) -> str:
    """Charges with the sign before them (2+, as +2), decimal commas as points."""
    text = fold(text)
    charge, comma = _CHARGE.fullmatch(text), _DECIMAL_COMMA.fullmatch(text)
    return f"{charge[2]}{charge[1]}" if charge else f"{comma[1]}.{comma[2]}" if comma else text


def _same_meaning(given: str, gold: str, match: Match, depth: int) -> bool | None:
    """Formulas and what is made of them: the first reading that both sides have decides."""
    left, right = (unwrapped(text if depth else joined(spell_formula(text))) for text in (given, gold))
    left, right = (ascending(_ABOUT.sub(r"\1", text).replace("≈", "=")) for text in (left, right))
    left, right = (_CONDITION.sub("", text) or text for text in (left, right))
    if left == right or not left or not right or not (_MATHS.search(left) or _MATHS.search(right)):
        return (left == right and bool(left)) or None
    if not match.ordered:
        left, right = left.replace("和", AND), right.replace("和", AND)

    def inner(one: str, other: str, match: Match = PLAIN) -> bool | None:
        return _compare(one, other, match, depth + 1)

    readings: tuple[Callable[[], bool | None], ...] = (
        lambda: same_chemistry(given, gold),
        lambda: same_region(read_region(left), read_region(right)) or None,
        lambda: same_list(listed(left), listed(right), match, inner),
        lambda: _same_named(left, right, match, inner),
        lambda: same_relation(left, right),
        lambda: _same_formula(left, right, match),
        lambda: same_algebra(left, right) or None,
    )
    return next((verdict for reading in readings if (verdict := reading()) is not None), None)


def unwrapped(text: str) -> str:
    """Remove brackets around the whole of one value: (x + 1), not (1, 2)."""
    while (inside := bracketed(text)) and inside[0] == "tuple" and len(parts_of(inside[1])) == 1:
        text = inside[1]
    return text


def _same_named(left: str, right: str, match: Match, same: Same) -> bool | None:
    """`x = 4` and `4`, whichever side names the symbol; `2 + 2 = 4` and `4`; two names must be the same name."""
    says, meant = assigned(left), assigned(right)
    if not (says or meant) or (not says and "=" in left) or (not meant and "=" in right):
        return None
    if says and meant and says[0] != meant[0] and says[0] and meant[0]:
        return None  # y = x and x = y
    bare = right if says else left
    if not (says and meant) and len(split_outside(bare, f",;{AND}{OR}")) > 1 and SET_OPEN not in bare:
        return None
    return same(says[1] if says else left, meant[1] if meant else right, match)


def _same_formula(left: str, right: str, match: Match) -> bool | None:
    """Formulas by their values; those without symbols by their value and unit, within the tolerance or the rounding of
    numbers."""
    numbers = read_value(left), read_value(right)
    verdict = same_number(numbers[0], numbers[1], match) if numbers[0] and numbers[1] else None
    one, other = read_formula(left), read_formula(right)
    agreed = agree(one.values, other.values) if one and other else None
    if verdict or agreed:
        return True
    if numbers[0] and numbers[1]:
        return verdict
    return None if one and other and one.names - other.names else agreed


def compare_answer(given: str, gold: str, match: Match = PLAIN, question: str = "") -> bool | None:
    """Compare an answer as `compare` does; where gold is a number, the answer may be a phrase that states one.

    Args:
        given: The answer as it was worded.
        gold: The right answer.
        match: Order, tolerance and unit.
        question: A phrase may use its words and neutral ones, no others.

    >>> compare_answer("She has 12 apples left", "12", question="How many apples has she left?")
    True
    >>> compare_answer("12 or 13", "12", question="How many apples has she left?") is None
    True
    """
    verdict = compare(given, gold, match)
    number = read_quantity(gold) if verdict is None else None
    value = stated_value(given, question) if number else None
    return True if value and number and same_number(value, number, match) else verdict


def match_blanks(
    given: tuple[str, ...], accepted: tuple[tuple[str, ...], ...], match: Match, question: str = ""
) -> tuple[bool | None, ...]:
    """Decide which blanks of a fill-in-the-blank answer are right; None where `compare_answer` cannot decide.

    Blanks are matched in order, or (`match.ordered` False) by the assignment that makes the most of them right. More
    answers than blanks make none right, so that a list of guesses gains nothing, and none surely wrong.

    Args:
        given: One answer a blank.
        accepted: The accepted texts of each blank.
        match: Order, tolerance and unit.
        question: A phrase around a value may use its words.

    >>> match_blanks(("4", "2"), (("2",), ("4", "four")), Match(ordered=False))
    (True, True)
    >>> match_blanks(("4",), (("2",), ("4",)), PLAIN)
    (False, False)
    """
    if len(given) > len(accepted):
        return (None,) * len(accepted)
    verdicts = [[_any_of(text, texts, match, question) for texts in accepted] for text in given]
    if match.ordered:
        return tuple(verdicts[at][at] if at < len(given) else False for at in range(len(accepted)))
    right = dict(partners([[verdict is True for verdict in row] for row in verdicts]))
    open_rows = [row for at, row in enumerate(verdicts) if at not in right]
    return tuple(
        True if at in right.values() else None if any(row[at] is None for row in open_rows) else False
        for at in range(len(accepted))
    )


def _any_of(text: str, accepted: tuple[str, ...], match: Match, question: str) -> bool | None:
    """Whether a text is one of those accepted; an empty one is not."""
    verdicts = [compare_answer(text, gold, match, question) for gold in accepted] if text else [False]
    return True if True in verdicts else None if None in verdicts else False
