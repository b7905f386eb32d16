"""Small runs to look at, and the viewer on them in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsing import browser, page  # noqa: F401
from making_views import StandIn, make_run

from making import picture, write_set
from mmdyn.data import SampleSet
from mmdyn.sample import Option, Sample
from perturb import perturb

HOSTILE = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>\"'><svg onload='window.ran = 1'></svg>"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a set of twenty questions with pictures, two chains of variants, and a run of two models."""
    folder = tmp_path_factory.mktemp("shown")
    standard = write_set(folder / "sets" / "exam", (_question(n) for n in range(20)), "exam", images=[picture()])
    made = perturb(standard, folder / "sets" / "varied", ops="image.invert,text.shuffle", seed=1, quiet=True)
    models = StandIn("low", [standard, made], 0.7, 0.6), StandIn("high", [standard, made], 0.95, 0.1)
    make_run([standard, made], folder / "runs" / "first", *models)
    return folder


def _question(n: int) -> Sample:
    from making import image_ref

    options = tuple(
        Option(label, text) for label, text in zip("ABCD", ("$x^2$", "二", f"number {n}", "a map"), strict=True)
    )
    fields = {"subject": ("physics", "maths")[n % 2], "note": "<b>&"}
    return Sample(
        f"q{n}", f"如图，第 {n} 题：what is $x_{{{n}}}$?", "single_choice", (("A", "B", "C")[n % 3],), options=options,
        images=(image_ref(picture()),), fields=fields, language="zh" if n % 2 else "en", explanation="As $a=b$ says.",
    )  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which every field and reply holds markup, one reply of a megabyte among them."""
    folder = tmp_path_factory.mktemp("hostile")
    options = (Option("A", HOSTILE), Option("B", r"$\href{javascript:window.ran=1}{x}$ $\html<img>$"))
    samples = [
        Sample(
            f"{HOSTILE} {n}", f"{HOSTILE} $\\unclosed{{ {n}$ [x](javascript:window.ran=1)", "single_choice", ("A",), options=options,
            fields={f"f{HOSTILE}": HOSTILE}, explanation=HOSTILE, group=HOSTILE,
        )
        for n in range(3)
    ]  # fmt: skip
    standard = write_set(folder / "sets" / "bad", samples, "bad")

    class Hostile:
        label = identity = f"<u>{HOSTILE}"

        def ask(self, messages: object) -> str:
            return (
                HOSTILE
                + "<script>window.ran = 1</script>" * (30_000 if "unclosed{ 2" in str(messages) else 1)
                + "\nAnswer: B"
            )

    made: SampleSet = perturb(standard, folder / "sets" / "varied", ops="text.shuffle", seed=1, quiet=True)
    make_run([standard, made], folder / "run", Hostile())  # type: ignore[arg-type]
    return folder


@pytest.fixture(scope="module")
def viewer(shown: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that `mmdyn view` printed for the small run."""
    with viewed(shown, tmp_path_factory.mktemp("cache")) as address:
        yield address


@pytest.fixture(scope="module")
def hostile_viewer(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same for the hostile one."""
    with viewed(hostile, tmp_path_factory.mktemp("cache")) as address:
        yield address


@contextmanager
def viewed(folder: Path, cache: Path, *options: str, **settings: str) -> Iterator[str]:
    """Run `mmdyn view` with these options and variables; its first address."""
    command = [sys.executable, "-m", "mmdyn", "view", str(folder), "--port", "0", *options]
    environment = os.environ | {"MMDYN_CACHE": str(cache)} | settings
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("open ").strip()
        finally:
            process.kill()
