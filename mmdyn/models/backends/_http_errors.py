"""A model server's error answers, each as one sentence for the user and as the contract's kind of error."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.models.backends._secrets import clean
from mmdyn.models.model import RefusedError, RejectedError, ServerGone, TransientError, may_pass

LONGEST_SEARCHED = 5000
KEPT_BACK = "none was sent, for a file names the server or api_key_env=none: type the MODEL, or give --allow-secrets"
TOO_MANY, BAD_REQUEST = {429, 529}, {400, 413, 422}
GONE = {502, 503, 521, 522, 523}
"""Statuses with which a gateway says that it finds no server."""


class Meaning(Struct, frozen=True, forbid_unknown_fields=True):
    """What an answer means; the fields are explained in _http_errors.toml."""

    statuses: list[tuple[int, int]]
    sentence: str
    words: list[str] = []
    meant: Literal["model", "access", "request", "option", "passes"] = "model"
    without_key: bool = False
    page: bool = False


class Meanings(Struct, frozen=True):
    """The table of _http_errors.toml."""

    meaning: list[Meaning]
    bad_request: dict[str, list[str]]
    names: dict[str, list[str]]
    within: dict[int, list[str]]


@cache
def meanings() -> Meanings:
    """The table, read when the first error comes."""
    return msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=Meanings)


class Server(Struct, frozen=True):
    """What the sentences name: the endpoint without credentials, the model, and the variable that should hold a key (""
    where none is to be sent).

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
        """The error for an answer of HTTP `status`; with status 200 its codes count."""
        said = _message(body)
        searched = f"{said.codes} {said.text}"
        says = self.clean(": ".join(filter(None, (said.where, said.text))))
        heard = f"HTTP {status}: {says}" if says else f"HTTP {status}"
        if status < 300:
            heard, status = f"{heard} ({self.clean(said.codes)})" if said.codes else heard, _status_within(said.codes)
        refused = f"the server at {self.endpoint} refused the request ({heard})"
        for meaning in meanings().meaning:
            if self._fits(meaning, status, searched, said.page):
                sentence = self._sentence(meaning.sentence, heard, headers)
                if meaning.meant == "passes":
                    return ServerGone(sentence, retry_after(headers, body))
                if meaning.meant == "option":
                    return RejectedError(refused, for_all=sentence)
                if meaning.meant == "access":
                    return RefusedError(sentence, key=status == 401)
                return ModelError(sentence) if meaning.meant == "model" else RejectedError(sentence)
        if may_pass(status):
            wait = retry_after(headers, body)
            if wait is None and status == 429:
                wait = rate_limit_reset(headers)
            return (ServerGone if status in GONE else TransientError)(heard, wait, slow_down=status in TOO_MANY)
        if status not in BAD_REQUEST:
            return RejectedError(refused, perhaps_all=True)
        if said.where or _found(meanings().bad_request["not_taken"], searched):
            for name, option in self.parameters.items():
                if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said.where or searched):
                    wrong = f"{self.model!r} at {self.endpoint} does not take {name} so ({heard})"
                    mend = f"leave it out of {option}" if option == "extra_body" else f"give {option}=none"
                    return RejectedError(refused, for_all=f"{wrong}: {mend}, or another value")
        alone = status == 413 or _found(meanings().bad_request["request"], searched)
        return RejectedError(refused, perhaps_all=not alone)

    def error_within(self, body: bytes, otherwise: str) -> Exception:
        """The error that an answer of status 200 holds in its main part's place; what it is `otherwise` may pass."""
        return self.error(200, {}, body) if _message(body).text else TransientError(otherwise)

    def clean(self, text: str) -> str:
        """What the server says, fit to be shown."""
        return clean(text, self.secrets)

    def _fits(self, meaning: Meaning, status: int, searched: str, page: bool) -> bool:
        if (meaning.without_key and self.sent) or (meaning.page and not page):
            return False
        within = any(first <= status <= last for first, last in meaning.statuses)
        return within and (not meaning.words or _found(meaning.words, searched))

    def _sentence(self, template: str, heard: str, headers: Mapping[str, str]) -> str:
        no_key = f"${self.key_env} holds none" if self.key_env else KEPT_BACK
        return template.format(
            endpoint=self.endpoint,
            model=self.model,
            models=f"{self.endpoint}{self.models}",
            mend_key=f"put it into ${self.key_env}" if self.key_env else KEPT_BACK,
            credential=self.sent or f"a request without a key ({no_key})",
            target=self.clean(headers.get("Location", "")),
            heard=heard,
        )


def _found(words: list[str], text: str) -> bool:
    return re.search("|".join(words), text, re.IGNORECASE) is not None


def retry_after(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Seconds that the server asks to wait; None where it does not.

    From `retry-after-ms`, `Retry-After` (seconds or a date; a LiteLLM proxy hands it on under another name), the
    RetryInfo in the body of one of Google's errors, or what another says in words ("try again in 1m2.5s", "retry after
    20 seconds") or under such a name.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("Retry-After", 1.0), ("llm_provider-retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", value):
            return float(value) / unit
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(headers.get("Retry-After", "")).timestamp() - time.time())
    searched = body[:LONGEST_SEARCHED].decode(errors="replace")
    if found := re.search(r'"retryDelay":\s{0,9}"(\d{1,9}(?:\.\d{1,9})?)s"', searched):
        return float(found[1])
    if found := _IN_WORDS.search(searched):
        text = found[2].lower().replace("milli", "ms") + ("ms" if found[1] else "")
        return _seconds(re.sub(r"\s?(ms|[dhms])[a-z]*[,\s]*", r"\1", text).strip())
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


_IN_WORDS = re.compile(
    r"(?i)\b(?:try again|retry|wait|resets?|available)[\W_]{0,3}(?:after|in|for|at least)?(_ms)?\W{0,4}"
    r"((?:\d{1,9}(?:\.\d{1,9})? ?[a-z]{0,12},? ?){1,4})"
)
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


class _Said(NamedTuple):
    """What a server says, its error codes, the parameter that it says it of, and whether it came as a page."""

    text: str
    codes: str = ""
    where: str = ""
    page: bool = False


def _message(body: bytes) -> _Said:
    """What the server says, of the several shapes in which servers say it."""
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = body[:LONGEST_SEARCHED].decode(errors="replace")
        return _Said(re.sub(r"<[^>]*>", " ", text), page=text.lstrip().startswith("<"))
    codes, where = list[str](), ""
    for _ in range(3):
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict):
            codes += _codes(found)
            if isinstance(loc := found.get("loc"), list):
                where = ".".join(map(str, loc[1:] if loc[:1] == ["body"] else loc))
            found = next((found[name] for name in meanings().names["says"] if found.get(name)), "")
    says = found[:LONGEST_SEARCHED] if isinstance(found, str) else ""
    return _Said(says, " ".join(dict.fromkeys(codes)), where)


def _status_within(codes: str) -> int:
    """The status that codes stand for; 500, which may pass, where that is not known."""
    if found := re.search(r"\b[45]\d\d\b", codes):
        return int(found[0])
    return next((status for status, words in meanings().within.items() if _found(words, codes)), 500)


def _codes(found: Mapping[str, Any]) -> Iterator[str]:
    names = meanings().names["codes"]
    yield from (str(found[name]) for name in names if type(found.get(name)) in (str, int) and found[name])
    for detail in found.get("details") or ():
        violations = detail.get("violations") if isinstance(detail, dict) else None
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, dict):
                yield f"quotaId {violation.get('quotaId')}"
