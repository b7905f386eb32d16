"""The batch APIs of OpenAI and Anthropic: requests that are submitted together and answered within a day, at half the
price."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.model import RejectedError, TransientError

if TYPE_CHECKING:
    from yarl import URL

CLOCKS = 300.0
"""Seconds by which two machines' clocks may differ."""

Outcome: TypeAlias = bytes | Exception
"""An answer's body, or why there is none."""


class Sends(Protocol):
    """What sends requests to a server: a Line."""

    url: URL

    async def post(self, body: bytes, url: URL | None = None) -> bytes:
        """The JSON that comes back."""

    async def send(self, method: str, url: URL, data: bytes | None = None, content_type: str = "") -> bytes:
        """The body of any kind that comes back."""

    async def close(self) -> None:
        """Close the connections."""


class Standing(Struct, frozen=True):
    """How far a batch is: so many of its requests are done. `raw` is what the API says, for `outcomes`."""

    ended: bool
    done: int
    raw: dict[str, Any]


class BatchApi(ABC):
    """One API. A request's custom id is `TOKEN-NUMBER`, where the token is its batch's."""

    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]
    path: ClassVar[str]
    """Where batches are, after what stands before the path to which a single request is posted."""

    def __init__(self, line: Sends, server: Server, single: str) -> None:
        self._line, self._server, self._single = line, server, single

    @abstractmethod
    async def submit(self, token: str, bodies: Sequence[bytes]) -> str:
        """The id of a new batch of these requests."""

    @abstractmethod
    async def standing(self, id: str) -> Standing:
        """How far a batch is."""

    @abstractmethod
    async def outcomes(self, standing: Standing) -> dict[str, Outcome]:
        """What became of the requests of a batch that has ended, by custom id. TransientError: to be asked again."""

    @abstractmethod
    def is_it(self, batch: dict[str, Any], token: str, created: float, size: int) -> bool:
        """Whether a batch of the account may be the one of this token, which was submitted about then."""

    async def find(self, token: str, created: float, size: int) -> str:
        """The id of a batch that may have been submitted, the empty string where it was not."""
        found = await self._get(self.path, limit="100")
        return next((batch["id"] for batch in found.get("data") or () if self.is_it(batch, token, created, size)), "")

    async def _get(self, path: str, **query: str) -> dict[str, Any]:
        return _object(await self._line.send("GET", self._at(path).with_query(query)))

    async def _post(self, path: str, data: bytes, content_type: str = "application/json") -> str:
        answer = _object(await self._line.send("POST", self._at(path), data, content_type))
        if not isinstance(answer.get("id"), str):
            raise TransientError("an answer without an id")
        return str(answer["id"])

    def _at(self, path: str) -> URL:
        return self._line.url.with_path(self._line.url.path.removesuffix(self._single) + path)

    async def _lines(self, path: str) -> list[dict[str, Any]]:
        lines = (await self._line.send("GET", self._at(path))).splitlines()
        return [_object(line) for line in lines if line.strip()]


