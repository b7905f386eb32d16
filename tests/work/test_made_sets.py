"""What lies in a step's folder: finished, begun, another's, or in the way; perturbing is the step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from making_sets import make_set, tree

from making import choice, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.sample import Sample
from mmdyn.work import Store
from perturb import perturb


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return make_set(tmp_path / "source")


def test_a_finished_set_is_opened_as_it_is(
    source: SampleSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = perturb(source, tmp_path / "out", ops="pad", quiet=True)
    before = {path: path.stat().st_mtime_ns for path in out.folder.rglob("*")}
    again = perturb(source, tmp_path / "out", ops="pad", workers=3)
    assert again.manifest == out.manifest
    assert {path: path.stat().st_mtime_ns for path in out.folder.rglob("*")} == before
    assert capsys.readouterr().err == f"{out.folder} is finished: nothing to do\n"


@pytest.mark.parametrize(("settings", "differing"), [
    ({"draws": 2}, "draws 1, now 2"), ({"seed": 3}, "seed 0, now 3"),
    ({"ops": "pad,invert"}, 'ops "pad", now "pad,invert"'), ({"limit": 1}, "limit none, now 1"),
    ({"name": "other"}, 'name "mixed-dynamic", now "other"'),
    ({"draws": 2, "seed": 3}, "draws 1, now 2; seed 0, now 3"), ({"judge": "embedded"}, "votes none, now 1; redraws none, now 3; judge none, now given"),
])  # fmt: skip
@pytest.mark.parametrize("finished", [True, False])
def test_other_settings_in_the_same_folder_are_refused(
    source: SampleSet, tmp_path: Path, settings: dict[str, object], differing: str, finished: bool
) -> None:
    usual: dict[str, object] = {"ops": "pad", "quiet": True}
    perturb(source, tmp_path / "out", **usual)  # type: ignore[arg-type]
    if not finished:
        unfinish(tmp_path / "out", {"ops": "pad", "draws": 1, "seed": 0, "limit": None}, source)
    with pytest.raises(UserError) as refused:
        perturb(source, tmp_path / "out", **(usual | settings))  # type: ignore[arg-type]
    said = f"was made with other settings ({differing}): choose another folder, or remove this one"
    assert str(refused.value) == f"{tmp_path / 'out'} {said}"


def unfinish(out: Path, made: dict[str, object], source: SampleSet) -> None:
    version = SampleSet(out).manifest.made["version"]
    (out / "set.json").unlink()
    (out / "samples.jsonl").unlink()
    settings = {
        "command": "perturb", **made, "version": version, "name": "mixed-dynamic",
        "source": {"name": source.name, "digest": source.manifest.digest},
    }  # fmt: skip
    with Store(out / ".work") as store:
        store.put("settings", "settings", json.dumps(settings).encode())


def test_another_source_is_refused(source: SampleSet, tmp_path: Path) -> None:
    perturb(source, tmp_path / "out", ops="pad", quiet=True)
    other = write_set(tmp_path / "other", [choice()], "mixed")
    with pytest.raises(UserError, match=r"was made with other settings .source "):
        perturb(other, tmp_path / "out", ops="pad", quiet=True)


@pytest.mark.parametrize("manifest", [True, False])
def test_a_folder_with_another_set_is_left_alone(source: SampleSet, tmp_path: Path, manifest: bool) -> None:
    for out in (tmp_path / "other", source.folder):
        if out != source.folder:
            write_set(out, [choice()])
        if not manifest:
            (out / "set.json").unlink()
        before = tree(out)
        with pytest.raises(UserError, match=r"already holds (a|another) set"):
            perturb(source, out, ops="shuffle", quiet=True)
        assert tree(out) == before


def test_a_file_in_the_way(source: SampleSet, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot write .*out"):
        perturb(source, tmp_path / "out", ops="pad", quiet=True)


def test_an_id_given_twice_is_told(tmp_path: Path) -> None:
    source = write_set(tmp_path / "s", [choice("a"), choice("b")])
    file = source.folder / "samples.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"id":"b"', b'"id":"a"').replace(b"triangle", b"square", 1))
    with pytest.raises(InputError, match="the id 'a~shuffle~0' is given twice"):
        perturb(source, tmp_path / "out", ops="shuffle", quiet=True)


def test_a_bad_line_is_told_with_its_number(tmp_path: Path) -> None:
    source = write_set(tmp_path / "s", [choice("a"), choice("b")])
    file = source.folder / "samples.jsonl"
    file.write_bytes(file.read_bytes() + b'{"id": 3}\n')
    with pytest.raises(InputError, match=r"samples\.jsonl:3: "):
        perturb(source, tmp_path / "out", ops="shuffle", quiet=True)


class CountedSet(SampleSet):
    """Counts how far its samples were read before the first was done with."""

    read = 0

    def __iter__(self) -> Iterator[Sample]:
        for sample in super().__iter__():
            self.read += 1
            yield sample


def test_the_set_is_streamed(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "s", (choice(f"s{n}") for n in range(500))).folder
    counted = CountedSet(folder)
    perturb(counted, tmp_path / "out", ops="shuffle", quiet=True)
    assert counted.read == 1000, "once to make, once to write"
