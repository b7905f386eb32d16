"""A run that stops at a limit, at a fault of the disk or at failures, and goes on later."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from running import evaluated
from serving import script, serve

from making import choice, write_set
from mmdyn.errors import InputError, Stopped, UserError
from mmdyn.tables import report
from mmdyn.work import RunFolder

PRICES = "fake: {input: 10, output: 10}\n"


def make_set(folder: Path, count: int = 20) -> Path:
    write_set(folder / "set", [choice(f"q{number}", question=f"Question {number}?") for number in range(count)])
    (folder / "prices.yaml").write_text(PRICES)
    return folder / "set"


def answered(folder: Path) -> int:
    return sum(not record.reply.error for record in RunFolder(folder).records())


def test_a_limit_on_requests_is_of_the_call_and_the_same_command_goes_on(tmp_path: Path) -> None:
    opened, out = make_set(tmp_path), tmp_path / "run"
    with serve() as server:
        model = f"openai:fake,base_url={server.url}"
        for done in (8, 16):
            with pytest.raises(Stopped) as caught:
                evaluated(opened, model, out, max_requests=8, concurrency=3, cache="shared")
            assert str(caught.value) == (
                f"stopped at --max-requests 8: 8 requests by this call; {done} of 20 done, {20 - done} left, "
                "and the same command goes on from here"
            )
            assert answered(out) == done
        evaluated(opened, model, out, max_requests=8, concurrency=3, cache="shared")
        assert answered(out) == server.stats.total == 20
        evaluated(opened, model, tmp_path / "other", max_requests=1, cache="shared")
        assert answered(tmp_path / "other") == 20, "replies out of the cache counted as requests"


def test_a_limit_on_cost_covers_all_models_and_the_report_says_what_was_spent(tmp_path: Path) -> None:
    opened, out = make_set(tmp_path), tmp_path / "run"
    with serve() as server:
        models = [f"openai:fake,base_url={server.url}{more}" for more in ("", ",label=twin,temperature=1")]
        priced: Any = {"prices": tmp_path / "prices.yaml", "cache": "none"}
        evaluated(opened, models[0], tmp_path / "one", **priced)
        (spent,) = report(tmp_path / "one").runs[0].spending
        assert spent.replies == 20 and spent.unknown == 0 and spent.prompt_tokens > 20
        assert spent.cost["USD"] == pytest.approx((spent.prompt_tokens + spent.completion_tokens) / 1e5)
        limit = 1.5 * spent.cost["USD"]
        with pytest.raises(Stopped, match=rf"stopped at --max-cost {limit:g}: \d+ requests for 0\.\d+ USD by this"):
            evaluated(opened, models, out, **priced, max_cost=limit, concurrency=2)
        state = report(out).runs[0]
        assert [one.model for one in state.spending] == ["openai:fake", "twin"]
        assert 0.9 * limit < sum(one.cost["USD"] for one in state.spending) <= limit
        evaluated(opened, models, out, cache="none")
        unpriced = report(out).runs[0].spending[1]
        assert unpriced.replies == 20 and 0 < unpriced.unknown < 20, "a cost that is not known was taken for none"


def test_a_limit_on_cost_without_a_price_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with serve() as server:
        with pytest.raises(UserError, match="--max-cost needs the price of openai:fake"):
            evaluated(make_set(tmp_path), f"openai:fake,base_url={server.url}", tmp_path / "run", max_cost=1)
        assert server.stats.total == 0 and not (tmp_path / "run").exists()


def test_failed_requests_are_asked_again_and_only_those(tmp_path: Path) -> None:
    opened, out = make_set(tmp_path), tmp_path / "run"
    with serve(faults="500=0.5") as server:
        model = f"openai:fake,base_url={server.url},max_tries=1"
        counts = [0]
        while counts[-1] < 20:
            evaluated(opened, model, out, cache="none")
            counts.append(answered(out))
            assert len(list(RunFolder(out).records())) == 20
        assert len(counts) > 2 and counts == sorted(counts)
        assert server.stats.asked_again == 0 and server.stats.by_outcome["200"] == 20


def test_a_read_only_folder_is_one_sentence(tmp_path: Path) -> None:
    nobody_writes_here = Path("/proc/run")
    with pytest.raises(UserError, match=r"cannot write /proc/run/records \(.*\): choose another folder"):
        evaluated(make_set(tmp_path), "baseline:majority", nobody_writes_here)


def test_a_file_in_the_runs_place_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("notes")
    with pytest.raises(UserError, match=r"cannot write .*run/records \(.*\): choose another folder"):
        evaluated(make_set(tmp_path), "baseline:majority", tmp_path / "run")
    assert (tmp_path / "run").read_text() == "notes"


@pytest.mark.parametrize("damage", ["text", "torn"])
def test_a_corrupt_store_is_one_sentence_and_left_as_it_is(tmp_path: Path, damage: str) -> None:
    opened, out = make_set(tmp_path), tmp_path / "run"
    evaluated(opened, "baseline:majority", out)
    (file,) = (out / "records").glob("*.sqlite")
    whole = file.read_bytes()
    spoilt = b"no store at all " * 500 if damage == "text" else whole[:100] + b"\xff" * 8000 + whole[8100:]
    file.write_bytes(spoilt)
    with pytest.raises(InputError, match=r"is no store, or a damaged one \(.*\): move it away and run again"):
        evaluated(opened, "baseline:majority", out)
    assert file.read_bytes() == spoilt
    file.rename(tmp_path / "away")
    assert len(list(evaluated(opened, "baseline:majority", out).records())) == 20


def test_a_lock_on_the_store_by_another_program_loses_nothing(tmp_path: Path) -> None:
    opened, out = make_set(tmp_path), tmp_path / "run"
    evaluated(opened, "baseline:majority", out, n=5)
    with sqlite3.connect(out / "records" / "main.sqlite") as reader:
        reader.execute("SELECT count(*) FROM records").fetchone()
        evaluated(opened, "baseline:majority", out)
    reader.close()
    assert answered(out) == 20


def test_a_model_that_refuses_one_leaves_the_rest(tmp_path: Path) -> None:
    lines = ({"match": "Question 3?", "error": "transient"}, {"match": "", "reply": "Answer: B"})
    model = f"scripted:{script(tmp_path, *lines)},max_tries=1"
    evaluated(make_set(tmp_path), model, tmp_path / "run", max_requests=20)
    summary = report(tmp_path / "run")
    assert summary.failed == 1 and json.loads(summary.to_json())["runs"][0]["spending"][0]["replies"] == 19
