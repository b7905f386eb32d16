"""mmdyn report --ladder and --curves, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace
from shell import mmdyn
from tables.making_runs import SETS, answer, answers, write_run

from mmdyn.data import ChainStrength
from mmdyn.record import Condition


def test_a_ladder_prints_rungs_and_wants_and_exits_0(tmp_path: Path) -> None:
    marks = {
        "none": "11000000",
        "caption": "11110000",
        "kprag": "11100000",
        "caption+kprag": "11111100",
        "no-picture": "10000000",
    }
    records = [
        record
        for field in ("optics", "waves")
        for name, those in marks.items()
        for record in answers(those, Condition(context=name), set=field, fields={"field": field})
    ]
    run = write_run(tmp_path / "run", records).folder
    result = mmdyn("report", run, "--ladder")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Ability ladder: what wrong answers lack\n")
    assert "m1, no-picture: right in every reply; guessing alone makes 0.0 of 16 so: s00, s00" in result.stdout
    found = mmdyn("report", run, "--ladder", "--by", "field", "--where", "context=none,kprag", "--format", "json")
    rows = json.loads(found.stdout)["parts"][0]["rows"]
    told = {
        (row["factors"]["field"], row["factors"]["rung"]): row["value"]
        for row in rows
        if row["quantity"] == "of all questions"
    }
    wants = {"want of knowing": 0.125, "mended by no context": 0.625}
    assert told == {(field, want): value for field in ("optics", "waves", "all") for want, value in wants.items()}


def test_curves_print_and_failed_records_exit_1(tmp_path: Path) -> None:
    strength = {f"blur@{level}": ChainStrength(8, 0.0, ssim=1 - level / 10) for level in (1, 5)}
    marks = {"": "11111110", "blur@1": "11111000", "blur@5": "1000000"}
    records = [
        record
        for chain, those in marks.items()
        for record in answers(those, Condition("dynamic", chain) if chain else Condition())
    ]
    records.append(answer("s07", None, Condition("dynamic", "blur@5"), error="gone"))
    run = write_run(tmp_path / "run", records, sets=(SETS[0], replace(SETS[1], strength=strength))).folder
    result = mmdyn("report", run, "--curves", "--plots", tmp_path / "plots")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (1, "failed: s07~blur@5~0 of exam, m1, dynamic: gone")
    assert "Severity curves: scores corrected for chance along doses" in result.stdout
    assert (tmp_path / "plots" / "curves.svg").exists()


def test_curves_of_a_run_without_levels_say_what_to_make(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", answers("1100")).folder
    result = mmdyn("report", run, "--curves")
    assert result.returncode == 1 and "mmdyn perturb SET --ops blur@1,blur@3,blur@5" in result.stderr
    refused = mmdyn("report", run, "--ladder", "--measure", "tokens")
    assert refused.returncode == 2 and "--measure" in refused.stderr
