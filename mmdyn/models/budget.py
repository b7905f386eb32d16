"""Prices of models, limits on requests and cost, and counts of both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from mmdyn.errors import InputError, Stopped, UserError, counted
from mmdyn.models.model import Model
from mmdyn.record import Reply, Usage

MILLION = 1_000_000

_Amount = Annotated[float, Meta(ge=0)]


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """Prices of one model in `currency`: for a million tokens each, and for one picture (`image`).

    Args:
        cached_input: Input tokens that the server read from its own cache; None: as `input`.
        reasoning: Tokens of reasoning; None: as `output`.
        batch: The share of these prices that a request in a batch costs.

    >>> Price(input=2.5, output=10).batched
    Price(input=1.25, output=5.0, cached_input=None, reasoning=None, image=0.0, currency='USD', batch=1.0)
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
        return msgspec.structs.replace(
            self,
            input=self.input and self.input * self.batch,
            output=self.output and self.output * self.batch,
            cached_input=self.cached_input and self.cached_input * self.batch,
            reasoning=self.reasoning and self.reasoning * self.batch,
            image=self.image and self.image * self.batch,
            batch=1.0,
        )

    @property
    def free(self) -> bool:
        """Whether all prices are zero."""
        return not any((self.input, self.output, self.cached_input, self.reasoning, self.image))

    def cost(self, usage: Usage, images: int = 0) -> float | None:
        """Return the cost of a request, in `currency`; None where the server did not count the tokens.

        >>> from mmdyn.record import Usage
        >>> Price(input=2.5, output=10).cost(Usage(prompt_tokens=1000, completion_tokens=100))
        0.0035
        """
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
    """Prices by model. A name is a model's label (openai:gpt-4o) or its own name (gpt-4o), and may hold `*` and `?`.

    The first name that matches, in the file's order, gives the price.
    """

    def __init__(self, by_name: dict[str, Price] | None = None) -> None:
        self._by_name = by_name or {}

    def of(self, model: Model) -> Price | None:
        """The price of a model, None where no name matches."""
        name = model.identity.get("model")
        price = self.named(model.label, name if isinstance(name, str) else "")
        return price.batched if price and model.limits.batched else price

    def named(self, label: str, name: str = "") -> Price | None:
        """The price by a label and a name, None where no name matches."""
        known = {label, label.partition(":")[2], name} - {""}
        fits = (price for pattern, price in self._by_name.items() if any(fnmatchcase(one, pattern) for one in known))
        return next(fits, None)


def read_prices(file: str | Path) -> Prices:
    """Read a YAML file that maps a model's name to its prices (the fields of Price).

    Raises:
        InputError: The file cannot be read, or a price is no number of 0 or more.
    """
    from mmdyn.data import read_yaml

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
    """Limits on the requests and the cost of one call, over all its models. Each request calls `take` before it is
    sent.

    A request is not sent where its expected cost and that of the requests in flight would pass `max_cost`; the
    expectation is the mean cost of the model's replies so far. Until a model has a paid reply, its requests go one at a
    time (`unsure`), so at most one request of unknown cost can pass the limit. Replies out of the cache count as
    neither, and models whose replies are not cached (`cached` is False) cost nothing.

    Args:
        max_requests: The most requests to send, retries included; None for no limit.
        max_cost: The most that they may cost, in the one currency of the prices; None for no limit.
        whole: The budget that this one is a `share` of, for messages.
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
        """Raise UserError where `max_cost` cannot be kept: a model has no price, or the prices are in several
        currencies."""
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
        """Tell whether cost is limited and no reply of the model has been paid yet; its requests then go one
        at a time."""
        limited = self.max_cost is not None and model.cached and not model.limits.batched
        return limited and model.label not in self._costs

    def take(self, model: Model, expected: float = 0.0) -> None:
        """Count a request that is about to be sent.

        Args:
            expected: Its cost, for a request in a batch, whose other requests tell nothing before they all end.

        Raises:
            Stopped: The request would pass a limit, or the cost cannot be limited, because the server counts no tokens.
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
        """Count the end of a request that was taken, whether it got a reply or not."""
        self._expected -= expected
        self._in_flight[model.label] -= not expected

    def paid(self, model: Model, price: Price | None, reply: Reply) -> Reply:
        """Count a reply's tokens and cost; return the reply with its cost."""
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
        """The requests of this call and their cost."""
        cost = f" for {say_cost(self.spent, self.unknown)}" if self.spent else ""
        return f"{counted(self.requests, 'request')}{cost}"

    def share(self, number: int, parts: int) -> Budget:
        """Return the part of the budget that process `number` (from 0) of `parts` may use.

        >>> [Budget(max_requests=10).share(number, 3).max_requests for number in range(3)]
        [4, 3, 3]
        """
        requests = None if self.max_requests is None else (self.max_requests + parts - 1 - number) // parts
        cost = None if self.max_cost is None else self.max_cost / parts
        return Budget(max_requests=requests, max_cost=cost, prices=self.prices, whole=self)


def open_budget(
    prices: str | Path | None = None, max_cost: float | None = None, max_requests: int | None = None
) -> Budget:
    """Make a budget of a command's settings; `prices` names a YAML file.

    Raises:
        UserError: A limit is not above 0, or the file of prices cannot be read.
    """
    if max_cost is not None and not 0 < max_cost < float("inf"):
        raise UserError(f"max_cost is {max_cost:g}: give more than 0")
    if max_requests is not None and max_requests < 1:
        raise UserError(f"max_requests is {max_requests}: give 1 or more")
    return Budget(max_requests=max_requests, max_cost=max_cost, prices=read_prices(prices) if prices else None)


def say_cost(spent: Mapping[str, float], unknown: int = 0) -> str:
    """Write a cost by currency; the empty string where nothing was spent.

    >>> say_cost({"USD": 1.234}, unknown=2)
    '1.234 USD and 2 replies of unknown cost'
    """
    known = " + ".join(f"{amount:.4g} {currency}" for currency, amount in sorted(spent.items()))
    return f"{known} and {counted(unknown, 'reply')} of unknown cost" if known and unknown else known


def _part(whole: float | None, part: float) -> str:
    """A limit as it was given, and this process's part of it where that is another."""
    limits = (part if whole is None else whole, part)
    given, own = [str(limit) if isinstance(limit, int) else f"{limit:g}" for limit in limits]
    return own if given == own else f"{given}, of which this process has {own}"
