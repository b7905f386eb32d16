"""What a run's replies took: tokens by model, and what they cost where that is known."""

from __future__ import annotations

from msgspec import Struct, field

from mmdyn.record import Usage


class Spending(Struct):
    """The replies of one model. Tokens are as servers counted them, those of replies out of the response cache among
    them.

    cost: by currency, by the prices that were given when it was asked; replies out of the cache cost nothing. unknown:
        replies whose cost is not known, for want of a price or of a count of tokens.
    """

    model: str
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cost: dict[str, float] = field(default_factory=dict)
    unknown: int = 0

    def add(self, usage: Usage, cost: float | None, currency: str) -> None:
        """Count one reply."""
        self.replies += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        self.reasoning_tokens += usage.reasoning_tokens
        self.cached_tokens += usage.cached_tokens
        if cost is None:
            self.unknown += 1
        else:
            self.cost[currency] = self.cost.get(currency, 0.0) + cost

    @property
    def rounded(self) -> Spending:
        """The same with costs to six digits."""
        cost = {currency: round(amount, 6) for currency, amount in sorted(self.cost.items())}
        counts = (self.replies, self.prompt_tokens, self.completion_tokens, self.reasoning_tokens, self.cached_tokens)
        return Spending(self.model, *counts, cost, self.unknown)

    @property
    def tokens(self) -> str:
        """Such as `1,234 tokens in, 56 out (40 of reasoning)`."""
        cached = f" ({self.cached_tokens:,} out of the server's cache)" if self.cached_tokens else ""
        reasoning = f" ({self.reasoning_tokens:,} of reasoning)" if self.reasoning_tokens else ""
        return f"{self.prompt_tokens:,} tokens in{cached}, {self.completion_tokens:,} out{reasoning}"

    @property
    def money(self) -> str:
        """Such as `1.2 USD`, `1.2 USD and 3 replies of unknown cost`, `unknown`, or `0`."""
        if not self.cost:
            return "unknown" if self.unknown else "0"
        known = " + ".join(f"{amount:.4g} {currency}" for currency, amount in sorted(self.cost.items()))
        return f"{known} and {self.unknown} replies of unknown cost" if self.unknown else known
