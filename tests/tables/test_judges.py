"""What a report says of who judged its dynamic sets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tables.making_runs import DYNAMIC, answers, csv_rows, lines_of, printed, write_run

from making import choice
from mmdyn.data import Dropped, Origin, SampleSet, SetWriter
from mmdyn.sample import Variant, Verdict
from mmdyn.stats import Share
from mmdyn.table import MeaningJudges
from mmdyn.tables import FORMATS, RULES_MEASURED, Calibration, Report, Row, judge_id, report, save, tabulate
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


def reported(folder: Path, *sets: SampleSet) -> Report:
    entries = tuple(SetEntry(each.name, "exam", str(each.folder), each.manifest.digest) for each in sets)
    sets_of_run = (SetEntry("exam", "exam", "sets/exam", "d0"), *entries)
    return report(write_run(folder, [*answers("110"), *answers("100", DYNAMIC)], sets=sets_of_run))


def outcomes(found: Report) -> dict[str, Row]:
    """What became of the variants of the one set."""
    (row,) = (row for row in lines_of(found, "meaningjudges") if "kept" in row)
    return row


def counts_of(row: dict[str, Row]) -> list[float | None]:
    return [row[name].value for name in ("kept", "rejected", "doubtful", "redrawn", "unjudged")]


def measured(file: str, labels: str, identity: Any = IDENTITY) -> Calibration:
    recall, precision = Share(2 / 3, 0.1, 0.9, 30, 30), Share(0.75, 0.5, 0.875, 20, 20)
    return Calibration("someone", identity, 60, 2, 60, precision, recall, recall, None, labels * 32, file)


def test_who_judged_how_many_and_that_it_was_never_calibrated(tmp_path: Path) -> None:
    found = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY))
    (row,) = lines_of(found, "meaningjudges")
    who = f"someone {judge_id(IDENTITY)}"
    assert row["kept"].factors == {"set": "exam-dynamic", "judge": who} and counts_of(row) == [3, 1, 0, 1, 0]
    text = " ".join(printed(found))
    assert f"exam-dynamic {who} 3 1 1 " in text and "doubtful 0, unjudged 0" in text
    assert (
        f"exam-dynamic, {who}: the judge was never calibrated here: label pairs or mark a sheet (`mmdyn data audit`), and"
        " run `mmdyn judge --calibrate LABELLED` with the --judge and --votes that the set was made with" in text
    )


def test_every_calibration_is_shown_and_none_pooled(tmp_path: Path) -> None:
    save(measured("texts.jsonl", "ab"))
    save(measured("sheet.jsonl", "cd"))
    save(measured("other.jsonl", "ab", {"model": "m", "votes": 3}))
    found = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY))
    whole, texts, sheet = lines_of(found, "meaningjudges")
    assert whole["kept"].note == ""
    names = [row["recall"].factors["calibration"] for row in (texts, sheet)]
    assert names == ["texts.jsonl (abababab)", "sheet.jsonl (cdcdcdcd)"] and list(texts) == ["recall", "precision"]
    recall = texts["recall"]
    assert (recall.value, recall.ci95, recall.n, recall.failed) == (0.666667, (0.1, 0.9), 30, 2)
    assert recall.method == "Agresti-Coull over questions"
    lines = printed(tabulate([RunFolder(tmp_path / "run")], [MeaningJudges()]))
    assert any("67 [10, 90] 75 [50, 88] 30 2" in line for line in lines), lines
    assert "n counts labelled pairs, of recall where that is told" in " ".join(lines)
    assert not any("never calibrated" in line or "other.jsonl" in line for line in lines)


def test_json_and_csv_have_the_same(tmp_path: Path) -> None:
    save(measured("=texts.jsonl", "ab"))
    found = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY))
    (part,) = (part for part in json.loads(found.to_json())["parts"] if part["kind"] == "meaningjudges")
    (precision,) = (row for row in part["rows"] if row["quantity"] == "precision")
    assert (precision["value"], precision["ci95"], precision["n"]) == (0.75, [0.5, 0.875], 20)
    (tmp_path / "out.csv").write_text(FORMATS["csv"](found), "utf-8")
    names = ("judge", "calibration", "quantity", "value", "n", "low")
    who, file = f"someone {judge_id(IDENTITY)}", "'=texts.jsonl (abababab)"
    assert [[row[name] for name in names] for row in csv_rows(tmp_path / "out.csv", "meaningjudges")] == [
        [who, "", "kept", "3", "0", ""],
        [who, "", "rejected", "1", "0", ""],
        [who, "", "doubtful", "0", "0", ""],
        [who, "", "redrawn", "1", "0", ""],
        [who, "", "unjudged", "0", "0", ""],
        [who, file, "recall", "0.666667", "30", "0.1"],
        [who, file, "precision", "0.75", "20", "0.5"],
    ]


def test_equal_runs_give_equal_bytes_wherever_they_lie(tmp_path: Path) -> None:
    save(measured("texts.jsonl", "ab"))
    made = dynamic(tmp_path / "dynamic", judge=IDENTITY)
    assert reported(tmp_path / "a" / "run", made).to_json() == reported(tmp_path / "b" / "run", made).to_json()


@pytest.mark.parametrize(("made", "judge", "counts", "note"), [
    ({"verdict": Verdict("unjudged"), "dropped": 0}, None, [0, 0, 0, 0, 3], "nobody judged the variants: `mmdyn perturb --judge` keeps those that still ask the same"),
    ({"judge": IDENTITY, "kept": 0}, f"someone {judge_id(IDENTITY)}", [0, 1, 0, 1, 0], "the judge was never calibrated"),
    ({"judge": IDENTITY, "kept": 0, "dropped": 0}, None, [0, 0, 0, 0, 0], "no variant came out"),
    ({"command": "mmdyn data sample"}, "someone", [3, 1, 0, 1, 0], "a set that `mmdyn data sample` made does not say which judge that was"),
])  # fmt: skip
def test_as_much_is_said_as_the_set_says(tmp_path: Path, made: Any, judge: Any, counts: Any, note: str) -> None:
    """Nobody judged it; its judge kept nothing, and is named by what it rejected; nothing came out; it is a sample of a
    set."""
    found = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", **made))
    row = outcomes(found)
    assert (row["kept"].factors.get("judge"), counts_of(row)) == (judge, counts)
    assert row["kept"].note.startswith(note)
    where = ", ".join(filter(None, ("exam-dynamic", judge)))
    assert f"{where}: {note}" in " ".join(printed(found))


def test_a_set_that_is_gone_or_another_spoils_no_report(tmp_path: Path) -> None:
    made = dynamic(tmp_path / "dynamic", judge=IDENTITY)
    reported(tmp_path / "run", made)
    run = RunFolder(tmp_path / "run")
    shutil.move(made.folder, tmp_path / "away")
    row = outcomes(report(run))
    moved = f"the set that was asked does not lie in {made.folder} any more, so nothing is known of its judge"
    assert (list(row), row["kept"].value, row["kept"].note) == (["kept"], None, moved)
    assert row["kept"].factors == {"set": "exam-dynamic"}
    assert f"exam-dynamic: {moved}".replace(" ", "") in "".join(printed(report(run))).replace(" ", "")
    dynamic(made.folder, kept=5, judge=IDENTITY)
    assert outcomes(report(run))["kept"].note == moved
    (made.folder / "set.json").write_text("{", "utf-8")
    assert outcomes(report(run))["kept"].note.startswith(str(made.folder / "set.json"))


def test_a_damaged_calibration_is_noted(tmp_path: Path) -> None:
    file, _ = save(measured("texts.jsonl", "ab"))
    file.write_text("{}", "utf-8")
    found = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", judge=IDENTITY))
    row = outcomes(found)
    assert row["kept"].value == 3 and len(lines_of(found, "meaningjudges")) == 1
    assert row["kept"].note.startswith(f"{file} cannot be read")


def test_rules_that_judged_alone_are_called_a_sieve(tmp_path: Path) -> None:
    by_rules = Verdict("kept", "embedded", "", 0.75)
    found = reported(tmp_path / "run", dynamic(tmp_path / "dynamic", verdict=by_rules, dropped=0, judge=IDENTITY))
    row = outcomes(found)["kept"]
    assert row.factors["judge"].startswith("embedded ") and row.note.endswith(f"; {RULES_MEASURED}")
    text = " ".join(printed(found))
    assert "; no model judged the variants, and rules are a sieve: on 240 exam pairs" in text
    assert "the embedded judge caught 80 % of the changed questions and kept 84 % of the unchanged ones; " in text
    other = outcomes(reported(tmp_path / "other", dynamic(tmp_path / "model", judge=IDENTITY)))["kept"]
    assert other.factors["judge"].startswith("someone ") and RULES_MEASURED not in other.note


def test_several_runs_name_theirs(tmp_path: Path) -> None:
    save(measured("texts.jsonl", "ab"))
    made = dynamic(tmp_path / "dynamic", judge=IDENTITY)
    for name in ("before", "after"):
        reported(tmp_path / name, made)
    found = report(tmp_path / "before", tmp_path / "after")
    assert [row.factors["run"] for row in found.rows("meaningjudges", "kept")] == ["before", "after"]
    assert [row.factors["run"] for row in found.rows("meaningjudges", "recall")] == ["before", "after"]
