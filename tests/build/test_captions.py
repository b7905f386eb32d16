"""A vision model writes captions, which stand in the pictures' place when the questions are asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from making_sets import tree
from msgspec.structs import replace
from running import evaluated
from serving import scripted, serve
from shell import mmdyn

from making import choice, image_ref, picture, write_set
from mmdyn.build import build
from mmdyn.data import SampleSet
from mmdyn.keys import sha256
from mmdyn.plugins import load
from mmdyn.testing import write_script

PICTURES = [picture(text=str(number)) for number in range(3)]
ONE, OTHER, THIRD = ((image_ref(data),) for data in PICTURES)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    rows = [
        choice("one", question="How many sides, see <image 1>?", images=ONE),
        choice("two", question="Which of both?", images=(*ONE, *OTHER)),
        choice("there", images=THIRD, meta={"caption": "An old one.", "page": 3}),
        choice("short", images=(*ONE, *THIRD), meta={"caption": "Of the first alone."}),
        choice("plain"),
    ]
    return write_set(tmp_path / "set", rows, images=PICTURES)


def says(*captions: str) -> str:
    return json.dumps({"captions": captions})


def made_by(source: SampleSet, out: Path, model: str, **settings: bool) -> SampleSet:
    return build("caption", source, out, load("steps", "caption").Settings(**settings), model=model, quiet=True)


def captions_of(made: SampleSet) -> dict[str, Any]:
    return {sample.id: sample.meta.get("caption") for sample in made}


def reasons(made: SampleSet) -> dict[str, tuple[str, str]]:
    return {item.id: (item.status, item.reason) for item in made.dropped()}


def test_each_picture_gets_a_caption_and_what_has_some_keeps_them(source: SampleSet, tmp_path: Path) -> None:
    replies = [{"match": "There are 2", "reply": says("A box. ", " Another.")}, {"reply": says("A box.")}]
    with serve(reply=write_script(tmp_path / "replies.jsonl", *replies)) as server:
        made = made_by(source, tmp_path / "out", f"openai:m,base_url={server.url}")
        assert server.stats.by_outcome["200"] == 3
        assert server.stats.images == {sha256(PICTURES[0]): 3, sha256(PICTURES[1]): 1, sha256(PICTURES[2]): 1}
        again = made_by(source, tmp_path / "again", f"openai:m,base_url={server.url}")
        assert server.stats.by_outcome["200"] == 6, "another set has a cache of its own"
    assert tree(again.folder).keys() == tree(made.folder).keys() and again.manifest.digest == made.manifest.digest
    assert captions_of(made) == {
        "one": ["A box."], "two": ["A box.", "Another."], "there": "An old one.", "short": ["A box.", "Another."], "plain": None
    }  # fmt: skip
    there = next(sample for sample in made if sample.id == "there")
    assert there.meta["page"] == 3 and there.captions == ("An old one.",) and not reasons(made)
    run = evaluated(made, "baseline:lexical", tmp_path / "run", modes="standard", contexts="caption")
    assert run.config.skipped == {"caption": 1} and len(list(run.records())) == 4


def test_captions_may_be_written_anew_and_with_the_question(source: SampleSet, tmp_path: Path) -> None:
    replies = [
        {"match": "Which of both?", "reply": says("Left.", "Right.")},
        {"match": "There are 2", "reply": says("A.", "B.")},
    ]
    model = scripted(tmp_path, *replies, {"reply": says("New.")})
    made = made_by(source, tmp_path / "out", model, question=True, anew=True)
    found = captions_of(made)
    assert found["there"] == ["New."] and found["two"] == ["Left.", "Right."] and found["short"] == ["A.", "B."]
    blind = made_by(source, tmp_path / "blind", model)
    assert captions_of(blind)["two"] == ["A.", "B."], "the model does not see the question"


LEAK = "a caption gives an answer away: describe what is drawn, and conclude nothing"


def test_a_caption_that_holds_the_answer_is_asked_for_again(source: SampleSet, tmp_path: Path) -> None:
    one = [next(iter(source)), replace(next(iter(source)), id="told", question="Has it three sides?")]
    replies = [{"match": "gives an answer away", "reply": says("A box.")}, {"reply": says("It has three sides.")}]
    made = made_by(write_set(tmp_path / "one", one, images=PICTURES), tmp_path / "out", scripted(tmp_path, *replies))
    assert captions_of(made) == {"one": ["A box."], "told": ["It has three sides."]}, "the question says that itself"


@pytest.mark.parametrize(
    ("reply", "status", "told"),
    [
        (says("It has three sides."), "failed", LEAK),
        (says("One.", "Two."), "failed", "it holds 2 captions, or an empty one: 1 are wanted"),
        (says(" "), "failed", "it holds 1 captions, or an empty one: 1 are wanted"),
        ('{"cannot": "all black"}', "refused", "declines (all black)"),
    ],
)
def test_a_sample_without_a_caption_stays_and_the_reason_is_told(
    reply: str, status: str, told: str, source: SampleSet, tmp_path: Path
) -> None:
    one = write_set(tmp_path / "one", [next(iter(source))], images=PICTURES)
    done = mmdyn("build", "caption", one.folder, "-o", tmp_path / "out", "-m", scripted(tmp_path, {"reply": reply}))
    made = SampleSet(tmp_path / "out")
    assert captions_of(made) == {"one": None} and next(iter(made)).images == ONE
    assert done.returncode == (status == "failed"), done.stderr
    ((found, reason),) = reasons(made).values()
    assert found == status.replace("refused", "incomplete") and told in reason, reason


def test_a_dry_run_counts_who_would_be_asked(source: SampleSet, tmp_path: Path) -> None:
    model = scripted(tmp_path, {"reply": says("A box.")})
    done = mmdyn("build", "caption", source.folder, "-o", tmp_path / "out", "-m", model, "--dry-run")
    assert done.returncode == 0 and "3 requests to send" in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / "out").exists()
