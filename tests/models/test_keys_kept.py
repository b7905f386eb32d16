"""Keys are told by nobody: in whatever form a server repeats one, in an error or in a reply, it is cut out."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from answering import answering
from asking import user
from listening import listening
from running import evaluated

from making import choice, write_set
from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json
from mmdyn.models import Embedder, open_model, without_secrets
from mmdyn.models.vendors import tell

KEY = "sk-canary/+0123456789~abc?"
FORMS = {
    "as it is": KEY,
    "with its Bearer": f"Bearer {KEY}",
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "in base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode(),
    "after one letter": base64.b64encode(b"a" + KEY.encode() + b"bcd").decode(),
    "after two": base64.b64encode(b"ab" + KEY.encode() + b"c").decode(),
    "a header in base64": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "with a name": base64.b64encode(f"user:{KEY}".encode()).decode(),
}


def told(text: str) -> bool:
    """Whether a text tells the key, or most of it in base64."""
    parts = [text[at : at + 12] for at in range(len(text) - 11)]
    encoded = [base64.b64encode(bytes(before) + KEY.encode()).decode()[4:-4] for before in range(3)]
    encoded += [base64.urlsafe_b64encode(bytes(before) + KEY.encode()).decode()[4:-4] for before in range(3)]
    return any(part in form for part in parts for form in (KEY, *encoded))


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
async def test_an_error_tells_no_key(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert told(form)
    for status in (400, 401, 404, 500):
        async with answering({"error": {"message": f"I got {form} from you"}}, status) as (url, _):
            model = open_model(f"openai:m,base_url={url}")
            with pytest.raises(Exception, match=r"I got .*\*\*\*.* from you") as caught:
                await model.ask(user())
            assert not told(str(caught.value)), caught.value
            await model.close()


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
async def test_a_reply_that_repeats_the_key_is_told(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with answering({"choices": [{"message": {"content": f"Answer: {form}"}}]}) as (url, _):
        model = open_model(f"openai:m,base_url={url}")
        replies = [await model.ask(user(text)) for text in ("a", "b")]
        await model.close()
    assert all("***" in reply.text and not told(reply.text) for reply in replies), replies
    assert capsys.readouterr().err == f"the server at {url} repeats the key that it is sent: *** stands for it\n"


@pytest.mark.parametrize(
    ("options", "header"),
    [(",header.X=$OPENAI_API_KEY", "X"), (",header.api-key=" + KEY, "api-key"), (",header.Cookie=" + KEY, "Cookie")],
)
async def test_so_is_one_in_a_header_of_the_users(options: str, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with answering({"choices": [{"message": {"content": KEY}}]}) as (url, _):
        model = open_model(f"openai:m,base_url={url},api_key_env=none{options}")
        assert (await model.ask(user())).text == "***", header
        await model.close()


@pytest.mark.parametrize("key", ["EMPTY", "ollama", "token-abc123", "0123456789abcde"])
async def test_a_word_that_stands_for_a_key_stays_in_replies(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    async with answering({"choices": [{"message": {"content": f"an answer of {key}"}}]}) as (url, _):
        model = open_model(f"openai:m,base_url={url},header.X-Title=an answer of many words")
        assert (await model.ask(user())).text == f"an answer of {key}"
        await model.close()


def test_no_file_of_a_run_holds_a_key_that_a_server_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said: Json = {"choices": [{"message": {"content": f"{KEY} Answer: A", "reasoning": f"Bearer {KEY}"}}]}
    with listening(answer=said) as listener:
        source = write_set(tmp_path / "set", [choice()])
        run = evaluated(source, f"openai:m,base_url={listener.address}", tmp_path / "run")
    assert KEY in listener.came and [record.reply.text for record in run.records()] == ["*** Answer: A"]
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]


async def test_no_key_is_sent_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for said, kind in ({"error": "no"}, ModelError), ({"error": {"message": "Invalid API key"}}, ModelError):
        async with answering(said, 401) as (url, _):
            model = open_model(f"openai:m,base_url={url},api_key_env=None")
            with pytest.raises(kind, match=r"wants a key .*none was sent") as caught:
                await model.ask(user())
            assert not told(str(caught.value))
            await model.close()


VENDORS = {
    "openai:m": "",
    "openai:m,base_url=https://api.openai.com/v1": "",
    "openai:m,base_url=https://api.openai.com:443/v1,api_key_env=OPENAI_API_KEY": "",
    "openai:m,base_url=https://openrouter.ai/api/v1,api_key_env=OPENROUTER_API_KEY": "",
    "openai:m,base_url=https://team.openai.azure.com/openai/v1,header.api-key=$AZURE_OPENAI_API_KEY": ",api_key_env=none",
    "openai:m,base_url=https://openrouter.ai/api/v1": ",api_key_env=none",
    "openai:m,base_url=http://localhost:8000/v1,api_key_env=VLLM_API_KEY": "",
    "openai:m,base_url=http://[::1]:8000/v1,header.X=$ANY": "",
    "openai:m,base_url=http://10.0.0.7:8000/v1": ",api_key_env=none",
    "openai:m,base_url=http://10.0.0.7:8000/v1,header.X=plain": ",api_key_env=none",
    "openai:m,base_url=http://10.0.0.7:8000/v1,api_key_env=none": "",
    "anthropic:m,header.host=evil.example": ",api_key_env=none",
    'gemini:m,headers={"HOST": "evil.example"}': ",api_key_env=none",
    "anthropic:m": "",
    "gemini:m": "",
    "http://127.0.0.1:8000/ask": "",
    "http://10.0.0.7/ask?a=b": ",api_key_env=none",
    "vlmeval:GPT4o,temperature=0.5,verbose=true,label=x,system=Be brief": "",
    "baseline:lexical": "",
    "hf:owner/name": "",
    "no model at all": "",
    "openai:": "",
}


@pytest.mark.parametrize(("text", "more"), VENDORS.items())
def test_a_model_out_of_a_file_sends_a_vendors_key_to_the_vendor_alone(
    text: str, more: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tell.cache_clear()
    assert without_secrets(text, "x.yaml") == f"{text}{more}" and not capsys.readouterr().err
    for variable in ("OPENAI_API_KEY", "MMDYN_HTTP_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    found = [without_secrets(text, "x.yaml") for _ in range(2)]
    said = capsys.readouterr().err
    assert found == [f"{text}{more}"] * 2 and said.count("x.yaml: no key is sent to ") == bool(more)
    assert ("api_key_env=OPENROUTER_API_KEY" in said) == ("openrouter" in text and bool(more))


def test_a_key_in_the_place_of_its_variable_is_not_shown() -> None:
    with pytest.raises(UserError, match="api_key_env is not the name of a variable") as caught:
        without_secrets(f"openai:m,base_url=http://10.0.0.7/v1,api_key_env={KEY}", "x.yaml")
    assert not told(str(caught.value))


def test_code_in_an_embedders_folder_is_not_run(tmp_path: Path) -> None:
    """As sentence-transformers ran it up to its version 5."""
    (tmp_path / "theirs.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\nclass Theirs: pass\n")
    modules = '[{"idx": 0, "name": "0", "path": "", "type": "theirs.Theirs"}]'
    (tmp_path / "modules.json").write_text(modules)
    (tmp_path / "config.json").write_text('{"model_type": "bert", "auto_map": {"AutoModel": "theirs.Theirs"}}')
    (tmp_path / "config_sentence_transformers.json").write_text("{}")
    with pytest.raises(UserError, match="brings code of its own, which is not run: choose another"):
        Embedder(str(tmp_path)).encode(["x"])
    assert not (tmp_path / "mark").exists()
