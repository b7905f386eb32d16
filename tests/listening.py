"""A stranger's server, which keeps every byte that reaches it, and secrets of the user's by which they are known."""

from __future__ import annotations

import base64
import json
import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECRETS = {
    "OPENAI_API_KEY": "sk-canary-openai-0123456789",
    "ANTHROPIC_API_KEY": "sk-canary-anthropic-0123456789",
    "GEMINI_API_KEY": "canary-gemini-0123456789",
    "MMDYN_HTTP_KEY": "canary-endpoint-0123456789",
    "OPENROUTER_API_KEY": "sk-canary-openrouter-0123456789",
    "AWS_SECRET_ACCESS_KEY": "canary-aws-0123456789",
    "HF_TOKEN": "hf_canary0123456789",
}
"""What is in the environment."""
FILED = "canary-in-a-file-0123456789"
"""What is in files of the user's."""

ANSWER = {
    "choices": [{"message": {"content": "Answer: A"}, "finish_reason": "stop"}],
    **{"type": "message", "content": [{"type": "text", "text": "Answer: A"}], "stop_reason": "end_turn"},
    "candidates": [{"content": {"parts": [{"text": "Answer: A"}]}, "finishReason": "STOP"}],
    "text": "Answer: A",
}
"""For whichever API asks."""


class Listener:
    """port, address: of this machine by a name that does not say so, as a stranger's would be."""

    def __init__(self, port: int, status: int, headers: str, answer: object) -> None:
        self.port, self.address = port, f"http://0.0.0.0:{port}"
        self._came, self._status, self._headers, self._answer = bytearray(), status, headers, answer

    @property
    def came(self) -> str:
        """All that came."""
        return self._came.decode(errors="replace")

    def secrets(self) -> list[str]:
        """Which secrets came, as they are or in base64."""
        held = SECRETS | {"a file": FILED}
        forms = {name: (value, base64.b64encode(value.encode())[:-4].decode()) for name, value in held.items()}
        return [name for name, values in forms.items() if any(value in self.came for value in values)]

    def take(self, data: bytes) -> None:
        """Keep what came."""
        self._came += data

    def answer(self) -> bytes:
        """What it says to everything."""
        body = json.dumps(self._answer).encode()
        head = f"HTTP/1.1 {self._status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}{self._headers}\r\n".encode() + body


@contextmanager
def listening(status: int = 200, headers: str = "", answer: object = ANSWER) -> Iterator[Listener]:
    """A server that gives every request one answer; as a proxy it answers in the place of every http server."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            held = b""
            while data := self.request.recv(65536):
                listener.take(data)
                held += data
                head, ended, body = held.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
                if ended and len(body) >= (int(length[1]) if length else 0):
                    held = b""
                    self.request.sendall(listener.answer())

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads, block_on_close = True, False

    with Server(("127.0.0.1", 0), Handler) as server:
        listener = Listener(server.server_address[1], status, headers, answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield listener
        finally:
            server.shutdown()
