"""With knowledge beside the question a model is told to reply in the words that it is told without it; whoever wants it
to elaborate says so, and the report does too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import estimated, evaluated
from serving import script
from tables.making_runs import changes

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import ImageFolder, SampleSet
from mmdyn.errors import UserError
from mmdyn.models import Message, TextPart
from mmdyn.prompts import LANGUAGES
from mmdyn.record import Condition
from mmdyn.run.plan import REASONING_TOKENS
from mmdyn.run.render import Renderer, own_instructions
from mmdyn.sample import Sample
from mmdyn.tables import report

MODES = {"modes": "standard,kprag"}


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    data = picture()
    write_set(
        tmp_path / "set",
        [choice(f"q{n}", question=f"Question {n}?", images=(image_ref(data),), knowledge_points=("Polygons",)) for n in range(4)],
        images=[data],
    )  # fmt: skip
    return SampleSet(tmp_path / "set")


def words_after_the_question(messages: tuple[Message, ...]) -> list[str]:
    """The question and all that follows, and what is begun for the model."""
    (asked, *begun) = messages
    text = "".join(part.text for part in asked.parts if isinstance(part, TextPart))
    return [text[text.index("¿") :], *(message.text for message in begun)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("style", ["direct", "cot", "likelihood"])
@pytest.mark.parametrize("context", ["kprag", "kprag:retrieved", "kprag:mixed", "distractor", "hint:background", "hint:all"])  # fmt: skip
def test_both_sides_reason_in_the_same_words(tmp_path: Path, context: str, style: str, language: Any) -> None:
    samples: list[Sample] = [make(question="¿?", language=language) for make in (choice, multi, blank, true_false, open_ended)]  # fmt: skip
    renderer = Renderer(ImageFolder(tmp_path))
    for sample in samples:
        if style == "likelihood" and not sample.kind.weighed:
            continue
        without = renderer.messages(sample, Condition(style=style))
        beside = renderer.messages(sample, Condition(context=context, style=style), "- Polygons: a text.")
        assert "- Polygons: a text." in beside[0].text
        assert words_after_the_question(beside) == words_after_the_question(without)
    assert own_instructions([Condition(context=context, style=style)]) == {f"{context} {style}": ""}


def test_the_papers_own_way_has_a_name_and_what_it_tells_is_kept() -> None:
    ways = [
        Condition(context=f"kprag:{way}", style=style) for way in ("inline", "two-turn") for style in ("direct", "cot")
    ]
    told = own_instructions([Condition(), Condition(style="cot"), *ways])
    assert [*told] == [f"{way.context} {way.style}" for way in ways]
    english, chinese = told["kprag:inline direct"].split("\n")
    assert english.startswith("First elaborate on the knowledge points:") and chinese.startswith("请先展开这些知识点")
    assert all("{instruction}" in words for words in told.values())
    weighed = own_instructions([Condition(context="kprag:inline", style="likelihood")])
    assert weighed == {"kprag:inline likelihood": ""}, "where nothing is written nothing can be elaborated"


def test_what_differs_is_what_was_asked(source: SampleSet, tmp_path: Path) -> None:
    replies = script(tmp_path, {"match": "Set out each", "reply": "Notes."}, "Answer: B")
    contexts = ["none", "kprag", "kprag:inline", "kprag:two-turn"]
    run = evaluated(source, f"scripted:{replies}", tmp_path / "run", modes="standard", contexts=contexts)
    (shown,) = {record.pictures for record in run.records()}
    assert shown
    differs = {(row.factors["a"], row.factors["b"]): row.differs for row in changes(report(run))}
    assert differs == {
        ("none", "kprag"): (),
        ("none", "kprag:inline"): ("instruction",),
        ("none", "kprag:two-turn"): ("instruction", "turns"),
        ("kprag", "kprag:inline"): ("instruction",),
        ("kprag", "kprag:two-turn"): ("instruction", "turns"),
        ("kprag:inline", "kprag:two-turn"): ("instruction", "turns"),
    }


def test_pictures_and_forms_of_variants_are_named_by_what_was_shown(source: SampleSet, tmp_path: Path) -> None:
    run = evaluated(source, "baseline:lexical", tmp_path / "run", ops="pad,shuffle", modes="standard,dynamic")
    assert {row.factors["chain"]: row.differs for row in changes(report(run))} == {
        "pad": (), "shuffle": (), "all": ()
    }  # fmt: skip


def test_knowledge_costs_its_own_requests_and_no_reasoning_of_its_own(source: SampleSet, tmp_path: Path) -> None:
    model, out = "baseline:lexical", tmp_path / "run"
    found = estimated(source, model, out, **MODES)
    assert [(row.mode, row.planned) for row in found.rows] == [("standard", 4), ("kprag", 4)]
    assert found.rows[0].completion_tokens == found.rows[1].completion_tokens
    inline = estimated(source, model, out, modes="standard", contexts="kprag:inline").rows[0]
    assert inline.completion_tokens == found.rows[0].completion_tokens + 4 * REASONING_TOKENS
    run = evaluated(source, model, out, **MODES)
    assert run.config.planned == 8 and sum(row.there for row in estimated(source, model, out, **MODES).rows) == 8


def test_a_run_that_told_otherwise_is_not_gone_on_with(source: SampleSet, tmp_path: Path) -> None:
    run = evaluated(source, "baseline:lexical", tmp_path / "run", **MODES)
    run.write_config(msgspec.structs.replace(run.config, instructions={}))
    with pytest.raises(UserError, match="holds a run with other instructions: choose another -o"):
        evaluated(source, "baseline:lexical", tmp_path / "run", **MODES)
    alone = evaluated(source, "baseline:lexical", tmp_path / "alone", modes="standard")
    assert json.loads((alone.folder / "run.json").read_text())["instructions"] == {}
