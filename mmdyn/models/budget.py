"""What requests cost by the user's price file, how many may be made, and what was spent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from mmdyn.data import read_yaml
from mmdyn.errors import InputError, Stopped, UserError
from mmdyn.models.model import Model
from mmdyn.record import Reply, Usage

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


class Budget:
    """Limits of one call on all that it asks, whichever model. Whoever is about to send a request takes it from here
    first.

    max_requests: how many may be sent, those that are asked again counted again. max_cost: what they may cost, in the
        one currency of the prices: no request is sent when it and those in flight, each at the mean cost of its model's
        replies so far, would pass the limit. While a model has no paid reply yet, its requests go one at a time
        (`unsure`), so that one request alone, of a cost that nobody knows, may pass it. A reply out of the cache is no
        request and costs nothing, nor does one of a model whose replies are not worth keeping (`cached` is False).
        `whole`: the one that this is a share of.
    """

    def __init__(
        self,
        *,
        max_requests: int | None = None,
        max_cost: float | None = None,
        prices: Prices | None = None,
        whole: Budget | None = None,
    ) -> None:
        self.max_requests, self.max_cost, self.prices = max_requests, max_cost, prices or Prices()
        self._whole = whole or self
        self.requests = 0
        self.spent = defaultdict[str, float](float)
        """Cost by currency."""
        self.prompt_tokens = self.completion_tokens = 0
        """Of all replies that did not come out of the cache."""
        self.unknown = 0
        """Replies whose cost is not known."""
        self._costs = dict[str, tuple[int, float]]()
        """Paid replies and what they cost, by the model's label."""
        self._in_flight = Counter[str]()
        self._expected = 0.0
        self._uncounted = ""

    def check(self, models: Sequence[Model]) -> None:
        """Raise UserError where a limit on cost cannot be kept for these models."""
        if self.max_cost is None:
            return
        found = {model.label: self.prices.of(model) for model in models if model.cached}
        for label, price in found.items():
            if price is None:
                raise UserError(
                    f"--max-cost needs the price of {label}: add it to the file of --prices, 0 where it is free"
                )
        currencies = sorted({price.currency for price in found.values() if price and not price.free})
        if len(currencies) > 1:
            raise UserError(f"--max-cost needs one currency, and the prices are in {' and '.join(currencies)}")

    def unsure(self, model: Model) -> bool:
        """Whether cost is limited and nothing is known yet of what the model's replies cost: then ask one at a time."""
        limited = self.max_cost is not None and model.cached and not model.limits.batched
        return limited and model.label not in self._costs

    def take(self, model: Model, expected: float = 0.0) -> None:
        """One request is about to be sent to a model. Raises Stopped where it must not be.

        expected: what it will cost, where it goes out with others before any of them tells.
        """
        if self.max_requests is not None and self.requests >= self.max_requests:
            raise Stopped(f"stopped at --max-requests {_part(self._whole.max_requests, self.max_requests)}")
        if self.max_cost is not None and model.cached:
            if self._uncounted:
                raise Stopped(
                    f"stopped, as {self._uncounted} counts no tokens and --max-cost cannot be kept (use --max-requests)"
                )
            spent = sum(self.spent.values())
            going = sum(self._mean(label) * count for label, count in self._in_flight.items()) + self._expected
            if spent >= self.max_cost or spent + going + (expected or self._mean(model.label)) > self.max_cost:
                raise Stopped(f"stopped at --max-cost {_part(self._whole.max_cost, self.max_cost)}")
        self.requests += 1
        self._expected += expected
        self._in_flight[model.label] += not expected

    def ended(self, model: Model, expected: float = 0.0) -> None:
        """A request that was taken has ended, with a reply or without."""
        self._expected -= expected
        self._in_flight[model.label] -= not expected

    def paid(self, model: Model, price: Price | None, reply: Reply) -> Reply:
        """The reply with its cost, which is counted."""
        self.prompt_tokens += reply.usage.prompt_tokens
        self.completion_tokens += reply.usage.completion_tokens
        if not model.cached:
            return replace(reply, cost=0.0, currency=price.currency) if price else reply
        cost = price.cost(reply.usage, reply.image_count) if price else None
        if price is None or cost is None:
            self.unknown += 1
            self._uncounted = self._uncounted or model.label
            return reply
        self.spent[price.currency] += cost
        replies, paid = self._costs.get(model.label, (0, 0.0))
        self._costs[model.label] = replies + 1, paid + cost
        return replace(reply, cost=cost, currency=price.currency)

    def _mean(self, label: str) -> float:
        replies, paid = self._costs.get(label, (1, 0.0))
        return paid / replies

    def __str__(self) -> str:
        """What this call has spent."""
        cost = f" for {say_cost(self.spent, self.unknown)}" if self.spent else ""
        return f"{self.requests} requests{cost}"

    def share(self, number: int, parts: int) -> Budget:
        """The part of process `number`, from 0, of so many that ask at the same time."""
        requests = None if self.max_requests is None else (self.max_requests + parts - 1 - number) // parts
        cost = None if self.max_cost is None else self.max_cost / parts
        return Budget(max_requests=requests, max_cost=cost, prices=self.prices, whole=self)


def open_budget(
    prices: str | Path | None = None, max_cost: float | None = None, max_requests: int | None = None
) -> Budget:
    """A budget out of a command's settings; `prices` is a file. Raises UserError."""
    if max_cost is not None and not 0 < max_cost < float("inf"):
        raise UserError(f"max_cost is {max_cost:g}: give more than 0")
    if max_requests is not None and max_requests < 1:
        raise UserError(f"max_requests is {max_requests}: give 1 or more")
    return Budget(max_requests=max_requests, max_cost=max_cost, prices=read_prices(prices) if prices else None)


def say_cost(spent: Mapping[str, float], unknown: int = 0) -> str:
    """Such as `1.23 USD and 2 replies of unknown cost`; the empty string where nothing was spent."""
    known = " + ".join(f"{amount:.4g} {currency}" for currency, amount in sorted(spent.items()))
    return f"{known} and {unknown} replies of unknown cost" if known and unknown else known


def _part(whole: float | None, part: float) -> str:
    """A limit as it was given, and this process's part of it where that is another."""
    limits = (part if whole is None else whole, part)
    given, own = [str(limit) if isinstance(limit, int) else f"{limit:g}" for limit in limits]
    return own if given == own else f"{given}, of which this process has {own}"
