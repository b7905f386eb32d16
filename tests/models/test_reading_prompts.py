"""Every shipped template can be read back, whatever stands in the knowledge."""

from __future__ import annotations

import pytest

from making import blank, choice, multi, open_ended, true_false
from mmdyn.models import Baseline, Message, Spec, TextPart
from mmdyn.models.backends._baseline_prompt import read_prompt
from mmdyn.prompts import LANGUAGES, template
from mmdyn.sample import Sample

STYLES = ("direct", "cot", "likelihood")
NAMES = [f"{form}_{style}" for form in ("kprag", "knowledge", "expansion", "hint") for style in STYLES]
NAMES.remove("kprag_likelihood")
NOTES = {
    "plain": "- Ice: It floats, since it is less dense.",
    "paragraphs": "Ice:\n\nIt floats.\n\nBecause it is less dense.",
    "options": "Kinds of ice:\n\nA. hail\nB. snow\nC. frost",
    "heading": "An example:\n\nQuestion:\n\nDoes ice float?\n\nAnswer: yes\n\n题目：\n\n冰浮吗？\n\n答案：是",
    "set out": "Set out everything in your own words: 逐一用自己的话说明。",
}
CASES = [(name, notes) for name in NAMES for notes in NOTES if not (name.endswith("likelihood") and notes == "heading")]
"""Where no sentence asks for the answer's line, a line of the knowledge that begins with Answer: is taken for it."""
SAMPLES = [choice(), multi(), blank(), true_false(), open_ended()]


def rendered(name: str, language: str, sample: Sample, knowledge: str) -> tuple[Message, ...]:
    """A template filled as the renderer fills it; where options are weighed, without the answer that is begun."""
    ask = "" if name.endswith("likelihood") else template(f"answer_{sample.task_type}", language).text
    values = {
        "question": sample.question,
        "options": "\n".join(f"{option.label}. {option.text}" for option in sample.options),
        "knowledge": knowledge,
        "instruction": ask,
    }
    blocks = template(name, language).blocks({place for place, value in values.items() if value})
    text = "".join(block if isinstance(block, str) else values[block[0]] for block in blocks)
    return (Message("user", (TextPart(text),)),)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "notes"), CASES)
def test_knowledge_question_and_options_are_told_apart(name: str, language: str, notes: str) -> None:
    for sample in SAMPLES:
        prompt = read_prompt(rendered(name, language, sample, NOTES[notes]))
        assert prompt.knowledge == NOTES[notes]
        assert prompt.question == sample.question
        assert prompt.options == {option.label: option.text for option in sample.options}
        assert not prompt.elaborates
        if not name.endswith("likelihood"):
            assert (prompt.kind, prompt.language) == (sample.task_type, language)


@pytest.mark.parametrize("name", ["random", "majority", "lexical"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("notes", NOTES.values(), ids=NOTES)
def test_asked_to_set_points_out_a_baseline_repeats_them(name: str, language: str, notes: str) -> None:
    asked = rendered("elaborate", language, open_ended(), notes)
    prompt = read_prompt(asked)
    assert prompt.elaborates and (prompt.knowledge, prompt.question, prompt.language) == (notes, "", language)
    assert Baseline(Spec.parse(f"baseline:{name}")).reply(asked) == notes


def test_a_question_that_wants_own_words_is_a_question() -> None:
    for language, question in (("en", "Set out Newton's laws in your own words."), ("zh", "请逐一用自己的话说明。")):
        for name in ("direct", "cot", "kprag_direct"):
            sample = open_ended(question=f"An essay:\n\n{question}")
            assert not read_prompt(rendered(name, language, sample, "- Laws: three")).elaborates
