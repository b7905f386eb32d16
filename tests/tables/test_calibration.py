"""Calibrations as they are kept: a file a judge, an entry a labelled file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace

from mmdyn.errors import UserError
from mmdyn.stats import Share
from mmdyn.tables import Calibration, judge_id, load_calibrations, named, save

IDENTITY: Any = {"model": "x", "votes": 3}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def measured(n: int, labels: str = "aa" * 32, identity: Any = IDENTITY) -> Calibration:
    share = Share(0.5, 0.25, 0.75, n)
    return Calibration("someone", identity, n, 0, share, share, share, None, labels, "labels.jsonl")


def test_the_same_labels_replace_and_others_are_kept_beside(tmp_path: Path) -> None:
    assert load_calibrations(IDENTITY) == ()
    first, second, again = measured(1), measured(2, "bb" * 32), measured(3)
    file, replaced = save(first)
    assert (file.parent, replaced) == (tmp_path / "cache" / "judges", False)
    assert save(second) == (file, False) and load_calibrations(IDENTITY) == (first, second)
    assert save(again) == (file, True) and load_calibrations(IDENTITY) == (again, second)
    assert [path.name for path in file.parent.iterdir() if path.suffix == ".json"] == [file.name]


def test_another_judge_has_a_file_of_its_own() -> None:
    save(measured(1))
    assert load_calibrations({"model": "x", "votes": 1}) == ()
    save(measured(2, identity=None))
    assert [found.n for found in load_calibrations(None)] == [2]
    assert judge_id(IDENTITY) != judge_id(None) and len(judge_id(None)) == 8
    assert named(measured(1)) == "labels.jsonl (aaaaaaaa)"


def test_two_at_once_lose_nothing() -> None:
    savers = [Thread(target=save, args=(measured(n, f"{n:064x}"),)) for n in range(12)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert sorted(found.n for found in load_calibrations(IDENTITY)) == list(range(12))


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff",
        b'{"judge": "someone", "identity": null, "n": 1, "failed": 0}',
        b'[{"judge": "someone", "more": 1}]',
    ],
)
def test_a_damaged_or_older_file_is_told_and_kept(content: bytes) -> None:
    file, _ = save(measured(1))
    file.write_bytes(content)
    for again in (lambda: load_calibrations(IDENTITY), lambda: save(measured(2))):
        with pytest.raises(
            UserError, match=r"judges/\w+\.json cannot be read .*: move it away and calibrate the judge"
        ):
            again()
    assert file.read_bytes() == content


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o500)
    with pytest.raises(UserError, match="set MMDYN_CACHE to a folder of yours"):
        save(measured(1))


def test_a_cache_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("", "utf-8")
    with pytest.raises(
        UserError, match=r"(cannot be read \(.*Not a directory|cannot write .*\(Not a directory|File exists)"
    ):
        save(measured(1))


def test_what_older_programs_kept_is_read() -> None:
    file, _ = save(measured(1))
    (kept,) = json.loads(file.read_text("utf-8"))
    for name in ("agreement", "kappa", "kappa_ci95"):
        del kept[name]
    file.write_text(json.dumps([kept]), "utf-8")
    assert load_calibrations(IDENTITY) == (measured(1),)


def test_six_digits_in_a_report() -> None:
    third = Share(1 / 3, 0.1, 2 / 3, 9)
    found = replace(measured(9), agreement=third, kappa=-1 / 3, kappa_ci95=(-2 / 3, 1 / 7)).rounded
    assert found.agreement == Share(0.333333, 0.1, 0.666667, 9) and found.specificity is None
    assert (found.kappa, found.kappa_ci95) == (-0.333333, (-0.666667, 0.142857))
    assert (measured(1).rounded.kappa, measured(1).rounded.kappa_ci95) == (None, None)


def test_it_is_plain_json() -> None:
    file, _ = save(measured(1))
    (read,) = json.loads(file.read_text("utf-8"))
    assert read["labels"] == "aa" * 32 and read["recall"] == {"value": 0.5, "low": 0.25, "high": 0.75, "n": 1}
