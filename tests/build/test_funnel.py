"""The funnel of several steps: what came in, what left and why, what went on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from serving import scripted
from shell import mmdyn

from making import choice, image_ref, picture, write_set
from mmdyn.data import SampleSet, Stage, stages
from mmdyn.sample import Sample

SOUND = dict.fromkeys(("whole", "consistent", "reasoned", "factual", "clear", "complete"), True)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def raw(folder: Path) -> Path:
    """Ten rows: seven different questions, one that stands twice, and two that are no samples."""
    rows: list[Sample] = [choice(f"q{k}", question=f"What is number {'I' * k}?") for k in range(1, 8)]
    rows.append(choice("twice", question="What is number I?"))
    write_set(folder / "hand", rows)
    file = folder / "raw.jsonl"
    lines = (folder / "hand" / "samples.jsonl").read_text()
    file.write_text(lines + '{"id": "no question"}\n{"id": ""}\n')
    return file


def test_the_whole_chain_is_told(tmp_path: Path) -> None:
    model = scripted(
        tmp_path,
        {"match": "number II?", "reply": json.dumps({**SOUND, "clear": False, "why": "of what?"})},
        {"match": "number III?", "reply": "no JSON"},
        {"reply": json.dumps({**SOUND, "why": ""})},
    )
    steps = [
        ["data", "convert", raw(tmp_path), "-o", tmp_path / "raw", "--skip-bad"],
        ["build", "screen", tmp_path / "raw", "-o", tmp_path / "screened"],
        ["build", "review", tmp_path / "screened", "-o", tmp_path / "reviewed", "-m", model, "-n", 6],
        ["build", "cap", tmp_path / "reviewed", "-o", tmp_path / "capped", "--field", "subject", "--most", 3],
    ]
    done = [mmdyn(*words) for words in steps]
    assert [one.returncode for one in done] == [0, 0, 1, 2], done[-1].stderr
    assert "no question of" in done[-1].stderr, "no sample has a subject"
    taken = mmdyn("data", "sample", tmp_path / "reviewed", "-n", 3, "-o", tmp_path / "taken")
    assert taken.returncode == 0, taken.stderr
    told = mmdyn("build", "dedup", tmp_path / "taken", "-o", tmp_path / "final")
    assert told.returncode == 0, "what failed in an earlier step is not a failure of this one"
    unclear = "it is not clear ('of what?')"
    found = stages(SampleSet(tmp_path / "final"))
    assert found[2].left.pop("failed").popitem()[1] == 1
    assert found == [
        Stage("data convert", 10, 8, {"rejected": {"rows that are no samples": 2}}),
        Stage("screen", 8, 7, {"refused": {"it says the same as 'q1', or nearly": 1}}),
        Stage("review", 6, 4, {"refused": {unclear: 1}}),
        Stage("data sample", 4, 3, {}),
        Stage("dedup", 3, 3, {}),
    ]
    assert told.stderr.splitlines()[-4:] == [
        "        1 refused by review",
        f"            1 {unclear}",
        "    data sample: 4 came in, 3 went on",
        "    dedup: 3 came in, 3 went on",
    ]
    shown = mmdyn("data", "show", tmp_path / "final", "--stages", "--json")
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [(line["step"], line["came_in"], line["went_on"]) for line in lines][1:3] == [
        ("screen", 8, 7),
        ("review", 6, 4),
    ]
    assert lines[2]["left"]["refused"] == {unclear: 1}


def test_a_step_that_multiplies_is_counted(tmp_path: Path) -> None:
    bank = tmp_path / "bank.jsonl"
    bank.write_text(
        "".join(json.dumps({"id": f"s{k}", "text": f"Law {k} holds.", "label": True}) + "\n" for k in range(3))
    )
    false = {"statement": "A law does not hold.", "error_type": "logical paradox", "why": "it does"}
    model = scripted(tmp_path, {"reply": json.dumps(false)})
    assert mmdyn("build", "bank", bank, "-o", tmp_path / "bank").returncode == 0
    done = mmdyn("build", "falsify", tmp_path / "bank", "-o", tmp_path / "out", "-m", model, "--unjudged", "-n", 2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-2:] == ["    bank: 3 came in, 3 went on", "    falsify: 2 came in, 4 went on"]


@pytest.mark.parametrize(("step", "words"), [("screen", ("--require", "year")), ("review", ("-m",))])
def test_where_a_step_refuses_everything_the_reasons_are_written(
    step: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    source = write_set(tmp_path / "set", [choice("a"), choice("b", question="Another one?")])
    if words == ("-m",):
        words = ("-m", scripted(tmp_path, {"reply": json.dumps({"cannot": "too dark"})}))
    done = mmdyn("build", step, source.folder, "-o", tmp_path / "out", "-q", *words)
    assert done.returncode == 1 and f"{step} kept none of 2 samples, mostly because: " in done.stderr, done.stderr
    assert ("the field year is missing" if step == "screen" else "too dark") in done.stderr
    made = SampleSet(tmp_path / "out")
    assert len(made) == 0 and [item.id for item in made.dropped()] == ["a", "b"]
    again = mmdyn("build", step, source.folder, "-o", tmp_path / "out", "-q", *words)
    assert (again.returncode, again.stderr) == (1, done.stderr)


def test_a_picture_that_breaks_off_is_refused_where_pictures_are_looked_at(tmp_path: Path) -> None:
    data = picture()
    samples = [choice("a"), choice("b", question="Another one?", images=(image_ref(data),))]
    file = write_set(tmp_path / "set", samples, images=[data]).folder / image_ref(data)
    file.write_bytes(data[:-40])
    done = mmdyn("build", "screen", tmp_path / "set", "-o", tmp_path / "screened", "-q")
    assert done.returncode == 0, done.stderr
    assert [item.reason for item in SampleSet(tmp_path / "screened").dropped()] == [
        "a picture cannot be read: the picture is broken or cut off (image file is truncated): replace the file"
    ]
    done = mmdyn("build", "dedup", tmp_path / "set", "-o", tmp_path / "alone", "-q")
    told = (
        f"mmdyn: {file}: cannot be read: the picture is broken or cut off (image file is truncated): replace the file"
    )
    assert (done.returncode, done.stderr) == (2, f"{told}\n")


def test_a_set_made_by_hand_is_where_the_funnel_begins(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice("a"), choice("b")])
    assert stages(source) == [Stage("made by hand", 2, 2, {})]