def _object(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise TransientError("an answer that is no JSON object") from None


class OpenAIBatches(BatchApi):
    """Each batch is a file of requests, and its metadata hold the token."""

    most_requests, most_bytes, path = 50_000, 190_000_000, "/batches"

    async def submit(self, token: str, bodies: Sequence[bytes]) -> str:
        """A file and a batch of it."""
        line = f'","method":"POST","url":"/v1{self._single}","body":'.encode()
        rows = [b'{"custom_id":"%s-%d%s%s}\n' % (token.encode(), n, line, body) for n, body in enumerate(bodies)]
        fields = {'name="purpose"': b"batch", f'name="file"; filename="{token}.jsonl"': b"".join(rows)}
        head = f"--{token}\r\nContent-Disposition: form-data; "
        parts = [f"{head}{name}\r\n\r\n".encode() + value + b"\r\n" for name, value in fields.items()]
        form = b"".join(parts) + f"--{token}--\r\n".encode()
        file = await self._post("/files", form, f"multipart/form-data; boundary={token}")
        batch = {"input_file_id": file, "endpoint": f"/v1{self._single}", "completion_window": "24h"}
        return await self._post(self.path, msgspec.json.encode({**batch, "metadata": {"mmdyn": token}}))

    def is_it(self, batch: dict[str, Any], token: str, created: float, size: int) -> bool:
        """By the metadata."""
        return bool((batch.get("metadata") or {}).get("mmdyn") == token)

    async def standing(self, id: str) -> Standing:
        """By its status; a batch that was not taken has failed."""
        batch = await self._get(f"{self.path}/{id}")
        counts = batch.get("request_counts") or {}
        ended = batch.get("status") in ("completed", "expired", "cancelled", "failed")
        return Standing(ended, counts.get("completed", 0) + counts.get("failed", 0), batch)

    async def outcomes(self, standing: Standing) -> dict[str, Outcome]:
        """Out of the file of answers and the one of errors. Raises ModelError where the batch was not taken."""
        batch, found = standing.raw, dict[str, Outcome]()
        if batch["status"] == "failed":
            says = [error.get("message") or "" for error in (batch.get("errors") or {}).get("data") or ()]
            told = self._server.clean("; ".join(says[:3]))
            raise ModelError(f"the server at {self._server.endpoint} takes no such batch ({told}): mend the options")
        for name in filter(None, (batch.get("output_file_id"), batch.get("error_file_id"))):
            for row in await self._lines(f"/files/{name}/content"):
                found[row["custom_id"]] = self._outcome(row)
        return found

    def _outcome(self, row: dict[str, Any]) -> Outcome:
        error, response = row.get("error") or {}, row.get("response") or {}
        if error or not response:
            return TransientError(self._server.clean(error.get("message") or "no answer in the batch"))
        body = msgspec.json.encode(response.get("body"))
        return body if response["status_code"] == 200 else self._server.error(response["status_code"], {}, body)


_STATUSES = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}
_STATUSES |= {"request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529}


class AnthropicBatches(BatchApi):
    """A batch is one request that holds the others. It has no metadata: it is found by its time and size."""

    most_requests, most_bytes, path = 100_000, 240_000_000, "/v1/messages/batches"

    async def submit(self, token: str, bodies: Sequence[bytes]) -> str:
        """A batch."""
        rows = [b'{"custom_id":"%s-%d","params":%s}' % (token.encode(), n, body) for n, body in enumerate(bodies)]
        return await self._post(self.path, b'{"requests":[%s]}' % b",".join(rows))

    def is_it(self, batch: dict[str, Any], token: str, created: float, size: int) -> bool:
        """One as large that was created then; whether it is it, the custom ids of its results say."""
        began = datetime.fromisoformat(batch["created_at"]).timestamp()
        return sum(batch["request_counts"].values()) == size and -CLOCKS < began - created < 2 * CLOCKS

    async def standing(self, id: str) -> Standing:
        """By its processing status."""
        batch = await self._get(f"{self.path}/{id}")
        counts = batch.get("request_counts") or {}
        return Standing(
            batch.get("processing_status") == "ended", sum(counts.values()) - counts.get("processing", 0), batch
        )

    async def outcomes(self, standing: Standing) -> dict[str, Outcome]:
        """Out of its results."""
        rows = await self._lines(f"{self.path}/{standing.raw['id']}/results")
        return {row["custom_id"]: self._outcome(row["result"]) for row in rows}

    def _outcome(self, result: dict[str, Any]) -> Outcome:
        error = result.get("error") or {}
        match result["type"]:
            case "succeeded":
                return msgspec.json.encode(result["message"])
            case "errored":
                status = _STATUSES.get(str((error.get("error") or {}).get("type")), 500)
                return self._server.error(status, {}, msgspec.json.encode(error))
            case "canceled":
                return RejectedError("the batch was cancelled before this was answered")
        return TransientError("the batch expired before this was answered")
