"""Steps that put a question to a model: review, taxonomy, annotate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from serving import scripted
from shell import mmdyn

from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.build import build
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.plugins import load


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def says(**reply: Any) -> str:
    return json.dumps(reply, ensure_ascii=False)


def review(**verdicts: bool) -> str:
    sound = dict.fromkeys(("whole", "consistent", "reasoned", "factual", "clear", "complete"), True)
    return says(**sound | verdicts, why="the unit is missing")


def reasons(made: SampleSet) -> dict[str, str]:
    return {item.id: item.reason for item in made.dropped()}


def test_what_a_model_finds_at_fault_leaves(tmp_path: Path) -> None:
    data = picture()
    rows = [
        choice("good", images=(image_ref(data),)),
        choice("bad", question="What is the speed?"),
        choice("odd", question="Which way?"),
    ]
    model = scripted(
        tmp_path,
        {"match": "What is the speed?", "reply": review(complete=False, clear=False)},
        {"match": "Which way?", "reply": "I cannot say"},
        {"reply": review()},
    )
    source = write_set(tmp_path / "set", rows, images=[data])
    done = mmdyn("build", "review", source.folder, "-o", tmp_path / "out", "-m", model)
    assert done.returncode == 1, "one failed"
    made = SampleSet(tmp_path / "out")
    assert [sample.id for sample in made] == ["good"] and made.images.read(image_ref(data)) == data
    told = reasons(made)
    assert told["bad"] == "it is not clear and complete ('the unit is missing')"
    assert "gave nothing usable" in told["odd"]


def test_questions_are_filed_under_the_names_of_a_list(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("mechanics\noptics\n")
    rows = [
        open_ended("a", question="How does a lens work?"),
        open_ended("b", question="Why do bodies fall?"),
        open_ended("c"),
    ]
    model = scripted(
        tmp_path,
        {"match": "lens", "reply": says(name="optics", sure=True)},
        {"match": "fall", "reply": says(name="mechanics", sure=False)},
        {"reply": says(name="optic", sure=True)},
    )
    settings = load("steps", "taxonomy").Settings(names=str(names))
    made = build("taxonomy", write_set(tmp_path / "set", rows), tmp_path / "out", settings, model=model, quiet=True)
    assert [sample.fields for sample in made] == [
        {"subfield": "optics"},
        {"subfield": "mechanics", "subfield_unsure": "yes"},
    ]
    assert "'optic' is none of the names (did you mean 'optics'?)" in reasons(made)["c"]


def test_a_curriculum_is_asked_about_once(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("mechanics\noptics\n")
    rows = [open_ended(f"q{k}", fields={"curriculum": "Light and lenses"}) for k in range(9)]
    settings = load("steps", "taxonomy").Settings(names=str(names), of="curriculum")
    with_server = scripted(tmp_path, {"match": "Light and lenses", "reply": says(name="optics", sure=True)})
    made = build(
        "taxonomy", write_set(tmp_path / "set", rows), tmp_path / "out", settings, model=with_server, quiet=True
    )
    assert {sample.fields["subfield"] for sample in made} == {"optics"} and len(made) == 9
    with pytest.raises(UserError, match="give --names FILE"):
        build("taxonomy", made, tmp_path / "other", model=with_server, quiet=True)
    names.write_text("optics\noptics\n")
    with pytest.raises(InputError, match="fewer than two names, or one twice"):
        build("taxonomy", made, tmp_path / "other", settings, model=with_server, quiet=True)


DRAFT: dict[str, Any] = {
    "title": "On lenses",
    "question": "Why does a lens bend light?",
    "answer": "Light is slower in glass, so the wave front turns.",
    "hints": {"background": "Waves.", "definition": "A wave front.", "methodology": "Follow the front."},
    "checklist": ["It says that light is slower in glass.", "It says that the front turns.", "It names the result."],
}


def test_a_paper_becomes_a_question_with_hints_and_a_checklist(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "lens.md").write_text("# On lenses\n\nLight is slower in glass.")
    done = mmdyn("build", "texts", tmp_path / "papers", "-o", tmp_path / "texts", "--discipline", "physics")
    assert done.returncode == 0, done.stderr
    (made,) = build(
        "annotate", tmp_path / "texts", tmp_path / "out", model=scripted(tmp_path, {"reply": says(**DRAFT)}), quiet=True
    )
    assert (made.id, made.question, made.answer) == ("lens-question", DRAFT["question"], DRAFT["answer"])
    assert made.hints == DRAFT["hints"] and list(made.checklist) == DRAFT["checklist"]
    assert made.fields == {"discipline": "physics"} and made.meta["title"] == "On lenses"
    assert [step["step"] for step in made.meta["built"]] == ["annotate"]  # type: ignore[index, union-attr]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"checklist": ["one"]}, "the checklist has 1 items, 3 to 15 are wanted"),
        ({"checklist": ["One thing.", "one  thing.", "another"]}, "an item of the checklist stands twice"),
        ({"answer": " "}, "the answer is empty"),
        ({"hints": DRAFT["hints"] | {"methodology": f"Say: {DRAFT['answer']}"}}, "a hint holds the whole answer"),
    ],
)
def test_drafts_that_do_not_do_are_refused(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    source = write_set(tmp_path / "set", [open_ended("t", question="A text.")])
    made = build(
        "annotate", source, tmp_path / "out", model=scripted(tmp_path, {"reply": says(**DRAFT | change)}), quiet=True
    )
    assert len(made) == 0 and told in reasons(made)["t"]


@pytest.mark.slow
def test_a_tiny_model_s_nonsense_is_refused_with_reasons(tmp_path: Path) -> None:
    from making_models import saying

    source = write_set(tmp_path / "set", [open_ended("t", question="A text of some words.")])
    for step in ("annotate", "options", "translate", "review"):
        made = build(
            step,
            source,
            tmp_path / step,
            model=f"hf:{saying(tmp_path / 'model')},max_new_tokens=20,device=cpu",
            quiet=True,
        )
        assert len(made) == 0 and "gave nothing usable in" in reasons(made)["t"]
