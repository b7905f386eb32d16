"""What the step of another package asks people stands beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell import mmdyn

from making import choice, write_set
from mmdyn import plugins
from mmdyn.build import build

MODULE = '''"""Questions stay that end in a question mark."""
from msgspec import Struct


class Settings(Struct, frozen=True):
    """None."""


class Asking:
    """Keep questions that ask."""

    version = 1
    Settings = Settings

    def __init__(self, settings):
        pass

    def refuse(self, source):
        for sample in source:
            if not sample.question.endswith("?"):
                yield sample.id, "it does not ask"
'''


@pytest.fixture
def step(tmp_path: Path) -> Iterator[Path]:
    """The module of a step `example.asking` that is installed."""
    info = tmp_path / "site" / "mmdyn_asking-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mmdyn-asking\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mmdyn.steps]\nexample.asking = mmdyn_asking:Asking\n")
    (tmp_path / "site" / "mmdyn_asking.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as environment:
        environment.syspath_prepend(str(tmp_path / "site"))
        plugins.names.cache_clear()
        yield tmp_path / "site" / "mmdyn_asking.py"
    plugins.names.cache_clear()
    sys.modules.pop("mmdyn_asking", None)


def test_a_step_of_ones_own_asks_by_its_form(step: Path, tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice("a", question="What is it?"), choice("b", question="Say it.")])
    build("example.asking", source, tmp_path / "out", quiet=True)
    form, page = step.with_suffix(".toml"), tmp_path / "sheet.html"
    form.write_text('question = "Would a pupil ask so?"\n\n[criteria]\npolite = "it is said politely"\n')
    done = mmdyn("data", "audit", tmp_path / "out", "-o", page)
    assert done.returncode == 0, done.stderr
    assert "Would a pupil ask so?" in page.read_text() and "it is said politely" in page.read_text()
    for broken in ("question = ", 'question = "?"\nasks = 3\n', "question = 3\n"):
        form.write_text(broken)
        done = mmdyn("data", "audit", tmp_path / "out", "-o", tmp_path / "none.html")
        assert done.returncode == 2 and f"{form}: is no form of a sheet (" in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1 and not (tmp_path / "none.html").exists()
