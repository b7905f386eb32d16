"""Runs and sets of somebody else's, whose files name a server that keeps every byte: no command asks it, and what is
advised to be typed hands it no secret."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from listening import SECRETS, Listener, listening
from running import typed

from making import choice, write_set
from mmdyn.tables.why_page import NextRuns
from mmdyn.work import RunFolder
from perturb import perturb

STEAL = "api_key_env=AWS_SECRET_ACCESS_KEY"
HEADER = "header.X=$AWS_SECRET_ACCESS_KEY"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where commands are typed, with the user's secrets in the environment."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    source = write_set(tmp_path / "exam", [choice(f"s{number}") for number in range(4)], "exam")
    perturb(source, tmp_path / "varied", ops="shuffle,convert", quiet=True)


def asked(model: str, judge: str = "") -> None:
    """A run of both sets."""
    more = ["--judge", judge, "--judge-mode", "all"] if judge else []
    done = typed("eval", "exam", "varied", "-m", model, "-o", "run", "-q", *more)
    assert done.exit_code in (0, 1), done.exception


COMMANDS = (
    "report run",
    "report run --full",
    "report run --brief",
    "report run --why",
    "report run --format html -o page.html",
    "score run",
    "score run --policy strict",
    "score run --judge baseline:random --judge-mode all",
    "errors run",
    "errors run --judge baseline:random",
    "compare run run --judge baseline:random -o pairs",
    "runs ls",
    "runs export run -o records.csv",
    "runs merge run -o merged",
    "plan exam -m baseline:random --pilot run",
    "perturb exam -o again --ops shuffle -q",
    "data show varied",
    "eval exam varied -m baseline:lexical -o other -q",
    "view . --export pages -q",
)


def test_no_command_asks_a_server_that_a_folder_names() -> None:
    with listening() as listener:
        asked(f"openai:m,base_url=http://127.0.0.1:{listener.port}/v1", f"http://127.0.0.1:{listener.port}/ask")
        before = listener.came
        model = f"openai:m,base_url={listener.address},{STEAL}"
        for file in Path().rglob("*.json"):
            text = file.read_text().replace(f"127.0.0.1:{listener.port}", f"0.0.0.0:{listener.port}")
            file.write_text(
                text.replace('"made":{', f'"made":{{"model":"{model}","rewriter":"{model}","judge":"{model}",')
            )
        for command in COMMANDS:
            done = typed(*shlex.split(command))
            assert done.exit_code in (0, 1), (command, done.output, done.exception)
        assert listener.came == before


NAMES = {
    "options in a name": {"model": "m,base_url={url}/v1," + STEAL},
    "a header in a name": {"model": "m,base_url={url}/v1," + HEADER},
    "another address": {"endpoint": "{url}/v1"},
    "no address": {"endpoint": "https://["},
    "options in an address": {"endpoint": "{url}/v1," + STEAL},
    "options in a body": {"parameters": {"stop": f"x,{STEAL}", "temperature": f"1,{HEADER}"}},
    "options in a system message": {"endpoint": "{url}/v1", "system": f"be brief,{STEAL}"},
    "a program of another's name": {"backend": "cmd", "label": "openai:m,base_url={url}/v1," + STEAL},
    "an endpoint of another's name": {"backend": "cmd", "label": "{url}/ask"},
    "an endpoint": {"backend": "http", "model": "{url}/ask", "endpoint": "https://api.openai.com"},
    "an endpoint with options": {"backend": "http", "model": "{url}/ask," + STEAL},
    "options in a label": {"label": "mine,base_url={url}/v1," + STEAL},
}


@pytest.mark.parametrize("changes", NAMES.values(), ids=list(NAMES))
def test_what_a_report_advises_to_type_sends_no_secret(changes: dict[str, object]) -> None:
    with listening() as listener:
        asked(f"openai:m,base_url=http://127.0.0.1:{listener.port}/v1")
        rewritten(listener, changes)
        further = NextRuns([RunFolder(Path("run"))])
        commands = [*further.noise(), *further.factorial(["pad+shuffle"]), *further.larger(9)]
        for command in commands:
            typed(*shlex.split(command)[1:])
        came = listener.came.partition("\0")[2]
        stolen = [name for name, value in SECRETS.items() if value in came]
        assert not stolen, (stolen, commands)
        assert len(commands) == 5, commands


def test_the_server_of_the_runs_own_is_asked_as_it_was() -> None:
    with listening() as listener:
        asked(f"openai:m,base_url=http://127.0.0.1:{listener.port}/v1")
        _, command = NextRuns([RunFolder(Path("run"))]).noise()
        assert "api_key_env" not in command


def rewritten(listener: Listener, changes: dict[str, object]) -> None:
    """Give the run's model other words, and mark where the server hears of nothing but what comes after."""
    file = RunFolder(Path("run")).folder / "run.json"
    config = json.loads(file.read_text())
    changes = json.loads(json.dumps(changes).replace("{url}", listener.address))
    model = config["models"][0]
    model["label"] = changes.pop("label", model["label"])
    model["identity"] |= {"endpoint": "http://127.0.0.1:9/v1"} | changes
    file.write_text(json.dumps(config))
    listener.take(b"\0")
