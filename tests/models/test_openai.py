"""What the openai backend sends, what it makes of what comes back, and that keys stay secret."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from pathlib import Path

import pytest
from asking import ask_all, asking, texts, user

from making import picture
from mmdyn.errors import InputError, ModelError, UserError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.models import ImagePart, Message, RejectedError, Spec, TextPart, TransientError, open_model
from mmdyn.models.backends._http_errors import Server, retry_after
from mmdyn.models.backends._http_pictures import Pictures
from mmdyn.models.backends._openai_reply import read_reply
from mmdyn.models.backends.openai import OpenAI
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer

KEY = "sk-very-secret-0123456789"
SERVER = Server("http://h/v1", "m", "OPENAI_API_KEY", "the key in $OPENAI_API_KEY", (f"Bearer {KEY}", KEY))


def body(model: str, messages: tuple[Message, ...]) -> Json:
    opened = OpenAI(Spec.parse(model))
    parts = [part for message in messages for part in message.parts if isinstance(part, ImagePart)]
    return opened._body(messages, {part.digest: opened._pictures.get(part) for part in parts})


def test_the_body_holds_the_parameters_and_plain_text():
    turns = (Message("system", (TextPart("s"),)), Message("user", (TextPart("a"), TextPart("b"))))
    assert body("openai:m,base_url=http://h/v1", turns) == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "ab"}],
        "temperature": 0.0,
    }
    model = (
        "openai:m,base_url=http://h/v1,temperature=none,top_p=0.9,seed=3,max_tokens=5,max_completion_tokens=6,system=x"
    )
    assert body(model, turns[1:]) == {
        "model": "m",
        "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "ab"}],
        "top_p": 0.9,
        "seed": 3,
        "max_tokens": 5,
        "max_completion_tokens": 6,
    }


FORMATS = [
    ("PNG", "RGB", "png"),
    ("JPEG", "RGB", "jpeg"),
    ("GIF", "P", "gif"),
    ("WEBP", "RGB", "webp"),
    ("PNG", "I;16", "png"),
]


@pytest.mark.parametrize(("format", "mode", "kind"), FORMATS)
async def test_pictures_arrive_in_the_bytes_of_the_file_whatever_its_name(
    tmp_path: Path, format: str, mode: str, kind: str
):
    data = picture(mode="L" if mode == "I;16" else mode, format=format) + b"trailing bytes that a decoder would drop"
    path = tmp_path / "misnamed.bmp"
    path.write_bytes(data)
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url}") as asker:
        assert (await asker.ask(user("Which?", path, path))).error == ""
        assert dict(server.stats.images) == {sha256(data): 2}
    messages = (Message("user", (TextPart("a"), *user("b", path)[0].parts)),)
    content = body("openai:m,base_url=http://h", messages)["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert content[1]["image_url"]["url"].startswith(f"data:image/{kind};base64,")


async def test_a_large_picture_goes_through(tmp_path: Path):
    path = tmp_path / "large.png"
    path.write_bytes(picture() + bytes(3_000_000))
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url}") as asker:
        assert (await asker.ask(user("Which?", path))).text == "Answer: 1"
        assert dict(server.stats.images) == {sha256(path.read_bytes()): 1}


def test_a_picture_that_is_missing_broken_or_another_one_is_told(tmp_path: Path):
    pictures, path = Pictures(), tmp_path / "p.png"
    path.write_bytes(picture())
    with pytest.raises(InputError, match=r"p\.png: the picture was changed while it was in use"):
        pictures.get(ImagePart(path, "0" * 64))
    path.write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"p\.png: not a picture that can be read"):
        pictures.get(ImagePart(path, sha256(b"no picture")))
    with pytest.raises(InputError, match=r"gone\.png: cannot be read \(No such file or directory\)"):
        pictures.get(ImagePart(tmp_path / "gone.png", ""))


def test_kept_pictures_are_bounded_in_size(tmp_path: Path):
    pictures = Pictures(most=20_000)
    for number in range(20):
        path = tmp_path / f"{number}.png"
        path.write_bytes(picture(text=str(number)) + bytes(3000))
        pictures.get(ImagePart(path, sha256(path.read_bytes())))
    assert pictures.size <= 20_000
    path.unlink()
    assert pictures.get(ImagePart(path, sha256(picture(text="19") + bytes(3000)))).url.startswith(
        "data:image/png;base64,"
    )


def completion(**choice: Json) -> bytes:
    return canonical({"choices": [{"index": 0, **choice}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})


def read(body: bytes) -> Reply:
    return read_reply(body, SERVER)


@pytest.mark.parametrize(
    ("choice", "text", "finish"),
    [
        ({"message": {"content": "B"}, "finish_reason": "stop"}, "B", "stop"),
        ({"message": {"content": "B"}}, "B", ""),
        ({"message": {"content": [{"type": "text", "text": "B"}, {"type": "text", "text": "C"}]}}, "BC", ""),
        ({"message": {"content": ""}, "finish_reason": "stop"}, "", "stop"),
        ({"message": {"content": None}, "finish_reason": "length"}, "", "length"),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "", "content_filter"),
        ({"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}, "I cannot.", "refusal"),
    ],
)
def test_what_counts_as_an_answer(choice: dict[str, Json], text: str, finish: str):
    assert read(completion(**choice)) == Reply(text, finish, Usage(7, 3))


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": ""}},
        {"message": {"content": None}, "finish_reason": None},
        {"message": {"content": "half an ans"}, "finish_reason": "abort"},
        {"message": {"content": ""}, "finish_reason": "error"},
        {},
    ],
)
def test_an_empty_or_broken_off_answer_is_asked_for_again(choice: dict[str, Json]):
    with pytest.raises(TransientError, match="empty or unfinished"):
        read(completion(**choice))


def test_missing_usage_is_zero():
    assert read(b'{"choices": [{"message": {"content": "B"}}]}').usage == Usage(0, 0)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"{", b"[" * 100_000, b'{"choices": 3}', b'{"choices": null}', b"\xff"]
)
def test_a_body_that_is_no_completion_is_asked_for_again(data: bytes):
    with pytest.raises(TransientError):
        read(data)


def test_an_error_in_a_completions_place_counts_by_its_code():
    with pytest.raises(TransientError, match="HTTP 502: overloaded"):
        read(b'{"error": {"message": "overloaded"}}')
    with pytest.raises(TransientError, match="HTTP 429: slow") as caught:
        read(b'{"error": {"message": "slow", "code": 429}}')
    assert caught.value.slow_down
    with pytest.raises(ModelError, match=r"HTTP 404: no such model"):
        read(b'{"error": {"message": "no such model", "code": 404}}')


def error(status: int, says: Json = "no", **headers: str) -> Exception:
    return SERVER.error(status, headers, canonical({"error": {"message": says}}))


def test_every_refusal_is_one_helpful_sentence():
    assert {status: str(error(status)) for status in (400, 401, 403, 404, 422, 429, 500)} == {
        400: "the server at http://h/v1 refused the request (HTTP 400: no)",
        401: "the server at http://h/v1 refused the key in $OPENAI_API_KEY (HTTP 401: no): put the right one there",
        403: "the server at http://h/v1 refused the key in $OPENAI_API_KEY (HTTP 403: no): put the right one there",
        404: (
            "the server at http://h/v1 has no model 'm', or is no such server (HTTP 404: no): http://h/v1/models names "
            "its models, base_url is where it is"
        ),
        422: "the server at http://h/v1 refused the request (HTTP 422: no)",
        429: "HTTP 429: no",
        500: "HTTP 500: no",
    }


@pytest.mark.parametrize(
    ("status", "says", "perhaps_all"),
    [
        (400, "This model's maximum context length is 4096 tokens", False),
        (400, "The response was filtered due to the content management policy: content_filter", False),
        (400, "Input data may contain inappropriate content", False),
        (400, "image could not be decoded", False),
        (413, "too big", False),
        (400, "unknown parameter: temprature", True),
    ],
)
def test_a_refusal_of_one_request_is_no_reason_to_stop(status: int, says: str, perhaps_all: bool):
    refusal = error(status, says)
    assert isinstance(refusal, RejectedError) and refusal.perhaps_all is perhaps_all


async def test_a_model_that_refuses_everything_is_stopped_soon_and_one_that_answers_is_not():
    async with FakeServer(faults="400=1") as server:
        async with asking(f"openai:m,base_url={server.url}", concurrency=1) as asker:
            with pytest.raises(ModelError, match="10 times with no answer to any: mend the model's options"):
                await ask_all(asker, texts(50))
        assert server.stats.total == 10
        async with asking(f"openai:m,base_url={server.url}", concurrency=1) as asker:
            asker.answers = True
            assert all(reply.error for reply in await ask_all(asker, texts(50)))


def test_a_quota_that_is_used_up_is_not_waited_for():
    body = b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'
    assert isinstance(SERVER.error(429, {}, body), ModelError)


async def test_a_rejected_request_fails_alone_after_one_try():
    async with (
        FakeServer(faults="400=0.3", seed=1) as server,
        asking(f"openai:m,base_url={server.url}", concurrency=1) as asker,
    ):
        replies = await ask_all(asker, texts(20))
    failed = [reply for reply in replies if reply.error]
    assert 0 < len(failed) < 20 and server.stats.total == 20
    assert {reply.error for reply in failed} == {
        f"the server at {server.url} refused the request (HTTP 400: a fault that was asked for)"
    }


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b'{"error": "plain"}', "HTTP 400: plain"),
        (b'{"message": "m"}', "HTTP 400: m"),
        (b'{"detail": [{"loc": ["body"], "msg": "field required"}]}', "HTTP 400: field required"),
        (b'[{"error": {"message": "in a list"}}]', "HTTP 400: in a list"),
        (b"<html><h1>Bad</h1>\n gateway</html>", "HTTP 400: Bad gateway"),
        (b'{"error": {"message": "a\\u001b[31mred\\u0007\\r\\nb"}}', "HTTP 400: a\\x1b[31mred\\x07 b"),
        (b'{"error": {"message": "' + b"x" * 5000 + b'"}}', f"HTTP 400: {'x' * 300}…"),
        ('{"error": {"message": "上下文"}}'.encode(), "HTTP 400: 上下文"),
        (b"", "HTTP 400"),
        (b"[[[[[[]]]]]]", "HTTP 400"),
    ],
)
def test_what_a_server_says_is_shown_short_and_without_control_characters(data: bytes, shown: str):
    assert f"({shown})" in str(SERVER.error(400, {}, data))


def test_retry_after_in_seconds_milliseconds_and_dates():
    assert retry_after({}) is None
    assert retry_after({"Retry-After": "3"}) == 3
    assert retry_after({"retry-after-ms": "250", "Retry-After": "3"}) == 0.25
    assert retry_after({"Retry-After": formatdate(time.time() - 60, usegmt=True)}) == 0
    assert 50 < (retry_after({"Retry-After": formatdate(time.time() + 60, usegmt=True)}) or 0) <= 60
    for nonsense in ("soon", "-1", "nan", "inf", "1e9", "9" * 400, "Mon, 99 Foo 2020"):
        assert retry_after({"Retry-After": nonsense}) is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("base_url=ftp://h", "base_url is not an address such as http://127.0.0.1:8000/v1: mend it"),
        ("base_url=localhost:8000", "base_url is not an address"),
        ("base_url=http://:x", "base_url is not an address"),
        ("base_url=http://a:b@h/v1", "base_url holds a name or password: put it into a variable"),
        ("base_url=http://h,temprature=1", "openai has no option 'temprature' (did you mean 'temperature'?)"),
        ("base_url=http://h,temperature=-1", "the option temperature of openai:m: expected"),
        ("base_url=http://h,headers=[1]", "headers is not a JSON object of strings"),
        (
            "base_url=http://h,header.X=$NOT_SET_AT_ALL",
            "the header X is to hold $NOT_SET_AT_ALL, which is not set: set it",
        ),
        ("base_url=http://h,header.X=a\nb", "the header 'X' holds characters that a header cannot: mend it"),
        (
            "base_url=http://h,api_key_env=sk-secret",
            "api_key_env is not the name of a variable: put the key into one, and give api_key_env=NAME",
        ),
        ("base_url=http://h,api_key_env=MY_KEY", "openai:m needs a key: put it into $MY_KEY"),
        (
            "temperature=0",
            "openai:m needs a key: put it into $OPENAI_API_KEY, or give base_url=… for a server of your own",
        ),
    ],
)
def test_bad_options_are_told_at_once(options: str, says: str):
    with pytest.raises(UserError) as caught:
        open_model(f"openai:m,{options}")
    assert says in str(caught.value) and "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"])
def test_the_endpoint_is_one_however_it_is_written(url: str):
    assert open_model(f"openai:m,base_url={url}").identity["endpoint"] == "http://h:1/v1"


async def test_a_query_of_the_base_url_is_sent_and_not_shown():
    async with FakeServer() as server:
        model = open_model(f"openai:m,base_url={server.url}?api-version=1&key=geheim")
        assert (await model.ask(user())).text == "Answer: A"
        assert "geheim" not in f"{model.identity}"
        await model.close()


async def test_nothing_listening_is_told_at_once_and_later_waited_for():
    async with FakeServer() as server:
        async with asking(f"openai:m,base_url={server.url}", max_tries=2) as asker:
            assert (await asker.ask(user("one"))).error == ""
            await server.__aexit__(None, None, None)
            assert (await asker.ask(user("two"))).error.startswith("no connection (")
        async with asking(f"openai:m,base_url={server.url}") as asker:
            with pytest.raises(ModelError) as caught:
                await asker.ask(user("two"))
            assert str(caught.value).startswith(f"cannot reach {server.url} (")
            assert str(caught.value).endswith("): start the server or mend base_url")


async def test_a_host_that_does_not_exist_is_told():
    async with asking("openai:m,base_url=http://no-such-host.invalid/v1") as asker:
        with pytest.raises(ModelError, match=r"cannot reach http://no-such-host\.invalid/v1 \("):
            await asker.ask(user())


async def test_the_environments_proxy_is_used_unless_it_is_ruled_out(monkeypatch: pytest.MonkeyPatch):
    async with FakeServer() as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        async with asking("openai:m,base_url=http://no-such-host.invalid/v1") as asker:
            assert (await asker.ask(user())).text == "Answer: A"
        monkeypatch.setenv("no_proxy", "no-such-host.invalid")
        async with asking("openai:m,base_url=http://no-such-host.invalid/v1") as asker:
            with pytest.raises(ModelError):
                await asker.ask(user())


def by_variable(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    return ""


def by_own_variable(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MY_KEY", KEY)
    return ",api_key_env=MY_KEY"


def by_header(monkeypatch: pytest.MonkeyPatch) -> str:
    return f",header.Authorization=Bearer {KEY}"


def by_headers(monkeypatch: pytest.MonkeyPatch) -> str:
    return f',headers={{"Authorization":"Bearer {KEY}","X-Team":"geheim"}}'


def by_header_from_variable(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("WHOLE", f"Bearer {KEY}")
    return ",header.Authorization=$WHOLE"


WAYS = [by_variable, by_own_variable, by_header, by_headers, by_header_from_variable]


@pytest.mark.parametrize("way", WAYS)
async def test_a_key_opens_the_server_and_shows_nowhere(
    way: Callable[[pytest.MonkeyPatch], str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    options = way(monkeypatch)
    seen = []
    async with FakeServer(key=KEY) as server:
        spec = Spec.parse(f"openai:m,base_url={server.url}{options}")
        model = open_model(spec.text)
        assert (await model.ask(user())).text == "Answer: A"
        await model.close()
        seen += [repr(spec), repr(model), model.label, canonical(model.identity).decode(), repr(server.stats)]
    async with FakeServer(key="another") as server, asking(f"openai:m,base_url={server.url}{options}") as asker:
        with pytest.raises(ModelError, match=r"refused the (key in \$|headers Authorization)") as caught:
            await asker.ask(user())
        seen += ["".join(traceback.format_exception(caught.value)), repr(asker)]
    seen.append(caplog.text)
    assert not any(KEY in text or "geheim" in text for text in seen)


def test_a_key_that_the_server_repeats_is_cut_out():
    assert str(error(500, f"bad key {KEY} in 'Bearer {KEY}'")) == "HTTP 500: bad key *** in '***'"


async def test_what_a_query_holds_is_cut_out_of_what_the_server_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://me:long%40password@proxy:3128")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model = open_model("openai:m,base_url=http://h/v1?key=ge%2Fheim&v=1,header.X-Empty=")
    assert isinstance(model, OpenAI)
    says = model._server.clean("from ?key=ge%2Fheim or ge/heim by long@password (long%40password), v=1 ok")
    assert says == "from ?key=*** or *** by *** (***), v=1 ok"


@asynccontextmanager
async def listening(answer: bytes) -> AsyncIterator[tuple[asyncio.Server, asyncio.Event]]:
    """A server that sends an answer to every request, or none at all where it is empty, and whether a request came."""
    asked = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        writer.write(answer)
        if not answer:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    yield server, asked
    server.close()


@pytest.mark.parametrize(
    ("status", "kind", "mend"),
    [(407, ModelError, ": mend https_proxy"), (403, ModelError, ": mend https_proxy"), (503, TransientError, "")],
)
async def test_a_proxy_that_refuses_is_named_without_its_password(
    status: int, kind: type[Exception], mend: str, monkeypatch: pytest.MonkeyPatch
):
    async with listening(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode()) as (server, _):
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://me:PW@127.0.0.1:{port}")
        model = open_model("openai:m,base_url=https://far.invalid/v1")
        with pytest.raises(kind) as caught:
            await model.ask(user())
        await model.close()
        assert str(caught.value) == f"the proxy 127.0.0.1:{port} answered HTTP {status}{mend}"


async def test_one_refused_connection_passes_where_another_stands_and_waits_for_its_answer():
    async with listening(b"") as (server, asked):
        model = open_model(f"openai:m,base_url=http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        waiting = asyncio.ensure_future(model.ask(user("one")))
        await asked.wait()
        server.close()
        with pytest.raises(TransientError, match=r"no connection \("):
            await model.ask(user("two"))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await model.close()
