"""No text makes a reader raise, hang, or find an answer that is not there.

Few texts are tried; `--hypothesis-profile=long` tries 100,000 in each test: docs/performance.md has the whole command.
"""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from making_hostile import FORMULAS, SEARCH, TEXTS

from making import blank, choice, multi, open_ended, true_false
from mmdyn.record import Reply
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer
from mmdyn.scoring.extract import extract

SAMPLES = (
    choice(), multi(), blank(), blank(answer=(("4",), ("x = 5",))), true_false(), open_ended(answer="\\frac{1}{2}"),
)  # fmt: skip


def check(sample: Sample, text: str) -> None:
    scorer = Scorer()
    extraction = scorer.extract(sample, Reply(text=text))
    if extraction.span:
        assert 0 <= extraction.span[0] <= extraction.span[1] <= len(text)
    if sample.labels and extraction.found:
        assert isinstance(extraction.found, tuple) and set(extraction.found) <= set(sample.labels)
    score = scorer.score(sample, Reply(text=text))
    assert score.value is not None and 0 <= score.value <= 1
    assert score == scorer.score(sample, Reply(text=text))
    msgspec.json.encode(score)


def test_the_long_search_is_long() -> None:
    long = settings.get_profile("long")
    assert (long.max_examples, long.deadline) == (100_000, None) and set(long.suppress_health_check) == set(HealthCheck)
    assert SEARCH.max_examples == max(150, settings().max_examples) and SEARCH.deadline is None


@pytest.mark.slow
@given(TEXTS)
@SEARCH
def test_any_text_is_read_without_raising(text: str) -> None:
    for sample in SAMPLES:
        check(sample, text)


@given(
    TEXTS, st.lists(st.text(max_size=6), min_size=2, max_size=5, unique=True), st.lists(TEXTS, min_size=5, max_size=5)
)
@SEARCH
def test_any_labels_and_options_are_read_without_raising(text: str, labels: list[str], options: list[str]) -> None:
    for task_type in ("single_choice", "multi_select"):
        got = extract(task_type, text, question=options[-1], labels=tuple(labels), option_texts=tuple(options))
        assert got.found is None or set(got.found) <= set(labels)  # type: ignore[arg-type]


@given(FORMULAS)
@SEARCH
def test_any_latex_is_read_without_raising(given: str) -> None:
    check(SAMPLES[-1], f"The answer is ${given}$.")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["answer is A ", "answer is A. answer is B. wait ", " ", "\n", "A", "A, ", "(", "\\boxed{", "\\frac{", "<think>", "<", "\u200b", "A\u200b", "[", '{"a":', "1,000",
     "选", "选A", "是", "A正确", "is ", " and", "\ud800", "(1) ", "1. a\n", "A. x\n", "answer:", "so ", "the answer is not A but ", "x=", "≈", "true false ", "statement is ",
     "|-|\n", "| Answer |\n|---|\n", "| A | yes |\n", "- ", "~~", "**a**", "__", "option 3 ", "第三个选项", "(a) ", "\nquestion: A answer: B ", "A is correct ", "but B is wrong ", "A could be right ",
     "true ✅", "1: ", "<a1>", "</a>", "first blank ", "it is true ", "[answer] ", "答案 ", "correct: A ", "DAGFE\n", "A\nB\n",
     "$", "$$", "or possibly B ", "we get A as the answer ", "answer of A ", "if a, the answer would be A. b ", "a is called ", "**4**", "the case ", "print(1)\n", "x = 1\nprint(x)\n", "def f():\n    print(", "how many cats are there? there are 4 cats. ", "is it a cat? it is a cat. ", "|---|\n" + "__" * 9_000],
)  # fmt: skip
def test_a_megabyte_is_read_in_no_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    for task_type in ("single_choice", "multi_select", "true_false", "fill_in_the_blank", "open_ended"):
        for blanks in (3, 1) if task_type == "fill_in_the_blank" else (1,):
            options = ("A cat", "2", "x", "true")
            extract(task_type, text, question=text, labels=tuple("ABCD"), option_texts=options, blanks=blanks)
    assert time.process_time() - began < 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", [" ", "\n", " \n", "\t", "\u3000", "-", "-- ", "|", "_", "_a", "x_", "a ", "A, ", "1 ", "(", "{", "'", "*", "·", "9"],
)  # fmt: skip
@pytest.mark.parametrize(
    "before", ["", "Answer: ", "| a | b |\n|", "\\boxed{", "The answer is A", "1. A\n2. ", "<answer>"]
)
def test_a_piece_that_goes_on_for_ever_is_scored_in_no_time(before: str, piece: str) -> None:
    began = time.process_time()
    for sample in SAMPLES:
        check(sample, f"{before}{piece * (6_000 // len(piece))}\x01x")
    assert time.process_time() - began < 4
