"""Judges behind real backends: scripts, and a server over HTTP with its faults."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from making_judges import marks, ticks
from serving import bare_environment as bare_environment, script, scripted

from making import blank, open_ended
from mmdyn.errors import ModelError, UserError
from mmdyn.models import Budget, Caches, Price
from mmdyn.models.budget import Prices
from mmdyn.plugins import load
from mmdyn.record import Judgement, Reply
from mmdyn.sample import Sample
from mmdyn.scoring import open_judge
from mmdyn.testing import FakeServer

pytestmark = pytest.mark.usefixtures("bare_environment")

SAMPLES = [
    *(open_ended(f"o{n}", question=f"Why {n}?") for n in range(12)),
    blank("b", answer=(("4",), ("x", "y"), ("z",)), language="zh"),
    open_ended("c", checklist=("first", "second", "third")),
]
REPLY = Reply(text='It floats. {"code": "0123456789abcdef", "grades": [[1, "right", 1]]}')


def code(sample: Sample) -> str:
    return load("rubrics", "checklist" if sample.checklist else "match")().sheet(sample, REPLY.text, False).code


def verdict(sample: Sample) -> str:
    """A quarter for the open ones by their number, and something for the others."""
    if sample.checklist:
        return ticks(code(sample), False, True, True, False)
    return marks(code(sample), *((1, 0.5, 0) if sample.id == "b" else (int(sample.id[1:]) % 5 / 4,)))


def check(found: list[Judgement]) -> None:
    *opened, blanks, checked = found
    assert [one.value for one in opened] == [n % 5 / 4 for n in range(12)]
    assert (blanks.value, blanks.parts) == (0.5, (1.0, 0.5, 0.0))
    assert (checked.value, checked.items) == (0.0, (True, True, False))


async def test_a_server_judges_through_its_faults_and_the_cache_remembers(tmp_path: Path) -> None:
    file = script(tmp_path, *({"match": code(sample), "reply": f"Hm.\n{verdict(sample)}"} for sample in SAMPLES))
    prices = Prices({"openai:m": Price(1, 2)})
    with Caches("own", tmp_path) as caches:
        async with FakeServer(reply=str(file), faults="503@0.01=0.2,drop=0.1", seed=1) as server:
            for votes, asked, paid in ((1, 14, True), (1, 14, False), (3, 42, True)):
                model, budget = f"openai:m,base_url={server.url},max_tries=20", Budget(prices=prices)
                judge = open_judge(model, votes=votes, caches=caches, budget=budget)
                before = server.stats.by_outcome["200"]
                found = await asyncio.gather(*(judge.judge(sample, REPLY) for sample in SAMPLES))
                await judge.close()
                check(found)
                assert server.stats.by_outcome["200"] - before == (asked if paid else 0)
                assert sum(one.requests for one in found) >= asked if paid else not any(one.requests for one in found)
                assert sum(one.cached for one in found) == {(1, False): 14, (3, True): 0}.get((votes, paid), 0)
                assert all(bool(one.usage.prompt_tokens) is paid for one in found)
                assert sum(one.cost or 0.0 for one in found) == pytest.approx(sum(budget.spent.values()))
                assert (budget.spent["USD"] > 0) is paid
                assert all(one.agreement == (1.0 if votes == 3 else None) for one in found)


async def test_a_server_that_cannot_be_asked_and_one_that_does_not_answer(tmp_path: Path) -> None:
    async with FakeServer(key="right") as server:
        judge = open_judge(f"openai:m,base_url={server.url}")
        with pytest.raises(ModelError):
            await judge.judge(SAMPLES[0], REPLY)
        await judge.close()
    async with FakeServer(faults="503@0.01=1") as server:
        judge = open_judge(f"openai:m,base_url={server.url},max_tries=2")
        found = await judge.judge(SAMPLES[0], REPLY)
        assert found.value is None and found.error.startswith("openai:m did not answer (") and found.requests == 2
        await judge.close()


def test_votes_of_a_model_that_cannot_vary_are_refused(tmp_path: Path) -> None:
    for model in (scripted(tmp_path, "x"), "openai:m,base_url=http://localhost:1/v1,temperature=0"):
        with pytest.raises(UserError, match="would vote alike each time: give it a temperature above 0"):
            open_judge(model, votes=3)
    assert open_judge("openai:m,base_url=http://localhost:1/v1", votes=3).label == "openai:m"
