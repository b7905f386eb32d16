"""How well judges and graders do: the numbers against scipy and hand, and how they are kept, an entry a labelled file."""

from __future__ import annotations

import json
import os
from dataclasses import replace as replaced
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import kendalltau, spearmanr

from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.stats import Share
from mmdyn.tables import (
    METHOD,
    Calibration,
    Grading,
    judge_id,
    load_calibrations,
    load_gradings,
    measure,
    named,
    save,
    save_grading,
    spell,
)
from mmdyn.tables.measurements import Bin

IDENTITY: Any = {"model": "x", "votes": 3}
KAPPA = (-0.234, 1.0)
Pairs = list[tuple[float, float | None]]
PAIRS: Pairs = [(1, 1), (1, 0.6), (1, 0), (0.75, 0.5), (0.5, 1), (0.25, 0.4), (0, 0.9), (0, 0), (0, 0), (0.4, None)]


def share(part: int, whole: int) -> Share:
    """A share of labels that are alone, to six digits."""
    found = Share.of(np.arange(whole) < part, np.arange(whole))
    assert found
    return found.rounded


def calibration(n: int, labels: str = "aa" * 32, identity: Any = IDENTITY) -> Calibration:
    share = Share(0.5, 0.25, 0.75, n, n)
    return Calibration("someone", identity, n, 0, n, share, share, share, None, labels, "labels.jsonl")


def test_the_same_labels_replace_and_others_are_kept_beside(tmp_path: Path) -> None:
    assert load_calibrations(IDENTITY) == ()
    first, second, again = calibration(1), calibration(2, "bb" * 32), calibration(3)
    file, replaced = save(first)
    assert (file.parent, replaced) == (tmp_path / "cache" / "judges", False)
    assert save(second) == (file, False) and load_calibrations(IDENTITY) == (first, second)
    assert save(again) == (file, True) and load_calibrations(IDENTITY) == (again, second)
    assert [path.name for path in file.parent.iterdir() if path.suffix == ".json"] == [file.name]


def test_another_judge_has_a_file_of_its_own() -> None:
    save(calibration(1))
    assert load_calibrations({"model": "x", "votes": 1}) == ()
    save(calibration(2, identity=None))
    assert [found.n for found in load_calibrations(None)] == [2]
    assert judge_id(IDENTITY) != judge_id(None) and len(judge_id(None)) == 8
    assert named(calibration(1)) == "labels.jsonl (aaaaaaaa)"


def test_two_at_once_lose_nothing() -> None:
    savers = [Thread(target=save, args=(calibration(n, f"{n:064x}"),)) for n in range(12)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert sorted(found.n for found in load_calibrations(IDENTITY)) == list(range(12))


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"judge": "someone", "identity": null}', b'[{"more": 1}]'])
def test_a_damaged_file_is_told_and_kept(content: bytes) -> None:
    file, _ = save(calibration(1))
    file.write_bytes(content)
    for again in (lambda: load_calibrations(IDENTITY), lambda: save(calibration(2))):
        with pytest.raises(UserError, match=r"judges/\w+\.json cannot be read .*: move it away and calibrate the"):
            again()
    assert file.read_bytes() == content


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o500)
    with pytest.raises(UserError, match="set MMDYN_CACHE to a folder of yours"):
        save(calibration(1))


def test_a_cache_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("", "utf-8")
    says = r"(cannot be read \(.*Not a directory|cannot write .*\(Not a directory|exists)"
    with pytest.raises(UserError, match=says):
        save(calibration(1))


def test_it_is_plain_json() -> None:
    file, _ = save(calibration(1))
    (kept,) = json.loads(file.read_text("utf-8"))
    assert kept["labels"] == "aa" * 32 and kept["recall"] == {
        "value": 0.5,
        "low": 0.25,
        "high": 0.75,
        "n": 1,
        "effective": 1.0,
    }
    assert load_calibrations(IDENTITY) == (calibration(1),)


def measured(pairs: Pairs = PAIRS, **more: Any) -> Grading:
    return measure("someone", {"model": "x"}, pairs, **more)


def test_right_and_wrong_from_the_threshold_on() -> None:
    found = measured()
    assert (found.n, found.failed, found.threshold) == (9, 1, 0.5)
    shares = (found.agreement, found.sensitivity, found.specificity, found.precision)
    assert [each and each.rounded for each in shares] == [share(7, 9), share(4, 5), share(3, 4), share(4, 5)]
    assert found.kappa == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81)) == 0.55
    assert found.kappa_ci95 == pytest.approx(KAPPA, abs=5e-4)
    strict = measured(threshold=1)
    assert strict.sensitivity and strict.precision
    assert (strict.sensitivity.rounded, strict.precision.rounded) == (share(1, 3), share(1, 2))


def test_answers_to_one_question_are_one_cluster() -> None:
    """Thrice the answers to the same nine questions tell no more than once; an answer without a value is of none."""
    once, thrice = measured(), measured(PAIRS * 3, about=[f"q{n}" for n in range(len(PAIRS))] * 3)
    assert (once.questions, thrice.questions, thrice.n, thrice.failed) == (9, 9, 27, 3)
    assert thrice.kappa_ci95 == pytest.approx(once.kappa_ci95)
    assert thrice.weighted_kappa_ci95 == pytest.approx(once.weighted_kappa_ci95)
    assert once.sensitivity and thrice.sensitivity and thrice.sensitivity.n == 15
    assert thrice.sensitivity.rounded == replaced(once.sensitivity.rounded, n=15)
    few = measured(PAIRS * 3, about=[f"q{n % 4}" for n in range(3 * len(PAIRS))])
    assert (few.questions, few.kappa_ci95, few.weighted_kappa_ci95) == (4, None, None), "too few to tell"


