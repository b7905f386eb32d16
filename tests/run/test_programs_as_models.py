"""Models that are programs, in runs: who may start one, and objects handed to `evaluate`."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from benchmarks.real_sets import source
from running import QUIET
from serving import wait_until
from serving_questions import endpoint
from shell import mmdyn

from making import choice, write_set
from mmdyn.errors import InputError, UserError
from mmdyn.models import Message
from mmdyn.run import Execution, evaluate, read_config
from mmdyn.run.settings import KnowledgeConfig

TOUCHES = """
from pathlib import Path
Path({mark!r}).touch()
class Solver:
    def ask(self, messages):
        return "Answer: B"
if __name__ == "__main__":
    print("Answer: B")
"""


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `touches.py` makes when it is run or loaded."""
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "set", [choice("a"), choice("b")])
    Path("touches.py").write_text(TOUCHES.format(mark=str(tmp_path / "mark")))
    return tmp_path / "mark"


RUN = f"cmd:{sys.executable} touches.py"
PROGRAMS = {
    "a program": {"models": [RUN]},
    "a class": {"models": ["touches.py:Solver,depth=2"]},
    "a class in full": {"models": ["baseline:lexical", "python:touches.py:Solver"]},
    "with spaces": {"models": [f"  cmd : {sys.executable} touches.py"]},
    "an interpreter": {"models": ["vlmeval:X,python=./touches.py"]},
    "a folder of code": {"models": ["vlmeval:X,label=a,path=."]},
    "code of a checkpoint": {"models": ["hf:nowhere,trust_remote_code=true"]},
    "a judge": {"scoring": {"judges": RUN}},
    "one of two judges": {"scoring": {"judges": ["baseline:random", RUN]}},
    "a rewriter": {"conditions": {"ops": "text.paraphrase", "rewriter": RUN}},
    "a reranker": {"knowledge": {"rerank": RUN}},
}


@pytest.mark.parametrize("values", PROGRAMS.values(), ids=list(PROGRAMS))
def test_a_config_starts_no_program_unless_it_is_allowed(mark: Path, values: dict[str, object]):
    text = yaml.safe_dump({"sets": ["set"], "models": ["baseline:lexical"], "out": "run", **values})
    Path("c.yaml").write_text(text)
    for words in (["c.yaml"], ["c.yaml", "limits.n=1"], ["c.yaml", "--dry-run"]):
        done = mmdyn("run", *words)
        assert done.returncode == 2 and "read it, then give --allow-programs" in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1
    with pytest.raises(InputError, match=r"^c\.yaml: the model \S+ .*would start a program"):
        read_config(Path("c.yaml"))
    assert not mark.exists() and not Path("run").exists()
    read_config(Path("c.yaml"), allow_programs=True)


def test_a_config_starts_programs_where_it_is_allowed(mark: Path):
    models = [f"{RUN},label=one", "touches.py:Solver,label=two"]
    Path("c.yaml").write_text(yaml.safe_dump({"sets": ["set"], "models": models, "out": "run"}))
    done = mmdyn("run", "c.yaml", "--allow-programs", "-q")
    assert done.returncode == 0, done.stderr
    assert mark.exists() and "one" in done.stdout and "two" in done.stdout


@pytest.mark.parametrize("models", [["baseline:lexical"], [RUN]])
def test_what_is_typed_on_top_of_a_config_may_start_one(mark: Path, models: list[str]):
    """Also where it takes the place of a program that the file names."""
    Path("c.yaml").write_text(yaml.safe_dump({"sets": ["set"], "models": models, "out": "run"}))
    done = mmdyn("run", "c.yaml", "models=['touches.py:Solver']", "-q")
    assert done.returncode == 0 and mark.exists(), done.stderr


def test_an_endpoint_is_no_program(mark: Path):
    with endpoint() as url:
        Path("c.yaml").write_text(
            yaml.safe_dump({"sets": ["set"], "models": [url, f"http:{url},label=b"], "out": "run"})
        )
        assert mmdyn("run", "c.yaml", "-q").returncode == 0


def test_nothing_that_reads_a_run_starts_its_programs(mark: Path):
    """A run names its models and judges by label and identity; the same command alone asks them again."""
    command = [
        "eval",
        "set",
        "-m",
        RUN,
        "-m",
        "touches.py:Solver",
        "--judge",
        f"{RUN},label=judge",
        "--judge-mode",
        "wrong",
        "-o",
        "run",
        "-q",
    ]
    assert mmdyn(*command).returncode in (0, 1)
    told = json.loads(Path("run/run.json").read_text())
    assert sorted(model["label"] for model in told["models"]) == [
        f"cmd:{Path(sys.executable).name} touches.py",
        "python:touches.py:Solver",
    ]
    assert sys.executable not in Path("run/run.json").read_text()
    mark.unlink()
    for words in (["report", "run"], ["score", "run"], ["runs", "ls", "."], ["runs", "export", "run", "-o", "r.csv"]):
        assert mmdyn(*words).returncode in (0, 1), words
    assert not mark.exists()


