"""Sample and its JSON: what is taken, and the sentence for what is not."""

from __future__ import annotations

import msgspec
import pytest

from making import blank, choice, multi, open_ended, true_false
from mmdyn.sample import Option, Sample, from_json

EVERY_TYPE = [choice(), multi(), blank(), true_false(), open_ended()]


def test_a_sample_is_frozen() -> None:
    with pytest.raises(AttributeError):
        choice().question = "another"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"id": " "}, "id is empty: give every sample an id of its own"),
        ({"answer": ("Z",)}, "the answer 'Z' is no option: the options are A, B, C, D"),
        ({"answer": ("A", "B")}, "a single_choice has one answer, 2 given: use multi_select for several"),
        ({"task_type": "multi_select", "answer": ("A", "A")}, "the answer names an option twice"),
        ({"answer": "A"}, 'the answer of a single_choice must be a list of option labels, such as ["A"]; "A" given'),
        ({"options": ()}, "a single_choice needs at least two options, 0 given"),
        ({"options": (Option("A", "x"), Option("A", "y"))}, "option labels are given twice: A, A"),
        ({"options": (Option("A", "x"), Option("B"))}, "option B is empty: give it a text or an image, or set options_in_image"),
        ({"task_type": "open_ended", "answer": "x"}, "a open_ended takes no options, 4 given: drop them or change task_type"),
        ({"points": 0}, "points is 0: it must be a positive number"),
        ({"points": float("nan")}, "points is nan: it must be a positive number"),
        ({"images": ("../x.png",)}, "image path '../x.png' leaves the folder: name images relative to the set"),
        ({"images": ("/etc/x.png",)}, "image path '/etc/x.png' leaves the folder: name images relative to the set"),
        ({"images": ("C:\\x.png",)}, "image path 'C:\\\\x.png' leaves the folder: name images relative to the set"),
        ({"question": "See <image 2>.", "images": ("a.png",)}, "the question marks <image 2> but 1 images are given"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        msgspec.structs.replace(choice(), **changes)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id":"a","opions":[]}', "unknown key 'opions' (did you mean 'options'?); free keys belong inside \"meta\""),
        ('{"id":"a","options":[{"label":"A","txt":"x"}]}', "unknown key 'txt' in options[0] (did you mean 'text'?)"),
        ('{"id":"a","question":"q","answer":true}', "the key 'task_type' is missing: add it"),
        ('{"id":', "not valid JSON"),
        ('{"id":"a","question":"q","task_type":"true_false","answer":"yes"}', "the answer of a true_false must be true or false"),
        ('{"id":"a","question":"q","task_type":"fill_in_the_blank","answer":["4"]}', "a list with one list of accepted strings for each blank"),
    ],
)  # fmt: skip
def test_bad_json_is_explained(line: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        from_json(line, Sample)
    assert problem in str(caught.value)


def test_images_of_options_count_once_and_in_order() -> None:
    options = (Option("A", image="b.png"), Option("B", image="a.png"))
    sample = msgspec.structs.replace(choice(), options=options, answer=("A",), images=("a.png", "c.png"))
    assert sample.all_images == ("a.png", "c.png", "b.png")


def test_the_digest_notices_every_part() -> None:
    sample = choice()
    others = [
        msgspec.structs.replace(sample, question="another"),
        msgspec.structs.replace(sample, answer=("A",)),
        msgspec.structs.replace(sample, images=("a.png",)),
    ]
    assert len({sample.digest, *(other.digest for other in others)}) == 4
    assert choice().digest == sample.digest
