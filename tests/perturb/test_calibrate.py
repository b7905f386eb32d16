"""How well a judge tells changed pairs from kept ones: the counts, their intervals, and the labelled files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import to_builtins

from making import choice, image_ref, picture, write_set
from mmdyn.data import LabelledFile, SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.keys import sha256
from mmdyn.sample import Verdict
from mmdyn.sheets import Seen, digest_shown
from mmdyn.stats import Share
from mmdyn.tables import Calibration
from perturb import Sources, labelled_cases, measure, open_judge, perturb

KEPT, REJECTED, FAILED = Verdict("kept"), Verdict("rejected"), Verdict("failed")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def share(part: int, whole: int) -> Share:
    """A share of labels that are alone, to six digits."""
    found = Share.of(np.arange(whole) < part, np.arange(whole))
    assert found
    return found.rounded


def measured(judged: list[tuple[bool, Verdict]], pairs_each: int = 1) -> Calibration:
    """So many pairs after each other are about one question."""
    about = ((keep, verdict, f"q{n // pairs_each}") for n, (keep, verdict) in enumerate(judged))
    return measure("someone", {"model": "x"}, about)


def test_pairs_about_one_question_are_one_cluster() -> None:
    judged = [(False, REJECTED)] * 20 + [(False, KEPT)] * 10 + [(True, KEPT)] * 50
    single, five = measured(judged), measured(judged, 5)
    assert (single.questions, five.questions, five.n) == (80, 16, 80) and five.kappa == single.kappa
    assert five.recall and five.recall.rounded == Share(
        share(4, 6).value, share(4, 6).low, share(4, 6).high, 30, share(4, 6).effective
    )
    assert single.kappa_ci95 and single.kappa_ci95[0] > 0.4
    assert five.kappa_ci95 and five.kappa_ci95[0] < single.kappa_ci95[0] - 0.1


def test_positive_is_a_changed_meaning() -> None:
    """8 of 10 changed pairs caught, 3 of 20 kept pairs rejected, one pair without a verdict."""
    judged = (
        [(False, REJECTED)] * 8 + [(False, KEPT)] * 2 + [(True, REJECTED)] * 3 + [(True, KEPT)] * 17 + [(True, FAILED)]
    )
    found = measured(judged)
    assert (found.judge, found.n, found.failed) == ("someone", 30, 1)
    assert found.recall == found.sensitivity and found.questions == 30
    shares = [one and one.rounded for one in (found.recall, found.precision, found.specificity, found.agreement)]
    assert shares == [share(8, 10), share(8, 11), share(17, 20), share(25, 30)]
    chance = (10 * 11 + 20 * 19) / 30**2
    assert found.kappa == pytest.approx((25 / 30 - chance) / (1 - chance))
    assert found.kappa_ci95 == pytest.approx((0.252025, 0.872299), abs=1e-6)


def test_what_cannot_be_measured_is_none() -> None:
    found = measured([(True, KEPT)])
    assert found.precision is None and found.recall is None and found.specificity and found.specificity.value == 1
    assert found.agreement and found.agreement.rounded == share(1, 1) and found.kappa is found.kappa_ci95 is None
    nothing = measured([(True, FAILED)])
    assert (nothing.n, nothing.failed) == (0, 1) and nothing.agreement is nothing.kappa is nothing.kappa_ci95 is None
    with pytest.raises(UserError, match="there is no labelled pair: give a file of lines with a label"):
        measure("someone", None, [])


# labelled lines


def lines(*rows: dict[str, Any]) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


def test_labels_are_true_or_keep_and_false_or_reject() -> None:
    pair = {"a": "Find 1.", "b": "Find 2."}
    rows = [{**pair, "label": label} for label in (True, "keep", False, "reject")]
    assert [keep for keep, _ in labelled_cases(lines(*rows), "x.jsonl")] == [True, True, False, False]


def test_which_labels_are_about_one_question(tmp_path: Path) -> None:
    """Those with the same question or picture before, or the same group."""
    (tmp_path / "a.png").write_bytes(picture())
    (tmp_path / "b.png").write_bytes(picture())
    pictures = {"before_image": "a.png", "after_image": "b.png", "label": True}
    pairs = [
        {"a": f"Find {a}.", "b": "Find 9.", "label": True, **more}
        for a, more in ((1, {}), (1, {}), (2, {}), (2, {"group": 7}), (3, {"group": 7}))
    ]
    rows = [*pairs, pictures, pictures, {**pictures, "before_image": "b.png"}, {**pictures, "group": "g"}]
    about = [case.about for _, case in labelled_cases(lines(*rows), str(tmp_path / "x.jsonl"))]
    assert [about.index(each) for each in about] == [0, 0, 2, 3, 3, 5, 5, 7, 8]


def test_a_labelled_file_is_known_by_its_bytes() -> None:
    rows = lines({"a": "Find 1.", "b": "Find 2.", "label": True}, {"a": "Find 1.", "b": "Find 1.", "label": False})
    data = b"\xef\xbb\xbf" + b"\n".join(rows)
    file = LabelledFile(io.BytesIO(data))
    assert [keep for keep, _ in labelled_cases(file, "x.jsonl")] == [True, False], "a byte order mark may come first"
    assert file.digest == sha256(data)
    with pytest.raises(InputError, match=r"x.jsonl:2: not a JSON object"):
        list(labelled_cases([rows[0], b"\xef\xbb\xbf" + rows[1]], "x.jsonl"))


@pytest.mark.parametrize(("row", "problem"), [
    ({"a": "x", "b": "y"}, '"label" must be true (keep) or false (reject)'),
    ({"a": "x", "b": "y", "label": 1}, '"label" must be true (keep) or false (reject)'),
    ({"a": "x", "label": True}, '"a" and "b" must be two texts, the question before and after'),
    ({"a": "x", "b": " ", "label": True}, '"b" is empty: give the whole question'),
    ({"before_image": "no.png", "after_image": "no.png", "label": True}, "cannot be read (No such file or directory)"),
    ({"set": "s", "id": "x", "label": True}, '"a" and "b" must be two texts, the question before and after'),
])  # fmt: skip
def test_bad_lines_are_named(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as raised:
        list(labelled_cases([b"", *lines(row)], "here.jsonl"))
    assert str(raised.value).startswith("here.jsonl:2: ") and problem in str(raised.value)


def test_pictures_alone_are_judged(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(120, 90))
    (tmp_path / "b.png").write_bytes(picture(60, 40))
    rows = [{"before_image": "a.png", "after_image": name, "label": True} for name in ("a.png", "b.png")]
    judge = open_judge("embedded")
    verdicts = [judge.judge(case) for _, case in labelled_cases(lines(*rows), str(tmp_path / "labels.jsonl"))]
    assert [verdict.status for verdict in verdicts] == ["kept", "rejected"]
    assert verdicts[1].reason == "the picture was cut from 120x90 to 60x40 pixels"


def test_lines_of_an_audit_sheet_are_read_from_its_sets(tmp_path: Path) -> None:
    source = write_set(tmp_path / "source", [choice("q1"), choice("q2", question="What is 2 + 1?")])
    dynamic = perturb(source, tmp_path / "out", ops="shuffle", seed=1, quiet=True)
    folders = {"set": str(dynamic.folder), "parent_set": str(source.folder)}
    marks = [{**folders, "id": f"q{n}~shuffle~0", "label": label} for n, label in ((2, "reject"), (1, "keep"))]
    found = {case.after.id: (keep, case) for keep, case in labelled_cases(lines(*marks), "labels.jsonl")}
    assert {name: keep for name, (keep, _) in found.items()} == {"q1~shuffle~0": True, "q2~shuffle~0": False}
    _, case = found["q1~shuffle~0"]
    assert case.about == "q1 " + case.before.question and open_judge("embedded").judge(case).status == "kept"
    with pytest.raises(UserError, match=r"q9~shuffle~0 is not in .*: was the set made again since it was marked\?"):
        list(labelled_cases(lines({**folders, "id": "q9~shuffle~0", "label": True}), "labels.jsonl"))


def marked(folder: Path) -> tuple[SampleSet, SampleSet, dict[str, Any]]:
    """A set, its variants, and a label of one of them as a sheet has it."""
    source = write_set(folder / "source", [choice("q1")], "named")
    dynamic = perturb(source, folder / "out", ops="shuffle", seed=1, quiet=True)
    (variant,) = dynamic
    mark = Seen(set=str(dynamic.folder), parent_set=str(source.folder), id=variant.id, digest=digest_shown(variant))
    return source, dynamic, {**to_builtins(mark), "label": "keep"}


def test_marked_sets_that_were_moved_are_named(tmp_path: Path) -> None:
    source, dynamic, mark = marked(tmp_path)
    source.folder.rename(tmp_path / "elsewhere")
    assert len(list(labelled_cases(lines(mark), "labels.jsonl"))) == 1, "it still lies beside the set"
    parent = tmp_path / "far" / "away"
    parent.parent.mkdir()
    (tmp_path / "elsewhere").rename(parent)
    with pytest.raises(UserError, match=r"the set named that .* was made of is not beside it: name it with --parent"):
        list(labelled_cases(lines(mark), "labels.jsonl"))
    assert len(list(labelled_cases(lines(mark), "labels.jsonl", Sources(parent=str(parent))))) == 1
    dynamic.folder.rename(tmp_path / "moved")
    with pytest.raises(
        UserError, match=r"out, whose variants were marked, is no set any more: say where it lies with --set"
    ):
        list(labelled_cases(lines(mark), "labels.jsonl"))
    sources = Sources(str(tmp_path / "moved"), str(parent))
    assert len(list(labelled_cases(lines(mark), "labels.jsonl", sources))) == 1


def test_a_variant_that_is_no_longer_what_was_marked_is_refused(tmp_path: Path) -> None:
    source, dynamic, mark = marked(tmp_path)
    other = perturb(source, tmp_path / "other", ops="shuffle", seed=2, quiet=True)
    assert [sample.id for sample in other] == [sample.id for sample in dynamic]
    with pytest.raises(UserError, match=r"q1~shuffle~0 in .*other is not what was marked: give the set of then with"):
        list(labelled_cases(lines(mark), "labels.jsonl", Sources(dynamic=str(other.folder))))
    with pytest.raises(InputError, match=r"labels.jsonl:1: attempt must be a whole number, a text given"):
        list(labelled_cases(lines({**mark, "attempt": "1"}), "labels.jsonl"))


def test_pictures_that_cannot_be_read_end_in_one_sentence(tmp_path: Path) -> None:
    data = picture()
    source = write_set(tmp_path / "source", [choice("q1", images=(image_ref(data),))], images=[data])
    dynamic = perturb(source, tmp_path / "out", ops="pad", seed=1, quiet=True)
    (variant,) = dynamic
    dynamic.images.path(variant.images[0]).unlink()
    mark = {"set": str(dynamic.folder), "parent_set": str(source.folder), "id": variant.id, "label": True}
    with pytest.raises(UserError, match=r"q1~pad~0 cannot be shown to a judge: .* is missing: put the file into"):
        list(labelled_cases(lines(mark), "labels.jsonl"))