class Agent:
    """Answers with what it is told."""

    def __init__(self, label: str, **more: object) -> None:
        self.label, self.asked = label, 0
        vars(self).update(more)

    def ask(self, messages: tuple[Message, ...]) -> str:
        self.asked += 1
        return "Answer: B" if "sides" in messages[-1].text else "Answer: A"


def test_objects_are_evaluated_as_they_are(tmp_path: Path):
    questions = write_set(tmp_path / "set", [choice("a"), choice("b", question="What is next?")])
    agents = [Agent("one", identity="v1"), Agent("two")]
    run = evaluate(questions, [*agents, "baseline:majority"], tmp_path / "run", execution=QUIET)
    texts = {(record.model, record.sample): record.reply.text for record in run.records()}
    assert texts["python:one", "a"] == texts["python:two", "a"] == "Answer: B" and len(texts) == 6
    evaluate(questions, [*agents, "baseline:majority"], tmp_path / "run", execution=QUIET)
    assert [agent.asked for agent in agents] == [2, 2]
    for agent in agents:
        evaluate(questions, agent, tmp_path / f"again-{agent.label}", execution=QUIET)
    assert [agent.asked for agent in agents] == [2, 4]  # the one without an identity is not in the cache


def test_objects_that_cannot_be_told_apart_or_travel_are_refused(tmp_path: Path):
    questions = write_set(tmp_path / "set", [choice("a")])
    with pytest.raises(UserError, match="two models are called python:one: tell them apart with label="):
        evaluate(questions, [Agent("one"), Agent("one")], tmp_path / "run", execution=QUIET)
    with pytest.raises(
        UserError, match=r"an object of this process is no model for others: write its class as FILE\.py:CLASS"
    ):
        evaluate(questions, Agent("one"), tmp_path / "ray", execution=Execution("ray,local", quiet=True))


DOCS = Path(__file__).resolve().parents[2] / "docs" / "programs.md"
MEASURED = DOCS.with_name("performance.md")
FILES = dict(
    re.findall(
        r"The whole of `(\S+)`:\n\n```python\n(.*?)^```$", DOCS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
)
MET = re.compile(r"both models meet (\d+) of (\d+) items without hints, .*, and (\d+) with all", re.I | re.S)


def answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def test_what_the_docs_show_goes_through_acadreason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """15 tasks without hints and with all, by the files of docs/programs.md."""
    acadreason = source("acadreason")
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert mmdyn("data", "convert", acadreason, "--from", "acadreason", "-o", "acad", "-q").returncode == 0
    with subprocess.Popen([sys.executable, "endpoint.py", str(port)], stderr=subprocess.DEVNULL) as server:
        wait_until(lambda: answers(port), server)
        models = [
            "-m",
            f"cmd:{sys.executable} -I -S solver.py,label=program",
            "-m",
            f"http://127.0.0.1:{port}/ask,label=endpoint",
        ]
        done = mmdyn(
            "eval", "acad", *models, "--context", "none,hint:all", "--judge", "judge.py:Judge", "-o", "run", "-q"
        )
        server.kill()
    assert done.returncode == 0, done.stderr
    told = json.loads(mmdyn("report", "run", "--json").stdout)["parts"]
    rows = [row for part in told if part["kind"] == "judged" for row in part["rows"]]
    found = [[str(row["value"]) for row in rows if row["quantity"] == name] for name in ("met", "items")]
    met = [*zip(*found, strict=True)]
    none, items, all_hints = re.search(MET, MEASURED.read_text(encoding="utf-8")).groups()  # type: ignore[union-attr]
    assert met == [(none, items), (all_hints, items)] * 2


def test_run_json_names_a_reranker_without_what_may_hold_a_key() -> None:
    for model in ("http://127.0.0.1:9/r?key=SECRET,timeout=2", "cmd:rank.py --token=SECRET", "openai:m,api_key=SECRET"):
        assert "SECRET" not in str(KnowledgeConfig(rerank=model).words)
    assert KnowledgeConfig(rerank="openai:m,temperature=0").words["rerank"] == "openai:m"
