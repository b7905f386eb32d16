"""The embedded baselines, which see the messages and nothing else, and how they read every shipped template."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import msgspec
import pytest

from kprag import Knowledge, Layout
from making import blank, choice, multi, open_ended, true_false
from mmdyn.context import Context
from mmdyn.data import ImageFolder
from mmdyn.errors import UserError
from mmdyn.models import Baseline, Message, Spec, TextPart, open_model
from mmdyn.models.backends._baseline_prompt import ReadPrompt, read_prompt
from mmdyn.prompts import LANGUAGES, template
from mmdyn.record import Condition
from mmdyn.run.render import Renderer
from mmdyn.sample import Option, Sample

NAMES = ("random", "majority", "lexical")
POINT = {"knowledge_points": ("Ice",)}
TEXTS = {
    "Ice": "Ice floats since it is less dense than water.\nWater is liquid above 0 degrees.",
    "冰": "冰的密度比水小。水很多。",
}
KNOWLEDGE = Knowledge(TEXTS, None, Layout())
CONDITIONS = [Condition(context=context, style=style) for context in ("none", "kprag") for style in ("direct", "cot")]


def rendered(sample: Sample, condition: Condition = CONDITIONS[0]) -> tuple[Message, ...]:
    built = None if condition.context == "none" else KNOWLEDGE.build_context(sample, Context.parse(condition.context))
    return Renderer(ImageFolder(Path())).messages(sample, condition, built.text if built else "")


def reply(name: str, sample: Sample, condition: Condition = CONDITIONS[0]) -> str:
    return Baseline(Spec.parse(f"baseline:{name}")).reply(rendered(sample, condition))


def everything() -> list[Sample]:
    zh = {"language": "zh", "knowledge_points": ("冰",)}
    return [
        choice(**POINT),
        multi(**POINT),
        blank(**POINT),
        blank(id="b2", question="____ + ( ) = 2", answer=(("1",), ("1",)), **POINT),
        true_false(**POINT),
        open_ended(**POINT),
        choice(id="zc", texts=("冰", "水", "火"), question="下列哪一个能浮在水上？\nA. 不是选项", **zh),
        multi(id="zm", answer="AB", texts=("冰", "水", "火"), question="哪些？", **zh),
        blank(id="zb", question="冰的____比水小，（　　）很多。", answer=(("密度",), ("水",)), **zh),
        true_false(id="zt", question="冰是水。", **zh),
        open_ended(id="zo", question="为什么冰浮在水上？", **zh),
        msgspec.structs.replace(choice(id="pic"), options_in_image=True, options=tuple(map(Option, "ABCD"))),
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sample", everything(), ids=lambda sample: sample.id)
def test_a_reply_is_in_the_form_that_was_asked_for(name: str, sample: Sample):
    for condition in CONDITIONS:
        text = reply(name, sample, condition)
        lead = {"en": "Answer: ", "zh": "答案："}[sample.language]
        assert text.startswith(lead) and "\n" not in text
        said = text.removeprefix(lead)
        if sample.task_type in ("single_choice", "multi_select"):
            assert said and set(said) <= set(sample.labels) and list(said) == sorted(set(said))
            assert len(said) == 1 or sample.task_type == "multi_select"
        elif sample.task_type == "true_false":
            assert said in {"en": ("True", "False"), "zh": ("正确", "错误")}[sample.language]
        elif sample.task_type == "fill_in_the_blank":
            values = said.split({"en": "; ", "zh": "；"}[sample.language])
            assert len(values) == len(sample.answer) and all(values)
        else:
            assert said


def test_lexical_finds_what_words_give_away():
    question = "Which animal barks loudly?"
    sample = choice(question=question, texts=("a cat", "an animal that barks", "a fish", "a tree"))
    assert reply("lexical", sample) == "Answer: B"
    sample = choice(question="What floats?", texts=("lead", "less dense things", "iron", "gold"), **POINT)
    assert reply("lexical", sample, CONDITIONS[2]) == "Answer: B"
    nearest = reply("lexical", open_ended(**POINT), CONDITIONS[2])
    assert nearest.startswith("Answer: Ice") and nearest.endswith("floats since it is less dense than water")
    assert reply("lexical", true_false(question="Ice never is liquid."), CONDITIONS[0]) == "Answer: False"
    assert reply("lexical", true_false(question="Ice is never less dense.", **POINT), CONDITIONS[2]) == "Answer: True"
    zh = {"language": "zh", "knowledge_points": ("冰",)}
    several = multi(answer="AC", texts=("的密度", "很重", "密度比"), question="哪些对？", **zh)
    assert reply("lexical", several, CONDITIONS[2]) == "答案：AC"


def test_majority_is_always_the_same():
    said = {reply("majority", sample) for sample in everything() if sample.language == "en"}
    assert said == {"Answer: A", "Answer: 1", "Answer: 1; 1", "Answer: True"}


def test_random_is_spread_over_the_options():
    said = [reply("random", choice(question=f"Question {number}?")) for number in range(400)]
    counts = [said.count(f"Answer: {label}") for label in "ABCD"]
    assert sum(counts) == 400 and min(counts) > 70


def test_another_process_with_another_hash_seed_replies_the_same():
    script = "from test_baseline import *; print([reply(*c) for c in product(NAMES, everything(), CONDITIONS)])"
    path = os.pathsep.join(map(str, Path(__file__).parents[:2]))
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", script]
        outputs.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    mine = [reply(*asked) for asked in product(NAMES, everything(), CONDITIONS)]
    assert outputs == {f"{mine}\n"}


def test_a_prompt_of_ones_own_is_read_as_far_as_it_goes():
    text = "Context first.\n\nPick one.\n(choose well)\nA. one\nB. two\n"
    assert read_prompt((Message("system", (TextPart("s"),)), Message("user", (TextPart(text),)))) == ReadPrompt(
        text, "single_choice", "en", {"A": "one", "B": "two"}, "Context first.\n\nPick one.\n(choose well)", ""
    )
    assert read_prompt(()).task_type == "open_ended"


HOSTILE = ["", *(piece * 100_000 for piece in ("True ", "((((", "A. \n", "____", "质质", "1.1"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_prompt_takes_no_long_time(name: str):
    model = Baseline(Spec.parse(f"baseline:{name}"))
    for text in HOSTILE:
        for task in (choice(), blank(), open_ended(), true_false()):
            assert model.reply(rendered(msgspec.structs.replace(task, question=f"{text}?"))).startswith("Answer: ")


def test_another_name_or_an_option_is_told():
    says = r"there is no baseline 'lexcal' \(did you mean 'lexical'\?\): random, majority"
    with pytest.raises(UserError, match=says):
        open_model("baseline:lexcal")
    with pytest.raises(UserError, match="baseline has no option 'seed'; it takes none"):
        open_model("baseline:random,seed=1")


FORMS = ("", "kprag_", "knowledge_", "expansion_", "hint_")
TEMPLATES = [f"{form}{style}" for form in FORMS for style in ("direct", "cot", "likelihood")]
TEMPLATES.remove("kprag_likelihood")
NOTES = {
    "": "",
    "plain": "- Ice: It floats, since it is less dense.",
    "paragraphs": "Ice:\n\nIt floats.\n\nBecause it is less dense.",
    "options": "Kinds of ice:\n\nA. hail\nB. snow\nC. frost",
    "heading": "An example:\n\nQuestion:\n\nDoes ice float?\n\nAnswer: yes\n\n题目：\n\n冰浮吗？\n\n答案：是",
    "set out": "Set out everything in your own words: 逐一用自己的话说明。",
}
CASES = [(name, notes) for name in TEMPLATES for notes in (NOTES if "_" in name else ("",))]
CASES = [(name, notes) for name, notes in CASES if not (name.endswith("likelihood") and notes == "heading")]
"""Where no sentence asks for the answer's line, a line of the knowledge that begins with Answer: is taken for it."""


