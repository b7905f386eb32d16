"""The judge step: what is thrown out, drawn again, kept or failed (MDK12-Bench, "Evaluation Methods").

"A GPT-based judge checks whether dynamic text or image alterations alter the meaning of the original question or answer
and removes samples with significant changes."
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from making_sets import make_set, tree
from serving import hold, script, scripted, serve, wait_until

from making import blank, choice, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import ModelError
from mmdyn.keys import Json
from perturb import Services, pairs, perturb
from perturb.audit.pairs import shown_to_judge


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def says(same: bool, confidence: float = 0.9, reason: str = "as scripted") -> str:
    return json.dumps({"same": same, "confidence": confidence, "reason": reason})


def shuffled(tmp_path: Path, judge: str, **more: object) -> SampleSet:
    source = write_set(tmp_path / "source", [choice("q1"), choice("q2", question="What is 2 + 1?")])
    return perturb(source, tmp_path / "out", ops="shuffle", seed=1, judge=judge, quiet=True, **more)  # type: ignore[arg-type]


def test_what_the_judge_accepts_is_kept_with_its_verdict(tmp_path: Path) -> None:
    dynamic = shuffled(tmp_path, scripted(tmp_path, {"reply": says(True, 0.8, "the same")}))
    assert dynamic.manifest.counts == {"samples": 2, "kept": 2}
    for sample in dynamic:
        assert sample.variant is not None
        verdict = sample.variant.verdict
        assert (verdict.status, verdict.by, verdict.reason, verdict.confidence) == (
            "kept", "scripted:replies.jsonl", "the same", 0.8,
        )  # fmt: skip
    made = dynamic.manifest.made
    assert (made["votes"], made["redraws"]) == (1, 3)
    identity = made["judge"]
    assert isinstance(identity, dict) and identity["model"]


def test_what_cannot_turn_out_otherwise_is_judged_and_told_once(tmp_path: Path) -> None:
    numbers = ("1", "2", "3", "4")
    source = write_set(tmp_path / "source", [choice("q1", texts=numbers), choice("q2", "C", numbers)])
    judge = scripted(tmp_path, {"reply": says(False, 0.7, "another gold")})
    dynamic = perturb(source, tmp_path / "out", ops="convert:blank", draws=2, seed=1, judge=judge, quiet=True)
    assert dynamic.manifest.counts == {"samples": 0, "rejected": 4}
    assert [(drop.parent, drop.draw, drop.attempt, drop.reason) for drop in dynamic.dropped()] == [
        (parent, draw, 3, "another gold") for parent in ("q1", "q2") for draw in (0, 1)
    ]


def test_what_it_rejects_is_drawn_again_and_then_dropped_whole(tmp_path: Path) -> None:
    dynamic = shuffled(tmp_path, scripted(tmp_path, {"reply": says(False, 0.7, "another gold")}), redraws=2)
    assert dynamic.manifest.counts == {"samples": 0, "redrawn": 4, "rejected": 2}
    dropped = list(dynamic.dropped())
    assert [(drop.parent, drop.attempt, drop.status) for drop in dropped] == [
        (parent, attempt, "rejected" if attempt == 2 else "redrawn") for parent in ("q1", "q2") for attempt in range(3)
    ]
    assert len({json.dumps(drop.steps[0].params) for drop in dropped[:3]}) > 1, "another attempt is another draw"
    for drop in dropped:
        assert drop.reason == "another gold" and drop.sample is not None and drop.sample.variant is not None
        assert drop.sample.variant.verdict.status == "rejected" and drop.sample.variant.attempt == drop.attempt


def test_the_first_attempt_that_is_accepted_counts(tmp_path: Path) -> None:
    plain = {sample.id: sample for sample in shuffled(tmp_path / "plain", "")}
    first = [option.text for option in plain["q1~shuffle~0"].options]
    match = "\n".join(f"{label}. {text}" for label, text in zip("ABCD", first, strict=True))
    dynamic = shuffled(tmp_path, scripted(tmp_path, {"match": match, "reply": says(False)}, {"reply": says(True)}))
    assert dynamic.manifest.counts["samples"] == 2
    kept = {sample.id: sample for sample in dynamic}
    trail = kept["q1~shuffle~0"].variant
    assert trail is not None and trail.attempt >= 1
    assert [option.text for option in kept["q1~shuffle~0"].options] != first
    assert [drop.status for drop in dynamic.dropped() if drop.parent == "q1"] == ["redrawn"] * trail.attempt


def test_drawing_again_is_no_use_where_nothing_is_random(tmp_path: Path) -> None:
    source = make_set(tmp_path / "source")
    judge = scripted(tmp_path, {"reply": says(False)})
    dynamic = perturb(source, tmp_path / "out", ops="invert", judge=judge, quiet=True)
    assert "redrawn" not in dynamic.manifest.counts and dynamic.manifest.counts["rejected"] == 10


def test_the_subsets_of_a_factorial_keep_their_shared_draws(tmp_path: Path) -> None:
    judge = scripted(tmp_path, {"reply": says(False)})
    source = make_set(tmp_path / "source")
    dynamic = perturb(source, tmp_path / "out", ops="pad,shuffle", factorial=True, judge=judge, quiet=True)
    assert {drop.attempt for drop in dynamic.dropped()} == {0} and dynamic.manifest.made["factorial"] is True


def test_a_factorial_draws_each_operator_once(tmp_path: Path) -> None:
    source = make_set(tmp_path / "source")
    dynamic = perturb(source, tmp_path / "out", ops="pad,salt_pepper,shuffle", factorial=True, draws=2, quiet=True)
    drawn: dict[tuple[str, int, str], list[dict[str, Json]]] = {}
    for sample in dynamic:
        assert sample.variant is not None
        for step in sample.variant.steps:
            drawn.setdefault((sample.parent, sample.variant.draw, step.operator), []).append(step.params)
    assert Counter(len(params) for params in drawn.values())[4] > 20
    assert all(params == params_of[0] for params_of in drawn.values() for params in params_of)
    pads = [params[0]["left"] for (_, draw, operator), params in drawn.items() if operator == "image.pad" and draw == 0]
    assert len(set(pads)) == len(pads)


def test_no_verdict_is_a_failure_and_no_verdict_is_invented(tmp_path: Path) -> None:
    lines = [{"match": "2 + 1", "reply": "I would say it is fine."}, {"reply": says(True)}]
    dynamic = shuffled(tmp_path, scripted(tmp_path, *lines))
    assert dynamic.manifest.counts == {"samples": 1, "kept": 1, "failed": 1}
    (failed,) = dynamic.dropped()
    assert failed.parent == "q2" and "gave nothing usable in 3 tries" in failed.reason


def test_a_judge_that_cannot_be_asked_stops_everything_and_the_work_goes_on_later(tmp_path: Path) -> None:
    source = write_set(tmp_path / "source", [choice(f"q{n}") for n in range(30)])
    settings = {"ops": "shuffle", "seed": 1, "quiet": True}
    with serve(reply=str(script(tmp_path, says(True))), key="sk-right") as server:
        judge = f"openai:m,base_url={server.url},api_key_env=JUDGE_KEY"
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("JUDGE_KEY", "sk-wrong-secret")
            with pytest.raises(ModelError) as stopped:
                perturb(source, tmp_path / "out", judge=judge, **settings)  # type: ignore[arg-type]
            assert "sk-wrong" not in str(stopped.value)
            assert not (tmp_path / "out" / "set.json").exists()
            environment.setenv("JUDGE_KEY", "sk-right")
            dynamic = perturb(source, tmp_path / "out", judge=judge, **settings)  # type: ignore[arg-type]
    assert dynamic.manifest.counts == {"samples": 30, "kept": 30}
    written = b"".join(tree(tmp_path / "out").values())
    assert b"sk-right" not in written and b"sk-wrong" not in written


def test_many_variants_are_judged_at_a_time_and_none_twice(tmp_path: Path) -> None:
    source = write_set(tmp_path / "source", [blank(f"q{n}", question=f"{n} + 1 is ____.") for n in range(60)])
    with hold(reply=str(script(tmp_path, says(True)))) as server, ThreadPoolExecutor(1) as pool:
        judge = f"openai:m,base_url={server.url}"
        settings = {"ops": "paraphrase,substitute,convert", "judge": judge, "concurrency": 16, "quiet": True}
        perturbing = pool.submit(perturb, source, tmp_path / "out", **settings)  # type: ignore[arg-type]
        wait_until(lambda: server.stats.in_flight == 16 or perturbing.done())
        server.let_all()
        dynamic = perturbing.result(240)
        assert server.stats.max_in_flight == 16
        asked = server.stats.total
        assert asked >= dynamic.manifest.counts["kept"]
        again = perturb(source, tmp_path / "again", **settings)  # type: ignore[arg-type]
        assert server.stats.total == 2 * asked, "each answer once for each set"
    assert tree(again.folder) == tree(dynamic.folder)


def test_the_judge_looks_at_pictures_without_their_noise(tmp_path: Path) -> None:
    """Noise hides what it would compare; pixels that are the parent's, framed and inverted, pass without any doubt."""
    source = make_set(tmp_path / "source")
    chains = (
        "salt_pepper@strong,salt_pepper@strong+pad+invert,pad+salt_pepper@strong+invert,pad+invert+salt_pepper@strong"
    )
    dynamic = perturb(source, tmp_path / "out", ops=chains, judge="embedded", redraws=0, quiet=True)
    assert dynamic.manifest.counts["kept"] == 40 and "rejected" not in dynamic.manifest.counts
    services = Services()
    for pair in pairs(dynamic, source):
        for look in shown_to_judge(pair, source, dynamic, services).looks:
            height, width = look.before.pixels.shape[:2]
            clean = look.after.pixels
            if pair.after.variant is not None and pair.after.variant.chain == "salt_pepper@strong":
                assert np.array_equal(clean, look.before.pixels)
            assert clean.shape[0] >= height and clean.shape[1] >= width


def test_interrupted_while_a_judge_is_waited_for(tmp_path: Path) -> None:
    source = write_set(tmp_path / "source", [choice(f"q{n}", question=f"What is {n} + 1?") for n in range(60)])
    out = tmp_path / "out"
    with serve(reply=str(script(tmp_path, says(True))), latency=600) as server:
        judge = f"openai:m,base_url={server.url}"
        command = [sys.executable, "-m", "mmdyn", "perturb", str(source.folder), "-o", str(out), "--ops", "shuffle"]
        process = subprocess.Popen([*command, "--judge", judge], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: server.stats.in_flight == 32, process)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=240)[1]
    assert process.returncode == 130, said
    assert "interrupted; what was done is saved" in said and not (out / "set.json").exists()
