"""Initials in replies: F. Scott Fitzgerald is no option F, E. coli no option E, T. S. Eliot not true."""

from __future__ import annotations

import pytest

from mmdyn.scoring.extract import extract

NUMBERS = ("4", "5", "6", "7", "8", "9", "10", "11", "12", "13")
AUTHORS = (
    "Ernest Hemingway",
    "J. K. Rowling",
    "Abraham Lincoln",
    "Benjamin Franklin",
    "C. S. Lewis",
    "F. Scott Fitzgerald",
)
BEINGS = (
    "Homo sapiens",
    "Escherichia coli",
    "Drosophila",
    "Caenorhabditis elegans",
    "yeast",
    "a virus",
    "mouse",
    "rat",
)
SHORT = ("E. coli", "C. elegans", "D. melanogaster", "S. cerevisiae", "A. thaliana")
ROLES = ("The author", "The reader", "The critic", "The editor")


def read(reply: str, texts: tuple[str, ...]) -> str:
    found = extract("single_choice", reply, labels=tuple("ABCDEFGHIJ")[: len(texts)], option_texts=texts).found
    return "".join(found or ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        ("The answer is F. Scott Fitzgerald.", NUMBERS),
        ("Answer: F. Scott Fitzgerald", NUMBERS),
        ("It is F. Scott Fitzgerald.", NUMBERS),
        ("F. Scott Fitzgerald", NUMBERS),
        ("**F. Scott Fitzgerald**", NUMBERS),
        ("The answer is F. Scott Fitzgerald, who wrote it.", NUMBERS),
        ("The answer is J. K. Rowling.", NUMBERS),
        ("The answer is J.K. Rowling.", NUMBERS),
        ("The answer is J. Robert Oppenheimer.", NUMBERS),
        ("Answer: D. H. Lawrence", NUMBERS),
        ("So the answer is B. B. King.", NUMBERS),
        ("\\boxed{H. G. Wells}", NUMBERS),
        ("The answer is A. Lincoln.", AUTHORS),
        ("Answer: B. Franklin", AUTHORS),
        ("The answer is E. Hemingway.", AUTHORS),
        ("The answer is C. elegans.", BEINGS),
        ("\\boxed{C. elegans}", BEINGS),
        ("The answer is E. coli.", BEINGS),
        ("E. coli", BEINGS),
        ("The answer is H. sapiens.", BEINGS),
    ],
)
def test_an_initial_is_no_label(reply: str, texts: tuple[str, ...]) -> None:
    assert read(reply, texts) == ""


@pytest.mark.parametrize(
    ("reply", "texts", "label"),
    [
        ("The answer is E. coli.", SHORT, "A"),
        ("E. coli", SHORT, "A"),
        ("The answer is C. elegans, a worm.", SHORT, "B"),
        ("Answer: D. melanogaster", SHORT, "C"),
        ("\\boxed{A. thaliana}", SHORT, "E"),
        ("The answer is J. K. Rowling.", AUTHORS, "B"),
        ("The answer is C. S. Lewis.", AUTHORS, "E"),
        ("**Answer:** F. Scott Fitzgerald", AUTHORS, "F"),
        ("Final answer: F. F. Scott Fitzgerald", AUTHORS, "F"),
        ("The answer is (F). Scott Fitzgerald wrote it.", AUTHORS, "F"),
        ("The answer is A. The author", ROLES, "A"),
        ("The answer is A. The author.", ROLES, "A"),
        ("The answer is B. The reader, because he buys it.", ROLES, "B"),
        ("The answer is D. The editor of the paper.", ROLES, "D"),
        ("The answer is E. yeast", BEINGS, "E"),
        ("The answer is E. a fungus", BEINGS, "E"),
        ("The answer is H. Rat", BEINGS, "H"),
        ("The answer is D. 7", NUMBERS, "D"),
        ("The answer is D. It is seven.", NUMBERS, "D"),
        ("The answer is D. Because of the sum.", NUMBERS, "D"),
        ("Answer: D. Seven", NUMBERS, "D"),
        ("The answer is D. The sum of three and four is seven.", NUMBERS, "D"),
        ("The answer is B. Kinetic Energy", ("heat", "the kinetic energy"), "B"),
        ("The answer is B. oxygen", ("N2", "O2"), "B"),
        ("The answer is D. Trump.", ("Obama", "Biden", "Clinton", "Trump"), "D"),
        ("The answer is B. New York", ("", ""), "B"),
    ],
)
def test_a_label_before_words_and_a_name_that_is_an_option_are_read(
    reply: str, texts: tuple[str, ...], label: str
) -> None:
    assert read(reply, texts) == label


@pytest.mark.parametrize(
    "name",
    [
        "F. Scott Fitzgerald", "J. K. Rowling", "J.K. Rowling", "A. Lincoln", "B. Franklin", "C. elegans", "E. coli",
        "C. S. Lewis", "T. S. Eliot", "T. rex", "F. Chopin", "U.S. Grant", "H. G. Wells", "Mt. Everest", "Dr. Watson",
        "St. Petersburg", "W. E. B. Du Bois", "P. falciparum", "G. W. Leibniz", "J. S. Bach",
    ],
)  # fmt: skip
def test_a_blank_is_filled_with_a_whole_name(name: str) -> None:
    for reply in (
        f"The answer is {name}.",
        f"Answer: {name}",
        f"The answer is {name}. It is old.",
        name,
        f"**{name}**",
    ):
        for task_type, wanted in (("fill_in_the_blank", (name,)), ("open_ended", name)):
            found = extract(task_type, reply).found
            assert found == wanted or (found is None and name.startswith("W. E.")), reply
        assert extract("true_false", reply).found is None, reply


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("The answer is B. However, the text says more.", "B"),
        ("The answer is C. Carbon has four.", "C"),
        ("Answer: B. Because it is so.", "B"),
        ("The answer is B. Explanation: it is.", "B"),
        ("The answer is vitamin C. Scurvy follows.", "vitamin C"),
        ("It is not A. The answer is B.", "B"),
        ("The answer is 5 N. Newton found it.", "5 N"),
        ("The answer is B.\nOxygen", "B"),
    ],
)
def test_a_sentence_behind_a_letter_is_no_part_of_it(reply: str, wanted: str) -> None:
    assert extract("open_ended", reply).found == wanted


@pytest.mark.parametrize(
    ("reply", "truth"),
    [
        ("Answer: F. False", False),
        ("T. True.", True),
        ("The answer is T. The claim holds.", True),
        ("F.", False),
        ("The answer is F. Water boils at 100 °C.", False),
        ("T. correct", True),
    ],
)
def test_letters_for_true_and_false_are_still_read(reply: str, truth: bool) -> None:
    assert extract("true_false", reply).found is truth
