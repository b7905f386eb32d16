"""Configs of somebody else's, which name a server that keeps every byte: no secret of the user's is among them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from listening import FILED, SECRETS, Listener, listening
from running import typed

from making import choice, write_set
from mmdyn.errors import MmdynError

FOLDER, HOME = "theirs", "home"


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as opened:
        yield opened


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's secrets in the environment and in files, and the stranger's folder, in which the command is typed."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    home, theirs = tmp_path / HOME, tmp_path / FOLDER
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    (home / ".aws").mkdir(parents=True)
    (home / ".aws/credentials").write_text(FILED)
    (home / "prompt.txt").write_text(f"{FILED} {{question}} {{options}} {{instruction}} {{knowledge}}")
    (home / "base.csv").write_text(f"name\n{FILED}\n")
    (home / "rows.jsonl").write_text(f'{{"question": "{FILED}", "answer": "A", "options": {{"A": "1", "B": "2"}}}}\n')
    (home / "tables").mkdir()
    (home / "tables/rows.csv").write_text(f"question,answer\n{FILED},1\n")
    write_set(theirs / "set", [choice("a"), choice("b", knowledge_points=("Polygons",))])
    (theirs / ".env").write_text((home / "prompt.txt").read_text())
    (theirs / "link.txt").symlink_to(home / "prompt.txt")
    (theirs / "ways").symlink_to(home)
    (theirs / "openai:").mkdir()
    monkeypatch.chdir(theirs)
    return theirs


class Done(NamedTuple):
    """How a command ended: its exit status, and what it said on standard error."""

    status: int
    said: str


def command(*words: object) -> Done:
    """What a command line does."""
    done = typed(*words)
    if isinstance(done.exception, MmdynError):
        return Done(done.exception.exit_status, f"{done.stderr}{done.exception}")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return Done(done.exit_code, done.stderr)


def run(values: dict[str, Any] | str, *words: str) -> Done:
    """`mmdyn run` of a config that asks a set."""
    usual = {"sets": ["set"], "models": ["baseline:lexical"], "out": "run"}
    Path("x.yaml").write_text(values if isinstance(values, str) else yaml.safe_dump(usual | values))
    return command("run", "x.yaml", "execution.quiet=true", *words)


JUDGED = {"judge_mode": "all"}
KEYLESS: dict[str, dict[str, Any]] = {
    "openai": {"models": ["openai:m,base_url={url}/v1"]},
    "completions": {"models": ["completions:m,base_url={url}/v1"]},
    "anthropic": {"models": ["anthropic:m,base_url={url}"]},
    "gemini": {"models": ["gemini:m,base_url={url}"]},
    "an endpoint": {"models": ["{url}/ask"]},
    "an endpoint in full": {"models": ["http:{url}/ask?a=b,label=mine"]},
    "with spaces": {"models": ["  openai : m , base_url = {url}/v1 "]},
    "a query": {"models": ["openai:m,base_url={url}/v1?api-version=1"]},
    "no key is named": {"models": ["openai:m,base_url={url}/v1,api_key_env=none"]},
    "one of several": {"models": ["baseline:lexical", "openai:m,base_url={url}/v1"]},
    "a judge": {"scoring": {"judges": "openai:m,base_url={url}/v1", **JUDGED}},
    "judges": {"scoring": {"judges": ["baseline:random", "{url}/ask"], **JUDGED}},
    "a set's own judge": {"sets": [{"path": "set", "scoring": {"judges": ["openai:m,base_url={url}/v1"], **JUDGED}}]},
    "a rewriter": {"conditions": {"modes": "dynamic", "ops": "text.paraphrase", "rewriter": "openai:m,base_url={url}"}},
    "a judge of variants": {"conditions": {"modes": "dynamic", "ops": "shuffle", "variant_judge": "openai:m,base_url={url}"}},
}  # fmt: skip


def at(values: Any, url: str) -> Any:
    """Values with an address in them."""
    if isinstance(values, dict):
        return {key: at(value, url) for key, value in values.items()}
    if isinstance(values, list):
        return [at(value, url) for value in values]
    return values.replace("{url}", url).replace("{home}", f"{Path.home()}") if isinstance(values, str) else values


@pytest.mark.parametrize("values", KEYLESS.values(), ids=list(KEYLESS))
def test_a_server_that_a_file_names_is_asked_without_a_key(
    listener: Listener, values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(at(values, listener.address))
    assert "POST /" in listener.came and not listener.secrets(), listener.came
    told = [line for line in done.said.splitlines() if line.startswith(f"x.yaml: no key is sent to {listener.address}")]
    assert len(told) == (0 if "none" in str(values) else 1), done.said
    monkeypatch.setenv("MMDYN_CACHE", str(Path("other-cache").resolve()))
    again = run(at(values, listener.address), "--allow-secrets", "out=other")
    assert bool(listener.secrets()) == ("none" not in str(values)), again.said


NAMED = {
    "a variable": "openai:m,base_url={url}/v1,api_key_env=AWS_SECRET_ACCESS_KEY",
    "the usual one": "openai:m,base_url={url}/v1,api_key_env=OPENAI_API_KEY",
    "a header": "openai:m,base_url={url}/v1,header.X=$AWS_SECRET_ACCESS_KEY",
    "the key's own header": "openai:m,base_url={url}/v1,header.Authorization=$OPENAI_API_KEY",
    "headers": 'openai:m,base_url={url}/v1,headers={"X": "$AWS_SECRET_ACCESS_KEY"}',
    "escaped": 'openai:m,base_url={url}/v1,headers={"X": "\\u0024AWS_SECRET_ACCESS_KEY"}',
    "with spaces": "openai:m, base_url={url}/v1, header.X = $AWS_SECRET_ACCESS_KEY",
    "an endpoint's": "{url}/ask,api_key_env=OPENAI_API_KEY",
    "an endpoint's header": "http:{url}/ask,header.X=$HOME",
    "a vendor's, that is another's": "anthropic:m,api_key_env=OPENAI_API_KEY",
    "no vendor's key": "openai:m,api_key_env=AWS_SECRET_ACCESS_KEY",
    "no vendor's key in a header": "gemini:m,header.X=$AWS_SECRET_ACCESS_KEY",
    "in the clear": "openai:m,base_url=http://api.openai.com/v1,api_key_env=OPENAI_API_KEY",
    "a host behind the vendor's": "openai:m,header.Host=evil.example,api_key_env=OPENAI_API_KEY",
    "vlmeval's": "vlmeval:GPT4o,init.key=$AWS_SECRET_ACCESS_KEY",
    "vlmeval's address": "vlmeval:GPT4o,api_base={url}",
    "vlmeval's list": 'vlmeval:GPT4o,places=["{url}"]',
}
PLACES: dict[str, Any] = {
    "a model": lambda text: {"models": ["openai:first,base_url={url}/v1", text]},
    "a judge": lambda text: {"models": ["openai:first,base_url={url}/v1"], "scoring": {"judges": text}},
    "a set's own judge": lambda text: {"sets": ["set", {"path": "set", "scoring": {"judges": [text]}}]},
    "a rewriter": lambda text: {"conditions": {"ops": "text.paraphrase", "rewriter": text}},
    "a judge of variants": lambda text: {"conditions": {"ops": "shuffle", "variant_judge": text}},
    "a reranker": lambda text: {"conditions": {"contexts": "kprag:retrieved"}, "knowledge": {"rerank": text}},
}


@pytest.mark.parametrize("model", NAMED.values(), ids=list(NAMED))
@pytest.mark.parametrize("place", PLACES)
def test_a_variable_that_a_file_names_is_refused_before_anything_is_asked(
    listener: Listener, place: str, model: str
) -> None:
    for words in ((), ("--dry-run",), ("limits.n=1",)):
        done = run(at(PLACES[place](model), listener.address), *words)
        *told, refused = done.said.splitlines()
        assert done.status == 2 and refused.startswith("x.yaml: the model "), done.said
        assert refused.endswith("read it, then give --allow-secrets") and all("no key is sent" in one for one in told)
        assert not listener.came and not Path("run").exists()


FILES: dict[str, dict[str, Any]] = {
    "a prompt": {"conditions": {"prompt": "{home}/prompt.txt"}},
    "by ~": {"conditions": {"prompt": "~/prompt.txt"}, "knowledge": {"base": "~/base.csv"}},
    "by ..": {"conditions": {"prompt": "set/../../home/prompt.txt"}},
    "by a link": {"conditions": {"prompt": "link.txt"}},
    "behind a link": {"conditions": {"prompt": "ways/prompt.txt"}},
    "hidden": {"conditions": {"prompt": ".env"}},
    "looks like a model": {"conditions": {"prompt": "openai:/../../home/prompt.txt"}},
    "the environment": {"conditions": {"prompt": "/proc/self/environ"}},
    "a base": {"conditions": {"contexts": "kprag:retrieved"}, "knowledge": {"base": "{home}/base.csv"}},
    "a base with settings": {"knowledge": {"base": "{home}/base.csv,join=true"}},
    "a base between spaces": {"knowledge": {"base": "  {home}/base.csv , join=true"}},
    "a base by its key": {"knowledge": {"base": "path={home}/base.csv,join=true"}},
    "a base that looks like a model": {"knowledge": {"base": "openai:/../../home/base.csv,join=true"}},
    "a base in parts": {"knowledge": {"base": {"path": "{home}/base.csv"}}},
    "examples of points": {"knowledge": {"retriever": "lexical,examples={home}/rows.jsonl"}},
    "examples": {"conditions": {"shots": 1, "examples": "{home}/rows.jsonl"}},
    "a set": {"sets": ["{home}/rows.jsonl"]},
    "a set with columns": {"sets": [{"path": "{home}/rows.jsonl", "map": {"question": "question"}}]},
    "a table of no benchmark": {"sets": [{"benchmark": "hf:{home}/tables", "map": {"question": "question"}}]},
    "a table by ..": {"sets": [{"benchmark": "hf:../home/tables,split=train", "map": {"question": "question"}}]},
    "prices": {"limits": {"prices": "{home}/.aws/credentials", "max_cost": 1}},
    "chains": {"conditions": {"ops": ["{home}/chains.yaml", "{home}/.aws/credentials"]}},
    "an embedder's code": {"knowledge": {"retriever": "dense,embedder={home}/tables"}},
}


@pytest.mark.parametrize("values", FILES.values(), ids=list(FILES))
def test_a_file_that_is_not_beside_the_config_is_refused(listener: Listener, values: dict[str, Any]) -> None:
    model = {"models": [f"openai:m,base_url={listener.address}"]}
    done = run(model | at(values, listener.address))
    assert done.status == 2 and "read it, then give --allow-secrets" in done.said, done.said
    assert not listener.came and not Path("run").exists()


def test_files_beside_the_config_and_sets_anywhere_are_asked(listener: Listener, tmp_path: Path) -> None:
    write_set(tmp_path / "elsewhere", [choice("c")])
    Path("prompt.txt").write_text("Mine: {question} {options} {instruction}")
    values = {"conditions": {"prompt": "prompt.txt"}, "sets": [f"{tmp_path}/elsewhere"], "out": f"{tmp_path}/run"}
    for _ in range(2):
        done = run({"models": [f"openai:m,base_url={listener.address}"]} | values)
        assert done.status == 0, done.said
    assert "Mine: " in listener.came and not listener.secrets()


@pytest.mark.parametrize("executor", ["ray,10.1.2.3:6379", {"name": "ray", "address": "cluster.example:10001"}])
def test_no_run_is_handed_to_a_cluster_that_a_file_names(executor: Any) -> None:
    done = run({"execution": {"executor": executor}})
    assert done.status == 2 and "would hand the run to" in done.said and "--allow-secrets" in done.said


LOOKS_ALIKE = (
    "http://api.openai.com/v1",
    "http://api.openai.com:80/v1",
    "http://API.OPENAI.COM/v1",
    "http://api.openai.com./v1",
    "http://api.openai.com.evil.example/v1",
    "http://evil.example/api.openai.com/v1",
    "http://evil.example/v1?host=https://api.openai.com",
    "http://evil.example/v1#@api.openai.com",
    "http://evil.example\\@api.openai.com/v1",
    "http://api-openai.com/v1",
    "http://\u0430pi.openai.com/v1",
    "http://localhost.evil.example/v1",
    "http://127.0.0.1.evil.example/v1",
    "http://127.1/v1",
    "http://2130706433/v1",
    "http://0x7f000001/v1",
    "http://[::ffff:10.0.0.1]/v1",
)


@pytest.mark.parametrize("url", LOOKS_ALIKE)
def test_a_host_that_looks_like_a_vendor_or_this_machine_gets_no_key(
    listener: Listener, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The listener is the proxy, so that it hears what any http server would."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listener.port}")
    done = run({"models": [f"openai:m,base_url={url}"]})
    assert done.status == 2 or "POST http://" in listener.came, done.said
    for text in (f"{url},api_key_env=OPENAI_API_KEY", f"{url},header.Authorization=$OPENAI_API_KEY"):
        assert run({"models": [f"openai:m,base_url={text}"]}, "out=other").status == 2
    assert not listener.secrets(), listener.came


@pytest.mark.parametrize("user", ["api.openai.com@", "sk-mine:x@", "$OPENAI_API_KEY@"])
def test_an_address_with_a_name_in_it_is_refused(listener: Listener, user: str) -> None:
    done = run({"models": [f"openai:m,base_url={listener.address.replace('//', f'//{user}')}"]})
    assert done.status == 2 and not listener.came


def test_aliases_merges_and_overrides_change_nothing(listener: Listener) -> None:
    model = f"openai:m,base_url={listener.address}/v1"
    text = f"""
