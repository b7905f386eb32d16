"""mmdyn plan: what a pilot tells, what is believed, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shell import mmdyn
from tables.making_runs import DYNAMIC, STANDARD, answer, write_run

from making import choice, write_set
from mmdyn.keys import stream
from mmdyn.record import Condition
from mmdyn.run import plan_run
from mmdyn.tables import Priors, read_pilot
from mmdyn.work import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_set(tmp_path / "exam", (choice(f"s{n}", group=f"g{n // 3}" if n % 2 else None) for n in range(300)), "exam")
    return tmp_path


def pilot(folder: Path, questions: int = 3000, draws: int = 2, epochs: int = 2) -> RunFolder:
    """Chances of 0.9 or 0.3; a third of the variants of a question lose 0.3 of it, and every other question 0.1."""
    random, records = stream("pilot"), list[Any]()

    def asked(parent: str, chance: float, condition: Condition, draw: int = 0) -> None:
        for epoch in range(epochs):
            value = float(random.random() < chance)
            group = f"g{int(parent) // 2}"
            records.append(answer(parent, value, condition, draw=draw, epoch=epoch, group=group))

    for n in range(questions):
        chance, lost = random.choice([0.9, 0.3]), 0.1 * (n // 2 % 2)
        asked(str(n), chance, STANDARD)
        for draw in range(draws):
            asked(str(n), chance - lost - 0.2 * (random.random() < 1 / 3), DYNAMIC, draw)
    return write_run(folder, records)


def test_a_pilot_tells_the_moments(folder: Path) -> None:
    found = read_pilot(pilot(folder / "run"), "m1", (1, 2), Priors())
    assert found.assumed == ()
    design = found.design
    assert design.accuracy == pytest.approx(0.6, abs=0.02)
    assert design.noise_s == pytest.approx((0.09 + 0.21) / 2, abs=0.01)
    assert design.tau2 == pytest.approx(0.05**2, abs=0.006)
    assert design.omega2 == pytest.approx(0.04 * 2 / 9, abs=0.01)
    assert 0 <= design.icc < 0.05 and design.binary


def test_what_a_pilot_cannot_tell_is_believed_and_said(folder: Path) -> None:
    run = pilot(folder / "run", 400, draws=1, epochs=1)
    found = read_pilot(run, "m1", (1,), Priors(repeat=0.2))
    assert found.assumed == ("repeat=0.2 (nothing was asked twice)", "draws=0.5 (no question has two draws)")
    design = found.design
    assert design.noise_s == design.noise_d == 0.1
    assert design.tau2 == pytest.approx(design.omega2)
    values = {record.parent: [0.0, 0.0] for record in run.records()}
    for record in run.records():
        assert record.score is not None
        values[record.parent][record.condition.variant == "dynamic"] = record.score.value or 0.0
    seen = np.var([after - before for before, after in values.values()], ddof=1)
    assert design.variance() == pytest.approx(seen)


def test_the_plan_names_the_cheapest_choice_and_its_commands(folder: Path) -> None:
    done = mmdyn("plan", "exam", "-m", "baseline:lexical", "--detect", "8", "--ops", "text.shuffle", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == (
        "Questions that show a drop of 8 points with a power of 0.8, at 5 % (baseline:lexical, exam)"
    )
    (found,) = plan_run(folder / "exam", "baseline:lexical", detect=8)
    (best,) = [one for one in found.choices if one.cheapest]
    assert (best.draws, best.epochs, best.requests, best.cost) == (1, 1, 2 * (best.questions or 0), 0.0)
    assert len(found.choices) == 12 and (found.questions, found.groups) == (300, 250)
    assert done.stdout.splitlines()[-2:] == [
        f"mmdyn perturb exam -o exam-dynamic --ops text.shuffle -n {best.questions}",
        f"mmdyn eval exam exam-dynamic -m baseline:lexical -o RUN -n {best.questions}",
    ]
    server = "openai:mine,base_url=http://127.0.0.1:9/v1"
    named = mmdyn("plan", "exam", "-m", server, "--detect", "8", folder=folder)
    assert f"-m {server} -o RUN" in named.stdout, "the command asks the server that was named"
    believed = (
        "Told from what is believed beforehand; assumed: accuracy=0.6, flips=0.15, repeat=0.1, draws=0.5, icc=0.1."
    )
    assert believed in done.stdout
    asked = json.loads(mmdyn("plan", "exam", "-m", "baseline:lexical", "--detect", "8", "--json", folder=folder).stdout)
    assert asked[0]["choices"][0]["questions"] == best.questions
    corrected = plan_run(folder / "exam", "baseline:lexical", detect=8, contrasts=4)[0]
    assert corrected.level == 0.0125
    assert (corrected.choices[0].questions or 0) > (found.choices[0].questions or 0)


def test_a_set_that_is_too_small_is_told_so(folder: Path) -> None:
    done = mmdyn("plan", "exam", "-m", "baseline:lexical", "--detect", "1", folder=folder)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == (
        "No choice above has so few questions as the set: add some, or detect more."
    )


def test_a_pilot_gives_moments_time_and_stands_for_another_only_if_it_is_said(folder: Path) -> None:
    pilot(folder / "run", 300)
    command = ("plan", "exam", "-m", "baseline:lexical", "--pilot", "run")
    refused = mmdyn(*command, folder=folder)
    told = "mmdyn: the pilot run holds no two questions that baseline:lexical answered as they are and varied (it asked m1): give another --pilot, or --pilot-model\n"  # fmt: skip
    assert (refused.returncode, refused.stderr) == (2, told)
    done = mmdyn(*command, "--pilot-model", "m1", folder=folder)
    assert "Told from 300 questions that m1 was asked in run; assumed: nothing." in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--detect", "0"), "give --detect points above 0 and below 100, and --power above 0.05 and below 1"),
        (("--power", "1"), "give --detect points above 0 and below 100, and --power above 0.05 and below 1"),
        (("--prior", "flips=0.02"), "--prior flips=0.02: give a number from 0.03 to 1"),
        (("--prior", "icc=2"), "--prior icc=2: give a number from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(folder: Path, words: tuple[str, ...], told: str) -> None:
    done = mmdyn("plan", "exam", "-m", "baseline:lexical", *words, folder=folder)
    assert (done.returncode, done.stderr) == (2, f"mmdyn: {told}\n")


def test_a_misspelt_prior_is_named(folder: Path) -> None:
    done = mmdyn("plan", "exam", "-m", "baseline:lexical", "--prior", "acuracy=0.5", folder=folder)
    assert done.returncode == 2 and "acuracy" in done.stderr and "accuracy" in done.stderr
