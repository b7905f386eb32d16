"""`mmdyn score`: what a change touches is scored and judged again, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from judged_runs import run_of, values, wrong
from making_judged_runs import CHEAP, RULES, judge, judge_lines, judged_line, lines_on, scripted
from making_judges import code_of, judged_by, marks
from run.making_answers import replied
from running import QUIET, typed
from serving import bare_environment as bare_environment, script, serve
from tables.making_runs import write_run

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.errors import Busy, Stopped
from mmdyn.models import RejectedError
from mmdyn.models.asker import REFUSALS
from mmdyn.plugins import load
from mmdyn.record import Reply, Score
from mmdyn.run import Execution, Limits, ScoringConfig, evaluate, score
from mmdyn.run.grader import Grader
from mmdyn.sample import Sample
from mmdyn.scoring import Cascade, Scorer
from mmdyn.scoring.scorer import SCORING_VERSION
from mmdyn.work import RunFolder, Store

pytestmark = pytest.mark.usefixtures("bare_environment")

UNCACHED = Execution(cache="none", quiet=True)


def test_only_what_is_not_judged_is_judged_and_changes_are_shown(tmp_path: Path) -> None:
    run_of(tmp_path)
    with serve(reply=str(script(tmp_path, *judge_lines(CHEAP)))) as server:
        cheap = ["--judge", f"openai:cheap,base_url={server.url}", "--judge-mode", "wrong", "--cache", "none"]
        done = typed("score", tmp_path / "run", *cheap)
        assert done.exit_code == 0 and server.stats.total == 3, done.output
        assert sorted(done.stdout.splitlines()) == [
            "scripted:model.jsonl  ice  standard: 0.000 -> 1.000",
            "scripted:model.jsonl  primes  standard: 0.500 -> 0.000",
            "scripted:model.jsonl  sea  standard: 0.000 -> 0.250",
        ]
        (judge,) = RunFolder(tmp_path / "run").config.judges
        assert judge.name == f"openai:cheap, auto ({judge.id})"
        assert f"3 scores changed; mdk12, judge {judge.name} is in force now" in done.stderr
        assert "3 verdicts by 3 requests to judges; 2 verdicts were not needed, or known before" in done.stderr
        done = typed("score", tmp_path / "run", *cheap)
        assert done.stdout == "" and "0 verdicts by 0 requests to judges; 5 verdicts were not needed" in done.stderr
        done = typed("score", tmp_path / "run", "--policy", "strict", *cheap)
        assert done.stdout == "" and "0 verdicts by 0 requests" in done.stderr, "verdicts stand under any policy"
        assert server.stats.total == 3 and RunFolder(tmp_path / "run").config.active_scores.rules.startswith("strict@")
        done = typed("score", tmp_path / "run", *cheap, "--rubric", "votes=3")
        assert server.stats.total == 12 and "3 verdicts by 9 requests" in done.stderr, "other votes are another judge"
        name = RunFolder(tmp_path / "run").config.judges[0].name
        assert name.startswith("openai:cheap, auto, 3 votes (")
        done = typed("score", tmp_path / "run")
        assert values(tmp_path / "run") == RULES | {"primes": 0.0} and "strict is in force now" in done.stderr
        assert f"scored by rules alone; give --judge for the verdicts of {name}, which are kept" in done.stderr


def test_a_changed_reading_asks_only_about_what_it_calls_wrong_now(tmp_path: Path) -> None:
    run = run_of(tmp_path, policy="mdk12_lenient")
    before = values(run)
    assert before == RULES | {"primes": 0.5}
    with serve(reply=str(script(tmp_path, *judge_lines({"sky": 0.5, "sides": 0.5, **CHEAP})))) as server:
        cheap = f"openai:cheap,base_url={server.url}"
        score(run, wrong(cheap), execution=UNCACHED)
        with Store(run.records_folder) as store:  # as if the rules were read otherwise, in which sky is wrong
            key = next(record.key for record in run.records() if record.sample == "sky")
            store.put(f"score:{Scorer('exam').name}", key, b'{"status":"ok","value":0.0}')
        changes = score(run, wrong(cheap, policy="exam"), execution=UNCACHED)
        assert [(one.sample, one.before, one.after) for one in changes] == [("sky", 1.0, 0.5)]
        assert server.stats.total == 4


def test_a_verdict_that_cannot_be_had_is_listed_and_asked_for_again_and_brings_all_changes(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    lines = judge_lines({"ice": 1.0, "primes": 0.0}) + lines_on("sea", error="transient")
    with serve(reply=str(script(tmp_path, *lines))) as server:
        cheap, port = f"openai:cheap,base_url={server.url},max_tries=1", int(server.url.split(":")[2].split("/")[0])
        command = ["score", run.folder, "--judge", cheap, "--judge-mode", "wrong"]
        done = typed(*command)
        assert done.exit_code == 1 and done.stdout == "" and "scores changed" not in done.stderr, done.output
        assert (
            f"gave no verdict on 1 of the 3 answers due: the scores in force stay those of mdk12@{SCORING_VERSION};"
            in done.stderr
        )
        assert "not judged: sea of small, scripted:model.jsonl, standard: openai:cheap did not answer" in done.stderr
        done = typed(*command)
        assert done.exit_code == 1 and "0 verdicts by 1 request to judges; 4 verdicts were not needed" in done.stderr
        assert values(run) == RULES
    with serve(port=port, reply=str(script(tmp_path, *judge_lines(CHEAP)))) as server:
        changes = {one.sample: (one.before, one.after) for one in score(run, wrong(cheap))}
        assert changes == {name: (RULES[name], value) for name, value in CHEAP.items()}
        assert score(run, wrong(cheap)) == [] and server.stats.total == 1


async def test_a_judge_that_gave_verdicts_before_is_not_given_up_for_what_it_refuses(tmp_path: Path) -> None:
    sample = open_ended("q")
    written = [replied(sample, "Perhaps.", model=f"m{number}", scored=False) for number in range(REFUSALS + 3)]
    run = write_run(tmp_path / "run", written, samples=[sample])

    async def graded(say: str | Exception) -> tuple[int, int]:
        judge, _ = judged_by(lambda prompt, _: marks(code_of(prompt), 0.5) if say == "half" else say)
        with Store(run.records_folder) as store:
            cascade = Cascade(Scorer(), [judge])
            grader = Grader(store, lambda root: cascade, [cascade])
            for one in written[:1] if say == "half" else written:
                await grader.grade(one.key, one.set, sample, one.reply)
            return grader.counts.judged, grader.counts.failed

    assert await graded("half") == (1, 0)
    assert await graded(RejectedError("not about this", perhaps_all=True)) == (0, REFUSALS + 2)


def test_a_limit_leaves_the_scores_of_before_in_force_and_the_same_call_goes_on(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    with serve(reply=str(script(tmp_path, *judge_lines(CHEAP)))) as server:
        scoring, two = wrong(f"openai:cheap,base_url={server.url}"), Limits(max_requests=2)
        with pytest.raises(Stopped, match="max-requests 2: 2 requests by this call; 1 to judge, and the same"):
            score(run, scoring, limits=two, execution=UNCACHED)
        assert values(run) == RULES
        assert len(score(run, scoring, limits=two, execution=UNCACHED)) == 3 and server.stats.total == 3
    with Store(run.records_folder), pytest.raises(Busy):
        score(run, wrong(judge(tmp_path, "cheap", CHEAP)))


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("verb", ["eval", "score"])
def test_stopped_in_the_middle_of_judging_nothing_is_paid_for_twice(tmp_path: Path, sent: int, verb: str) -> None:
    samples = [open_ended(f"q{n}", question=f"Question {n}?") for n in range(24)]
    opened = write_set(tmp_path / "set", samples)
    (tmp_path / "asked").mkdir()
    lines = [judged_line(sample, "Perhaps.", 0.5) for sample in samples]
    with (
        serve(reply=str(script(tmp_path / "asked", "Perhaps."))) as asked,
        serve(reply=str(script(tmp_path, *lines)), latency=0.2) as judged,
    ):
        models = f"openai:m,base_url={asked.url}", f"openai:j,base_url={judged.url},concurrency=4"
        command = [sys.executable, "-m", "mmdyn", "eval", "set", "-m", models[0], "-o", "run"]
        if verb == "score":
            evaluate(opened.folder, models[0], tmp_path / "run", execution=Execution(cache="none", quiet=True))
            command = [sys.executable, "-m", "mmdyn", "score", "run"]
        command += ["--judge", models[1], "--cache", "none"]
        going = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ})
        while judged.stats.by_outcome["200"] < 8:
            assert going.poll() is None
            time.sleep(0.02)
        going.send_signal(sent)
        _, said = going.communicate(timeout=240)
        assert going.returncode == (130 if sent == signal.SIGINT else -sent), said
        assert ("interrupted: waiting 10 s at most for 4 requests in flight" in said) is (sent == signal.SIGINT)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        assert asked.stats.total == 24 and set(values(tmp_path / "run").values()) == {0.5}
        assert judged.stats.asked_again <= (4 if sent == signal.SIGKILL else 0), "only what was in flight"
        assert judged.stats.total <= 32


def test_pictures_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    data = picture()
    sample = open_ended(images=(image_ref(data),))
    write_set(tmp_path / "set", [sample], images=[data])
    lines = list[dict[str, str]]()
    for shown in (False, True):
        code = load("rubrics", "match")().sheet(sample, "Perhaps.", shown).code
        lines.append({"match": code, "reply": marks(code, 0.5 if shown else 0.25)})
    asked = scripted(tmp_path / "m.jsonl", {"match": "", "reply": "Perhaps."})
    with serve(reply=str(script(tmp_path, *lines))) as server:
        judges = f"openai:j,base_url={server.url}"
        seeing = ScoringConfig(judges=judges, rubric="auto,pictures=true")
        run = evaluate(tmp_path / "set", asked, tmp_path / "run", scoring=seeing, execution=QUIET)
        assert values(run) == {sample.id: 0.5} and sum(server.stats.images.values()) == 1
        (change,) = score(run, ScoringConfig(judges=judges))
        assert (change.before, change.after) == (0.5, 0.25) and sum(server.stats.images.values()) == 1
        (change,) = score(run, seeing, execution=UNCACHED)
        assert change.after == 0.5 and server.stats.total == 2, "the verdict was known"


async def test_what_may_take_long_is_scored_beside_the_loop(tmp_path: Path) -> None:
    threads = dict[str, int]()

    class Watched(Scorer):
        def score(self, sample: Sample, reply: Reply) -> Score:
            threads[sample.task_type] = threading.get_ident()
            return super().score(sample, reply)

    with Store(tmp_path / "run" / "records") as store:
        cascade = Cascade(Watched())
        grader = Grader(store, lambda root: cascade, [cascade])
        for number, sample in enumerate((choice(), multi(), true_false(), blank(), open_ended())):
            await grader.grade(f"{number}", "", sample, Reply("Answer: B"))
    here = threading.get_ident()
    assert {kind for kind, thread in threads.items() if thread != here} == {"fill_in_the_blank", "open_ended"}
    assert len(threads) == 5