sets: [set]
out: run
models: [&model "{model}"]
scoring: &scoring {{judge_mode: all, judges: *model}}
conditions: {{<<: {{rewriter: *model}}, modes: standard}}
"""
    assert run(text, "limits.n=1").status == 1  # what the judge says is no verdict
    assert "POST /" in listener.came and not listener.secrets()
    assert run(text, "limits.n=1", f"models=['{model}']", "out=other").status == 1
    assert not listener.secrets()  # typed, and in the file too


def test_what_is_typed_sends_its_key(listener: Listener) -> None:
    done = run({}, f"models=['openai:m,base_url={listener.address}/v1']")
    assert done.status == 0 and listener.secrets() == ["OPENAI_API_KEY"], done.said
    done = run({}, f"models=['openai:m,base_url={listener.address}/v1,header.X=$AWS_SECRET_ACCESS_KEY']", "out=b")
    assert done.status == 0 and "AWS_SECRET_ACCESS_KEY" in listener.secrets(), done.said


def test_this_machine_gets_what_a_file_names(listener: Listener) -> None:
    """A vLLM on the same machine with --api-key works as it does from the command line."""
    done = run({"models": [f"openai:m,base_url=http://127.0.0.1:{listener.port}/v1"]})
    assert done.status == 0 and listener.secrets() == ["OPENAI_API_KEY"] and "no key" not in done.said


@pytest.mark.parametrize("place", ["~/{}", "{}"])
def test_the_users_settings_let_configs_of_a_folder_send(listener: Listener, folder: Path, place: str) -> None:
    values = at(PLACES["a model"](NAMED["a header"]), listener.address)
    settings = Path.home() / ".config/mmdyn/settings.toml"
    settings.parent.mkdir(parents=True)
    (Path.home() / "mine").symlink_to(folder)
    settings.write_text(f"allow_secrets = ['{place.format('mine')}']")
    assert run(values).status == 0
    assert listener.secrets() == ["OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"]
    settings.write_text("allow_secrets = ['~/other']")
    assert run(values).status == 2
    (Path.home() / "other").mkdir()
    (Path.home() / "other/x.yaml").symlink_to(folder / "x.yaml")
    assert command("run", Path.home() / "other/x.yaml").status == 2  # where it lies counts, not what leads there
    for wrong in (
        "allow_secrets = 1",
        "allow_secrets = ['~nobody-of-this-name']",
        "allow = []",
        "\xff",
        "allow_secrets = true",
    ):
        settings.write_text(wrong, encoding="latin-1")
        done = run(values)
        assert done.status == 2 and 'write allow_secrets = ["FOLDER"]' in done.said, done.said


def test_a_server_that_wants_a_key_is_told_that_none_was_sent() -> None:
    for status, said in ((401, "no"), (403, "no"), (400, "Invalid API key")):
        with listening(status, answer={"error": {"message": said}}) as listener:
            done = run({"models": [f"openai:m,base_url={listener.address}/v1"]}, f"out=run{status}")
            assert done.status == 2 and "none was sent, for a file names the server" in done.said, done.said
            assert "type the MODEL, or give --allow-secrets" in done.said and not listener.secrets()


def test_a_redirect_takes_no_key_along(listener: Listener) -> None:
    for status in (301, 302, 303, 307, 308):
        with listening(status, f"Location: {listener.address}/v1/chat/completions\r\n") as near:
            done = run({"models": [f"openai:m,base_url=http://127.0.0.1:{near.port}/v1"]}, f"out=run{status}")
            assert done.status == 2 and near.secrets() and not listener.came, done.said
