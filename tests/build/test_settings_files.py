"""Files and runs that settings name: what they hold decides the set, which says what was read."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from serving import scripted
from shell import mmdyn

from making import choice, open_ended, write_set
from mmdyn.build import build
from mmdyn.errors import InputError, UserError
from mmdyn.plugins import load


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def test_a_changed_file_is_told_and_the_set_says_what_was_read(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("mechanics\noptics\n")
    settings = load("steps", "taxonomy").Settings(names=str(names))
    model = scripted(tmp_path, {"reply": json.dumps({"name": "optics", "sure": True})})
    source = write_set(tmp_path / "set", [open_ended("a")])
    made = build("taxonomy", source, tmp_path / "out", settings, model=model, quiet=True)
    sha256 = hashlib.sha256(names.read_bytes()).hexdigest()
    assert made.manifest.made["read"] == {"names": [{"name": "names.txt", "bytes": 17, "sha256": sha256}]}
    names.write_text("optics\nwaves\n")
    with pytest.raises(UserError, match=r"was made with other settings \(read .*names.txt"):
        build("taxonomy", source, tmp_path / "out", settings, model=model, quiet=True)
    with pytest.raises(InputError, match="no such file or folder"):
        build("taxonomy", source, tmp_path / "no", load("steps", "taxonomy").Settings(names="no.txt"), model=model)


def test_a_run_with_other_records_is_another_one(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice("a"), choice("b", question="Which other one?")])
    models = ["-m", "baseline:lexical", "-m", "baseline:majority"]
    assert mmdyn("eval", source.folder, *models, "-o", tmp_path / "run", "-q").returncode == 0
    settings = load("steps", "retire").Settings(runs=str(tmp_path / "run"), models=3)
    made = build("retire", source, tmp_path / "out", settings, quiet=True)
    (read,) = made.manifest.made["read"]["runs"]  # type: ignore[call-overload, index]
    assert (read["name"], read["records"]) == ("run", 4) and len(read["sha256"]) == 64
    assert build("retire", source, tmp_path / "out", settings, quiet=True).manifest == made.manifest
    shutil.rmtree(tmp_path / "run")
    assert mmdyn("eval", source.folder, "-m", "baseline:random", "-o", tmp_path / "run", "-q").returncode == 0
    with pytest.raises(UserError, match="already holds another set"):
        build("retire", source, tmp_path / "out", settings, quiet=True)


def test_help_says_what_is_a_file_or_a_run() -> None:
    assert "--names FILE " in mmdyn("build", "taxonomy", "--help").stdout
    assert "--runs RUN,… " in mmdyn("build", "retire", "--help").stdout
