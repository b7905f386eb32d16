"""What a MODEL may send that stands in a file, which somebody else may have written."""

from __future__ import annotations

import sys
from functools import cache
from ipaddress import ip_address
from pathlib import Path

from mmdyn import plugins
from mmdyn.errors import InputError, UserError
from mmdyn.models.model import Spec
from mmdyn.models.vendors import key_variables

ALLOW = "read it, then give --allow-secrets"


def without_secrets(text: str, where: str | Path) -> str:
    """A text out of a file; where it is a MODEL, as one that sends no variable but a vendor's key to that vendor.

    Whoever reads MODELs out of a file asks for them so. Those of this machine get whatever they name.

    Args:
        text: What the file holds.
        where: The file.

    Returns:
        The text, with `api_key_env=none` where a key is kept back, which the user is told.

    Raises:
        InputError: It names a variable for another server.
    """
    try:
        spec = Spec.parse(text)
        kind = plugins.load("models", spec.backend)
    except UserError:
        return text
    try:
        text, told = kind.without_secrets(spec) if hasattr(kind, "without_secrets") else (text, "")
    except UserError as error:
        raise InputError(where, None, str(error)) from None
    if told:
        tell(f"{where}: {told}")
    return text


def may_receive(address: str, variable: str) -> bool:
    """Whether a server that a file names may get a variable: a vendor the key that it gave out, this machine any."""
    return variable in key_variables(address) or is_this_machine(address)


def is_this_machine(address: str) -> bool:
    """Whether an address is of this machine by its name alone; no name server is asked."""
    from yarl import URL

    try:
        host = URL(address).host or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def tell(text: str) -> None:
    """Say something on standard error, once."""
    print(text, file=sys.stderr)
