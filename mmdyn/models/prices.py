"""What models cost, out of a file of the user's: vendors' prices change, so none are shipped."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from mmdyn.data import read_yaml
from mmdyn.errors import InputError
from mmdyn.models.model import Model
from mmdyn.record import Usage

MILLION = 1_000_000

_Amount = Annotated[float, Meta(ge=0)]


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """Prices of one model in `currency`: for a million tokens each, `image` for one picture.

    `cached_input` is what tokens out of the server's own cache cost, `reasoning` those of reasoning; None: as other
    ones. `batch` is the share of all that which a request in a batch costs.
    """

    input: _Amount
    output: _Amount
    cached_input: _Amount | None = None
    reasoning: _Amount | None = None
    image: _Amount = 0.0
    currency: str = "USD"
    batch: _Amount = 0.5

    @property
    def batched(self) -> Price:
        """The price of a request in a batch."""
        amounts = {name: getattr(self, name) for name in ("input", "output", "cached_input", "reasoning", "image")}
        shared = {name: amount and amount * self.batch for name, amount in amounts.items()}
        return msgspec.structs.replace(self, **shared, batch=1.0)

    @property
    def free(self) -> bool:
        """Whether nothing costs anything."""
        return not any((self.input, self.output, self.cached_input, self.reasoning, self.image))

    def cost(self, usage: Usage, images: int = 0) -> float | None:
        """What a request with so many tokens and pictures costs; None where the server did not count the tokens."""
        if self.free:
            return 0.0
        if not (usage.prompt_tokens or usage.completion_tokens):
            return None
        cached = self.input if self.cached_input is None else self.cached_input
        reasoning = self.output if self.reasoning is None else self.reasoning
        tokens = (
            (usage.prompt_tokens - usage.cached_tokens) * self.input
            + usage.cached_tokens * cached
            + (usage.completion_tokens - usage.reasoning_tokens) * self.output
            + usage.reasoning_tokens * reasoning
        )
        return tokens / MILLION + images * self.image


class Prices:
    """Prices by model. A name is a model's label (openai:gpt-4o) or its own name (gpt-4o), and may hold * and ?.

    The first that fits, in the file's order, counts.
    """

    def __init__(self, by_name: dict[str, Price] | None = None) -> None:
        self._by_name = by_name or {}

    def of(self, model: Model) -> Price | None:
        """The price of a model, None where there is none."""
        name = model.identity.get("model")
        price = self.named(model.label, name if isinstance(name, str) else "")
        return price.batched if price and model.limits.batched else price

    def named(self, label: str, name: str = "") -> Price | None:
        """The same by a label and a name."""
        known = {label, label.partition(":")[2], name} - {""}
        fits = (price for pattern, price in self._by_name.items() if any(fnmatchcase(one, pattern) for one in known))
        return next(fits, None)


def read_prices(file: str | Path) -> Prices:
    """Read a YAML file: a model's name -> input, output, cached_input, reasoning, image, currency.

    Raises InputError.
    """
    file = Path(file)
    values = read_yaml(file, "give a YAML file of prices")
    if not (isinstance(values, dict) and values):
        raise InputError(file, None, "names no model: write lines such as NAME: {input: 2.5, output: 10}")
    return Prices({str(name): _price(file, str(name), value) for name, value in values.items()})


def _price(file: Path, name: str, value: object) -> Price:
    try:
        price = msgspec.convert(value, Price)
    except msgspec.ValidationError as error:
        raise InputError(file, None, f"the price of {name!r}: {error}; write {{input: 2.5, output: 10}}") from None
    if not all(amount is None or amount < float("inf") for amount in msgspec.structs.astuple(price)[:5]):
        raise InputError(file, None, f"the price of {name!r} is not a number: write {{input: 2.5, output: 10}}")
    return price
