"""vlmeval: what a model is known by, and that no secret is in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from models.making_vlmeval import make_vlmeval, opened, said
from running import QUIET

from making import choice, write_set
from mmdyn.keys import canonical
from mmdyn.run import evaluate

SECRET = "sk-vlmeval-0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_vlmeval(tmp_path / "packages")


async def test_keys_come_from_the_environment_and_go_nowhere_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    async with opened("Chat-4", path, key="$MY_KEY") as model:
        assert await said(model, "x") == [None, "x", SECRET]
        told = canonical(model.identity).decode() + repr(model) + model.label
        assert SECRET not in told and "hidden" not in told and "sk-built-in" not in told
        assert model.identity["endpoint"] == {"api_base": "http://***@host/v1", "model": "chat-4"}


async def test_no_secret_is_in_a_runs_folder(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTHORIZATION", f"Bearer {SECRET}")
    source = write_set(tmp_path / "set", [choice("a")])
    nested = '{"Authorization":"$AUTHORIZATION"}'
    model = f"vlmeval:Keyed,extra_headers={nested},api_base=http://h/v1?api-key={SECRET},more=$AUTHORIZATION"
    run = evaluate(source, f"{model},path={path},python={sys.executable}", tmp_path / "run", execution=QUIET)
    said = [record.reply.text for record in run.records()]
    assert said == [f"Bearer {SECRET}"], "the class has what the variable holds"
    text = (tmp_path / "run" / "run.json").read_text()
    assert SECRET not in text and "sk-built-in" not in text and '"http://h/v1"' in text and '"depth"' in text


async def test_what_names_a_deployment_counts_and_what_is_a_key_does_not(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHORIZATION", f"Bearer {SECRET}")
    found = list[bytes]()
    for query, deployed in (("", "a"), ("?key=1", "a"), ("?d=b", "a"), ("?key=2&d=b", "a"), ("?d=c", "a"), ("", "b")):
        monkeypatch.setenv("DEPLOYED", deployed)
        headers = '{"Authorization":"$AUTHORIZATION","X-Model":"$DEPLOYED"}'
        async with opened("Keyed", path, extra_headers=headers, api_base=f"http://h/v1{query}") as model:
            found.append(canonical(model.identity))
    assert found[0] == found[1] and found[2] == found[3] and len(set(found)) == 4
    assert not any(secret in b" ".join(found).decode() for secret in (SECRET, "?d=", "X-Model", "DEPLOYED"))
    headers = '{"Authorization":"$AUTHORIZATION"}'
    async with opened("Keyed", path, extra_headers=headers, api_base="http://h/v1") as model:
        assert "extra_headers" not in model.identity["keywords"], "which is what it is without any"
        assert model.identity["endpoint"]["api_base"] == "http://h/v1"


async def test_a_variable_counts_by_what_it_holds_and_a_checkpoint_by_its_bytes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for name, text in (("a", "{}"), ("b", "{}"), ("c", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text)
        monkeypatch.setenv("WEIGHTS", str(tmp_path / name))
        monkeypatch.setenv("STYLE", f"style {text}")
        async with opened("vlm.Echo", path, model_path="$WEIGHTS", style="$STYLE") as model:
            found.append(model.identity["keywords"])
        async with opened("vlm.Echo", path, model_path=tmp_path / name, style="$STYLE") as model:
            assert model.identity["keywords"] == found[-1]
    assert [one["style"] for one in found] == ["style {}", "style {}", "style []"]
    assert found[0] == found[1] and found[1]["model_path"] != found[2]["model_path"]
    assert str(tmp_path) not in canonical(found).decode()
