"""The proxies and certificates that the environment names, over real sockets."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from asking import asking, user
from test_server_behaviours import message
from yarl import URL

from mmdyn.errors import ModelError
from mmdyn.models import open_model
from mmdyn.models.backends._http_transport import BUNDLES, proxy_for
from mmdyn.models.model import ServerGone
from mmdyn.testing import FakeServer

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
NAMES = [*BUNDLES, "http_proxy", "https_proxy", "all_proxy", "no_proxy"]
ANSWER = message({"choices": [{"message": {"content": "B"}}]})


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate and key of a server at localhost that signed itself."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not there")
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *names], check=True, cwd=folder, capture_output=True)
    (folder / "folder").mkdir()
    shutil.copy(folder / "cert.pem", folder / "folder")
    subprocess.run(["openssl", "rehash", "folder"], check=True, cwd=folder, capture_output=True)
    return folder


@asynccontextmanager
async def started(handle: Handle, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server, whose connections are closed with it."""
    tasks = set[asyncio.Task[None]]()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with suppress(asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            await handle(reader, writer)
        writer.transport.abort()

    async with await asyncio.start_server(one, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)


@asynccontextmanager
async def listening(secure: Path | None = None) -> AsyncIterator[tuple[int, list[str]]]:
    """The port of a server that answers every question, with TLS or without, and the lines of what was asked."""
    asked = list[str]()
    context = None
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(secure / "cert.pem", secure / "key.pem")

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.partition("\r\n")[0])
        await reader.readexactly(int(head.lower().partition("content-length:")[2].split()[0]))
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    async with started(handle, context) as port:
        yield port, asked


@asynccontextmanager
async def tunnel() -> AsyncIterator[tuple[str, list[str]]]:
    """The address of a proxy that connects to what it is asked for, and the lines of what it was asked."""
    asked = list[str]()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).decode().partition("\r\n")[0]
        asked.append(line)
        host, _, port = line.split()[1].partition(":")
        far = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        try:
            await asyncio.gather(copy(reader, far[1]), copy(far[0], writer))
        finally:
            far[1].transport.abort()

    async with started(handle) as port:
        yield f"http://127.0.0.1:{port}", asked


async def reply(url: str) -> str:
    """The text of an answer."""
    async with asking(f"openai:m,base_url={url}") as asker:
        return (await asker.ask(user())).text


async def refusal(url: str) -> str:
    """The error that ends the asking."""
    with pytest.raises(ModelError) as caught:
        await reply(url)
    return str(caught.value)


@pytest.mark.parametrize("name", BUNDLES)
async def test_a_bundle_that_the_environment_names_is_trusted(name: str, signed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, str(signed / "cert.pem"))
    async with listening(signed) as (port, _):
        assert await reply(f"https://localhost:{port}") == "B"


async def test_a_folder_of_certificates_is_trusted(signed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(signed / "folder"))
    async with listening(signed) as (port, _):
        assert await reply(f"https://localhost:{port}") == "B"


async def test_a_certificate_that_nobody_vouches_for_is_told(signed: Path, monkeypatch: pytest.MonkeyPatch):
    async with listening(signed) as (port, asked):
        said = await refusal(f"https://localhost:{port}")
        assert said == (
            f"the certificate of https://localhost:{port} fails the check against the system's certificates"
            " (self-signed certificate): put the file of who signed it into $SSL_CERT_FILE, or mend base_url"
        )
        monkeypatch.setenv("SSL_CERT_FILE", str(signed / "cert.pem"))
        said = await refusal(f"https://127.0.0.1:{port}")
        assert "against what $SSL_CERT_FILE names (" in said and "127.0.0.1" in said and "mismatch" in said
        assert asked == []


async def test_a_server_without_tls_is_told():
    async with FakeServer() as server:
        url = server.url.replace("http:", "https:")
        said = await refusal(url)
    assert said.startswith(f"cannot speak TLS with {url} (") and said.endswith("): mend base_url")


