"""An endpoint of the user's own for `http:`, in a few lines of the standard library."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any], dict[str, str]], tuple[int, Any]]


def says_a(body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
    """The first option, with what it cost."""
    return 200, {"text": "Answer: A", "reasoning": "it is first", "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


@contextmanager
def endpoint(answer: Answer = says_a) -> Iterator[str]:
    """The address of an endpoint; `answer` gives the status and the JSON for a request's body and headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = answer({**body, "path": self.path}, dict(self.headers))
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/ask"
        server.shutdown()
