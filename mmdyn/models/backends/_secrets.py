"""What must never be shown: which names say that a value is a secret, and how somebody else's text is made fit to be
shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

SECRET = re.compile(
    r"(?i)(^|[_-])((api|app|access|secret)[_-]?)?(keys?|token|secret|password|passwd|auth|authorization|credentials?|ak|sk"
    r"|pwd|jwt|sig|signature|cookies?)$|(secret[_-]?id|app[_-]?code|headers)$"
)
"""A keyword, a header or a parameter of an address with such a name is told nowhere and identifies nothing."""

HEADERS = re.compile(r"(?i)headers$")
"""Keywords that hold headers, which have names of their own."""

USERINFO = re.compile(r"://[^/\s]{1,1000}@")
"""The name and password in an address."""

LONGEST = 300
_IN_TEXT = re.compile(r"(?i)(api[ _-]?key['\"]?\s{0,3}[:=]\s{0,3}|bearer\s{1,3}|\bsk-)[^\s'\",;]{1,300}")
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


def clean(text: str, secrets: Iterable[str], *, last: bool = False) -> str:
    """Somebody else's text on one line: no secrets, no colours, no control characters.

    Of a text of more than LONGEST letters the first ones are kept, or the `last` ones.
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    text = _IN_TEXT.sub(r"\1***", USERINFO.sub("://***@", _COLOURS.sub("", text)))
    text = " ".join(text.split())
    text = "".join([letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text])
    if len(text) <= LONGEST:
        return text
    return f"…{text[-LONGEST:]}" if last else f"{text[:LONGEST]}…"
