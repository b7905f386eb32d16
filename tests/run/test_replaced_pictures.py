"""What is asked where a question's pictures are withheld, or captions stand in their place: as it is sent, left out,
recorded and reported."""

from __future__ import annotations

import base64
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from running import estimated, evaluated
from serving import script
from tables.making_runs import changes, scores

from making import choice, image_ref, open_ended, write_set
from mmdyn.context import Context
from mmdyn.data import ImageFolder, SampleSet
from mmdyn.errors import UserError
from mmdyn.record import Condition, ContextInfo, Record
from mmdyn.run import Recorded, sent_prompt
from mmdyn.run.render import Example, Renderer, leaks_beside, replace_pictures
from mmdyn.sample import Option, Sample, Turn
from mmdyn.tables import report
from mmdyn.work import Reader, RunFolder

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""The bytes of a picture that every machine has alike."""
ONE = (image_ref(DOT),)
TWO = ("images/a.png", "images/b.png")
"""Pictures that nobody reads: they are not shown."""
LADDER = "no-picture,caption,none,kprag,hint:all,caption+kprag"


def sent(sample: Sample, context: str, beside: str = "", **more: Any) -> list[tuple[str, str]]:
    """Roles and texts, up to the instruction; no part of a message is a picture."""
    messages = Renderer(ImageFolder(Path())).messages(sample, Condition(context=context, **more), beside)
    assert all(type(part).__name__ == "TextPart" for message in messages for part in message.parts)
    return [(message.role, message.text.rpartition("\n\n")[0]) for message in messages]


def asked(question: str, context: str, **more: Any) -> str:
    """The words of a blank's question as they are sent."""
    sample = open_ended(question=question, **({"images": ONE, "meta": {"caption": "A dot."}} | more))
    found = replace_pictures(sample, Context.parse(context).pictures)
    assert found is not None and found.images == ()
    ((_, text),) = sent(sample, context)
    assert text == found.question
    return text


@pytest.mark.parametrize(("question", "withheld", "captioned"), [
    ("How many?", "How many?", "[Picture 1: A dot.]\nHow many?"),
    ("<image 1>How many?", "How many?", "[Picture 1: A dot.]How many?"),
    ("<image 1>\nHow many?", "How many?", "[Picture 1: A dot.]\nHow many?"),
    ("As <image 1> shows, ab is", "As shows, ab is", "As [Picture 1: A dot.] shows, ab is"),
    ("In <image 1>, see (<image 1> left).", "In, see (left).", "In [Picture 1: A dot.], see ([Picture 1] left)."),
    ("see<image 1>the", "see the", "see[Picture 1: A dot.]the"),
    ("One.\n<image 1>\nTwo.", "One.\nTwo.", "One.\n[Picture 1: A dot.]\nTwo."),
    ("One.\n\n<image 1>\nTwo?\n<image 1>", "One.\n\nTwo?", "One.\n\n[Picture 1: A dot.]\nTwo?\n[Picture 1]"),
])  # fmt: skip
def test_a_mark_leaves_no_gap_or_is_where_the_caption_stands(question: str, withheld: str, captioned: str) -> None:
    assert asked(question, "no-picture") == withheld
    assert asked(question, "caption") == captioned


def test_chinese_and_several_pictures() -> None:
    more: dict[str, Any] = {"images": TWO, "meta": {"caption": ["一个圆。", "正方形 <image 9>"]}, "language": "zh"}
    assert asked("如图<image 2>所示，求面积。", "no-picture", **more) == "如图所示，求面积。"
    told = "【图1：一个圆。】\n如图【图2：正方形】所示，求面积。"
    assert asked("如图<image 2>所示，求面积。", "caption", **more) == told


def test_earlier_turns_and_options_are_treated_like_the_question() -> None:
    turns = (Turn("user", "Look at <image 1>."), Turn("assistant", "I see <image 1>."))
    texts = ("as in <image 2>", "<image 1> no", "it")
    sample = choice(turns=turns, texts=texts, question="Which?", images=TWO, meta={"caption": ["A.", "B."]})
    assert sent(sample, "no-picture") == [
        ("user", ""), ("assistant", ""), ("user", "Which?\n\nA. as in\nB. no\nC. it")
    ]  # fmt: skip
    without, captioned = (replace_pictures(sample, way) for way in ("withheld", "captioned"))
    assert without and [turn.text for turn in without.turns] == ["Look at.", "I see."]
    assert captioned and [turn.text for turn in captioned.turns] == ["Look at [Picture 1: A.].", "I see [Picture 1]."]
    assert [option.text for option in captioned.options] == ["as in [Picture 2: B.]", "[Picture 1] no", "it"]


