"""Judging by launched ranks and beside a Ray cluster, and answers that talk to the judge of a whole run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from judged_runs import values, verdicts
from making_judged_runs import judged_line, scripted
from making_judges import judged_by
from run.tools import tools_for
from running import QUIET
from serving import bare_environment as bare_environment, script, serve
from test_judge_injection import ATTACKS, obedient

from making import open_ended, write_set
from mmdyn.data import SampleSet
from mmdyn.models import open_model
from mmdyn.run import ConditionSpec, ScoringConfig, evaluate
from mmdyn.run.ask_all import ask_all
from mmdyn.run.plan import plan
from mmdyn.scoring import Cascade, Scorer
from mmdyn.work import ProgressBar, Reader, RunFolder, Store, judged_kind, score_kind

pytestmark = pytest.mark.usefixtures("bare_environment")

SAMPLES = [open_ended(f"q{n}", question=f"Question {n}?") for n in range(20)]
MARKS = {sample.id: place % 5 / 4 for place, sample in enumerate(SAMPLES)}


def prepared(folder: Path) -> tuple[SampleSet, str, list[dict[str, str]]]:
    """A set, a model that says one thing, and the lines of a judge on it."""
    opened = write_set(folder / "set", SAMPLES)
    asked = scripted(folder / "m.jsonl", {"match": "", "reply": "Perhaps."})
    return opened, asked, [judged_line(sample, "Perhaps.", MARKS[sample.id]) for sample in SAMPLES]


def eval_command(opened: SampleSet, asked: str, judged: str, out: Path, *more: str) -> list[str]:
    arguments = ["eval", str(opened.folder), "-m", asked, "-o", str(out), "--judge", judged, *more]
    return [sys.executable, "-m", "mmdyn", *arguments]


def two_ranks(*commands: list[str]) -> tuple[list[int], list[str]]:
    """Exit statuses, and what was said, of a rank a command."""
    ranks = [
        subprocess.Popen(command, env={**os.environ, "RANK": rank, "WORLD_SIZE": "2"}, stderr=subprocess.PIPE)
        for rank, command in zip("01", commands, strict=True)
    ]
    said = [rank.communicate(timeout=240)[1].decode() for rank in ranks]
    return [rank.returncode for rank in ranks], said


@pytest.mark.slow
def test_each_rank_has_its_own_answers_judged(tmp_path: Path) -> None:
    opened, asked, lines = prepared(tmp_path)
    with serve(reply=str(script(tmp_path, *lines)), latency=0.05) as server:
        command = eval_command(opened, asked, f"openai:j,base_url={server.url}", tmp_path / "run", "--cache", "none")
        ended, said = two_ranks(command, command)
        assert ended == [0, 0], said
        assert server.stats.total == 20, "a rank had another's answers judged, or left its own"
    run = RunFolder(tmp_path / "run")
    assert values(run) == MARKS and set(verdicts(run)) == set(MARKS)
    writers = {"main", "rank-1"}
    shares = [tmp_path / "run" / "records" / f"{writer}.sqlite" for writer in writers]
    assert all(judged_kind(run.config.judges[0].id).encode() in share.read_bytes() for share in shares)


@pytest.mark.slow
def test_ranks_with_different_judges_are_told(tmp_path: Path) -> None:
    opened, asked, lines = prepared(tmp_path)
    other = scripted(tmp_path / "other.jsonl", *reversed(lines))
    judges = scripted(tmp_path / "one.jsonl", *lines), other
    ended, said = two_ranks(*(eval_command(opened, asked, judged, tmp_path / "run") for judged in judges))
    assert ended == [2, 2]
    assert all("this rank was given another task than rank 0: start every rank with the same" in one for one in said)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_beside_a_ray_cluster_this_process_judges(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    opened, asked, lines = prepared(tmp_path)
    judged = scripted(tmp_path / "judge.jsonl", *lines)
    command = eval_command(opened, asked, judged, tmp_path / "run", "--executor", "ray,local,gpus=0")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert values(tmp_path / "run") == MARKS


async def test_an_answer_that_talks_to_the_judge_changes_nothing(tmp_path: Path) -> None:
    """The judge does what it is told outside of the delimiters, and gives nothing where nobody tells it anything."""
    texts = {f"q{place}": text for place, text in enumerate(ATTACKS.values()) if "\ud800" not in text}
    samples = [open_ended(id, question=f"Question {id}?") for id in texts]
    opened = write_set(tmp_path / "set", samples)
    lines = [{"match": f"Question {id}?", "reply": text} for id, text in texts.items()]
    judge, told = judged_by(obedient)
    with Store(tmp_path / "run" / "records") as store, ProgressBar("asking", quiet=True) as progress:
        model = open_model(scripted(tmp_path / "m.jsonl", *lines))
        tools = tools_for(opened, store, progress, model, Cascade(Scorer(), [judge]))
        grader = tools.grader
        await ask_all(plan([opened], [ConditionSpec(["standard"], styles=["direct"]).conditions()], 1, {}), tools)
    assert len(told.asked) == len(texts) == grader.counts.judged and grader.counts.failed == 0
    with Reader(tmp_path / "run" / "records") as reader:
        found = [value for _, value in reader.items(score_kind(grader.cascades[0].name))]
    assert len(found) == len(texts) and all(b'"value":0.0' in value for value in found)


def test_the_rest_of_a_run_is_as_without_judges(tmp_path: Path) -> None:
    opened, asked, lines = prepared(tmp_path)
    plain = evaluate(opened, asked, tmp_path / "plain", execution=QUIET)
    scoring = ScoringConfig(judges=scripted(tmp_path / "j.jsonl", *lines))
    judged = evaluate(opened, asked, tmp_path / "judged", scoring=scoring, execution=QUIET)
    for kind in ("sample", score_kind(plain.config.scorer)):
        with Reader(plain.records_folder) as one, Reader(judged.records_folder) as other:
            assert [*one.items(kind)] == [*other.items(kind)] and any(one.items(kind))
