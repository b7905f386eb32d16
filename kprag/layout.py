"""How knowledge is laid beside a question: in how much room, in which order and form."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean

Order = Literal["given", "reversed", "shuffled"]
ORDERS: tuple[Order, ...] = get_args(Order)

Format = Literal["texts", "names", "routes"]
FORMATS: tuple[Format, ...] = get_args(Format)


class Layout(Struct, frozen=True, forbid_unknown_fields=True):
    """How points are laid beside a question.

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
