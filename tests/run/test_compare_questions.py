"""Two sets compared question by question: which pairs, what the judge is shown, and what comes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from serving import serve
from shell import mmdyn

from making import choice, image_ref, picture, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.run import Comparison, compare
from mmdyn.run.verdicts import PAIRS, LeftOut, pair_questions
from mmdyn.sample import Sample
from mmdyn.scoring.pairwise import question_sheet

HARD = [choice(f"h{n}", question=f"Prove {n} of it.") for n in range(6)]
EASY = [choice(f"e{n}", question=f"Name {n} of them.") for n in range(8)]


def sets(folder: Path) -> tuple[Path, Path]:
    return write_set(folder / "rbench", HARD, "rbench").folder, write_set(folder / "mmlu", EASY, "mmlu").folder


def script(file: Path, pairs: list[tuple[Sample, Sample]], say: Any) -> str:
    """The judge that says so of two questions; another number than 0, 1 and 2 is no verdict."""
    lines = list[dict[str, str]]()
    for one, other in (order for a, b in pairs for order in ((a, b), (b, a))):
        code = question_sheet(one, other).code
        verdict = {"code": code, "why": "so", "better": say(one, other)}
        lines.append({"match": code, "reply": json.dumps(verdict)})
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return f"scripted:{file},max_tries=1"


def harder(one: Sample, other: Sample) -> int:
    """Fair: what is to be proved takes more; of two that end alike neither does."""
    if one.id[1:] == other.id[1:]:
        return 0
    return 1 if one.id[0] == "h" else 2


def counts(found: Comparison, *names: str) -> list[float | None]:
    told = {row.quantity: row.value for row in found.table.rows if row.factors["subset"] == "all"}
    return [told.get(name) for name in names]


def test_a_fair_judge(tmp_path: Path) -> None:
    a, b = sets(tmp_path)
    pairs, left = pair_questions((SampleSet(a), SampleSet(b)), None)
    assert left == LeftOut(0, 2, 0, 0, 0) and len({other.id for _, other in pairs}) == 6
    ties = sum(one.id[1:] == other.id[1:] for one, other in pairs)
    found = compare([a, b], tmp_path / "out", script(tmp_path / "judge.jsonl", pairs, harder), quiet=True)
    assert (str(found.a), str(found.b)) == ("rbench", "mmlu")
    assert counts(found, "wins", "ties", "losses") == [6 - ties, ties, 0]
    assert (found.requests, found.left_out) == (12, left)
    again = compare([a, b], tmp_path / "out", f"scripted:{tmp_path}/judge.jsonl,max_tries=1", quiet=True)
    assert again.table == found.table


def test_a_judge_that_likes_a_place_decides_nothing(tmp_path: Path) -> None:
    a, b = sets(tmp_path)
    pairs, _ = pair_questions((SampleSet(a), SampleSet(b)), None)
    judge = script(tmp_path / "judge.jsonl", pairs, lambda one, other: 1)
    found = compare([a, b], tmp_path / "out", judge, quiet=True)
    assert counts(found, "ties", "first") == [6, 6]


def test_a_larger_limit_keeps_the_pairs_of_a_smaller_one(tmp_path: Path) -> None:
    a, b = (SampleSet(folder) for folder in sets(tmp_path))
    some, left = pair_questions((a, b), 4)
    every, _ = pair_questions((a, b), None)
    assert some == every[:4] and left.limit == 2
    assert [one.id for one, _ in every] != sorted(one.id for one, _ in every)


def test_equal_questions_are_a_tie_and_a_verdict_may_not_come(tmp_path: Path) -> None:
    a, b = sets(tmp_path)
    one = write_set(tmp_path / "one", HARD[:1], "one").folder
    two = write_set(tmp_path / "two", HARD[:1], "two").folder
    judge = script(tmp_path / "judge.jsonl", [], harder)
    alike = compare([one, two], tmp_path / "alike", judge, quiet=True)
    assert (counts(alike, "ties"), alike.requests) == ([1], 0)
    pairs, _ = pair_questions((SampleSet(a), SampleSet(b)), 2)
    broken = script(tmp_path / "broken.jsonl", pairs, lambda one, other: 7)
    none = compare([a, b], tmp_path / "none", broken, limit=2, quiet=True)
    assert none.table.rows == [] and none.failed == 2
    assert {failure.sample for failure in none.failures} == {f"{one.id} and {other.id}" for one, other in pairs}


def test_pictures_of_both_questions_are_shown(tmp_path: Path) -> None:
    red, blue = picture(60, 40), picture(50, 40)
    a = write_set(tmp_path / "a", [choice("a", images=(image_ref(red),))], "a", images=[red]).folder
    b = write_set(tmp_path / "b", [choice("b", question="What?", images=(image_ref(blue),))], "b", images=[blue]).folder
    (tmp_path / "judge.jsonl").write_text('{"reply": "no verdict"}')
    with serve(reply=str(tmp_path / "judge.jsonl")) as server:
        compare([a, b], tmp_path / "x", f"openai:m,base_url={server.url}", pictures=True, quiet=True)
        assert len({*server.stats.images}) == 2
        seen = len(server.stats.images)
        compare([a, b], tmp_path / "y", f"openai:m,base_url={server.url}", quiet=True)
        assert len(server.stats.images) == seen


def test_the_sheet_says_what_it_shows() -> None:
    one, two = choice("a", images=("images/a.png",)), choice("b", question="什么？", language="zh")
    text = question_sheet(one, two, pictures=True).text
    assert "question 1 (pictures: 1)" in text and "question 2 (pictures: 0)" in text
    assert "those of question 1 first" in text and two.options[0].text in text
    assert question_sheet(two, two).text.startswith("你将看到两道考试题目")


@pytest.mark.parametrize(
    ("given", "more", "problem"),
    [
        (["rbench", "mmlu"], {"models": ["m"]}, "without --models, --reference and --by, which go with runs"),
        (["rbench", "mmlu"], {"by": ["subject"]}, "without --models, --reference and --by"),
        (["rbench", "mmlu"], {"reference": "m"}, "without --models, --reference and --by"),
        (["rbench"], {}, "questions are compared of two sets"),
        (["rbench", "empty"], {}, "empty holds no question of its own"),
        (["rbench", "nowhere"], {}, "no run.json in it"),
        (["rbench", "mmlu"], {"out": "mmlu"}, "mmlu is a run or a set: choose another folder"),
    ],
)
def test_mistakes(tmp_path: Path, given: list[str], more: dict[str, Any], problem: str) -> None:
    sets(tmp_path)
    write_set(tmp_path / "empty", [], "empty")
    out = tmp_path / more.pop("out", "out")
    with pytest.raises(UserError, match=problem):
        compare([tmp_path / name for name in given], out, "baseline:random", quiet=True, **more)


def test_on_the_command_line(tmp_path: Path) -> None:
    a, b = sets(tmp_path)
    pairs, _ = pair_questions((SampleSet(a), SampleSet(b)), None)
    judge = script(tmp_path / "judge.jsonl", pairs, lambda one, other: 1 + (one.id[0] == "e"))
    done = mmdyn("compare", "rbench", "mmlu", "--judge", judge, "-o", "out", "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[:2] == ["a: rbench", "b: mmlu"] and any(line.startswith("all +100 [") for line in lines)
    assert "left out: 2 asked in b alone" in lines
    kept = [json.loads(line) for line in (tmp_path / "out" / PAIRS).read_text("utf-8").splitlines()]
    assert {line["sample"] for line in kept} == {f"{one.id} and {other.id}" for one, other in pairs}
