from __future__ import annotations

from pathlib import Path

import pytest
from real_sets import assert_refused, bad, counts, made, real, texts, without

from making import picture

ANSWER = "Answer (final answer highlighted)"
CHOICE = {
    "id": "Multiple_Choice-Physics-1", "type": "Multiple_Choice", "subject": "Physics",
    "Question": "How long does it take? \n \n A. 1 s \n B. 2 s \n C. 3 s \n D. 4 s", ANSWER: "C: Because.",
    "ImagePath": "Physics/1", "image": "Multiple_Choice/Physics/1.jpg",
}  # fmt: skip
FREE = {**CHOICE, "id": "f", "type": "Free_Response", "Question": "How long?", ANSWER: r"\answer{4.4e-4} By division."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "images" / "Multiple_Choice" / "Physics"
    place.mkdir(parents=True)
    (place / "1.jpg").write_bytes(picture(format="JPEG"))
    return tmp_path


def test_every_row_but_one_becomes_a_sample() -> None:
    assert counts("scemqa") == {"single_choice": 161, "fill_in_the_blank": 40}
    assert bad("scemqa") == [("questions.jsonl", 137, "the answer 'E' is no option: the options are A, B, C, D")]


def test_a_choice() -> None:
    sample = real("scemqa")["scemqa-Multiple_Choice-Biology-34"]
    assert sample.question == "Here is a sketch of an animal cell.\n\nWhich of the following statements is correct?"
    assert texts(sample)[1] == "Structure B packages proteins for export."
    assert sample.answer == ("B",) and sample.explanation.startswith("Structure B is the Golgi apparatus")
    assert sample.fields == {"discipline": "biology", "modality": "multimodal"} and sample.language == "en"


@pytest.mark.parametrize(
    ("id", "answer", "explanation"),
    [
        ("Multiple_Choice-Biology-150", "D", "The growth of curve A is exponential"),
        ("Multiple_Choice-Biology-180", "A", "It says in the passage"),
        ("Multiple_Choice-Chemistry-103", "D", "Hydrogen bonding is possible"),
        ("Multiple_Choice-Chemistry-34", "D", "Hydrogen bonding may occur"),
        ("Multiple_Choice-Math-206", "E", "The first step is determining"),
        ("Multiple_Choice-Math-100", "A", "Statement I is correct"),
        ("Multiple_Choice-Math-21", "B", ""),
        ("Multiple_Choice-Biology-22", "D", "Refer to the second graph"),
    ],
)
def test_answers_are_written_in_many_ways(id: str, answer: str, explanation: str) -> None:
    sample = real("scemqa")[f"scemqa-{id}"]
    assert sample.answer == (answer,) and sample.explanation.startswith(explanation)


def test_options_that_are_letters_stand_in_the_picture() -> None:
    pictured = {sample.id for sample in real("scemqa").values() if sample.options_in_image}
    assert pictured == {"scemqa-Multiple_Choice-Chemistry-105"}


def test_misread_letters_are_mended() -> None:
    samples = real("scemqa")
    assert texts(samples["scemqa-Multiple_Choice-Physics-111"])[2] == "2√2(mV) ↘"
    assert "m = 1.43 × 104 kg" in samples["scemqa-Multiple_Choice-Physics-123"].question
    assert "R1 = 50 Ω" in samples["scemqa-Multiple_Choice-Physics-78"].question
    assert samples["scemqa-Multiple_Choice-Math-206"].question.startswith("A teacher at a community college")


def test_free_responses_are_blanks() -> None:
    samples = real("scemqa")
    assert samples["scemqa-Free_Response-Biology_Free_Response-16"].answer == (("4.4e-4",),)
    assert samples["scemqa-Free_Response-Math_Free_Response-4"].answer == (("3.397", "3", "4"),)
    hybrid = samples["scemqa-Free_Response-Chemistry_Free_Response-17"]
    assert hybrid.answer == (("$sp^2$",),) and hybrid.fields["category"] == "Long Free-Response Question"
    assert samples["scemqa-Free_Response-Biology_Free_Response-22"].explanation.startswith("Line C showed")


def test_questions_with_one_picture_share_a_group() -> None:
    groups = [
        real("scemqa")[f"scemqa-{id}"].group for id in ("Multiple_Choice-Biology-175", "Multiple_Choice-Biology-177")
    ]
    assert groups[0] == groups[1] == real("scemqa")["scemqa-Free_Response-Biology_Free_Response-41"].group
    assert groups[0] != real("scemqa")["scemqa-Multiple_Choice-Biology-34"].group


def test_a_long_free_response_is_open_ended(folder: Path) -> None:
    long = "because the force on both of them is the same at any time"
    short, opened = made("scemqa", folder, FREE, {**FREE, "id": "g", ANSWER: rf"\answer{{{long}}} So."})
    assert short.sample and short.sample.task_type == "fill_in_the_blank" and short.sample.explanation == "By division."
    assert opened.sample and opened.sample.task_type == "open_ended" and opened.sample.answer == long


@pytest.mark.parametrize(
    ("said", "answer", "explanation"),
    [
        ("4.4e-4", "4.4e-4", ""),
        ("525 Make sure you read it.", "525", "Make sure you read it."),
        ("**-2.28** $f(4)$", "-2.28", "$f(4)$"),
        (r"\boxed{7} So.", "7", "So."),
        ("Answer: C. Line C showed it.", "C", "Line C showed it."),
        ("Yes. None of them.", "Yes", "None of them."),
        ("160.85\n$V = 1$", "160.85", "$V = 1$"),
    ],
)
def test_answers_that_are_not_marked(folder: Path, said: str, answer: str, explanation: str) -> None:
    [row] = made("scemqa", folder, {**FREE, ANSWER: said})
    assert row.sample and (row.sample.answer, row.sample.explanation) == (((answer,),), explanation)
    assert row.sample.meta == ({} if "boxed" in said else {"mended": ["The answer stood without \\answer{…}."]})


@pytest.mark.parametrize(
    "said", ["c: Because.", r"$\mathrm{C}$. Because.", "The answer is (C). Because.", "**C.** Because."]
)
def test_letters_in_other_writings(folder: Path, said: str) -> None:
    [row] = made("scemqa", folder, {**CHOICE, ANSWER: said})
    assert row.sample and (row.sample.answer, row.sample.explanation) == (("C",), "Because.")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**CHOICE, ANSWER: "E: Because."}, "the answer 'E' is no option"),
        ({**CHOICE, ANSWER: "Because of B."}, "does not begin with an option's letter"),
        ({**CHOICE, "Question": "How long does it take?"}, "without options in its text"),
        ({**CHOICE, "image": "Physics/2.jpg"}, "'Physics/2.jpg' is missing"),
        ({**CHOICE, "image": "../../secret.jpg"}, "leaves the folder"),
        ({**CHOICE, "subject": "Art"}, "the subject 'Art' is none of the set's"),
        ({**CHOICE, "type": "Essay"}, "the type 'Essay' is neither"),
        ({**FREE, ANSWER: "4.4e-4 0.5 V"}, r"does not begin with \answer{…}"),
        ({**FREE, ANSWER: "Beige Although both are."}, r"does not begin with \answer{…}"),
        ({**FREE, ANSWER: "**3.397** **3** Read it."}, r"does not begin with \answer{…}"),
        ({**CHOICE, ANSWER: "A or B"}, "does not begin with an option's letter"),
        ({**FREE, ANSWER: r"\answer{4.4"}, "is never closed"),
        (without(CHOICE, "image"), "the key 'image' is missing: add it"),
    ],
)
def test_bad_rows(folder: Path, row: dict[str, object], problem: str) -> None:
    assert_refused("scemqa", folder, {**CHOICE, "id": "x"}, row, problem)
