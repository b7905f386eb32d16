"""The whole way of renewing: reviewers validate, models and people retire, other questions stand in."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from composing import composed, spec_of
from making_sets import write_marks
from shell import mmdyn

from making import choice, image_ref, picture, true_false, write_set
from mmdyn.build import build
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.plugins import load


def reasons(made: SampleSet) -> dict[str, str]:
    return {item.id: item.reason for item in made.dropped()}


def bank(folder: Path, count: int = 120) -> Path:
    file = folder / "bank.jsonl"
    lines = list[dict[str, object]]()
    for discipline in ("law", "physics"):
        for number in range(count):
            id = f"{discipline}{number}"
            lines.append({"id": id, "text": f"True {id}.", "label": True, "discipline": discipline})
            false = {"id": f"{id}-f", "text": f"False {id}.", "label": False, "pair": id, "discipline": discipline}
            lines.append(false)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_reviewers_decide_and_their_agreement_is_told(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice(f"q{n}", question=f"Question {n}?") for n in range(30)])
    bad = {f"q{n}": "clear" for n in range(8)}
    files = [
        write_marks(tmp_path / "ann.jsonl", "ann", source, bad),
        write_marks(tmp_path / "ben.jsonl", "ben", source, bad | {"q9": "sound"}),
        write_marks(tmp_path / "cy.jsonl", "cy", source, {"q9": "clear"} | {f"q{n}": "clear" for n in range(7)}),
    ]
    cut = files[2].read_text().splitlines(keepends=True)
    files[2].write_text("".join(cut[:-1]))
    words = ("--marks", ",".join(map(str, files)))
    done = mmdyn("build", "validate", source.folder, "-o", tmp_path / "out", *words)
    assert done.returncode == 0, done.stderr
    told = reasons(SampleSet(tmp_path / "out"))
    assert (
        told["q0"] == "3 of 3 reviewers reject it (clear)" and told["q9"] == "2 of 3 reviewers reject it (sound, clear)"
    )
    assert told["q29"] == "undecided: 2 of 3 reviewers marked it" and len(told) == 10
    rows = SampleSet(tmp_path / "out").manifest.made["summary"]["agreement"]
    assert [row["of"] for row in rows] == [
        "all reviewers", "clear", "sound", "ann and ben", "ann and cy", "ben and cy",
    ]  # fmt: skip
    assert 0.8 < rows[0]["kappa"] < 0.95 and rows[0]["kappa_ci95"][0] < rows[0]["kappa"] < rows[0]["kappa_ci95"][1]
    assert "sound: Fleiss' kappa too few to tell; 97.8 %" in done.stderr
    assert "ann and ben: Cohen's kappa 0.92 [" in done.stderr
    strict = mmdyn("build", "validate", source.folder, "-o", tmp_path / "all", *words, "--rule", "all")
    assert strict.returncode == 0 and len(SampleSet(tmp_path / "all")) == 20
    wrong = mmdyn("build", "validate", source.folder, "-o", tmp_path / "x", *words, "--rule", "most")
    assert wrong.returncode == 2 and "--rule most: give majority or all" in wrong.stderr
    files[0].write_text(files[0].read_text().replace('"q0"', '"gone"'))
    gone = mmdyn("build", "validate", source.folder, "-o", tmp_path / "y", *words)
    assert gone.returncode == 2 and "gone is not in" in gone.stderr


def test_a_set_is_renewed_to_its_old_size_and_shares(tmp_path: Path) -> None:
    file = bank(tmp_path)
    old = composed(file, tmp_path / "old", spec_of(questions=12, seed=1, statements="6", options="4"))
    ids = [one.id for one in old]
    words: list[object] = ["eval", old.folder, "-o", tmp_path / "run", "-q"]
    for number in range(3):
        right = [{"match": one.question, "reply": f"Answer: {one.answer[0]}"} for one in old if one.id in ids[:2]]  # type: ignore[index]
        script = tmp_path / f"model{number}.jsonl"
        script.write_text("".join(json.dumps(line) + "\n" for line in [*right, {"reply": "I do not know."}]))
        words += ["-m", f"scripted:{script}"]
    done = mmdyn(*words)
    assert done.returncode == 0, done.stderr
    people = write_marks(tmp_path / "ann.jsonl", "ann", old, {ids[-1]: "sound"})
    left_words = ("--runs", tmp_path / "run", "--marks", people)
    done = mmdyn("build", "retire", old.folder, "-o", tmp_path / "left", *left_words)
    assert done.returncode == 0, done.stderr
    told = reasons(SampleSet(tmp_path / "left"))
    assert told[ids[-1]] == "faulty: 1 of 1 reviewer rejects it (sound)" and set(told) == {*ids[:2], ids[-1]}
    assert told[ids[0]].startswith("saturated: 3 models score 100 % on the mean ('scripted:model0.jsonl, scripted:")
    spec = spec_of(questions=8, seed=1, statements="6", options="4", max_shared=0)
    new = composed(file, tmp_path / "new", spec, avoid=[tmp_path / "left"])
    words = ["build", "replace", tmp_path / "left", "-o", tmp_path / "renewed", "--by", new.folder]
    done = mmdyn(*words, "--like", "discipline")
    assert done.returncode == 0, done.stderr
    renewed = list(SampleSet(tmp_path / "renewed"))
    shares = [Counter(one.fields["discipline"] for one in each) for each in (old, renewed)]
    assert len(renewed) == len(old) and shares[0] == shares[1] and len({one.id for one in renewed}) == len(old)
    assert [one.meta["built"][-1]["replaces"] for one in renewed[-3:]] == [*ids[:2], ids[-1]]  # type: ignore[index, call-overload]
    before = {origin for one in old for origin in one.meta["origins"]}  # type: ignore[union-attr]
    assert not before & {origin for one in renewed[-3:] for origin in one.meta["origins"]}  # type: ignore[union-attr]
    assert "retired: 3" in done.stderr and "replaced: 3" in done.stderr
    again = mmdyn("build", "replace", tmp_path / "renewed", "-o", tmp_path / "twice", "--by", new.folder)
    assert again.returncode == 2 and "lacks no retired question" in again.stderr


def test_a_variant_that_stands_in_is_in_one_group_with_its_parent(tmp_path: Path) -> None:
    rows = [choice(f"q{n}", question=f"What is the number called {n}, in words?") for n in range(4)]
    source = write_set(tmp_path / "set", rows)
    people = write_marks(tmp_path / "ann.jsonl", "ann", source, {"q0": "sound", "q1": "sound"})
    retire, stand_in = load("steps", "retire"), load("steps", "replace")
    left = build("retire", source, tmp_path / "left", retire.Settings(marks=str(people)), quiet=True)
    done = mmdyn("perturb", source.folder, "-o", tmp_path / "new", "--ops", "text.shuffle", "--draws", "3")
    assert done.returncode == 0, done.stderr
    settings = stand_in.Settings(by=str(tmp_path / "new"))
    made = list(build("replace", left, tmp_path / "out", settings, quiet=True))
    assert [one.group for one in made[:2]] == ["q2", "q3"] and {one.group for one in made[2:]} == {"q2", "q3"}
    assert all(one.variant is None for one in made) and {one.parent for one in made[:2]} == {"q2", "q3"}
    with pytest.raises(UserError, match="no question that can stand in for one of 2 retired ones"):
        build("replace", left, tmp_path / "x", stand_in.Settings(by=str(source.folder)), quiet=True)


def test_a_statement_and_its_falsification_are_one_when_sets_are_kept_apart(tmp_path: Path) -> None:
    file = bank(tmp_path, count=4)
    first = composed(file, tmp_path / "a", spec_of(questions=4, form="statement"))
    second = composed(file, tmp_path / "b", spec_of(questions=4, form="statement", max_shared=0), avoid=[first.folder])
    apart = [{str(one.meta["statements"][0]).removesuffix("-f") for one in each} for each in (first, second)]  # type: ignore[index]
    assert not apart[0] & apart[1]
    hand = write_set(tmp_path / "hand", [true_false()])
    with pytest.raises(UserError, match="does not say of which statements it was composed: compose the set again"):
        composed(file, tmp_path / "c", spec_of(questions=2, form="statement"), avoid=[hand.folder])


def test_a_picture_is_brought_along_and_a_shortage_is_told(tmp_path: Path) -> None:
    data = picture()
    rows = [
        choice(f"q{n}", question=f"Question {n}?", fields={"subject": s}) for n, s in enumerate(("law", "law", "art"))
    ]
    old = write_set(tmp_path / "old", [*rows, choice("stays", question="What stays?")])
    people = write_marks(tmp_path / "ann.jsonl", "ann", old, dict.fromkeys(("q0", "q1", "q2"), "sound"))
    left = build("retire", old, tmp_path / "left", load("steps", "retire").Settings(marks=str(people)), quiet=True)
    new = choice("new", question="What is drawn?", images=(image_ref(data),), fields={"subject": "law"})
    write_set(tmp_path / "new", [new], images=[data])
    words = ("--by", tmp_path / "new", "--like", "subject")
    done = mmdyn("build", "replace", left.folder, "-o", tmp_path / "out", *words)
    assert done.returncode == 0, done.stderr
    made = SampleSet(tmp_path / "out")
    assert [one.id for one in made] == ["stays", "new"] and made.images.read(image_ref(data)) == data
    summary = made.manifest.made["summary"]
    assert summary == {"retired": 3, "replaced": 1, "too few of": {"law": 1, "art": 1}}
    assert "too few of: art 1, law 1" in done.stderr, done.stderr
