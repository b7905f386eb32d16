"""Two runs compared pair by pair: which pairs, what comes of them, how it goes on, and mistakes."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run.making_answers import answered, judging, question, replied
from serving import hold, serve, wait_until
from shell import MMDYN, mmdyn
from tables.making_runs import write_run

from making import image_ref, open_ended, picture, write_set
from mmdyn.errors import InputError, Stopped, UserError
from mmdyn.record import Condition, Reply
from mmdyn.run import Comparison, compare
from mmdyn.run.verdicts import PAIRS, LeftOut, Side

A = {f"q{n}": f"good {n}" if n % 3 else f"bad {n}" for n in range(12)}
B = {f"q{n}": f"good, too, {n}" if n % 2 else f"bad, too, {n}" for n in range(12)}
"""a is good where 3 does not divide n, b where n is odd: a alone in 4, b alone in 2 (3 and 9), both or neither in 6."""


def fair(id: str, one: str, other: str) -> int:
    good = [text.startswith("good") for text in (one, other)]
    return 0 if good[0] == good[1] else 1 + good[1]


def runs(folder: Path) -> list[Path]:
    answered(folder / "ra", A, model="ma")
    answered(folder / "rb", B, model="mb")
    return [folder / "ra", folder / "rb"]


def compared(folder: Path, judge: str, *, given: list[Path] | None = None, out: str = "out", **more: Any) -> Comparison:
    return compare(given or runs(folder), folder / out, judge, quiet=True, **more)


def told(found: Comparison, subset: str = "all") -> dict[str, float | None]:
    """The figures of all pairs, or of a value of a breakdown."""
    return {row.quantity: row.value for row in found.table.rows if row.factors["subset"] == subset}


def counts(found: Comparison, *names: str) -> list[float | None]:
    return [told(found).get(name) for name in names]


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out" / PAIRS).read_text("utf-8").splitlines()]


def test_a_fair_judge(tmp_path: Path) -> None:
    found = compared(tmp_path, judging(tmp_path / "judge.jsonl", A, B, fair))
    assert (found.a, found.b) == (Side("ra", "ma"), Side("rb", "mb"))
    assert (found.left_out, found.failed) == (LeftOut(0, 0, 0, 0, 0), 0)
    assert counts(found, "pairs", "wins", "ties", "losses") == [12, 4, 6, 2] and found.table.rows[0].n == 12
    assert counts(found, "first", "second", "unsteady") == [0, 0, 0]
    assert (found.requests, found.judge) == (24, "scripted:judge.jsonl")
    winners = {line["sample"]: line["preference"]["winner"] for line in lines(tmp_path)}
    assert winners == {id: ["tie", "a", "b"][fair(id, A[id], B[id])] for id in A}
    (line,) = (line for line in lines(tmp_path) if line["sample"] == "q1")
    assert line["preference"]["orders"] == ["tie", "tie"] and line["preference"]["reason"] == "so"


def test_which_pairs_there_are(tmp_path: Path) -> None:
    samples = [question(f"q{n}") for n in range(6)]
    other = question("q3", answer="Another golden answer.")
    cot = Condition(style="cot")
    a = [replied(sample, "good", model="ma") for sample in samples[:5]]
    a += [replied(samples[0], "good", condition=cot, model="ma")]
    b = [replied(sample, "good", model="mb") for sample in (*samples[:2], other, samples[5])]
    b += [replied(samples[4], Reply(error="500"), model="mb"), replied(samples[0], "good", epoch=1, model="mb")]
    write_run(tmp_path / "ra", a, samples=samples)
    write_run(tmp_path / "rb", b, samples=[*samples, other])
    judge = judging(tmp_path / "judge.jsonl", {}, {}, fair)
    found = compared(tmp_path, judge, given=[tmp_path / "ra", tmp_path / "rb"])
    assert found.left_out == LeftOut(only_a=2, only_b=2, changed=1, failed=1, limit=0)
    assert (counts(found, "ties"), found.requests) == ([2], 0)


def test_two_models_of_one_run_and_breakdowns(tmp_path: Path) -> None:
    samples = [question(id, fields={"subject": "physics" if int(id[1:]) < 6 else "biology"}) for id in A]
    records = [replied(sample, texts[sample.id], model=name, fields=sample.fields) for name, texts in (("ma", A), ("mb", B), ("mc", B)) for sample in samples]  # fmt: skip
    run = write_run(tmp_path / "run", records, samples=samples).folder
    judge = judging(tmp_path / "judge.jsonl", A, B, fair)
    found = compared(tmp_path, judge, given=[run], models=["mb", "ma"], by=["subject", "variant"])
    assert counts(found, "wins", "losses") == [2, 4]
    sizes = {row.factors["subset"]: row.value for row in found.table.rows if row.quantity == "pairs"}
    assert sizes == {"all": 12, "subject biology": 6, "subject physics": 6, "variant standard": 12}
    same = compared(tmp_path, judge, given=[run], models=["mb", "mc"], out="same")
    assert (counts(same, "ties", "position bias"), same.requests) == ([12, None], 0)


def test_a_limit_takes_pairs_that_a_larger_one_keeps(tmp_path: Path) -> None:
    judge = judging(tmp_path / "judge.jsonl", A, B, fair)
    found = compared(tmp_path, judge, limit=5)
    some = {line["sample"] for line in lines(tmp_path)}
    assert (len(some), found.left_out.limit) == (5, 7) and some != {f"q{n}" for n in range(5)}
    compared(tmp_path, judge, limit=9)
    assert some < {line["sample"] for line in lines(tmp_path)}


def test_pairs_without_a_verdict_are_listed_and_asked_again(tmp_path: Path) -> None:
    broken = judging(tmp_path / "judge.jsonl", A, B, lambda id, one, other: 7 if id == "q4" else fair(id, one, other))
    found = compared(tmp_path, broken)
    assert (found.failed, [one.sample for one in found.failures]) == (1, ["q4"])
    assert "scripted:judge.jsonl gave nothing usable in 2 tries" in found.failures[0].reason
    assert counts(found, "pairs") == [len(lines(tmp_path))] == [11]
    assert compared(tmp_path, broken).failed == 1


def test_the_golden_answer_and_pictures_are_shown_or_not(tmp_path: Path) -> None:
    data = picture()
    sample = open_ended("q", images=(image_ref(data),))
    for name in "ab":
        write_run(tmp_path / name, [replied(sample, name, model=name)], samples=[sample])
        write_set(tmp_path / name / "sets" / "exam", [sample], "exam", images=[data])
    reply = tmp_path / "judge.jsonl"
    reply.write_text('{"reply": "no verdict"}')
    with serve(reply=str(reply)) as server:
        for gold, pictures, out in ((True, False, "x"), (False, True, "y")):
            model = f"openai:m,base_url={server.url}"
            given = [tmp_path / "a", tmp_path / "b"]
            assert compared(tmp_path, model, given=given, out=out, gold=gold, pictures=pictures).failed == 1
            assert bool(server.stats.images) is pictures


@pytest.mark.slow
@pytest.mark.parametrize(("how", "status", "twice"), [(signal.SIGKILL, -9, 4), (signal.SIGINT, 130, 0)])
def test_what_was_paid_for_is_not_paid_again(how: signal.Signals, status: int, twice: int, tmp_path: Path) -> None:
    """Killed in the middle and begun again, only what was in flight can be asked twice; interrupted, that comes in,
    too."""
    many_a, many_b = ({f"q{n}": f"{side} {n}" for n in range(60)} for side in ("good", "bad"))
    answered(tmp_path / "ra", many_a, model="ma")
    answered(tmp_path / "rb", many_b, model="mb")
    judging(tmp_path / "judge.jsonl", many_a, many_b, fair)
    with hold(16, reply=str(tmp_path / "judge.jsonl")) as server:
        words = ["compare", "ra", "rb", "--judge", f"openai:m,base_url={server.url}"]
        words += ["-o", "out", "--concurrency", "4", "--json", "-q"]
        process = subprocess.Popen([*MMDYN, *words], cwd=tmp_path, stdout=subprocess.DEVNULL)
        wait_until(lambda: server.stats.in_flight == 4 and server.stats.total == 20, process)
        process.send_signal(how)
        if how == signal.SIGKILL:
            wait_until(lambda: not server.stats.in_flight)
        server.let_all()
        assert process.wait(240) == status and 20 <= server.stats.total < 120
        done, again = (mmdyn(*words, folder=tmp_path).stdout for _ in range(2))
        wins = [row["value"] for row in json.loads(done)["table"]["rows"] if row["quantity"] == "wins"]
        assert wins == [60] and again == done
        assert server.stats.total == 120 + twice


def test_a_limit_on_requests_stops_and_the_same_call_goes_on(tmp_path: Path) -> None:
    judging(tmp_path / "judge.jsonl", A, B, fair)
    with serve(reply=str(tmp_path / "judge.jsonl")) as server:
        model, given = f"openai:m,base_url={server.url}", runs(tmp_path)
        said = r"stopped at --max-requests 10: 10 requests by this call; \d of 12 done, \d+ left"
        with pytest.raises(Stopped, match=said):
            compared(tmp_path, model, given=given, max_requests=10, concurrency=2)
        found = compared(tmp_path, model, given=given)
        assert counts(found, "pairs") == [12] and server.stats.total == 24


@pytest.mark.parametrize(
    ("given", "more", "problem"),
    [
        (["ra"], {}, r"ra holds ma: name RUN_B, too$"),
        (["two"], {"models": ["m1"]}, "--models names m1: give two or more"),
        (["ra", "rb"], {"models": ["mb", "ma"]}, r"ra has no model 'mb': it holds ma"),
        (["two"], {"models": ["m1", "m1"]}, r"m1 \(two\) is compared with itself"),
        (["ra", "ra"], {}, r"ma \(ra\) is compared with itself"),
        (["ra", "nowhere"], {}, "nowhere: no such file or folder"),
        (["ra", "far"], {}, r"ma \(ra\) and mf \(far\) have no pair of replies"),
        (["ra", "rb"], {"by": ["subjct"]}, "no record has a field 'subjct': break down by chain, context"),
        (["ra", "rb"], {"votes": 2}, "2 votes can tie"),
        (["ra", "rb"], {"votes": 3}, "would vote alike"),
        (["ra", "rb"], {"out": "ra"}, "ra is a run or a set: choose another folder"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, given: list[str], more: dict[str, Any], problem: str) -> None:
    runs(tmp_path)
    records = [replied(question("q1"), "x", model=name) for name in ("m1", "m2", "m3")]
    write_run(tmp_path / "two", records, samples=[question("q1")])
    answered(tmp_path / "far", {"z": "x"}, model="mf")
    judge = judging(tmp_path / "judge.jsonl", A, B, fair)
    with pytest.raises(UserError, match=problem):
        compared(tmp_path, judge, given=[tmp_path / name for name in given], **more)


def test_another_comparison_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    judge = judging(tmp_path / "judge.jsonl", A, B, fair)
    compared(tmp_path, judge)
    given = [tmp_path / "ra", tmp_path / "rb"]
    with pytest.raises(UserError, match=r"holds a comparison of ma \(ra\) with mb \(rb\): choose another -o"):
        compared(tmp_path, judge, given=given[::-1])
    with pytest.raises(UserError, match=r"mb \(rb\) by another judge, or one set up otherwise: choose another -o"):
        compared(tmp_path, judge, given=given, gold=False)
    (tmp_path / "out" / "compare.json").write_text("{")
    with pytest.raises(InputError, match=r"compare\.json: not valid JSON"):
        compared(tmp_path, judge, given=given)


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    answered(tmp_path / "x" / "run", A)
    answered(tmp_path / "y" / "run", B)
    given = [tmp_path / "x" / "run", tmp_path / "y" / "run"]
    found = compared(tmp_path, judging(tmp_path / "judge.jsonl", A, B, fair), given=given)
    assert [found.a.run, found.b.run] == [str(folder) for folder in given]


def test_a_sample_that_the_store_has_lost(tmp_path: Path) -> None:
    write_run(tmp_path / "ra", [replied(question("q1"), "x", model="ma")], keep_samples=False)
    answered(tmp_path / "rb", {"q1": "y"}, model="mb")
    with pytest.raises(InputError, match="the store has lost the sample q1: run the evaluation again"):
        compared(tmp_path, judging(tmp_path / "judge.jsonl", A, B, fair), given=[tmp_path / "ra", tmp_path / "rb"])


def test_what_is_kept_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """compare.json says who compared what, and no key of a judge's is in it."""
    judging(tmp_path / "judge.jsonl", A, B, fair)
    with serve(reply=str(tmp_path / "judge.jsonl"), key="sk-secret") as server:
        monkeypatch.setenv("JUDGE_KEY", "sk-secret")
        found = compared(tmp_path, f"openai:m,base_url={server.url},api_key_env=JUDGE_KEY", limit=2)
    kept = (tmp_path / "out" / "compare.json").read_text("utf-8")
    assert "sk-secret" not in kept and json.loads(kept)["id"] == found.id
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found
