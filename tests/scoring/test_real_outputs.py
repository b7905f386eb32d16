"""Real model outputs, where the public data lie beside the checkout: what is read agrees with what its own benchmark
read there."""

from __future__ import annotations

from collections import Counter

import pytest
from labelled_replies import LabelledReply
from real_outputs import DATA, OUTPUTS, gaokao_blanks, mathvision, mathvista, mmmu_pro

from mmdyn.scoring.extract import extract

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not there")

READ = {
    "GAOKAO-Bench questions": (296, 0), "GAOKAO-Bench passages": (52, 0), "MMLU-Pro": (548, 57), "MMMU-Pro": (555, 15),
    "MATH-Vision": (733, 61), "MathVista": (389, 94),
}  # fmt: skip
"""How many replies are read as the stored extraction reads them (at least), and otherwise (at most: often it reads
nothing)."""


@pytest.mark.parametrize("name", READ)
def test_what_is_read_agrees_with_the_stored_extraction(name: str) -> None:
    counts = Counter[str]()
    for output in OUTPUTS[name](DATA):
        reply = LabelledReply.of_output(name, output)
        counts.update(reply.verdicts(extract(**reply.asked()).found))
    agree, otherwise = READ[name]
    assert counts["agree"] >= agree and counts["otherwise"] <= otherwise, counts


@pytest.mark.parametrize("name", ["GAOKAO-Bench questions", "MMLU-Pro", "MMMU-Pro", "MATH-Vision", "MathVista"])
def test_as_much_of_what_is_read_is_right_as_with_the_makers(name: str) -> None:
    choices = [output for output in OUTPUTS[name](DATA) if output.options]
    read = [output.gold == ours for output in choices if (ours := output.read()) is not None]
    theirs = [output.gold == output.theirs for output in choices if output.theirs is not None]
    assert sum(read) / len(read) >= sum(theirs) / len(theirs) - 0.005


def test_blanks_earn_no_credit_that_the_markers_withheld() -> None:
    mistaken_markers = {"2010-2022_Math_I_Fill-in-the-Blank", "2010-2022_Math_II_Fill-in-the-Blank"}
    marked = [output for output in gaokao_blanks() if output.id in mistaken_markers]
    credited = [output for output in marked if output.equal(output.read(), output.gold)]
    assert (len(credited) >= 16, [output for output in credited if not output.right]) == (True, [])


def test_an_apology_is_no_letter() -> None:
    for output in mmmu_pro():
        if output.reply.startswith(("I'm sorry", "I'm unable")) and "Answer:" not in output.reply:
            assert output.read() is None


def test_free_answers_earn_no_credit_that_was_withheld() -> None:
    free = [output for outputs in (mathvision, mathvista) for output in outputs(DATA) if not output.options]
    credited = [output for output in free if output.equal(output.read(), output.gold)]
    assert len(credited) >= 36
    assert [output.reply for output in credited if not output.right] == ["70 degrees"]
