"""mmdyn plan --memory: what evidence of memory takes, what a set or a run would show, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import mmdyn
from tables.making_runs import DYNAMIC, STANDARD, answer, write_run

from making import choice, write_set
from mmdyn.run import plan_memory
from mmdyn.run.memory_plan import KINDS, SHARES, questions_for
from mmdyn.stats import MemoryPriors
from mmdyn.tables import memory_page

UNKNOWN = (
    "Which cell applies is not known: nobody can tell beforehand which share of the questions a model has seen, or what"
    " a seen question gains it."
)
CUT_OFFS = """\
Scores up to a cut-off, and after it (gain in points)

 leaked       +5      +10      +20
 ─────────────────────────────────
 5 %           -  450,000  120,000
 10 %    450,000  120,000   29,000
 30 %     50,000   13,000    3,200
 60 %     13,000    3,200      780
 100 %     4,500    1,200      290

in all rows: +50 -, +100 -
Takes answers of two models with known cut-offs, and the years of the questions.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_set(tmp_path / "exam", (choice(f"s{n}") for n in range(290)), "exam")
    return tmp_path


def needed(kind: str, share: float, gain: float) -> int | None:
    return questions_for(kind, share, gain, MemoryPriors(), 0.8, 0.05)


def test_the_grids_are_printed_with_what_is_not_known(folder: Path) -> None:
    done = mmdyn("plan", "exam", "--memory", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "The questions that each kind of evidence takes to show memory with a power of 0.8, at 5 %, by the leaked share"
        " of the questions and the gain of a seen one. None is below 20; -: 1,000,000 are not enough.",
        UNKNOWN,
    ]
    assert CUT_OFFS in done.stdout
    assert "290 questions of exam would show 100 % from +20, if all can be asked so.\n" in done.stdout
    assert (
        "Assumed: versions=3 of a question; unseen questions are answered with score=0.7, wrong answers" in done.stdout
    )
    assert max(len(line) for line in lines if line.startswith(" ") and line[1] != " ") <= 80
    titles = [one.title for one in KINDS.values()]
    assert [line.partition(" (gain in ")[0] for line in lines if " (gain in " in line] == titles


def test_what_has_a_formula_is_computed_by_hand() -> None:
    """281 and 325 questions (tests/stats/test_memory_power.py), rounded up to two digits; two blocks of ten."""
    assert (needed("cutoffs", 1.0, 0.2), needed("membership", 1.0, 0.1)) == (290, 330)
    assert needed("questionorder", 1.0, 1.0) == 20
    for kind in KINDS:
        assert needed(kind, 0.0, 0.2) is None and needed(kind, 1.0, 0.0) is None
        assert needed(kind, 1e-4, 1e-4) is None


def test_no_number_is_below_twenty_and_more_memory_takes_no_more_questions() -> None:
    plan = plan_memory()
    assert (plan.questions, plan.shares, plan.unknown) == ({}, SHARES, UNKNOWN)
    for one in plan.kinds.values():
        for row in one.needed:
            told = [count for count in row if count]
            assert told == sorted(told, reverse=True) and min(told, default=20) >= 20
        for column in zip(*one.needed, strict=True):
            told = [count for count in column if count]
            assert told == sorted(told, reverse=True)


def test_a_gain_beyond_what_is_wrong_is_impossible() -> None:
    assert needed("cutoffs", 1.0, 0.3) and needed("cutoffs", 1.0, 0.31) is None
    weak = MemoryPriors(score=0.0)
    assert questions_for("cutoffs", 1.0, 1.0, weak, 0.8, 0.05) == 20


def test_levels_powers_and_assumptions_change_what_is_needed() -> None:
    usual, spread = MemoryPriors(), MemoryPriors(overlap=0.4)
    assert questions_for("completions", 0.3, 0.1, usual, 0.8, 0.05) == 370
    assert questions_for("completions", 0.3, 0.1, usual, 0.8, 0.0125) == 530
    assert questions_for("completions", 0.3, 0.1, usual, 0.9, 0.05) == 500
    assert questions_for("completions", 0.3, 0.1, spread, 0.8, 0.05) == 1500
    assert plan_memory(prior="overlap=0.4").kinds["completions"].needed[2][1] == 1500
    assert plan_memory(contrasts=4).level == 0.0125


