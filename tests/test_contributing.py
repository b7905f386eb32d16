"""What CONTRIBUTING.md shows works as it stands: its files are put in place in a copy of the house, and its commands run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tracked import ROOT, tracked

from making import choice, image_ref, picture, write_set
from mmdyn.data import SampleSet

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"The whole of `(\S+)`[^\n`]*:\n\n```\w+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
PYTHON = [name for name in FILES if name.endswith(".py")]
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEW_EXAMPLE = re.compile(r"New in `EXAMPLES` of `(\S+)`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with the files of the text in it."""
    house = tmp_path_factory.mktemp("house")
    for file in tracked("mmdyn/**", "perturb/**", "kprag/**", "tests/**", "pyproject.toml"):
        place = house / file.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    for name, content in FILES.items():
        assert not (house / name).exists(), f"{name} is there already"
        (house / name).parent.mkdir(exist_ok=True)
        (house / name).write_text(content, encoding="utf-8")
    file, line = NEW_EXAMPLE.findall(TEXT)[0]
    before = (house / file).read_text(encoding="utf-8")
    (house / file).write_text(re.sub(r"^EXAMPLES: .* = \{\n", rf"\g<0>{line}", before, flags=re.MULTILINE))
    return house


def shell(house: Path, commands: str) -> subprocess.CompletedProcess[str]:
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(house)}
    env = {**os.environ, **paths, "MMDYN_CACHE": str(house / "cache")}
    return subprocess.run(["bash", "-e", "-c", commands], cwd=house, env=env, capture_output=True, text=True)


def follow(house: Path, heading: str) -> str:
    """Run all commands under a heading; what they print."""
    section = re.split(r"^#+ ", TEXT.partition(f"### {heading}\n")[2], flags=re.MULTILINE)[0]
    printed = ""
    for commands in COMMANDS.findall(section):
        done = shell(house, commands)
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        printed += done.stdout
    return printed


def test_the_set_up_is_the_readme_s() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = COMMANDS.findall(TEXT)[0].splitlines()
    assert len(lines) == 2 and all(line in readme for line in lines)


def test_the_checks_are_those_of_ci() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    lines = COMMANDS.findall(TEXT)[1].splitlines()
    assert [line in ci or line.replace("format", "format --check") in ci for line in lines[:3]] == [True] * 3
    named = [word for line in lines for word in line.partition("#")[0].split() if "/" in word]
    assert [word for word in named if not (ROOT / word).exists()] == []


def test_the_files_are_in_the_house_s_style(house: Path) -> None:
    assert len(PYTHON) == 5
    done = shell(house, f"ruff check {' '.join(PYTHON)} && ruff format --check {' '.join(PYTHON)}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_operator(house: Path) -> None:
    printed = follow(house, "An operator")
    assert "Here is the next question." in printed or "There is no hurry." in printed
    made = SampleSet(house / "prefaced")
    lines = {(s.variant.chain, s.parent): len(s.question.splitlines()) - 1 for s in made if s.variant}
    counts = {"preface": 2, "preface@mild": 1, "preface@strong": 3}
    assert lines == {(chain, parent): n for chain, n in counts.items() for parent in ("sides", "lake")}
    dropped = SampleSet(house / "prefaced").dropped()
    assert {(drop.parent, drop.reason) for drop in dropped if drop.status == "not_applicable"} == {
        ("prime", "a sentence before a statement would be judged with it")
    }


def test_the_benchmark(house: Path) -> None:
    printed = follow(house, "A benchmark")
    assert "What is the capital of Japan?" in printed
    made = {sample.id: sample for sample in SampleSet(house / "capital-cities")}
    assert {id: sample.answer for id, sample in made.items()} == {"capital-cities-1": ("B",), "capital-cities-2": ("A",)}  # fmt: skip
    assert made["capital-cities-1"].fields == {"continent": "Europe"}
    done = shell(house, "mmdyn data convert --from capital_cities cities -o strictly")
    assert done.returncode == 2
    assert "cities.jsonl:3" in done.stderr and "right is 2, but there are 2 choices: count them from 0" in done.stderr


def test_the_model_backend(house: Path) -> None:
    follow(house, "A model backend")
    done = shell(house, "mmdyn report runs/echo --json")
    (row,) = [row for row in json.loads(done.stdout)["parts"][0]["rows"] if row["quantity"] == "score"]
    assert (row["factors"]["model"], row["n"], row["unparsed"]) == ("program:echo Answer: B", 3, 1)
    assert row["value"] == pytest.approx(1 / 3)


def test_the_step(house: Path) -> None:
    printed = follow(house, "A step of building")
    assert "3 requests to send" in printed and "sides replayed: equal, byte for byte" in printed
    (made,) = SampleSet(house / "explained")
    assert (made.id, made.explanation) == ("sides", "A triangle has three corners, and a side between each two.")
    assert [item.reason.partition("declines ")[2] for item in SampleSet(house / "explained").dropped()] == [
        "(I do not know)"
    ] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "status", "sentence"),
    [
        ("nowhere-at-all", 2, "there is no program 'nowhere-at-all': install it, or give its path"),
        ('echo "B', 2, "the program 'echo \"B' cannot be read (No closing quotation): mend its quotation marks"),
        ("echo Answer: B,speed=2", 2, "program has no option 'speed'; it takes timeout"),
        ("ls /nowhere-at-all", 1, "the program ended with status 2 (ls: "),
    ],
)
def test_what_the_model_backend_refuses(house: Path, program: str, status: int, sentence: str) -> None:
    done = shell(house, f"mmdyn eval questions.jsonl -m 'program:{program}' -o runs/{status}-{len(program)}")
    assert done.returncode == status and sentence in done.stdout + done.stderr


def test_a_program_sees_no_pictures(house: Path, tmp_path: Path) -> None:
    data = picture()
    source = write_set(tmp_path / "set", [choice(), choice("s2", images=(image_ref(data),))], images=[data])
    done = shell(house, f"mmdyn eval {source.folder} -m 'program:echo Answer: B' -o {tmp_path}/run")
    assert done.returncode == 1
    assert "the question has a picture, and a program reads text only" in done.stdout + done.stderr
