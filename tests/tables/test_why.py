"""One page on why scores changed: what it says, and what it says that it cannot tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from making_runs import DYNAMIC, SETS, STANDARD, answers, write_run
from msgspec.structs import replace
from running import typed

from making import choice, write_set
from mmdyn import RunFolder, why
from mmdyn.data import ChainStrength
from mmdyn.record import Condition, Record
from mmdyn.tables import why_lines, wrapped

STRONG = {"pad": ChainStrength(40, 0.0, 0.4), "salt_pepper": ChainStrength(40, 0.0, 0.3)}
PEPPER = Condition("dynamic", "salt_pepper")


def halves(first: str, second: str, condition: Condition = STANDARD, model: str = "m1") -> list[Record]:
    """Answers to the questions of two fields, twenty each."""
    every = answers(first + second, condition, model=model)
    return [
        replace(one, fields={"part": "optics" if place < len(first) else "sound"}) for place, one in enumerate(every)
    ]


@pytest.fixture
def fallen(tmp_path: Path) -> RunFolder:
    """A run in which questions of optics break under a chain, and those of sound do not."""
    standard = halves("1" * 18 + "00", "1" * 18 + "00")
    padded = halves("1" * 3 + "0" * 17, "1" * 17 + "000", DYNAMIC)
    peppered = halves("1" * 18 + "00", "1" * 18 + "00", PEPPER)
    sets = (SETS[0], replace(SETS[1], strength=STRONG))
    for entry in sets:
        write_set(tmp_path / "run" / entry.folder, [choice()], entry.name)
    return write_run(tmp_path / "run", standard + padded + peppered, sets=sets)


def sections(run: RunFolder) -> dict[str, list[str]]:
    return {section.title: [line.text for line in section.lines] for section in why(run).sections}


def test_it_says_what_fell_and_through_what_and_where(fallen: RunFolder) -> None:
    told = sections(fallen)
    assert told["What fell, and by how much"] == [
        "m1 on exam: -20 [-28, -10] points, adjusted p 0.0018, mean over 2 chains, 40 questions. The score fell."
    ]
    assert [re.sub(r"\[.*?\]", "[]", line) for line in told["Through which change"]] == [
        "m1 on exam: pad -40 [] points, adjusted p 0.0018.",
        "salt_pepper: no significant change (m1 on exam).",
    ]
    assert told["Where"][0].startswith("m1 on exam: the change differs by part, between optics -37.5 and sound -2.5")
    assert len(told["Where"]) == 1


def test_what_is_said_of_a_field_names_its_model_and_is_said_once(tmp_path: Path) -> None:
    falls = halves("1" * 20, "1" * 20), halves("1" * 3 + "0" * 17, "1" * 17 + "000", DYNAMIC)
    stays = (halves("1" * 20, "1" * 20, condition, "m2") for condition in (STANDARD, DYNAMIC))
    told = sections(write_run(tmp_path / "run", [one for records in (*falls, *stays) for one in records]))["Where"]
    assert [re.sub(r"\(adjusted p .*\)", "()", line) for line in told] == [
        "m1 on exam: the change differs by part, between optics -85.0 and sound -15.0 points ().",
        "m2 on exam: no significant difference by part (values of ten questions or more).",
    ]


def test_what_could_not_be_told_comes_with_the_run_that_would_tell_it(fallen: RunFolder) -> None:
    root, last = fallen.folder, why(fallen).sections[-1]
    assert last.title == "Open questions, and the run that answers each"
    commands = [command.replace(str(root), "RUN") for line in last.lines for command in line.commands]
    exam = "RUN/sets/exam"
    assert commands == [
        f"mmdyn perturb {exam} -o {exam}-null --ops image.null,text.null",
        f"mmdyn eval {exam} {exam}-null -m m1 -o RUN-null",
        f"mmdyn perturb {exam} -o {exam}-doses --ops pad@1,pad@2,pad@3,pad@4,pad@5",
        f"mmdyn eval {exam} {exam}-doses -m m1 -o RUN-doses",
    ]


def test_a_factorial_is_advised_of_the_operators_of_chains_that_fell(tmp_path: Path) -> None:
    """Not of all operators: each one more is one more that cannot be applied to some question."""
    joint = Condition("dynamic", "pad+salt_pepper")
    strength = {**STRONG, "pad+salt_pepper": ChainStrength(40, 0.0, 0.4), "shuffle": ChainStrength(40, 0.0, 0.0)}
    sets = (SETS[0], replace(SETS[1], strength=strength))
    for entry in sets:
        write_set(tmp_path / "run" / entry.folder, [choice()], entry.name)
    strength |= {"text.null": ChainStrength(40, 0.0, 1.0, role="null")}
    sets = (SETS[0], replace(SETS[1], strength=strength))
    records = [*answers("1" * 20), *answers("1" * 20, Condition("dynamic", "shuffle")), *answers("0" * 20, joint)]
    records += answers("0" * 20, Condition("dynamic", "text.null"))
    last = why(write_run(tmp_path / "run", records, sets=sets)).sections[-1]
    made = [command for line in last.lines for command in line.commands if "--factorial" in command]
    assert len(made) == 1 and made[0].endswith("-factorial --ops pad,salt_pepper --factorial")


def test_no_change_is_not_said_to_be_none(tmp_path: Path) -> None:
    write_set(tmp_path / "run/sets/exam", [choice()], "exam")
    run = write_run(tmp_path / "run", answers("1" * 20) + answers("1" * 19 + "0", DYNAMIC))
    fell, more = sections(run)["What fell, and by how much"][0], why(run).sections[-1].lines[0]
    assert fell.endswith(
        "[-24, +12] points, adjusted p 0.50, 20 questions. No significant change; a fall of more than 24 points is ruled out."
    )
    assert more.text == "Whether there is a smaller fall than 24 points: that takes more questions."
    assert " --pilot " in more.commands[0] and more.commands[0].startswith("mmdyn plan ")


def test_it_says_whether_the_change_is_more_than_noise(tmp_path: Path) -> None:
    asked = ("1" * 36 + "0000", "1" * 36 + "0000", "0" + "1" * 35 + "0000")
    found = [one for epoch, marks in enumerate(asked) for one in answers(marks, epoch=epoch)]
    found += [one for epoch in (0, 1, 2) for one in answers("1" * 12 + "0" * 28, DYNAMIC, epoch=epoch)]
    told = sections(write_run(tmp_path / "run", found, epochs=3))
    assert told["Above what noise"][0].endswith("40 questions: more than noise.")
    assert not any("asked twice" in line for line in told["Open questions, and the run that answers each"])


NULL = Condition("dynamic", "image.null")
WITH_NULL = (SETS[0], replace(SETS[1], strength=STRONG | {"image.null": ChainStrength(40, 0.0, 1.0, role="null")}))
SAMPLE = "so that there is no noise floor and no test: sample (`-m MODEL,temperature=1`)"
NEVER_TURNED = f"no answer to a null chain turned, {SAMPLE} in the same `mmdyn eval` with --epochs 3"


def test_what_was_not_tested_is_not_said_to_be_no_more_than_noise(tmp_path: Path) -> None:
    found = answers("1" * 40) + answers("0" * 4 + "1" * 36, NULL)
    varied = answers("1" * 10 + "0" * 30, DYNAMIC)
    unsure = [replace(one, score=replace(one.score, needs_judge=True)) for one in varied[-2:] if one.score]
    (line,) = sections(write_run(tmp_path / "run", found + varied[:-2] + unsure, sets=WITH_NULL))["Above what noise"]
    assert line.endswith("40 questions: some answers are not judged yet, so nothing is tested.")
    (settled,) = sections(write_run(tmp_path / "settled", found + varied, sets=WITH_NULL))["Above what noise"]
    assert settled.endswith("40 questions: more than noise.")


def test_a_null_chain_that_never_turns_is_the_cause_and_none_is_advised(tmp_path: Path) -> None:
    one = answers("1" * 40) + answers("1" * 40, NULL) + answers("1" * 10 + "0" * 30, DYNAMIC)
    other = answers("1" * 40, model="m2") + answers("0000" + "1" * 36, NULL, model="m2")
    both = one + other + answers("1" * 10 + "0" * 30, DYNAMIC, model="m2")
    assert sections(write_run(tmp_path / "both", both, sets=WITH_NULL))["Above what noise"][0] == f"m1: {NEVER_TURNED}."
    alone = write_run(tmp_path / "alone", one, sets=WITH_NULL)
    write_set(alone.folder / "sets/exam", [choice()], "exam")
    lines = why(alone).sections[-1].lines
    (line,) = (line for line in lines if "own noise" in line.text)
    assert (line.text, line.commands) == (f"Whether it is more than the model's own noise: {NEVER_TURNED}.", [])
    assert not any("image.null" in command for each in lines for command in each.commands), "not as an operator either"


def test_the_command_prints_it_and_refuses_what_does_not_go_with_it(fallen: RunFolder) -> None:
    shown = typed("report", fallen.folder, "--why", "--quiet")
    assert (shown.exit_code, shown.stdout) == (0, "".join(f"{line}\n" for line in wrapped(why_lines(why(fallen)))))
    as_json = typed("report", fallen.folder, "--why", "--json", "--quiet")
    assert as_json.stdout_bytes == why(fallen).to_json() == why(fallen).to_json()
    assert [section["title"] for section in json.loads(as_json.stdout)["sections"]] == [*sections(fallen)]
    refused = typed("report", fallen.folder, "--why", "--brief")
    assert (
        refused.exit_code == 2
        and "--full, --brief, --why and --memory are pages of their own: give one" in refused.stderr
    )


def test_failed_answers_leave_exit_status_1(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", answers("11x") + answers("110", DYNAMIC))
    shown = typed("report", run.folder, "--why", "--quiet")
    assert shown.exit_code == 1 and shown.stderr == "failed: s02 of exam, m1, standard: the server said 500\n"