@pytest.mark.parametrize("what", ["nothing there", "no certificate"])
async def test_a_bundle_that_cannot_be_read_is_named(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "bundle.pem"
    if what == "no certificate":
        file.write_text("none")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    said = await refusal("https://localhost:1")
    assert said.startswith(f"$REQUESTS_CA_BUNDLE names {file}, from which no certificates can be read (")
    async with listening() as (port, _):
        assert await reply(f"http://127.0.0.1:{port}") == "B", "it is not needed without TLS"


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
async def test_a_proxy_leads_to_a_server_with_tls(name: str, signed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(signed / "cert.pem"))
    async with listening(signed) as (port, asked), tunnel() as (proxy, through):
        monkeypatch.setenv(name, proxy)
        assert await reply(f"https://localhost:{port}") == "B"
        assert through == [f"CONNECT localhost:{port} HTTP/1.1"] and len(asked) == 1
        monkeypatch.setenv("SSL_CERT_FILE", "")
        said = await refusal(f"https://localhost:{port}")
        assert (
            f"https://localhost:{port}, reached by the proxy {proxy.removeprefix('http://')}, fails the check" in said
        )


async def test_all_proxy_serves_plain_http_and_a_proxy_of_its_own_goes_before_it(monkeypatch: pytest.MonkeyPatch):
    async with listening() as (port, asked):
        monkeypatch.setenv("ALL_PROXY", f"127.0.0.1:{port}")
        assert await reply("http://no-such-host.invalid/v1") == "B"
        assert asked == ["POST http://no-such-host.invalid/v1/chat/completions HTTP/1.1"]
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        said = await refusal("http://no-such-host.invalid/v1")
        assert said.startswith("cannot reach http://no-such-host.invalid/v1 by the proxy 127.0.0.1:1 (")
        assert said.endswith("): mend http_proxy, or name no-such-host.invalid in no_proxy")


@pytest.mark.parametrize("no_proxy", [
    "127.0.0.1", "localhost,127.0.0.1", "*", "127.0.0.0/8", " 10.0.0.0/8 , 127.0.0.0/24", "127.0.0.1:PORT", "::1/128,127.0.0.1/32",
])  # fmt: skip
async def test_no_proxy_names_hosts_ports_and_networks(no_proxy: str, monkeypatch: pytest.MonkeyPatch):
    async with listening() as (port, _):
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("NO_PROXY", no_proxy.replace("PORT", str(port)))
        assert await reply(f"http://127.0.0.1:{port}") == "B"


@pytest.mark.parametrize("no_proxy", ["127.0.0.2", "10.0.0.0/8", "127.0.0.1:1", "27.0.0.1/8", "example.org"])
def test_no_proxy_names_no_other(no_proxy: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", "http://me:secret-word@proxy:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    found = proxy_for(URL("http://127.0.0.1:8000/v1"))
    assert found is not None and (str(found), found.variable) == ("proxy:3128", "all_proxy")


@pytest.mark.parametrize(
    "address", ["socks5://me:secret-word@proxy:1080", "http://", "//:8", "http://me:secret-word@:80", "http://[::1"]
)
def test_a_proxy_that_cannot_be_used_is_told_without_its_password(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", address)
    with pytest.raises(
        ModelError, match=r"^all_proxy names .*, and a proxy must be http://HOST:PORT: mend it, or name h"
    ) as caught:
        open_model("openai:m,base_url=https://h/v1")
    assert "secret-word" not in str(caught.value)


async def test_a_proxy_that_is_gone_is_named_and_waited_for_where_it_had_answered(monkeypatch: pytest.MonkeyPatch):
    async with listening() as (port, _):
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        model = open_model("openai:m,base_url=http://far.invalid/v1")
        assert (await model.ask(user())).text == "B"
    with pytest.raises(ServerGone, match=rf"^no connection to the proxy 127\.0\.0\.1:{port} \("):
        await model.ask(user())
    await model.close()
