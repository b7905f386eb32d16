"""Limits on requests and on cost: where they stop, and what becomes of what is in flight."""

from __future__ import annotations

import asyncio

import pytest
from asking import ask_all, open_cache, texts, user

from mmdyn.errors import Stopped, UserError
from mmdyn.models import Asker, Budget, Price, open_model
from mmdyn.models.budget import Prices
from mmdyn.models.pace import Retry
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer

PRICES = Prices({"m": Price(10, 10)})


async def ask(server: FakeServer, budget: Budget, count: int, **settings: int) -> list[Reply | BaseException]:
    asker = Asker(open_model(f"openai:m,base_url={server.url}"), budget=budget, **settings, retry=Retry(backoff=0.02))
    try:
        return await asyncio.gather(*(asker.ask(messages) for messages in texts(count)), return_exceptions=True)
    finally:
        await asker.close()


async def test_at_the_limit_no_request_is_sent_and_those_in_flight_are_kept() -> None:
    async with FakeServer(latency=0.05) as server:
        outcomes = await ask(server, budget := Budget(max_requests=7), 30, concurrency=4)
        assert server.stats.total == budget.requests == 7
        assert sum(isinstance(outcome, Reply) for outcome in outcomes) == 7
        stopped = {str(outcome) for outcome in outcomes if not isinstance(outcome, Reply)}
        assert stopped == {"stopped at --max-requests 7"}


async def test_tries_again_count_and_nobody_sleeps_on_past_the_limit() -> None:
    async with FakeServer(faults="503@1700=1") as server:
        outcomes = await ask(server, Budget(max_requests=3), 4, concurrency=2)
        assert {type(outcome) for outcome in outcomes} == {Stopped}
        assert server.stats.total == 3


async def test_a_limit_on_cost_is_not_passed_once_the_cost_is_known() -> None:
    async with FakeServer(latency=0.02) as server:
        (one,) = [outcome for outcome in await ask(server, Budget(prices=PRICES), 1) if isinstance(outcome, Reply)]
        assert one.cost and one.currency == "USD"
        budget = Budget(max_cost=10.5 * one.cost, prices=PRICES)
        outcomes = await ask(server, budget, 40, concurrency=4)
        assert 9 <= sum(isinstance(outcome, Reply) for outcome in outcomes) <= 10
        assert budget.spent["USD"] <= 10.5 * one.cost
        assert {type(outcome) for outcome in outcomes} == {Reply, Stopped}


async def test_the_cache_costs_nothing_and_is_no_request(bare_environment: None) -> None:
    with open_cache() as cache:
        async with FakeServer() as server:
            model = f"openai:m,base_url={server.url}"
            for budget in (Budget(prices=PRICES), Budget(prices=PRICES, max_requests=1)):
                asker = Asker(open_model(model), budget=budget, caches=cache)
                replies = await ask_all(asker, texts(5))
                await asker.close()
                assert all(reply.currency == "USD" for reply in replies)
                assert budget.spent["USD"] == pytest.approx(sum(reply.cost or 0 for reply in replies))
            assert budget.requests == 0 and budget.spent["USD"] == 0 and server.stats.total == 5
            unpriced = Asker(open_model(model), caches=cache)
            assert (await unpriced.ask(texts(1)[0])).cost is None
            await unpriced.close()


async def test_without_a_price_tokens_are_counted_and_the_cost_is_unknown() -> None:
    async with FakeServer() as server:
        asker = Asker(open_model(f"openai:other,base_url={server.url}"), budget=Budget(prices=PRICES))
        reply = await asker.ask(user())
        await asker.close()
        assert reply.usage.prompt_tokens > 0 and reply.cost is None and asker.budget.unknown == 1


@pytest.mark.parametrize(("prices", "problem"), [
    ({}, "--max-cost needs the price of openai:m: add it to the file of --prices, 0 where it is free"),
    ({"m": Price(1, 1), "n": Price(1, 1, currency="CNY")}, "needs one currency, and the prices are in CNY and USD"),
])  # fmt: skip
def test_a_limit_that_cannot_be_kept_is_refused_at_once(prices: dict[str, Price], problem: str) -> None:
    models = [open_model(f"openai:{name},base_url=http://h/v1") for name in ("m", "n")]
    budget = Budget(max_cost=1, prices=Prices(prices))
    with pytest.raises(UserError, match=problem):
        budget.check(models)
    Budget(max_cost=1, prices=Prices(prices)).check([open_model("baseline:lexical")])


def test_a_server_that_counts_no_tokens_stops_a_limit_on_cost() -> None:
    model = open_model("openai:m,base_url=http://h/v1")
    budget = Budget(max_cost=1, prices=PRICES)
    budget.take(model)
    assert budget.paid(model, PRICES.of(model), Reply("fine")).cost is None
    says = r"openai:m counts no tokens and --max-cost cannot be kept \(use --max-requests\)"
    with pytest.raises(Stopped, match=says):
        budget.take(model)


def test_several_processes_share_it_out() -> None:
    shares = [Budget(max_requests=10, max_cost=3, prices=PRICES).share(number, 3) for number in range(3)]
    assert [share.max_requests for share in shares] == [4, 3, 3]
    assert {share.max_cost for share in shares} == {1}
    with pytest.raises(Stopped):
        Budget(max_requests=1).share(1, 2).take(open_model("baseline:majority"))


async def test_a_dear_model_after_free_and_cheap_ones_keeps_to_the_limit() -> None:
    prices = Prices({"cheap": Price(0.01, 0.01), "m": Price(100, 100)})
    async with FakeServer(latency=0.02) as server:
        (one,) = [outcome for outcome in await ask(server, Budget(prices=prices), 1) if isinstance(outcome, Reply)]
        assert one.cost
        budget = Budget(max_cost=5.5 * one.cost, prices=prices)
        for model in ("baseline:majority", f"openai:cheap,base_url={server.url}", f"openai:m,base_url={server.url}"):
            asker = Asker(open_model(model), budget=budget, concurrency=32)
            await asyncio.gather(*(asker.ask(messages) for messages in texts(100)), return_exceptions=True)
            await asker.close()
        assert 4 * one.cost < budget.spent["USD"] <= 5.5 * one.cost and budget.unknown == 0


def test_what_is_in_flight_may_turn_out_dearer_than_the_mean() -> None:
    model, price = open_model("openai:m,base_url=http://h/v1"), PRICES.of(open_model("openai:m,base_url=http://h/v1"))
    budget = Budget(max_cost=4, prices=PRICES)

    def answer(tokens: int) -> None:
        budget.paid(model, price, Reply("x", usage=Usage(tokens, 0)))
        budget.ended(model)

    budget.take(model)
    answer(100_000)
    for _ in range(3):
        budget.take(model)
    with pytest.raises(Stopped, match="stopped at --max-cost 4"):
        budget.take(model)
    for _ in range(3):
        answer(150_000)
    assert budget.spent["USD"] == pytest.approx(5.5), "the mean was 1 when they were sent"
    assert (budget.prompt_tokens, budget.completion_tokens) == (550_000, 0)
