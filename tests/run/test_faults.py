"""Asking through faults: every sample is answered, none otherwise than without them, and what is not answered is
said."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import msgspec
import pytest
from running import evaluated
from serving import serve
from shell import mmdyn

from making import choice, write_set
from mmdyn.errors import ModelError
from mmdyn.record import Record
from mmdyn.work import Reader, RunFolder

SAMPLES = 60
TOO_BUSY = "429=0.05,429@0.1=0.05,500=0.05,503=0.05"
BROKEN_BODIES = "truncate=0.04,cut=0.04,empty=0.04,blank=0.04,html=0.04"
BROKEN_CONNECTIONS = "drop=0.1,hang=0.05"


def make_set(folder: Path) -> Path:
    write_set(folder, [choice(f"q{number}", question=f"Question {number}?") for number in range(SAMPLES)])
    return folder


def plain(run: RunFolder) -> dict[str, Record]:
    """The records by sample, without what the address, the clock and the number of tries decide."""
    kept = {}
    for record in run.records():
        reply = msgspec.structs.replace(record.reply, seconds=0.0, attempts=1, made=0, cached=False)
        kept[record.sample] = msgspec.structs.replace(record, reply=reply, key="", request="")
    return kept


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    folder = tmp_path_factory.mktemp("undisturbed")
    with serve(reply="hashed") as server:
        return plain(ask(folder, server.url))


def ask(folder: Path, url: str, **options: object) -> RunFolder:
    written = "".join(f",{name}={value}" for name, value in options.items())
    model = f"openai:fake,base_url={url}{written}"
    return evaluated(make_set(folder / "set"), model, folder / "run", concurrency=16, cache="none")


@pytest.mark.parametrize("faults", [TOO_BUSY, BROKEN_BODIES, BROKEN_CONNECTIONS])
def test_answers_are_those_without_faults(tmp_path: Path, undisturbed: dict[str, Record], faults: str) -> None:
    with serve(reply="hashed", faults=faults, seed=1) as server:
        kept = plain(ask(tmp_path, server.url, timeout=3, max_tries=12))
    met = {kind.partition("=")[0].partition("@")[0] for kind in faults.split(",")}
    assert met <= server.stats.by_outcome.keys(), "the seed draws no request for one of the faults"
    assert kept == undisturbed and len(kept) == SAMPLES
    assert server.stats.asked_again == 0 and server.stats.by_outcome["200"] == SAMPLES
    scores = {record.score.value for record in kept.values() if record.score}
    assert scores == {0.0, 1.0}, "a server that is always right, or never, would hide a wrong score"


def test_what_retries_do_not_mend_the_next_run_does(tmp_path: Path, undisturbed: dict[str, Record]) -> None:
    make_set(tmp_path / "set")
    with serve(reply="hashed", faults="500=0.3,drop=0.3") as server:
        first = mmdyn_eval(tmp_path, server.url)
        asked, url = server.stats.total, server.url
    answered = {record.sample for record in RunFolder(tmp_path / "run").records() if not record.reply.error}
    with serve(reply="hashed", port=int(url.rpartition(":")[2].removesuffix("/v1"))) as server:
        second = mmdyn_eval(tmp_path, url)
        assert server.stats.total == SAMPLES - len(answered), "only what had failed was asked again"
    failed = SAMPLES - len(answered)
    assert 0 < failed < SAMPLES and asked <= 2 * SAMPLES
    assert first.returncode == 1 and "Traceback" not in first.stderr
    listed = [line for line in first.stderr.splitlines() if line.startswith("failed: q")]
    assert listed and not any(line.split()[1] in answered for line in listed)
    assert f"{failed} answers failed: left out of every number" in first.stdout
    (row,) = [line.split() for line in first.stdout.splitlines() if line.strip().startswith("standard")]
    assert str(len(answered)) in row and str(failed) in row, "coverage stands beside the score"
    assert second.returncode == 0 and "failed: q" not in second.stderr
    assert plain(RunFolder(tmp_path / "run")) == undisturbed


def test_a_failed_request_is_never_scored(tmp_path: Path) -> None:
    with serve(faults="500=0.5") as server:
        run = ask(tmp_path, server.url, max_tries=1)
    records = list(run.records())
    failed = [record for record in records if record.reply.error]
    assert len(records) == SAMPLES > len(failed) > 0
    assert {(record.score and record.score.status, record.score and record.score.value) for record in failed} == {("failed", None)}  # fmt: skip
    with Reader(run.records_folder) as reader:
        assert not {record.key for record in failed} & dict(reader.items("record")).keys()


def test_a_server_that_answers_nothing_ends_the_run_in_a_sentence(tmp_path: Path) -> None:
    with serve(faults="500=1") as server, pytest.raises(ModelError, match="has answered none of 10 questions"):
        ask(tmp_path, server.url, max_tries=1)


def mmdyn_eval(folder: Path, url: str) -> CompletedProcess[str]:
    model = f"openai:fake,base_url={url},max_tries=2"
    return mmdyn("eval", "set", "-m", model, "-o", "run", "--cache", "none", folder=folder)
