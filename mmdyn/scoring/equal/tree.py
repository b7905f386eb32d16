"""The tree of a formula."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct


class Node(Struct, frozen=True):
    """`num` (value), `sym`, `const`, `call` (name, arguments), or an operation: + * / ^ neg root log fact abs floor ceil binom."""

    op: str
    args: tuple[Node, ...] = ()
    value: Fraction = Fraction(0)
    name: str = ""


def names(node: Node) -> frozenset[str]:
    """The symbols and the functions without a definition that stand in a formula."""
    own = {node.name} if node.op == "sym" or (node.op == "call" and node.name.startswith("of ")) else set[str]()
    return frozenset(own).union(*map(names, node.args))


def open_log(node: Node) -> bool:
    """Does a log stand in the formula that does not say to which base?"""
    return (node.op == "call" and node.name.endswith(" log") and len(node.args) == 1) or any(map(open_log, node.args))


def is_number(node: Node) -> bool:
    """Is the formula nothing but a number, with its sign?"""
    return node.op == "num" or (node.op == "neg" and is_number(node.args[0]))
