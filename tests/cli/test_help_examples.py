"""The examples of every help work as they are printed, in a folder with the demo: the fake server answers in the place of
every vendor, and what else an example names is made."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any, Self
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from anywhere import Anywhere
from helping import Words, all_commands, examples_of, help_of
from making_releases import write_gaokao_mm
from making_sets import marks_of_sheet
from PIL import Image, ImageDraw
from shell import MMDYN, bash, mmdyn

from making import choice, true_false, write_set
from mmdyn.sample import Sample
from mmdyn.testing import FakeServer, write_script

pytestmark = pytest.mark.slow


def lines(*rows: dict[str, Any]) -> Callable[[Path], None]:
    """Writes a file with a JSON object a line."""
    return lambda file: file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8") and None


SUM = {"question": "What is 2 + 2?", "task_type": "fill_in_the_blank", "answer": [["4"]]}
ICE = {"question": "Why does ice float?", "task_type": "open_ended", "answer": "It is less dense than water."}
PAIR = {"a": "How many sides does a triangle have?", "b": "A triangle has how many sides?"}
OTHER = {"a": "How many sides does a triangle have?", "b": "How many sides does a square have?"}
FACTS = [(f"The number {n} is divisible by {d}.", n % d == 0) for n, d in product(range(12, 150), (2, 3, 5))]


def draw_pages(folder: Path) -> None:
    """A book of two pages."""
    folder.mkdir()
    first, second = (Image.new("RGB", (600, 200), "white") for _ in range(2))
    for page in (first, second):
        ImageDraw.Draw(page).text((20, 20), "Osmosis: water moves through a membrane.", fill="black")
    first.save(folder / "biology.pdf", save_all=True, append_images=[second])


def write_paper(folder: Path) -> None:
    folder.mkdir()
    (folder / "lenses.md").write_text("# On lenses\n\nLight is slower in glass, so the wave front turns.")


def predict(file: Path) -> None:
    """What VLMEvalKit writes of a set."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'mmdyn[xlsx]'")
    file.parent.mkdir(parents=True)
    book = openpyxl.Workbook()
    for row in (("index", "question", "A", "B", "C", "answer", "prediction"), (1, SIDES, "2", "3", "4", "B", "B")):
        book.active.append(row)
    book.save(file)


SIDES = choice().question


def ask_exam(folder: Path) -> None:
    """A run that asked a set with the name exam: questions of words that nobody can guess, half of them held out."""
    drawn, asked = random.Random(0), list[Sample]()
    for n in range(24):
        words = ["".join(drawn.choices("abdegiklmnoprstuv", k=4)) for _ in range(30)]
        options = [" ".join(words[place : place + 2]) for place in range(22, 30, 2)]
        part = {"split": "public" if n % 2 else "held-out"}
        asked.append(choice(f"q{n:02}", "A", options, question=f"{' '.join(words[:22])}?", fields=part))
    exam = write_set(folder.parent / "asked" / "exam", asked, "exam")
    models = ("-m", "hf:Qwen/Qwen2.5-0.5B", "-m", "openai:gpt-4o")
    done = offline(folder.parent, "eval", exam.folder, *models, "-o", folder, "-q")
    assert done.returncode == 0, done.stderr


def mark(file: Path) -> None:
    """What a sheet saves where all is kept."""
    marks = marks_of_sheet((file.parent / "sheet.html").read_text("utf-8"))
    lines(*({**row, "label": "keep", "by": file.stem} for row in marks))(file)


MADE: dict[str, Callable[[Path], object]] = {
    "RUN": ask_exam,
    "books": draw_pages,
    "exam": lambda folder: write_set(folder, [choice("1")]),
    "labelled.jsonl": lines({**PAIR, "label": True}, {**OTHER, "label": False}),
    "marked.jsonl": lines({**SUM, "response": "4", "human": 1}, {**ICE, "response": "It is cold.", "human": 0}),
    "mine": lambda folder: write_set(folder, [choice("mine"), true_false("too")]),
    "outputs/m/m_exam.xlsx": predict,
    "pairs.jsonl": lines(PAIR, OTHER),
    "papers": write_paper,
    "path/to/GAOKAO-MM": write_gaokao_mm,
    "replies.jsonl": lines({**SUM, "response": "Answer: 4"}, {**ICE, "response": "Its density is lower."}),
    "statements.jsonl": lines(
        *({"id": f"s{n}", "text": text, "label": true, "discipline": "maths"} for n, (text, true) in enumerate(FACTS))
    ),
    "subfields.txt": lambda file: file.write_text("mechanics\noptics\n"),
    **{f"labels{who}.jsonl": mark for who in ("", "-a", "-b", "-c")},
}
"""What examples name and the demo has not, each by what makes it."""

