"""A model asked from threads."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from asking import texts, user
from serving import scripted, serve, wait_until

from mmdyn.errors import ModelError, UserError
from mmdyn.models import Caches, SyncModelClient


def test_threads_get_their_own_answers(tmp_path: Path) -> None:
    lines = [{"match": f"Question {n}!", "reply": f"{n}"} for n in range(40)]
    client = SyncModelClient(scripted(tmp_path, *lines), concurrency=8)
    try:
        with ThreadPoolExecutor(16) as pool:
            said = list(pool.map(lambda n: client.ask(user(f"Question {n}!")), range(40)))
        assert said == [str(n) for n in range(40)]
    finally:
        client.close()


def test_a_request_that_is_not_answered_is_a_value_error_and_a_dead_model_a_model_error(tmp_path: Path) -> None:
    lines = {"match": "later", "error": "transient"}, {"match": "never", "error": "fatal"}
    client = SyncModelClient(scripted(tmp_path, *lines, tries=2))
    with pytest.raises(ValueError, match=r"scripted:replies\.jsonl did not answer \(a failure scripted in"):
        client.ask(user("later"))
    with pytest.raises(ModelError, match="a failure scripted in"):
        client.ask(user("never"))
    client.close()


def test_closing_breaks_off_what_is_asked() -> None:
    with serve(latency=600.0) as server:
        client = SyncModelClient(f"openai:m,base_url={server.url}")
        said: list[str] = []

        def ask() -> None:
            with pytest.raises(ModelError, match="was closed"):
                client.ask(user())
            said.append("closed")

        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(lambda: server.stats.total)
        client.close()
        asking.join(240)
        assert said == ["closed"] and server.stats.by_outcome["200"] == 0
        client.close()
        with pytest.raises(ModelError, match="openai:m was closed"):
            client.ask(user())


def test_answers_come_out_of_the_cache_unless_asked_anew(tmp_path: Path) -> None:
    with serve() as server:
        for options, asked in (("", 2), (",temperature=0", 3), (",temperature=1,seed=4", 4)):
            client = SyncModelClient(
                f"openai:m,base_url={server.url}{options}", varied=True, caches=Caches(out=tmp_path)
            )
            for messages in (texts(1)[0], texts(1)[0]):
                client.ask(messages)
            client.ask(texts(1)[0], nonce=1)
            assert server.stats.total == asked, "one that would say the same is not asked anew"
            client.close()


def test_a_model_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(UserError, match="there is no model 'nosuch'"):
            SyncModelClient("nosuch:m")


def test_no_ask_hangs_when_many_threads_meet_the_closing(tmp_path: Path) -> None:
    model = scripted(tmp_path, "yes")

    def ask_until_closed(client: SyncModelClient) -> str:
        try:
            while True:
                client.ask(user())
        except ModelError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(40):
            client = SyncModelClient(model)
            asking = [pool.submit(ask_until_closed, client) for _ in range(8)]
            time.sleep(0.005)
            client.close()
            assert {one.result(timeout=240) for one in asking} == {"scripted:replies.jsonl was closed"}