PICTURED = tuple(Option(label, image=ref) for label, ref in zip("AB", TWO, strict=True))
UNFIT: dict[str, tuple[dict[str, Any], bool, bool]] = {
    "an option is a picture": ({"options": PICTURED}, False, False),
    "an option is a mark": ({"options": (Option("A", "<image 1>"), Option("B", "no"))}, False, True),
    "options stand in the picture": ({"options": (Option("A"), Option("B")), "options_in_image": True}, False, False),
    "the question is a mark": ({"question": " <image 1>"}, False, True),
    "a turn is a mark": ({"turns": (Turn("user", "<image 1>"), Turn("assistant", "A dot."))}, False, True),
    "no caption": ({"meta": {}}, True, False),
    "an empty caption": ({"meta": {"caption": None}}, True, False),
    "a caption of nothing": ({"meta": {"caption": ["<image 1>"]}}, True, False),
    "captions for two": ({"meta": {"caption": ["A dot.", "A line."]}}, True, False),
    "one caption for two": ({"images": TWO}, True, False),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_what_cannot_be_asked_is_left_out(name: str) -> None:
    change, withheld, captioned = UNFIT[name]
    options = (Option("A", "yes"), Option("B", "no"))
    given = {"question": "Is it?", "options": options, "images": ONE, "meta": {"caption": "A dot."}} | change
    sample = Sample(id="q", task_type="single_choice", answer=("A",), **given)
    assert (replace_pictures(sample, "withheld") is not None) is withheld
    assert (replace_pictures(sample, "captioned") is not None) is captioned
    assert replace_pictures(sample, "shown") is sample


def test_what_else_lies_beside_the_question_stands_in_its_usual_words() -> None:
    sample = open_ended(question="Why <image 1>?", images=ONE, meta={"caption": "Ice."})
    ((_, text),) = sent(sample, "caption+kprag", "- Density: a text.")
    assert text == (
        "These knowledge points may bear on the question below:\n\n- Density: a text.\n\nQuestion:\n\n"
        "Why [Picture 1: Ice.]?"
    )
    ((_, hinted),) = sent(sample, "no-picture+hint:all", "Heat.")
    assert hinted == "Some help with the question below:\n\nHeat.\n\nQuestion:\n\nWhy?"
    messages = Renderer(ImageFolder(Path())).messages(sample, Condition(context="caption", shots="1:base"))
    assert messages[0].text == "Question:\n\nWhy [Picture 1: Ice.]?"


def test_examples_are_shown_like_the_question() -> None:
    images = ImageFolder(Path())
    examples = [
        Example(open_ended("e", question="Where <image 1>?", images=ONE, meta={"caption": "Rain."}, answer="Here."), images),
        Example(open_ended("f", question="Plain?", answer="Yes."), images),
    ]  # fmt: skip
    sample = open_ended(question="Why?", images=ONE, meta={"caption": "Ice."})
    messages = Renderer(images).messages(sample, Condition(context="caption", shots="2"), "", examples)
    texts = [message.text.partition("\n\n")[0] for message in messages]
    assert texts[::2] == ["Where [Picture 1: Rain.]?", "Plain?", "[Picture 1: Ice.]\nWhy?"]


def test_what_holds_the_answer_is_told_of_captions_and_points_together() -> None:
    sample = choice(images=ONE, meta={"caption": "A triangle with three sides."})
    plain, captioned, knowing = (Context.parse(name) for name in ("no-picture", "caption", "caption+kprag"))
    assert leaks_beside("", sample, captioned) and leaks_beside("Polygons.", sample, knowing)
    assert not leaks_beside("", sample, plain) and leaks_beside("three", sample, plain)
    assert not leaks_beside("Two, three, four.", sample, captioned), "what names other options, too, tells nothing"


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    """Four questions with a picture, of which one has no caption and one no points, and one without a picture."""
    more: dict[str, Any] = {"images": ONE, "knowledge_points": ("Polygons",), "meta": {"caption": ["A dot, three."]}}
    rows = [choice(f"q{n}", question=f"Question {n}, see <image 1> here?", **more) for n in range(2)]
    rows.append(choice("bare", question="Bare?", **more | {"meta": {}}))
    rows.append(choice("pointless", question="Pointless?", **more | {"knowledge_points": ()}))
    return write_set(tmp_path / "set", [*rows, choice("plain", question="Plain?")], images=[DOT])


def test_rungs_are_planned_counted_and_skipped(source: SampleSet, tmp_path: Path) -> None:
    run = evaluated(source, "baseline:lexical", tmp_path / "run", contexts=LADDER, epochs=2)
    assert run.config.skipped == {
        "no-picture": 1, "caption": 2, "kprag": 2, "hint:all": 5, "caption+kprag": 3
    }  # fmt: skip
    modes = Counter(record.condition.mode for record in run.records())
    assert modes == {"no-picture": 8, "caption": 6, "standard": 10, "kprag": 6, "caption+kprag": 4}
    records = {(record.condition.context, record.sample): record for record in run.records()}
    assert records["none", "q0"].pictures and records["none", "plain"].pictures == ""
    assert {records[name, "q0"].pictures for name in ("no-picture", "caption", "caption+kprag")} == {""}
    assert records["no-picture", "q0"].beside == ContextInfo()
    assert records["caption", "q0"].beside == ContextInfo(leaks=True)
    assert records["caption+kprag", "q0"].beside == ContextInfo(("Polygons",), own=1, hits=1, leaks=True)
    assert records["kprag", "q0"].beside == ContextInfo(("Polygons",), own=1, hits=1)


def test_the_report_compares_rungs_and_names_the_pictures(source: SampleSet, tmp_path: Path) -> None:
    run = evaluated(source, "baseline:lexical", tmp_path / "run", contexts=LADDER)
    assert run.config.instructions == {f"{name} direct": "" for name in LADDER.split(",") if name != "none"}
    told = report(run, by=["knowledge_count"])
    assert [row.factors["context"] for row in scores(told)] == [
        "no-picture",
        "caption",
        "caption+kprag",
        "none",
        "kprag",
    ]
    found = {(row.factors["a"], row.factors["b"]): row.differs for row in changes(told)}
    assert found == {
        ("no-picture", "caption"): (),
        ("no-picture", "none"): ("pictures",),
        ("caption", "caption+kprag"): (),
        ("caption", "none"): ("pictures",),
        ("caption+kprag", "none"): ("pictures",),
        ("caption+kprag", "kprag"): ("pictures",),
        ("none", "kprag"): (),
    }
    counts = {row.factors["context"]: row.factors["knowledge_count"] for row in scores(told, by="knowledge_count")}
    assert counts["no-picture"] == counts["caption"] == "(not given)" and counts["caption+kprag"] == "1"


def test_a_dry_run_counts_no_picture_where_none_is_shown(source: SampleSet, tmp_path: Path) -> None:
    asked = {"modes": "standard", "contexts": "none,no-picture", "n": 1}
    shown, withheld = sorted(
        estimated(source, "baseline:lexical", tmp_path / "run", **asked).rows, key=lambda row: -row.prompt_tokens
    )
    assert (shown.mode, withheld.mode) == ("standard", "no-picture")
    assert 64 <= shown.prompt_tokens - withheld.prompt_tokens < 70, "a small picture, and the mark"


def test_examples_that_cannot_be_shown_so_are_told_as_lacking(source: SampleSet, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"modes": "standard", "contexts": "none,caption", "shots": "1"}
    run = evaluated(source, "baseline:lexical", tmp_path / "run", examples="ids=bare", **asked)
    assert run.config.skipped == {"shots 1": 1, "caption": 5}, "the example itself has no caption"
    assert len(list(run.records())) == 4
    assert {record.condition.context for record in run.records()} == {"none"}
    other = evaluated(source, "baseline:lexical", tmp_path / "other", examples="ids=plain", **asked)
    assert other.config.skipped == {"shots 1": 1, "caption": 2}


def prompt_of(run: RunFolder, source: SampleSet, context: str) -> tuple[Record, Any]:
    with Reader(run.records_folder) as reader, Recorded(run) as recorded:
        record = next(one for one in run.records() if one.condition.context == context and one.sample == "q0")
        return record, sent_prompt(run, reader, record, recorded.sample(record), source.images)


@pytest.mark.parametrize("context", ["no-picture", "caption", "caption+kprag", "caption+kprag:two-turn", "none"])
def test_the_prompt_that_was_sent_is_rendered_again(context: str, source: SampleSet, tmp_path: Path) -> None:
    replies = script(tmp_path, {"match": "Set out each", "reply": "Notes."}, "Answer: B")
    run = evaluated(source, f"scripted:{replies}", tmp_path / "run", modes="standard", contexts=context, n=1)
    record, found = prompt_of(run, source, context)
    beside = {"no-picture": "", "none": "", "caption": "A dot, three.", "caption+kprag": "A dot, three.\n- Polygons"}
    assert found.exact and found.beside == beside.get(context, "A dot, three.\nNotes.")
    if context == "caption+kprag:two-turn":
        assert record.beside and record.beside.leaks, "the caption lay there in the second turn"
        assert "Notes." in found.messages[0].text and "[Picture 1: A dot, three.]" in found.messages[0].text


KEYS = {
    ("hint:all", "0"): ("5342f0e7f64f29fff04acbc1c21be94e", "1caa52e2135ba9051a77553fe3a0eabf"),
    ("hint:all", "1"): ("d1590bfc0a2df8a0e64b874b2358769e", "67e8ba8a10c7abed2a053aacedc2d29d"),
    ("kprag", "0"): ("2fcfd7a040882db929e250988cecc8e0", "a50d03e728e7e2dd54148ec8d6f616f5"),
    ("kprag", "1"): ("ae9a114b115ffd844a50cec17cb9ea3f", "c6c252d8c0018749da416955044dec08"),
    ("kprag:inline", "0"): ("9453de29a9f042aff7d8c59e00982dc1", "6716566ae385ecb59d8d5d6fc4b4f089"),
    ("kprag:inline", "1"): ("4848676bbb70705c46cf26ea922b6e51", "48bbd870a03b023da43f1c945bacf0a0"),
    ("none", "0"): ("f9836c557381227e02cda6f2cddae43e", "0a6e1c64b608e5f1e7a2723734462ecb"),
    ("none", "1"): ("2ee5c37155027b861f58964bb192c6b2", "a39e28f688d89d5ed8428d360fcc4592"),
}
"""Keys of records and requests from before there were contexts without pictures."""


def test_contexts_that_show_pictures_keep_their_keys(tmp_path: Path) -> None:
    more: dict[str, Any] = {"images": ONE, "knowledge_points": ("Polygons",), "hints": {"background": "Three."}}
    more |= {"meta": {"caption": "A dot."}}
    rows = [choice(f"q{n}", question=f"Question {n}, see <image 1> here?", **more) for n in range(2)]
    source = write_set(tmp_path / "set", rows, images=[DOT])
    asked = {"modes": "standard", "contexts": "none,kprag,kprag:inline,hint:all", "shots": "0,1", "styles": "direct"}
    run = evaluated(source, "baseline:lexical", tmp_path / "run", **asked)
    found = {
        (one.condition.context, one.condition.shot_name): (one.key, one.request)
        for one in run.records()
        if one.sample == "q0"
    }
    assert found == KEYS


def test_a_base_needs_a_context_that_lays_knowledge(source: SampleSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing is laid beside a question: add --context kprag"):
        evaluated(source, "baseline:lexical", tmp_path / "run", contexts="caption", base="points.jsonl")


def test_a_template_of_ones_own_needs_no_place_for_captions(source: SampleSet, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Q: {question}\n\n{options}\n\nAnswer: X")
    more = {"modes": "standard", "prompt": str(tmp_path / "own.txt"), "n": 1}
    run = evaluated(source, "baseline:lexical", tmp_path / "run", contexts="none,caption", **more)
    _, found = prompt_of(run, source, "caption")
    assert found.exact and found.messages[0].text.startswith("Q: Question 0, see [Picture 1: A dot, three.] here?")
    with pytest.raises(UserError, match=r"does not contain \{knowledge\}, which caption\+kprag needs"):
        evaluated(source, "baseline:lexical", tmp_path / "other", contexts="caption+kprag", **more)
