"""Several launched processes make the records that one process makes, also after one of them was killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from clock import Clock
from running import contents, evaluated, many_samples
from serving import hold, serve, wait_until

from mmdyn.data import SampleSet, convert
from mmdyn.errors import UserError
from mmdyn.record import Record
from mmdyn.work import Ranks, Reader, Store, ranks

MODES = ["--mode", "standard,kprag", "--epochs", "2"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    return many_samples(tmp_path_factory.mktemp("source") / "set")


@pytest.fixture(scope="module")
def alone(source: SampleSet, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    out = tmp_path_factory.mktemp("alone") / "run"
    return contents(evaluated(source, "baseline:lexical", out, modes=["standard", "kprag"], epochs=2))


def command(source: SampleSet, out: Path, *more: str, model: str = "baseline:lexical") -> list[str]:
    return ["-m", "mmdyn", "eval", str(source.folder), "-m", model, "-o", str(out), *more]


def start(arguments: list[str], rank: int, size: int = 2) -> subprocess.Popen[str]:
    environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank)}
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], env=environment, **pipes)


def finish(*processes: subprocess.Popen[str], status: int = 0) -> list[tuple[str, str]]:
    said = [process.communicate(timeout=240) for process in processes]
    assert [process.returncode for process in processes] == [status] * len(processes), said
    return said


def answered(out: Path) -> int:
    if not (out / "records").exists():
        return 0
    with Reader(out / "records") as reader:
        return sum(1 for _ in reader.items("record"))


def by_writer(out: Path, writer: str) -> int:
    """How many records a rank has saved."""
    file = out / "records" / f"{writer}.sqlite"
    if not file.is_file():
        return 0
    with closing(sqlite3.connect(file)) as db, suppress(sqlite3.OperationalError):  # no table yet
        return int(db.execute("SELECT count(*) FROM records WHERE kind = 'record'").fetchone()[0])
    return 0


@pytest.mark.slow
@pytest.mark.parametrize("partition", ["cost", "size", "count,asks=5"])
def test_two_ranks_make_the_records_of_one_process(
    source: SampleSet, alone: dict[str, Record], tmp_path: Path, partition: str
) -> None:
    arguments = command(source, tmp_path / "run", *MODES, "--partition", partition)
    first, second = finish(*(start(arguments, rank) for rank in (0, 1)))
    assert contents(tmp_path / "run") == alone
    assert "standard" in first[0] and second[0] == "", "rank 0 alone prints the report"
    assert "asking, rank 0" in first[1] and "asking, rank 1" in second[1]
    shares = [tmp_path / "run" / "records" / f"{writer}.sqlite" for writer in ("main", "rank-1")]
    assert all(file.stat().st_size > 50_000 for file in shares)


@pytest.mark.slow
def test_two_ranks_show_the_examples_of_one(source: SampleSet, tmp_path: Path) -> None:
    shots = "0,2:random,2:similar:base"
    finish(*(start(command(source, tmp_path / "run", "--shots", shots), rank) for rank in (0, 1)))
    alone = contents(evaluated(source, "baseline:lexical", tmp_path / "alone", shots=shots))
    assert contents(tmp_path / "run") == alone and {len(record.examples) for record in alone.values()} == {0, 2}


@pytest.mark.slow
def test_the_ranks_may_come_in_any_order_and_number(
    source: SampleSet, alone: dict[str, Record], tmp_path: Path
) -> None:
    arguments = command(source, tmp_path / "run", *MODES)
    some = command(source, tmp_path / "run", *MODES, "--limit", "20")
    finish(*(start(some, rank, 2) for rank in (1, 0)))
    assert 0 < answered(tmp_path / "run") < len(alone)
    others = [start(arguments, rank, 3) for rank in (2, 1)]
    time.sleep(1)
    finish(start(arguments, 0, 3), *others)
    assert contents(tmp_path / "run") == alone


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
def test_a_rank_that_was_killed_is_made_good_by_one_process(source: SampleSet, tmp_path: Path, lost: int) -> None:
    with hold() as server:
        model = f"openai:fake,base_url={server.url}"
        arguments = command(source, tmp_path / "run", "--concurrency", "2", model=model)
        ranks = [start(arguments, rank) for rank in (0, 1)]
        wait_until(lambda: server.stats.in_flight == 4, ranks[lost])
        server.let(12)  # at least one of each rank's, and of no rank all
        wait_until(lambda: answered(tmp_path / "run") == 12 and server.stats.in_flight == 4, ranks[lost])
        ranks[lost].kill()
        ranks[lost].communicate()
        assert ranks[lost].returncode == -signal.SIGKILL
        wait_until(lambda: server.stats.in_flight == 2)
        server.let_all()
        _, said = ranks[1 - lost].communicate(timeout=240)
        if lost == 1:
            assert ranks[0].returncode == 2
            assert "mmdyn: rank 1 ended before its work was done: run the same command again, it goes on" in said
        else:
            assert ranks[1].returncode == 0, "it had its share to do, and needs nobody for that"
        assert 30 <= answered(tmp_path / "run") < 60
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        records = contents(tmp_path / "run")
        assert len(records) == 60 and not any(record.reply.error for record in records.values())
        assert server.stats.total == 60 + 2 and not server.stats.asked_again, "what was answered is not asked again"


@pytest.mark.slow
def test_failures_of_a_rank_hang_nobody(source: SampleSet, tmp_path: Path) -> None:
    lines = [{"match": "Question 1", "error": "transient"}, {"match": "", "reply": "Answer: B"}]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    arguments = command(source, tmp_path / "run", model=f"scripted:{tmp_path / 's.jsonl'},max_tries=1")
    first, second = start(arguments, 0), start(arguments, 1)
    said = first.communicate(timeout=240)
    second.communicate(timeout=240)
    assert (first.returncode, second.returncode) == (1, 0), said
    assert sum(1 for record in contents(tmp_path / "run").values() if record.reply.error) == 11
    assert said[1].count("failed: s1") == 11


@pytest.mark.slow
def test_a_rank_that_was_started_otherwise_is_noticed(source: SampleSet, tmp_path: Path) -> None:
    good = command(source, tmp_path / "run", "--limit", "4")
    bad = command(source, tmp_path / "run", "--limit", "8")
    first, second = start(good, 0), start(bad, 1)
    said, other = first.communicate(timeout=240), second.communicate(timeout=240)
    sentence = "this rank was given another task than rank 0: start every rank with the same command"
    assert (first.returncode, second.returncode) == (2, 2)
    assert f"mmdyn: rank 1: {sentence}" in said[1]
    assert f"mmdyn: {sentence}" in other[1] and "asking" not in other[1], "it is told before anything is asked"
    assert by_writer(tmp_path / "run", "rank-1") == 0


@pytest.mark.slow
def test_variants_are_made_on_the_way_by_all_ranks(source: SampleSet, tmp_path: Path) -> None:
    options = ["--ops", "pad,shuffle,paraphrase", "--draws", "2", "--limit", "20"]
    finish(*(start(command(source, tmp_path / "many", *options), rank) for rank in (0, 1)))
    one = evaluated(source, "baseline:lexical", tmp_path / "one", ops="pad,shuffle,paraphrase", draws=2, n=20)
    assert contents(tmp_path / "many") == contents(one)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "tsv"])
def test_several_ranks_take_a_file_as_one_process_does(source: SampleSet, tmp_path: Path, ending: str) -> None:
    convert(source.folder, tmp_path / f"loose.{ending}")
    one = contents(evaluated(tmp_path / f"loose.{ending}", "baseline:lexical", tmp_path / "one"))
    given = ["-m", "mmdyn", "eval", str(tmp_path / f"loose.{ending}"), "-m", "baseline:lexical", "-o"]
    finish(*(start([*given, str(tmp_path / "many")], rank, 3) for rank in (2, 0, 1)))
    assert contents(tmp_path / "many") == one
    assert len(list((tmp_path / "many" / "sets").iterdir())) == 1


@pytest.mark.parametrize("text", ["nothing", '{"id": 1}\n', ""])
def test_a_file_that_is_refused_ends_every_rank_at_once_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "loose.jsonl").write_text(text)
    arguments = ["-m", "mmdyn", "eval", str(tmp_path / "loose.jsonl"), "-m", "baseline:lexical", "-o", str(tmp_path / "r")]  # fmt: skip
    began = time.monotonic()
    said = finish(*(start(arguments, rank) for rank in (1, 0)), status=2)
    assert said[0][1] == said[1][1] and "loose.jsonl" in said[0][1] and time.monotonic() - began < 60


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_where_the_first_rank_is_refused_the_others_end_with_its_sentence(
    source: SampleSet, tmp_path: Path, order: tuple[int, ...]
) -> None:
    """Only the first one knows: it was given the set twice."""
    twice = [*command(source, tmp_path / "run"), str(source.folder)]
    began, processes = time.monotonic(), dict[int, subprocess.Popen[str]]()
    for rank in order:
        processes[rank] = start(command(source, tmp_path / "run") if rank else twice, rank, 3)
        time.sleep(0.3)
    said = finish(*(processes[rank] for rank in (0, 1, 2)), status=2)
    assert said[0][1] == said[1][1] == said[2][1] and "are the same set: give it once" in said[0][1]
    assert time.monotonic() - began < 25, "nobody waits for somebody who is gone"


def torchrun(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("torch")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "0"]
    return subprocess.run([*launcher, *arguments], capture_output=True, text=True, timeout=240)


@pytest.mark.slow
def test_a_config_is_carried_out_by_all_ranks(source: SampleSet, alone: dict[str, Record], tmp_path: Path) -> None:
    asked = {"modes": ["standard", "kprag"], "epochs": 2}
    settings = {"conditions": asked, "models": ["baseline:lexical"]}
    places = {"sets": [str(source.folder)], "out": str(tmp_path / "run")}
    (tmp_path / "c.yaml").write_text(json.dumps(settings | places))
    arguments = ["-m", "mmdyn", "run", str(tmp_path / "c.yaml")]
    first, second = finish(*(start(arguments, rank) for rank in (0, 1)))
    assert contents(tmp_path / "run") == alone and "standard" in first[0] and second[0] == ""


def test_a_dry_run_is_told_by_rank_0_alone(source: SampleSet, tmp_path: Path) -> None:
    arguments = command(source, tmp_path / "run", "--dry-run")
    first, second = finish(*(start(arguments, rank) for rank in (0, 1)))
    assert "60 requests to send; nothing to pay" in first[0] and second == ("", "")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_torchrun_starts_them(source: SampleSet, alone: dict[str, Record], tmp_path: Path) -> None:
    done = torchrun(command(source, tmp_path / "run", *MODES))
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == alone


@pytest.mark.slow
def test_a_model_that_cannot_be_asked_ends_all_ranks(source: SampleSet, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"match": "", "error": "fatal"}')
    done = torchrun(command(source, tmp_path / "run", model=f"scripted:{tmp_path / 's.jsonl'}"))
    assert done.returncode == 1 and "mmdyn: a failure scripted in" in done.stderr


@pytest.mark.slow
def test_a_rank_that_cannot_ask_tells_the_first_one(source: SampleSet, tmp_path: Path) -> None:
    lines = [{"match": "Question 7:", "error": "fatal"}, {"match": "", "reply": "Answer: B"}]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    arguments = command(source, tmp_path / "run", model=f"scripted:{tmp_path / 's.jsonl'}")
    second, first = start(arguments, 1), start(arguments, 0)
    _, said = first.communicate(timeout=240)
    second.kill()  # where rank 0 had the bad one itself and ended before this one looked, it waits for another rank 0
    second.communicate()
    assert first.returncode == 2, said
    assert "a failure scripted in" in said and "Traceback" not in said


@pytest.mark.slow
def test_a_limit_stops_each_rank_and_keeps_what_was_answered(source: SampleSet, tmp_path: Path) -> None:
    with serve(latency=0.2) as server:
        model = f"openai:fake,base_url={server.url}"
        done = torchrun(command(source, tmp_path / "run", "--max-requests", "20", "--concurrency", "4", model=model))
        assert done.returncode == 1 and "exitcode  : 3" in done.stderr, done.stderr
        assert sum(server.stats.requests.values()) == 20
    assert answered(tmp_path / "run") == 20


@pytest.mark.slow
@pytest.mark.parametrize("sooner", [0, 1])
def test_a_rank_at_its_limit_stays_until_all_have_ended(source: SampleSet, tmp_path: Path, sooner: int) -> None:
    with serve(latency=0.5) as server:
        model = f"openai:fake,base_url={server.url}"
        arguments = command(source, tmp_path / "run", "--max-requests", "12", model=model)
        both = [start([*arguments, "--concurrency", "6" if rank == sooner else "1"], rank) for rank in (0, 1)]
        later = Ranks(1 - sooner, 2).writer
        wait_until(
            lambda: by_writer(tmp_path / "run", later) == 6, both[sooner]
        )  # one that left ends what is in flight
        said = [rank.communicate(timeout=240)[1] for rank in both]
        assert [rank.returncode for rank in both] == [3, 3], said
        sentence = "mmdyn: stopped at --max-requests 12, of which this process has 6: 6 requests by this call; 6 of 30"
        assert all(sentence in one for one in said), said
        assert sum(server.stats.requests.values()) == answered(tmp_path / "run") == 12


@pytest.mark.slow
def test_a_rank_at_work_is_waited_for_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ranks, "time", clock := Clock())
    with Store(tmp_path / "records", "rank-1"):
        Ranks(0, 2).wait_for(1, tmp_path / "records", lambda: clock.now > 10 * ranks.NOTE_SECONDS)
    assert capsys.readouterr().err == "waiting for rank 1, which is at work\n"


@pytest.mark.slow
def test_variants_keep_their_limit(source: SampleSet, tmp_path: Path) -> None:
    options: Any = {"ops": "shuffle", "quiet": True}
    run = evaluated(source, "baseline:lexical", tmp_path / "run", n=4, **options)
    said = "/run holds variants of .* made with --limit 4, which cannot change where --ops makes them: give --limit 4 again, or"
    with pytest.raises(UserError, match=said):
        evaluated(source, "baseline:lexical", tmp_path / "run", n=8, **options)
    assert contents(evaluated(source, "baseline:lexical", tmp_path / "run", n=4, **options)) == contents(run)
