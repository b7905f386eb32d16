"""What an OpenAI-compatible server's refusals mean, each as one sentence for the user."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.models.model import RejectedError, TransientError

LONGEST_MESSAGE = 300

PASSING = {408, 409, 425, 429}
ONE_REQUEST_ONLY = re.compile(
    r"context.{0,10}(length|window)|maximum.{0,20}(length|tokens)|too (long|large|many tokens)|content.?(policy|filter)"
    r"|inappropriate|inspection|safety|sensitive|image|picture",
    re.I,
)
"""A refusal that speaks of these is about the request and not about how the model is set up."""


class Server(Struct, frozen=True):
    """What the sentences name: the endpoint without credentials, the model, and the variable that should hold a key.

    `sent` says what credential goes with each request ("" for none); `secrets` are cut out of whatever the server says.
    """

    endpoint: str
    model: str
    key_env: str
    sent: str
    secrets: tuple[str, ...]

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        """The error for an answer of HTTP `status`."""
        says, code = _message(body)
        says = self.clean(says)
        heard = f"HTTP {status}: {says}" if says else f"HTTP {status}"
        if code == "insufficient_quota" or status == 402:
            return ModelError(f"the account at {self.endpoint} has no quota left ({heard}): top it up and run again")
        if status in PASSING or status >= 500:
            return TransientError(heard, retry_after(headers), slow_down=status == 429)
        if status in (401, 403):
            if not self.sent:
                return ModelError(f"the server at {self.endpoint} wants a key ({heard}): put it into ${self.key_env}")
            return ModelError(f"the server at {self.endpoint} refused {self.sent} ({heard}): put the right one there")
        if status == 404:
            return ModelError(
                f"the server at {self.endpoint} has no model {self.model!r}, or is no such server ({heard}): "
                f"{self.endpoint}/models names its models, base_url is where it is"
            )
        if 300 <= status < 400:
            target = self.clean(headers.get("Location", ""))
            return ModelError(f"the server at {self.endpoint} sends requests on to {target!r}: mend base_url")
        alone = status == 413 or ONE_REQUEST_ONLY.search(f"{code} {says}")
        return RejectedError(f"the server at {self.endpoint} refused the request ({heard})", perhaps_all=not alone)

    def clean(self, text: str) -> str:
        """Somebody else's text on one line: no secrets, no control characters, not long."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        text = " ".join(text.split())
        text = "".join(
            letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[: LONGEST_MESSAGE + 1]
        )
        return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from `retry-after-ms` or `Retry-After` (seconds or a date); None where it does not."""
    for name, unit in (("retry-after-ms", 1000.0), ("Retry-After", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", value):
            return float(value) / unit
    try:
        return max(0.0, parsedate_to_datetime(headers.get("Retry-After", "")).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _message(body: bytes) -> tuple[str, str]:
    """What the server says and its error code, of the several shapes in which servers say it."""
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return re.sub(r"<[^>]*>", " ", body[:5000].decode(errors="replace")), ""
    code = ""
    for _ in range(3):
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict):
            code = str(found.get("code") or code)
            found = next((found[name] for name in ("error", "message", "detail", "msg") if found.get(name)), "")
    return found if isinstance(found, str) else "", code
