"""Several models compared pair by pair: which pairs, one board of them, how it goes on and grows, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run.making_answers import Say, answered, question, replied
from serving import serve
from shell import mmdyn
from tables.making_runs import write_run

from mmdyn.errors import Stopped, UserError
from mmdyn.record import Reply
from mmdyn.run import Comparison, compare
from mmdyn.run.verdicts import PAIRS, LeftOut, Side
from mmdyn.scoring.pairwise import pair_sheet

MODELS = ("ma", "mb", "mc", "md")
TEXTS = {model: {f"q{n}": f"{model} {n}" for n in range(9)} for model in MODELS}


def better(id: str, one: str, other: str) -> int:
    """The better model wins, by the order of MODELS, but for questions that 3 divides, which are a tie."""
    return 0 if int(id[1:]) % 3 == 0 else 1 + (one > other)


def judging(file: Path, say: Say = better, texts: Mapping[str, Mapping[str, str]] = TEXTS) -> str:
    """The scripted MODEL that says so of every two replies to a question, in both orders."""
    lines = list[dict[str, str]]()
    for id in dict.fromkeys(id for said in texts.values() for id in said):
        for one, other in permutations([said[id] for said in texts.values() if id in said], 2):
            code = pair_sheet(question(id), one, other).code
            lines.append(
                {"match": code, "reply": json.dumps({"code": code, "why": "so", "better": say(id, one, other)})}
            )
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return f"scripted:{file},max_tries=1"


def runs(folder: Path) -> list[Path]:
    """ma and mb in one run, mc and md in one each."""
    samples = [question(id) for id in TEXTS["ma"]]
    both = [replied(sample, TEXTS[model][sample.id], model=model) for model in ("ma", "mb") for sample in samples]
    write_run(folder / "rab", both, samples=samples)
    for model in ("mc", "md"):
        answered(folder / f"r{model[1]}", TEXTS[model], model=model)
    return [folder / name for name in ("rab", "rc", "rd")]


def compared(folder: Path, *, judge: str = "", given: list[Path] | None = None, out: str = "out", **more: Any) -> Comparison:  # fmt: skip
    judge = judge or judging(folder / "judge.jsonl")
    return compare(given or runs(folder), folder / out, judge, quiet=True, **more)


def told(found: Comparison, quantity: str, subset: str = "all") -> dict[str, float | None]:
    assert found.board
    rows = (row for row in found.board.rows if row.quantity == quantity and row.factors["subset"] == subset)
    return {row.factors["model"]: row.value for row in rows}


def met(found: Comparison) -> dict[tuple[str, str], float | None]:
    """How many pairs every two models have."""
    rows = (row for row in found.table.rows if row.quantity == "pairs")
    return {(row.factors["a"], row.factors["b"]): row.value for row in rows}


def lines(folder: Path, out: str = "out") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / out / PAIRS).read_text("utf-8").splitlines()]


def test_all_models_of_all_runs_meet_on_every_question(tmp_path: Path) -> None:
    found = compared(tmp_path)
    assert (found.a, found.b, found.more) == (Side("rab", "ma"), Side("rab", "mb"), (Side("rc", "mc"), Side("rd", "md")))  # fmt: skip
    assert told(found, "wins") == {"ma": 18, "mb": 12, "mc": 6, "md": 0}
    assert told(found, "losses") == {"ma": 0, "mb": 6, "mc": 12, "md": 18} and {*told(found, "ties").values()} == {9}
    assert told(found, "win rate") == pytest.approx({"ma": 5 / 6, "mb": 11 / 18, "mc": 7 / 18, "md": 1 / 6}, abs=1e-6)
    assert [*told(found, "elo")] == [*MODELS] and sum(value or 0 for value in told(found, "elo").values()) == pytest.approx(0, abs=1e-4)  # fmt: skip
    assert {*met(found).values()} == {9, 54} and len(met(found)) == 7
    assert (found.requests, found.failed, found.left_out) == (108, 0, LeftOut(0, 0, 0, 0, 0))
    kept = lines(tmp_path)
    assert len(kept) == 54 and {(line["model_a"], line["model_b"]) for line in kept} == met(found).keys() - {("all", "all")}  # fmt: skip
    assert all(line["preference"]["winner"] in ("a", "tie") for line in kept)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found


def test_against_a_reference_only_pairs_with_it_are_judged(tmp_path: Path) -> None:
    found = compared(tmp_path, reference="mc")
    assert met(found) == {("ma", "mc"): 9, ("mb", "mc"): 9, ("mc", "md"): 9, ("all", "all"): 27}
    assert (found.requests, found.reference) == (54, "mc")
    assert told(found, "elo")["mc"] == 0 and "mc" not in told(found, "win rate")
    assert told(found, "win rate") == pytest.approx({"ma": 5 / 6, "mb": 5 / 6, "md": 1 / 6}, abs=1e-6)
    every = compared(tmp_path)
    assert every.requests == 108, "the same folder goes on with all pairs, and asks nothing twice"
    two = compared(tmp_path, models=["ma", "mb"], reference="mb", given=[tmp_path / "rab"], out="two")
    assert two.board and told(two, "win rate") == pytest.approx({"ma": 5 / 6}, abs=1e-6)


def test_two_models_stay_as_they_are(tmp_path: Path) -> None:
    found = compared(tmp_path, models=["ma", "mc"])
    assert (found.board, found.more, found.reference) == (None, (), "")
    assert not {"board", "more", "reference"} & json.loads(msgspec.json.encode(found)).keys()
    kept = json.loads((tmp_path / "out" / "compare.json").read_text("utf-8"))
    assert kept.keys() == {"a", "b", "judge", "id", "identity", "schema"} and kept["schema"] == 1
    assert not {"model_a", "model_b"} & lines(tmp_path)[0].keys()


def test_a_folder_takes_more_models_and_asks_about_their_pairs_alone(tmp_path: Path) -> None:
    judging(tmp_path / "judge.jsonl")
    with serve(reply=str(tmp_path / "judge.jsonl")) as server:
        judge, given = f"openai:m,base_url={server.url}", runs(tmp_path)
        compared(tmp_path, judge=judge, given=given, models=["ma", "mc", "mb"], cache="none")
        assert server.stats.total == 54
        found = compared(tmp_path, judge=judge, given=given, models=["ma", "mc", "mb", "md"], cache="none")
        assert server.stats.total == found.requests == 108
        assert told(found, "wins") == told(compared(tmp_path, out="anew"), "wins")
        for models in (["ma", "mc", "mb"], ["ma", "mb", "mc", "md"]):
            with pytest.raises(UserError, match=r"holds a comparison of ma \(rab\) with mc \(rc\) and mb \(rab\) and md \(rd\): choose another -o"):  # fmt: skip
                compared(tmp_path, judge=judge, given=given, models=models)
        with pytest.raises(UserError, match="by another judge, or one set up otherwise"):
            compared(tmp_path, judge=judge, given=given, models=["ma", "mc", "mb", "md"], gold=False)
        assert server.stats.total == 108


def test_a_limit_takes_the_same_samples_for_every_pair(tmp_path: Path) -> None:
    """Those first that all models answered; a larger limit keeps those of a smaller one."""
    texts = TEXTS | {"md": {id: text for id, text in TEXTS["md"].items() if int(id[1:]) > 3}}
    given = runs(tmp_path)
    answered(tmp_path / "few", texts["md"], model="md")
    given[2] = tmp_path / "few"
    judge, taken = judging(tmp_path / "judge.jsonl", texts=texts), list[set[str]]()
    for limit in (2, 4, 7):
        found = compared(tmp_path, judge=judge, given=given, limit=limit, out=f"out{limit}")
        kept = lines(tmp_path, f"out{limit}")
        taken.append({line["sample"] for line in kept})
        assert len(taken[-1]) == limit and found.left_out.limit == 42 - len(kept)
        assert len(kept) == 6 * min(limit, 5) + 3 * max(limit - 5, 0)
    assert taken[0] < taken[1] < taken[2] and all(int(id[1:]) > 3 for id in taken[1])
    assert found.left_out.only_a == 12, "q0 to q3 have three pairs without md"


def test_pairs_that_are_missing_leave_a_board(tmp_path: Path) -> None:
    """md has no question with ma and mb, but with mc."""
    texts = {"ma": dict(list(TEXTS["ma"].items())[:6]), "mc": TEXTS["mc"], "md": dict(list(TEXTS["md"].items())[6:])}
    for model, said in texts.items():
        answered(tmp_path / model, said, model=model)
    given = [tmp_path / model for model in texts]
    found = compared(tmp_path, given=given)
    assert met(found) == {("ma", "mc"): 6, ("mc", "md"): 3, ("all", "all"): 9}
    elo = told(found, "elo")
    assert None not in elo.values() and [*elo] == ["ma", "mc", "md"]
    with pytest.raises(UserError, match=r"ma \(ma\) and md \(md\) have no pair of replies to one sample"):
        compared(tmp_path, given=given, reference="ma", out="no")
    apart = [tmp_path / "ma", tmp_path / "md", tmp_path / "far"]
    answered(tmp_path / "far", {"z": "x"}, model="mf")
    with pytest.raises(UserError, match=r"ma \(ma\) and md \(md\) and mf \(far\) have no pair of replies"):
        compared(tmp_path, given=apart, out="no")
    assert not (tmp_path / "no").exists()


def test_answers_that_failed_or_changed_are_counted_over_all_pairs(tmp_path: Path) -> None:
    given, samples = runs(tmp_path), [question(id) for id in TEXTS["md"]]
    records = [replied(sample, TEXTS["md"][sample.id], model="md") for sample in samples]
    records[1] = replied(samples[1], Reply(error="500"), model="md")
    records[2] = replied(question("q2", answer="Another."), "md 2", model="md")
    write_run(tmp_path / "rd2", records, samples=[*samples, question("q2", answer="Another.")])
    found = compared(tmp_path, given=[*given[:2], tmp_path / "rd2"])
    assert found.left_out == LeftOut(0, 0, changed=3, failed=3, limit=0) and met(found)["mc", "md"] == 7


def test_pairs_without_a_verdict_are_named_with_their_models(tmp_path: Path) -> None:
    judge = judging(tmp_path / "judge.jsonl", lambda id, *said: 7 if id == "q4" and said[0][:2] == "mb" else better(id, *said))  # fmt: skip
    found = compared(tmp_path, judge=judge)
    assert found.failed == 3 and {one.model for one in found.failures} == {"ma and mb", "mb and mc", "mb and md"}
    assert str(found.failures[0]).startswith("q4 of exam, ma and mb, standard: ")
    assert met(found)["all", "all"] == len(lines(tmp_path)) == 51


def test_a_limit_on_requests_stops_at_whole_questions_and_goes_on(tmp_path: Path) -> None:
    judging(tmp_path / "judge.jsonl")
    with serve(reply=str(tmp_path / "judge.jsonl")) as server:
        judge, given = f"openai:m,base_url={server.url}", runs(tmp_path)
        with pytest.raises(Stopped, match=r"stopped at --max-requests 24: .* 12 of 54 done, 42 left"):
            compared(tmp_path, judge=judge, given=given, max_requests=24, concurrency=1)
        found = compared(tmp_path, judge=judge, given=given)
        assert server.stats.total == 108 and met(found)["all", "all"] == 54
    order = [line["sample"] for line in lines(tmp_path)]
    assert all(len({*order[start : start + 6]}) == 1 for start in range(0, 54, 6)), "question by question"


def test_breakdowns_are_boards(tmp_path: Path) -> None:
    samples = [question(id, fields={"year": str(int(id[1:]) % 2)}) for id in TEXTS["ma"]]
    records = [replied(sample, TEXTS[m][sample.id], model=m, fields=sample.fields) for m in MODELS[:3] for sample in samples]  # fmt: skip
    run = write_run(tmp_path / "run", records, samples=samples).folder
    found = compared(tmp_path, given=[run], by=["year", "set"])
    assert told(found, "wins", "year 0") == {"ma": 6, "mb": 3, "mc": 0}
    assert told(found, "wins", "set exam") == told(found, "wins")
    assert {row.factors.get("subset") for row in found.table.rows} == {None}


@pytest.mark.parametrize(
    ("given", "more", "problem"),
    [
        (["rab", "rc", "again"], {}, r"^mc is in rc and in again, and a board has a model once: leave one of them out, or make one run of both with `mmdyn runs merge`$"),
        (["rab", "rc", "again"], {"models": ["mc", "ma"]}, r"^mc is in rc and in again"),
        (["rab", "rab", "rc"], {}, r"^ma \(rab\) is compared with itself"),
        (["rab", "rc", "rd"], {"models": ["ma", "mb", "ma"]}, r"^ma \(rab\) is compared with itself"),
        (["rab", "rc", "rd"], {"models": ["ma", "mx", "mc"]}, r"rab and .*rc and .*rd have no model 'mx'.*: they hold ma, mb, mc, md$"),
        (["rab"], {"models": ["ma", "mc", "mb"]}, r"rab has no model 'mc'.*: it holds ma, mb$"),
        (["rab", "rc", "rd"], {"models": ["ma"]}, "^--models names ma: give two or more$"),
        (["rab", "rc", "rd"], {"reference": "mx"}, r"^the reference 'mx' is not among the models.*: ma, mb, mc, md$"),
        (["rab", "rc", "rd"], {"models": ["ma", "mb", "mc"], "reference": "md"}, r"^the reference 'md' is not among the models"),
        (["rc", "again"], {"reference": "mc"}, r"^the reference 'mc' is twice among the models: mc, mc$"),
        (["rab", "rc", "rd"], {"by": ["subjct"]}, "no record has a field 'subjct'"),
        (["rab", "rc", "set"], {}, "set: no run.json in it"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, given: list[str], more: dict[str, Any], problem: str) -> None:
    runs(tmp_path)
    answered(tmp_path / "again", TEXTS["mc"], model="mc")
    (tmp_path / "set").mkdir()
    with pytest.raises(UserError, match=problem):
        compared(tmp_path, given=[tmp_path / name for name in given], **more)


def test_one_model_of_two_runs_is_two_sides(tmp_path: Path) -> None:
    answered(tmp_path / "x", TEXTS["ma"], model="m")
    answered(tmp_path / "y", TEXTS["mb"], model="m")
    found = compared(tmp_path, given=[tmp_path / "x", tmp_path / "y"], models=["m"])
    assert (found.a, found.b) == (Side("x", "m"), Side("y", "m"))
    assert [row.value for row in found.table.rows if row.quantity == "wins"] == [6]


def test_a_board_for_people_and_programs(tmp_path: Path) -> None:
    runs(tmp_path)
    judging(tmp_path / "judge.jsonl")
    words = ["compare", "rab", "rc", "rd", "--judge", "scripted:judge.jsonl", "-o", "out", "-q"]
    done = mmdyn(*words, "--reference", "mb", "--limit", "8", folder=tmp_path)
    shown = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert shown[0] == "models: ma (rab), mb (rab), mc (rc), md (rd)"
    assert " ".join(shown).count("400 points: odds of 10 to 1; mb: 0) and win rate against mb; a tie is half a win for each") == 1  # fmt: skip
    assert [line.split()[0] for line in shown if "1–4" in line] == ["ma", "mb", "mc", "md"]
    assert shown[-2] == "left out: 3 beyond --limit" and shown[-1].endswith("): 48 requests")
    found = json.loads(mmdyn(*words, "--json", folder=tmp_path).stdout)
    assert [row["factors"]["model"] for row in found["board"]["rows"] if row["quantity"] == "elo"] == [*MODELS]
    assert {row["quantity"] for row in found["board"]["rows"]} == {"rank", "elo", "win rate", "wins", "ties", "losses"}
    assert [side["model"] for side in (found["a"], found["b"], *found["more"])] == [*MODELS]
    refused = mmdyn(*words, "--reference", "mx", folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "") and refused.stderr.startswith("mmdyn: the reference 'mx' is not")  # fmt: skip
