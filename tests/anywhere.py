"""A proxy that leads to one fake server, whatever address is asked for: MODELs as they are printed get an answer."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import pytest

from mmdyn.testing import FakeServer

HOSTS = ("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com")


class Anywhere:
    """Within its block `environment` leads every request to `server`, those to HOSTS over TLS with a certificate of
    `folder`. Skips the test where openssl is absent, which makes that.

    asked: the hosts that were connected to, with their ports.
    """

    def __init__(self, server: FakeServer, folder: Path) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("openssl is not there")
        folder.mkdir()
        names = ",".join(f"DNS:{host}" for host in HOSTS)
        made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=anywhere"
        files = ["-addext", f"subjectAltName={names}", "-keyout", "key.pem", "-out", "cert.pem"]
        subprocess.run([*made.split(), *files], check=True, cwd=folder, capture_output=True)
        self.asked, self.environment = list[str](), {"SSL_CERT_FILE": str(folder / "cert.pem")}
        self._to = urlsplit(server.url).port
        self._secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._secure.load_cert_chain(folder / "cert.pem", folder / "key.pem")

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(self._started(), self._loop).result()
        proxy = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.environment |= {"http_proxy": proxy, "https_proxy": proxy, "OPENAI_API_KEY": "sk-of-no-account"}
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _started(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a connection on: what is within a tunnel is unwrapped first."""
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, address, _ = head.split(b" ", 2)
            self.asked.append(address.decode())
            if method == b"CONNECT":
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await writer.start_tls(self._secure)
                head = b""
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
            far_writer.write(head)
            await asyncio.gather(_copied(reader, far_writer), _copied(far_reader, writer))


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, ssl.SSLError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
