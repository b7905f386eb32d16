"""What a report says of who judged its dynamic sets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tables.making_runs import DYNAMIC, answers, csv_rows, printed, write_run

from making import choice
from mmdyn.data import Dropped, Origin, SampleSet, SetWriter
from mmdyn.sample import Variant, Verdict
from mmdyn.stats import Share
from mmdyn.tables import RULES_MEASURED, Calibration, Summary, judge_id, save, summarise, write_csv
from mmdyn.work import RunFolder, SetEntry

IDENTITY: Any = {"model": "m", "votes": 1}
KEPT, REJECTED = Verdict("kept", "someone", "", 0.9), Verdict("rejected", "someone", "no", 0.8)


def dynamic(folder: Path, kept: int = 3, verdict: Verdict = KEPT, dropped: int = 1, **made: Any) -> SampleSet:
    """A dynamic set, `kept` variants and `dropped` rejected ones, each after one attempt more."""
    writer = SetWriter(folder, "exam-dynamic", parent=Origin("exam", "d0"), made={"command": "perturb", **made})
    with writer as out:
        for n in range(kept):
            out.add(choice(f"s{n}~pad~0", variant=Variant(f"s{n}", "pad", 0, 1, (), verdict)))
        for n in range(dropped):
            whole = choice(f"t{n}~pad~0", variant=Variant(f"t{n}", "pad", 0, 1, (), REJECTED))
            for attempt, status in enumerate(("redrawn", "rejected")):
                out.drop(Dropped(whole.id, f"t{n}", "pad", 0, 1, status, "no", "", attempt, (), whole))
    return SampleSet(folder)


def reported(folder: Path, *sets: SampleSet) -> Summary:
    entries = tuple(SetEntry(each.name, "exam", str(each.folder), each.manifest.digest) for each in sets)
    sets_of_run = (SetEntry("exam", "exam", "sets/exam", "d0"), *entries)
    return summarise([write_run(folder, [*answers("110"), *answers("100", DYNAMIC)], sets=sets_of_run)])


def measured(file: str, labels: str, identity: Any = IDENTITY) -> Calibration:
    recall, precision = Share(2 / 3, 0.1, 0.9, 30), Share(0.75, 0.5, 0.875, 20)
    questions = 60 if labels == "ab" else 0
    return Calibration(
        "someone", identity, 60, 2, precision, recall, recall, None, labels * 32, file, questions=questions
    )


def test_who_judged_how_many_and_that_it_was_never_calibrated(tmp_path: Path) -> None:
    summary = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY))
    (row,) = summary.judges
    assert (row.set, row.judge, row.id) == ("exam-dynamic", "someone", judge_id(IDENTITY))
    assert (row.kept, row.rejected, row.redrawn, row.unjudged, row.calibrations) == (3, 1, 1, 0, [])
    text = " ".join(printed(summary))
    assert (
        f"exam-dynamic: judged by someone ({row.id}): 3 variants kept, 1 rejected, 1 more attempts rejected and drawn"
        " again. The judge was never calibrated here: label pairs or mark a sheet (`mmdyn data audit`), and run `mmdyn"
        " judge --calibrate LABELLED` with the --judge and --votes that the set was made with." in text
    )
    assert "labelled pairs:" not in text


def test_every_calibration_is_shown_and_none_pooled(tmp_path: Path) -> None:
    save(measured("texts.jsonl", "ab"))
    save(measured("sheet.jsonl", "cd"))
    save(measured("other.jsonl", "ab", {"model": "m", "votes": 3}))
    summary = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY))
    (row,) = summary.judges
    found = [(found.file, found.n, found.failed) for found in row.calibrations]
    assert found == [("texts.jsonl", 60, 2), ("sheet.jsonl", 60, 2)]
    assert row.note == "" and row.calibrations[0].recall == Share(0.666667, 0.1, 0.9, 30)
    lines = printed(summary)
    numbers = "60 2 75.0 [50.0, 87.5] of 20 66.7 [10.0, 90.0] of 30 no such pair"
    assert f"texts.jsonl (abababab) {numbers}" in lines
    assert f"sheet.jsonl (cdcdcdcd), labels taken as independent {numbers}" in lines, "measured by an older program"
    assert any(line.startswith("Judges on labelled pairs: how well they reject changed questions") for line in lines)
    assert not any("never calibrated" in line or "other.jsonl" in line for line in lines)


def test_json_and_csv_have_the_same(tmp_path: Path) -> None:
    save(measured("=texts.jsonl", "ab"))
    summary = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY))
    (row,) = json.loads(summary.to_json())["judges"]
    assert row["calibrations"][0]["precision"] == {"value": 0.75, "low": 0.5, "high": 0.875, "n": 20, "effective": 0.0}
    assert row["calibrations"][0]["identity"] == IDENTITY
    write_csv(summary, tmp_path / "out.csv")
    names = ("model", "by", "value", "n", "left_out", "estimate", "low")
    who, file = f"someone {judge_id(IDENTITY)}", "'=texts.jsonl (abababab)"
    assert [[row[name] for name in names] for row in csv_rows(tmp_path / "out.csv", "meaning_judge")] == [
        [who, "", "", "4", "1", "", ""],
        [who, "precision", file, "20", "", "0.75", "0.5"],
        [who, "recall", file, "30", "", "0.666667", "0.1"],
    ]


def test_equal_runs_give_equal_bytes_wherever_they_lie(tmp_path: Path) -> None:
    save(measured("texts.jsonl", "ab"))
    made = dynamic(tmp_path / "dynamic", judge=IDENTITY)
    assert reported(tmp_path / "a" / "run", made).to_json() == reported(tmp_path / "b" / "run", made).to_json()


@pytest.mark.parametrize(("made", "judge", "counts", "note"), [
    ({"verdict": Verdict("unjudged"), "dropped": 0}, ("", ""), (0, 0, 0, 3), ""),
    ({"judge": IDENTITY, "kept": 0}, ("someone", judge_id(IDENTITY)), (0, 1, 1, 0), ""),
    ({"command": "mmdyn data sample"}, ("someone", ""), (3, 1, 1, 0), "a set that `mmdyn data sample` made does not say which judge that was"),
])  # fmt: skip
def test_as_much_is_said_as_the_set_says(tmp_path: Path, made: Any, judge: Any, counts: Any, note: str) -> None:
    """Nobody judged it; its judge kept nothing, and is named by what it rejected; it is a sample of a set."""
    summary = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", **made))
    (row,) = summary.judges
    assert ((row.judge, row.id), (row.kept, row.rejected, row.redrawn, row.unjudged)) == (judge, counts)
    assert row.note.startswith(note)
    nobody = "exam-dynamic: nobody judged its variants: `mmdyn perturb --judge` keeps those that still ask the same."
    assert (nobody in printed(summary)) is (judge == ("", ""))


def test_a_set_that_is_gone_or_another_spoils_no_report(tmp_path: Path) -> None:
    made = dynamic(tmp_path / "dynamic", judge=IDENTITY)
    reported(tmp_path / "run", made)
    run = RunFolder(tmp_path / "run")
    shutil.move(made.folder, tmp_path / "away")
    (row,) = summarise([run]).judges
    moved = f"the set that was asked does not lie in {made.folder} any more, so nothing is known of its judge"
    assert (row.judge, row.note) == ("", moved)
    assert f"exam-dynamic: {moved}." in " ".join(printed(summarise([run])))
    dynamic(made.folder, kept=5, judge=IDENTITY)
    assert [found.note for found in summarise([run]).judges] == [moved]
    (made.folder / "set.json").write_text("{", "utf-8")
    (row,) = summarise([run]).judges
    assert row.note.startswith(str(made.folder / "set.json"))


def test_a_damaged_calibration_is_noted(tmp_path: Path) -> None:
    file, _ = save(measured("texts.jsonl", "ab"))
    file.write_text("{}", "utf-8")
    (row,) = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY)).judges
    assert (row.judge, row.kept, row.calibrations) == ("someone", 3, [])
    assert row.note.startswith(f"{file} cannot be read")


def test_rules_that_judged_alone_are_called_a_sieve(tmp_path: Path) -> None:
    by_rules = Verdict("kept", "embedded:none", "", 0.75)
    summary = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", verdict=by_rules, dropped=0, judge=IDENTITY))
    (row,) = summary.judges
    assert row.judge == "embedded:none" and row.rules == RULES_MEASURED and row.note
    text = " ".join(printed(summary))
    assert (
        ". No model judged the variants, and rules and embeddings are a sieve: on 240 exam pairs that it was not made on, "
        in text
    )
    assert "the embedded judge caught 80 % of the changed questions and kept 73 % of the unchanged ones; " in text
    (other,) = reported(tmp_path / "other", dynamic(tmp_path / "model", judge=IDENTITY)).judges
    assert other.judge == "someone" and other.rules == ""


def test_several_runs_name_theirs_and_a_judge_is_listed_once(tmp_path: Path) -> None:
    save(measured("texts.jsonl", "ab"))
    made = dynamic(tmp_path / "dynamic", judge=IDENTITY)
    for name in ("before", "after"):
        reported(tmp_path / name, made)
    summary = summarise([RunFolder(tmp_path / name) for name in ("before", "after")])
    lines = printed(summary)
    assert [row.run for row in summary.judges] == ["before", "after"]
    assert any(line.startswith("before, exam-dynamic: judged by someone") for line in lines)
    assert sum(line.startswith("texts.jsonl") for line in lines) == 1
