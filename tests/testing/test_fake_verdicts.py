"""The fake server as a judge: verdicts that every reader of ours takes."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from msgspec.structs import replace
from running import QUIET
from serving import bare_environment as bare_environment, script, serve

from making import blank, choice, image_ref, open_ended, picture, write_set
from mmdyn.plugins import load
from mmdyn.record import Reply
from mmdyn.run import ScoringConfig, compare, evaluate, label_errors
from mmdyn.sample import Language
from mmdyn.scoring.judge import error_sheet
from mmdyn.tables import report
from mmdyn.testing import fake_verdict as verdict

ASKED = {
    "match": blank(answer=(("3",), ("4",))),
    "checklist": open_ended(checklist=("says a", "says b", "says c")),
    "quality": open_ended(),
}
BEST = {"match": 2, "checklist": 1, "quality": 5}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ASKED)
def test_every_rubric_takes_its_verdicts_in_either_language(name: str, language: Language) -> None:
    rubric, sample = load("rubrics", name)(), replace(ASKED[name], language=language)
    best = set()
    for number in range(40):
        sheet = rubric.sheet(sample, f"Reply {number} {{1. - kind: 9}}", False)
        first = rubric.read(sample, verdict(sheet.text, hashed=False), sheet.code)
        assert first.grades == (1.0,) * BEST[name] and all(first.items)
        drawn = verdict(sheet.text, hashed=True)
        assert drawn == verdict(sheet.text, hashed=True)
        best.add(rubric.read(sample, drawn, sheet.code) == first)
    assert best == ({False} if name == "quality" else {True, False})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_kind_of_pictures_needs_some(language: Language) -> None:
    sample = replace(choice(), language=language)
    sheets = [error_sheet(sample, Reply(f"- made: up {number}")) for number in range(60)]
    for pictures, kinds in ((False, set()), (True, {"visual"})):
        said = {json.loads(verdict(sheet.text, hashed=True, pictures=pictures))["kind"] for sheet in sheets}
        assert said == {"question", "reasoning", "incomplete", "other", *kinds}


def test_what_is_no_prompt_for_a_judge_gets_none() -> None:
    for text in ("What?", "=== 0123456789abcdef01234567 question\nWhat?", '{"code": "", "grades": []}'):
        assert not verdict(text, hashed=True)


def test_a_script_says_what_it_says(tmp_path: Path) -> None:
    sheet = load("rubrics", "match")().sheet(choice(), "B", False)
    with serve(reply=str(script(tmp_path, "no verdict"))) as server:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": sheet.text}]}).encode()
        with urlopen(Request(f"{server.url}/chat/completions", data=body), timeout=240) as response:
            assert json.load(response)["choices"][0]["message"]["content"] == "no verdict"


@pytest.mark.usefixtures("bare_environment")
def test_one_server_answers_judges_compares_and_sorts_errors(tmp_path: Path) -> None:
    data = picture()
    samples = [choice(f"q{n}", question=f"Question {n}?", images=(image_ref(data),) * (n % 2)) for n in range(9)]
    write_set(tmp_path / "set", [*samples, blank(), open_ended()], images=[data])
    with serve(reply="hashed") as server:
        judge = f"openai:judge,base_url={server.url}"
        models, scoring = ["baseline:random", "baseline:majority"], ScoringConfig(judges=judge, judge_mode="all")
        run = evaluate(tmp_path / "set", models, tmp_path / "run", scoring=scoring, execution=QUIET)
        assert all(record.score for record in run.records())
        found = compare([run.folder], tmp_path / "pairs", judge, quiet=True)
        assert found.table.rows and not found.failed
        assert not label_errors(run, judge, quiet=True).failed
        assert set(server.stats.by_outcome) == {"200"}
    found = report(run)
    answers = [row.answers for row in found.rows("judged", "score") if "judge" in row.factors["scored by"]]
    asked = [row.value or 0 for row in found.rows("judged", "requests")]
    assert answers == [11, 11] and max(asked) <= 11, "out of the cache or at the first try"
