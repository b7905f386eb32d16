"""What the error answers of real servers become: one sentence, and the right kind of error."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
import yaml
from multidict import CIMultiDict

from mmdyn.errors import ModelError
from mmdyn.models import RejectedError, TransientError
from mmdyn.models.backends._http_errors import Server, rate_limit_reset, retry_after
from mmdyn.models.model import RefusedError, ServerGone

NAMES = {name: name for name in ("temperature", "top_p", "max_tokens", "seed")} | {"maxOutputTokens": "max_tokens"}
SERVER = Server("http://h/v1", "m", "KEY", "the key in $KEY", ("sk-secret",), parameters=NAMES)
CASES = yaml.safe_load((Path(__file__).parent / "server_errors.yaml").read_text("utf-8"))
KINDS = {"model": ModelError, "access": RefusedError, "transient": TransientError} | dict.fromkeys(
    ("rejected", "all", "option"), RejectedError
)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['from']}-{case['status']}-{n}" for n, case in enumerate(CASES)])
def test_each_answer_is_the_right_kind_of_error_in_one_sentence(case: dict[str, Any]):
    error = SERVER.error(case["status"], CIMultiDict(case.get("headers", {})), case["body"].encode())
    assert type(error) is KINDS[case["kind"]] or (isinstance(error, ServerGone) and case["kind"] == "transient"), error
    said = str(error)
    if isinstance(error, RejectedError):
        assert error.perhaps_all is (case["kind"] in ("all", "option"))
        assert bool(error.for_all) is (case["kind"] == "option")
    if isinstance(error, RejectedError) and error.for_all:
        assert said.startswith(f"the server at http://h/v1 refused the request (HTTP {case['status']}: ")
        said = error.for_all
    assert case["says"] in said
    assert "\n" not in said and len(said) < 700
    if isinstance(error, TransientError):
        assert (error.retry_after, error.slow_down) == (case.get("wait"), case.get("slow_down", False))


def test_every_refusal_is_one_helpful_sentence():
    said = {status: str(SERVER.error(status, {}, b'{"error": "no"}')) for status in (400, 401, 403, 404, 422, 429, 500)}
    assert said == {
        400: "the server at http://h/v1 refused the request (HTTP 400: no)",
        401: "the server at http://h/v1 refused the key in $KEY (HTTP 401: no): put the right one there",
        403: "the server at http://h/v1 refused the key in $KEY (HTTP 403: no): put the right one there",
        404: "the server at http://h/v1 has no model 'm', or is no such server (HTTP 404: no): http://h/v1/models names its models, base_url is where it is",
        422: "the server at http://h/v1 refused the request (HTTP 422: no)",
        429: "HTTP 429: no",
        500: "HTTP 500: no",
    }


@pytest.mark.parametrize(("data", "shown"), [
    (b'{"error": "plain"}', "HTTP 400: plain"),
    (b'{"message": "m"}', "HTTP 400: m"),
    (b'{"detail": [{"loc": ["body"], "msg": "field required"}]}', "HTTP 400: field required"),
    (b'[{"error": {"message": "in a list"}}]', "HTTP 400: in a list"),
    (b"<html><h1>Bad</h1>\n gateway</html>", "HTTP 400: Bad gateway"),
    (b'{"error": {"message": "a\\u001b[31mred\\u0007\\r\\nb"}}', "HTTP 400: ared\\x07 b"),
    (b'{"error": {"message": "' + b"x" * 5000 + b'"}}', f"HTTP 400: {'x' * 300}…"),
    ('{"error": {"message": "上下文"}}'.encode(), "HTTP 400: 上下文"),
    (b"", "HTTP 400"),
    (b"[[[[[[]]]]]]", "HTTP 400"),
])  # fmt: skip
def test_what_a_server_says_is_shown_short_and_without_control_characters(data: bytes, shown: str):
    assert f"({shown})" in str(SERVER.error(400, {}, data))


def test_retry_after_in_seconds_milliseconds_and_dates():
    assert retry_after({}) is None
    assert retry_after({"Retry-After": "3"}) == 3
    assert retry_after({"retry-after-ms": "250", "Retry-After": "3"}) == 0.25
    assert retry_after({"llm_provider-retry-after": "2"}) == 2
    assert retry_after({"Retry-After": formatdate(time.time() - 60, usegmt=True)}) == 0
    assert 50 < (retry_after({"Retry-After": formatdate(time.time() + 60, usegmt=True)}) or 0) <= 60
    for nonsense in ("soon", "-1", "nan", "inf", "1e9", "9" * 400, "Mon, 99 Foo 2020"):
        assert retry_after({"Retry-After": nonsense}) is None


def test_a_key_that_is_missing_is_asked_for():
    bare = Server("http://h/v1", "m", "KEY", "", ())
    assert str(bare.error(401, {}, b"")) == "the server at http://h/v1 wants a key (HTTP 401): put it into $KEY"
    expired = b'{"error": {"message": "API key not valid. Please pass a valid API key."}}'
    assert "refused a request without a key ($KEY holds none)" in str(bare.error(400, {}, expired))


@pytest.mark.timeout(60)
def test_a_message_as_long_as_it_likes_is_searched_and_shown_in_bounded_time():
    for text in ("model " * 200_000, "image not support " * 100_000, "context " * 200_000, "x" * 3_000_000):
        error = SERVER.error(400, {}, b'{"error": {"message": "' + text.encode() + b'"}}')
        assert len(str(error)) < 700


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1s", 1), ("6m0s", 360), ("120ms", 0.12), ("1h2m3.5s", 3723.5), ("1d", 86400), ("59.56s", 59.56), ("30", 30)],
)
def test_rate_limits_are_lifted_after(value: str, seconds: float):
    for nonsense in ("", "soon", "-3s", "2026-01-01T00:00:00"):
        assert rate_limit_reset({"x-ratelimit-reset-requests": nonsense}) is None
    assert rate_limit_reset({"x-ratelimit-reset-requests": "0"}) == 0
    assert rate_limit_reset({"x-ratelimit-reset-requests": value}) == seconds


def test_rate_limits_are_lifted_at_a_time():
    soon = time.time() + 60
    stamp = (datetime.now(UTC) + timedelta(seconds=60)).isoformat().replace("+00:00", "Z")
    for value in (str(int(soon)), str(int(soon * 1000)), stamp):
        assert 55 < (rate_limit_reset({"X-RateLimit-Reset": value}) or 0) <= 60
    assert rate_limit_reset({"X-RateLimit-Reset": str(int(soon - 600))}) == 0


USED_UP = {"remaining_requests": "0", "reset_requests": "20s", "remaining_tokens": "0", "reset_tokens": "5s"}
UNSAID = {"reset_requests": "20s", "reset_tokens": "6m0s", "reset": "soon"}


@pytest.mark.parametrize(("given", "seconds"), [
    (USED_UP, 20),
    ({**USED_UP, "reset_tokens": "6m0s"}, 360),
    ({**USED_UP, "reset_tokens": "6m0s", "remaining_tokens": "10"}, 20),
    ({**USED_UP, "remaining_requests": "-1", "remaining_tokens": "0.5"}, 20),
    (dict.fromkeys(USED_UP, "9"), None),
    (UNSAID, 20),
    ({**UNSAID, "remaining_tokens": "0"}, 360),
    ({**UNSAID, "remaining_requests": "3"}, 360),
    ({**UNSAID, "remaining_requests": "all"}, 20),
])  # fmt: skip
def test_every_limit_that_is_used_up_counts_and_none_that_is_not(given: dict[str, str], seconds: float | None):
    """One that does not say what remains counts where no other does."""
    headers = {f"x-ratelimit-{name.replace('_', '-')}": value for name, value in given.items()}
    assert rate_limit_reset(headers) == seconds
    assert rate_limit_reset({name.title(): value for name, value in headers.items()}) == seconds


def test_anthropics_limits_are_told_apart_by_what_remains():
    headers = dict[str, str]()
    for name, remaining, seconds in (("requests", "0", 30), ("input-tokens", "0", 50), ("output-tokens", "8000", 3000)):
        reset = datetime.now(UTC) + timedelta(seconds=seconds)
        headers[f"anthropic-ratelimit-{name}-remaining"] = remaining
        headers[f"anthropic-ratelimit-{name}-reset"] = reset.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert 30 < (rate_limit_reset(headers) or 0) <= 50


def test_retry_after_goes_before_rate_limits_and_only_429_has_those():
    headers = {"x-ratelimit-reset-requests": "9s"}
    asked = (429, headers), (429, {**headers, "Retry-After": "2"}), (500, headers)
    waits = [SERVER.error(status, given, b"") for status, given in asked]
    assert [wait.retry_after for wait in waits if isinstance(wait, TransientError)] == [9, 2, None]
    assert retry_after({}, b'{"retryDelay": "1.5s"}') == 1.5


def test_a_name_and_password_in_an_address_are_cut_out():
    said = "cannot connect to http://me:PW@proxy:3128/x and https://a@b:c@h, see me@example.org"
    assert SERVER.clean(said) == "cannot connect to http://***@proxy:3128/x and https://***@h, see me@example.org"
