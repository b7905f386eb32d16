"""What every step of building a benchmark holds to."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from making_sets import write_marks
from msgspec import Struct
from msgspec.structs import fields, replace
from serving import scripted
from shell import mmdyn

from making import blank, choice, multi, open_ended, true_false, write_set
from mmdyn.build import build
from mmdyn.data import SampleSet
from mmdyn.plugins import load, names
from mmdyn.prompts import LANGUAGES, template

STEPS = sorted(names("steps"))
KINDS = ("make", "refuse", "read")
NEEDS: dict[str, dict[str, str]] = {
    "taxonomy": {"names": "names.txt"},
    "effort": {"run": "run"},
    "retire": {"runs": "run"},
    "validate": {"marks": "marks.jsonl"},
}
"""Settings without which a step has nothing to go by, as files that the test makes."""

TAKERS = [name for name in STEPS if not hasattr(load("steps", name), "read") and name != "replace"]
"""Steps that take any set; `replace` takes one out of which questions were retired."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", STEPS)
def test_a_step_says_what_it_is(name: str) -> None:
    kind: Any = load("steps", name)
    assert isinstance(kind.version, int) and kind.version >= 1
    assert len([way for way in KINDS if hasattr(kind, way)]) == 1, "a step makes, refuses or reads"
    assert issubclass(kind.Settings, Struct) and kind.Settings() == kind.Settings(), "every setting has a default"
    said = re.findall(r"^(\w+): ", inspect.getdoc(kind.Settings) or "", re.MULTILINE)
    assert said == [field.name for field in fields(kind.Settings)]
    done = mmdyn("build", name, "--help")
    first = (inspect.getdoc(kind) or "").split(".")[0]
    assert done.returncode == 0 and re.sub(r"\s", "", first) in re.sub(r"\s", "", done.stdout)


@pytest.mark.parametrize("name", [name for name in STEPS if getattr(load("steps", name), "asks", ())])
def test_a_step_names_the_prompts_that_it_uses(name: str) -> None:
    kind: Any = load("steps", name)
    used = set[object]()
    for call in ast.walk(ast.parse(Path(inspect.getfile(kind)).read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("self._asked.ask", "filled"):
            prompt = call.args[ast.unparse(call.func) == "filled"]
            assert isinstance(prompt, ast.Constant), "a prompt's name is written out"
            used.add(prompt.value)
    assert used == set(kind.asks)
    assert all(template(prompt, language, "build").text for prompt in kind.asks for language in LANGUAGES)


@pytest.mark.parametrize("name", TAKERS)
def test_a_step_takes_any_sample_and_loses_none(name: str, tmp_path: Path) -> None:
    rows = [choice("c"), multi("m"), blank("b"), open_ended("o"), true_false("t"), choice("zh", language="zh")]
    rows = [replace(row, fields={"subject": "law"}) for row in rows]
    source = write_set(tmp_path / "set", rows)
    kind: Any = load("steps", name)
    settings = kind.Settings()
    if name in NEEDS:
        (tmp_path / "names.txt").write_text("one\ntwo\n")
        write_marks(tmp_path / "marks.jsonl", "ann", source, {})
        assert mmdyn("eval", source.folder, "-m", "baseline:lexical", "-o", tmp_path / "run", "-q").returncode == 0
        settings = kind.Settings(**{key: str(tmp_path / file) for key, file in NEEDS[name].items()})
    model = scripted(tmp_path, {"reply": "I do not know"}) if getattr(kind, "asks", False) else ""
    arguments: dict[str, Any] = {"settings": settings, "model": model, "name": "made", "quiet": True}
    made = build(name, source, tmp_path / "out", **arguments)
    dropped = list(made.dropped())
    told = {item.id for item in dropped} | {sample.id for sample in made}
    assert told >= {row.id for row in rows} and all(item.reason and item.operator == name for item in dropped)
    again = build(name, source, tmp_path / "again", **arguments)
    assert again.manifest.digest == made.manifest.digest
    assert SampleSet(tmp_path / "out").manifest.parent is None
