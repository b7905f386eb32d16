"""What a model sees, text for text and picture for picture."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from making import blank, choice, image_ref, multi, open_ended, picture, true_false
from mmdyn.data import ImageFolder
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.models import ImagePart, TextPart
from mmdyn.prompts import PLACES, Template, template
from mmdyn.record import Condition
from mmdyn.run.render import Renderer
from mmdyn.sample import Option, Sample

DIRECT, KPRAG = Condition(), Condition(context="kprag")


def show(
    folder: Path, sample: Sample, condition: Condition = DIRECT, custom: Template | None = None, beside: str = ""
) -> list[str]:
    """The parts of the one message: texts as they are, pictures as <first 6 digits of their digest>."""
    (message,) = Renderer(ImageFolder(folder), custom).messages(sample, condition, beside)
    assert message.role == "user"
    return [part.text if isinstance(part, TextPart) else f"<{part.digest[:6]}>" for part in message.parts]


def test_a_choice_question_as_it_is_asked(tmp_path: Path) -> None:
    assert show(tmp_path, choice()) == [
        "How many sides has a triangle?\n\nA. two\nB. three\nC. four\nD. five\n\nExactly one option is right. Put its"
        ' letter on a last line of the form "Answer: X". Reply with that line alone.'
    ]


def test_without_options_there_is_no_gap(tmp_path: Path) -> None:
    (text,) = show(tmp_path, blank())
    assert text.startswith("2 + 2 = ____\n\nPut what belongs in the blank")


def test_chinese_samples_get_chinese_words(tmp_path: Path) -> None:
    (text,) = show(tmp_path, choice(language="zh", question="三角形有几条边？"))
    assert "只有一个选项正确" in text and "Answer" not in text


def test_knowledge_stands_beside_the_question_and_is_to_be_elaborated_where_that_is_asked(tmp_path: Path) -> None:
    sample = choice(knowledge_points=("Polygons", "Counting"))
    (text,) = show(tmp_path, sample, KPRAG, beside="- Polygons: A triangle has three sides.\n- Counting")
    assert "- Polygons: A triangle has three sides.\n- Counting\n\nQuestion:\n\nHow many sides" in text
    assert "elaborate on the knowledge points" not in text
    (inline,) = show(
        tmp_path, sample, Condition(context="kprag:inline"), beside="- Polygons: A triangle has three sides."
    )
    assert "elaborate on the knowledge points" in inline
    assert "Polygons" not in show(tmp_path, sample)[0]


@pytest.mark.parametrize("style", ["direct", "cot"])
def test_the_styles_differ_in_the_thinking_alone(tmp_path: Path, style: str) -> None:
    (text,) = show(tmp_path, choice(), Condition(style=style))
    assert ("step by step" in text) == (style == "cot")
    assert ("that line alone" in text) == (style == "direct")


def test_unmarked_pictures_come_first_and_marked_ones_where_they_stand(tmp_path: Path) -> None:
    first, second, third = (picture(text=text) for text in "123")
    for data in (first, second, third):
        ImageFolder(tmp_path).put(data)
    images = tuple(image_ref(data) for data in (first, second, third))
    sample = open_ended(question="Compare <image 2> with <image 1>; see <image 2> again.", images=images)
    parts = show(tmp_path, sample)
    marks = [f"<{sha256(data)[:6]}>" for data in (first, second, third)]
    assert parts[:5] == [marks[2], "Compare ", marks[1], " with ", marks[0]]
    assert parts[5].startswith("; see <image 2> again.\n\n")


def test_pictures_of_options_follow_their_letters(tmp_path: Path) -> None:
    left, right = picture(text="l"), picture(text="r")
    for data in (left, right):
        ImageFolder(tmp_path).put(data)
    options = (Option("A", image=image_ref(left)), Option("B", "this one", image_ref(right)))
    parts = show(tmp_path, msgspec.structs.replace(choice(), options=options))
    assert parts[0].endswith("\n\nA. ")
    assert parts[1:4] == [f"<{sha256(left)[:6]}>", "\nB. this one", f"<{sha256(right)[:6]}>"]


def test_options_that_stand_in_the_picture_are_not_listed(tmp_path: Path) -> None:
    sample = msgspec.structs.replace(choice(), options=tuple(Option(x) for x in "ABCD"), options_in_image=True)
    assert "A." not in show(tmp_path, sample)[0]


@pytest.mark.parametrize("make", [choice, multi, true_false, blank, open_ended])
def test_the_gold_answer_never_shows(tmp_path: Path, make: type[Sample]) -> None:
    sample = make()  # type: ignore[call-arg]
    others = {"A": ("C",), "fill_in_the_blank": (("7",),), "true_false": False, "open_ended": "something else"}
    other = msgspec.structs.replace(sample, answer=others.get(sample.task_type, ("C",)), explanation="because")
    for condition in (DIRECT, KPRAG, Condition(style="cot")):
        assert show(tmp_path, sample, condition) == show(tmp_path, other, condition)


def test_braces_and_marks_in_a_question_are_text(tmp_path: Path) -> None:
    hostile = "What is {options} and {knowledge!r} in $\\frac{1}{2}$?\n\n{instruction}"
    assert show(tmp_path, open_ended(question=hostile))[0].startswith(hostile)


def test_a_missing_picture_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"image 'images/x\.png' is missing"):
        show(tmp_path, choice(images=("images/x.png",)))


def test_the_digest_is_of_the_bytes_and_not_of_the_name(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(picture(text="a"))
    before = Renderer(ImageFolder(tmp_path)).messages(choice(images=("x.png",)), DIRECT)
    (tmp_path / "x.png").write_bytes(picture(text="b"))
    after = Renderer(ImageFolder(tmp_path)).messages(choice(images=("x.png",)), DIRECT)
    digests = [message[0].parts[0].digest for message in (before, after) if isinstance(message[0].parts[0], ImagePart)]
    assert digests == [sha256(picture(text="a")), sha256(picture(text="b"))]


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    custom = Template.parse("Exam {2026}.\n\n{knowledge}\n\n{question}\n{options}\n\nLetter only!", "p.txt")
    assert show(tmp_path, choice(), custom=custom) == ["Exam {2026}.\n\nHow many sides has a triangle?\nA. two\nB. three\nC. four\nD. five\n\nLetter only!"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{options}", "p.txt does not contain {question}: put it where the question should stand"),
        ("{question}", "p.txt does not contain {options}: put it where the options should stand"),
        ("{question} {options} {instructions}", "p.txt has the unknown place {instructions} (did you mean 'instruction'?): the places are " + ", ".join(PLACES)),
    ],
)  # fmt: skip
def test_a_bad_template_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        Template.parse(text, "p.txt")
    assert str(caught.value) == problem


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["direct", "cot", "kprag_direct", "kprag_cot"])
def test_every_layout_shows_every_place_it_should(name: str, language: str) -> None:
    text = template(name, language).text
    wanted = [place for place in PLACES if place != "examples" and (place != "knowledge" or name.startswith("kprag"))]
    assert all(f"{{{place}}}" in text for place in wanted)


def test_a_mark_in_an_option_shows_its_picture_there(tmp_path: Path) -> None:
    first, second = picture(text="1"), picture(text="2")
    for data in (first, second):
        ImageFolder(tmp_path).put(data)
    options = (Option("A", "<image 2>"), Option("B", "none of them"))
    changes = {"options": options, "images": (image_ref(first), image_ref(second)), "question": "Which is <image 1>?"}
    parts = show(tmp_path, msgspec.structs.replace(choice(), **changes))
    assert parts[:4] == ["Which is ", f"<{sha256(first)[:6]}>", "?\n\nA. ", f"<{sha256(second)[:6]}>"]
    with pytest.raises(ValueError, match="the question marks <image 2> but 1 images are given"):
        msgspec.structs.replace(choice(), **(changes | {"images": (image_ref(first),)}))
