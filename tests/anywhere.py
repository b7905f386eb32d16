"""A proxy that leads to one fake server, whatever address is asked for: MODELs as they are printed get an answer."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
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
        self._loop, self._tasks = asyncio.new_event_loop(), set[asyncio.Task[None]]()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        proxies = dict.fromkeys(("http_proxy", "https_proxy"), f"http://127.0.0.1:{port}")
        self.environment |= proxies | {"OPENAI_API_KEY": "sk-of-no-account"}
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a connection on; what comes through a tunnel is decrypted first."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        far = None
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, address, _ = head.split(b" ", 2)
            self.asked.append(address.decode())
            if method == b"CONNECT":
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await writer.start_tls(self._secure)
                head = b""
            far_reader, far = await asyncio.open_connection("127.0.0.1", self._to)
            far.write(head)
            await asyncio.gather(_copy(reader, far), _copy(far_reader, writer))
        except (asyncio.CancelledError, asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self._tasks.discard(task)
            for each in filter(None, (writer, far)):
                each.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