def test_the_marks_as_they_are() -> None:
    found = measured()
    human, value = zip(*[(human, value) for human, value in PAIRS if value is not None], strict=True)
    assert found.kendall == pytest.approx(kendalltau(human, value).statistic)
    assert found.spearman == pytest.approx(spearmanr(human, value).statistic)
    assert found.mean_error == pytest.approx(-0.1 / 9)
    assert found.mean_absolute_error == pytest.approx((0.4 + 1 + 0.25 + 0.5 + 0.15 + 0.9) / 9)
    assert found.bins == (
        Bin(0.0, 0.2, 3, 0.0, pytest.approx(1 / 3)),
        Bin(0.4, 0.6, 2, pytest.approx(0.45), 0.5),
        Bin(0.6, 0.8, 1, pytest.approx(0.6), 1.0),
        Bin(0.8, 1.0, 3, pytest.approx(2.9 / 3), 0.5),
    )


@pytest.mark.parametrize(("pairs", "undefined"), [
    ([(1, 1), (1, 1)], {"kappa", "weighted_kappa", "specificity", "kendall", "spearman"}),
    ([(0.1, 0.1)] * 3, {"kappa", "weighted_kappa", "sensitivity", "precision", "kendall", "spearman"}),
    ([(0, 0.25), (1, 0.25)], {"precision", "kendall", "spearman"}),
    ([(1, 0.75)], {"kappa", "specificity", "kendall", "spearman"}),
    ([(0.5, None)], {"agreement", "kappa", "weighted_kappa", "sensitivity", "specificity", "precision", "kendall", "spearman", "mean_error", "mean_absolute_error"}),
])  # fmt: skip
def test_what_is_not_defined_is_none(pairs: Pairs, undefined: set[str]) -> None:
    found = measured(pairs)
    without = {name for name in found.__struct_fields__ if getattr(found, name) is None}
    assert without == undefined | {"kappa_ci95", "weighted_kappa_ci95"}
    assert sum("no such answer" in line or "not defined" in line for line in spell(found)) == len(undefined)


@pytest.mark.parametrize(("pairs", "kappa"), [
    ([(1, 1), (0, 0), (1, 1)], 1.0),
    ([(1, 0), (0, 1)], -1.0),
    ([(0.3, 0.7), (0.7, 0.3), (0.6, 0.4), (0.4, 0.6)], -1.0),
    ([(0.1, 0.7), (1, 0.7), (0.3, 0.7)], 0.0),
    ([(1, 0)], 0.0),
])  # fmt: skip
def test_a_kappa_that_shows_no_error_has_a_dash(pairs: Pairs, kappa: float) -> None:
    """All agree, all are swapped, one side is constant, or there is one answer."""
    found = measured(pairs)
    assert (found.kappa, found.kappa_ci95) == (pytest.approx(kappa), None)
    assert found.weighted_kappa_ci95 is None and b"NaN" not in canonical(found)
    (line,) = (line for line in spell(found) if line.startswith("    kappa "))
    assert line.split()[:3] == ["kappa", f"{kappa:.3f}", "-"]


def test_there_must_be_a_mark() -> None:
    with pytest.raises(UserError, match='there is no marked answer: give lines with "human", a number from 0 to 1'):
        measured([])


def test_the_lines_for_people() -> None:
    found = measure("mdk12@3", "mdk12@3", PAIRS)
    lines = list(spell(found))
    assert lines[0] == "mdk12@3 on 9 marked answers to 9 questions of  (), 1 without a verdict; right from 0.5 on"
    assert lines[1].split()[:6] == ["agreement", "77.8%", "[38.8%,", "100.0%]", "n", "="]
    (kappa,) = (line for line in lines if line.startswith("    kappa "))
    assert kappa.split()[:4] == ["kappa", "0.550", "[-0.234,", "1.000]"]
    assert lines[-1] == f"    {METHOD}"
    assert lines[-2] == "    value in [0.8, 1.0]       3 answers: mean value 0.967, people's mean mark 0.500"
    assert len(lines) == 1 + 4 + 6 + 4 + 1
    assert next(spell(measured())).startswith("someone (")


def test_they_are_kept_apart_from_judges_of_meaning(tmp_path: Path) -> None:
    identity: Any = "mdk12@3"
    first, second = (replace(measure(identity, identity, PAIRS[:n]), labels=f"{n}" * 64) for n in (4, 5))
    file, again = save_grading(first)
    assert (file.parent, again) == (tmp_path / "cache" / "graders", False)
    assert save_grading(second) == (file, False) and save_grading(first) == (file, True)
    assert load_gradings(identity) == (first, second) and load_gradings("mdk12@2") == ()
    save(calibration(1, identity=identity))
    assert [found.n for found in load_gradings(identity)] == [4, 5]
    assert [found.n for found in load_calibrations(identity)] == [1]
    assert json.loads(file.read_text("utf-8"))[0]["bins"][0]["n"] == 1
    file.write_text("{", "utf-8")
    with pytest.raises(UserError, match=r"graders/\w+\.json cannot be read .*: move it away and calibrate the grader"):
        load_gradings(identity)
