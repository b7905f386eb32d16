"""The batch APIs that the fake server speaks: OpenAI's files and batches, and Anthropic's message batches."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from typing import Any

import msgspec

from mmdyn.keys import sha256, stream

BATCH_PATH = re.compile(r"/(files|messages/batches|batches)(?:/([\w-]+))?(/content|/results)?$")
"""Paths of the batch APIs: the kind of thing, its id, and what of it."""

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")

Answer = Callable[[str, bytes], tuple[int, Any]]
"""The status and the answer of a request to a path."""


@dataclass
class _Batch:
    """results: the request's custom id, its status (0 where it expired) and its answer."""

    id: str
    created: float
    seconds: float
    results: list[tuple[str, int, Any]]
    told: dict[str, Any] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """How far it is, in [0, 1]."""
        return min((time.time() - self.created) / self.seconds, 1.0) if self.seconds else 1.0

    @property
    def ways(self) -> Counter[str]:
        """How its requests end."""
        return Counter(
            "succeeded" if status == 200 else "errored" if status else "expired" for _, status, _ in self.results
        )


class FakeBatches:
    """Batches that take `seconds`, and leave a share of the requests that come for the first time expired.

    `submitted` counts how often each request came in a batch, by the digest of its body.
    """

    def __init__(self, seconds: float, expires: float, seed: int, answer: Answer) -> None:
        self.submitted = Counter[str]()
        self._seconds, self._expires, self._seed, self._answer = seconds, expires, seed, answer
        self._files, self._batches = dict[str, bytes](), dict[str, _Batch]()

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """The status and the answer, JSON or bytes, of a request to a BATCH_PATH."""
        found = BATCH_PATH.search(path)
        assert found
        kind, id, more = found.groups("")
        if method == "POST" and not id:
            return {"files": self._upload, "batches": self._create, "messages/batches": self._create_messages}[kind](
                headers, body
            )
        if kind == "files" and more == "/content" and id in self._files:
            return 200, self._files[id]
        if kind != "files" and not id:
            listed = sorted(self._batches.values(), key=lambda batch: -batch.created)
            return 200, {"object": "list", "has_more": False, "data": [self._told(kind, batch) for batch in listed]}
        if kind != "files" and id in self._batches:
            batch = self._batches[id]
            return 200, self._results(batch) if more == "/results" else self._told(kind, batch)
        return 404, {"error": {"type": "not_found_error", "message": f"there is no {kind} {id}"}}

    def _upload(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        form = message_from_bytes(b"Content-Type: " + headers.get("Content-Type", "").encode() + b"\r\n\r\n" + body)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.walk()}
        if not {"purpose", "file"} <= parts.keys() or parts["purpose"].get_payload(decode=True) != b"batch":
            return 400, {"error": {"message": "a file and the purpose 'batch' are required", "code": None}}
        self._files[id := f"file-{len(self._files)}"] = bytes(parts["file"].get_payload(decode=True))
        return 200, {"id": id, "object": "file", "purpose": "batch"}

    def _create(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        asked = msgspec.json.decode(body)
        if asked.get("input_file_id") not in self._files or asked.get("completion_window") != "24h":
            return 400, {"error": {"message": "no such input_file_id, or no completion_window of 24h", "code": None}}
        lines = [msgspec.json.decode(line) for line in self._files[asked["input_file_id"]].splitlines()]
        models = {line["body"]["model"] for line in lines}
        says = "All requests in a batch need the same model." if len(models) > 1 else ""
        says = says or "" if {line["url"] for line in lines} == {asked["endpoint"]} else "The URL is not the batch's."
        bad = [{"code": "invalid", "message": says, "line": 1}] if says else []
        requests = {line["custom_id"]: msgspec.json.encode(line["body"]) for line in lines}
        batch = self._begin("batch", asked["endpoint"], {} if bad else requests)
        batch.told, batch.errors = {"metadata": asked.get("metadata"), "endpoint": asked["endpoint"]}, bad
        return 200, self._told("batches", batch)

    def _create_messages(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        asked = msgspec.json.decode(body)["requests"]
        requests = {each["custom_id"]: msgspec.json.encode(each["params"]) for each in asked}
        if len(requests) < len(asked) or not all(map(_CUSTOM_ID.fullmatch, requests)):
            error = {"type": "invalid_request_error", "message": "custom_id must be unique and match a pattern"}
            return 400, {"type": "error", "error": error}
        return 200, self._told("messages/batches", self._begin("msgbatch", "/v1/messages", requests))

    def _begin(self, kind: str, path: str, requests: Mapping[str, bytes]) -> _Batch:
        results = list[tuple[str, int, Any]]()
        for custom_id, body in requests.items():
            name = sha256(body)
            self.submitted[name] += 1
            drawn = float(stream("expired", self._seed, name).random())
            late = drawn < self._expires and self.submitted[name] == 1
            results.append((custom_id, *((0, None) if late else self._answer(path, body))))
        batch = _Batch(f"{kind}_{len(self._batches)}", time.time(), self._seconds, results)
        self._batches[batch.id] = batch
        return batch

    def _told(self, kind: str, batch: _Batch) -> dict[str, Any]:
        return self._message_batch(batch) if kind == "messages/batches" else self._batch(batch)

    def _message_batch(self, batch: _Batch) -> dict[str, Any]:
        ended = batch.share == 1.0
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts | (batch.ways if ended else {"processing": len(batch.results)}),
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat(),
            "results_url": f"https://elsewhere.invalid/v1/messages/batches/{batch.id}/results" if ended else None,
        }

    def _batch(self, batch: _Batch) -> dict[str, Any]:
        ended, files = batch.share == 1.0 and not batch.errors, dict[str, str]()
        for name, good in {"output_file_id": True, "error_file_id": False}.items() if ended else ():
            if lines := [_line(*result) for result in batch.results if (result[1] == 200) is good]:
                files[name] = f"file-{batch.id}-{name[:5]}"
                self._files[files[name]] = b"\n".join(lines)
        status = "expired" if batch.ways["expired"] else "completed"
        status = status if ended else "in_progress" if batch.share > 0.1 else "validating"
        done = {name: round(batch.share * batch.ways[way]) for name, way in _COUNTED.items()}
        return {
            "id": batch.id,
            "object": "batch",
            "status": "failed" if batch.errors else status,
            "request_counts": {"total": len(batch.results), **done},
            "created_at": int(batch.created),
            "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
            **files,
            **batch.told,
        }

    def _results(self, batch: _Batch) -> bytes:
        rows = list[bytes]()
        for custom_id, status, answer in reversed(batch.results):
            result = {"type": "succeeded", "message": answer} if status == 200 else {"type": "errored", "error": answer}
            rows.append(msgspec.json.encode({"custom_id": custom_id, "result": result if status else _EXPIRED}))
        return b"\n".join(rows)


_COUNTED = {"completed": "succeeded", "failed": "errored"}
_EXPIRED = {"type": "expired"}
_LATE = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}


def _line(custom_id: str, status: int, answer: Any) -> bytes:
    response = {"status_code": status, "request_id": "r", "body": answer} if status else None
    error = None if status else _LATE
    return msgspec.json.encode({"id": "r", "custom_id": custom_id, "response": response, "error": error})
