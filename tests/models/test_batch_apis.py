"""--batch: requests in batches of OpenAI's and Anthropic's APIs, submitted once, whatever happens meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from running import estimated, evaluated, many_samples, typed
from serving import bare_environment, wait_until

from making import choice, write_set
from mmdyn.errors import ModelError, Stopped, UserError
from mmdyn.models import open_model
from mmdyn.models.backends import _batches
from mmdyn.models.backends._batches import Standing
from mmdyn.testing import FakeServer
from mmdyn.work import RunFolder

COUNT = 12
BACKENDS = ("openai", "anthropic")
__all__ = ["bare_environment"]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, bare_environment: None) -> None:
    """Batches that are submitted and looked at soon."""
    monkeypatch.setattr(_batches, "QUIET", 0.2)
    monkeypatch.setattr(_batches, "POLLS", (0.1, 0.2))


def model(server: FakeServer, backend: str, options: str = "") -> str:
    return f"{backend}:m,base_url={server.url}{options}"


def replies(run: RunFolder) -> Iterator[Any]:
    return (record.reply for record in run.records())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_run_in_one_batch_is_the_one_without(tmp_path: Path, backend: str) -> None:
    source = many_samples(tmp_path / "set", COUNT)
    with FakeServer(batch_seconds=0.5) as server:
        run = evaluated(source, model(server, backend), tmp_path / "run", batch=True)
        assert server.stats.total == 0 and list(server.batches.submitted.values()) == [1] * COUNT
        alone = evaluated(source, model(server, backend), tmp_path / "alone", cache="none")
    assert [one.request for one in sorted(run.records(), key=lambda one: one.sample)] == [
        one.request for one in sorted(alone.records(), key=lambda one: one.sample)
    ], "it is the same request, so that answers are found again whichever way they came"
    assert {one.sample: one.reply.text for one in run.records()} == {
        one.sample: one.reply.text for one in alone.records()
    }
    assert not list((tmp_path / "cache" / "batches").iterdir()), "nothing is left of a batch that was answered"


@pytest.mark.parametrize("backend", BACKENDS)
def test_expired_requests_are_asked_again_and_the_others_kept(tmp_path: Path, backend: str) -> None:
    with FakeServer(batch_expires=0.5, seed=3) as server:
        run = evaluated(many_samples(tmp_path / "set", COUNT), model(server, backend), tmp_path / "run", batch=True)
    assert {1, 2} == set(server.batches.submitted.values())
    assert not any(reply.error for reply in replies(run))


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_refused_in_a_batch_fails_alone(tmp_path: Path, backend: str) -> None:
    source = write_set(tmp_path / "set", [choice("short"), choice("long", question="Which? " * 200)])
    with FakeServer(context=1000) as server:
        run = evaluated(source, model(server, backend), tmp_path / "run", batch=True)
    found = {record.sample: record.reply for record in run.records()}
    assert found["short"].text and "a request is too long for 'm'" in found["long"].error and found["long"].final


class Shaky(FakeServer):
    """Answers some of the first requests to a batch API with 503, and knows no batch any more once it is told to `forget`."""

    shaken, forget = 0, False

    async def _batch(self, request: Any) -> Any:
        self.shaken += 1
        if self.forget and request.path.endswith("_0"):
            return web.Response(status=404, body=b"{}", content_type="application/json")
        if self.shaken in (1, 4, 6, 7):
            return web.Response(status=503, body=b"{}", content_type="application/json")
        return await super()._batch(request)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_server_that_is_busy_now_and_then_costs_nothing_twice(tmp_path: Path, backend: str) -> None:
    with Shaky(batch_seconds=0.5) as server:
        run = evaluated(many_samples(tmp_path / "set", COUNT), model(server, backend), tmp_path / "run", batch=True)
    assert list(server.batches.submitted.values()) == [1] * COUNT and server.shaken > 4
    assert not any(reply.error for reply in replies(run))


def test_a_batch_that_was_deleted_is_submitted_anew(tmp_path: Path) -> None:
    with Shaky() as server:
        server.forget = True
        run = evaluated(many_samples(tmp_path / "set", COUNT), model(server, "openai"), tmp_path / "run", batch=True)
    assert list(server.batches.submitted.values()) == [2] * COUNT
    assert not any(reply.error for reply in replies(run))


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_requests_are_two(tmp_path: Path, backend: str) -> None:
    with FakeServer() as server:
        named = model(server, backend, ",temperature=0.7")
        evaluated(many_samples(tmp_path / "set", COUNT), named, tmp_path / "run", batch=True, epochs=2)
    assert list(server.batches.submitted.values()) == [2] * COUNT


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wrong_key_ends_the_run_in_a_sentence(tmp_path: Path, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY" if backend == "openai" else "ANTHROPIC_API_KEY", "wrong-key")
    with FakeServer(key="right-key") as server, pytest.raises(ModelError, match="refused the key in"):
        evaluated(many_samples(tmp_path / "set", COUNT), model(server, backend), tmp_path / "run", batch=True)
    assert not list((tmp_path / "cache" / "batches").iterdir()), "it was never submitted"


async def test_a_batch_that_is_not_taken_says_why() -> None:
    opened: Any = open_model("openai:m,base_url=http://127.0.0.1:1/v1,batch=true")
    raw = {"status": "failed", "errors": {"data": [{"message": "All requests in a batch need the same model."}]}}
    with pytest.raises(ModelError, match=r"takes no such batch \(All requests in a batch need the same model"):
        await opened._line._api.outcomes(Standing(True, 0, raw))
    await opened.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_submission_without_an_answer_is_looked_for(tmp_path: Path, backend: str) -> None:
    with FakeServer(batch_lost=1, batch_seconds=0.3) as server:
        run = evaluated(many_samples(tmp_path / "set", COUNT), model(server, backend), tmp_path / "run", batch=True)
    assert list(server.batches.submitted.values()) == [1] * COUNT
    assert not any(reply.error for reply in replies(run))


COMMAND = (
    "import mmdyn.models.backends._batches as line; line.QUIET, line.POLLS = 0.2, (0.1, 0.2);"
    "from mmdyn.cli import main; main()"
)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("backend", BACKENDS)
def test_after_a_kill_a_batch_is_waited_for_further(tmp_path: Path, backend: str, known: bool) -> None:
    """Also where the kill came before the batch's id was known."""
    many_samples(tmp_path / "set", COUNT)
    with FakeServer(batch_seconds=4) as server:
        given = ["eval", str(tmp_path / "set"), "-m", model(server, backend), "-o", str(tmp_path / "run"), "--batch"]
        process = subprocess.Popen([sys.executable, "-c", COMMAND, *given], stderr=subprocess.PIPE)
        files = tmp_path / "cache" / "batches"
        wait_until(lambda: any(json.loads(file.read_text())["id"] for file in files.glob("*.json")), process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        (file,) = files.glob("*.json")
        if not known:
            file.write_text(json.dumps({**json.loads(file.read_text()), "id": ""}))
        done = subprocess.run([sys.executable, "-c", COMMAND, *given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(server.batches.submitted.values()) == [1] * COUNT and server.stats.total == 0
    assert len(list(RunFolder(tmp_path / "run").records())) == COUNT
    assert not list(files.glob("*.json"))


def test_how_far_a_batch_is_stands_in_the_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmdyn.work.progress.PLAIN_SECONDS", 0.1)
    many_samples(tmp_path / "set", COUNT)
    with FakeServer(batch_seconds=3) as server:
        done = typed("eval", tmp_path / "set", "-m", model(server, "openai"), "-o", tmp_path / "run", "--batch")
    assert done.exit_code == 0, done.output
    assert f"of {COUNT} requests done" in done.stderr


PRICES = "m: {input: 100, output: 100}\n"


def test_half_the_price_and_no_more_than_max_cost_is_submitted(tmp_path: Path) -> None:
    source = many_samples(tmp_path / "set", COUNT)
    (prices := tmp_path / "prices.yaml").write_text(PRICES)
    with FakeServer() as server:
        whole, half = (
            estimated(source, model(server, "openai"), tmp_path / "run", prices=str(prices), batch=batch).rows[0]
            for batch in (False, True)
        )
        assert whole.cost and half.cost == pytest.approx(whole.cost / 2)
        with pytest.raises(Stopped, match=r"stopped at --max-cost 0\.2"):
            evaluated(source, model(server, "openai"), tmp_path / "run", prices=str(prices), max_cost=0.2, batch=True)
        assert 0 < len(server.batches.submitted) < COUNT / 2, "800 tokens of an answer cost 0.04"
        run = evaluated(source, model(server, "openai"), tmp_path / "run", prices=str(prices), max_cost=9, batch=True)
        alone = evaluated(source, model(server, "openai"), tmp_path / "alone", prices=str(prices), cache="none")
    assert list(server.batches.submitted.values()) == [1] * COUNT
    costs = [sum(reply.cost for reply in replies(one)) for one in (run, alone)]
    assert costs[0] == pytest.approx(costs[1] / 2) and costs[0] < 0.2


def test_a_batch_that_costs_another_share(tmp_path: Path) -> None:
    source = many_samples(tmp_path / "set", COUNT)
    (prices := tmp_path / "prices.yaml").write_text("m: {input: 1, output: 2, batch: 0.25}\n")
    rows = [estimated(source, f"openai:m,base_url=http://127.0.0.1:1{options}", tmp_path / "run", prices=str(prices)).rows[0] for options in ("", ",batch=true")]  # fmt: skip
    assert rows[1].cost == pytest.approx(rows[0].cost / 4)  # type: ignore[operator]


@pytest.mark.parametrize("other", ["baseline:lexical", "gemini:g,base_url=http://127.0.0.1:1"])
def test_models_without_batches_are_refused(tmp_path: Path, other: str) -> None:
    source = many_samples(tmp_path / "set", 2)
    with pytest.raises(
        UserError, match="has no batches: leave `mmdyn eval --batch` out, or ask openai: and anthropic: models alone"
    ):
        evaluated(source, other, tmp_path / "run", batch=True)


def test_completions_have_no_batches() -> None:
    with pytest.raises(UserError, match="completions:m has no batches: leave batch out"):
        open_model("completions:m,base_url=http://127.0.0.1:1,batch=true")