def filled(name: str, language: str, sample: Sample, knowledge: str) -> tuple[Message, ...]:
    """A template filled as the renderer fills it; where options are weighed, without the answer that is begun."""
    ask = "" if name.endswith("likelihood") else template(f"answer_{sample.task_type}", language).text
    values = {
        "question": sample.question,
        "options": "\n".join(f"{option.label}. {option.text}" for option in sample.options if option.text),
        "knowledge": knowledge,
        "instruction": ask,
    }
    blocks = template(name, language).blocks({place for place, value in values.items() if value})
    text = "".join(block if isinstance(block, str) else values[block[0]] for block in blocks)
    return (Message("user", (TextPart(text),)),)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "notes"), CASES)
def test_knowledge_question_and_options_are_told_apart(name: str, language: str, notes: str) -> None:
    for sample in everything():
        prompt = read_prompt(filled(name, language, sample, NOTES[notes]))
        assert prompt.knowledge == NOTES[notes]
        assert prompt.question == sample.question
        assert prompt.options == {option.label: option.text for option in sample.options if option.text}
        assert not prompt.elaborates
        assert prompt.blanks == (len(sample.answer) if sample.task_type == "fill_in_the_blank" else prompt.blanks)
        if not name.endswith("likelihood"):
            assert (prompt.task_type, prompt.language) == (sample.task_type, language)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("notes", [notes for notes in NOTES.values() if notes])
def test_asked_to_set_points_out_a_baseline_repeats_them(name: str, language: str, notes: str) -> None:
    asked = filled("elaborate", language, open_ended(), notes)
    prompt = read_prompt(asked)
    assert prompt.elaborates and (prompt.knowledge, prompt.question, prompt.language) == (notes, "", language)
    assert Baseline(Spec.parse(f"baseline:{name}")).reply(asked) == notes


def test_a_question_that_wants_own_words_is_a_question() -> None:
    for language, question in (("en", "Set out Newton's laws in your own words."), ("zh", "请逐一用自己的话说明。")):
        for name in ("direct", "cot", "kprag_direct"):
            sample = open_ended(question=f"An essay:\n\n{question}")
            assert not read_prompt(filled(name, language, sample, "- Laws: three")).elaborates
