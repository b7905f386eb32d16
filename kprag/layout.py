"""How knowledge is laid out beside a question: in how much room, in which order and form.

The text has one piece for each point; what there is no room for is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

from kprag.taxonomy import ARROW, Node, key
from mmdyn.errors import UserError, did_you_mean

Order = Literal["given", "reversed", "shuffled"]
ORDERS: tuple[Order, ...] = get_args(Order)

Format = Literal["texts", "names", "routes"]
FORMATS: tuple[Format, ...] = get_args(Format)


class Layout(Struct, frozen=True, forbid_unknown_fields=True):
    """How points are shown beside a question.

    tokens: the room for all of them, estimated at BYTES_A_TOKEN; None for as much as there is.
    order: as the sample names them or the best first (`given`), the first next to the question (`reversed`), or as it
        falls (`shuffled`, keyed by the parent's id).
    format: the points with their `texts`, their `names` alone, or texts behind `routes` of the levels above.
    """

    tokens: int | None = None
    order: Order = "given"
    format: Format = "texts"

    def check(self) -> Layout:
        """This layout. Raises UserError, with a sentence, for a number below 1 and for a name that is not known."""
        if self.tokens is not None and self.tokens < 1:
            raise UserError(f"knowledge has no room in {self.tokens} tokens: give 1 or more, or no limit")
        for what, name, known in (("order", self.order, ORDERS), ("format", self.format, FORMATS)):
            if name not in known:
                raise UserError(
                    f"there is no {what} of knowledge {name!r}{did_you_mean(name, known)}: use {', '.join(known)}"
                )
        return self


_NAMED = re.compile(r"\s*[:：\n]")


class Piece(NamedTuple):
    """`head` names a point and `body` goes on; the two side by side are its text."""

    head: str
    body: str


class Point(NamedTuple):
    """A knowledge point as it may be shown. `nodes`: what its name means in the base; `above`: the levels above it."""

    name: str
    text: str
    nodes: tuple[Node, ...] = ()
    above: tuple[str, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """What tells that two points are one: the keys of its name and of the names of its nodes."""
        return frozenset(map(key, (self.name, *(node.text for node in self.nodes))))

    def piece(self, format: Format) -> Piece:
        """`- point` with what the format adds; a text that begins with the point's name does not say it twice."""
        if format == "names":
            return Piece(f"- {self.name}", "")
        body = self.text.strip()
        if body.startswith(self.name) and _NAMED.match(body, len(self.name)):
            body = body[len(self.name) :].lstrip(" \t:：\n")
        head = self.name
        if format == "routes" and self.above:
            head = f" {ARROW} ".join((*self.above, self.name.rpartition(ARROW)[2].strip()))
        return Piece(f"- {head}", f": {body}" if body else "")


def fit_pieces(pieces: Sequence[Piece], gap: str, room: int | None) -> tuple[list[str], bool]:
    """What of the pieces fits into `room` bytes (None: all), `gap` between them; and whether anything was left out.

    Pieces stand whole from the front. The first that does not fit ends at the last end of a sentence that does, or at
    its head, or is left out as those behind it are; but something of the first piece always stands.
    """
    kept = list[str]()
    for head, body in pieces:
        text, left = head + body, room
        if left is not None:
            left -= _size(gap) if kept else 0
            if _size(text) > left:
                if not kept or _size(head) <= left:
                    kept.append(_shortened(head, body, left))
                return kept, True
            room = left - _size(text)
        kept.append(text)
    return kept, False


_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\b[Ff]ig)(?<!\b[Ee]q)(?<!\bet al)(?<![.\s])[.!?][\"'”’)\]]*(?=\s)"
    r"|[。！？][”’」』）]*|(?=\n)"
)
_LIST_NUMBER = re.compile(
    r"(?:^|[\n:：!?;；。！？]|(?<![Ff]ig)(?<![Ee]q)\.)[-*+•#\s]*(?:[Ss]tep\s+)?[(（]?(?:\d{1,2}|[A-Za-z])[.)）、．]+\s*$"
)
"""A number or letter that counts, at the end: the start of what it counts, not the end of a sentence."""
_OPENS, _CLOSES = re.compile(r"(?<!\\)\\(?:[\[(]|begin\b)"), re.compile(r"(?<!\\)\\(?:[\])]|end\b)")
_BEFORE = 40
"""Characters that are looked back for a number that counts."""


def _shortened(head: str, body: str, room: int) -> str:
    """Up to the last end of a sentence that fits, or the head; of a piece without one, as many characters as fit."""
    start = _prefix(body, room - _size(head))
    passed = dict.fromkeys((mark for mark in ("$", "$$") if body.count(mark) % 2 == 0), 0)  # or else a dollar is money
    closed = len(_OPENS.findall(body)) == len(_CLOSES.findall(body))
    last = at = opened = 0
    for found in _SENTENCE_END.finditer(body):
        if found.end() > len(start):
            break
        part = body[at : found.end()]
        for mark in passed:
            passed[mark] += part.count(mark)
        opened += len(_OPENS.findall(part)) - len(_CLOSES.findall(part))
        at = found.end()
        counts = _LIST_NUMBER.search(body[max(0, at - _BEFORE) : at])
        if not (counts or (closed and opened > 0) or any(count % 2 for count in passed.values())):
            last = at
    return head + body[:last].rstrip() if last else head or start.rstrip() or start


def _prefix(text: str, room: int) -> str:
    """As many whole characters as fit into so many bytes."""
    return text.encode()[: max(0, room)].decode(errors="ignore")


def _size(text: str) -> int:
    return len(text.encode())
