"""What people rejected on an audit sheet leaves the set, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from making_sets import make_set, marks_of_sheet
from shell import mmdyn

from mmdyn.data import SampleSet
from mmdyn.sheets import audit
from perturb import perturb


@pytest.fixture
def dynamic(tmp_path: Path) -> SampleSet:
    return perturb(make_set(tmp_path / "source"), tmp_path / "out", ops="pad,shuffle", draws=2, seed=1, quiet=True)


def labels(dynamic: SampleSet, file: Path, **said: str) -> Path:
    """The marks that a sheet of all variants saves, by the variants' place on it."""
    audit(dynamic, file.with_suffix(".html"), count=100)
    lines = marks_of_sheet(file.with_suffix(".html").read_text("utf-8"))
    file.write_text(
        "".join(json.dumps({**lines[int(place[1:])], "label": label}) + "\n" for place, label in said.items())
    )
    return file


def test_rejected_variants_leave_the_set(dynamic: SampleSet, tmp_path: Path) -> None:
    file = labels(dynamic, tmp_path / "labels.jsonl", m0="reject", m1="keep", m3="reject")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    gone = [row["id"] for row in rows if row["label"] == "reject"]
    done = mmdyn("data", "apply", file, dynamic.folder, "-o", tmp_path / "clean")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'clean'}: {len(dynamic) - 2} samples, 2 rejected\n"
    clean = SampleSet(tmp_path / "clean")
    assert list(clean) == [sample for sample in dynamic if sample.id not in gone]
    assert clean.manifest.parent == dynamic.manifest.parent
    told = [item for item in clean.dropped() if item.reason.startswith("people")]
    assert {(item.id, item.status, item.reason) for item in told} == {
        (id, "rejected", "people rejected it (1 of 1)") for id in gone
    }
    assert all(clean.images.read(ref) == dynamic.images.read(ref) for sample in clean for ref in sample.all_images)
    assert mmdyn("data", "validate", tmp_path / "clean").returncode == 0


def test_of_several_marks_the_majority_decides_and_a_tie_rejects(dynamic: SampleSet, tmp_path: Path) -> None:
    files = [
        labels(dynamic, tmp_path / "a.jsonl", m0="reject", m1="reject", m2="keep"),
        labels(dynamic, tmp_path / "b.jsonl", m0="keep", m1="keep", m2="keep"),
        labels(dynamic, tmp_path / "c.jsonl", m1="keep"),
    ]
    done = mmdyn("data", "apply", *files, dynamic.folder, "-o", tmp_path / "clean")
    assert done.returncode == 0, done.stderr
    told = [item for item in SampleSet(tmp_path / "clean").dropped() if item.reason.startswith("people")]
    first = json.loads(files[0].read_text().splitlines()[0])["id"]
    assert [(item.id, item.reason) for item in told] == [(first, "people rejected it (1 of 2)")]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"id": "nobody~pad~0"}, "nobody~pad~0 is not in"),
        ({"digest": "00"}, "is not what was marked"),
        ({"label": "maybe"}, '"label" must be true (keep) or false (reject)'),
        ({"set": None}, "is no mark of an audit sheet"),
    ],
)
def test_marks_that_do_not_fit_are_refused(
    dynamic: SampleSet, tmp_path: Path, change: dict[str, object], told: str
) -> None:
    file = labels(dynamic, tmp_path / "labels.jsonl", m0="reject")
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}) + "\n")
    done = mmdyn("data", "apply", file, dynamic.folder, "-o", tmp_path / "clean")
    assert done.returncode == 2 and told in done.stderr
    assert not (tmp_path / "clean").exists()