def test_kinds_of_the_page_have_its_titles() -> None:
    assert {kind: one.title for kind, one in KINDS.items()} == {
        kind: one.title for kind, one in memory_page.EVIDENCE.items()
    }


def test_json_has_the_same_numbers(folder: Path) -> None:
    found = json.loads(mmdyn("plan", "exam", "--memory", "--json", folder=folder).stdout)
    assert list(found) == ["power", "level", "least", "most", "shares", "questions", "unknown", "kinds"]
    assert (found["questions"], found["unknown"], found["most"]) == ({"exam": 290}, UNKNOWN, 1_000_000)
    cut_offs = found["kinds"]["cutoffs"]
    assert cut_offs == {
        "title": "Scores up to a cut-off, and after it",
        "access": "answers of two models with known cut-offs, and the years of the questions",
        "unit": "points",
        "gains": [0.05, 0.1, 0.2, 0.5, 1.0],
        "assumes": "in differ=0.3 of the questions one of two models alone is right. Years are spread evenly,"
        " between=0.3 of the questions lie between the two cut-offs, in the middle, and of these the later model has"
        " seen the leaked share. With score=0.7 a seen question cannot gain more than what is wrong.",
        "needed": [
            [None, 450000, 120000, None, None],
            [450000, 120000, 29000, None, None],
            [50000, 13000, 3200, None, None],
            [13000, 3200, 780, None, None],
            [4500, 1200, 290, None, None],
        ],
        "shown": {"exam": [None, None, None, None, 0.2]},
    }


def test_a_run_tells_how_many_questions_it_asked_and_a_tiny_one_shows_nothing(folder: Path) -> None:
    records = [answer(str(n), 1.0, condition) for n in range(7) for condition in (STANDARD, DYNAMIC)]
    run = write_run(folder / "run", records)
    plan = plan_memory(pilot=run.folder)
    assert [*plan.questions.values()] == [7]
    assert all(gain is None for one in plan.kinds.values() for gains in one.shown.values() for gain in gains)
    done = mmdyn("plan", "--memory", "--pilot", "run", folder=folder)
    assert done.stdout.count("would show nothing here.") == len(KINDS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--power", "1"), "mmdyn: give --power above 0.05 and below 1\n"),
        (("--prior", "score=1.5"), "mmdyn: the option score of --prior: expected `float` <= 1.0\n"),
        (("--prior", "score=nan"), "mmdyn: the option score of --prior: expected `float` >= 0.0\n"),
        (("--prior", "orders=1000"), "mmdyn: the option orders of --prior: expected `int` <= 99\n"),
        (("--prior", "versions=4"), "mmdyn: --prior versions=4: of 4 options 3 are another answer, so give fewer\n"),
        (("--pilot", "nowhere"), "mmdyn: nowhere: no such file or folder: check the path\n"),
        (("--detect", "3"), "Error: --detect does not go with --memory: leave one of them out\n"),
        (("-m", "baseline:lexical"), "Error: -m does not go with --memory: leave one of them out\n"),
        (("--draws", "2"), "Error: --draws does not go with --memory: leave one of them out\n"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(folder: Path, words: tuple[str, ...], told: str) -> None:
    done = mmdyn("plan", "exam", "--memory", *words, folder=folder)
    assert done.returncode == 2 and done.stderr.endswith(told)


def test_variants_alone_are_refused(folder: Path) -> None:
    mmdyn("perturb", "exam", "-o", "varied", "--ops", "shuffle", "-n", "3", folder=folder)
    done = mmdyn("plan", "varied", "--memory", folder=folder)
    assert done.returncode == 2
    assert done.stderr == "mmdyn: only variants are given: name the set that they were made of\n"
    write_run(folder / "run", [answer("1", 1.0, DYNAMIC)])
    assert mmdyn("plan", "--memory", "--pilot", "run", folder=folder).stderr == done.stderr


def test_without_memory_a_set_and_a_model_are_needed(folder: Path) -> None:
    for words, told in (((), "Missing argument 'SET...'."), (("exam",), "Missing option '-m' / '--model'.")):
        done = mmdyn("plan", *words, folder=folder)
        assert done.returncode == 2 and done.stderr.endswith(f"Error: {told}\n")
