"""A model server's error answers, each as one sentence for the user and as the contract's kind of error."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.models.backends._http_refusals import BAD_REQUEST, NOT_TAKEN, ONE_REQUEST_ONLY, REFUSALS
from mmdyn.models.model import RejectedError, TransientError

LONGEST_MESSAGE = 300
LONGEST_SEARCHED = 5000
USERINFO = re.compile(r"://[^/\s]{1,1000}@")
"""The name and password in an address."""

PASSING = {408, 409, 425, 429}
TOO_MANY = {429, 529}


class Server(Struct, frozen=True):
    """What the sentences name: the endpoint without credentials, the model, and the variable that should hold a key.

    `sent` says what credential goes with each request ("" for none); `secrets` are cut out of whatever the server says.
    `models` is where the models are listed, after the endpoint. `parameters`: the options by the names that are sent.
    """

    endpoint: str
    model: str
    key_env: str
    sent: str
    secrets: tuple[str, ...]
    models: str = "/models"
    parameters: dict[str, str] = {}

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        """The error for an answer of HTTP `status`."""
        says, codes = _message(body)
        searched = f"{codes} {says}"
        says = self.clean(says)
        heard = f"HTTP {status}: {says}" if says else f"HTTP {status}"
        for refusal in REFUSALS:
            if status in refusal.statuses and refusal.words.search(searched):
                sentence = self._sentence(refusal.sentence, heard)
                if refusal.option:
                    return RejectedError(self._refused(heard), for_all=sentence)
                return RejectedError(sentence) if refusal.alone else ModelError(sentence)
        if status in PASSING or status >= 500:
            wait = retry_after(headers, body)
            if wait is None and status == 429:
                wait = rate_limit_reset(headers)
            return TransientError(heard, wait, slow_down=status in TOO_MANY)
        if status in BAD_REQUEST:
            return self._bad_request(status, searched, heard)
        return self._misled(status, headers, heard)

    def clean(self, text: str) -> str:
        """Somebody else's text on one line: no secrets, no control characters, not long."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        text = USERINFO.sub("://***@", text)
        text = " ".join(text.split())
        text = "".join(
            letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[: LONGEST_MESSAGE + 1]
        )
        return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"

    def _bad_request(self, status: int, searched: str, heard: str) -> Exception:
        if NOT_TAKEN.search(searched):
            for name, option in self.parameters.items():
                if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", searched):
                    mend = f"give {option}=none, or another value"
                    sentence = f"{self.model!r} at {self.endpoint} does not take {name} so ({heard}): {mend}"
                    return RejectedError(self._refused(heard), for_all=sentence)
        alone = status == 413 or ONE_REQUEST_ONLY.search(searched)
        return RejectedError(self._refused(heard), perhaps_all=not alone)

    def _misled(self, status: int, headers: Mapping[str, str], heard: str) -> Exception:
        """A wrong key or a wrong address: what no request gets past."""
        if status == 402:
            return ModelError(self._sentence(REFUSALS[0].sentence, heard))
        if status in (401, 403):
            if not self.sent:
                return ModelError(f"the server at {self.endpoint} wants a key ({heard}): put it into ${self.key_env}")
            return ModelError(f"the server at {self.endpoint} refused {self.sent} ({heard}): put the right one there")
        if status in (404, 405):
            return ModelError(
                f"the server at {self.endpoint} has no model {self.model!r}, or is no such server ({heard}): "
                f"{self.endpoint}{self.models} names its models, base_url is where it is"
            )
        if 300 <= status < 400:
            target = self.clean(headers.get("Location", ""))
            return ModelError(f"the server at {self.endpoint} sends requests on to {target!r}: mend base_url")
        return RejectedError(self._refused(heard), perhaps_all=True)

    def _refused(self, heard: str) -> str:
        return f"the server at {self.endpoint} refused the request ({heard})"

    def _sentence(self, template: str, heard: str) -> str:
        return template.format(
            endpoint=self.endpoint,
            model=self.model,
            models=f"{self.endpoint}{self.models}",
            credential=self.sent or f"a request without a key (${self.key_env} holds none)",
            heard=heard,
        )


def retry_after(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Seconds that the server asks to wait; None where it does not.

    From `retry-after-ms`, `Retry-After` (seconds or a date), or the RetryInfo in the body of one of Google's errors.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("Retry-After", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", value):
            return float(value) / unit
    found = re.search(rb'"retryDelay":\s{0,9}"(\d{1,9}(?:\.\d{1,9})?)s"', body[:LONGEST_SEARCHED])
    if found:
        return float(found[1])
    try:
        return max(0.0, parsedate_to_datetime(headers.get("Retry-After", "")).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until every limit that is used up is lifted, from the rate-limit headers; None where they do not say.

    Reads `x-ratelimit-reset[-requests|-tokens]` (120ms, 1s, 6m0s, seconds, or the time itself) and Anthropic's
    `anthropic-ratelimit-…-reset` (RFC 3339), each beside the header that has `remaining` in the place of `reset`. A
    limit of which something remains is not the one that was met. Where no header says what remains, any of the limits
    may be the
    one: the first that is lifted counts.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    used_up, perhaps = list[float](), list[float]()
    for name, value in lower.items():
        wait = _seconds(value) if "ratelimit-" in name and "reset" in name else None
        if wait is None:
            continue
        remaining = lower.get(name.replace("reset", "remaining"), "")
        if not re.fullmatch(r"-?\d{1,18}(\.\d{0,9})?", remaining):
            perhaps.append(wait)
        elif float(remaining) <= 0:
            used_up.append(wait)
    return max(used_up) if used_up else min(perhaps, default=None)


_DURATION = re.compile(
    r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?"
)


def _seconds(value: str) -> float | None:
    found = _DURATION.fullmatch(value)
    if found and value:
        units = (86400.0, 3600.0, 60.0, 1.0, 0.001)
        return sum(float(number or 0) * unit for number, unit in zip(found.groups(), units, strict=True))
    if re.fullmatch(r"\d{1,13}(\.\d{0,9})?", value):
        number = float(value)
        if number < 1e9:
            return number
        return max(0.0, (number / 1000 if number > 1e11 else number) - time.time())
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time()) if when.tzinfo else None


def _message(body: bytes) -> tuple[str, str]:
    """What the server says and its error codes, of the several shapes in which servers say it."""
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return re.sub(r"<[^>]*>", " ", body[:LONGEST_SEARCHED].decode(errors="replace")), ""
    codes = list[str]()
    for _ in range(3):
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict):
            codes += _codes(found)
            found = next((found[name] for name in ("error", "message", "detail", "msg") if found.get(name)), "")
    says = found[:LONGEST_SEARCHED] if isinstance(found, str) else ""
    return says, " ".join(codes)


def _codes(found: Mapping[str, Any]) -> Iterator[str]:
    yield from (found[name] for name in ("code", "type", "status") if isinstance(found.get(name), str))
    for detail in found.get("details") or ():
        violations = detail.get("violations") if isinstance(detail, dict) else None
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, dict):
                yield f"quotaId {violation.get('quotaId')}"
