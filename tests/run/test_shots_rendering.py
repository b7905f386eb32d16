"""Examples and earlier turns as a model sees them, message by message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import ImageFolder, convert, describe_sample, load as read
from mmdyn.keys import sha256
from mmdyn.models import ChoicesPart, ImagePart, Message
from mmdyn.models.backends._baseline_prompt import read_prompt
from mmdyn.plugins import load
from mmdyn.prompts import Template
from mmdyn.record import Condition
from mmdyn.run.render import Example, Renderer, example_answer, first_answer
from mmdyn.sample import Sample, Turn
from perturb import perturb

ONE = 'Exactly one option is right. Put its letter on a last line of the form "Answer: X".'
ALONE = " Reply with that line alone."
TRIANGLE = "How many sides has a triangle?\n\nA. two\nB. three\nC. four\nD. five"
PRIME = "Which numbers are prime?\n\nA. 2\nB. 4\nC. 3\nD. 9"
FORM = 'One or more options are right. Put the letters of all of them, and of no other, on a last line of the form "Answer: XY".'
DIALOGUE = (Turn("user", "What is a polygon?"), Turn("assistant", "A figure with sides."))


def said(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    """Roles and texts; pictures as <first 6 digits of their digest>, choices between bars."""

    def shown(part: Any) -> str:
        if isinstance(part, ChoicesPart):
            return "|" + "|".join(part.texts) + "|"
        return f"<{part.digest[:6]}>" if isinstance(part, ImagePart) else part.text

    return [(message.role, "".join(map(shown, message.parts))) for message in messages]


def show(
    folder: Path, sample: Sample, *examples: Sample, custom: str = "", beside: str = "", **condition: str
) -> list[tuple[str, str]]:
    images = ImageFolder(folder)
    renderer = Renderer(images, Template(custom) if custom else None)
    asked = Condition(**({"shots": str(len(examples))} | condition))  # type: ignore[arg-type]
    return said(renderer.messages(sample, asked, beside, [Example(one, images) for one in examples]))


def test_examples_are_turns_that_end_as_the_instruction_asks(tmp_path: Path) -> None:
    assert show(tmp_path, choice(), multi(explanation="2 and 3 are.")) == [
        ("user", f"{PRIME}\n\n{FORM}{ALONE}"),
        ("assistant", "Answer: AC"),
        ("user", f"{TRIANGLE}\n\n{ONE}{ALONE}"),
    ]
    think = "Think the question through step by step before you commit to an answer. "
    assert show(tmp_path, choice(), multi(explanation=" 2 and 3 are.\n"), multi(), style="cot") == [
        ("user", f"{PRIME}\n\n{think}{FORM}"),
        ("assistant", "2 and 3 are.\n\nAnswer: AC"),
        ("user", f"{PRIME}\n\n{think}{FORM}"),
        ("assistant", "Answer: AC"),
        ("user", f"{TRIANGLE}\n\n{think}{ONE}"),
    ]


def test_the_base_form_is_one_text_and_a_begun_answer(tmp_path: Path) -> None:
    pair = f"Question:\n\n{PRIME}\n\nAnswer: AC\n\n"
    assert show(tmp_path, choice(), multi(explanation="2 and 3 are."), shots="1:base") == [
        ("user", f"{pair}Question:\n\n{TRIANGLE}"),
        ("assistant", "Answer:"),
    ]
    reasons = f"Question:\n\n{PRIME}\n\nReasoning: 2 and 3 are.\n\nAnswer: AC\n\n"
    assert show(tmp_path, choice(), multi(), multi(explanation="2 and 3 are."), shots="2:base", style="cot") == [
        ("user", f"{pair}{reasons}Question:\n\n{TRIANGLE}"),
        ("assistant", "Reasoning:"),
    ]
    assert show(tmp_path, choice(), multi(), shots="1:base", style="cot")[-1] == ("assistant", "Answer:")
    assert show(tmp_path, choice(), shots="0:base", style="cot") == [
        ("user", f"Question:\n\n{TRIANGLE}"),
        ("assistant", "Reasoning:"),
    ]


def test_chinese_samples_are_shown_in_chinese_words(tmp_path: Path) -> None:
    asked = true_false(language="zh", question="七是质数。")
    example = choice(language="zh", question="三角形有几条边？", texts=("二", "三"), explanation="三条。")
    assert show(tmp_path, asked, example, shots="1:base", style="cot") == [
        ("user", "题目：\n\n三角形有几条边？\n\nA. 二\nB. 三\n\n分析：三条。\n\n答案：B\n\n题目：\n\n七是质数。\n\n这一说法正确还是错误？"),
        ("assistant", "分析："),
    ]  # fmt: skip
    turns = show(tmp_path, asked, example, style="cot")
    assert turns[1] == ("assistant", "三条。\n\n答案：B") and turns[2][1].endswith("写“答案：正确”或“答案：错误”。")


@pytest.mark.parametrize(
    ("sample", "line"),
    [
        (blank(answer=(("4", "four"), ("5",))), "Answer: 4; 5"),
        (blank(answer=(("4", "四"), ("5",)), language="zh"), "答案：4；5"),
        (true_false(answer=False), "Answer: False"),
        (true_false(answer=False, language="zh"), "答案：错误"),
        (open_ended(), "Answer: Because ice is less dense than water."),
    ],
)
def test_each_task_has_its_form(sample: Sample, line: str) -> None:
    assert example_answer(sample, "direct", base=False) == line == example_answer(sample, "direct", base=True)


def test_options_are_weighed_after_examples(tmp_path: Path) -> None:
    assert show(tmp_path, choice(), true_false(), style="likelihood") == [
        ("user", "Seven is a prime number.\n\nIs this statement true or false?"),
        ("assistant", "Answer: True"),
        ("user", TRIANGLE),
        ("assistant", "Answer:| A| B| C| D|"),
    ]
    assert show(tmp_path, choice(), true_false(), style="likelihood", shots="1:base") == [
        ("user", f"Question:\n\nSeven is a prime number.\n\nIs this statement true or false?\n\nAnswer: True\n\nQuestion:\n\n{TRIANGLE}"),
        ("assistant", "Answer:| A| B| C| D|"),
    ]  # fmt: skip


def test_pictures_stand_with_their_examples(tmp_path: Path) -> None:
    own, others = ImageFolder(tmp_path / "own"), ImageFolder(tmp_path / "others")
    data = [picture(text=text) for text in "123"]
    a, b, c = (f"<{sha256(each)[:6]}>" for each in data)
    own.put(data[0])
    for each in data[1:]:
        others.put(each)
    asked = blank(question="Is it 1? ____", images=(image_ref(data[0]),))
    example = blank(question="Compare <image 2> and <image 1>.", images=tuple(map(image_ref, data[1:])))
    condition = Condition(shots="1:base")
    found = Renderer(own).messages(asked, condition, examples=[Example(example, others)])
    assert said(found)[0][1] == (f"Question:\n\nCompare {c} and {b}.\n\nAnswer: 4\n\n{a}Question:\n\nIs it 1? ____")
    chat = said(Renderer(own).messages(asked, Condition(shots="1"), examples=[Example(example, others)]))
    assert chat[0][1].startswith(f"Compare {c} and {b}.") and chat[2][1].startswith(f"{a}Is it 1?")


def test_what_was_said_before_stands_before_the_question(tmp_path: Path) -> None:
    data = picture()
    ImageFolder(tmp_path).put(data)
    mark = f"<{sha256(data)[:6]}>"
    turns = (Turn("user", "What is in <image 1>?"), Turn("assistant", "A box."))
    asked = open_ended(question="And around <image 1>?", turns=turns, images=(image_ref(data),))
    found = show(tmp_path, asked)
    assert found[:2] == [("user", f"What is in {mark}?"), ("assistant", "A box.")]
    assert found[2][1].startswith("And around <image 1>?\n\n") and len(found) == 3, "a picture is shown once"
    assert show(tmp_path, asked, choice(turns=DIALOGUE), shots="1:base") == [
        ("user", "Question:\n\nWhat is a polygon?\n\nAnswer: A figure with sides.\n\n"
         f"Question:\n\n{TRIANGLE}\n\nAnswer: B\n\n"
         f"Question:\n\nWhat is in {mark}?\n\nAnswer: A box.\n\nQuestion:\n\nAnd around <image 1>?"),
        ("assistant", "Answer:"),
    ]  # fmt: skip


def test_knowledge_lies_beside_the_question_alone(tmp_path: Path) -> None:
    more = {"context": "kprag:inline", "beside": "- Polygons: they have sides."}
    chat = show(tmp_path, choice(), multi(), shots="1", **more)
    assert chat[0][1] == f"{PRIME}\n\n{FORM}{ALONE}" and "First elaborate" in chat[2][1]
    ((_, text), begun) = show(tmp_path, choice(), multi(), shots="1:base", **more)
    introduced = "These knowledge points may bear on the question below:\n\n- Polygons: they have sides."
    assert text == f"Question:\n\n{PRIME}\n\nAnswer: AC\n\n{introduced}\n\nQuestion:\n\n{TRIANGLE}"
    assert begun == ("assistant", "Answer:")


def test_a_template_of_ones_own_says_where_examples_stand(tmp_path: Path) -> None:
    custom = "Look at these:\n\n{examples}\n\nNow: {question}\n{options}\nGo!"
    pairs = f"Now: {PRIME.replace(chr(10) * 2, chr(10))}\nGo! AC\n\nNow: Seven is a prime number.\n\nGo! True"
    now = f"Now: {TRIANGLE.replace(chr(10) * 2, chr(10))}\nGo!"
    asked: dict[str, Any] = {"custom": custom, "style": "custom"}
    assert show(tmp_path, choice(), multi(), true_false(), shots="2:base", **asked) == [
        ("user", f"Look at these:\n\n{pairs}\n\n{now}")
    ]
    assert show(tmp_path, choice(), shots="0", **asked) == [("user", f"Look at these:\n\n{now}")]
    unled = {"custom": "{examples}\n\n{question}\n\n{options}", "style": "custom"}
    assert show(tmp_path, choice(), multi(), shots="1:base", **unled) == [
        ("user", f"{PRIME}\nAnswer: AC\n\n{TRIANGLE}")
    ]
    assert [role for role, _ in show(tmp_path, choice(), multi(), shots="1", **asked)] == ["user", "assistant", "user"]


def test_what_a_base_model_asks_itself_is_cut_off() -> None:
    written = "Answer: B\n\nQuestion:\n\nWhat is 1 + 1?\n\nAnswer: C"
    assert first_answer(written, "en") == "Answer: B"
    assert first_answer("答案：B\n题目：\n\n还有？\n\n答案：C", "zh") == "答案：B"
    assert first_answer("Answer: the Question: of it", "en") == "Answer: the Question: of it"
    own = Template("Look:\n\n{examples}\n\nNow: {question}\n{options}\nGo!")
    assert first_answer("B\n\nNow: What is 1 + 1?\nGo! C", "en", own) == "B"
    assert first_answer(written, "en", Template("{question} {options}")) == written
    bare = Template("{examples}\n\n{question}\n{options}\nAnswer:")
    assert first_answer(" B\n\nWhich planet is largest?\nA. Mars\nB. Earth\nAnswer: C", "en", bare) == " B"
    assert first_answer(" B\n\nIt has three sides.", "en", bare) == " B\n\nIt has three sides."
    marked = Template("# {question}\n{options}")
    assert first_answer("We solve it.\n## Step 1\n**Answer: B**", "en", marked).endswith("**Answer: B**")


def test_without_shots_nothing_is_otherwise(tmp_path: Path) -> None:
    assert show(tmp_path, choice()) == [("user", f"{TRIANGLE}\n\n{ONE}{ALONE}")]
    bare = replace(choice(), turns=())
    assert show(tmp_path, bare, style="likelihood")[0] == ("user", TRIANGLE)


def test_people_judges_and_variants_see_what_was_said_before(tmp_path: Path) -> None:
    sample = open_ended(turns=DIALOGUE)
    assert "  [user] What is a polygon?\n  [assistant] A figure with sides.\n  Why does ice" in describe_sample(sample, ImageFolder(tmp_path))  # fmt: skip
    sheet = load("rubrics", "match")().sheet(sample, "It is light.", False)
    assert "[user] What is a polygon?\n[assistant] A figure with sides.\nWhy does ice float on water?" in sheet.text
    source = write_set(tmp_path / "set", [choice(turns=DIALOGUE), multi(turns=DIALOGUE), true_false(turns=DIALOGUE)])
    varied = perturb(source, tmp_path / "varied", ops="shuffle,substitute,paraphrase,convert,pad", quiet=True)
    assert len(varied) > 3 and all(variant.turns == DIALOGUE for variant in varied)
    export = tmp_path / "set.tsv"
    convert(source.folder, export)
    assert [found.turns for found in read(export)] == [DIALOGUE] * 3


@pytest.mark.parametrize("shots", ["1", "1:base", "0:base"])
def test_a_baseline_reads_the_question_and_not_its_examples(tmp_path: Path, shots: str) -> None:
    images = ImageFolder(tmp_path)
    examples = [Example(multi(question="Is a triangle three?", language="zh"), images)] * int(shots[0])
    asked = choice(question="How many sides, three or two?")
    found = read_prompt(Renderer(images).messages(asked, Condition(shots=shots), examples=examples))
    assert (found.question, found.language, found.task_type) == (asked.question, "en", "single_choice")
    assert found.options == {option.label: option.text for option in asked.options}