DRAFT = {
    "title": "On lenses",
    "question": "Why does a lens bend light?",
    "answer": "Light is slower in glass, so the wave front turns.",
    "hints": {"background": "Waves.", "definition": "A wave front.", "methodology": "Follow the front."},
    "checklist": ["It says that light is slower in glass.", "It says that the front turns.", "It names the result."],
}
SOUND = dict.fromkeys(("whole", "consistent", "reasoned", "factual", "clear", "complete"), True)
ICE_EN = ["Why does ice float on water? Name the property that decides it.", "density"]
ICE_ZH = ["冰为什么浮在水面上？说出决定它的性质。", "密度"]
SAID: dict[Words, dict[str, Any]] = {
    ("build", "annotate"): {"Light is slower": DRAFT},
    ("build", "caption"): {"": {"captions": ["A drawing with words and lines."]}},
    ("build", "falsify"): {
        "Judge the false one": dict.fromkeys(("definite", "professional", "consistent", "central"), True) | {"why": ""},
        "turn a true statement": {
            "statement": "The clock in the picture shows a quarter to nine.",
            "error_type": "detail falsification",
            "why": "The time is another one.",
        },
    },
    ("build", "options"): {ICE_EN[0]: {"distractors": ["mass", "weight", "colour", "hardness", "taste"]}},
    ("build", "review"): {"": SOUND | {"why": "none"}},
    ("build", "statements"): {
        "": {"statements": [{"title": "Osmosis", "statement": "Water moves through a membrane."}]}
    },
    ("build", "taxonomy"): {"": {"name": "mechanics", "sure": True}},
    ("build", "translate"): {
        "Two versions of an examination question": {"same": True, "why": "none"},
        ICE_EN[0]: {"texts": ICE_ZH},
        ICE_ZH[0]: {"texts": ICE_EN},
    },
    ("judge",): {"": {"same": True, "confidence": 0.9, "reason": "The words differ, and the question is the same."}},
}
"""What a model replies to prompts of a command that hold some words; to all others that it cannot."""
LONG = "Let me see. " * 1000 + "Answer: A"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `mmdyn demo` was typed."""
    folder = tmp_path_factory.mktemp("demo")
    assert mmdyn("demo", "-q", folder=folder).returncode == 0
    return folder


EXAMPLES = {tuple(examples_of(words)): words for words in all_commands()}
"""The examples of each help, those that several share once, by the last command that has them."""


@pytest.mark.parametrize("words", EXAMPLES.values(), ids=" ".join)
def test_the_examples_of_a_help_work(words: Words, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = examples_of(words)
    folder = tmp_path / "typed"
    shutil.copytree(demo, folder) if examples != ["mmdyn demo"] else folder.mkdir()
    with FakeServer(reply=replies(words, tmp_path)) as server, Anywhere(server, tmp_path / "tls") as anywhere:
        for name, value in anywhere.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("no_proxy", "127.0.0.1")  # what is there, is there
        with Processes(folder) as processes:
            for example in examples:
                for name, make in MADE.items():
                    if re.search(rf"[\s,=]{name}(?![\w.-])", example) and not (folder / name).exists():
                        make(folder / name)
                done = processes.run(example)
                assert done.returncode == 0, f"{example}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        asking = [line for line in examples if "openai:gpt-4o" in line and "--dry-run" not in line]
        assert not asking or (server.stats.total and {*anywhere.asked} == {"api.openai.com:443"})


def replies(words: Words, folder: Path) -> str | Path:
    """What the fake server replies while the examples of a command run."""
    if words == ("build", "effort"):
        return write_script(folder / "replies.jsonl", LONG)
    if words not in SAID:
        return "first"
    said = [{"match": match, "reply": json.dumps(reply, ensure_ascii=False)} for match, reply in SAID[words].items()]
    return write_script(folder / "replies.jsonl", *said, json.dumps({"cannot": "I cannot say."}))


class Processes:
    """Commands typed in a folder: most in this process; what runs until it is stopped is started, and stopped in the
    end."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._running = folder, list[subprocess.Popen[str]]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.terminate()
            process.communicate()

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """What a command printed; one that goes on running, until it said where it listens and answered there."""
        words = shlex.split(line)[1:]
        if words[0] == "fake-server" or (words[0] == "view" and "--export" not in words):
            return self._start(words)
        if "hf:" in line:
            return offline(self._folder, *words)
        return mmdyn(*words, folder=self._folder)

    def _start(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        reach = build_opener(HTTPCookieProcessor()).open  # the viewer hands its key over as a cookie
        process = subprocess.Popen([*MMDYN, *words], cwd=self._folder, stdout=PIPE, stderr=STDOUT, text=True)
        self._running.append(process)
        assert process.stdout
        said = ""
        while not (address := re.search(r"http://127\.0\.0\.1:\d+\S*", said)) and (read := process.stdout.readline()):
            said += read
        if address and reach(address[0].replace("/v1", "/v1/models")).status == 200:
            return subprocess.CompletedProcess(words, 0, said, "")
        return subprocess.CompletedProcess(words, process.wait(), said, "")


def offline(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """A command typed where the cache of the Hugging Face hub holds a tiny model by the name of Qwen/Qwen2.5-0.5B."""
    pytest.importorskip("torch", reason="torch is not installed: pip install 'mmdyn[gpu]'")
    from making_models import saying

    held = folder / "hub" / "models--Qwen--Qwen2.5-0.5B"
    if not held.exists():
        (held / "refs").mkdir(parents=True)
        (held / "refs" / "main").write_text("0" * 40)
        saying(held / "snapshots" / ("0" * 40))
    env = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(held.parent)}
    return subprocess.run([*MMDYN, *map(str, words)], cwd=folder, env=env, capture_output=True, text=True)


def test_the_line_that_switches_completion_on_in_bash(tmp_path: Path) -> None:
    (line,) = re.findall(r"^  bash: (.*) in ~/.bashrc$", help_of(("completion",)), re.MULTILINE)
    done = bash(f"{line}\ncomplete -p mmdyn", tmp_path)
    assert done.returncode == 0 and done.stdout.endswith(" mmdyn\n"), done.stderr
